"""The columns of the data, and the representations, as tables."""

from __future__ import annotations

from ..audit_lookup import AuditLookup
from ..wording import significant, whole
from .table import Cell, Table, share, words


def column_table(lookup: AuditLookup) -> Table:
    """Return every column of the data: what it is for, and what was made of it."""
    return Table(
        "Every column of the table",
        ["Column", "Role", "Kind", "Missing", "Distinct", "Became", "Note"],
        [
            words(
                one["name"],
                one["role"],
                one["kind"],
                whole(one["n_missing"]),
                whole(one["n_distinct"]),
                _numbers(one["n_outputs"]),
                one["note"],
            )
            for one in lookup.audit["data"]["columns"]
        ],
    )


def representation_table(lookup: AuditLookup) -> Table:
    """Return what was compared: what each representation promises, or why it is missing."""
    return Table(
        "Every representation, what it promises and what it keeps",
        ["Representation", "What it promises", "Columns", "Variance kept", "Seconds to fit"],
        [
            [
                Cell(one["name"]),
                Cell(one["promise"], tone="prose"),
                Cell(whole(one["n_columns"])),
                share(one["variance_kept"]),
                Cell(significant(one["fit_seconds"])),
            ]
            if not one["failure"]
            else [
                Cell(one["name"]),
                Cell(f"Could not be fitted: {one['failure']}", tone="prose"),
                *words(*3 * [""]),
            ]
            for one in lookup.audit["representations"]
        ],
    )


def _numbers(count: int) -> str:
    return "nothing" if count == 0 else "1 number" if count == 1 else f"{whole(count)} numbers"
