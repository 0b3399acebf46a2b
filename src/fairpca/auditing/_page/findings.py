"""What each plot shows, in a sentence: the caption, and the text for those who do not see it."""

from __future__ import annotations

import math
from collections import defaultdict

from ...metrics import decimal, joined, significant
from .._evidence import Evidence, parity_of, value_of
from .._results import Curve, CurvePoint, Downstream, Leak, Panel, PanelGroups, Parity
from .writing import model_name, percent, points


def leakage_finding(evidence: Evidence, attribute: str) -> str:
    """Say how well the best probe guesses an attribute, before and after."""
    before, after = evidence.before(), evidence.after()
    found = []
    if before and (best := _best(evidence, before, attribute)):
        found.append(
            f"From {evidence.spoken(before)}, {attribute} is guessed with AUC "
            f"{decimal(best.auc.value)} (by {_probe(best)})"
        )
    if after and (best := _best(evidence, after, attribute)):
        seen = any(leak.above_chance for leak in evidence.leaks(after, attribute))
        found.append(
            f"after {evidence.spoken(after)} the best probe reaches {decimal(best.auc.value)} "
            f"({_probe(best)}), "
            + ("still above chance" if seen else "which cannot be told from chance")
        )
    text = "; ".join(found)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _best(evidence: Evidence, key: str, attribute: str) -> Leak | None:
    return max(evidence.leaks(key, attribute), key=lambda leak: leak.auc.value, default=None)


def _probe(leak: Leak) -> str:
    name = model_name(leak.probe).lower()
    return name if leak.probe == "boosting" else f"a {name}"


def drawable(found: Downstream | CurvePoint | None, attribute: str) -> Parity | None:
    """Return the parity of a model that can be drawn: with a gap and an accuracy."""
    parity = parity_of(found, attribute)
    if found is None or parity is None:
        return None
    return None if None in (value_of(parity.dp_gap), value_of(found.accuracy)) else parity


def tradeoff_finding(curve: Curve, attribute: str) -> str:
    """Say what the ends of a curve are."""
    drawn = [(one, parity) for one in curve.points if (parity := drawable(one, attribute))]
    if len(drawn) < 2:
        return ""
    (fair, fair_gap), (plain, plain_gap) = drawn[0], drawn[-1]
    return (
        f"From lambda {significant(fair.tradeoff)} to {significant(plain.tradeoff)}, the gap "
        f"between the groups of {attribute} goes from {points(fair_gap.dp_gap.value)} to "
        f"{points(plain_gap.dp_gap.value)}, and accuracy from {percent(fair.accuracy.value)} to "
        f"{percent(plain.accuracy.value)}."
    )


def components_finding(evidence: Evidence, panel: Panel, groups: PanelGroups) -> str:
    """Say how far apart the means of the groups are in a panel."""
    means = list(group_means(panel, groups.codes).values())
    spread = math.hypot(_deviation(panel.x), _deviation(panel.y)) / math.sqrt(2)
    if len(means) < 2 or spread == 0:
        return ""
    apart = max(math.dist(one, other) for one in means for other in means) / spread
    return (
        f"{evidence.name(panel.representation)}: the means of the groups of "
        f"{groups.attribute} are at most {decimal(apart)} standard deviations apart."
    )


def variance_finding(evidence: Evidence) -> str:
    """Say how much variance all components together keep."""
    kept = [
        f"{len(one.ratios)} components keep {percent(sum(ratio or 0.0 for ratio in one.ratios))} "
        f"with {evidence.spoken(one.representation)}"
        for one in evidence.audit.spectra
        if one.ratios
    ]
    return f"Of the variance of the features, {joined(kept)}."


def group_means(panel: Panel, codes: list[int]) -> dict[int, tuple[float, float]]:
    """Return the mean of each group's points in a panel, without rows of unknown groups."""
    members: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for x, y, code in zip(panel.x, panel.y, codes, strict=True):
        if code >= 0 and x is not None and y is not None:
            members[code].append((x, y))
    return {
        code: (math.fsum(x for x, _ in rows) / len(rows), math.fsum(y for _, y in rows) / len(rows))
        for code, rows in members.items()
    }


def _deviation(values: list[float]) -> float:
    known = [value for value in values if value is not None]
    if not known:
        return 0.0
    mean = math.fsum(known) / len(known)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in known) / len(known))
