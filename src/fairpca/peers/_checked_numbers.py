"""Parameters that are numbers, checked at fit as scikit-learn asks."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from ..errors import UsageError


def check_at_least_one(name: str, value: Any) -> None:
    """Raise unless `value` is a whole number above 0."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < 1:
        raise UsageError(f"{name}={value!r} is not a count. Use an integer >= 1.")


def check_not_negative(name: str, value: Any) -> None:
    """Raise unless `value` is a finite number of at least 0."""
    if not _is_finite(value) or float(value) < 0:
        raise UsageError(f"{name}={value!r} cannot be used. Use a finite number >= 0.")


def check_positive(name: str, value: Any, *, or_else: str = "") -> None:
    """Raise unless `value` is a finite number above 0; `or_else` says what else would do."""
    if not _is_finite(value) or float(value) <= 0:
        choices = f", or {or_else}" if or_else else ""
        raise UsageError(f"{name}={value!r} cannot be used. Use a finite number > 0{choices}.")


def _is_finite(value: Any) -> bool:
    return (
        isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))
    )
