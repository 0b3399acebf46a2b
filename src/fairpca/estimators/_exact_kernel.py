"""Fair kernel PCA of all rows at once: the exact solution, from the kernel matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._kernels import (
    ASYMMETRIC,
    PRECOMPUTED,
    KernelColumns,
    KernelOptions,
    KernelScatter,
    check_function,
    kernel_matrix,
    warn_of_negative_directions,
)
from .._maps import FeatureMap, LinearMap, in_double_precision
from .._moments import GroupMoments, attributes_over_rows
from .._numerics import is_sparse, machine_epsilon, quiet_overflow
from .._rows import Rows, block_rows, row_blocks
from ..errors import ResidualWarning, UsageError, warn_user
from ..solvers import equalize_kernel_means, largest_gap, warn_of_incomplete_strata
from ._learned import RESIDUAL_LIMIT, compared, warn_of_a_residual

TOO_ALIKE = (
    "the kernel values of different rows agree in too many digits for these components. "
    "Standardise the features, use a larger gamma, or fewer components"
)

SYMMETRIC = 1e-14
"""Asymmetry of a given kernel up to this needs no repair."""

UNCONVERGED = 1e-8
"""Relative residuals of eigenvectors above this, and above the asked tolerance, are reported."""


def solve_exact_kernel(
    rows: Rows,
    options: KernelOptions,
    k: int | float | None,
    tradeoff: float,
    *,
    centred: bool,
    solver: str,
    tol: float,
    seed: int,
) -> tuple[dict[str, Any], np.ndarray]:
    """Return what is learned from all rows at once, and their representation."""
    attributes = attributes_over_rows(rows)
    warn_of_incomplete_strata(attributes)
    features, scatter = kernel_scatter(rows, options, centred=centred)
    centre = None
    if rows.everyone is not None and centred:
        features, scatter, centre = _about_everyone(rows, rows.everyone, features, scatter)
    kernel = None if features is None else features.kernel
    definite = kernel is not None and kernel.is_positive
    how: dict[str, Any] = {"solver": solver, "tol": tol, "seed": seed}
    fair = equalize_kernel_means(scatter, attributes, k, definite=definite, **how)
    if fair.smallest is not None:
        warn_of_negative_directions(fair.smallest, float(fair.values[0]))
    if fair.residual > max(tol, UNCONVERGED):
        warn_user(
            f"The iterative solver stopped at a relative residual of {fair.residual:.1e} of the "
            f"eigenvectors: the leading eigenvalues lie close together. Group means are equal, but "
            f"another subspace may keep a little more variance. Use solver='auto' or 'dense'.",
            ResidualWarning,
        )
    dual, weight = dual_of(scatter, fair.coefficients), scatter.total_weight
    own = scatter.precision * scatter.norm / float(fair.values[-1])
    # Of these kernel values, and of any others as exact.
    gap = max(
        largest_gap(attributes, weight, fair.representation, fair.values),
        gap_from_rounding(scatter.norm / weight, dual, fair.values, weight, scatter.precision),
        _typical_or_most(own / float(np.sqrt(scatter.n_rows)), own),
    )
    given = machine_epsilon(scatter.K if features is not None else rows.X)
    warn_of_a_residual(gap, given, TOO_ALIKE)
    combined = np.asarray if centre is None else centre.combined
    matrix, T = combined(dual), fair.representation
    learned = {
        **learned_of_kernel(fair.values, matrix, scatter, fair.total),
        "constraint_rank_": fair.constraint_rank,
        **compared(attributes),
        "mean_gap_": gap,
    }
    learned["gamma_"] = None if kernel is None else kernel.gamma_in_use
    if tradeoff > 0:
        standard = equalize_kernel_means(scatter, (), len(fair.values), definite=True, **how)
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
            learned["_inverse"] = _in_input_space(linear, features.rows, rows, centred)
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
    with quiet_overflow():  # a bounded kernel, as the sigmoid, is finite all the same
        for block in row_blocks(n, block_rows(n)):
            B = everyone.block(block)
            K = B[:, positions].astype(float) if features is None else features(B)
            mean += share[block] @ K
    counted = np.searchsorted(positions, positions if rows.chosen is None else rows.chosen)
    K = scatter.K - mean[counted] - mean[counted, None] + share @ mean
    about = _finite(KernelScatter(K, scatter.weight, centred=False))
    lost = max(1.0, scatter.norm / about.norm) if about.norm > 0 else 1.0
    about = replace(about, precision=lost * scatter.precision)
    return features, about, _Centre(everyone, counted, share, mean)


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


def kernel_scatter(
    rows: Rows, options: KernelOptions, *, centred: bool
) -> tuple[KernelColumns | None, KernelScatter]:
    """Return the kernel's columns (None if precomputed), and the scatter of rows in its space."""
    features: KernelColumns | None = None
    if options.kernel == PRECOMPUTED:
        asymmetry = _checked_asymmetry(rows.X)
        K = rows.X if rows.chosen is None else rows.X[np.ix_(rows.chosen, rows.chosen)]
        K = K.astype(float, copy=False)
        K = K if asymmetry <= SYMMETRIC else 0.5 * (K + K.T)
        precision = max(machine_epsilon(rows.X), asymmetry)
    else:
        kernel, rows = options.for_rows(rows.everyone or rows), rows.materialized()
        X = rows.X.astype(float)
        if callable(kernel.name):
            check_function(kernel, X)
        precision = float(np.finfo(float).eps) * kernel.digits_lost(X)
        features, K = KernelColumns(kernel, X), kernel_matrix(kernel, X)
    return features, _finite(KernelScatter(K, rows.weight, centred, precision))


def _finite(scatter: KernelScatter) -> KernelScatter:
    """Return the scatter of kernel values if these are finite."""
    if not np.isfinite(scatter.norm):
        raise UsageError(
            "Kernel values of the rows, or their squares, overflow or are NaN. Divide X by a "
            "constant first, use a smaller gamma or degree (a whole one: fractional powers of "
            "negative numbers are NaN), or check the kernel function."
        )
    return scatter


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


def gap_from_rounding(
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
