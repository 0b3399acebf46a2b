"""Columns a user should know about before anything is fitted: pointed out, never dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._attributes import did_you_mean
from ..errors import TableError
from ._arrow_columns import arrow_columns
from ._odd_columns import Notice, about, copies
from ._single_columns import Binned, binned, held_out_auc

SURE = 0.95
LIKELY = 0.8
ROWS = 20_000
FEW_LEVELS = 10
"""A numeric attribute with more values than this is cut at its median."""


def find_notices(
    frame: Any,
    sensitive: Sequence[str],
    target: str | None = None,
    *,
    renamed: Sequence[tuple[str, str]] = (),
    max_rows: int = ROWS,
    seed: int = 0,
) -> list[Notice]:
    """Point out columns that give an attribute or the target away, ids, copies and the like.

    Parameters
    ----------
    frame : DataFrame of pandas, polars, ..., or Arrow table of shape (n, d)
        All columns: features, attributes and target.
    sensitive : sequence of str
        The columns that are sensitive attributes.
    target : str, optional
        The column that is to be predicted.
    renamed : sequence of (str, str)
        Names that were changed when the table was read, as in ``Table.renamed``.
    max_rows : int, default=20000
        Of longer tables, as many rows are drawn to look for proxies.
    seed : int, default=0
        For the draw, and for the two halves of the rows.

    Returns
    -------
    list of Notice
        Warnings first, then by column.

    See Also
    --------
    Notice : What it returns.

    Notes
    -----
    A column is in up to 32 ranges, or in its levels. Half of the rows tell the share of each
    class of an attribute in them, and these shares rank the rows of the other half. The area
    under the ROC curve, averaged over both ways and largest over the classes with 20 rows or
    more, is 0.5 for a column that tells nothing, whatever the number of its levels. From 0.8 on
    it is pointed out, from 0.95 on as a warning. What several columns tell together is for an
    audit to find out.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairpca.tables import find_notices
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 50, "title": ["Ms", "Mr"] * 50, "age": 40})
    >>> for notice in find_notices(people, ["sex"]):
    ...     print(notice.severity, notice.text)
    warning 'title' is as good as a copy of 'sex': their levels belong together one to one.
    info 'age' has the same value in all rows.
    """
    arrays = arrow_columns(frame)
    for name in [*sensitive, *([target] if target is not None else [])]:
        if name not in arrays:
            raise TableError(f"The table has no column '{name}'.{did_you_mean(name, list(arrays))}")
    n = len(next(iter(arrays.values()))) if arrays else 0
    rows = np.arange(n)
    rng = np.random.default_rng(seed)
    if n > max_rows:
        rows = np.sort(rng.choice(n, max_rows, replace=False))
    drawn = {name: array.take(rows) if n > max_rows else array for name, array in arrays.items()}
    columns = {name: binned(array, name) for name, array in drawn.items()}
    special = {*sensitive, target}
    features = [name for name in arrays if name not in special]
    found = [Notice("renamed", "info", new, old, None, _renamed(old, new)) for old, new in renamed]
    for name in features:
        found.extend(about(name, arrays[name]))
    dull = {notice.column for notice in found if notice.kind in ("empty", "constant")}
    found.extend(copies(arrays, columns, [f for f in arrays if f not in dull], special))
    same = {(notice.column, notice.other) for notice in found if notice.kind == "copy"}
    halves = rng.permutation(len(rows)) % 2
    for other in dict.fromkeys([*sensitive, *([target] if target is not None else [])]):
        classes = _classes(drawn[other], other)
        for name in features:
            if name in dull or (name, other) in same:
                continue
            auc, best = held_out_auc(columns[name], classes, halves)
            if auc >= LIKELY:
                found.append(_tells(name, other, auc, _class_name(classes, best), other == target))
    order = {name: i for i, name in enumerate(arrays)}
    return sorted(found, key=lambda x: (x.severity != "warning", order.get(x.column, -1)))


def _renamed(old: str, new: str) -> str:
    if not old.strip():
        return f"A column without a name is called '{new}'."
    return f"Two columns were called '{old}': this one is called '{new}'."


def _classes(array: Any, name: str) -> Binned:
    """Return an attribute as classes: its levels, or below and above its median."""
    as_levels = binned(array, name, FEW_LEVELS)
    return as_levels if as_levels.labels is not None else binned(array, name, 2)


def _class_name(classes: Binned, best: int) -> str | None:
    """Return what to call a class, where that says more than the name of the attribute."""
    if classes.labels is None or classes.n_bins <= 3:
        return None
    return classes.labels[best]


def _tells(name: str, other: str, auc: float, level: str | None, is_target: bool) -> Notice:
    of = f"'{other}'" if level is None else f"'{other}' = '{level}'"
    if is_target:
        kind, meaning = "leak", "is it known before the decision?"
    else:
        kind, meaning = "proxy", "a model can use it instead."
    severity = "warning" if auc >= SURE else "info"
    how = "nearly perfectly" if auc >= SURE else "well"
    text = f"'{name}' alone tells {of} {how} (AUC {auc:.2f}): {meaning}"
    return Notice(kind, severity, name, other, round(auc, 4), text)
