"""Columns that are odd by themselves: ids, copies, the constant and the empty."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._adapters import date_format, import_arrow
from ._level_column import MOST_LEVELS
from ._single_columns import Binned
from ._text_values import distinct_texts, look_like_dates, nearly_numbers

ID_NAME = re.compile(r"(^|[_\W])(id|ids|uuid|guid|key|number|nr|no|index|rownum)($|[_\W])", re.I)


@dataclass(frozen=True)
class Notice:
    """Something about a column that a user should know.

    Parameters
    ----------
    kind : {"id", "constant", "empty", "renamed", "copy", "proxy", "leak", "format"}
        A proxy tells a sensitive attribute, a leak tells the target; a format keeps numbers or
        dates from being read as such.
    severity : {"info", "warning"}
        A warning is nearly certain, an info likely or harmless.
    column : str
        The column.
    other : str or None
        The attribute, the target, or the column it is a copy of.
    value : float or None
        The AUC of a proxy or leak; the share of different values of an id.
    text : str
        One sentence.

    See Also
    --------
    find_notices : What makes them.

    Examples
    --------
    >>> from fairpca.tables import Notice
    >>> notice = Notice("empty", "info", "title", None, None, "'title' has no value at all.")
    >>> print(f"{notice.severity}: {notice.text}")
    info: 'title' has no value at all.
    """

    kind: str
    severity: str
    column: str
    other: str | None
    value: float | None
    text: str


def about(name: str, array: Any) -> Iterator[Notice]:
    """Yield what a column shows by itself."""
    types, kind, n = import_arrow().types, array.type, len(array)
    n_distinct = len(array.drop_null().unique())
    if n_distinct == 0:
        yield Notice("empty", "info", name, None, None, f"'{name}' has no value at all.")
        return
    if n_distinct == 1 and not array.null_count:
        text = f"'{name}' has the same value in all rows."
        yield Notice("constant", "info", name, None, None, text)
        return
    share = n_distinct / n
    is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind)
    written = _badly_written(name, array) if is_text and n_distinct > MOST_LEVELS else None
    if written is not None:
        yield written
        return
    if n < 20 or share < 0.95:
        return
    counted = types.is_integer(kind) and share == 1.0 and _runs_on(array)
    named = (is_text or types.is_integer(kind)) and ID_NAME.search(name)
    is_date = is_text and _are_dates(array)
    if (is_text and share == 1.0 and not is_date) or counted or (named and share >= 0.99):
        part = "its values are all" if share == 1.0 else f"{share:.1%} of its values are"
        text = (
            f"'{name}' looks like an id: {part} different. It is used as a feature all the same; "
            f"ignore it if it should not be."
        )
        yield Notice("id", "warning", name, None, share, text)
    elif is_text and not is_date:
        text = f"'{name}' has a different value in nearly every row, such as names of people."
        yield Notice("id", "info", name, None, share, text)


def _badly_written(name: str, array: Any) -> Notice | None:
    """Return a warning where numbers or dates are in a form in which they are taken for texts."""
    texts = [text for text in distinct_texts(array)[1] if text is not None]
    if others := nearly_numbers(texts):
        text = (
            f"'{name}' looks like numbers, but is taken for texts because of values such as "
            f"'{others[0][:30]}'. Write plain numbers, such as 1234.5, and leave others empty."
        )
        return Notice("format", "warning", name, None, len(others) / len(texts), text)
    if look_like_dates(texts) and date_format(texts) is None:
        text = (
            f"'{name}' looks like dates, but is taken for texts because they are not all written "
            f"in one format. Write them all alike, such as 2024-12-31."
        )
        return Notice("format", "warning", name, None, None, text)
    return None


def _are_dates(array: Any) -> bool:
    """Whether the first texts are dates, which differ without being ids."""
    return (
        date_format([str(value) for value in array.drop_null().slice(0, 100).to_pylist()])
        is not None
    )


def _runs_on(array: Any) -> bool:
    """Whether integers rise or fall from row to row, as row numbers do."""
    steps = np.diff(array.drop_null().to_numpy(zero_copy_only=False).astype(float))
    return bool(np.all(steps > 0) or np.all(steps < 0))


def copies(
    arrays: dict[str, Any], columns: dict[str, Binned], names: list[str], special: set[str | None]
) -> Iterator[Notice]:
    """Yield columns that say the same as another, in the same or in other words."""
    groups: dict[bytes, list[str]] = {}
    for name in names:
        seen, first, codes = np.unique(columns[name].codes, return_index=True, return_inverse=True)
        # Numbered in the order in which they appear, so that names of levels do not matter.
        renumbered = np.argsort(np.argsort(first))[codes].astype(np.uint16)
        if len(seen) > 1:
            groups.setdefault(renumbered.tobytes(), []).append(name)
    for group in groups.values():
        # The attribute or the target is what others are copies of; else the first column is.
        original, *others = sorted(group, key=lambda name: name not in special)
        for name in others:
            if name in special:
                continue  # both are attributes or target, which is the user's choice
            exact = arrays[name].equals(arrays[original])
            ranges = columns[name].labels is None or columns[original].labels is None
            many = columns[name].n_distinct > 0.5 * len(columns[name].codes)
            if not exact and (ranges or many):
                continue
            severity = "warning" if original in special else "info"
            words = (
                f"'{name}' is a copy of '{original}'."
                if exact
                else f"'{name}' is as good as a copy of '{original}': their levels belong "
                f"together one to one."
            )
            yield Notice("copy", severity, name, original, 1.0, words)
