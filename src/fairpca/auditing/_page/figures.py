"""What the page draws of an audit: options, what is given away, trade-offs and columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from .._evidence import Evidence, largest, parity_of
from .._phrases import decimal, p_value, significant
from .._results import (
    Curve,
    CurvePoint,
    DecisionImportance,
    Estimate,
    Option,
    ProxyImportance,
    Representation,
)
from .drawing import CIRCLE, DIAMOND, SQUARE, Frame, Mark, Row, draw_plane, draw_rows, drawings
from .tables import LETTERS, badge, columns, gap_units, groups_compared
from .words import SPOKEN, Units, interval, model_name, of_a_hundred, recognised

MOST_ROWS = 10
"""Columns of the table that a figure shows; the audit has all."""

SHAPES = (CIRCLE, SQUARE, DIAMOND)
"""Of the probes."""


@dataclass(frozen=True)
class Entry:
    """An entry of a legend: its words, and the classes and shape of the marks it is about."""

    words: str
    mark: str
    shape: str


@dataclass(frozen=True)
class Figure:
    """A plot: for which settings of the choosers it is shown, both drawings, and its legend."""

    choice: dict[str, str]
    finding: str
    drawings: dict[str, str]
    key: list[Entry] = field(default_factory=list)


OPTIONS = {
    "recommended": Entry("recommended", "mark advised", CIRCLE),
    "one of a tie": Entry("cannot be told apart: take any", "mark advised", CIRCLE),
    "": Entry("another setting", "mark offered", CIRCLE),
    "as it is": Entry("the raw features", "mark raw", SQUARE),
    "yours": Entry("your own score or decision", "mark own", DIAMOND),
}
"""How options look, by what they are to the reader."""


def page_figures(evidence: Evidence) -> dict[str, list[Figure]]:
    """Return every plot of the page by name, for all choices of the reader."""
    return {
        "options": _options_figure(evidence),
        "leakage": list(_leakage_figures(evidence)),
        "curves": list(_curve_figures(evidence)),
        "carriers": list(_carrier_figures(evidence)),
        "deciders": _decider_figure(evidence),
    }


def _options_figure(evidence: Evidence) -> list[Figure]:
    """Return what can be done: gap (or what is recognised) against utility."""
    units, settings = Units(evidence.audit.data.target), evidence.audit.settings
    if not evidence.audit.data.n_features:
        return []  # what exists stands alone: its table says all
    decides = settings.aim == "decide" and units.target is not None
    marks, badges = [], []
    for place, option in enumerate(evidence.audit.advice.options):
        x = _scaled(option.gap, units.scale) if decides else _scaled(option.leak, 1)
        in_points = gap_units(evidence, option.representation).scale != units.scale
        if x is None or (decides and in_points):
            continue  # decisions have no place among predicted numbers
        badges.append(badge(evidence, option))
        look = OPTIONS[badges[-1]]
        marks.append(
            Mark(
                x,
                _option_words(option, units),
                look.mark.removeprefix("mark "),
                look.shape,
                y=_scaled(option.utility, 1 if units.target else 100),
                label=LETTERS[place],
            )
        )
    if not marks:
        return []
    key = [look for name, look in OPTIONS.items() if name in badges]
    limit = units.scale * settings.max_gap if decides else None
    if limit is not None:
        key.append(Entry("the gap that you allow", "limit", "M0 -7v14"))
    frame = Frame(
        "What can be done",
        " ".join(f"{mark.hover}." for mark in marks),
        units.gap_axis if decides else "AUC of recognising who people are (left hides more)",
        f"{units.utility_name}{'' if units.target else ', %'} (up is more useful)",
        limit=limit,
        limit_words=f"allowed: {units.gap(settings.max_gap)}",
    )
    return [Figure({}, "", drawings(draw_plane, marks, frame), key)]


def _scaled(one: Estimate | None, scale: float) -> Estimate | None:
    """Return an estimate in other units."""
    if one is None:
        return None
    return Estimate(scale * one.value, scale * one.low, scale * one.high)


def _option_words(option: Option, units: Units) -> str:
    said = [option.name]
    if option.gap:
        ends = interval(option.gap, units.scale, units.digits)
        whose = f" between groups of {option.gap_attribute}"
        said.append(f"{units.gap_name.lower()} {units.gap(option.gap.value)} ({ends}){whose}")
    if option.utility:
        said.append(f"{units.utility_name} {units.utility(option.utility.value)}")
    return ", ".join([*said, f"recognised with AUC {decimal(option.leak.value)}"])


def _leakage_figures(evidence: Evidence) -> Iterator[Figure]:
    """Return a dot plot for each attribute: representations are rows, probes are marks."""
    key = [
        Entry(model_name(probe), f"mark series-{place + 1}", SHAPES[place % 3])
        for place, probe in enumerate(evidence.probes)
    ]
    key.append(Entry("what chance reaches", "chance", "M-10 0h20"))
    for position, attribute in enumerate(evidence.audit.data.attributes):
        rows = [
            Row(one.name, columns(one.n_columns), marks)
            for one in evidence.fitted
            if (marks := list(_probe_marks(evidence, one, attribute.name)))
        ]
        if rows:
            finding = _leakage_finding(evidence, attribute.name)
            title = f"How well models recognise {attribute.name}"
            frame = Frame(title, finding, "AUC; 0.50 is guessing", origin=0.5)
            yield Figure(
                {"attribute": str(position)}, finding, drawings(draw_rows, rows, frame), key
            )


def _probe_marks(evidence: Evidence, one: Representation, attribute: str) -> Iterator[Mark]:
    for place, probe in enumerate(evidence.probes):
        leak = evidence.leak.get((one.key, attribute, probe))
        if leak is None:
            continue
        hover = (
            f"{one.name}, {model_name(probe).lower()}: AUC {decimal(leak.auc.value, 3)} "
            f"({interval(leak.auc, digits=3)}); chance: up to {decimal(leak.chance, 3)}; "
            f"p {p_value(leak.p_value)}: "
            + ("above chance" if leak.above_chance else "not told from chance")
        )
        yield Mark(leak.auc, hover, f"series-{place + 1}", SHAPES[place % 3], leak.chance)


def _leakage_finding(evidence: Evidence, attribute: str) -> str:
    """Say how well the best probe recognises an attribute, before and after."""
    leaks, option = evidence.leaks("raw", attribute), evidence.audit.advice.option
    if not leaks:
        return f"How well models recognise {attribute}."
    best = largest(leaks)
    words = recognised(attribute, best.auc.value, several=evidence.several(attribute))
    said = (
        f"From the raw features, {SPOKEN.get(best.probe, best.probe)} recognises {attribute} with "
        f"AUC {decimal(best.auc.value)}: {words}"
    )
    if option and (leaks := evidence.leaks(evidence.readable(option), attribute)):
        left = largest(leaks)
        seen = "still above chance" if left.above_chance else "which cannot be told from chance"
        said += (
            f". With {option.name} the best probe reaches {decimal(left.auc.value)} "
            f"({of_a_hundred(left.auc.value)}), {seen}"
        )
    return f"{said}."


def _carrier_figures(evidence: Evidence) -> Iterator[Figure]:
    """Return bars for each attribute: the columns without which it is recognised less."""
    for position, name in enumerate(evidence.singles):
        found = [one for one in evidence.audit.proxy_importance if one.attribute == name]
        carried = evidence.carried(name)
        words = (
            f"{name} is carried most by {', '.join(carried[:3])}."
            if carried
            else f"No single column is needed to recognise {name}: what one says, others say, too."
        )
        rows = [_bar(one, one.auc_drop) for one in found][:MOST_ROWS]
        frame = Frame(f"Columns that carry {name}", words, "AUC lost when the column is shuffled")
        if rows:
            yield Figure({"attribute": str(position)}, words, drawings(draw_rows, rows, frame))


def _decider_figure(evidence: Evidence) -> list[Figure]:
    """Return bars: the columns without which the recommended model decides differently."""
    found = evidence.audit.decision_importance
    rows = [_bar(one, one.changed) for one in found][:MOST_ROWS]
    words = f"What decides most: {', '.join(row.name for row in rows[:3])}."
    axis = (
        "mean change of predictions when the column is shuffled, in standard deviations"
        if Units(evidence.audit.data.target).kind == "number"
        else "share of decisions that change when the column is shuffled"
    )
    frame = Frame("Columns that decide", words, axis)
    return [Figure({}, words, drawings(draw_rows, rows, frame))] if rows else []


def _bar(one: ProxyImportance | DecisionImportance, estimate: Estimate) -> Row:
    hover = f"{one.column}: {decimal(estimate.value, 3)} ({interval(estimate, digits=3)})"
    return Row(one.column, "", [Mark(estimate, hover, "series-1")])


def _curve_figures(evidence: Evidence) -> Iterator[Figure]:
    """Return a line over all lambdas for each curve and attribute."""
    units = Units(evidence.audit.data.target)
    for (place, curve), (position, attribute) in product(
        enumerate(evidence.audit.curves), enumerate(evidence.audit.data.attributes)
    ):
        marks = [
            mark
            for point in curve.points
            if (mark := _curve_mark(evidence, curve, point, attribute.name, units))
        ]
        if not marks:
            continue
        name = evidence.representations[curve.representation].name
        frame = Frame(
            f"{name} at every lambda, {model_name(curve.model).lower()}, {attribute.name}",
            f"From {marks[0].hover} to {marks[-1].hover}.",
            units.gap_axis,
            f"{units.utility_name} (up is more useful)",
            joined=True,
        )
        key = [Entry(f"{name} and lambda", "mark offered", CIRCLE)]
        if any(mark.look == "advised" for mark in marks):
            key.append(OPTIONS["recommended"])
        yield Figure(
            {"curve": str(place), "attribute": str(position)},
            f"At {marks[0].hover}; at {marks[-1].hover}.",
            drawings(draw_plane, marks, frame),
            key,
        )


def _curve_mark(
    evidence: Evidence, curve: Curve, point: CurvePoint, attribute: str, units: Units
) -> Mark | None:
    parity, advised = parity_of(point, attribute), evidence.audit.advice.option
    gap = _scaled(parity.gap, units.scale) if parity else None
    if parity is None or parity.gap is None or gap is None:
        return None
    taken = bool(
        point.tradeoff
        and advised
        and (curve.representation, point.tradeoff) == (advised.representation, advised.tradeoff)
    )
    text = f"lambda {significant(point.tradeoff)}"
    compared = f" ({counted})" if (counted := groups_compared(evidence, parity)) else ""
    hover = (
        f"{text}: {units.gap_name.lower()} {units.gap(parity.gap.value)}{compared}, "
        f"{units.utility_name} "
        f"{units.utility(point.utility.value)}"
    )
    label = text if taken or point in (curve.points[0], curve.points[-1]) else ""
    look = "advised" if taken else "offered"
    return Mark(gap, hover, look, CIRCLE, y=point.utility, label=label)
