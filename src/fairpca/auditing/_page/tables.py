"""The numbers of the page as tables: what remains without colours, scripts or eyes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from string import ascii_uppercase
from typing import Any

from .._evidence import Evidence, largest, parity_of
from .._phrases import NOT_MEASURED, decimal, of_groups, p_value, significant, whole
from .._results import (
    EXISTING,
    Attribute,
    Comparison,
    CurvePoint,
    Downstream,
    Estimate,
    GroupRates,
    Leak,
    Option,
    Parity,
    Representation,
)
from .words import (
    FOUR_FIFTHS,
    SPOKEN,
    UNBROKEN,
    Units,
    interval,
    level,
    model_name,
    of_a_hundred,
    pairs,
    recognised,
)

Decided = Downstream | CurvePoint

LETTERS = ascii_uppercase
"""By which figure and table name options."""


@dataclass(frozen=True)
class Cell:
    """A number or a word, in smaller type what qualifies it, and a mark that stands out.

    Of the details, those that are empty are not shown.
    """

    text: str
    details: tuple[str, ...] = ()
    mark: str = ""
    tone: str = ""


NONE = Cell("\N{EN DASH}", tone="none")
"""For what there is nothing to measure of."""


@dataclass(frozen=True)
class Table:
    """A caption, heads, and rows whose first cell names them.

    `choice` says for which settings of the page's choosers it is shown, such as
    ``{"attribute": "0"}``; a column without any number is left out.
    """

    caption: str
    heads: list[str]
    rows: list[list[Cell]]
    choice: dict[str, str] = field(default_factory=dict)


def plain_table(caption: str, heads: list[str], rows: Iterable[Iterable[str]]) -> Table:
    """Return a table of texts."""
    return Table(caption, heads, [[Cell(text) for text in row] for row in rows])


def page_tables(evidence: Evidence) -> dict[str, Any]:
    """Return all tables of the page by name: for most, one for each setting of the choosers."""
    return {
        "options": _options_table(evidence),
        "leakage": leakage_tables(evidence),
        "curves": _curve_tables(evidence),
        "parity": _parity_tables(evidence),
        "groups": _group_tables(evidence),
        "left_out": _left_out_table(evidence),
        "own": _own_tables(evidence),
        "certificates": _certificate_tables(evidence),
        "deciders": _decider_table(evidence),
        "compared": _representation_table(evidence),
    }


@dataclass(frozen=True)
class _Tile:
    """What is given away of one attribute: from the raw features, after the advice, by models."""

    attribute: str
    lines: list[Cell]
    sentence: str
    carriers: str


def given_away(evidence: Evidence) -> list[_Tile]:
    """Return a tile for each single attribute, with the best probe of each line."""
    shown = [
        one
        for one in evidence.audit.advice.options
        if badge(evidence, one) in ("as it is", "yours") or one is evidence.audit.advice.option
    ]
    tiles = []
    for name in evidence.singles:
        lines, first = [], None
        for option in shown:
            leaks = evidence.leaks(evidence.readable(option), name)
            if not leaks:
                continue
            leak = largest(leaks)
            first = first or leak
            seen = "above chance" if leak.above_chance else "not told from chance"
            lines.append(
                Cell(
                    option.name,
                    (of_a_hundred(leak.auc.value), f"AUC {decimal(leak.auc.value)} "
                     f"({interval(leak.auc)}), {SPOKEN.get(leak.probe, leak.probe)}, {seen}"),
                    tone="seen" if leak.above_chance else "hidden",
                )
            )  # fmt: skip
        if first is None:
            continue
        words = recognised(name, first.auc.value, several=evidence.several(name))
        sentence = f"{words[0].upper()}{words[1:]}; 50 is guessing."
        tiles.append(_Tile(name, lines, sentence, ", ".join(evidence.carried(name)[:3])))
    return tiles


def badge(evidence: Evidence, option: Option) -> str:
    """Return what an option is to the reader, in a word or two."""
    advice = evidence.audit.advice
    if evidence.audit.advice.option is option:
        return "one of a tie" if advice.verdict == "tie" else "recommended"
    if option.name in advice.ties:
        return "one of a tie"
    return {"features": "as it is", "score": "yours", "decision": "yours"}.get(
        evidence.representations[option.representation].kind, ""
    )


def _options_table(evidence: Evidence) -> Table:
    """Return what can be done, one row per setting, models of all kinds alike."""
    units = Units(evidence.audit.data.target)
    models = [one for one in evidence.models if one != EXISTING]
    own = {one.name for one in evidence.fitted if one.kind in ("score", "decision")}
    heads = ["Setting", units.gap_name, "Ratio of selection rates", units.utility_name]
    heads += ["Still recognised (AUC)", *(f"{model_name(one)}: gap" for one in models)]
    rows = [
        [
            Cell(
                option.name,
                (columns(option.n_columns or 1),),
                badge(evidence, option),
                LETTERS[place],
            ),
            _gap(
                option.gap,
                gap_units(evidence, option.representation),
                option.gap_attribute or "",
                groups_compared(evidence, option.gap_groups),
                SPOKEN.get(option.gap_model, ""),
            ),
            _ratio(option.ratio),
            _utility(option.utility, units, SPOKEN.get(option.utility_model, "")),
            Cell(
                decimal(option.leak.value),
                (
                    of_a_hundred(option.leak.value),
                    option.leak_attribute,
                    SPOKEN.get(option.leak_probe, ""),
                ),
                "above chance" if option.leak_above_chance else "",
                "seen" if option.leak_above_chance else "hidden",
            ),
            *(_model_numbers(option, model, units) for model in models),
            NONE if option.name in own else Cell(of_a_hundred(option.selection_frequency)),
        ]
        for place, option in enumerate(evidence.audit.advice.options)
    ]
    return _filled(
        f"Each setting with {level(evidence.audit.settings.confidence)} confidence intervals, and "
        "with every AUC as how many of 100 pairs of people are told apart rightly (of several "
        "groups or classes: on average over each and the others)",
        [*heads, "Would be taken"],
        rows,
    )


def columns(count: int | None) -> str:
    """Write how many columns there are."""
    return "1 column" if count == 1 else f"{whole(count)} columns"


def _model_numbers(option: Option, model: str, units: Units) -> Cell:
    found = next((one for one in option.models if one.model == model), None)
    if found is None:
        return NONE
    short = {"number": "R²", "none": ""}.get(units.kind, "AUC")
    utility = units.utility(found.utility.value if found.utility else None)
    gap = units.gap(found.gap.value if found.gap else None)
    return Cell(gap, (found.attribute if found.gap else "", f"{short} {utility}"))


def gap_units(evidence: Evidence, key: str) -> Units:
    """Return the units of a gap: of decisions it is in points, even if the target is a number."""
    shown = evidence.representations.get(key)
    decided = shown is not None and shown.kind == "decision"
    return Units(None if decided else evidence.audit.data.target)


def _gap(estimate: Estimate | None, units: Units, *more: str) -> Cell:
    value = estimate.value if estimate else None
    ends = interval(estimate, units.scale, units.digits)
    return Cell(
        units.gap(value),
        (ends, units.in_target_units(value), *more),
    )


def _ratio(estimate: Estimate | None) -> Cell:
    """Return a ratio of selection rates, marked where it fails the four-fifths rule."""
    if estimate is None:
        return NONE
    low = estimate.value < FOUR_FIFTHS
    return Cell(
        decimal(estimate.value),
        (interval(estimate),),
        "below 0.8" if low else "",
        "seen" if low else "",
    )


def _utility(estimate: Estimate | None, units: Units, *more: str) -> Cell:
    if estimate is None:
        return NONE
    if units.kind == "none":
        return _share(estimate)
    words = f"{'explains ' if units.kind == 'number' else ''}{units.useful(estimate.value)}"
    return Cell(
        units.utility(estimate.value),
        (interval(estimate), words, *more),
    )


def _cell(estimate: Estimate | None, scale: float, digits: int, unit: str = "") -> Cell:
    if estimate is None:
        return NONE
    text = f"{decimal(scale * estimate.value, digits)}{unit}"
    return Cell(text, (interval(estimate, scale, digits),))


_share = partial(_cell, scale=100, digits=1, unit=f"{UNBROKEN}%")
_number = partial(_cell, scale=1, digits=2)
_difference = partial(_cell, scale=100, digits=1)  # the unit is in the head


def _filled(
    caption: str, heads: list[str], rows: list[list[Cell]], choice: dict[str, str] | None = None
) -> Table:
    """Return a table without the columns in which nothing was measured."""
    empty = (NONE.text, NOT_MEASURED, "")
    kept = [
        place
        for place in range(len(heads))
        if place == 0 or any(row[place].text not in empty for row in rows)
    ]
    return Table(
        caption,
        [heads[place] for place in kept],
        [[row[place] for place in kept] for row in rows],
        choice or {},
    )


def leakage_tables(evidence: Evidence) -> list[Table]:
    """Return a table for each attribute: representations are rows, probes are columns."""
    return [
        Table(
            f"AUC of recognising {attribute.name} on held-out rows; 0.50 is guessing, times 100 it "
            f"is how often, of 100 times, {pairs(attribute.name, several=several)} are told apart"
            f"{', on average over the groups' if several else ''}",
            ["Representation", "Columns", *map(model_name, evidence.probes)],
            [
                [
                    Cell(one.name),
                    Cell(whole(one.n_columns)),
                    *(
                        _leak(evidence.leak.get((one.key, attribute.name, probe)))
                        for probe in evidence.probes
                    ),
                ]
                for one in evidence.fitted
            ],
            {"attribute": str(position)},
        )
        for position, attribute in enumerate(evidence.audit.data.attributes)
        for several in [evidence.several(attribute.name)]
        if any(one.attribute == attribute.name for one in evidence.audit.leakage)
    ]


def _leak(leak: Leak | None) -> Cell:
    """Return an AUC with its interval and what chance reaches; marked where it is above that."""
    if leak is None:
        return Cell(NOT_MEASURED)
    return Cell(
        decimal(leak.auc.value, 3),
        (
            interval(leak.auc, digits=3),
            f"chance: up to {decimal(leak.chance, 3)}; p {p_value(leak.p_value)}",
        ),
        "above chance" if leak.above_chance else "",
        "seen" if leak.above_chance else "hidden",
    )


def _curve_tables(evidence: Evidence) -> list[Table]:
    """Return a table for each curve and attribute, one row per lambda."""
    return [
        _decided(
            evidence,
            f"{evidence.representations[curve.representation].name} at lambda, "
            f"{model_name(curve.model).lower()}",
            "Lambda",
            [([Cell(significant(point.tradeoff))], point) for point in curve.points],
            attribute,
            {"curve": str(place), "attribute": str(position)},
        )
        for place, curve in enumerate(evidence.audit.curves)
        for position, attribute in enumerate(evidence.audit.data.attributes)
    ]


def _parity_tables(evidence: Evidence) -> list[Table]:
    """Return a table for each model and attribute, one row per representation."""
    return [
        _decided(
            evidence,
            model_name(model),
            "Representation",
            [
                ([Cell(one.name), Cell(whole(one.n_columns))], found)
                for one in evidence.fitted
                if (found := evidence.downstream.get((one.key, model))
                    or evidence.downstream.get((one.key, EXISTING)))
            ],
            attribute,
            choice,
        )
        for model, attribute, choice in _models_and_attributes(evidence)
    ]  # fmt: skip


def _models_and_attributes(evidence: Evidence) -> Iterator[tuple[str, Attribute, dict[str, str]]]:
    for model in [one for one in evidence.models if one != EXISTING] or evidence.models:
        for position, attribute in enumerate(evidence.audit.data.attributes):
            yield model, attribute, {"model": model, "attribute": str(position)}


def _decided(
    evidence: Evidence,
    what: str,
    head: str,
    found: list[tuple[list[Cell], Decided]],
    attribute: Attribute,
    choice: dict[str, str],
) -> Table:
    units = Units(evidence.audit.data.target)
    rows, level_of = [], ""
    for cells, decided in found:
        parity = parity_of(decided, attribute.name)
        level_of = f" of {parity.level}" if parity and parity.level is not None else ""
        rows.append(
            [
                *cells,
                _utility(decided.utility, units),
                _gap(
                    parity.gap,
                    gap_units(evidence, getattr(decided, "representation", "")),
                    groups_compared(evidence, parity),
                )
                if parity
                else Cell(NOT_MEASURED),
                _ratio(parity.ratio if parity else None),
                *(_difference(getattr(parity, name, None)) for name in _GAPS),
                _number(parity.score_auc if parity else None),
            ]
        )
    heads = [head, "Columns"][: len(found[0][0]) if found else 1]
    return _filled(
        f"{what}: decisions{level_of} compared between the groups of {attribute.name}",
        [
            *heads,
            units.utility_name,
            units.gap_name,
            "Ratio of selection rates",
            *_GAPS.values(),
            "Groups told apart by the score, AUC",
        ],
        rows,
        choice,
    )


_GAPS = {
    "true_positive_gap": "Gap of true positive rates, points",
    "false_positive_gap": "Gap of false positive rates, points",
    "precision_gap": "Gap of precisions, points",
    "distribution_gap": "Gap of distributions, points",
}


def _group_tables(evidence: Evidence) -> list[Table]:
    """Return a table for each model and attribute, one row per group and option."""
    share = _number if Units(evidence.audit.data.target).kind == "number" else _share
    return [
        _filled(
            f"{'What' if model == EXISTING else f'{model_name(model)}: what'} each group of "
            f"{attribute.name} gets",
            ["Group", "Setting", "People", "Selected", "True positive rate",
             "False positive rate", "Precision", "Mean prediction", "Mean outcome"],
            [
                [
                    Cell(label.label, () if group.compared else ("too few to be compared",)),
                    Cell(option.name),
                    Cell(whole(group.n_rows)),
                    *(_share(one) for one in (group.selection_rate, group.true_positive_rate,
                                              group.false_positive_rate, group.precision)),
                    share(group.mean_score),
                    share(group.mean_outcome),
                ]
                for label in attribute.groups
                for option in evidence.audit.advice.options
                if (group := _group(
                    parity_of(_deciding(evidence, option, model), attribute.name), label.label))
            ],
            choice,
        )
        for model, attribute, choice in _models_and_attributes(evidence)
    ]  # fmt: skip


def _own_tables(evidence: Evidence) -> list[Table]:
    """Return what each group of the single attributes gets from models that exist, at one sight."""
    return [
        replace(table, choice={})
        for table, (model, attribute, _) in zip(
            _group_tables(evidence), _models_and_attributes(evidence), strict=True
        )
        if model == EXISTING and attribute.name in evidence.singles
    ]


def groups_compared(evidence: Evidence, found: Parity | Comparison | None) -> str:
    """Say how many groups a gap compares: always of joint ones, else where some are left out."""
    joint = isinstance(found, Parity) and found.attribute not in evidence.singles
    if found is None or (found.n_compared == found.n_groups and not joint):
        return ""
    return of_groups(found.n_compared, found.n_groups)


def _left_out_table(evidence: Evidence) -> Table:
    """Return the groups that no gap compares, with what they get before and with the advice."""
    advice = evidence.audit.advice
    options = [one for one in advice.options if one in (advice.options[0], advice.option)]
    number = Units(evidence.audit.data.target).kind == "number"
    rows = []
    for attribute in evidence.audit.data.attributes:
        found = [evidence.worst_parity(option, attribute.name) for option in options]
        for label in (one.label for one in attribute.groups):
            of = [_group(parity, label) for parity in found]
            if all(one is None or one.compared for one in of):
                continue
            rates = (one and (one.mean_score if number else one.selection_rate) for one in of)
            people = max(one.n_rows for one in of if one is not None)
            cells = [(_number if number else _share)(rate) for rate in rates]
            rows.append([Cell(attribute.name), Cell(label), Cell(whole(people)), *cells])
    what = "Mean prediction" if number else "Selected"
    heads = [f"{what}, {evidence.spoken_option(option)}" for option in options]
    return Table(
        "Groups of too few people to be compared: no gap on this page includes them",
        ["Attribute", "Group", "People", *heads],
        rows,
    )


def _deciding(evidence: Evidence, option: Option, model: str) -> Decided | None:
    """Return what a kind of model decides with a setting; what exists decides by itself."""
    return evidence.decisions(option, EXISTING) or evidence.decisions(option, model)


def _group(parity: Parity | None, label: str) -> GroupRates | None:
    groups = parity.groups if parity else []
    return next((one for one in groups if one.label == label), None)


def _certificate_tables(evidence: Evidence) -> list[Table]:
    """Return the bounds that say something in one table."""
    rows = [
        [
            Cell(evidence.representations[one.representation].name),
            Cell(one.attribute),
            Cell(decimal(100 * one.bound, 1)),
            Cell(decimal(100 * one.observed, 1)),
            Cell(level(one.confidence)),
            Cell(whole(one.n_rows)),
        ]
        for one in evidence.certified()
    ]
    heads = ["Threshold on", "Between the groups of", "At most", "Seen here", "Confidence", "Rows"]
    caption = "Largest gap of selection rates of any threshold, in points"
    return [Table(caption, heads, rows)] if rows else []


def _decider_table(evidence: Evidence) -> Table:
    """Return what each unit or level of the columns that decide adds, where a model is linear."""
    number = Units(evidence.audit.data.target).kind == "number"
    return _filled(
        "What columns add to the score of a linear model",
        ["Column", "Predictions change, sd" if number else "Decisions that change", "Adds"],
        [
            [
                Cell(one.column),
                (_number if number else _share)(one.changed),
                Cell(
                    "; ".join(f"{w.level}: {significant(w.weight)}" for w in one.weights),
                    tone="prose",
                ),
            ]
            for one in evidence.audit.decision_importance
            if one.weights
        ],
    )


def _representation_table(evidence: Evidence) -> Table:
    """Return what was compared: what each representation promises, or why it is missing."""
    return Table(
        "What was compared, what it promises and what it keeps",
        ["Representation", "What it promises", "Columns", "Variance kept", "Seconds to fit"],
        [_compared(one) for one in evidence.audit.representations],
    )


def _compared(one: Representation) -> list[Cell]:
    if one.failure:
        why = Cell(f"Could not be fitted: {one.failure}", tone="prose")
        return [Cell(one.name), why, *[Cell("")] * 3]
    return [
        Cell(one.name),
        Cell(one.guarantee, (one.note,), tone="prose"),
        Cell(whole(one.n_columns)),
        _share(one.variance_kept),
        NONE if one.fit_seconds is None else Cell(significant(one.fit_seconds)),
    ]
