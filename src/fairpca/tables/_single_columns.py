"""How well does one column alone tell an attribute? Rows in bins, one half judging the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._adapters import import_arrow
from ._number_column import are_numbers, floats
from ._text_values import distinct_texts

BINS = 32
MOST_LEVELS = 1000
FEWEST_ROWS = 20
"""Levels of an attribute with fewer rows than this are not looked at."""


@dataclass(frozen=True, eq=False)
class Binned:
    """A column as a small number of bins.

    Parameters
    ----------
    codes : array of shape (n,)
        The bin of each row; the last bin has the missing values.
    n_bins : int
        How many bins there are, that of the missing values included.
    labels : list of str, or None
        What the other bins are called; None: they are ranges of numbers.
    numeric : bool
        Whether the values are numbers.
    n_distinct : int
        How many different values there are.
    """

    codes: np.ndarray
    n_bins: int
    labels: list[str] | None
    numeric: bool
    n_distinct: int


def binned(array: Any, name: str, n_bins: int = BINS) -> Binned:
    """Return a column in bins: its levels, or quantiles of its many numbers."""
    types, kind = import_arrow().types, array.type
    is_text = types.is_string(kind) or types.is_large_string(kind)
    if is_text or types.is_dictionary(kind):
        codes, texts = distinct_texts(array)
        known = [text for text in texts if text is not None]
        if not is_text or not are_numbers(known):
            return _levels(codes, known)
        values = floats(array, name, boolean=True)
    elif types.is_timestamp(kind) or types.is_date(kind):
        to_micro = import_arrow().timestamp("us", getattr(kind, "tz", None))
        values = floats(array.cast(to_micro, safe=False).cast("int64"), name)
    else:
        values = floats(array, name)
    return _ranges(values, n_bins)


def _levels(codes: np.ndarray, labels: list[str]) -> Binned:
    """Return levels as bins; beyond the most frequent ones, all others are one."""
    counts = np.bincount(codes, minlength=len(labels) + 1)
    n_distinct = int(np.count_nonzero(counts[:-1]))
    if len(labels) <= MOST_LEVELS:
        return Binned(codes, len(labels) + 1, labels, False, n_distinct)
    common = np.argsort(-counts[:-1], kind="stable")[:MOST_LEVELS]
    place = np.full(len(labels) + 1, MOST_LEVELS)
    place[common] = np.arange(MOST_LEVELS)
    place[-1] = MOST_LEVELS + 1
    names = [*(labels[i] for i in common), "(others)"]
    return Binned(place[codes], MOST_LEVELS + 2, names, False, n_distinct)


def _ranges(values: np.ndarray, n_bins: int) -> Binned:
    known = np.isfinite(values)
    different = np.unique(values[known])
    if len(different) <= n_bins:
        codes = np.searchsorted(different, np.where(known, values, 0.0))
        labels = [f"{value:.6g}" for value in different]
        codes = np.where(known, np.minimum(codes, len(different)), len(different))
        return Binned(codes, len(different) + 1, labels, True, len(different))
    edges = np.unique(np.quantile(values[known], np.linspace(0, 1, n_bins + 1)[1:-1]))
    codes = np.searchsorted(edges, np.where(known, values, 0.0), side="right")
    codes = np.where(known, codes, len(edges) + 1)
    return Binned(codes, len(edges) + 2, None, True, len(different))


def held_out_auc(column: Binned, classes: Binned, halves: np.ndarray) -> tuple[float, int]:
    """Return how well bins of a column tell a class of an attribute from the others.

    Parameters
    ----------
    column : Binned
        The column, n rows.
    classes : Binned
        The attribute, n rows. Rows that miss it are left out.
    halves : array of shape (n,)
        0 or 1: each half is judged by the shares of the classes in the bins of the other.

    Returns
    -------
    auc : float
        The largest over the classes, one against the rest; NaN where none has enough rows.
    best : int
        The class.
    """
    n_classes = classes.n_bins - 1
    shape = 2, column.n_bins, classes.n_bins
    where = np.ravel_multi_index((halves, column.codes, classes.codes), shape)
    counts = np.bincount(where, minlength=int(np.prod(shape))).reshape(shape)[:, :, :-1]
    totals = counts.sum(axis=(0, 1))
    rest = totals.sum() - totals
    enough = (totals >= FEWEST_ROWS) & (rest >= FEWEST_ROWS)
    best, best_auc = -1, np.nan
    for c in range(n_classes):
        if not enough[c]:
            continue
        yes, no = counts[:, :, c], counts.sum(axis=2) - counts[:, :, c]
        auc = 0.5 * sum(_auc(yes[h], no[h], _shares(yes[1 - h], no[1 - h])) for h in (0, 1))
        if not auc <= best_auc:
            best, best_auc = c, auc
    return float(best_auc), best


def _shares(yes: np.ndarray, no: np.ndarray) -> np.ndarray:
    """Return the share of the class in each bin, drawn to the overall share where few rows are."""
    overall = yes.sum() / max(1, yes.sum() + no.sum())
    shares: np.ndarray = (yes + overall) / (yes + no + 1)
    return shares


def _auc(yes: np.ndarray, no: np.ndarray, scores: np.ndarray) -> float:
    """Return the area under the ROC curve of scored bins; equal scores count half."""
    if not (yes.sum() and no.sum()):
        return 0.5
    _, order = np.unique(scores, return_inverse=True)
    yes = np.bincount(order, weights=yes)
    no = np.bincount(order, weights=no)
    below = np.cumsum(no) - no
    return float(np.sum(yes * (below + 0.5 * no)) / (yes.sum() * no.sum()))
