"""Names of columns: different ones, needed ones, misspelt ones."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .._attributes import closest
from ..errors import TableError

SHOWN = 5

_ROW_INDEX = re.compile(r"__index_level_\d+__|__null_dask_index__")


def places_of_columns(
    written: Sequence[str], *, as_written: bool = False
) -> tuple[dict[str, int], tuple[tuple[str, str], ...]]:
    """Return where the columns of a file are, by different names, and which names were changed.

    The unnamed index that pandas or Dask put into a file is no column: it numbers the rows, says
    nothing about people, and is none when these libraries read it.

    Examples
    --------
    >>> places_of_columns(["__index_level_0__", "age", "age"])
    ({'age': 1, 'age (2)': 2}, (('age', 'age (2)'),))
    """
    places = [i for i, name in enumerate(written) if not _ROW_INDEX.fullmatch(name)]
    names = [written[i] for i in places]
    if as_written:
        return dict(zip(names, places, strict=True)), ()
    names, renamed = different_names(names)
    return dict(zip(names, places, strict=True)), renamed


def different_names(names: Sequence[str]) -> tuple[list[str], tuple[tuple[str, str], ...]]:
    """Return names of which no two are the same, and which were changed.

    Examples
    --------
    >>> different_names(["id", "age", "age", ""])
    (['id', 'age', 'age (2)', 'column_4'], (('age', 'age (2)'), ('', 'column_4')))
    """
    taken = set(names)
    found: list[str] = []
    for i, name in enumerate(names):
        candidate = base = name.strip() or f"column_{i + 1}"
        copy = 2
        while candidate in found or (candidate != name and candidate in taken):
            candidate, copy = f"{base} ({copy})", copy + 1
        found.append(candidate)
    changed = tuple((a, b) for a, b in zip(names, found, strict=True) if a.strip() != b)
    return found, changed


def require_columns(needed: Sequence[str], found: Sequence[str], there: Sequence[str]) -> None:
    """Say which needed columns were not found, and what they may be called in the table.

    Examples
    --------
    >>> require_columns(["age", "job"], ["age"], there=["age", "Job"])
    Traceback (most recent call last):
    fairpca.errors.TableError: The table lacks 1 of the 2 columns that the encoder was
    fitted on: 'job' (there is 'Job'). Add or rename them.
    """
    lacking = [name for name in needed if name not in set(found)]
    if not lacking:
        return
    listed = []
    for name in lacking[:SHOWN]:
        close = closest(name, there)
        listed.append(f"'{name}'" + (f" (there is '{close}')" if close else ""))
    more = f" and {len(lacking) - SHOWN} more" if len(lacking) > SHOWN else ""
    raise TableError(
        f"The table lacks {len(lacking)} of the {len(needed)} columns that the encoder was fitted "
        f"on: {', '.join(listed)}{more}. Add or rename them."
    )
