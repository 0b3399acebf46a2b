"""The findings in words that anyone understands."""

from __future__ import annotations

from ..metrics import joined, named, percent, points
from ._decisions_advised import ENOUGH_ROWS, gap_of_large_groups
from ._evidence import Evidence, largest
from ._results import Advice, CurvePoint, Downstream, Leak, Parity, Summary


def summarise(evidence: Evidence, advice: Advice) -> Summary:
    """Return the headline and the sentences under it."""
    key = advice.representation
    sentences = [_before(evidence)]
    if key is None:
        return Summary(headline=_before(evidence), sentences=[*sentences, advice.reasons[0]])
    sentences.append(_scaled_down(evidence, advice) if advice.tradeoff else _after(evidence, key))
    sentences.extend(_decisions(evidence, advice))
    headline = _headline_of_decisions if advice.tradeoff else _headline
    return Summary(headline=headline(evidence, advice), sentences=sentences)


def _headline_of_decisions(evidence: Evidence, advice: Advice) -> str:
    """Lambda above 0 hides nothing from a model that rescales its inputs; say what it does."""
    raw, after = _linear_models(evidence, advice)
    before_gap, gap = (
        max(gap_of_large_groups(p) for p in found.parities if p.attribute in evidence.singles)
        for found in (raw, after)
    )
    lessened = f"a linear model's decisions differ by {points(gap)} instead of {points(before_gap)}"
    what = f"fair PCA at lambda = {advice.tradeoff:g}"
    if not evidence.worst("raw").above_chance:
        return f"{_guessed(evidence)}; with {what}, {lessened}."
    return f"{_guessed(evidence)}; {what} does not hide it, but {lessened}."


def _guessed(evidence: Evidence) -> str:
    """Return what the raw features give away, as the beginning of a sentence."""
    worst, n = evidence.worst("raw"), evidence.data.n_features
    start = "From this one column" if n == 1 else f"From these {n} columns"
    if worst.above_chance:
        return f"{start} a model guesses {named(worst.attribute)} with AUC {worst.auc.value:.2f}"
    names = " or ".join(named(name) for name in evidence.singles)
    return (
        f"{start} none of three models guesses {names} better than chance (AUC "
        f"{worst.auc.value:.2f})"
    )


def _scaled_down(evidence: Evidence, advice: Advice) -> str:
    leaks = [
        f"{named(leak.attribute)} with AUC {leak.auc.value:.2f}{_or_chance(leak)}"
        for leak in evidence.worst_of_each("pca")
    ]
    return (
        f"With lambda = {advice.tradeoff:g} the attributes are scaled down, not hidden: a model "
        f"that rescales its inputs can guess {joined(leaks)}, as from plain PCA."
    )


def _headline(evidence: Evidence, advice: Advice) -> str:
    key = str(advice.representation)
    worst = evidence.worst("raw")
    if not worst.above_chance:
        return f"{_guessed(evidence)}."
    strongest = largest([k for k in evidence.leaks(key) if k.attribute == worst.attribute])
    spoken = _spoken(evidence, key)
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
    n = evidence.data.n_features
    hidden = " or ".join(named(name) for name in evidence.settings.sensitive)
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
        leaks = [leak for leak in evidence.leaks(key) if leak.attribute == name]
        linear = next(leak for leak in leaks if leak.probe == "linear")
        best = largest(leaks)
        part = f"{named(name)} with AUC {linear.auc.value:.2f}{_or_chance(linear)}"
        if best.probe != "linear":
            beyond = "" if best.above_chance else ", within chance"
            part += f" (the best non-linear model: {best.auc.value:.2f}{beyond})"
        parts.append(part)
    return f"After {_spoken(evidence, key)} a linear model guesses {joined(parts)}."


def _or_chance(leak: Leak) -> str:
    return "" if leak.above_chance else ", indistinguishable from chance"


def _linear_models(
    evidence: Evidence, advice: Advice
) -> tuple[Downstream, Downstream | CurvePoint]:
    """Return the linear model on the raw features, and on what is advised."""
    linear = {d.representation: d for d in evidence.downstream if d.model == "linear"}
    after: Downstream | CurvePoint = linear[str(advice.representation)]
    if advice.tradeoff:
        points = [p for c in evidence.curves if c.model == "linear" for p in c.points]
        after = next(p for p in points if p.tradeoff == advice.tradeoff)
    return linear["raw"], after


def _decisions(evidence: Evidence, advice: Advice) -> list[str]:
    if not evidence.downstream:
        return [_variance(evidence, str(advice.representation))]
    raw, after = _linear_models(evidence, advice)
    target = evidence.data.target
    assert target is not None
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
    large = gap_of_large_groups(parity)
    if parity.dp_gap.value - large < 0.005:
        return ""
    return f" Between groups of at least {ENOUGH_ROWS} rows it is {points(large)}."


def _variance(evidence: Evidence, key: str) -> str:
    kept = next(r.variance_kept for r in evidence.representations if r.key == key)
    assert kept is not None
    return f"It keeps {percent(kept.value, 0)} of the variance of the columns."


def _spoken(evidence: Evidence, key: str) -> str:
    name = evidence.name(key)
    return name if name.isupper() else name[0].lower() + name[1:]


def _interval(leak: Leak) -> str:
    return f"{leak.auc.value:.2f} ({leak.auc.low:.2f} to {leak.auc.high:.2f})"
