"""From rows, or the moments of a kernel's features, to what fair kernel PCA learns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._attributes import Levels
from .._kernels import (
    PRECOMPUTED,
    Features,
    Kernel,
    KernelColumns,
    KernelScatter,
    RandomFeatures,
    RowsAndKernel,
    kernel_matrix,
    pilot_centre,
    scale_gamma,
    warn_of_negative_directions,
    whitening,
)
from .._maps import FeatureMap, LinearMap, in_double_precision, side_by_side
from .._moments import AttributeMoments, GroupMoments, attributes_over_rows
from .._numerics import deterministic_signs, is_sparse, machine_epsilon, quiet_overflow
from .._rows import Batch, MappedRows, Rows, RowsElsewhere, Sample, block_rows, row_blocks
from ..errors import FewLandmarksWarning, InfeasibleError, ResidualWarning, UsageError, warn_user
from ..solvers import (
    equalize_kernel_means,
    equalize_means,
    largest_gap,
    maximize_variance,
    mean_constraint,
    way_out,
)
from ._checks import NYSTROEM, SHIFT_INVARIANT
from ._reader import NO_ROWS, Reader, check_finite, check_some_rows, finite_moments
from ._transformer import RESIDUAL_LIMIT, groups_of, warn_of_a_residual

DECIDED_AT_FIRST = ("kernel", "gamma", "degree", "coef0", "approximation", "n_landmarks")
"""Parameters that cannot change once features are drawn."""

SAMPLE_ROWS, SAMPLE_NUMBERS = 20_000, 2**24
"""A sample that comes to one place has at most so many rows, and numbers."""

FEW = 16
"""So many rows are compared with each other to check a function."""

ASYMMETRIC = 1e-7
"""Largest difference between K and its transpose, relative to its entries, that is rounding."""

SMALLEST = 1e-140
"""Squares of smaller numbers lose digits to underflow."""

TOO_ALIKE = (
    "the kernel values of different rows agree in too many digits for these components. "
    "Standardise the features, use a larger gamma, or fewer components"
)

SYMMETRIC = 1e-14
"""Asymmetry of a given kernel up to this needs no repair."""

UNCONVERGED = 1e-8
"""Relative residuals of eigenvectors above this, and above the asked tolerance, are reported."""


def fit_exactly(
    estimator: Any, rows: Rows, k: int | float | None, tradeoff: float, seed: int
) -> tuple[dict[str, Any], np.ndarray]:
    """Return what is learned from all rows at once, and their representation."""
    attributes = attributes_over_rows(rows)
    features, scatter = kernel_scatter(estimator, rows)
    centre = None
    if rows.everyone is not None and estimator.center:
        features, scatter, centre = _about_everyone(rows, rows.everyone, features, scatter)
    kernel = None if features is None else features.kernel
    definite = kernel is not None and kernel.is_positive
    options: dict[str, Any] = {"solver": estimator.solver, "tol": float(estimator.tol)}
    fair = equalize_kernel_means(scatter, attributes, k, definite=definite, seed=seed, **options)
    if fair.smallest is not None:
        warn_of_negative_directions(fair.smallest, float(fair.values[0]))
    if fair.residual > max(options["tol"], UNCONVERGED):
        warn_user(
            f"The iterative solver stopped at a relative residual of {fair.residual:.1e} of the "
            f"eigenvectors: the leading eigenvalues lie close together. The groups have the same "
            f"mean all the same, but another subspace may keep a little more variance. Use "
            f"solver='auto' or 'dense'.",
            ResidualWarning,
        )
    dual, weight = dual_of(scatter, fair.coefficients), scatter.total_weight
    own = scatter.precision * scatter.norm / float(fair.values[-1])
    # Of these kernel values, and of any others as exact.
    gap = max(
        largest_gap(attributes, weight, fair.representation, fair.values),
        _gap_from_rounding(scatter.norm / weight, dual, fair.values, weight, scatter.precision),
        _typical_or_most(own / float(np.sqrt(scatter.n_rows)), own),
    )
    given = machine_epsilon(scatter.K if features is not None else rows.X)
    warn_of_a_residual(gap, given, TOO_ALIKE)
    rank = fair.constraint_rank
    combined = np.asarray if centre is None else centre.combined
    matrix, T = combined(dual), fair.representation
    learned = _learned(fair.values, matrix, attributes, scatter, fair.total, rank, gap)
    learned["gamma_"] = None if kernel is None else kernel.gamma_in_use
    if tradeoff > 0:
        standard = equalize_kernel_means(
            scatter, (), len(fair.values), definite=True, seed=seed, **options
        )
        learned["standard_dual_components_"] = combined(dual_of(scatter, standard.coefficients))
        matrix = np.hstack([matrix, tradeoff * learned["standard_dual_components_"]])
        T = np.hstack([T, tradeoff * standard.representation])
    linear = LinearMap(matrix, scatter.mean if centre is None else centre.mean)
    rows = rows if centre is None else centre.everyone
    if features is None:
        learned["_map"] = FeatureMap(in_double_precision, _over_all_columns(linear, rows))
    else:
        learned["X_fit_"] = features.rows
        learned["_map"] = FeatureMap(features, linear)
        if features.kernel.name == "linear":
            learned["_inverse"] = _in_input_space(
                linear, features.rows, rows, bool(estimator.center)
            )
    return learned, T / scatter.root_weight[:, None]


@dataclass(frozen=True)
class _Centre:
    """The mean of everyone in feature space, a combination of their rows.

    `counted` has the positions of the rows that count among everyone, `share` the weights of
    everyone, which add up to 1, and `mean` the mean of the kernel values in each column.
    """

    everyone: Rows
    counted: np.ndarray
    share: np.ndarray
    mean: np.ndarray

    def combined(self, dual: np.ndarray) -> np.ndarray:
        """Return coefficients of kernel values with everyone's rows; they add up to zero."""
        coefficients = -self.share[:, None] * dual.sum(axis=0)
        coefficients[self.counted] += dual
        return coefficients


def _about_everyone(
    rows: Rows, everyone: Rows, features: KernelColumns | None, scatter: KernelScatter
) -> tuple[KernelColumns | None, KernelScatter, _Centre]:
    """Return the kernel's columns of everyone, and the scatter of the rows about their mean."""
    n = everyone.n_rows
    positions = np.arange(n) if everyone.chosen is None else everyone.chosen
    share = everyone.weights / everyone.weights.sum()
    if features is not None:
        features = KernelColumns(features.kernel, everyone.materialized().X.astype(float))
    mean = np.zeros(n)
    for block in row_blocks(n, block_rows(n)):
        B = everyone.block(block)
        mean += share[block] @ (B[:, positions].astype(float) if features is None else features(B))
    counted = np.searchsorted(positions, positions if rows.chosen is None else rows.chosen)
    K = scatter.K - mean[counted] - mean[counted, None] + share @ mean
    about = KernelScatter(K, scatter.weight, centred=False)
    lost = max(1.0, scatter.norm / about.norm) if about.norm > 0 else 1.0
    about = replace(about, precision=lost * scatter.precision)
    return features, about, _Centre(everyone, counted, share, mean)


def _learned(
    values: np.ndarray,
    dual: np.ndarray,
    attributes: Sequence[AttributeMoments],
    of: KernelScatter | GroupMoments,
    total: float,
    rank: int,
    gap: float,
) -> dict[str, Any]:
    groups = {"constraint_rank_": rank, "groups_": groups_of(attributes), "mean_gap_": gap}
    return learned_of_kernel(values, dual, of, total) | groups


def learned_of_kernel(
    values: np.ndarray, dual: np.ndarray, of: KernelScatter | GroupMoments, total: float
) -> dict[str, Any]:
    """Return components of a kernel's feature space in scikit-learn's words."""
    return {
        "eigenvalues_": values,
        "dual_components_": dual,
        "explained_variance_": values / of.degrees_of_freedom,
        "explained_variance_ratio_": values / total,
        "n_components_": len(values),
        "n_samples_seen_": of.n_rows,
    }


def kernel_scatter(estimator: Any, rows: Rows) -> tuple[KernelColumns | None, KernelScatter]:
    """Return the kernel's columns (None if precomputed), and the scatter of rows in its space."""
    features: KernelColumns | None = None
    if estimator.kernel == PRECOMPUTED:
        asymmetry = _checked_asymmetry(rows.X)
        K = rows.X if rows.chosen is None else rows.X[np.ix_(rows.chosen, rows.chosen)]
        K = K.astype(float, copy=False)
        K = K if asymmetry <= SYMMETRIC else 0.5 * (K + K.T)
        precision = max(machine_epsilon(rows.X), asymmetry)
    else:
        kernel, rows = _kernel_for(estimator, rows.everyone or rows), rows.materialized()
        X = rows.X.astype(float)
        if callable(kernel.name):
            _check_function(kernel, X)
        precision = float(np.finfo(float).eps) * kernel.digits_lost(X)
        features, K = KernelColumns(kernel, X), kernel_matrix(kernel, X)
    scatter = KernelScatter(K, rows.weight, bool(estimator.center), precision)
    if not np.isfinite(scatter.norm):
        raise UsageError(
            "Kernel values of the rows, or their squares, overflow or are NaN. Divide X by a "
            "constant first, use a smaller gamma or degree (a whole one: fractional powers of "
            "negative numbers are NaN), or check the kernel function."
        )
    return features, scatter


def _checked_asymmetry(K: Any) -> float:
    """Return the asymmetry of a square matrix; raise if it is more than rounding."""
    n, columns = K.shape
    if is_sparse(K):
        raise UsageError(
            "kernel='precomputed' works with all n x n kernel values, but X is sparse. Pass "
            "X.toarray(), or the rows themselves with another kernel."
        )
    if n != columns:
        raise UsageError(
            f"kernel='precomputed' needs the kernel of the rows with each other, a square matrix, "
            f"but X has shape {K.shape}. Pass X with another kernel, or the square matrix."
        )
    blocks = list(row_blocks(n, block_rows(n)))
    largest = max(float(np.abs(K[b]).max()) for b in blocks)
    gap = max(float(np.abs(K[b] - K[:, b].T).max()) for b in blocks) / (largest or 1.0)
    if gap > ASYMMETRIC:
        raise UsageError(
            f"kernel='precomputed' needs a symmetric matrix, but entries differ from their mirror "
            f"images by up to {gap:.1e} of the largest. Pass (K + K.T) / 2 if that is meant."
        )
    return gap


def dual_of(scatter: KernelScatter, coefficients: np.ndarray) -> np.ndarray:
    """Return coefficients of kernel values: weights and centring moved from rows to them."""
    return (scatter.centre(coefficients.T) * scatter.root_weight).T


def _over_all_columns(linear: LinearMap, rows: Rows) -> LinearMap:
    """Return the map for kernel values with all N rows, counted or not."""
    if rows.chosen is None:
        return linear
    matrix = np.zeros((rows.X.shape[0], linear.matrix.shape[1]))
    mean = np.zeros(rows.X.shape[0])
    matrix[rows.chosen], mean[rows.chosen] = linear.matrix, linear.mean
    return LinearMap(matrix, mean)


def _in_input_space(linear: LinearMap, X: Any, rows: Rows, centred: bool) -> LinearMap:
    """Return the map of the linear kernel on the features themselves, which has an inverse."""
    weight = rows.weights
    mean = np.asarray(X.T @ weight) / weight.sum()
    if not centred:
        return LinearMap(np.asarray(X.T @ linear.matrix), np.zeros_like(mean))
    # Coefficients add up to zero, so the mean may be taken out of dense rows first.
    directions = X.T @ linear.matrix if is_sparse(X) else (X - mean).T @ linear.matrix
    return LinearMap(np.asarray(directions), mean)


def _check_function(kernel: Kernel, X: Any) -> None:
    """Raise unless a user's function gives a number, and the same one for (a, b) and (b, a)."""
    some = X[np.unique(np.linspace(0, X.shape[0] - 1, FEW).astype(int))]
    try:
        K = np.asarray(kernel(some, some.copy()), dtype=float)  # a copy: all pairs, not half
    except (TypeError, ValueError) as reason:
        raise UsageError(
            f"The kernel function failed on a pair of rows: {reason}. It takes two rows, and "
            f"kernel_params as keywords, and returns one number; a function of whole matrices "
            f"can be used with kernel='precomputed'."
        ) from reason
    gap, largest = float(np.abs(K - K.T).max()), float(np.abs(K).max())
    if gap > ASYMMETRIC * largest:
        raise UsageError(
            f"The kernel function is not symmetric: k(a, b) and k(b, a) differ by up to {gap:.1e}, "
            f"where the largest value is {largest:.1e}, so it is no similarity and has no feature "
            f"space. Use (k(a, b) + k(b, a)) / 2 if that is meant."
        )


def _kernel_for(estimator: Any, rows: Rows) -> Kernel:
    """Return the kernel with a gamma and a centre that fit the rows."""
    if rows.n_rows == 0:
        raise UsageError(
            "The first batch has no row that counts, so there is nothing to choose the kernel's "
            "features from. Start with a batch that has some."
        )
    largest = float(abs(rows.X).max())
    if 0 < largest < SMALLEST:
        raise UsageError(
            f"Squares of X underflow: its largest entry is {largest:.0e}, so all rows look alike "
            f"to a kernel. Multiply X by a constant first."
        )
    e, gamma = estimator, 1.0
    if not callable(e.kernel):
        if e.gamma == "scale":
            gamma = scale_gamma(rows)
        else:
            gamma = 1.0 / rows.X.shape[1] if e.gamma == "auto" else float(e.gamma)
    if not 0 < gamma < np.inf:
        raise UsageError(
            f"gamma='scale' is 1 / (d Var(X)) = {gamma:g}: squares of X overflow, or underflow. "
            f"Standardise the features first, or pass a number."
        )
    return Kernel(
        e.kernel,
        gamma=gamma,
        degree=e.degree,
        coef0=float(e.coef0),
        centre=pilot_centre(rows) if e.kernel == "rbf" else None,
        parameters=dict(e.kernel_params or {}),
        n_jobs=e.n_jobs,
    )


def _gap_from_rounding(
    size: float, coefficients: np.ndarray, values: np.ndarray, weight: float, precision: float
) -> float:
    """Return the group difference that rounding of kernel values of this size can cause."""
    # The last digit, times the coefficients of a component, over its standard deviation: what
    # evaluating the kernel once more, as `transform` does, may change.
    counts = values > 0
    unit = precision * size / np.sqrt(values[counts] / weight)
    norms = (np.linalg.norm(coefficients[:, counts], ord=order, axis=0) for order in (2, 1))
    return _typical_or_most(*(float(np.max(unit * norm, initial=0.0)) for norm in norms))


def _typical_or_most(typical: float, most: float) -> float:
    """Return what many roundings typically add up to; where that is much, what they can at most."""
    return most if typical > RESIDUAL_LIMIT else typical


@dataclass(frozen=True)
class KernelReader(Reader):
    """Takes the moments of features that stand for a kernel, once these are drawn."""

    kernel: Any = "rbf"
    gamma: float | str = "scale"
    degree: float = 3
    coef0: float = 1.0
    kernel_params: Mapping[str, Any] | None = None
    approximation: str | None = None
    n_landmarks: int = 500
    seen_through: Features | None = None

    @classmethod
    def of_kernel(cls, estimator: Any, **more: Any) -> Self:
        """Return the reader for the kernel that an estimator describes."""
        kernel = {name: getattr(estimator, name) for name in (*DECIDED_AT_FIRST, "kernel_params")}
        drawn = vars(estimator).get("_feature_map")
        return cls.of(estimator, **kernel, seen_through=drawn, **more)

    def check(self, moments: GroupMoments) -> None:
        """Raise unless moments are enough for a solution; features may be as small as they like."""
        check_some_rows(moments)

    def _seen(self, rows: Rows) -> Rows:
        if isinstance(rows, MappedRows):
            return rows
        assert self.seen_through is not None
        check_finite(rows)
        return rows.seen_as(MappedRows, features=self.seen_through)


def _sampled_rows(
    reader: Reader, source: RowsElsewhere, *, fewest: int, seed: int
) -> tuple[Rows, np.ndarray]:
    """Return rows drawn at random, in their order, and their joint groups.

    They are at least `fewest`, all where these are few.
    """
    assert reader.columns is not None
    n = max(fewest, min(SAMPLE_ROWS, SAMPLE_NUMBERS // max(1, reader.columns[0])))
    drawn: Sample | None = source.fold(_DrawRows(reader, n, seed))
    if drawn is None:
        raise UsageError(NO_ROWS.format(type(source).__name__))
    X, weight, groups = drawn.rows
    return Rows(X, None if (weight == 1).all() else weight), groups


def _joint_groups(rows: Rows, positions: np.ndarray) -> np.ndarray:
    """Return a word for the joint group of each row at the positions."""
    levels = [a for a in rows.attributes if isinstance(a, Levels)]
    groups = np.full(len(positions), "", dtype=np.str_)
    for a in levels:
        # A row is in one of the strata of an attribute, and a batch need not have all of them.
        words = np.array([*(f"{a.name}={label!r}|" for label in a.labels), ""])
        groups = np.char.add(groups, words[a.codes[positions]])
    return groups


@dataclass(frozen=True)
class _DrawRows:
    """Give every row a random key and keep the rows with the smallest: a sample that adds up."""

    reader: Reader
    n: int
    seed: int

    def __call__(self, batch: Batch) -> Sample | None:
        if batch.n_rows == 0:
            return None
        rows = self.reader.of_batch(batch)
        check_finite(rows)  # here it is known where the rows are
        keys = np.random.default_rng([self.seed, batch.number]).random(rows.n_rows)
        weight = rows.weights

        def at(i: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
            return rows.take(i), weight[i], _joint_groups(rows, i)

        return Sample.of(self.n, keys, batch.number, at)


def _draw_features(
    kernel: Kernel,
    approximation: str,
    p: int,
    rows: Rows,
    seed: int,
    *,
    may_be_few: bool,
    groups: np.ndarray | None = None,
) -> Features:
    """Draw landmarks among the rows, from all groups alike if these are given; or frequencies."""
    if approximation != NYSTROEM:
        return RandomFeatures.draw(kernel, p, pilot_centre(rows), seed)
    if not may_be_few and rows.n_rows < p:
        warn_user(
            f"n_landmarks={p}, but the first batch has {rows.n_rows} rows that count, so these "
            f"are all landmarks there will be. Start with a larger batch.",
            FewLandmarksWarning,
        )
    drawn = np.random.default_rng(seed).permutation(rows.n_rows)
    drawn = (drawn if groups is None else drawn[_in_turn(groups[drawn])])[:p]
    columns = KernelColumns(kernel, rows.take(np.sort(drawn)).astype(float))
    if callable(kernel.name):
        _check_function(kernel, columns.rows)
    return columns


def _in_turn(groups: np.ndarray) -> np.ndarray:
    """Return positions so that groups take turns, each in its order, until it is used up."""
    by_group = np.argsort(groups, kind="stable")
    first = np.unique(groups[by_group], return_index=True, return_inverse=True)
    turn = np.empty(len(groups), dtype=np.intp)
    turn[by_group] = np.arange(len(groups)) - first[1][first[2]]
    return np.argsort(turn, kind="stable")


def see_through_kernel(
    estimator: Any, reader: Reader, rows: Rows | RowsElsewhere, *, beside_rows: bool = False
) -> None:
    """Draw the features that stand for the kernel, if these rows are the first; keep them.

    `beside_rows` keeps the columns themselves, too, standardised if the estimator says so.
    """
    e = estimator
    if "_feature_map" in vars(e):
        changed = [n for n, value in e._drawn_with.items() if getattr(e, n) != value]
        if changed:
            raise UsageError(
                f"The parameter(s) {changed} were changed after the first batch, which decided "
                f"what rows are seen through, so this batch would not fit to the others. Set them "
                f"back, or start anew with fit or a clone."
            )
        return
    few = reader.complete
    if isinstance(rows, RowsElsewhere):
        drawn_from = reader.for_batches(e)
        if not reader.with_targets:  # which count all rows, whatever the criterion
            drawn_from = replace(drawn_from, criterion="demographic_parity")
        drawn, groups = _sampled_rows(drawn_from, rows, fewest=e.n_landmarks, seed=e._seed())
        few = True
    else:
        drawn = rows.everyone or rows
        groups = _joint_groups(rows, np.arange(rows.n_rows)) if beside_rows else np.empty(0)
    check_finite(drawn)
    standard = None
    if beside_rows and e.scale:
        drawn, standard = _standardised(drawn)
    kernel = _kernel_for(e, drawn)
    decided = (*DECIDED_AT_FIRST, "scale") if beside_rows else DECIDED_AT_FIRST
    e._drawn_with = {name: getattr(e, name) for name in decided}
    e._feature_map = _draw_features(
        kernel,
        e.approximation,
        e.n_landmarks,
        drawn,
        e._seed(),
        may_be_few=few,
        groups=groups if beside_rows else None,  # a small group would have next to no landmark
    )
    e.gamma_ = kernel.gamma_in_use
    if isinstance(e._feature_map, KernelColumns):
        e.landmarks_ = e._feature_map.rows
    if beside_rows:
        unit = float(np.sqrt(scale_gamma(drawn)))
        e._feature_map = RowsAndKernel(e._feature_map, unit, *(standard or (None, None)))


def _standardised(rows: Rows) -> tuple[Rows, tuple[np.ndarray, np.ndarray]]:
    """Return rows in standard deviations from their mean, and the two."""
    moments = finite_moments(Rows(rows.X, rows.weight, chosen=rows.chosen), with_scatters=False)
    mean, scale = np.asarray(moments.mean), np.asarray(moments.standard_deviations)
    X = rows.materialized().X
    X = (X.toarray() if is_sparse(X) else X).astype(float)
    return Rows((X - mean) / scale, rows.weight), (mean, scale)


def finite_map(map_: Any, features: Any) -> np.ndarray:
    """Return the representation by kernel values; raise if these overflow."""
    with quiet_overflow():
        T: np.ndarray = map_(features)
    if not np.isfinite(T).all():
        raise UsageError(
            "Kernel values of these rows overflow: they lie much further out than the training "
            "rows. Check their units, or clip them."
        )
    return T


def solve_features(
    features: Features,
    moments: GroupMoments,
    k: int | float | None,
    tradeoff: float,
    *,
    centred: bool,
    **options: Any,
) -> dict[str, Any]:
    """Return the learned attributes from the moments of features."""
    # Landmarks' features are plain kernel values, of which Nystroem's are linear combinations N.
    # Taking N after the moments saves two thirds of the work per row; ranks are decided before, on
    # all digits.
    constraint = mean_constraint(moments)
    N = whitening(features, moments.precision) if isinstance(features, KernelColumns) else None
    work = moments if N is None else moments.compressed(N)
    work = work if centred else work.about_the_origin()
    if N is not None:
        constraint = constraint.compressed(N, work, tol=16 * np.sqrt(moments.precision))
    left = work.n_features - constraint.rank
    if left <= 0 or (isinstance(k, int) and k > left):
        raise _infeasible(k, max(0, left), moments)
    total = _total(features, work)
    fair = equalize_means(work, k, constraint=constraint, total=total, **options)
    noise = 100 * moments.precision if N is None else 10 * np.sqrt(moments.precision)
    found = int((fair.scatter > noise * float(work.objective.diagonal.sum())).sum())
    if found == 0 or (isinstance(k, int) and found < k):
        raise _infeasible(k, found, moments)
    fair = fair.first(found)
    matrix = deterministic_signs(fair.basis if N is None else N @ fair.basis)
    lost, values, weight = 1.0, fair.scatter, moments.weight
    if isinstance(features, KernelColumns):
        lost = features.kernel.digits_lost(features.rows)
    size = float(np.sqrt(np.mean(moments.mean**2 + moments.scatter.diagonal / weight)))
    gap = max(  # of these features, and of any others as exact
        largest_gap(moments.attributes, weight, matrix, values),
        _gap_from_rounding(size, matrix, values, weight, moments.precision * lost),
    )
    warn_of_a_residual(gap, moments.precision, TOO_ALIKE)
    mean = moments.centre if centred else np.zeros_like(moments.mean)
    linear = LinearMap(matrix, mean)
    total, rank = total if total > 0 else 1.0, fair.constraint_rank
    learned = _learned(values, matrix, moments.attributes, moments, total, rank, gap)
    if tradeoff > 0:
        standard = maximize_variance(work, fair.basis.shape[1], **options)
        U_st = deterministic_signs(standard.basis if N is None else N @ standard.basis)
        learned["standard_dual_components_"] = U_st
        linear = side_by_side([linear, LinearMap(U_st, mean)], [1.0, tradeoff])
    return learned | {"_map": FeatureMap(features, linear)}


def _infeasible(k: int | float | None, found: int, moments: GroupMoments) -> InfeasibleError:
    asked = "" if k is None else f"n_components={k} is too large: "
    return InfeasibleError(
        f"{asked}The rows vary along {found} direction(s) of the "
        f"approximated feature space in which the groups have the same mean. Use fewer components, "
        f"fewer groups, more rows, or a larger n_landmarks; if all rows look alike to the kernel, "
        f"standardise the features or use a larger gamma.{way_out(moments.attributes)}",
        available=found,
    )


def _total(features: Features, work: GroupMoments) -> float:
    """Return the sum of squares in feature space; of what the features see, if it is not known."""
    if not isinstance(features, KernelColumns) or features.kernel.name not in SHIFT_INVARIANT:
        return float(work.objective.diagonal.sum())
    return work.weight * float(1.0 - 2.0 * work.mean @ work.centre + work.centre @ work.centre)
