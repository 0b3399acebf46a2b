"""What each plot shows, in a sentence: the caption, and the text for those who do not see it."""

from __future__ import annotations

import math
from collections import defaultdict

from .audit_lookup import AuditLookup, Entry, parity_of, value_of
from .wording import decimal, listed, model_name, percent, points, significant


def leakage_finding(lookup: AuditLookup, attribute: str) -> str:
    """Say how well the best probe guesses an attribute, before and after."""
    before, after = lookup.before(), lookup.after()
    best_before = _best(lookup, before, attribute)
    best_after = _best(lookup, after, attribute)
    said = []
    if before and best_before:
        said.append(
            f"From {_mid(lookup.name(before))}, {attribute} is guessed with AUC "
            f"{decimal(best_before['auc']['value'])} (by {_probe(best_before)})"
        )
    if after and best_after:
        seen = [one for one in lookup.leaks(after, attribute) if one["above_chance"]]
        said.append(
            f"after {_mid(lookup.name(after))} the best probe reaches "
            f"{decimal(best_after['auc']['value'])} ({_probe(best_after)}), "
            + ("still above chance" if seen else "which cannot be told from chance")
        )
    return _sentence("; ".join(said))


def _best(lookup: AuditLookup, representation: str | None, attribute: str) -> Entry | None:
    leaks = lookup.leaks(representation, attribute) if representation else []
    return max(leaks, key=lambda one: one["auc"]["value"], default=None)


def _probe(leak: Entry) -> str:
    name = model_name(leak["probe"]).lower()
    return name if leak["probe"] == "boosting" else f"a {name}"


def tradeoff_finding(lookup: AuditLookup, curve: Entry, attribute: str) -> str:
    """Say what the ends of a curve are."""
    drawn = [
        (one, parity)
        for one in curve["points"]
        if (parity := parity_of(one, attribute))
        and None not in (value_of(parity["dp_gap"]), value_of(one["accuracy"]))
    ]
    if len(drawn) < 2:
        return ""
    (fair, fair_gap), (plain, plain_gap) = drawn[0], drawn[-1]
    return (
        f"From lambda {significant(fair['tradeoff'])} to {significant(plain['tradeoff'])}, the gap "
        f"between the groups of {attribute} goes from {points(value_of(fair_gap['dp_gap']))} to "
        f"{points(value_of(plain_gap['dp_gap']))}, and accuracy from "
        f"{percent(value_of(fair['accuracy']))} to {percent(value_of(plain['accuracy']))}."
    )


def components_finding(lookup: AuditLookup, panel: Entry, groups: Entry) -> str:
    """Say how far apart the means of the groups are in a panel."""
    means = list(group_means(panel, groups["codes"]).values())
    spread = math.hypot(_deviation(panel["x"]), _deviation(panel["y"])) / math.sqrt(2)
    if len(means) < 2 or spread == 0:
        return ""
    apart = max(math.dist(one, other) for one in means for other in means) / spread
    return (
        f"{lookup.name(panel['representation'])}: the means of the groups of "
        f"{groups['attribute']} are at most {decimal(apart)} standard deviations apart."
    )


def variance_finding(lookup: AuditLookup) -> str:
    """Say how much variance all components together keep."""
    spectra = [one for one in lookup.audit["spectra"] if one["ratios"]]
    kept = [
        f"{len(one['ratios'])} components keep "
        f"{percent(sum(ratio or 0.0 for ratio in one['ratios']))} with "
        f"{_mid(lookup.name(one['representation']))}"
        for one in spectra
    ]
    return f"Of the variance of the features, {listed(kept)}."


def group_means(panel: Entry, codes: list[int]) -> dict[int, tuple[float, float]]:
    """Return the mean of each group's points in a panel, without rows of unknown groups."""
    members: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for x, y, code in zip(panel["x"], panel["y"], codes, strict=True):
        if code >= 0 and x is not None and y is not None:
            members[code].append((x, y))
    return {
        code: (math.fsum(x for x, _ in rows) / len(rows), math.fsum(y for _, y in rows) / len(rows))
        for code, rows in members.items()
    }


def _deviation(values: list[float | None]) -> float:
    known = [value for value in values if value is not None]
    if not known:
        return 0.0
    mean = math.fsum(known) / len(known)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in known) / len(known))


def _mid(name: str) -> str:
    """Return a name for the middle of a sentence: 'the raw features', but 'PCA' and 'LEACE'."""
    if name == "Raw features":
        return "the raw features"
    return name[0].lower() + name[1:] if name[1:2].islower() else name


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""
