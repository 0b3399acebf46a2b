"""What the metrics accept, and which rows they draw of many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from .._attributes import check_frames
from ..errors import MissingGroupError, SingleGroupError, UsageError


def finite_rows(X: ArrayLike, min_rows: int = 1, **beside: Any) -> np.ndarray:
    """Two-dimensional array of finite floats; float32 and float64 are kept as they are.

    What belongs to the rows, by its name, stands `beside` them: its row labels must be theirs.
    """
    check_frames(T=X, **beside)
    return check_array(X, dtype=[np.float64, np.float32], ensure_min_samples=min_rows)


def present_values(attribute: ArrayLike, n_rows: int, name: str) -> np.ndarray:
    """One-dimensional array of `n_rows` values, none missing; `name` is for error messages."""
    # A list goes through objects: ["a", nan] would otherwise become the strings "a" and "nan".
    is_array = hasattr(attribute, "__array__")
    values = np.asarray(attribute) if is_array else np.asarray(attribute, dtype=object)
    if values.ndim != 1:
        raise UsageError(
            f"{name} has shape {values.shape}, but one value per row is needed, shape "
            f"({n_rows},). Pass one column at a time."
        )
    if len(values) != n_rows:
        raise UsageError(
            f"{name} has {len(values)} values for {n_rows} rows, so they cannot be paired. "
            f"Pass exactly one value per row, in the same order."
        )
    missing = _is_missing(values)
    if missing.any():
        raise MissingGroupError(
            f"{name} is missing (None or NaN) in {missing.sum()} of {n_rows} rows, the first at "
            f"position {missing.argmax()}, and a row of unknown group cannot be counted. Drop "
            f"those rows, or give them a level of their own, such as 'unknown'."
        )
    if values.dtype == object and all(isinstance(v, int | float | np.number) for v in values):
        return np.asarray(values.tolist())
    return values


def _is_missing(values: np.ndarray) -> np.ndarray:
    if values.dtype != object:
        return np.asarray(values != values)  # NaN and NaT differ from themselves
    return np.fromiter(map(_is_missing_object, values), dtype=bool, count=len(values))


def _is_missing_object(value: object) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA refuses to be a truth value
        return True


def integer_levels(values: np.ndarray, name: str) -> tuple[list[Any], np.ndarray]:
    """Distinct values, sorted where they can be, and the position of each row's value there."""
    if values.dtype != object:
        distinct, codes = np.unique(values, return_inverse=True)
        levels = distinct.tolist()
    else:
        levels = list(dict.fromkeys(values))
        try:
            levels.sort()
        except TypeError:
            levels.sort(key=lambda level: (type(level).__name__, repr(level)))
        position = {level: code for code, level in enumerate(levels)}
        codes = np.array([position[value] for value in values])
    if len(levels) < 2:
        raise SingleGroupError(
            f"{name} takes the single value {levels[0]!r} in all {len(values)} rows, and between "
            f"fewer than two levels there is nothing to compare. Pass rows of at least two levels."
        )
    return levels, codes


def coded_levels(attribute: ArrayLike, n_rows: int, name: str) -> tuple[list[Any], np.ndarray]:
    """`integer_levels` of the `present_values`."""
    return integer_levels(present_values(attribute, n_rows, name), name)


FEWEST = 50  # rows that a group keeps, if it has them, however rare it is


def stratified_rows(
    n_rows: int, max_rows: int, strata: ArrayLike | None, random: np.random.RandomState
) -> np.ndarray:
    """Return positions of at most `max_rows` rows, ascending; all rows if there are no more.

    Strata are drawn in proportion, but keep up to 50 rows each, fewer where that would take more
    than half of `max_rows`.
    """
    if max_rows < 2:
        raise UsageError(
            f"max_rows={max_rows} was given, but at least two rows are needed to compare groups. "
            f"The default is 2000."
        )
    if n_rows <= max_rows:
        return np.arange(n_rows)
    if strata is None:
        return np.sort(random.choice(n_rows, size=max_rows, replace=False))
    codes = coded_levels(strata, n_rows, "groups")[1]
    counts = np.bincount(codes)
    if len(counts) > max_rows // 2:
        raise UsageError(
            f"groups has {len(counts)} levels, but at most max_rows={max_rows} rows are drawn, "
            f"which leaves fewer than two of each. Merge levels, or raise max_rows."
        )
    kept = np.minimum(counts, min(FEWEST, max_rows // (2 * len(counts))))
    # What is left of the sample goes where rows are left, in proportion; no stratum overflows,
    # since there are more rows than the sample takes.
    left = counts - kept
    sizes = kept + (left * ((max_rows - kept.sum()) / left.sum())).astype(int)
    drawn = [
        random.choice(np.flatnonzero(codes == level), size=size, replace=False)
        for level, size in enumerate(sizes)
    ]
    return np.sort(np.concatenate(drawn))


def shuffled(
    codes: np.ndarray, n_permutations: int, rng: np.random.Generator, *, block_size: int
) -> Iterator[np.ndarray]:
    """Yield blocks of random permutations of the codes, as rows."""
    size = max(1, block_size)
    for start in range(0, n_permutations, size):
        number = min(size, n_permutations - start)
        yield rng.permuted(np.tile(codes, (number, 1)), axis=1)
