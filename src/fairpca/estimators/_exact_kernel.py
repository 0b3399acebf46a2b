"""Exact fair kernel PCA: from rows to what is learned, through the n x n kernel matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._kernels import (
    PRECOMPUTED,
    Kernel,
    KernelColumns,
    kernel_matrix,
    pilot_centre,
    scale_gamma,
    warn_of_negative_directions,
)
from .._moments import AttributeMoments, attributes_over_rows
from .._numerics import is_sparse, machine_epsilon
from .._rows import FeatureMap, LinearMap, Rows, block_rows, in_double_precision, row_blocks
from ..errors import ResidualWarning, UsageError, warn_user
from ..solvers import DualSubspace, KernelScatter, equalize_kernel_means, largest_gap
from ._transformer import groups_of, warn_of_a_residual

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
    kernel = None if features is None else features.kernel
    definite = kernel is not None and kernel.is_positive
    options: dict[str, Any] = {"solver": estimator.solver, "tol": float(estimator.tol)}
    fair = equalize_kernel_means(scatter, attributes, k, definite=definite, seed=seed, **options)
    if fair.smallest is not None:
        warn_of_negative_directions(fair.smallest, float(fair.values[0]))
    _warn_if_unconverged(fair, float(estimator.tol))
    learned = _learned(scatter, attributes, fair)
    given = machine_epsilon(scatter.K if features is not None else rows.X)
    warn_of_a_residual(learned["mean_gap_"], given, TOO_ALIKE)
    learned["gamma_"] = None if kernel is None else kernel.gamma_in_use
    matrix, T = learned["dual_components_"], fair.representation
    if tradeoff > 0:
        standard = equalize_kernel_means(
            scatter, (), len(fair.values), definite=True, seed=seed, **options
        )
        learned["standard_dual_components_"] = _dual(scatter, standard)
        matrix = np.hstack([matrix, tradeoff * learned["standard_dual_components_"]])
        T = np.hstack([T, tradeoff * standard.representation])
    linear = LinearMap(matrix, scatter.mean)
    if features is None:
        learned["_map"] = FeatureMap(in_double_precision, _over_all_columns(linear, rows))
    else:
        learned["X_fit_"] = features.rows
        learned["_map"] = FeatureMap(features, linear)
        if features.kernel.name == "linear":
            learned["_inverse"] = _in_input_space(linear, features.rows, rows, scatter.centred)
    return learned, T / scatter.root_weight[:, None]


def _learned(
    scatter: KernelScatter, attributes: Sequence[AttributeMoments], fair: DualSubspace
) -> dict[str, Any]:
    dual, weight = _dual(scatter, fair), scatter.total_weight
    # Of these kernel values, and of any others as exact.
    gap = max(
        largest_gap(attributes, weight, fair.representation, fair.values),
        gap_from_rounding(scatter.norm / weight, dual, fair.values, weight, scatter.precision),
        scatter.precision * scatter.norm / float(fair.values[-1]) / float(np.sqrt(scatter.n_rows)),
    )
    return {
        "eigenvalues_": fair.values,
        "dual_components_": dual,
        "explained_variance_": fair.values / scatter.degrees_of_freedom,
        "explained_variance_ratio_": fair.values / fair.total,
        "n_components_": len(fair.values),
        "constraint_rank_": fair.constraint_rank,
        "n_samples_seen_": scatter.n_rows,
        "groups_": groups_of(attributes),
        "mean_gap_": gap,
    }


def kernel_scatter(estimator: Any, rows: Rows) -> tuple[KernelColumns | None, KernelScatter]:
    """Return the kernel's columns (None if precomputed), and the scatter of rows in its space."""
    features, K, precision = _kernel_of(estimator, rows)
    scatter = KernelScatter(K, rows.weight, bool(estimator.center), precision)
    if not np.isfinite(scatter.norm):
        raise UsageError(
            "Kernel values of the rows, or their squares, overflow or are NaN. Divide X by a "
            "constant first, use a smaller gamma or degree (a whole one: fractional powers of "
            "negative numbers are NaN), or check the kernel function."
        )
    return features, scatter


def _kernel_of(estimator: Any, rows: Rows) -> tuple[KernelColumns | None, Any, float]:
    """Return the kernel's columns (None if precomputed), its matrix, and their rounding error."""
    if estimator.kernel == PRECOMPUTED:
        gap = _checked_asymmetry(rows.X)
        K = rows.X if rows.chosen is None else rows.X[np.ix_(rows.chosen, rows.chosen)]
        K = K.astype(float, copy=False)
        K = K if gap <= SYMMETRIC else 0.5 * (K + K.T)
        return None, K, max(machine_epsilon(rows.X), gap)
    rows = rows.materialized()
    kernel, X = kernel_for(estimator, rows), rows.X.astype(float)
    if callable(kernel.name):
        check_function(kernel, X)
    precision = float(np.finfo(float).eps) * kernel.digits_lost(X)
    return KernelColumns(kernel, X), kernel_matrix(kernel, X), precision


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


def _dual(scatter: KernelScatter, subspace: DualSubspace) -> np.ndarray:
    """Return coefficients of kernel values: weights and centring moved from rows to them."""
    dual: np.ndarray = (scatter.centre(subspace.coefficients.T) * scatter.root_weight).T
    return dual


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
    weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
    mean = np.asarray(X.T @ weight) / weight.sum()
    if not centred:
        return LinearMap(np.asarray(X.T @ linear.matrix), np.zeros_like(mean))
    # Coefficients add up to zero, so the mean may be taken out of dense rows first.
    directions = X.T @ linear.matrix if is_sparse(X) else (X - mean).T @ linear.matrix
    return LinearMap(np.asarray(directions), mean)


def _warn_if_unconverged(fair: DualSubspace, tol: float) -> None:
    if fair.residual > max(tol, UNCONVERGED):
        warn_user(
            f"The iterative solver stopped at a relative residual of {fair.residual:.1e} of the "
            f"eigenvectors: the leading eigenvalues lie close together. The groups have the same "
            f"mean all the same, but another subspace may keep a little more variance. Use "
            f"solver='auto' or 'dense'.",
            ResidualWarning,
        )


def check_function(kernel: Kernel, X: Any) -> None:
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


def kernel_for(estimator: Any, rows: Rows) -> Kernel:
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


def gap_from_rounding(
    size: float, coefficients: np.ndarray, values: np.ndarray, weight: float, precision: float
) -> float:
    """Return the group difference that rounding of kernel values can cause in a component.

    `size` is that of a typical kernel value. Its last digit, times the coefficients of a
    component, over the component's standard deviation: this is what evaluating the kernel once
    more, as `transform` does, may change.
    """
    noise = precision * size * np.linalg.norm(coefficients, axis=0)
    counts = values > 0
    return float(np.max(noise[counts] / np.sqrt(values[counts] / weight), initial=0.0))
