"""The textbook, in the paper's own layout: columns are samples. Slow, short, obviously right."""

import numpy as np
import scipy.linalg
from scipy.stats import norm


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


def target_matrix(*targets, weight):
    """Centred columns of total variance 1 for each target: a number, or indicators of classes."""
    blocks = []
    for target in targets:
        Y = indicator_matrix(target)
        Y = Y[:, 1:] if Y.shape[1] == 2 else Y
        Y = Y - weight @ Y / weight.sum()
        blocks.append(Y / np.sqrt(np.sum(weight @ Y**2) / weight.sum()))
    return np.hstack(blocks)


def spread_by_the_book(X, *columns, weight):
    """Sum over attributes of |S_0 - S_1|; for more groups, of p_g |S_g - S| over p_g (1 - p_g)."""
    total = np.zeros((X.shape[1], X.shape[1]))
    for column in (np.asarray(c) for c in columns):
        if column.dtype.kind == "f":
            continue
        S, share = [], []
        for g in np.unique(column):
            rows, w = X[column == g], weight[column == g]
            rows = rows - w @ rows / w.sum()
            S.append((rows * w[:, None]).T @ rows / (w.sum() * (1 - 1 / len(rows))))
            share.append(w.sum() / weight.sum())
        average = sum(p * S_g for p, S_g in zip(share, S, strict=True))
        for p, S_g in zip(share, S, strict=True):
            values, V = np.linalg.eigh(S_g - average)
            between = sum(q * (1 - q) for q in share)
            total += p / between * (V * np.abs(values)) @ V.T
    return total


def fair_pls_by_the_book(X, targets, *columns, weight, shrinkage, spread):
    """A^{-1/2} times the left singular vectors of A^{-1/2} P X'Y, and what they are made of.

    Returns directions R b of unit variance, and (R, A, C, b, t) with b and t as solved for.
    """
    w = weight / weight.sum()
    R = fair_span(X, *columns, weight=weight)
    X = X - w @ X
    C = (X * w[:, None]).T @ X
    ridge = shrinkage * np.trace(C) / np.sum(np.ptp(X, axis=0) > 1e-12 * np.abs(X).max(axis=0))
    A = R.T @ (C + ridge * np.eye(len(C))) @ R
    A = A + spread * spread_by_the_book(X @ R, *columns, weight=weight)
    T = R.T @ (X * w[:, None]).T @ target_matrix(*targets, weight=weight)
    C = R.T @ C @ R
    values, E = np.linalg.eigh(A)
    root = E / np.sqrt(values) @ E.T  # A^{-1/2}
    left, size, right = np.linalg.svd(root @ T, full_matrices=False)
    k = int(np.sum(size > 1e-6))
    b, t = root @ left[:, :k] * size[:k], T @ right[:k].T
    along = T.T @ b  # scores rise with what they predict best
    sign = np.sign(along[np.argmax(np.abs(along), axis=0), np.arange(k)])
    b, t = b * sign, t * sign
    return R @ b / np.sqrt(np.sum(b * (C @ b), axis=0)), (R, A, C, b, t)


def soft_contrasts(scores, columns, weight, thresholds, width):
    """Soft share below each threshold of each group less that of the rest, and its rows' parts.

    Returns an array over (group, threshold, row) that sums over rows to the differences once it is
    multiplied with soft counts: a contrast of averages.
    """
    below = 1 / (1 + np.exp((scores[:, None] - thresholds) / width))
    contrast, counts = [], []
    for column in (np.asarray(c) for c in columns):
        if column.dtype.kind == "f":
            counts.append(1.0)
            v = column - weight @ column / weight.sum()
            v = v / np.sqrt(weight @ v**2 / weight.sum())
            contrast.append(2 * weight * v / weight.sum())
            continue
        for g in np.unique(column):
            of_group, rest = weight * (column == g), weight * (column != g)
            contrast.append(of_group / of_group.sum() - rest / rest.sum())
            share = of_group.sum() / weight.sum()
            shares = np.array([weight[column == h].sum() for h in np.unique(column)]) / weight.sum()
            counts.append(2 * share * (1 - share) ** 2 / np.sum(shares * (1 - shares)))
    return np.array(contrast), below, np.array(counts)


def thresholds_by_the_book(scores, weight, normal, width):
    """Means of the scores between quantiles, which of a normal score are `normal`; and widths.

    Rows are cut where a quantile falls within one of them.
    """
    order = np.argsort(scores, kind="stable")
    scores, weight = scores[order], weight[order] / weight.sum()
    ends = np.cumsum(weight)
    half = (normal[1] - normal[0]) / 2
    means = []
    for a, b in norm.cdf(np.column_stack([normal - half, normal + half])):
        part = np.clip(np.minimum(ends, b) - np.maximum(ends - weight, a), 0, None)
        means.append(part @ scores / (b - a))
    means = np.array(means)
    slopes = np.gradient(means, normal)
    return means, width * np.maximum(slopes, (means[-1] - means[0]) / (normal[-1] - normal[0]))


def kolmogorov_distance(scores, columns, weight):
    """Largest difference of a group's share at or below a score, rounded, from that of the rest."""
    scores = np.round(scores, 7)
    hard = scores[:, None] <= np.unique(scores)
    contrast, _, _ = soft_contrasts(scores, columns, weight, np.zeros(1), 1.0)
    return np.abs(contrast @ hard).max()


def equal_shares_by_the_book(X, *columns, weight, start, penalty, normal, width, rounds, settled):
    """Gauss-Newton on b'Ab - 2t'b + penalty * mean over thresholds of squared differences.

    Thresholds are those of the scores at the start.

    Of two groups, both differences count a half; of more, each by its share of the rows. Scores
    are compared one by one. Slopes are by complex steps.
    """
    R, A, C, b, t = start
    Z = (X - weight @ X / weight.sum()) @ R
    d, k = b.shape
    worth = np.sum(b * t, axis=0) * penalty / len(normal)

    def compared(b):
        u = b / np.sqrt(np.sum(b * (C @ b), axis=0))
        return [(Z @ u[:, j], worth[j]) for j in range(k)]

    places = [thresholds_by_the_book(scores, weight, normal, width) for scores, _ in compared(b)]

    def differences(b):
        counted = []
        for (scores, mu), (at, widths) in zip(compared(b), places, strict=True):
            contrast, below, counts = soft_contrasts(scores, columns, weight, at, widths)
            counted.append(np.sqrt(mu * counts)[:, None] * (contrast @ below))
        return np.concatenate(counted).ravel()

    def looked_at(b):
        r = differences(b)
        steps = 1e-30j * np.eye(k * d).reshape(k * d, k, d).transpose(0, 2, 1)
        J = np.stack([differences(b + step).imag / 1e-30 for step in steps], axis=1)
        hessian = np.kron(np.eye(k), A) + J.T @ J
        goal = np.linalg.solve(hessian, t.T.ravel() + J.T @ (J @ b.T.ravel() - r))
        cost = np.sum(b * (A @ b)) - 2 * np.sum(t * b) + r @ r
        return cost, goal.reshape(k, d).T

    cost, goal = looked_at(b)
    constant = np.sum(b * t)  # |b - start|^2 in the metric of A is b'Ab - 2t'b plus this
    length = 1.0
    for _ in range(rounds - 1):
        tried = b + length * (goal - b)
        other = looked_at(tried)
        if other[0] + constant < settled * (cost + constant) and np.all(
            np.sum(tried * t, axis=0) > 0
        ):
            b, (cost, goal) = tried, other
            length = min(1.0, 2 * length)
        else:
            length = length / 3
    gap = max(kolmogorov_distance(scores, columns, weight) for scores, _ in compared(b))
    return R @ b / np.sqrt(np.sum(b * (C @ b), axis=0)), gap
