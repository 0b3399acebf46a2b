"""The parameters of kernel methods, checked at fit, and the kernel they describe."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from .._rows import Rows
from ..errors import UsageError
from ..kernels import KERNELS, PRECOMPUTED, Kernel, pilot_centre, scale_gamma
from ..solvers import SOLVERS
from ._inputs import CRITERIA
from ._parameters import (
    MISSING,
    check_bool,
    check_choice,
    check_n_components,
    check_n_jobs,
    check_tradeoff,
)

NYSTROEM, RANDOM_FEATURES = "nystroem", "random_features"
FEW = 16
"""So many rows are compared with each other to check a function."""

ASYMMETRIC = 1e-7
"""Largest difference between K and its transpose, relative to its entries, that is rounding."""

SHIFT_INVARIANT = ("rbf", "laplacian")

SMALLEST = 1e-140
"""Squares of smaller numbers lose digits to underflow."""


def check_kernel_parameters(estimator: Any) -> None:
    """Raise if a parameter of the estimator is not usable, by itself or next to another."""
    e = estimator
    if not callable(e.kernel):
        check_choice("kernel", e.kernel, (*KERNELS, PRECOMPUTED), or_else="a function of two rows")
    _check_gamma(e.gamma)
    _check_number("degree", e.degree, "above 0", lambda v: v > 0)
    _check_number("coef0", e.coef0, "finite", np.isfinite)
    _check_number("tol", e.tol, "at least 0 and below 1", lambda v: 0 <= v < 1)
    check_bool("center", e.center)
    check_bool("intersectional", e.intersectional)
    check_choice("criterion", e.criterion, CRITERIA)
    check_choice("solver", e.solver, SOLVERS)
    check_choice("missing_sensitive", e.missing_sensitive, MISSING)
    check_n_components(e.n_components)
    check_tradeoff(e.tradeoff)
    _check_count("n_landmarks", e.n_landmarks)
    check_n_jobs(e.n_jobs)
    if e.kernel_params is not None:
        _check_kernel_params(e.kernel, e.kernel_params)
    if e.approximation is not None:
        check_choice("approximation", e.approximation, (NYSTROEM, RANDOM_FEATURES), or_else="None")
        _check_approximation(e.approximation, e.kernel)
    if e.kernel == PRECOMPUTED and e.sensitive_columns is not None:
        raise UsageError(
            f"sensitive_columns={e.sensitive_columns!r} names columns of X, but with "
            f"kernel='precomputed' these are rows compared with. Pass fit(K, "
            f"sensitive_features=...)."
        )


def _check_gamma(gamma: Any) -> None:
    if isinstance(gamma, str) and gamma in ("scale", "auto"):
        return
    if isinstance(gamma, Real) and not isinstance(gamma, bool) and 0 < float(gamma) < np.inf:
        return
    raise UsageError(
        f"gamma={gamma!r} is not a width of the kernel. Use a number above 0, 'scale' for "
        f"1 / (d Var(X)), or 'auto' for 1 / d."
    )


def _check_number(name: str, value: Any, wanted: str, accept: Any) -> None:
    if not isinstance(value, Real) or isinstance(value, bool) or not accept(float(value)):
        raise UsageError(f"{name}={value!r} cannot be used. Use a number {wanted}.")


def _check_count(name: str, value: Any) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise UsageError(f"{name}={value!r} is not a number of rows. Use an integer >= 1.")


def _check_kernel_params(kernel: Any, kernel_params: Any) -> None:
    if not isinstance(kernel_params, Mapping):
        raise UsageError(
            f"kernel_params={kernel_params!r} does not name arguments. Pass a dict such as "
            f"{{'width': 2.0}}."
        )
    if not callable(kernel):
        raise UsageError(
            f"kernel_params are the arguments of a function, but kernel={kernel!r} would ignore "
            f"them. Use gamma, degree and coef0, or pass a function."
        )


def _check_approximation(approximation: str, kernel: Any) -> None:
    if kernel == PRECOMPUTED:
        raise UsageError(
            f"approximation={approximation!r} saves computing the kernel matrix, but "
            f"kernel='precomputed' says that it is there already. Use approximation=None."
        )
    if approximation == RANDOM_FEATURES and kernel not in SHIFT_INVARIANT:
        shown = getattr(kernel, "__name__", kernel)
        raise UsageError(
            f"approximation='random_features' draws from the Fourier transform of a kernel of "
            f"x - y, which kernel={shown!r} is not. Use one of {SHIFT_INVARIANT}, or "
            f"approximation='nystroem'."
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
