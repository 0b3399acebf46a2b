"""The constructor's parameters, checked at fit as scikit-learn asks."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from .._numerics import check_n_jobs
from ..errors import UsageError
from ..kernels import KERNELS, PRECOMPUTED
from ..solvers import SOLVERS

CRITERIA = ("demographic_parity", "equal_opportunity", "equalized_odds")
MATCH = ("means", "covariances")
COVARIANCE_METHODS = ("exact", "spectral")
AUTO = "auto"
MISSING = ("error", "ignore", "group")
NYSTROEM, RANDOM_FEATURES = "nystroem", "random_features"
SHIFT_INVARIANT = ("rbf", "laplacian")


def check_choice(name: str, value: Any, allowed: tuple[str, ...], *, or_else: str = "") -> None:
    """Raise unless `value` is one of the allowed words; `or_else` says what else would do."""
    if not isinstance(value, str) or value not in allowed:
        choices = ", ".join(repr(a) for a in allowed) + (f", or {or_else}" if or_else else "")
        raise UsageError(f"{name}={value!r} is not an option. Use one of {choices}.")


def check_bool(name: str, value: Any) -> None:
    """Raise unless `value` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise UsageError(f"{name}={value!r} is not a bool. Use True or False.")


def check_count(name: str, value: Any, what: str = "", *, none_for: str = "") -> int | None:
    """Return a whole number above 0 as an int; None too, where `none_for` says what that means."""
    if value is None and none_for:
        return None
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1:
        return int(value)
    otherwise = f", or None for {none_for}" if none_for else ""
    wrong = f"is not {what}" if what else "cannot be used"
    raise UsageError(f"{name}={value!r} {wrong}. Use an integer >= 1{otherwise}.")


def check_number(name: str, value: Any, *, zero: bool = False, or_else: str = "") -> None:
    """Raise unless `value` is finite and positive, or zero where that is allowed."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not (value >= 0 if zero else value > 0) or value == np.inf:
        wanted = f"a finite number {'>=' if zero else '>'} 0{f', or {or_else}' if or_else else ''}"
        raise UsageError(f"{name}={value!r} cannot be used. Use {wanted}.")


def check_n_components(n_components: Any) -> int | float | None:
    """Return the number of components as a plain int or float."""
    if n_components is None:
        return None
    if isinstance(n_components, Integral) and not isinstance(n_components, bool):
        if int(n_components) >= 1:
            return int(n_components)
    elif isinstance(n_components, Real) and 0.0 < float(n_components) < 1.0:
        return float(n_components)
    raise UsageError(
        f"n_components={n_components!r} is neither a number of directions nor a share of the "
        f"variance. Use an integer >= 1, a float strictly between 0 and 1, or None for all."
    )


def check_directions(directions: Any) -> int | float | None:
    """Return the number or fraction of directions as a plain int or float, None for all."""
    if directions is None or (isinstance(directions, str) and directions == AUTO):
        return None
    if isinstance(directions, Integral) and not isinstance(directions, bool):
        if int(directions) >= 1:
            return int(directions)
    elif isinstance(directions, Real) and 0.0 < float(directions) <= 1.0:
        return float(directions)
    raise UsageError(
        f"covariance_directions={directions!r} is neither a number of directions nor a fraction "
        f"of them. Use an integer >= 1, a float in (0, 1], 'auto', or None for all."
    )


def check_penalty(penalty: Any) -> float | None:
    """Return the penalty as a plain float, None where the directions decide."""
    if penalty is None or (isinstance(penalty, str) and penalty == AUTO):
        return None
    if isinstance(penalty, Real) and not isinstance(penalty, bool) and 0 <= float(penalty) < np.inf:
        return float(penalty)
    raise UsageError(
        f"covariance_penalty={penalty!r} cannot be used. Use a number >= 0: 0 for the most "
        f"variance, 1 to count a group difference in variance as much as variance, 'auto', or None."
    )


def check_covariance_tol(tol: Any) -> float:
    """Return the largest covariance gap to accept as a plain float."""
    if isinstance(tol, Real) and not isinstance(tol, bool) and float(tol) > 0:
        return float(tol)
    raise UsageError(
        f"covariance_tol={tol!r} is not a gap to accept. Use a number above 0: 1e-6 for equal "
        f"covariances, 0.05 if a difference of 5 % will do where no exact solution exists."
    )


def check_tradeoff(tradeoff: Any) -> float:
    """Return the trade-off as a plain float."""
    if isinstance(tradeoff, Real) and 0.0 <= float(tradeoff) <= 1.0:
        return float(tradeoff)
    raise UsageError(
        f"tradeoff={tradeoff!r} is outside [0, 1]: it is the factor of the standard representation "
        f"next to the fair one. Use 0 for the fair representation alone, 1 for all of both."
    )


def check_parameters(estimator: Any) -> None:
    """Raise if a parameter of a `FairPCA` is not usable."""
    check_choice("match", estimator.match, MATCH)
    check_choice("covariance_method", estimator.covariance_method, COVARIANCE_METHODS)
    check_choice("criterion", estimator.criterion, CRITERIA)
    check_choice("solver", estimator.solver, SOLVERS)
    check_choice("missing_sensitive", estimator.missing_sensitive, MISSING)
    for name in ("scale", "intersectional", "verbose"):
        check_bool(name, getattr(estimator, name))
    check_n_components(estimator.n_components)
    check_directions(estimator.covariance_directions)
    check_covariance_tol(estimator.covariance_tol)
    check_penalty(estimator.covariance_penalty)
    check_tradeoff(estimator.tradeoff)


def check_kernel_parameters(estimator: Any) -> None:
    """Raise if a parameter of a kernel method is not usable, by itself or next to another."""
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
    check_count("n_landmarks", e.n_landmarks, "a number of rows")
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
