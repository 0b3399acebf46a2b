"""Sensitive attributes nobody would choose, with the truth about who belongs together."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Column:
    """A column as people hold it, and what it says.

    Parameters
    ----------
    given : list, array or Series of length n
        What `fit` gets.
    truth : array of shape (n,)
        Integers: rows with the same one belong together, those with -1 to nobody. Or floats: the
        values of a numeric attribute, NaN where there is none.
    """

    given: Any
    truth: np.ndarray


def _labelled(labels, codes):
    return Column([labels[c] for c in codes], codes)


def _dealt(rng, n, m):
    """Return codes in which every level occurs, if there are enough rows."""
    codes = np.r_[np.arange(min(n, m)), rng.integers(0, m, max(0, n - m))]
    return rng.permutation(codes)


def two(rng, n):
    return _labelled(["f", "m"], _dealt(rng, n, 2))


def flags(rng, n):
    codes = _dealt(rng, n, 2)
    return Column(codes.astype(bool), codes)


def float_levels(rng, n):
    codes = _dealt(rng, n, 3)
    return Column(codes.astype(float), codes)


def unicode(rng, n):
    return _labelled(["", "ü", "u\u0308", "\U0001f600", "a\x00b", " "], _dealt(rng, n, 6))


def mixed_types(rng, n):
    labels = [0, "0", (1, 2), b"x", 2.5, "zero"]  # a date would be refused
    return _labelled(labels, _dealt(rng, n, len(labels)))


def two_hundred(rng, n):
    return _labelled([f"level {i}" for i in range(200)], _dealt(rng, n, 200))


def each_its_own(rng, n):
    return _labelled([f"row {i}" for i in range(n)], np.arange(n))


def one_level(rng, n):
    return _labelled(["all"], np.zeros(n, int))


def a_rare_level(rng, n):
    return _labelled(["rare", "many"], np.r_[0, np.ones(n - 1, int)])


def some_missing(rng, n):
    codes = np.where(rng.random(n) < 0.3, -1, _dealt(rng, n, 2))
    return Column([None if c < 0 else "fm"[c] for c in codes], codes)


def all_missing(rng, n):
    return Column([None] * n, np.full(n, -1))


def missing_floats(rng, n):
    codes = np.where(rng.random(n) < 0.3, -1, _dealt(rng, n, 2))
    return Column(np.where(codes < 0, np.nan, codes), codes)


def unused_categories(rng, n):
    codes = _dealt(rng, n, 2)
    return Column(pd.Categorical.from_codes(codes, ["a", "b", "never"]), codes)


def numbers(rng, n):
    values = rng.normal(size=n)
    return Column(values, values)


def huge_numbers(rng, n):
    values = rng.normal(size=n) * 1e200
    return Column(values, values)


def tiny_numbers(rng, n):
    values = rng.normal(size=n) * 1e-200 + 1e-190
    return Column(values, values)


def far_numbers(rng, n):
    values = rng.normal(size=n) + 1e10
    return Column(values, values)


def constant_numbers(rng, n):
    return Column(np.full(n, 0.3), np.full(n, 0.3))


LEVELS = [two, flags, float_levels, unicode, mixed_types, two_hundred, each_its_own, a_rare_level]
LEVELS += [one_level, some_missing, all_missing, missing_floats, unused_categories]
NUMBERS = [numbers, far_numbers, huge_numbers, tiny_numbers, constant_numbers]
KINDS = [*LEVELS, *NUMBERS]


def shifts(columns, d, rng, size):
    """Return what sets the groups apart: one row of d numbers for each row."""
    total = 0.0
    for column in columns:
        codes = column.truth
        if codes.dtype.kind == "f":
            codes = np.nan_to_num(codes > np.median(codes)).astype(int)
        total = total + size * rng.normal(size=(codes.max() + 2, d))[codes]
    return total
