"""Fair kernel PCA and PLS through features that stand for a kernel: draw them, solve on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from .._kernels import (
    Features,
    Kernel,
    KernelColumns,
    KernelOptions,
    RandomFeatures,
    RowsAndKernel,
    check_function,
    pilot_centre,
    scale_gamma,
    whitening,
)
from .._maps import FeatureMap, LinearMap, side_by_side
from .._moments import GroupMoments
from .._numerics import deterministic_signs, is_sparse, quiet_overflow
from .._rows import LazyRows, Rows
from ..errors import FewLandmarksWarning, InfeasibleError, UsageError, warn_user
from ..solvers import (
    equalize_distributions,
    equalize_means,
    largest_gap,
    maximize_variance,
    mean_constraint,
    quantity_hint,
)
from ._checks import NYSTROEM, SHIFT_INVARIANT
from ._drawn_rows import draw_rows, joint_groups
from ._exact_kernel import TOO_ALIKE, gap_from_rounding, learned_of_kernel
from ._finite_moments import check_finite, finite_moments
from ._learned import compared, warn_of_a_residual, warn_of_readers
from ._reader import Reader

PILOT_ROWS = 20_000
"""Landmarks, and what a kernel takes from data, come from at most so many rows."""


MOST_BENT, LEAST_BENT = 100, 5e-3
"""Beside columns, distributions are matched in so many directions of the kernel: those of most
variance, and at least this share of the largest deviation. In the others each landmark stands for
itself, which trees find."""


@dataclass(frozen=True)
class KernelFeatures:
    """What rows are seen through in place of a kernel, and the parameters that decided it."""

    map: Features
    gamma: float | None
    drawn_with: Mapping[str, Any]

    @property
    def landmarks(self) -> Any:
        """The rows that others are compared with; None of random features."""
        columns = self.map.columns if isinstance(self.map, RowsAndKernel) else self.map
        return columns.rows if isinstance(columns, KernelColumns) else None


def check_unchanged(drawn_with: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
    """Raise if these are no longer the parameters of the first batch."""
    changed = [name for name, value in drawn_with.items() if parameters[name] != value]
    if changed:
        raise UsageError(
            f"The parameter(s) {changed} were changed after the first batch, which decided what "
            f"rows are seen through, so this batch would not fit to the others. Set them back, or "
            f"start anew with fit or a clone."
        )


def draw_features(
    reader: Reader,
    rows: Rows | LazyRows,
    options: KernelOptions,
    parameters: Mapping[str, Any],
    *,
    seed: int,
    complete: bool,
) -> KernelFeatures:
    """Draw landmarks among the rows, or random features, as the parameters say."""
    few, p = complete, parameters["n_landmarks"]
    if isinstance(rows, LazyRows):
        of_all = replace(reader, criterion="demographic_parity")
        drawn, few = draw_rows(of_all, rows, seed, fewest=p, most=PILOT_ROWS), True
    else:
        drawn = rows.everyone or rows
    check_finite(drawn)
    kernel = options.for_rows(drawn)
    if parameters["approximation"] == NYSTROEM:
        found: Features = _draw_landmarks(kernel, p, drawn, seed, may_be_few=few)
    else:
        found = RandomFeatures.draw(kernel, p, pilot_centre(drawn), seed)
    return KernelFeatures(found, kernel.gamma_in_use, parameters)


def draw_features_beside_columns(
    reader: Reader,
    rows: Rows | LazyRows,
    options: KernelOptions,
    parameters: Mapping[str, Any],
    *,
    seed: int,
    complete: bool,
) -> KernelFeatures:
    """Draw landmarks from all joint groups alike; the columns of rows stay beside kernel values.

    Without turns, a small group would have next to no landmark.
    """
    few, p = complete, parameters["n_landmarks"]
    if isinstance(rows, LazyRows):
        drawn, few = draw_rows(reader, rows, seed, fewest=p, most=PILOT_ROWS), True
        groups = joint_groups(drawn)
    else:
        drawn, groups = rows.everyone or rows, joint_groups(rows)
    check_finite(drawn)
    standard: tuple[np.ndarray | None, np.ndarray | None] = (None, None)
    if parameters["scale"]:
        drawn, standard = _standardised(drawn)
    kernel = options.for_rows(drawn)
    columns = _draw_landmarks(kernel, p, drawn, seed, may_be_few=few, groups=groups)
    unit = float(np.sqrt(scale_gamma(drawn)))
    return KernelFeatures(RowsAndKernel(columns, unit, *standard), kernel.gamma_in_use, parameters)


def _draw_landmarks(
    kernel: Kernel,
    p: int,
    rows: Rows,
    seed: int,
    *,
    may_be_few: bool,
    groups: np.ndarray | None = None,
) -> KernelColumns:
    """Draw landmarks among the rows, from all groups alike if these are given."""
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
        check_function(kernel, columns.rows)
    return columns


def _in_turn(groups: np.ndarray) -> np.ndarray:
    """Return positions so that groups take turns, each in its order, until it is used up."""
    by_group = np.argsort(groups, kind="stable")
    first = np.unique(groups[by_group], return_index=True, return_inverse=True)
    turn = np.empty(len(groups), dtype=np.intp)
    turn[by_group] = np.arange(len(groups)) - first[1][first[2]]
    return np.argsort(turn, kind="stable")


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
        gap_from_rounding(size, matrix, values, weight, moments.precision * lost),
    )
    warn_of_a_residual(gap, moments.precision, TOO_ALIKE)
    mean = moments.centre if centred else np.zeros_like(moments.mean)
    linear = LinearMap(matrix, mean)
    learned = {
        **learned_of_kernel(values, matrix, moments, total if total > 0 else 1.0),
        "constraint_rank_": fair.constraint_rank,
        **compared(moments.attributes),
        "mean_gap_": gap,
    }
    if tradeoff > 0:
        standard = maximize_variance(work, fair.basis.shape[1], **options)
        U_st = deterministic_signs(standard.basis if N is None else N @ standard.basis)
        learned["standard_dual_components_"] = U_st
        linear = side_by_side([linear, LinearMap(U_st, mean)], [1.0, tradeoff])
    return learned | {"_map": FeatureMap(features, linear)}


def solve_beside_columns(
    features: RowsAndKernel,
    moments: GroupMoments,
    drawn: Rows,
    k: int | float | None,
    tradeoff: float,
    **options: Any,
) -> dict[str, Any]:
    """Return what is learned where distributions of columns and kernel values are matched.

    What is reconstructed are the columns, not the kernel's variance.
    """
    d, X = features.n_columns, drawn.X.astype(float)
    N = block_diag(np.eye(d), whitening(features.columns, moments.precision)[:, :MOST_BENT])
    work = moments.compressed(N)
    constraint = mean_constraint(moments)
    constraint = constraint.compressed(N, work, tol=16 * np.sqrt(moments.precision))
    covariances = work.objective.dense().matrix[:, :d] / work.weight
    fair, seen = equalize_distributions(
        work,
        k,
        drawn,
        lambda B: FeatureMap(features, LinearMap(N @ B, moments.centre))(X),
        constraint=constraint,
        wanted=covariances,
        least=LEAST_BENT,
        **options,
    )
    warn_of_readers(seen, drawn.n_rows, fair.basis.shape[1])
    matrix, values = N @ fair.basis, fair.scatter
    gap = largest_gap(moments.attributes, moments.weight, matrix, values)
    warn_of_a_residual(gap, moments.precision, TOO_ALIKE)
    linear = LinearMap(matrix, moments.centre)
    decoder = (fair.basis.T @ covariances) * (work.weight / values[:, None]) / features.unit
    learned = learned_of_kernel(
        values, matrix[d:], moments, float(work.objective.diagonal.sum()) or 1.0
    ) | {
        "components_": features.unit * matrix[:d].T,
        "constraint_rank_": fair.constraint_rank,
        **compared(moments.attributes),
        "mean_gap_": gap,
        "separability_": seen.value,
        "separability_null_": seen.null,
        "_inverse": LinearMap(np.linalg.pinv(decoder), moments.centre[:d] / features.unit),
    }
    if tradeoff > 0:
        U_st = N @ maximize_variance(work, fair.basis.shape[1]).basis
        learned["standard_dual_components_"] = U_st[d:]
        linear = side_by_side([linear, LinearMap(U_st, moments.centre)], [1.0, tradeoff])
    return learned | {"_map": FeatureMap(features, linear)}


def _infeasible(k: int | float | None, found: int, moments: GroupMoments) -> InfeasibleError:
    asked = "" if k is None else f"n_components={k} is too large: "
    return InfeasibleError(
        f"{asked}The rows vary along {found} direction(s) of the "
        f"approximated feature space in which the groups have the same mean. Use fewer components, "
        f"fewer groups, more rows, or a larger n_landmarks; if all rows look alike to the kernel, "
        f"standardise the features or use a larger gamma.{quantity_hint(moments.attributes)}",
        available=found,
    )


def _total(features: Features, work: GroupMoments) -> float:
    """Return the sum of squares in feature space; of what the features see, if it is not known."""
    if not isinstance(features, KernelColumns) or features.kernel.name not in SHIFT_INVARIANT:
        return float(work.objective.diagonal.sum())
    return work.weight * float(1.0 - 2.0 * work.mean @ work.centre + work.centre @ work.centre)
