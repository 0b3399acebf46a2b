"""Fair PLS: the few directions that predict targets and in which all groups look alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from .._moments import Distribution, GroupMoments, LevelMoments, RowScatter, noise_along
from .._numerics import Array, array_namespace, like, to_numpy
from .._rows import Rows
from ..errors import InfeasibleError, UsageError
from ._equalize_covariances import absolute_difference, with_groups
from ._equalize_distributions import Separability, most_directions, predict_unseen
from ._equalize_means import (
    MeanConstraint,
    check_dimension,
    check_not_tiny,
    mean_constraint,
    names_of,
)
from ._maximize_variance import maximize_variance
from ._subspace import Subspace

THRESHOLDS = np.linspace(-2.25, 2.25, 30)
"""Where groups' shares are compared: at these quantiles of the standard normal distribution."""

WIDTH = 0.1
"""Over how many standard deviations, if it is normal, a score passes from above to below."""

SHARE_OF_PENALTY = 0.005
"""Of several scores together, readers' shares of the groups count so much of the penalty: at 1,000
as much as in fair PCA."""

VARIES = 1e-6
"""Several scores are searched where rows vary by at least so much of where they vary most."""

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

UNPREDICTABLE = 1e-6
"""Correlations with a target below this are rounding."""

Look = Callable[[Array, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""From scores (d, k) of unit variance, thresholds and widths to `SharesBelow.contrasts`."""

Distribute = Callable[[Array], tuple[Distribution, ...]]
"""From scores (d, k) of unit variance to their distributions."""

Draw = Callable[[Array], tuple[Array, Rows]]
"""From directions (d, p) to coordinates (n, p) of a sample of the rows along them, and the sample.
"""


def predict_targets(
    moments: GroupMoments,
    k: int | None = None,
    *,
    shrinkage: float | None = None,
    covariance_penalty: float = 0.0,
    distribution_penalty: float = 0.0,
    look: Look | None = None,
    distribute: Distribute | None = None,
    draw: Draw | None = None,
    constraint: MeanConstraint | None = None,
    seed: int = 0,
) -> tuple[Subspace, float, tuple[Distribution, ...], Separability | None]:
    r"""Solve fair PLS.

    Among the directions in which every group has the same mean, return those that predict the
    targets best, less a penalty for what still differs between groups.

    Parameters
    ----------
    moments : GroupMoments
        Moments of rows in d dimensions with targets; with a scatter per group for a
        covariance penalty.
    k : int or None
        How many directions; None for as many as the targets need.
    shrinkage : float, optional
        What is added to the covariance, in units of the features' average variance; by default
        what generalised cross-validation would choose for a regression on the targets.
    covariance_penalty : float, default=0.0
        How much differences of the groups' variances along a direction count as noise does.
    distribution_penalty : float, default=0.0
        How much differences of the groups' shares below thresholds count; for several scores, a
        two-hundredth of it is how much what readers explain of the groups counts. Needs the next
        three.
    look : callable, optional
        Takes directions (d, k) of unit variance, thresholds and widths (k, J), and returns, in one
        pass over the rows, how far groups' shares below thresholds differ, the slopes of that, and
        what each group counts.
    distribute : callable, optional
        Takes such directions and returns, in one pass, the k distributions of the scores.
    draw : callable, optional
        Takes directions (d, p) and returns the coordinates (n, p) of a sample of the rows along
        them, centred, and the sample; asked for several scores only.
    constraint : MeanConstraint, optional
        The directions that separate group means, where they are known already.
    seed : int, default=0
        Of the readers of several scores.

    Returns
    -------
    subspace : Subspace
        The basis is not orthonormal: its columns give scores of unit variance, most predictive
        first, which rise with the last class or the number that they predict best.
    shrinkage : float
        What was added.
    distributions : tuple of Distribution
        Those of the k scores; empty without `distribute`.
    separability : Separability or None
        What readers see of the sample; None without `draw`, or for one score.

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
    shares of one score is not quadratic; each pass takes a Gauss-Newton step on it. Several scores
    that match one by one may still predict the groups together. Theirs is the search of
    `equalize_distributions`, among the orthonormal b of coordinates in which A is the identity:
    it maximises :math:`|T^\top A^{-1/2} b|^2`, in units of what the start has, less a
    two-hundredth of the penalty times the share of the groups that readers of the whitened scores
    explain.

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
    >>> fair, *_ = predict_targets(moments)
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
    b, worth = problem.start(k)
    found: tuple[Distribution, ...] = ()
    seen = None
    if look is not None and distribute is not None and draw is not None:
        if b.shape[1] == 1:
            b, found = _equalize_shares(problem, b, worth, distribution_penalty, look, distribute)
        else:
            b, seen = _predict_unseen(
                problem, b, SHARE_OF_PENALTY * distribution_penalty, draw, seed
            )
            found = distribute(problem.B @ problem.scaled(b))
    return problem.subspace(b), shrinkage, found, seen


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
        return self.rising(b[:, :k]), sizes[:k] ** 2

    def rising(self, b: Array) -> Array:
        """Return directions so that scores rise with the target that they predict best."""
        along = to_numpy(self.T.T @ b)
        rises = np.sign(along[np.argmax(np.abs(along), axis=0), np.arange(along.shape[1])])
        return b * like(np.where(rises == 0, 1.0, rises), b)

    def leading(self, b: Array, most: int) -> Array:
        """Return orthonormal directions (s, p): where rows vary most, and b."""
        xp = array_namespace(b)
        variances, E = xp.linalg.eigh(self.C)
        enough = int(xp.sum(xp.astype(variances > VARIES * variances[-1], xp.int64)))
        E = E[:, E.shape[1] - min(enough, max(0, most - b.shape[1])) :]
        beside = b / xp.sqrt(xp.sum(b * b, axis=0))
        U, sizes, _ = xp.linalg.svd(beside - E @ (E.T @ beside), full_matrices=False)
        more = int(xp.sum(xp.astype(sizes > VARIES, xp.int64)))
        return xp.concat([E, U[:, :more]], axis=1)

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
    varying = int(xp.sum(xp.astype(moments.varies, xp.int64)))  # a constant column changes nothing
    average = float(xp.sum(moments.scatter.diagonal)) / moments.weight / max(varying, 1)
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


def _predict_unseen(
    problem: _Problem, start: Array, penalty: float, draw: Draw, seed: int
) -> tuple[Array, Separability]:
    """Return directions (s, k) whose scores together tell readers little, and what they see.

    The one that predicts most comes first, as at the start.
    """
    xp = array_namespace(start)
    n_groups = sum(int(a.contrasts()[0].shape[0]) for a in problem.moments.attributes)
    E = problem.leading(start, most_directions(n_groups))
    C, T = E.T @ (problem.C @ E), E.T @ problem.T
    Z, sample = draw(problem.B @ E)
    b, seen = predict_unseen(Z, sample, C, T, start.shape[1], penalty=penalty, seed=seed)
    turned = xp.linalg.svd(b.T @ T, full_matrices=True)[0]
    return problem.rising(E @ (b @ turned)), seen


@dataclass(frozen=True)
class _Step:
    """Where a score is (s, 1), where Gauss-Newton goes from there, the cost."""

    b: np.ndarray
    goal: np.ndarray
    cost: float


def _equalize_shares(
    problem: _Problem,
    start: Array,
    worth: Array,
    penalty: float,
    look: Look,
    distribute: Distribute,
) -> tuple[Array, tuple[Distribution, ...]]:
    """Return a direction whose score is distributed nearly alike in every group, and how.

    What is minimised is |b - start|^2 plus the penalty, in units of what the score explains of the
    targets, times the mean over thresholds of the squared differences. One look a round. A step
    that costs more than where it came from is taken back and tried again at a third of its length.
    """
    B, C, goal = (to_numpy(M) for M in (problem.B, problem.C, start))
    weight = penalty * float(to_numpy(worth)[0]) / len(THRESHOLDS)

    def score(b: np.ndarray) -> Array:
        return like(B @ (b / _size(b, C)), problem.B)

    at = _thresholds(distribute(score(goal)))

    def measured(b: np.ndarray) -> _Step:
        differences, slopes, counts = look(score(b), *at)
        roots = np.sqrt(weight * counts)[:, None]
        J = _slopes_of_steps(b, C, (roots[:, :, None] * slopes) @ B)
        return _step(b, goal, (roots * differences).ravel(), J)

    best, length = measured(goal), 1.0
    for _ in range(ROUNDS - 1):
        step = measured(best.b + length * (best.goal - best.b))
        better = float(np.sum(step.b * goal)) > 0 and step.cost < SETTLED * best.cost
        best, length = (step, min(1.0, 2.0 * length)) if better else (best, length / 3.0)
    return like(best.b, start), distribute(score(best.b))


def _thresholds(found: Sequence[Distribution]) -> tuple[np.ndarray, np.ndarray]:
    """Return thresholds and widths (k, J): of a normal score, `THRESHOLDS` and `WIDTH`.

    Means between quantiles, so tails, however heavy, do not push all thresholds to one side; and
    the same, mirrored, of minus the score. No width is less than that of a score which is spread
    evenly over them: where many rows tie, counts would jump.
    """
    half = 0.5 * (THRESHOLDS[1] - THRESHOLDS[0])
    edges = ndtr(np.append(THRESHOLDS - half, THRESHOLDS[-1] + half))
    at = np.stack([each.means_between(edges) for each in found])
    widths = WIDTH * np.gradient(at, THRESHOLDS, axis=1)
    even = WIDTH * (at[:, -1:] - at[:, :1]) / (THRESHOLDS[-1] - THRESHOLDS[0])
    return at, np.maximum(widths, np.maximum(even, 1e-12))


def _size(b: np.ndarray, C: np.ndarray) -> float:
    return float(np.sqrt(np.sum(b * (C @ b))))


def _slopes_of_steps(b: np.ndarray, C: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Return how differences (c, J) change with b: an array (c J, s).

    Thresholds grow with scores, so the length of b changes nothing: its slope along b is zero.
    """
    size = _size(b, C)
    v = b[:, 0] / size
    H = slopes.reshape(-1, len(v))
    return ((H @ v)[:, None] * (C @ v) - H) / size


def _step(b: np.ndarray, start: np.ndarray, r: np.ndarray, J: np.ndarray) -> _Step:
    origin = start[:, 0]
    slack = r + J @ origin
    if len(r) <= len(origin):
        step = J.T @ np.linalg.solve(np.eye(len(r)) + J @ J.T, slack)
    else:
        step = np.linalg.solve(np.eye(len(origin)) + J.T @ J, J.T @ slack)
    goal = (origin - step)[:, None]
    return _Step(b, goal, float(np.sum((b - start) ** 2) + r @ r))
