"""The textbook, in the paper's own layout: columns are samples. Slow, short, obviously right."""

import numpy as np
import scipy.linalg


def indicator_matrix(*columns):
    """Z_comb of Section 3.5: centred one-hot columns of levels, centred numeric columns."""
    blocks = []
    for column in columns:
        column = np.asarray(column)
        if column.dtype.kind == "f":
            blocks.append(column[:, None])
        else:
            blocks.append((column[:, None] == np.unique(column)).astype(float))
    return np.hstack(blocks)


def fair_null_space(X, *columns, weight=None, rcond=1e-9):
    """R, an orthonormal basis of the null space of Z^T X^T; w are frequency weights."""
    w = np.ones(len(X)) if weight is None else weight
    Z = indicator_matrix(*columns)
    Z = Z - (w @ Z) / w.sum()
    X = (X - (w @ X) / w.sum()).T  # d x n
    constraint = (Z * w[:, None]).T @ X.T
    # Columns of Z and rows of X in units of their norm: the rank has no units.
    constraint = constraint / np.sqrt(w @ Z**2)[:, None]
    unit = np.sqrt((X**2) @ w)
    scaled = constraint / np.where(unit > 0, unit, 1)
    r = np.linalg.matrix_rank(scaled, tol=rcond)
    left = np.linalg.svd(scaled)[0][:, :r]
    return scipy.linalg.null_space(left.T @ constraint) if r else np.eye(X.shape[0])


def fair_span(X, *columns, weight=None):
    """R less the directions in which the rows do not vary."""
    w = np.ones(len(X)) if weight is None else weight
    R = fair_null_space(X, *columns, weight=weight)
    T = np.sqrt(w)[:, None] * (X - (w @ X) / w.sum()) @ R
    values, V = np.linalg.svd(T, full_matrices=False)[1:]
    return R @ V[values > 1e-7 * np.abs(X - X.mean(axis=0)).max()].T


def fair_pca_by_the_book(X, *columns, k, weight=None, centre=None):
    """Algorithm 2 line by line; X is measured from its mean, or from another centre."""
    w = np.ones(len(X)) if weight is None else weight
    R = fair_null_space(X, *columns, weight=weight)
    X = (X - ((w @ X) / w.sum() if centre is None else centre)).T
    _, V = np.linalg.eigh(R.T @ (X * w) @ X.T @ R)
    return R @ V[:, ::-1][:, :k]


def equal_opportunity_by_the_book(X, y, z, *, k, weight=None):
    """Section 3.2: all data are centred, and then the procedure sees those with y = 1 only.

    Returns the fair subspace, and the standard one of the trade-off.
    """
    w = np.ones(len(X)) if weight is None else weight
    X = (X - (w @ X) / w.sum()).T[:, y == 1]
    fair = fair_pca_by_the_book(X.T, z[y == 1], k=k, weight=w[y == 1], centre=0)
    _, V = np.linalg.eigh((X * w[y == 1]) @ X.T)
    return fair, V[:, ::-1][:, :k]


def fair_pca_s_by_the_book(X, z, *, k, l, centre=None):  # noqa: E741
    """Section 3.6 for two groups, as printed; X is measured as in Algorithm 2."""
    R = fair_null_space(X, z)
    first, second = np.unique(z)
    difference = np.cov(X[z == first].T) - np.cov(X[z == second].T)
    values, vectors = np.linalg.eigh(R.T @ difference @ R)
    Q = vectors[:, np.argsort(np.abs(values))[:l]]
    X = (X - (X.mean(axis=0) if centre is None else centre)).T
    _, V = np.linalg.eigh(Q.T @ R.T @ X @ X.T @ R @ Q)
    return R @ Q @ V[:, ::-1][:, :k]


def fair_kernel_pca_by_the_book(K, *columns, k, rcond=1e-9):
    """Algorithm 3 line by line; the representation of the training data, columns are samples.

    The generalised eigenproblem has a singular right-hand side as soon as the kernel is: it is
    solved inside its range.
    """
    Z = indicator_matrix(*columns)
    Z = Z - Z.mean(axis=0)
    Z = Z / np.linalg.norm(Z, axis=0)
    left, values, _ = np.linalg.svd(Z.T @ K, full_matrices=False)
    constraint = left[:, values > rcond * np.linalg.norm(K, 2)].T @ Z.T @ K
    R = scipy.linalg.null_space(constraint)
    b, E = np.linalg.eigh(R.T @ K @ R)
    W = E[:, b > rcond * b[-1]] / np.sqrt(b[b > rcond * b[-1]])
    eigenvalues, Lam = np.linalg.eigh(W.T @ R.T @ K @ K @ R @ W)
    Lam = W @ Lam[:, ::-1][:, :k]
    return eigenvalues[::-1][:k], Lam.T @ R.T @ K


def centred(K):
    """The kernel of the feature vectors minus their mean."""
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
