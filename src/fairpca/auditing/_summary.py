"""The findings in words that anyone understands."""

from __future__ import annotations

from ..metrics import joined, named, percent, points
from ._advice import ENOUGH_ROWS, gap_of_large_groups, large_gap
from ._evidence import Evidence
from ._results import Leak, Parity, Summary


def summarise(evidence: Evidence) -> Summary:
    """Return the headline and the sentences under it."""
    advice = evidence.audit.advice
    key, before = advice.representation, _before(evidence)
    if key is None:
        return Summary(headline=before, sentences=[before, advice.reasons[0]])
    after = _scaled_down(evidence) if advice.tradeoff else _after(evidence, key)
    headline = (
        _headline_of_decisions(evidence, key) if advice.tradeoff else _headline(evidence, key)
    )
    return Summary(headline=headline, sentences=[before, after, *_decisions(evidence, key)])


def _headline_of_decisions(evidence: Evidence, key: str) -> str:
    """Lambda above 0 hides nothing from a model that rescales its inputs; say what it does."""
    before, after = (
        points(gap_of_large_groups(evidence, evidence.linear(one))) for one in ("raw", key)
    )
    lessened = f"a linear model's decisions differ by {after} instead of {before}"
    what = f"fair PCA at lambda = {evidence.audit.advice.tradeoff:g}"
    if not evidence.worst("raw").above_chance:
        return f"{_guessed(evidence)}; with {what}, {lessened}."
    return f"{_guessed(evidence)}; {what} does not hide it, but {lessened}."


def _guessed(evidence: Evidence) -> str:
    """Return what the raw features give away, as the beginning of a sentence."""
    worst, n = evidence.worst("raw"), evidence.audit.data.n_features
    start = "From this one column" if n == 1 else f"From these {n} columns"
    if worst.above_chance:
        return f"{start} a model guesses {named(worst.attribute)} with AUC {worst.auc.value:.2f}"
    names = " or ".join(named(name) for name in evidence.singles)
    return (
        f"{start} none of three models guesses {names} better than chance (AUC "
        f"{worst.auc.value:.2f})"
    )


def _scaled_down(evidence: Evidence) -> str:
    leaks = [
        f"{named(leak.attribute)} with AUC {leak.auc.value:.2f}{_or_chance(leak)}"
        for leak in evidence.worst_of_each("pca")
    ]
    return (
        f"With lambda = {evidence.audit.advice.tradeoff:g} the attributes are scaled down, not "
        f"hidden: a model that rescales its inputs can guess {joined(leaks)}, as from plain PCA."
    )


def _headline(evidence: Evidence, key: str) -> str:
    worst = evidence.worst("raw")
    if not worst.above_chance:
        return f"{_guessed(evidence)}."
    strongest = evidence.worst(key, worst.attribute)
    spoken = evidence.spoken(key)
    if not strongest.above_chance:
        end = f"after {spoken} none of three models does better than chance"
    else:
        still = "still reaches" if strongest.auc.value > 0.6 else "reaches"
        end = f"after {spoken} the best of three {still} {strongest.auc.value:.2f}"
    return f"{_guessed(evidence)}; {end}."


def _before(evidence: Evidence) -> str:
    parts = [
        f"{named(leak.attribute)} with AUC {_interval(leak)}{_or_chance(leak)}"
        for leak in evidence.worst_of_each("raw")
    ]
    n = evidence.audit.data.n_features
    hidden = " or ".join(named(name) for name in evidence.audit.settings.sensitive)
    start = (
        f"From one column, not {hidden},"
        if n == 1
        else f"From {n} columns, none of which is {hidden},"
    )
    return (
        f"{start} the best of three models guesses {joined(parts)}. An AUC of 0.50 is guessing, "
        f"1.00 is certainty."
    )


def _after(evidence: Evidence, key: str) -> str:
    parts = []
    for name in evidence.singles:
        linear, best = evidence.worst(key, name, "linear"), evidence.worst(key, name)
        part = f"{named(name)} with AUC {linear.auc.value:.2f}{_or_chance(linear)}"
        if best.probe != "linear":
            beyond = "" if best.above_chance else ", within chance"
            part += f" (the best non-linear model: {best.auc.value:.2f}{beyond})"
        parts.append(part)
    return f"After {evidence.spoken(key)} a linear model guesses {joined(parts)}."


def _or_chance(leak: Leak) -> str:
    return "" if leak.above_chance else ", indistinguishable from chance"


def _decisions(evidence: Evidence, key: str) -> list[str]:
    target = evidence.audit.data.target
    if not evidence.audit.downstream or target is None:
        kept = evidence.representation(key).variance_kept
        assert kept is not None
        return [f"It keeps {percent(kept.value, 0)} of the variance of the columns."]
    raw, after = evidence.linear("raw"), evidence.linear(key)
    sentences = []
    decided = f"{named(target.name)} = {named(target.positive)}"
    for before_parity, parity in zip(raw.parities, after.parities, strict=True):
        if before_parity.attribute in evidence.singles:
            sentences.append(
                f"A linear model's decisions ({decided}) differ by {_gap(parity)} between the "
                f"groups of {named(parity.attribute)}, instead of "
                f"{points(before_parity.dp_gap.value)}.{_by_whom(parity)}"
            )
    change = after.accuracy.value - raw.accuracy.value
    accuracy = (
        f"stays at {percent(after.accuracy.value)}"
        if abs(change) < 0.0005
        else f"{'falls' if change < 0 else 'rises'} by {points(abs(change))}, from "
        f"{percent(raw.accuracy.value)} to {percent(after.accuracy.value)}"
    )
    sentences.append(
        f"Its accuracy {accuracy}; its AUC goes from {raw.auc.value:.3f} to {after.auc.value:.3f}."
    )
    return sentences


def _gap(parity: Parity) -> str:
    gap = parity.dp_gap
    return f"{points(gap.value)} ({100 * gap.low:.0f} to {100 * gap.high:.0f})"


def _by_whom(parity: Parity) -> str:
    """Say so where a small group makes the gap."""
    large = large_gap(parity)
    if parity.dp_gap.value - large < 0.005:
        return ""
    return f" Between groups of at least {ENOUGH_ROWS} rows it is {points(large)}."


def _interval(leak: Leak) -> str:
    return f"{leak.auc.value:.2f} ({leak.auc.low:.2f} to {leak.auc.high:.2f})"
