"""Approximate fair kernel PCA: linear fair PCA of features that stand for the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._kernels import Kernel, KernelColumns, RandomFeatures, pilot_centre, whitening
from .._moments import GroupMoments
from .._numerics import deterministic_signs, fingerprint_of
from .._rows import (
    Batch,
    FeatureMap,
    LinearMap,
    MappedRows,
    Rows,
    RowsElsewhere,
    Sample,
    side_by_side,
)
from ..errors import FewLandmarksWarning, InfeasibleError, UsageError, warn_user
from ..solvers import equalize_means, largest_gap, maximize_variance, mean_constraint
from ._checks import NYSTROEM, SHIFT_INVARIANT
from ._exact_kernel import TOO_ALIKE, check_function, gap_from_rounding
from ._reader import NO_ROWS, Reader, check_finite, check_some_rows
from ._transformer import groups_of, warn_of_a_residual

Features = KernelColumns | RandomFeatures

SAMPLE_ROWS, SAMPLE_NUMBERS = 20_000, 2**24
"""A sample that comes to one place has at most so many rows, and numbers."""


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

    def check(self, moments: GroupMoments) -> None:
        """Raise unless moments are enough for a solution; features may be as small as they like."""
        check_some_rows(moments)

    def _seen(self, rows: Rows) -> Rows:
        assert self.seen_through is not None
        check_finite(rows)
        return MappedRows(
            rows.X, rows.weight, rows.attributes, rows.chosen, features=self.seen_through
        )


def sampled_rows(reader: Reader, source: RowsElsewhere, *, fewest: int, seed: int) -> Rows:
    """Return rows drawn at random, in their order: at least `fewest`, all where these are few."""
    assert reader.columns is not None
    n = max(fewest, min(SAMPLE_ROWS, SAMPLE_NUMBERS // max(1, reader.columns[0])))
    drawn: Sample | None = source.fold(_DrawRows(reader, n, seed))
    if drawn is None:
        raise UsageError(NO_ROWS.format(type(source).__name__))
    X, weight = drawn.rows
    return Rows(X, None if (weight == 1).all() else weight)


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
        weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
        return Sample.of(self.n, keys, batch.number, lambda i: (rows.take(i), weight[i]))

    @property
    def asked_later(self) -> str:
        """Fingerprint of what the sample is for: who cannot have one is told before the draw."""
        return fingerprint_of(self.reader, self.reader.name)


def draw_features(
    kernel: Kernel, approximation: str, p: int, rows: Rows, seed: int, *, may_be_few: bool
) -> Features:
    """Draw landmarks among the rows that count, or random frequencies."""
    if approximation != NYSTROEM:
        return RandomFeatures.draw(kernel, p, pilot_centre(rows), seed)
    if not may_be_few and rows.n_rows < p:
        warn_user(
            f"n_landmarks={p}, but the first batch has {rows.n_rows} rows that count, so these "
            f"are all landmarks there will be. Start with a larger batch.",
            FewLandmarksWarning,
        )
    drawn = np.random.default_rng(seed).permutation(rows.n_rows)[:p]
    columns = KernelColumns(kernel, rows.take(np.sort(drawn)).astype(float))
    if callable(kernel.name):
        check_function(kernel, columns.rows)
    return columns


def solve_features(
    features: Features,
    moments: GroupMoments,
    k: int | float | None,
    tradeoff: float,
    *,
    centred: bool,
    **options: Any,
) -> dict[str, Any]:
    r"""Return the learned attributes from the moments of features.

    Landmarks' features are plain kernel values, of which Nystroem's are linear combinations N.
    Taking N after the moments instead of before saves two thirds of the work per row. Ranks are
    decided before, on numbers that have not lost digits to N.
    """
    constraint = mean_constraint(moments)
    N = whitening(features, moments.precision) if isinstance(features, KernelColumns) else None
    work = moments if N is None else moments.compressed(N)
    work = work if centred else work.about_the_origin()
    if N is not None:
        constraint = constraint.compressed(N, work, tol=16 * np.sqrt(moments.precision))
    left = work.n_features - constraint.rank
    if left <= 0 or (isinstance(k, int) and k > left):
        raise _infeasible(k, max(0, left))
    total = _total(features, work, centred)
    fair = equalize_means(work, k, constraint=constraint, total=total, **options)
    noise = 100 * moments.precision if N is None else 10 * np.sqrt(moments.precision)
    found = int((fair.scatter > noise * float(work.scatter.diagonal.sum())).sum())
    if found == 0 or (isinstance(k, int) and found < k):
        raise _infeasible(k, found)
    fair = fair.first(found)
    matrix = deterministic_signs(fair.basis if N is None else N @ fair.basis)
    gap = _gap(features, moments, matrix, fair.scatter)
    mean = moments.mean if centred else np.zeros_like(moments.mean)
    linear = LinearMap(matrix, mean)
    learned: dict[str, Any] = {}
    if tradeoff > 0:
        standard = maximize_variance(work, fair.basis.shape[1], **options)
        U_st = deterministic_signs(standard.basis if N is None else N @ standard.basis)
        learned["standard_dual_components_"] = U_st
        linear = side_by_side([linear, LinearMap(U_st, mean)], [1.0, tradeoff])
    return learned | {
        "eigenvalues_": fair.scatter,
        "dual_components_": matrix,
        "explained_variance_": fair.scatter / moments.degrees_of_freedom,
        "explained_variance_ratio_": fair.scatter / (total if total > 0 else 1.0),
        "n_components_": matrix.shape[1],
        "constraint_rank_": fair.constraint_rank,
        "n_samples_seen_": moments.n_rows,
        "groups_": groups_of(moments.attributes),
        "mean_gap_": gap,
        "_map": FeatureMap(features, linear),
    }


def _gap(
    features: Features, moments: GroupMoments, matrix: np.ndarray, values: np.ndarray
) -> float:
    """Return the largest group difference, of these features and of any others as exact."""
    lost = 1.0
    if isinstance(features, KernelColumns):
        lost = features.kernel.digits_lost(features.rows)
    squares = np.mean(moments.mean**2 + moments.scatter.diagonal / moments.weight)
    gap = max(
        largest_gap(moments.attributes, moments.weight, matrix, values),
        gap_from_rounding(
            float(np.sqrt(squares)), matrix, values, moments.weight, moments.precision * lost
        ),
    )
    warn_of_a_residual(gap, moments.precision, TOO_ALIKE)
    return gap


def _infeasible(k: int | float | None, found: int) -> InfeasibleError:
    asked = "" if k is None else f"n_components={k} is too large: "
    return InfeasibleError(
        f"{asked}The rows vary along {found} direction(s) of the "
        f"approximated feature space in which the groups have the same mean. Use fewer components, "
        f"fewer groups, more rows, or a larger n_landmarks; if all rows look alike to the kernel, "
        f"standardise the features or use a larger gamma."
    )


def _total(features: Features, work: GroupMoments, centred: bool) -> float:
    """Return the sum of squares in feature space; of what the features see, if it is not known.

    With rbf and laplacian kernels every row has length one, whatever the landmarks.
    """
    if not isinstance(features, KernelColumns) or features.kernel.name not in SHIFT_INVARIANT:
        return float(work.scatter.diagonal.sum())
    mean = float(work.mean @ work.mean) if centred else 0.0
    return work.weight * (1.0 - mean)
