"""Files that a run leaves behind, each whole or not there."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import astuple, fields
from functools import partial
from pathlib import Path
from typing import Any

from .experiment import Summary

DIGITS = 6
"""Significant digits of the tidy table."""


def write_table(rows: Sequence[Summary], path: Path) -> Path:
    """Write the tidy table, one number per row, sorted as given."""
    names = [field.name for field in fields(Summary)]
    if all(row.parameter is None for row in rows):
        names.remove("parameter")

    def write(draft: Path) -> None:
        with draft.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(names)
            for row in rows:
                writer.writerow([_text(v) for v in astuple(row)[: len(names)]])

    _whole(path, write)
    return path


def write_figure(figure: Any, stem: Path) -> list[Path]:
    """Write a matplotlib figure as PNG and PDF."""
    files = [stem.with_name(stem.name + ending) for ending in (".png", ".pdf")]
    for path in files:
        kind = path.suffix[1:]
        # no date in the file: the same numbers give the same bytes
        metadata = {"CreationDate": None} if kind == "pdf" else None
        _whole(path, partial(figure.savefig, format=kind, metadata=metadata))
    return files


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)


def _whole(path: Path, write: Callable[[Path], None]) -> None:
    """Write to a draft beside the file, then put it in its place in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    draft = Path(name)
    try:
        write(draft)
        draft.chmod(0o644)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
