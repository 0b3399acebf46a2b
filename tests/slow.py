"""Which parameters of a test are for `make test-slow`: more of the same promise."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def slow(*values: Any) -> Any:
    """Return a parameter that is tried by `make test-slow` only."""
    return pytest.param(*values, marks=pytest.mark.slow)


def first_fast(values: Iterable[Any], fast: int = 1) -> list[Any]:
    """Return all values; those after the first few are tried by `make test-slow` only."""
    values = list(values)
    return [*values[:fast], *map(slow, values[fast:])]
