"""How the page writes numbers and models, the sentence that says what a plot shows, and the tiles.

A number and its unit stay on one line.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ... import metrics
from ...metrics import decimal
from .._evidence import Evidence, parity_of, value_of
from .._results import Estimate

UNBROKEN = "\u00a0"

MODELS = {"linear": "Linear model", "boosting": "Boosted trees", "kernel": "Kernel model"}
"""The same three models guess attributes (as probes) and predict the target."""

percent = partial(metrics.percent, space=UNBROKEN)
points = partial(metrics.points, space=UNBROKEN)


def level(value: float | None) -> str:
    """Write a level of confidence."""
    return metrics.NOT_MEASURED if value is None else f"{100 * value:g}{UNBROKEN}%"


def model_name(model: str) -> str:
    """Return what people call a probe or a downstream model."""
    return MODELS.get(model, model)


def interval(estimate: Estimate | None, scale: float = 1, digits: int = 2) -> str:
    r"""Write the confidence interval of an estimate; empty if there is none.

    >>> interval(Estimate(0.77, 0.741, 0.80), scale=100, digits=1)
    '74.1\xa0to\xa080.0'
    """
    if estimate is None or estimate.low is None or estimate.high is None:
        return ""
    ends = (decimal(scale * end, digits) for end in (estimate.low, estimate.high))
    return f"{UNBROKEN}to{UNBROKEN}".join(ends)


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
    leaks = [_leakage(evidence, before, after, name) for name in evidence.singles]
    gaps = [_gap(evidence, before, after, name) for name in evidence.singles]
    worst = [
        max(measured, key=lambda one: one[0])[1]
        for several in (leaks, gaps)
        if (measured := [one for one in several if one])
    ]
    accuracy = _accuracy(evidence, before, after)
    return [*worst, accuracy] if accuracy else worst


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
    if first is None or last is None or target is None or target.rate is None:
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
