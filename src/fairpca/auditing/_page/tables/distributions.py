"""How differently groups are distributed, what is certified, and what is kept, as tables."""

from __future__ import annotations

from itertools import accumulate, zip_longest

from ..audit_lookup import AuditLookup, Entry, in_order
from ..wording import decimal, p_value, percent, significant, whole
from .table import Cell, Table, number, share

UNINFORMATIVE = 0.9
"""From here on a bound on a gap, which is at most 1, says next to nothing."""


def gap_tables(lookup: AuditLookup) -> list[Table]:
    """Return a table for each attribute, one row per representation."""
    gaps = lookup.audit["gaps"]
    positions = {one["name"]: place for place, one in enumerate(lookup.attributes)}
    return [
        Table(
            f"How differently the groups of {attribute} are distributed on held-out rows",
            [
                "Representation",
                "Largest gap of means",
                "Largest gap of covariances",
                "MMD²",
                "MMD² by chance",
                "p\u2011value",
            ],
            [
                [
                    Cell(lookup.name(gap["representation"])),
                    number(gap["mean_gap"]),
                    number(gap["covariance_gap"]),
                    number(gap["mmd2"], 4),
                    Cell(decimal(gap["mmd2_chance"], 4)),
                    Cell(p_value(gap["mmd2_p_value"])),
                ]
                for gap in gaps
                if gap["attribute"] == attribute
            ],
            {"attribute": str(positions[attribute])},
        )
        for attribute in in_order(one["attribute"] for one in gaps)
        if attribute in positions
    ]


def certificate_tables(lookup: AuditLookup) -> list[Table]:
    """Return the bounds for each attribute, with those marked that say next to nothing."""
    return [
        _certificates(lookup, str(position), attribute["name"])
        for position, attribute in enumerate(lookup.attributes)
        if any(one["attribute"] == attribute["name"] for one in lookup.audit["certificates"])
    ]


def _worth(one: Entry) -> str:
    if one["n_cells"] == 1:
        return "one cell: all decisions are alike"
    return "says next to nothing" if (one["bound"] or 0) >= UNINFORMATIVE else ""


def _certificates(lookup: AuditLookup, position: str, attribute: str) -> Table:
    return Table(
        f"Largest gap of selection rates, between the groups of {attribute}, of any classifier "
        "that sees only the cell of a row, in points",
        [
            "Representation",
            "Observed",
            "Bound",
            "Confidence",
            "Cells",
            "Rows",
            "Accuracy",
        ],
        [
            [
                Cell(lookup.name(one["representation"])),
                Cell(_points(one["observed"])),
                Cell(
                    _points(one["bound"]),
                    _worth(one),
                ),
                Cell(percent(one["confidence"])),
                Cell(whole(one["n_cells"])),
                Cell(whole(one["n_rows"])),
                share(one["accuracy"]),
            ]
            for one in lookup.audit["certificates"]
            if one["attribute"] == attribute
        ],
        {"attribute": position},
    )


def variance_table(lookup: AuditLookup) -> Table:
    """Return the cumulative shares of variance, one row per number of components."""
    spectra = [one for one in lookup.audit["spectra"] if one["ratios"]]
    shares = zip_longest(*(accumulate(ratio or 0.0 for ratio in one["ratios"]) for one in spectra))
    return Table(
        "Share of the variance of the features that the first components keep",
        ["Components", *(lookup.name(one["representation"]) for one in spectra)],
        [
            [Cell(str(count)), *(Cell(percent(value)) for value in row)]
            for count, row in enumerate(shares, 1)
        ],
    )


def _points(value: float | None) -> str:
    return significant(value) if value is None else decimal(100 * value, 1)
