"""The numbers of the page as tables: what remains without colours, scripts or eyes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from string import ascii_uppercase
from typing import Any

from ...metrics import PROBES
from .._changes_in_words import ChangeLine, ChangesInWords
from .._evidence import Evidence, parity_of
from .._overview import (
    FOUR_FIFTHS,
    MET,
    NOT_MET,
    NOT_SETTLED,
    Overview,
    Rates,
    status,
)
from .._phrases import NOT_MEASURED, decimal, joined, of_groups, p_value, significant, whole
from .._results import (
    EXISTING,
    Alternative,
    Attribute,
    Bounds,
    Comparison,
    CurvePoint,
    Downstream,
    Estimate,
    ExplainedGap,
    GroupRates,
    Leak,
    Option,
    Parity,
    Representation,
)
from .._since import BETTER, NO_CHANGE, NOT_COMPARED, WORSE
from .words import (
    UNBROKEN,
    Units,
    interval,
    level,
    model_name,
    percent,
)

Decided = Downstream | CurvePoint

MOST_GROUPS = 8
"""Groups on the first screen; the table of rates has all."""

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
    """Return all tables of the page by name: for some, one for each setting of the choosers."""
    overview = Overview(evidence.audit)
    return {
        "first": _first_table(overview),
        "rates": [_rates_table(overview, name) for name in evidence.singles],
        "given": _given_tables(overview),
        "options": _options_table(evidence),
        "alternatives": _alternatives_table(evidence),
        "costs": _cost_table(overview),
        "recovery": _recovery_table(overview),
        "leakage": leakage_tables(evidence),
        "parity": _parity_tables(evidence),
        "groups": _group_tables(evidence),
        "left_out": _left_out_table(evidence),
        "influence": _influence_table(evidence),
        "compared": _representation_table(evidence),
        "changed": _changed_tables(evidence),
        "all_changes": _all_changes_tables(evidence),
    }


def _first_table(overview: Overview) -> Table:
    """Return what the groups of one attribute get, in whole numbers, and the gaps of all."""
    shown = overview.columns()
    rates = overview.rates(overview.attribute)
    rows = [
        [
            Cell(line.label, (f"{whole(line.n_people)} people",)),
            *(Cell(_rate_text(rate, overview)) for rate in line.rates),
        ]
        for line in [one for one in rates.groups if one.compared][:MOST_GROUPS]
    ]
    label = overview.label(rates.attribute)
    rows.append([Cell(f"Largest gap by {label}", tone="total"), *_gap_cells(rates, overview)])
    scale, digits = (1, 2) if overview.number else (100, 0)
    for name, parts in _parts(rates, overview.factors, scale, digits):
        rows.append([Cell(name, tone="other"), *(_part_cell(one, overview) for one in parts)])
    if any(rates.ratios):
        heading = Cell("Four-fifths ratio", ("at least 0.80",), tone="ratio")
        rows.append([heading, *map(_first_ratio, rates.ratios)])
    for name in overview.evidence.singles:
        if name != rates.attribute:
            cells = _gap_cells(overview.rates(name), overview)
            rows.append([Cell(f"Gap by {overview.label(name)}", tone="other"), *cells])
    what = "Mean prediction" if overview.number else f"{overview.selected.capitalize()}, of 100"
    return _filled(f"{what}, by {label}", [what, *(one.head for one in shown)], rows)


def _parts(
    rates: Rates, factors: str, scale: float, digits: int
) -> list[tuple[str, list[Estimate | None]]]:
    """Return what factors explain of each gap and what they do not, by the name of the row.

    Where a gap allows for the sampling error of the fit to all rows, the parts are those of the
    difference of the rates, which comes first.
    """
    found = [one for one in rates.explained if one is not None]
    if not found:
        return []
    names = {"explained": f"explained by {factors}", "unexplained": "not explained"}
    pairs = zip(rates.gaps, rates.explained, strict=True)
    ends = [(gap.value, of.difference.value) for gap, of in pairs if gap and of]
    if any(decimal(scale * a, digits) != decimal(scale * b, digits) for a, b in ends):
        names = {"difference": "difference of the rates shown", **names}
    if any(one.most_alone for one in found):
        names["unmatched"] = "of people without a counterpart"
    return [
        (row, [None if one is None else getattr(one, name) for one in rates.explained])
        for name, row in names.items()
    ]


def _part_cell(part: Estimate | None, overview: Overview) -> Cell:
    units, digits = Units(overview.target), 2 if overview.number else 0
    if part is None:
        return NONE
    return Cell(decimal(units.scale * part.value, digits), (interval(part, units.scale, digits),))


def _given_tables(overview: Overview) -> list[Table]:
    """Return, for each attribute, the gap of each column in what factors explain, and the rest."""
    if not overview.factors:
        return []
    units, tables = Units(overview.target), []
    shown = [one for one in overview.columns() if one.option]
    for name in overview.evidence.singles:
        rates = overview.rates(name)
        kept = [place for place, one in enumerate(overview.columns()) if one.option]
        parts = _parts(rates, overview.factors, units.scale, units.digits)
        rows = [("Largest gap", rates.gaps), *parts]
        cells = [
            [Cell(row.capitalize(), tone="" if place else "total")]
            + [_gap(of[k], units) if of[k] else NONE for k in kept]
            for place, (row, of) in enumerate(rows)
        ]
        alone = [_alone(rates.explained[k]) for k in kept]
        if any(cell != NONE for cell in alone):
            cells.append([Cell("People without a counterpart"), *alone])
        heads = [overview.label(name), *(one.head for one in shown)]
        if parts:
            tables.append(_filled(f"Gap by {overview.label(name)}, split", heads, cells))
    return tables


def _alone(found: ExplainedGap | None) -> Cell:
    """Return the shares of people whose factors nobody of the other group has."""
    if found is None or not found.most_alone:
        return NONE
    shares = {found.higher: found.higher_alone, found.lower: found.lower_alone}
    return Cell(", ".join(f"{percent(share, 0)} of {group}" for group, share in shares.items()))


def _rate_text(rate: Estimate | None, overview: Overview) -> str:
    if rate is None:
        return NONE.text
    return significant(rate.value) if overview.number else decimal(100 * rate.value, 0)


def _gap_cells(rates: Rates, overview: Overview) -> list[Cell]:
    """Return gaps in whole points, with the interval where one is known, and the verdict."""
    limit, units = overview.settings.max_gap, Units(overview.target)
    digits = 2 if overview.number else 0
    cells = []
    for shown, gap in zip(overview.columns(), rates.gaps, strict=True):
        if gap is None:
            cells.append(NONE)
            continue
        text = decimal(units.scale * gap.value, digits)
        if shown.option is None or not overview.has_limit:
            cells.append(Cell(text))
            continue
        state = status(gap, limit)
        ends = interval(gap, units.scale, digits)
        cells.append(Cell(text, (ends,), state, TONES[state]))
    return cells


def _first_ratio(ratio: Estimate | None) -> Cell:
    if ratio is None:
        return NONE
    fails = ratio.value < FOUR_FIFTHS
    ends = () if ratio.low == ratio.high else (interval(ratio),)
    return Cell(decimal(ratio.value), ends, "below 0.80" if fails else "", "seen" if fails else "")


TONES = {MET: "hidden", NOT_MET: "seen", NOT_SETTLED: "open"}
"""How verdicts look."""


def _rates_table(overview: Overview, attribute: str) -> Table:
    """Return what each group of an attribute gets, with intervals, and whom it moves."""
    rates, shown = overview.rates(attribute), overview.columns()
    share = _number if overview.number else _share
    rows = []
    for line in rates.groups:
        few = () if line.compared else ("too few people to compare",)
        more = (
            NONE if line.more is None else Cell(f"{line.more:+,.0f}".replace("-", "\N{MINUS SIGN}"))
        )
        cells = [
            share(rate) if one.option else _plain(share(rate))
            for one, rate in zip(shown, line.rates, strict=True)
        ]
        rows.append([Cell(line.label, few), Cell(whole(line.n_people)), *cells, more])
    units = Units(overview.target)
    for name, cells in (
        ("Largest gap", [_gap(gap, units) if gap else NONE for gap in rates.gaps]),
        ("Four-fifths ratio", [_ratio(one) for one in rates.ratios]),
    ):
        past = [
            cell if one.option else _plain(cell) for one, cell in zip(shown, cells, strict=True)
        ]
        if any(cell != NONE for cell in cells):
            rows.append([Cell(name, tone="total"), Cell(""), *past, NONE])
    if any(rates.bounds):
        n_unknown = max(one.n_unknown for one in rates.bounds if one)
        why = [f"with {whole(n_unknown)} people of unknown group"] if n_unknown else []
        if any(one.n_probable for one in rates.bounds if one):
            why.append("if probabilities are calibrated")
        possible = [_possible(one, units) for one in rates.bounds]
        rows.append([Cell("Gap possible", tuple(why)), Cell(""), *possible, NONE])
    what = "Mean prediction" if overview.number else f"Share {overview.selected}"
    return _filled(
        f"{what} by {overview.label(attribute)}",
        ["Group", "People", *(one.head for one in shown), "Change in people"],
        rows,
    )


def _possible(bounds: Bounds | None, units: Units) -> Cell:
    """Return the bounds of a gap, and below them these with their sampling error."""
    if bounds is None:
        return NONE
    whole_ends = Estimate(bounds.largest, bounds.low, bounds.high)
    text = f"{units.bare_gap(bounds.smallest)} to {units.gap(bounds.largest)}"
    return Cell(text, (interval(whole_ends, units.scale, units.digits),))


def _plain(cell: Cell) -> Cell:
    """Return a number of the table itself, which has no interval."""
    return replace(cell, details=())


def _cost_table(overview: Overview) -> Table:
    """Return what the recommended option costs each group: precision and calibration."""
    share = _number if overview.number else _share
    return _filled(
        f"By {overview.label(overview.attribute)}, before (all columns) and after "
        f"({overview.evidence.spoken_option(overview.recommended)})"
        if overview.recommended
        else "",
        [
            "Group",
            "Precision before",
            "Precision after",
            "Mean prediction before",
            "Mean prediction after",
            "Mean outcome",
        ],
        [
            [
                Cell(cost.label),
                *map(_share, cost.precision),
                *map(share, cost.mean_score),
                share(cost.mean_outcome),
            ]
            for cost in overview.costs()
        ],
    )


def _recovery_table(overview: Overview) -> Table:
    """Return how well each attribute is predicted, from what, and by which proxies."""
    options = list(overview.advice.options)
    shown = [o for o in options if o in (overview.today, overview.raw, overview.recommended)]
    return _filled(
        "AUC for predicting each attribute on held-out data, by the best probe (0.50 is chance; "
        "more than two groups: mean of each against the rest)",
        ["Attribute", *(one.name for one in shown), "Strongest proxies"],
        [
            [
                Cell(overview.label(name)),
                *(_recovered(overview.leak(one, name)) for one in shown),
                Cell(", ".join(overview.proxies(name)) or NONE.text, tone="prose"),
            ]
            for name in overview.evidence.singles
        ],
    )


def _recovered(leak: Leak | None) -> Cell:
    if leak is None:
        return NONE
    mark, tone = ("above chance", "seen") if leak.above_chance else ("at chance", "hidden")
    return Cell(decimal(leak.auc.value), (interval(leak.auc),), mark, tone)


def badge(evidence: Evidence, option: Option) -> str:
    """Return what an option is to the reader, in a word or two."""
    advice = evidence.audit.advice
    if evidence.audit.advice.option is option:
        return "recommended"
    if option.name in advice.ties:
        return "tied"
    return {"features": "as it is", "score": "yours", "decision": "yours"}.get(
        evidence.representations[option.representation].kind, ""
    )


def _options_table(evidence: Evidence) -> Table:
    """Return what can be done, one row per option."""
    units = Units(evidence.audit.data.target)
    own = {one.name for one in evidence.fitted if one.kind in ("score", "decision")}
    measured = evidence.audit.advice.verdict == "only measured"
    rows = []
    for place, option in enumerate(evidence.audit.advice.options):
        chosen = ("",)
        if option.name not in own and place and not measured:
            chosen = (f"selected in {percent(option.selection_frequency, 0)} of resamples",)
        rows.append(
            [
                Cell(
                    option.name,
                    ("" if option.name in own else columns(option.n_columns or 1), *chosen),
                    badge(evidence, option),
                    LETTERS[place],
                ),
                _widest_gap(evidence, option, gap_units(evidence, option.representation)),
                _ratio(option.ratio),
                _utility(option.utility, units),
                _neighbours(evidence, option),
                _worst_leak(evidence, option),
            ]
        )
    return _filled(
        f"Options with {level(evidence.audit.settings.confidence)} confidence intervals",
        [
            "Option",
            units.gap_name,
            "Four-fifths ratio",
            units.accuracy_name,
            "Neighbours kept",
            "Attribute recovery (AUC)",
        ],
        rows,
    )


def _widest_gap(evidence: Evidence, found: Option | Alternative, units: Units) -> Cell:
    return _gap(
        found.gap,
        units,
        f"by {evidence.attribute_label(found.gap_attribute)}" if found.gap_attribute else "",
        groups_compared(evidence, found.gap_groups),
    )


def _worst_leak(evidence: Evidence, found: Option | Alternative) -> Cell:
    if found.leak is None:
        return NONE
    mark, tone = ("above chance", "seen") if found.leak_above_chance else ("at chance", "hidden")
    whose = evidence.attribute_label(str(found.leak_attribute))
    return Cell(decimal(found.leak.value), (interval(found.leak), whose), mark, tone)


def _alternatives_table(evidence: Evidence) -> Table:
    """Return plain alternatives below the raw features and the recommended option."""
    units, advice = Units(evidence.audit.data.target), evidence.audit.advice
    rows = []
    for place, option in enumerate(advice.options):
        if evidence.representations[option.representation].kind == "features" or (
            option is advice.option
        ):
            name = Cell(
                option.name,
                (columns(option.n_columns or 1),),
                badge(evidence, option),
                LETTERS[place],
            )
            rows.append([name, Cell("no"), *_compared_numbers(evidence, option, units)])
    for one in evidence.audit.alternatives or []:
        if one.failure is None:
            name = Cell(one.name, tuple(_about(evidence, one)))
            needs = Cell("yes" if one.needs_attribute else "no")
            rows.append([name, needs, *_compared_numbers(evidence, one, units)])
    return _filled(
        f"Plain alternatives with {level(evidence.audit.settings.confidence)} confidence intervals",
        [
            "Method",
            "Needs the attribute to decide",
            units.gap_name,
            "Four-fifths ratio",
            units.accuracy_name,
            "Attribute recovery (AUC)",
        ],
        rows,
    )


def _compared_numbers(
    evidence: Evidence, found: Option | Alternative, units: Units
) -> tuple[Cell, ...]:
    return (
        _widest_gap(evidence, found, units),
        _ratio(found.ratio),
        _utility(found.utility, units),
        _worst_leak(evidence, found),
    )


def _about(evidence: Evidence, one: Alternative) -> Iterator[str]:
    """Yield what is to be known of an alternative beside its numbers."""
    if one.left_out:
        shown = [evidence.attribute_label(name) for name in one.left_out[:_MOST_LEFT_OUT]]
        rest = len(one.left_out) - len(shown)
        yield f"without {joined([*shown, *([f'{rest} more'] if rest else [])])}"
    if one.selected is not None:
        yield f"selects {percent(one.selected)}"
    if one.randomised:
        yield "by lottery"
    if len(one.models) == 1:
        yield f"{PROBES[one.models[0].model].several} only"


_MOST_LEFT_OUT = 5


def columns(count: int | None) -> str:
    """Write how many columns there are."""
    return "1 column" if count == 1 else f"{whole(count)} columns"


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
        "below 0.80" if low else "",
        "seen" if low else "",
    )


def _neighbours(evidence: Evidence, option: Option) -> Cell:
    """Return the share of nearest neighbours that an option keeps; of a blend nobody knows."""
    shown = evidence.representations[option.representation]
    return _share(None if option.tradeoff else shown.neighbours_kept)


def _utility(estimate: Estimate | None, units: Units) -> Cell:
    if estimate is None:
        return NONE
    if units.kind == "none":
        return _share(estimate)
    return Cell(units.utility(estimate.value), (interval(estimate),))


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
            f"AUC for predicting {evidence.attribute_label(attribute.name)} on held-out data; "
            "0.50 is chance"
            f"{'; mean of each group against the rest' if several else ''}",
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
        "above chance" if leak.above_chance else "at chance",
        "seen" if leak.above_chance else "hidden",
    )


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
        f"{what}: decisions{level_of} compared by {evidence.attribute_label(attribute.name)}",
        [
            *heads,
            units.utility_name,
            units.gap_name,
            "Four-fifths ratio",
            *_GAPS.values(),
            "Groups ranked by the score, AUC",
        ],
        rows,
        choice,
    )


_GAPS = {
    "true_positive_gap": "Gap in true positive rates, points",
    "false_positive_gap": "Gap in false positive rates, points",
    "precision_gap": "Gap in precision, points",
    "distribution_gap": "Gap in distributions, points",
}


def _group_tables(evidence: Evidence) -> list[Table]:
    """Return a table for each model and attribute, one row per group and option."""
    share = _number if Units(evidence.audit.data.target).kind == "number" else _share
    return [
        _filled(
            f"{model_name(model)}: rates by {evidence.attribute_label(attribute.name)}",
            ["Group", "Option", "People", "Selected", "True positive rate",
             "False positive rate", "Precision", "Mean prediction", "Mean outcome"],
            [
                [
                    Cell(label.label, () if group.compared else ("too few people to compare",)),
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


def groups_compared(evidence: Evidence, found: Parity | Comparison | None) -> str:
    """Say how many groups a gap compares: always of joint ones, else where some are left out."""
    joint = isinstance(found, Parity) and found.attribute not in evidence.singles
    if found is None or (found.n_compared == found.n_groups and not joint):
        return ""
    return of_groups(found.n_compared, found.n_groups)


def _left_out_table(evidence: Evidence) -> Table:
    """Return the groups that no gap compares, with their rates before and as recommended."""
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
            name = evidence.attribute_label(attribute.name)
            rows.append([Cell(name), Cell(label), Cell(whole(people)), *cells])
    what = "Mean prediction" if number else "Selected"
    heads = [f"{what}, {evidence.spoken_option(option)}" for option in options]
    return Table(
        "Groups with too few people to compare: no gap in this report includes them",
        ["Attribute", "Group", "People", *heads],
        rows,
    )


def _deciding(evidence: Evidence, option: Option, model: str) -> Decided | None:
    """Return what a model family decides with an option; what exists decides by itself."""
    return evidence.decisions(option, EXISTING) or evidence.decisions(option, model)


def _group(parity: Parity | None, label: str) -> GroupRates | None:
    groups = parity.groups if parity else []
    return next((one for one in groups if one.label == label), None)


def _influence_table(evidence: Evidence) -> Table:
    """Return what each unit or level of a column adds, where a model is linear."""
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


def _changed_tables(evidence: Evidence) -> list[Table]:
    """Return what changed since an earlier audit beyond chance, if anything did."""
    if evidence.audit.changes is None:
        return []
    lines = ChangesInWords(evidence.audit).significant
    return [_change_table("What changed beyond chance", lines)] if lines else []


def _all_changes_tables(evidence: Evidence) -> list[Table]:
    """Return every number of both audits with its z score."""
    if evidence.audit.changes is None:
        return []
    lines = ChangesInWords(evidence.audit).all_lines
    return [_change_table("All numbers of both audits", lines)] if lines else []


def _change_table(caption: str, lines: list[ChangeLine]) -> Table:
    rows = [
        [
            Cell(one.what, (one.of,)),
            Cell(one.before),
            Cell(one.now),
            Cell(
                one.difference or NONE.text,
                (one.interval, one.reason),
                "" if one.verdict in (NO_CHANGE, NOT_COMPARED) else one.verdict,
                {WORSE: "seen", BETTER: "hidden"}.get(one.verdict, "open"),
            ),
            Cell(one.z or NONE.text),
        ]
        for one in lines
    ]
    return Table(caption, ["Number", "Before", "Now", "Change", "z"], rows)


def _representation_table(evidence: Evidence) -> Table:
    """Return what was compared: what each representation guarantees, or why it is missing."""
    shown = evidence.audit.representations
    more = ["Neighbours kept"] if any(one.neighbours_kept for one in shown) else []
    return Table(
        "What was compared, what each method guarantees on training data, and what it keeps",
        ["Representation", "What it guarantees", "Columns", "Variance kept", *more],
        [_compared(one)[: 4 + len(more)] for one in shown],
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
        _share(one.neighbours_kept),
    ]
