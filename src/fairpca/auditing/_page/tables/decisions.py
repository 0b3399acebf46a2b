"""What downstream models decide, as tables."""

from __future__ import annotations

from ..audit_lookup import AuditLookup, Entry, parity_of
from ..wording import NOT_MEASURED, model_name, significant, whole
from .table import Cell, Table, difference, number, share

GAPS = ["Gap of selection rates", "Gap of true positive rates"]


FIT_ON_PAPER = 6
"""Columns for groups; the rates of more are in the table of groups."""


def curve_tables(lookup: AuditLookup) -> list[Table]:
    """Return a table for each curve and attribute, one row per lambda."""
    return [
        Table(
            f"{lookup.name(curve['representation'])} with a {_model(curve['model'])}: decisions "
            f"compared between the groups of {attribute['name']}, gaps in points",
            ["Lambda", "Accuracy", "AUC", *GAPS, *_selected(attribute)],
            [
                [
                    Cell(significant(point["tradeoff"])),
                    share(point["accuracy"]),
                    number(point["auc"]),
                    *_gaps_and_rates(parity_of(point, attribute["name"]), attribute),
                ]
                for point in curve["points"]
            ],
            {"curve": str(place), "attribute": str(position)},
            wide=len(attribute["groups"]) > FIT_ON_PAPER,
        )
        for place, curve in enumerate(lookup.audit["curves"])
        for position, attribute in enumerate(lookup.attributes)
    ]


def parity_tables(lookup: AuditLookup) -> list[Table]:
    """Return a table for each model and attribute, one row per representation."""
    return [
        Table(
            f"A {_model(model)} predicts the target: decisions compared between the groups of "
            f"{attribute['name']}, gaps in points",
            ["Representation", "Accuracy", "AUC", *GAPS, *_selected(attribute)],
            [
                [
                    Cell(one["name"]),
                    share(downstream["accuracy"]),
                    number(downstream["auc"]),
                    *_gaps_and_rates(parity_of(downstream, attribute["name"]), attribute),
                ]
                for one in lookup.representations
                if (downstream := lookup.downstream(one["key"], model))
            ],
            {"model": model, "attribute": str(position)},
            wide=len(attribute["groups"]) > FIT_ON_PAPER,
        )
        for model in lookup.models()
        for position, attribute in enumerate(lookup.attributes)
    ]


def group_tables(lookup: AuditLookup) -> list[Table]:
    """Return a table for each model and attribute, one row per representation and group."""
    return [
        Table(
            f"What a {_model(model)} does to each group of {attribute['name']}",
            ["Group", "Representation", "Held-out rows", "Selected", "True positives", "Accuracy"],
            [
                [
                    Cell(label["label"]),
                    Cell(one["name"]),
                    Cell(whole(group["n_rows"])),
                    share(group["selection_rate"]),
                    share(group["true_positive_rate"]),
                    share(group["accuracy"]),
                ]
                for label in attribute["groups"]
                for one in lookup.representations
                if (downstream := lookup.downstream(one["key"], model))
                and (group := _group(parity_of(downstream, attribute["name"]), label["label"]))
            ],
            {"model": model, "attribute": str(position)},
        )
        for model in lookup.models()
        for position, attribute in enumerate(lookup.attributes)
    ]


def _model(model: str) -> str:
    """Return a model for the middle of a sentence, after 'a'."""
    return {"boosting": "model of boosted trees"}.get(model, model_name(model).lower())


def _selected(attribute: Entry) -> list[str]:
    return [f"Selected: {one['label']}" for one in attribute["groups"]]


def _gaps_and_rates(parity: Entry | None, attribute: Entry) -> list[Cell]:
    if parity is None:
        return [Cell(NOT_MEASURED)] * (len(GAPS) + len(attribute["groups"]))
    rates = [_group(parity, one["label"]) for one in attribute["groups"]]
    return [
        difference(parity["dp_gap"]),
        difference(parity["eo_gap"]),
        *(share(group["selection_rate"] if group else None) for group in rates),
    ]


def _group(parity: Entry | None, label: str) -> Entry | None:
    groups = parity["groups"] if parity else []
    return next((one for one in groups if one["label"] == label), None)
