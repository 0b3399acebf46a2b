"""What the page draws of an audit: options, leakage, proxies and influential columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .._evidence import Evidence, largest
from .._phrases import decimal, p_value
from .._results import (
    DecisionImportance,
    Estimate,
    Option,
    ProxyImportance,
    Representation,
)
from .drawing import CIRCLE, DIAMOND, SQUARE, Frame, Mark, Row, draw_plane, draw_rows, drawings
from .tables import LETTERS, badge, columns, gap_units
from .words import Units, interval, model_name

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
    "recommended": Entry("recommended", "mark recommended", CIRCLE),
    "tied": Entry("not significantly different from it", "mark offered tied", CIRCLE),
    "": Entry("another option", "mark offered", CIRCLE),
    "as it is": Entry("all columns", "mark raw", SQUARE),
    "yours": Entry("your own score or decision", "mark own", DIAMOND),
}
"""How options look, by what they are to the reader."""


def page_figures(evidence: Evidence) -> dict[str, list[Figure]]:
    """Return every plot of the page by name, for all choices of the reader."""
    return {
        "options": _options_figure(evidence),
        "leakage": list(_leakage_figures(evidence)),
        "proxies": list(_proxy_figures(evidence)),
        "influence": _influence_figure(evidence),
    }


def _options_figure(evidence: Evidence) -> list[Figure]:
    """Return what can be done: gap (or leakage) against accuracy."""
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
                _option_words(evidence, option, units),
                look.mark.removeprefix("mark "),
                look.shape,
                y=_scaled(option.utility, 1 if units.target else 100),
                label=f"{LETTERS[place]} {option.name}",
            )
        )
    if not marks:
        return []
    key = [look for name, look in OPTIONS.items() if name in badges]
    limit = units.scale * settings.max_gap if decides else None
    if limit is not None:
        key.append(Entry("your limit", "limit", "M0 -7v14"))
    frame = Frame(
        "Options",
        " ".join(f"{mark.hover}." for mark in marks),
        units.gap_axis if decides else "attribute recovery, AUC (left hides more)",
        f"{units.accuracy_name}{'' if units.target else ', %'} (up is better)",
        limit=limit,
        limit_words=f"limit: {units.limit(settings.max_gap)}",
    )
    return [Figure({}, "", drawings(draw_plane, marks, frame), key)]


def _scaled(one: Estimate | None, scale: float) -> Estimate | None:
    """Return an estimate in other units."""
    if one is None:
        return None
    return Estimate(scale * one.value, scale * one.low, scale * one.high)


def _option_words(evidence: Evidence, option: Option, units: Units) -> str:
    said = [option.name]
    if option.gap:
        ends = interval(option.gap, units.scale, units.digits)
        whose = f" by {evidence.attribute_label(option.gap_attribute or '')}"
        said.append(f"{units.gap_name.lower()} {units.gap(option.gap.value)} ({ends}){whose}")
    if option.utility:
        said.append(f"{units.utility_name} {units.utility(option.utility.value)}")
    return ", ".join([*said, f"attribute recovery AUC {decimal(option.leak.value)}"])


def _leakage_figures(evidence: Evidence) -> Iterator[Figure]:
    """Return a dot plot for each attribute: representations are rows, probes are marks."""
    key = [
        Entry(model_name(probe), f"mark series-{place + 1}", SHAPES[place % 3])
        for place, probe in enumerate(evidence.probes)
    ]
    key.append(Entry("chance level", "chance", "M-10 0h20"))
    for position, attribute in enumerate(evidence.audit.data.attributes):
        rows = [
            Row(one.name, columns(one.n_columns), marks)
            for one in evidence.fitted
            if (marks := list(_probe_marks(evidence, one, attribute.name)))
        ]
        if rows:
            finding = _leakage_finding(evidence, attribute.name)
            title = f"How well models predict {evidence.attribute_label(attribute.name)}"
            frame = Frame(title, finding, "AUC; 0.50 is chance", origin=0.5)
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
            f"p {p_value(leak.p_value)}: " + ("above chance" if leak.above_chance else "at chance")
        )
        yield Mark(leak.auc, hover, f"series-{place + 1}", SHAPES[place % 3], leak.chance)


def _leakage_finding(evidence: Evidence, attribute: str) -> str:
    """Say how well the best probe predicts an attribute, before and after."""
    leaks, option = evidence.leaks("raw", attribute), evidence.audit.advice.option
    label = evidence.attribute_label(attribute)
    if not leaks:
        return f"How well models predict {label}."
    best = largest(leaks)
    said = f"From all columns, {label} can be predicted with AUC {decimal(best.auc.value)}"
    if option and (leaks := evidence.leaks(evidence.readable(option), attribute)):
        left = largest(leaks)
        seen = "significantly above chance" if left.above_chance else "not significant"
        said += f"; with {evidence.spoken_option(option)} {decimal(left.auc.value)}, {seen}"
    return f"{said}."


def _proxy_figures(evidence: Evidence) -> Iterator[Figure]:
    """Return a dot for each column without which an attribute is predicted less well."""
    for position, name in enumerate(evidence.singles):
        if evidence.only_vectors:
            break
        found = [one for one in evidence.audit.proxy_importance if one.attribute == name]
        strongest = [evidence.label(one) for one in evidence.proxies(name)[:3]]
        label = evidence.attribute_label(name)
        words = (
            f"Strongest proxies for {label}: {', '.join(strongest)}."
            if strongest
            else f"No single column is a significant proxy for {label}: others carry the same."
        )
        rows = [_row(evidence, one, one.auc_drop) for one in found][:MOST_ROWS]
        frame = Frame(f"Proxies for {label}", words, "AUC lost when the column is shuffled")
        if rows:
            yield Figure({"attribute": str(position)}, words, drawings(draw_rows, rows, frame))


def _influence_figure(evidence: Evidence) -> list[Figure]:
    """Return a dot for each column without which the recommended model decides differently."""
    found, number = (
        [] if evidence.only_vectors else evidence.audit.decision_importance,
        Units(evidence.audit.data.target).kind == "number",
    )
    scale = 1 if number else 100
    rows = [_row(evidence, one, _scaled(one.changed, scale), scale) for one in found][:MOST_ROWS]
    words = f"Most influential: {', '.join(row.name for row in rows[:3])}."
    axis = (
        "mean change of predictions when the column is shuffled, in standard deviations"
        if number
        else "decisions that change when the column is shuffled, %"
    )
    frame = Frame("Most influential features", words, axis)
    return [Figure({}, words, drawings(draw_rows, rows, frame))] if rows else []


def _row(
    evidence: Evidence,
    one: ProxyImportance | DecisionImportance,
    estimate: Estimate | None,
    scale: int = 1,
) -> Row:
    assert estimate is not None
    digits = 3 if scale == 1 else 1
    name = evidence.label(one.column)
    hover = f"{name}: {decimal(estimate.value, digits)} ({interval(estimate, digits=digits)})"
    return Row(name, "", [Mark(estimate, hover, "series-1", CIRCLE)])
