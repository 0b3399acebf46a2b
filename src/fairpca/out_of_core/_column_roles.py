"""Whether files have the same columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .._attributes import did_you_mean
from ..errors import TableError


def check_same_names(
    path: Path,
    there: Sequence[str],
    first: Path,
    of_first: Sequence[str],
    needed: Sequence[str],
    *,
    every: bool,
) -> None:
    """Raise if a file lacks a needed column that the first one has.

    Where `every` column of the first is used, also if it has one that the first has not.
    """
    lacking = [name for name in needed if name not in there]
    if lacking:
        raise TableError(
            f"'{path}' lacks the column '{lacking[0]}', which '{first}' has."
            f"{did_you_mean(lacking[0], there)} Leave that file out, or add the column."
        )
    more = [name for name in there if name not in of_first]
    if every and more:
        raise TableError(
            f"'{path}' has the column '{more[0]}', which '{first}' has not. Name the features, or "
            f"write all files with the same columns."
        )
