"""What the page consists of, in which order, and the few numbers beside its summary."""

from __future__ import annotations

from dataclasses import dataclass

from ...metrics import decimal
from .._evidence import Evidence, parity_of, value_of
from .writing import model_name, percent, points


@dataclass(frozen=True)
class _Section:
    """A part of the page: its anchor and template, the question it answers, its short name."""

    key: str
    question: str
    short: str


def page_sections(evidence: Evidence) -> list[_Section]:
    """Return the sections for which there is something to show."""
    audit = evidence.audit
    wanted = [
        (audit.leakage, "leakage", "How well can a model guess who people are?", "Leakage"),
        (
            audit.curves and all(one.points for one in audit.curves),
            "tradeoff",
            "What does fairness cost in accuracy?",
            "Accuracy and fairness",
        ),
        (audit.pictures.panels, "components", "Do the groups look different?", "Components"),
        (
            any(one.ratios for one in audit.spectra),
            "variance",
            "How much of the data is kept?",
            "Variance kept",
        ),
        (audit.downstream, "parity", "Who gets a positive decision?", "Decisions by group"),
        (audit.certificates, "certificates", "What holds for every classifier?", "Certificates"),
        (audit.gaps, "gaps", "How differently are the groups distributed?", "Distributions"),
        (True, "columns", "What was in the table?", "Columns"),
        (True, "method", "How was this measured, and what is not shown?", "Method and limits"),
        (True, "reproduce", "How can this be reproduced?", "Reproduce"),
    ]
    return [_Section(*words) for measured, *words in wanted if measured]


@dataclass(frozen=True)
class _Tile:
    """One number before and after, and where they lie on a scale from 0 to 1."""

    label: str
    before: str
    after: str
    note: str
    before_at: float
    after_at: float


def summary_tiles(evidence: Evidence) -> list[_Tile]:
    """Return leakage, gap and accuracy, as far as they were measured.

    Leakage and gap are those of the attribute, intersections aside, that is worst off before.
    """
    before, after = evidence.before(), evidence.after()
    if before is None or after is None:
        return []
    tiles = [
        _worst([_leakage(evidence, before, after, name) for name in evidence.singles]),
        _worst([_gap(evidence, before, after, name) for name in evidence.singles]),
        _accuracy(evidence, before, after),
    ]
    return [tile for tile in tiles if tile]


def _worst(tiles: list[tuple[float, _Tile] | None]) -> _Tile | None:
    measured = [one for one in tiles if one]
    return max(measured, key=lambda one: one[0])[1] if measured else None


def _leakage(
    evidence: Evidence, before: str, after: str, attribute: str
) -> tuple[float, _Tile] | None:
    """Return the best probe before and after, which need not be the same."""
    read = evidence.readable_from(after)
    leaks = [evidence.leaks(key, attribute) for key in (before, read)]
    if not all(leaks):
        return None
    first, last = (max(one.auc.value for one in several) for several in leaks)
    reached = [f"{model_name(one.probe).lower()} {decimal(one.auc.value)}" for one in leaks[1]]
    return first, _Tile(
        f"AUC of guessing {attribute}, best of {len(leaks[1])} models",
        decimal(first),
        decimal(last),
        f"0.50 is guessing; after: {', '.join(reached)}"
        + ("" if read == after else ". Above lambda 0, a model that rescales its inputs reads PCA"),
        _within(2 * first - 1),
        _within(2 * last - 1),
    )


def _gap(evidence: Evidence, before: str, after: str, attribute: str) -> tuple[float, _Tile] | None:
    parities = [parity_of(evidence.decisions(key, "linear"), attribute) for key in (before, after)]
    first, last = (value_of(one.dp_gap) if one else None for one in parities)
    if first is None or last is None:
        return None
    top = max(first, last, 0.01)
    return first, _Tile(
        f"Gap of selection rates between the groups of {attribute}, linear model",
        decimal(100 * first, 1),
        points(last),
        "0 is selecting all groups at the same rate",
        _within(first / top),
        _within(last / top),
    )


def _accuracy(evidence: Evidence, before: str, after: str) -> _Tile | None:
    models = [evidence.decisions(key, "linear") for key in (before, after)]
    first, last = (value_of(one.accuracy) if one else None for one in models)
    target = evidence.audit.data.target
    if first is None or last is None or target is None:
        return None
    return _Tile(
        f"Accuracy of predicting {target.name}, linear model",
        decimal(100 * first, 1),
        percent(last),
        f"{percent(max(target.rate, 1 - target.rate))} is always saying the same; this model "
        "selects as many as are positive",
        _within(first),
        _within(last),
    )


def _within(value: float) -> float:
    return min(1.0, max(0.0, value))
