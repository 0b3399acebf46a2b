"""Fair PLS: the few directions that predict targets and in which all groups look alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from .._moments import GroupMoments, LevelMoments, RowScatter, Scores, noise_along
from .._numerics import Array, array_namespace, like, to_numpy
from ..errors import InfeasibleError, UsageError
from ._equalize_covariances import absolute_difference, with_groups
from ._equalize_means import (
    MeanConstraint,
    check_dimension,
    check_not_tiny,
    mean_constraint,
    names_of,
)
from ._maximize_variance import maximize_variance
from ._subspace import Subspace

THRESHOLDS = np.linspace(-2.0, 2.5, 30)
"""Where groups' shares are compared, in standard deviations of a score."""

WIDTH = 0.1
"""Over how many standard deviations a row passes from above a threshold to below it."""

MOST_TOGETHER = 6
"""More scores than this are compared one by one."""

ROUNDS = 6
"""Passes over the rows; after four or five the shares hardly change."""

SHRINKAGES = np.logspace(-6, 1.5, 31)
"""What is tried where nobody says how much."""

CAUTION = 2.0
"""So many times the shrinkage that predicts best: it predicts as well, and groups differ less."""

LEAST_SHRINKAGE = 1e-10
"""With less, directions in which rows vary by rounding alone would predict by it."""

SETTLED = 1.0 - 1e-10
"""A step that costs more than this share of the cost before it differs by rounding."""

MOST_CLASSES = 20
"""More would be as many columns, and there would be much to read in them."""

UNPREDICTABLE = 1e-6
"""Correlations with a target below this are rounding."""

Look = Callable[[Array], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""From scores (d, k) of unit variance to what `SharesBelow.contrasts` says of them."""


def predict_targets(
    moments: GroupMoments,
    k: int | None = None,
    *,
    shrinkage: float | None = None,
    covariance_penalty: float = 0.0,
    distribution_penalty: float = 0.0,
    look: Look | None = None,
    constraint: MeanConstraint | None = None,
) -> tuple[Subspace, float, float]:
    r"""Solve fair PLS.

    Among the directions in which every group has the same mean, return those that predict the
    targets best, less a penalty for what still tells the groups apart.

    Parameters
    ----------
    moments : GroupMoments
        Moments of rows in d dimensions with targets; with a scatter per group for a
        covariance penalty.
    k : int or None
        How many directions; None for as many as the targets can be told apart by.
    shrinkage : float, optional
        What is added to the covariance, in units of the features' average variance; by default
        what generalised cross-validation would choose for a regression on the targets.
    covariance_penalty : float, default=0.0
        How much differences of the groups' variances along a direction count as noise does.
    distribution_penalty : float, default=0.0
        How much differences of the groups' shares below thresholds count; needs `look`.
    look : callable, optional
        Takes directions (d, k) of unit variance and returns, in one pass over the rows, how far
        groups' shares below thresholds differ, the slopes of that, and what each group counts.
    constraint : MeanConstraint, optional
        The directions that separate group means, where they are known already.

    Returns
    -------
    subspace : Subspace
        The basis is not orthonormal: its columns give scores of unit variance, most predictive
        first, which rise with the last class or the number that they predict best.
    gap : float
        The largest difference of a group's share from that of the other rows; NaN without `look`.
    shrinkage : float
        What was added.

    Raises
    ------
    InfeasibleError
        If no direction with equal means predicts a target, or fewer than `k` do.

    See Also
    --------
    fairpca.FairPLS : The same for rows.
    equalize_means : Keeps variance instead.

    Notes
    -----
    With P the projection off the directions that separate means, C the covariance, T the
    covariances with the targets (each target has a total variance of 1):
    :math:`A = P (C + \lambda \frac{\mathrm{tr} C}{d} I + \rho \sum_a |S_a|) P`, and the directions
    are :math:`A^{-1/2}` times the left singular vectors of :math:`A^{-1/2} P T`. The penalty on
    shares is not quadratic; each pass takes a Gauss-Newton step on it.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.moments import collect_moments
    >>> from fairpca.solvers import predict_targets
    >>> rng = np.random.default_rng(0)
    >>> groups = np.arange(400) % 2
    >>> X = rng.normal(size=(400, 5)) + groups[:, None]
    >>> y = X[:, 0] - X[:, 1] + X[:, 2]
    >>> moments = collect_moments(X, groups, y=y, with_targets=True)
    >>> fair, _, _ = predict_targets(moments)
    >>> score = X @ fair.basis[:, 0]
    >>> bool(np.isclose(score[groups == 0].mean(), score[groups == 1].mean()))
    True
    >>> round(float(np.corrcoef(score, y)[0, 1]), 1)
    0.9
    """
    _check_targets(moments)
    constraint = mean_constraint(moments) if constraint is None else constraint
    check_dimension(moments, constraint.rank, None)
    if look is not None and not with_groups(moments):
        covariance_penalty = 0.0  # numbers have no groups with variances, but shares
    problem, shrinkage = _problem(moments, constraint, shrinkage, covariance_penalty)
    (b, worth), gap = problem.start(k), float("nan")
    if look is not None:
        b, gap = _equalize_shares(problem, b, worth, distribution_penalty, look)
    return problem.subspace(b), gap, shrinkage


def target_covariances(moments: GroupMoments) -> list[Array]:
    """Return, for each target, the covariances (d, q) of features with it at a total variance of 1.

    A number is one column; so are two classes (the last one's); of more, each is a column.
    """
    found = []
    for a in moments.targets:
        rows, _ = a.contrasts()
        if isinstance(a, LevelMoments):
            share = a.weight / a.weight.sum()
            rest, largest = 1.0 - share, int(np.argmax(share))
            rest[largest] = np.delete(share, largest).sum()  # to all digits
            variance = float(share @ rest)
            if len(share) == 2:
                rows, variance = rows[1:, :], 0.5 * variance
        else:
            variance = a.value_scatter / a.weight
        found.append((rows / (moments.weight * variance**0.5)).T)
    return found


def _check_targets(moments: GroupMoments) -> None:
    """Raise if there is nothing to predict."""
    if not moments.targets:
        raise UsageError(
            "These moments know no target. Collect them with collect_moments(X, ..., y=y, "
            "with_targets=True), or use a method that needs none, such as FairPCA."
        )
    if not bool(array_namespace(moments.mean).any(moments.varies)):
        raise InfeasibleError(
            f"All {moments.n_rows} rows are alike up to rounding, so no feature predicts anything. "
            f"Pass features that differ between rows."
        )
    for a in moments.targets:
        check_not_tiny(a, "target")
        if not isinstance(a, LevelMoments):
            if a.is_constant:
                raise InfeasibleError(
                    f"The target {a.name!r} is {a.value_mean:g} in every row, so there is nothing "
                    f"to predict. Pass rows in which it varies, or leave it out."
                )
            continue
        present = [label for label, w in zip(a.labels, a.weight, strict=True) if w > 0]
        if len(present) > MOST_CLASSES:
            raise UsageError(
                f"The target {a.name!r} has {len(present)} classes, more than the {MOST_CLASSES} "
                f"that columns are made for. Merge classes; if it is a quantity, pass numbers and "
                f"say target_kinds={{{a.name!r}: 'numeric'}}."
            )
        if len(present) < 2:
            only = f"one class only, {present[0]!r}" if present else "no class"
            raise InfeasibleError(
                f"The target {a.name!r} has {only}, so there is nothing to predict. Pass rows of "
                f"two classes or more."
            )


@dataclass(frozen=True)
class _Problem:
    """The problem in coordinates in which A is the identity: `B` (d, s) are its fair directions.

    `C` (s, s) is the covariance of the rows times B, `T` (s, q) their covariances with the targets,
    `names` those of the target that each of the q columns belongs to.
    """

    moments: GroupMoments
    constraint: MeanConstraint
    B: Array
    C: Array
    T: Array
    names: tuple[str, ...]

    def start(self, k: int | None) -> tuple[Array, Array]:
        """Return the directions (s, k) that predict best, and what they explain of the targets.

        Scores rise with the target that they predict best.
        """
        xp = array_namespace(self.T)
        U, sizes, _ = xp.linalg.svd(self.T, full_matrices=False)
        b = U * sizes
        # A constant feature, which has no variance, may show rounding.
        found = int(np.sum(self._are_predicted(b) & to_numpy(sizes > UNPREDICTABLE * sizes[0])))
        some = {self.names[i] for i in np.flatnonzero(self._are_predicted(self.T))}
        never = dict.fromkeys(repr(name) for name in self.names if name not in some)
        if found < sizes.shape[0] and self._are_predicted(b, UNPREDICTABLE)[found:].any():
            self.moments.need_all_digits()
        if found == 0 or never:
            self.moments.need_all_digits()
            raise InfeasibleError(
                f"Nothing that the groups of {names_of(self.moments.attributes)} share predicts "
                f"the target {', '.join(never)}: it is a function of the attribute, or of what "
                f"separates the groups, or of no feature. Leave one of the two out, or add "
                f"features that predict it (with a kernel, say)."
            )
        names = ", ".join(repr(a.name) for a in self.moments.targets)
        if k is not None and k > found:
            raise InfeasibleError(
                f"n_components={k} is too large: the target ({names}) can be predicted by "
                f"{found} direction(s) and no more. Use n_components <= {found}, or None.",
                available=found,
            )
        k = found if k is None else k
        along = to_numpy(self.T.T @ U[:, :k])
        rises = np.sign(along[np.argmax(np.abs(along), axis=0), np.arange(k)])
        return b[:, :k] * like(rises, U), sizes[:k] ** 2

    def _are_predicted(self, b: Array, least: float | None = None) -> np.ndarray:
        """Tell which columns of targets correlate with what predicts them beyond rounding."""
        least = max(UNPREDICTABLE, self.moments.rounding) if least is None else least
        xp = array_namespace(b)
        return to_numpy(xp.sum(b * b, axis=0) ** 2 > least**2 * self._variances(b))

    def scaled(self, b: Array) -> Array:
        """Return directions (s, k) so that their scores have unit variance."""
        return b / array_namespace(b).sqrt(self._variances(b))

    def _variances(self, b: Array) -> Array:
        return array_namespace(b).sum(b * (self.C @ b), axis=0)

    def subspace(self, b: Array) -> Subspace:
        """Return the directions in the coordinates of the rows."""
        basis = self.constraint.polished(self.B @ self.scaled(b))
        return Subspace(basis, self.moments.scatter.along(basis), self.constraint.rank)


def _problem(
    moments: GroupMoments,
    constraint: MeanConstraint,
    shrinkage: float | None,
    covariance_penalty: float,
) -> tuple[_Problem, float]:
    xp = array_namespace(moments.mean)
    if isinstance(moments.scatter, RowScatter):
        N = maximize_variance(moments, None, avoid=constraint.Q).basis
    else:
        N = xp.linalg.qr(constraint.Q, mode="complete")[0][:, constraint.rank :]
    inner = moments.compressed(N)
    A = C = inner.scatter.dense().matrix / moments.weight
    if covariance_penalty > 0:
        A = C + covariance_penalty * absolute_difference(inner, summed=True)
    values, V = xp.linalg.eigh(A)
    values = xp.where(values > 0, values, xp.zeros_like(values))
    parts = target_covariances(inner)
    names = [a.name for a, T in zip(moments.targets, parts, strict=True) for _ in range(T.shape[1])]
    # What rounding leaves of copies and constants predicts nothing.
    B = N @ V
    variances = xp.sum(V * (C @ V), axis=0)
    real = xp.nonzero(variances * moments.weight > noise_along(moments, B))[0]
    if real.shape[0] < B.shape[1]:
        moments.need_all_digits()
    if real.shape[0] == 0:
        raise InfeasibleError(
            f"All directions in which the {moments.n_rows} rows vary by more than rounding "
            f"separate the groups of {names_of(moments.attributes)}, so none of them may predict "
            f"anything. Pass more features, or leave those out that are functions of an attribute."
        )
    B, V, values = xp.take(B, real, axis=1), xp.take(V, real, axis=1), xp.take(values, real)
    C, T = V.T @ (C @ V), V.T @ xp.concat(parts, axis=1)
    average = float(xp.sum(moments.scatter.diagonal)) / moments.weight / moments.n_features
    if shrinkage is None:
        free = max(moments.n_rows - 1.0 - constraint.rank, 1.0)
        in_numpy = (to_numpy(values), to_numpy(C), to_numpy(T))
        shrinkage = _cross_validated(*in_numpy, average, free, len(moments.targets))
    shrinkage = max(float(shrinkage), LEAST_SHRINKAGE)
    root = xp.sqrt(values + shrinkage * average)
    B, C, T = B / root, C / root / root[:, None], T / root[:, None]
    return _Problem(moments, constraint, B, C, T, tuple(names)), shrinkage


def _cross_validated(
    values: np.ndarray, C: np.ndarray, T: np.ndarray, average: float, free: float, n_targets: int
) -> float:
    """Return the shrinkage with the least generalised cross-validation error of a regression.

    Golub, Heath & Wahba (1979), with rows counted and not weighed: the error of targets of unit
    variance over the square of the degrees of freedom that are left.
    """
    errors = []
    for shrinkage in SHRINKAGES:
        inverse = 1.0 / (values + shrinkage * average)
        b = inverse[:, None] * T
        error = n_targets - 2.0 * np.sum(T * b) + np.sum(b * (C @ b))
        left = max(free - float(np.sum(inverse * np.diagonal(C))), 1e-9 * free)
        errors.append(error / left**2)
    return CAUTION * float(SHRINKAGES[int(np.argmin(errors))])


@dataclass(frozen=True)
class _Step:
    """Where scores are (s, k), where Gauss-Newton goes from there, the cost, the largest gap."""

    b: np.ndarray
    goal: np.ndarray
    cost: float
    gap: float


def _equalize_shares(
    problem: _Problem, start: Array, worth: Array, penalty: float, look: Look
) -> tuple[Array, float]:
    """Return directions whose scores have nearly the same distribution in every group; the gap.

    What is minimised is |b - start|^2 plus the penalty, in units of what a score explains of the
    targets, times the mean over thresholds of the squared differences. One look a round. A step
    that costs more than where it came from is taken back and tried again at a third of its length.
    """
    B, C, goals = (to_numpy(M) for M in (problem.B, problem.C, start))
    D = _compared_together(goals.shape[1])
    weights = penalty * (to_numpy(worth) @ D**2) / len(THRESHOLDS)

    def measured(b: np.ndarray) -> _Step:
        w = _of_unit_variance(b, C)[0] @ D
        v, sizes = _of_unit_variance(w, C)
        differences, slopes, counts = look(like(B @ v, problem.B))
        roots = np.sqrt(np.repeat(weights, len(THRESHOLDS)) * counts[:, None])
        J = _slopes_of_steps(b, C, D, v, sizes, (roots[:, :, None] * slopes) @ B)
        return _step(b, goals, (roots * differences).ravel(), J, float(np.abs(differences).max()))

    best, length = measured(goals), 1.0
    for _ in range(ROUNDS - 1):
        step = measured(best.b + length * (best.goal - best.b))
        rises = bool(np.all(np.sum(step.b * goals, axis=0) > 0))
        better = rises and step.cost < SETTLED * best.cost
        best, length = (step, min(1.0, 2.0 * length)) if better else (best, length / 3.0)
    return like(best.b, start), best.gap


def _compared_together(k: int) -> np.ndarray:
    """Return the combinations (k, m) of scores that are compared: each, and sums and differences.

    Scores that look alike one by one may tell the groups apart together.
    """
    pairs = list(combinations(np.eye(k), 2)) if k <= MOST_TOGETHER else []
    both = [(a + sign * b) / np.sqrt(2.0) for a, b in pairs for sign in (1.0, -1.0)]
    return np.stack([*np.eye(k), *both], axis=1)


def _of_unit_variance(b: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    sizes = np.sqrt(np.sum(b * (C @ b), axis=0))
    return b / sizes, sizes


def _slopes_of_steps(
    b: np.ndarray,
    C: np.ndarray,
    D: np.ndarray,
    v: np.ndarray,
    sizes: np.ndarray,
    slopes: np.ndarray,
) -> np.ndarray:
    """Return how differences (c, mJ) change with b: an array (c m J, k s).

    Thresholds grow with scores, so the length of b changes nothing: its slope along b is zero.
    """
    (s, k), m = b.shape, D.shape[1]
    H = slopes.reshape(len(slopes), m, -1, s)
    along = np.einsum("cmjs,sm->cmj", H, v)
    H = (along[..., None] * (C @ v).T[:, None, :] - H) / (WIDTH * sizes[:, None, None])
    u, lengths = _of_unit_variance(b, C)
    along = np.einsum("cmjs,sk->cmjk", H, u)
    J = H[:, :, :, None, :] - along[..., None] * (C @ u).T
    return (J * (D.T / lengths)[:, None, :, None]).reshape(-1, k * s)


def _step(b: np.ndarray, start: np.ndarray, r: np.ndarray, J: np.ndarray, gap: float) -> _Step:
    origin = start.T.ravel()
    slack = r + J @ origin
    if len(r) <= len(origin):
        step = J.T @ np.linalg.solve(np.eye(len(r)) + J @ J.T, slack)
    else:
        step = np.linalg.solve(np.eye(len(origin)) + J.T @ J, J.T @ slack)
    goal = (origin - step).reshape(start.T.shape).T
    return _Step(b, goal, float(np.sum((b - start) ** 2) + r @ r), gap)


def scores_of(W: Array, centre: Array) -> Scores:
    """Return what a pass over the rows has to count for directions (d, k) of unit variance."""
    return Scores(W, centre, THRESHOLDS, WIDTH)
