"""Which setting makes decisions that hardly depend on the groups, at the least cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..metrics import joined, named, percent, points
from ._evidence import Evidence
from ._results import CurvePoint, Downstream, Parity

ENOUGH_ROWS = 100
"""Groups of fewer rows have rates too rough to choose by, unless there are no two larger ones."""

WORTH_IT = 0.005
"""A smaller gain in AUC is noise, or worth less than a smaller gap."""


@dataclass(frozen=True)
class _Option:
    key: str
    tradeoff: float | None
    gap: float
    surely: float
    accuracy: float
    auc: float


def best_to_decide(evidence: Evidence) -> tuple[str, float | None, list[str]]:
    """Of linear models whose gaps are small enough, the best; of equally good ones, the fairest.

    Of equally good ones, those with a guarantee (no lambda above 0) come first.

    Gaps are compared as they were measured: at the upper ends of their intervals, few tables have
    enough rows for any setting. The reasons say how far the gap may reach. Groups of fewer than
    100 rows do not take part: their rates would be noise that chooses.
    """
    options = _options(evidence)
    allowed = evidence.settings.max_gap
    within = [option for option in options if option.gap <= allowed]
    if within:
        enough = max(option.auc for option in within) - WORTH_IT
        as_good = [option for option in within if option.auc >= enough]
        best = min(as_good, key=lambda o: (bool(o.tradeoff), o.gap, -o.auc))
    else:
        best = min(options, key=lambda option: option.gap)
    raw = _option("raw", None, _linear(evidence, "raw"), evidence.singles)
    what = evidence.name(best.key)
    if best.tradeoff:
        what += f" at lambda = {best.tradeoff:g}"
    reasons = [
        f"With {what}, the decisions of a linear model differ by {points(best.gap)} between "
        f"groups (raw features: {points(raw.gap)}), at an AUC of {best.auc:.3f} ({raw.auc:.3f}) "
        f"and an accuracy of {percent(best.accuracy)} ({percent(raw.accuracy)})."
    ]
    parities = [p for p in _linear(evidence, "raw").parities if p.attribute in evidence.singles]
    small = sorted({name for parity in parities for name in _too_small(parity)})
    if small:
        reasons.append(
            f"Groups of fewer than {ENOUGH_ROWS} rows did not take part in this choice: "
            f"{joined([named(name) for name in small[:4]])}"
            f"{' and others' if len(small) > 4 else ''}."
        )
    limit = f"the {100 * allowed:g} points that are allowed"
    if len(within) == 1:
        reasons.append(f"Of the {len(options)} settings tried, no other stays within {limit}.")
    elif within:
        reasons.append(
            f"Of the {len(options)} settings tried, {_count(within, options)} within {limit}; of "
            f"these, none has an AUC higher by more than {WORTH_IT:g}."
        )
    else:
        reasons.append(
            f"None of the {len(options)} settings tried stays within {limit}; this one comes "
            f"nearest."
        )
    if best.surely > allowed:
        reasons.append(
            f"That is what these rows show; in the population the gap may be as large as "
            f"{points(best.surely)}."
        )
    if raw.gap <= allowed:
        reasons.append(
            "The raw features stay within that, too: for these decisions alone, nothing need be "
            "changed."
        )
    return best.key, best.tradeoff, reasons


def _options(evidence: Evidence) -> list[_Option]:
    options = [
        _option(key, None, _linear(evidence, key), evidence.singles)
        for key in evidence.fair()
        if key != "fair_pca" or not evidence.curves
    ]
    for curve in evidence.curves:
        if curve.model == "linear":
            options += [_option("fair_pca", p.tradeoff, p, evidence.singles) for p in curve.points]
    return options


def _option(
    key: str, tradeoff: float | None, found: Downstream | CurvePoint, singles: Sequence[str]
) -> _Option:
    parities = [p for p in found.parities if p.attribute in singles]
    return _Option(
        key,
        tradeoff,
        gap=max(gap_of_large_groups(p) for p in parities),
        surely=max(p.dp_gap.high for p in parities),
        accuracy=found.accuracy.value,
        auc=found.auc.value,
    )


def gap_of_large_groups(parity: Parity) -> float:
    """Return the gap between groups of enough rows; of all, where fewer than two have them."""
    rates = [g.selection_rate.value for g in parity.groups if g.label not in _too_small(parity)]
    return max(rates) - min(rates)


def _too_small(parity: Parity) -> list[str]:
    small = [group.label for group in parity.groups if group.n_rows < ENOUGH_ROWS]
    return small if len(parity.groups) - len(small) >= 2 else []


def _linear(evidence: Evidence, key: str) -> Downstream:
    return next(d for d in evidence.downstream if d.representation == key and d.model == "linear")


def _count(some: Sequence[_Option], of: Sequence[_Option]) -> str:
    return "all stay" if len(some) == len(of) else f"{len(some)} stay"
