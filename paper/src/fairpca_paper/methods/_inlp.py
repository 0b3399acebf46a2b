"""INLP: train a classifier for the groups, remove what it looks at, repeat."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from fairpca.errors import InfeasibleError

from ._base import (
    EPSILON,
    GroupedRows,
    LinearMethod,
    check_choice,
    check_components_or_removed,
    check_number,
    directions_to_keep,
    warn,
    warn_of_fewer,
)
from ._linalg import along_principal_axes

KEEP = ("random", "variance")

NOTHING_SEEN = 1e-8
"""Coefficients up to this, relative to those of the first classifier, count as zero."""

MEANS_AGREE = 1e-7
"""Differences of means, in standard deviations, that are rounding after many reflections."""

MOST_STEPS = 200
"""More steps than any data needed: the objective is quadratic between changes of the active set."""

CANCELLED = 1e-8
"""Largest rounding error of the curvature, whose smallest eigenvalue is 1, that is left alone."""


class NothingLeftToRemoveWarning(UserWarning):
    """The classifiers of INLP ran out of group differences before all directions were removed.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from fairpca_paper.methods import INLP, NothingLeftToRemoveWarning
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> X = np.hstack([X, X])  # three directions, said twice
    >>> with warnings.catch_warnings(action="error", category=NothingLeftToRemoveWarning):
    ...     INLP(1).fit(X, sensitive_features=np.arange(60) % 2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    fairpca_paper.methods._inlp.NothingLeftToRemoveWarning: After 3 directions a linear SVM finds
    no difference between the groups any more, ...
    """


def _svm_coefficients(
    Z: np.ndarray, y: np.ndarray, cost: np.ndarray, scatter: np.ndarray
) -> np.ndarray:
    r"""Return the w of least :math:`|w|^2/2 + \sum_i c_i \max(0, 1 - y_i z_i^\top w)^2`."""
    # Where a full Newton step leaves the active rows, those with positive loss, as they are, the
    # minimum is reached exactly (Keerthi & DeCoste 2005). At w = 0 all are active and the matrix is
    # known from `scatter`, (Z * cost).T @ Z; from then on only rows that enter or leave change it.
    # For rows so large that rounding would be felt beside the identity, it is computed anew.
    w, scores = np.zeros(Z.shape[1]), np.zeros(len(Z))
    active = np.ones(len(Z), dtype=bool)
    H = 2.0 * scatter
    H[np.diag_indices_from(H)] += 1.0
    exact = float(np.trace(H)) * np.finfo(float).eps > CANCELLED
    for _ in range(MOST_STEPS):
        loss = np.where(active, 1.0 - y * scores, 0.0)
        gradient = w - 2.0 * ((cost * y * loss) @ Z)
        few = exact and np.count_nonzero(active) < 2 * Z.shape[1]
        step = -(_solved_by_rows(Z, cost * active, gradient) if few else _solved(H, gradient))
        change = Z @ step
        length = _length(w, step, scores, change, y, cost, slope=float(gradient @ step))
        w, scores = w + length * step, scores + length * change
        before, active = active, y * scores < 1.0
        changed = np.flatnonzero(active != before)
        if not len(changed) and length in (0.0, 1.0):
            break
        if exact:
            H = (Z[active] * (2.0 * cost[active])[:, None]).T @ Z[active]
            H[np.diag_indices_from(H)] += 1.0
        else:
            entering = np.where(active[changed], 2.0, -2.0) * cost[changed]
            H += (Z[changed] * entering[:, None]).T @ Z[changed]
    return w


def _solved_by_rows(Z: np.ndarray, cost: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return the solution of ``(I + 2 Z^T C Z) s = g`` for few priced rows."""
    # Where hardly a row reaches, s = g nearly; in the sum the identity would drown in rounding.
    rows = cost > 0
    A = Z[rows] * np.sqrt(2.0 * cost[rows])[:, None]
    values, V = np.linalg.svd(A, full_matrices=False)[1:]
    return g + ((1.0 / (1.0 + values**2) - 1.0) * (V @ g)) @ V


def _solved(H: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return the solution of ``H s = g``; rounding may hide that no eigenvalue is below 1."""
    try:
        factor = scipy.linalg.cho_factor(H, check_finite=False)
    except np.linalg.LinAlgError:
        values, V = np.linalg.eigh(H)
        return V @ ((V.T @ g) / np.maximum(values, 1.0))
    return scipy.linalg.cho_solve(factor, g, check_finite=False)


def _length(
    w: np.ndarray,
    step: np.ndarray,
    scores: np.ndarray,
    change: np.ndarray,
    y: np.ndarray,
    cost: np.ndarray,
    *,
    slope: float,
) -> float:
    """Return a length of the step that lowers the objective enough, 0 if rounding prevents it."""

    def objective(t: float) -> float:
        loss = np.maximum(0.0, 1.0 - y * (scores + t * change))
        return 0.5 * float(np.sum((w + t * step) ** 2)) + float(cost @ loss**2)

    start, t = objective(0.0), 1.0
    while t > 1e-12:
        # Close to the minimum the objective differs by rounding only, but the step is still right.
        if objective(t) <= start * (1.0 + 1e-14) + 1e-4 * t * slope:
            return t
        t *= 0.5
    return 0.0


def _directions_that_classify(
    rows: GroupedRows, cost: np.ndarray, *, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return up to `count` directions that linear classifiers look at, and a basis of the rest."""
    V, Z = _coordinates(rows)
    scatter = (Z * cost[:, None]).T @ Z
    spread, codes = rows.standard_deviations, rows.codes
    m = int(codes.max()) + 1  # groups: one classifier for two, else one per group
    one_against_the_rest = [
        np.where(codes == g, 1.0, -1.0) for g in (range(1, 2) if m == 2 else range(m))
    ]
    found: list[np.ndarray] = []
    if rows.means_agree():
        count = 0  # there is nothing to see
    largest = 0.0
    while len(found) < count and Z.shape[1]:
        W = np.array([_svm_coefficients(Z, y, cost, scatter) for y in one_against_the_rest])
        # The score of a standard deviation: in units of the features nothing would be small.
        size = np.abs(spread[:, None] * (V @ W.T)).max(axis=0)
        largest = max(largest, size.max())
        # An SVM may have found a direction in which rows hardly vary, where its coefficients are
        # huge; beside them those of a difference that all can see look like nothing.
        gaps = [_mean_difference(V, Z, y, cost, spread) for y in one_against_the_rest]
        seen = (size > NOTHING_SEEN * largest) | ((np.array(gaps) > MEANS_AGREE) & (size > 0))
        if not seen.any():
            break
        Q = np.linalg.svd(W[seen], full_matrices=False)[2].T
        for _ in range(min(Q.shape[1], count - len(found))):
            found.append(V @ Q[:, 0])
            u = _reflector(Q[:, 0])
            V, Z = _without_first(V, u), _without_first(Z, u)
            scatter = _without_first(_without_first(scatter, u).T, u)
            Q = _without_first(Q.T, u).T[:, 1:]
    return np.array(found).reshape(len(found), rows.n_features).T, V


def _mean_difference(
    V: np.ndarray, Z: np.ndarray, y: np.ndarray, cost: np.ndarray, spread: np.ndarray
) -> float:
    """Return the difference of the classes' sums in standard deviations of a feature, per row."""
    contrast = V @ ((cost * y) @ Z) / cost.sum()
    return float(np.abs(contrast / spread).max())


def _coordinates(rows: GroupedRows) -> tuple[np.ndarray, np.ndarray]:
    """Return an orthonormal basis of what the centred rows span, and their coordinates in it."""
    # Outside an SVM takes rounding for signal. With features that depend on each other, such as
    # dummies, errors grow a thousandfold each time, until a direction goes in which no row varies.
    # Rounding of a constant feature far from zero is not a difference between groups.
    X = rows.centred * rows.varies
    values, right = np.linalg.svd(np.linalg.qr(X, mode="r"), full_matrices=False)[1:]
    offset = float(np.abs(rows.mean * rows.varies).max(initial=0.0))
    # Sums are in double precision; the rows themselves are rounded as they came.
    own = max(8.0 * max(X.shape) * EPSILON, rows.precision)
    noise = own * values.max(initial=0.0) + 8.0 * rows.precision * np.sqrt(len(X)) * offset
    V = right[values > noise].T
    return V, X @ V


def _reflector(q: np.ndarray) -> np.ndarray:
    """Return the unit vector u for which I - 2uu^T takes q to a multiple of the first axis."""
    u = q.copy()
    u[0] += 1.0 if q[0] >= 0 else -1.0
    return u / np.linalg.norm(u)


def _without_first(A: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the columns of A (I - 2uu^T) but the first."""
    return (A - (A @ u)[:, None] * (2.0 * u))[:, 1:]


def _random_directions(
    k: int, removed: np.ndarray, rows: GroupedRows, rng: np.random.Generator
) -> np.ndarray:
    """Return k orthonormal directions, uniform among those left; constant features come last."""
    G = rng.standard_normal((rows.n_features, k))
    if rows.varies.sum() - removed.shape[1] >= k:
        G *= rows.varies[:, None]
    for _ in range(2):  # "twice is enough" (Parlett, The Symmetric Eigenvalue Problem)
        G = np.linalg.qr(G - removed @ (removed.T @ G))[0]
    return G


class INLP(LinearMethod):
    r"""Remove, one after the other, the directions that linear classifiers of the groups look at.

    Iterative null-space projection: train a linear SVM for the groups, project the rows onto the
    null space of its coefficients, train again on what is left, and so on. With k components it
    runs until d - k directions are gone.

    It guarantees less than it costs. The first classifiers remove most of what a linear model can
    read; each further one removes a direction, whether or not it still matters, and the variance
    that is kept is not considered at all. `fairpca.FairPCA` removes one direction less than there
    are groups, after which *no* linear model reads anything from the training rows, and keeps the
    most variance. **Non-linear models still see the groups.**

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components k: d - k directions are removed, and of what is left those in which
        rows vary are returned, at most k. None removes one direction less than there are groups.
    n_removed : int or None, default=None
        Number of directions to remove, as in [1]_, instead of ``n_components=d - n_removed``.
    C : float, default=1.0
        Price of the classifiers' losses, as in scikit-learn's `LinearSVC`.
    keep : {"random", "variance"}, default="random"
        Once group means agree, the classifier is zero and there is nothing to remove. If more than
        k directions are left then, "random" keeps k of them at random, which is what the published
        comparisons did (an eigensolver chose), and "variance" those with the most variance.
    random_state : int, RandomState or None, default=0
        Which directions "random" keeps.

    Attributes
    ----------
    components_ : array of shape (k, d)
        Orthonormal rows, most variance first.
    removed_ : array of shape (r, d)
        Orthonormal rows: the directions that were removed, in the order in which they were found.
    n_removed_ : int
        Their number r; less than d - k where the classifiers found nothing any more, of which a
        `NothingLeftToRemoveWarning` tells.
    mean_, groups_, n_components_, n_features_in_, feature_names_in_, n_samples_seen_
        As in `fairpca.FairPCA`.

    See Also
    --------
    fairpca.FairPCA : All of it in one step, and the most variance.
    RLACE : The same aim as a game between a classifier and a projection.

    Notes
    -----
    The settings of the fair PCA paper [2]_: a `LinearSVC` without intercept, squared hinge loss,
    all iterations on the rows projected so far, no threshold on the accuracy. Rows are centred
    first. More than two groups give one row of coefficients per group (one against the rest).
    Several attributes are merged into their joint groups.

    An iteration works in the coordinates of what is left, which are one fewer each time, and costs
    one to five Newton steps. Only what the rows span is searched: elsewhere there is nothing to
    classify, but rounding errors are amplified there from one iteration to the next.

    References
    ----------
    .. [1] Ravfogel, Elazar, Gonen, Twiton, Goldberg. "Null it out: guarding protected attributes
       by iterative nullspace projection". ACL 2020.
    .. [2] Kleindessner, Donini, Russell, Zafar. "Efficient fair PCA for fair representation
       learning". AISTATS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca_paper.methods import INLP
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=300)
    >>> X = rng.normal(size=(300, 5)) + np.outer(sex == "m", [3, 1, 0, 0, 0])
    >>> inlp = INLP(n_components=2).fit(X, sensitive_features=sex)
    >>> inlp.transform(X).shape, inlp.n_removed_
    ((300, 2), 3)
    >>> INLP(n_removed=3).fit(X, sensitive_features=sex).transform(X).shape
    (300, 2)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_removed: int | None = None,
        C: float = 1.0,
        keep: str = "random",
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.n_removed = n_removed
        self.C = C
        self.keep = keep
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_components_or_removed(self)
        check_number("C", self.C)
        check_choice("keep", self.keep, KEEP)

    def _learn(self, rows: GroupedRows) -> np.ndarray:
        d, k = rows.n_features, directions_to_keep(self, rows)
        removed, left = _directions_that_classify(rows, self.C * rows.weight, count=d - k)
        self.removed_, self.n_removed_ = removed.T, removed.shape[1]
        if self.n_components is None and self.n_removed is None:
            if left.shape[1] == 0:
                raise InfeasibleError(
                    f"Nothing is left: the {rows.n_rows} rows vary only along what separates the "
                    f"groups ({rows.name!r}). Pass more rows or features, or merge groups."
                )
            U = along_principal_axes(left, rows)
            warn_of_fewer(U.shape[1], k)
            return U
        if self.n_removed_ < d - k:
            warn(
                f"After {self.n_removed_} directions a linear SVM finds no difference between the "
                f"groups any more, so {d - self.n_removed_} directions are left of which "
                f"{k} are kept, by keep={self.keep!r}. Fewer than {d - k} had to be removed: "
                f"n_components={d - self.n_removed_} would do, and FairPCA keeps more variance.",
                NothingLeftToRemoveWarning,
            )
        if self.n_removed_ < d - k and self.keep == "random":
            U = _random_directions(k, removed, rows, np.random.default_rng(self._seed()))
        else:
            U = left
        U = along_principal_axes(U, rows, k)
        warn_of_fewer(U.shape[1], k)
        return U
