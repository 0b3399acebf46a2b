"""What the metrics accept, and which rows they draw of many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from .._attributes import (
    Attribute,
    Levels,
    about_whole_numbers,
    are_missing,
    as_array,
    check_frames,
    check_weights,
    numbers_asked,
    read_column,
    warn_of_spellings,
)
from .._numerics import on_the_host
from ..errors import ManyLevelsWarning, MissingGroupError, SingleGroupError, UsageError, warn_user


def finite_rows(X: ArrayLike, min_rows: int = 1, **beside: Any) -> np.ndarray:
    """Two-dimensional array of finite floats; float32 and float64 are kept as they are.

    What belongs to the rows, by its name, stands `beside` them: its row labels must be theirs.
    """
    check_frames(X=X, **beside)
    X = on_the_host(X)
    with numbers_asked(X):
        return check_array(X, dtype=[np.float64, np.float32], ensure_min_samples=min_rows)


def present_values(attribute: ArrayLike, n_rows: int, name: str) -> np.ndarray:
    """One-dimensional array of `n_rows` values, none missing; `name` is for error messages."""
    values = as_array(attribute)
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
    missing = are_missing(values)
    if missing.any():
        raise MissingGroupError(
            f"{name} is missing (None or NaN) in {missing.sum()} of {n_rows} rows, the first at "
            f"position {missing.argmax()}, and a row of unknown group cannot be counted. Drop "
            f"those rows, or give them a level of their own, such as 'unknown'."
        )
    return values


def score_places(scores: ArrayLike, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the different scores, ascending, and the place of each row's score among them.

    They may be infinite.
    """
    values = as_array(scores)
    if values.ndim != 1 or not len(values):
        raise UsageError(
            f"{name} has shape {values.shape}, but one value per row is needed, and a row at "
            f"least. Pass one column at a time."
        )
    if lost := int(are_missing(values).sum()):
        raise UsageError(
            f"{name} is missing (None or NaN) in {lost} of {len(values)} rows, which are on "
            f"neither side of a threshold. Give them the score by which they are decided, such as "
            f"-inf, or drop them if nobody decides about such rows."
        )
    if values.dtype.kind not in "biuf":
        raise UsageError(
            f"{name} has values that are not numbers, such as {values.flat[0]!r}, so no threshold "
            f"divides them. Pass numbers."
        )
    return np.unique(values, return_inverse=True)


def row_weights(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """Return weights relative to the largest, since ratios are all that counts; None if equal."""
    weight = check_weights(sample_weight, n_rows)
    return None if weight is None or (weight == weight[0]).all() else weight / weight.max()


def read_groups(attribute: ArrayLike, n_rows: int, name: str) -> Attribute:
    """Levels or a number, as estimators read the attribute; none missing, and not all equal."""
    values = present_values(attribute, n_rows, name)
    found = read_column(name, values, "numeric" if values.dtype.kind in "mM" else None)
    if n_rows and (values == values[0]).all():
        raise SingleGroupError(
            f"{name} takes the single value {values.tolist()[0]!r} in all {n_rows} rows, and "
            f"between fewer than two levels there is nothing to compare. Pass rows of at least two "
            f"levels."
        )
    if isinstance(found, Levels):
        remedy = f"pass bands of it, such as {name} > numpy.median({name})"
        told = about_whole_numbers(name, found.labels, remedy)
        if told and np.bincount(found.codes).min() < 2:
            raise UsageError(f"{told} Some have one row only, which is no group to compare.")
        if told:
            warn_user(f"{told} Pass codes as texts to silence this.", ManyLevelsWarning)
        warn_of_spellings(name, found.labels)
    return found


def coded_levels(attribute: ArrayLike, n_rows: int, name: str) -> tuple[list[Any], np.ndarray]:
    """Levels, and the position of each row's level there; a number is cut at its median."""
    found = read_groups(attribute, n_rows, name)
    if isinstance(found, Levels):
        return list(found.labels), found.codes
    cut = median_threshold(found.values)
    return [f"at most {cut:g}", f"above {cut:g}"], (found.values > cut).astype(int)


def median_threshold(values: np.ndarray) -> float:
    """Where to cut numbers in two: rows above the median are high.

    If none is, the cut moves just below the largest value, so that both sides have rows.
    """
    return float(min(np.median(values), np.unique(values)[-2]))


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
