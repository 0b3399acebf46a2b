"""The numbers behind the plots, as tables: what remains without colours, scripts or eyes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, zip_longest
from typing import Any

from ...metrics import NOT_MEASURED, decimal, p_value, significant, whole
from .._evidence import Evidence, parity_of, value_of
from .._results import (
    Attribute,
    CertifiedGap,
    CurvePoint,
    Downstream,
    Estimate,
    GroupRates,
    Leak,
    Parity,
    Representation,
)
from .words import interval, model_name, percent

GAPS = ["Gap of selection rates", "Gap of true positive rates"]

FIT_ON_PAPER = 6
"""Columns for groups; the rates of more are in the table of groups."""

UNINFORMATIVE = 0.9
"""From here on a bound on a gap, which is at most 1, says next to nothing."""


@dataclass(frozen=True)
class _Cell:
    """A number or a word, and in smaller type what qualifies it."""

    text: str
    detail: str = ""
    tone: str = ""


@dataclass(frozen=True)
class _Table:
    """A caption, heads, and rows whose first cell names them.

    `choice` says for which settings of the page's choosers it is shown, such as
    ``{"attribute": "0"}``; where paper is too narrow for a `wide` one, columns from the sixth on
    are left out.
    """

    caption: str
    heads: list[str]
    rows: list[list[_Cell]]
    choice: dict[str, str] = field(default_factory=dict)
    wide: bool = False


NO_VARIANCE = _Cell("\N{EN DASH}", "made to predict the target, not to keep variance")


def plain_table(caption: str, heads: list[str], rows: Iterable[Iterable[str]]) -> _Table:
    """Return a table of texts."""
    return _Table(caption, heads, [[_Cell(text) for text in row] for row in rows])


def page_tables(evidence: Evidence) -> dict[str, Any]:
    """Return all tables of the page by name: for most, one for each setting of the choosers."""
    return {
        "leakage": leakage_tables(evidence),
        "curves": _curve_tables(evidence),
        "variance": _variance_table(evidence),
        "parity": _parity_tables(evidence),
        "groups": _group_tables(evidence),
        "certificates": _certificate_tables(evidence),
        "gaps": _gap_tables(evidence),
        "compared": _representation_table(evidence),
    }


def _number(estimate: Estimate | None, digits: int = 2) -> _Cell:
    return _Cell(decimal(value_of(estimate), digits), interval(estimate, digits=digits))


def _share(estimate: Estimate | None) -> _Cell:
    return _Cell(percent(value_of(estimate)), interval(estimate, 100, 1))


def _points(value: float | None) -> str:  # the unit is in the caption
    return NOT_MEASURED if value is None else decimal(100 * value, 1)


def _difference(estimate: Estimate | None) -> _Cell:
    return _Cell(_points(value_of(estimate)), interval(estimate, 100, 1))


def leakage_tables(evidence: Evidence) -> list[_Table]:
    """Return a table for each attribute: representations are rows, probes are columns."""
    return [
        _Table(
            f"AUC of guessing {attribute.name} on held-out rows; 0.50 is guessing",
            ["Representation", *map(model_name, evidence.probes)],
            [
                [
                    _Cell(one.name),
                    *(
                        _leak(evidence.leak.get((one.key, attribute.name, probe)))
                        for probe in evidence.probes
                    ),
                ]
                for one in evidence.fitted
            ],
            {"attribute": str(position)},
        )
        for position, attribute in enumerate(evidence.attributes)
        if any(one.attribute == attribute.name for one in evidence.audit.leakage)
    ]


def _leak(leak: Leak | None) -> _Cell:
    """Return an AUC with its interval and what chance gives; marked where it is above chance."""
    if leak is None or leak.auc.value is None:
        return _Cell(NOT_MEASURED)
    chance = f"chance {decimal(leak.chance_low)} to {decimal(leak.chance_high)}"
    detail = "; ".join(filter(None, [interval(leak.auc), chance]))
    return _Cell(decimal(leak.auc.value), detail, "seen" if leak.above_chance else "hidden")


def _curve_tables(evidence: Evidence) -> list[_Table]:
    """Return a table for each curve and attribute, one row per lambda."""
    return [
        _decided(
            f"{evidence.name(curve.representation)} with a {_model(curve.model)}",
            "Lambda",
            [(significant(point.tradeoff), point) for point in curve.points],
            attribute,
            {"curve": str(place), "attribute": str(position)},
        )
        for place, curve in enumerate(evidence.audit.curves)
        for position, attribute in enumerate(evidence.attributes)
    ]


def _parity_tables(evidence: Evidence) -> list[_Table]:
    """Return a table for each model and attribute, one row per representation."""
    return [
        _decided(
            f"A {_model(model)} predicts the target",
            "Representation",
            [
                (one.name, found)
                for one in evidence.fitted
                if (found := evidence.downstream.get((one.key, model)))
            ],
            attribute,
            choice,
        )
        for model, attribute, choice in _models_and_attributes(evidence)
    ]


def _group_tables(evidence: Evidence) -> list[_Table]:
    """Return a table for each model and attribute, one row per representation and group."""
    return [
        _Table(
            f"What a {_model(model)} does to each group of {attribute.name}",
            ["Group", "Representation", "Held-out rows", "Selected", "True positives", "Accuracy"],
            [
                [
                    _Cell(label.label),
                    _Cell(one.name),
                    _Cell(whole(group.n_rows)),
                    _share(group.selection_rate),
                    _share(group.true_positive_rate),
                    _share(group.accuracy),
                ]
                for label in attribute.groups
                for one in evidence.fitted
                if (found := evidence.downstream.get((one.key, model)))
                and (group := _group(parity_of(found, attribute.name), label.label))
            ],
            choice,
        )
        for model, attribute, choice in _models_and_attributes(evidence)
    ]


def _models_and_attributes(evidence: Evidence) -> Iterator[tuple[str, Attribute, dict[str, str]]]:
    for model in evidence.models:
        for position, attribute in enumerate(evidence.attributes):
            yield model, attribute, {"model": model, "attribute": str(position)}


def _model(model: str) -> str:
    """Return a model for the middle of a sentence, after 'a'."""
    return {"boosting": "model of boosted trees"}.get(model, model_name(model).lower())


def _decided(
    what: str,
    head: str,
    rows: Sequence[tuple[str, Downstream | CurvePoint]],
    attribute: Attribute,
    choice: dict[str, str],
) -> _Table:
    labels = [one.label for one in attribute.groups]
    cells = []
    for name, found in rows:
        parity = parity_of(found, attribute.name)
        rates = [_group(parity, label) for label in labels]
        cells.append(
            [
                _Cell(name),
                _share(found.accuracy),
                _number(found.auc),
                _difference(parity.dp_gap if parity else None),
                _difference(parity.eo_gap if parity else None),
                *(_share(group.selection_rate if group else None) for group in rates),
            ]
        )
    return _Table(
        f"{what}: decisions compared between the groups of {attribute.name}, gaps in points",
        [head, "Accuracy", "AUC", *GAPS, *(f"Selected: {label}" for label in labels)],
        cells,
        choice,
        wide=len(labels) > FIT_ON_PAPER,
    )


def _group(parity: Parity | None, label: str) -> GroupRates | None:
    groups = parity.groups if parity else []
    return next((one for one in groups if one.label == label), None)


def _gap_tables(evidence: Evidence) -> list[_Table]:
    """Return a table for each attribute, one row per representation."""
    gaps = evidence.audit.gaps
    positions = {one.name: place for place, one in enumerate(evidence.attributes)}
    return [
        _Table(
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
                    _Cell(evidence.name(gap.representation)),
                    _number(gap.mean_gap),
                    _number(gap.covariance_gap),
                    _number(gap.mmd2, 4),
                    _Cell(decimal(gap.mmd2_chance, 4)),
                    _Cell(p_value(gap.mmd2_p_value)),
                ]
                for gap in gaps
                if gap.attribute == attribute
            ],
            {"attribute": str(positions[attribute])},
        )
        for attribute in dict.fromkeys(one.attribute for one in gaps)
        if attribute in positions
    ]


def _certificate_tables(evidence: Evidence) -> list[_Table]:
    """Return the bounds for each attribute, with those marked that say next to nothing."""
    return [
        _Table(
            f"Largest gap of selection rates, between the groups of {attribute.name}, of any "
            "classifier that sees only the cell of a row, or of any threshold, in points",
            ["Representation", "Observed", "Bound", "Confidence", "Cells", "Rows", "Accuracy"],
            [
                [
                    _Cell(evidence.name(one.representation)),
                    _Cell(_points(one.observed)),
                    _Cell(_points(one.bound), _worth(one)),
                    _Cell(percent(one.confidence)),
                    _Cell("any threshold" if one.of == "scores" else whole(one.n_cells)),
                    _Cell(whole(one.n_rows)),
                    _share(one.accuracy),
                ]
                for one in bounds
            ],
            {"attribute": str(position)},
        )
        for position, attribute in enumerate(evidence.attributes)
        if (bounds := [c for c in evidence.audit.certificates if c.attribute == attribute.name])
    ]


def _worth(one: CertifiedGap) -> str:
    if one.n_cells == 1:
        return "one cell: all decisions are alike"
    return "says next to nothing" if (one.bound or 0) >= UNINFORMATIVE else ""


def _variance_table(evidence: Evidence) -> _Table:
    """Return the cumulative shares of variance, one row per number of components."""
    spectra = [one for one in evidence.audit.spectra if one.ratios]
    shares = zip_longest(*(accumulate(ratio or 0.0 for ratio in one.ratios) for one in spectra))
    return plain_table(
        "Share of the variance of the features that the first components keep",
        ["Components", *(evidence.name(one.representation) for one in spectra)],
        ([str(count), *map(percent, row)] for count, row in enumerate(shares, 1)),
    )


def _representation_table(evidence: Evidence) -> _Table:
    """Return what was compared: what each representation promises, or why it is missing."""
    return _Table(
        "Every representation, what it promises and what it keeps",
        ["Representation", "What it promises", "Columns", "Variance kept", "Seconds to fit"],
        [_compared(one) for one in evidence.audit.representations],
    )


def _compared(one: Representation) -> list[_Cell]:
    if one.failure:
        why = _Cell(f"Could not be fitted: {one.failure}", tone="prose")
        return [_Cell(one.name), why, *[_Cell("")] * 3]
    return [
        _Cell(one.name),
        _Cell(one.promise, tone="prose"),
        _Cell(whole(one.n_columns)),
        _share(one.variance_kept) if one.variance_kept else NO_VARIANCE,
        _Cell(significant(one.fit_seconds)),
    ]
