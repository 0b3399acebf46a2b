"""What probes recognise, as tables."""

from __future__ import annotations

from ..audit_lookup import AuditLookup, Entry
from ..wording import NOT_MEASURED, decimal, interval, model_name
from .table import Cell, Table


def leakage_tables(lookup: AuditLookup) -> list[Table]:
    """Return a table for each attribute: representations are rows, probes are columns."""
    return [
        Table(
            f"AUC of guessing {attribute['name']} on held-out rows; 0.50 is guessing",
            ["Representation", *(model_name(probe) for probe in lookup.probes())],
            [
                [
                    Cell(one["name"]),
                    *(
                        leak_cell(lookup.leak(one["key"], attribute["name"], probe))
                        for probe in lookup.probes()
                    ),
                ]
                for one in lookup.representations
            ],
            {"attribute": str(position)},
        )
        for position, attribute in enumerate(lookup.attributes)
        if any(one["attribute"] == attribute["name"] for one in lookup.audit["leakage"])
    ]


def leak_cell(leak: Entry | None) -> Cell:
    """Return an AUC with its interval and what chance gives; marked where it is above chance."""
    if leak is None or leak["auc"]["value"] is None:
        return Cell(NOT_MEASURED)
    within = interval(leak["auc"])
    chance = f"chance {decimal(leak['chance_low'])} to {decimal(leak['chance_high'])}"
    return Cell(
        decimal(leak["auc"]["value"]),
        f"{within}; {chance}" if within else chance,
        "seen" if leak["above_chance"] else "hidden",
    )
