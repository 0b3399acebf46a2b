"""Files that a run leaves behind, each whole or not there."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import astuple, fields
from functools import partial
from pathlib import Path
from typing import Any

from .._numerics import write_whole
from ._experiment import Summary

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

    write_whole(path, write)
    return path


def write_figure(figure: Any, stem: Path) -> list[Path]:
    """Write a matplotlib figure as PNG and PDF."""
    files = [stem.with_name(stem.name + ending) for ending in (".png", ".pdf")]
    for path in files:
        kind = path.suffix[1:]
        # no date in the file: the same numbers give the same bytes
        metadata = {"CreationDate": None} if kind == "pdf" else None
        write_whole(path, partial(figure.savefig, format=kind, metadata=metadata))
    return files


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)
