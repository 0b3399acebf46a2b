"""The findings in plain words, which setting to take for an aim, and what it does not protect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..metrics import joined, named, percent, points
from ._evidence import Evidence, largest
from ._recipes import python_recipe, shell_recipe
from ._results import Advice, CurvePoint, Downstream, Leak, Parity, Summary

ENOUGH_ROWS = 100
"""Groups of fewer rows have rates too rough to choose by, unless there are no two larger ones."""

WORTH_IT = 0.005
"""A smaller gain in AUC is noise, or worth less than a smaller gap."""


def advise(evidence: Evidence) -> Advice:
    """Return the setting to take, and why."""
    aim = evidence.audit.settings.aim
    if not _competing(evidence):
        failed = [one for one in evidence.audit.representations if one.failure is not None]
        return Advice(
            aim=aim,
            representation=None,
            tradeoff=None,
            reasons=[
                "No representation that keeps columns could be fitted to these."
                if evidence.fair()
                else "No fair representation could be fitted to these columns.",
                *(f"{one.name}: {one.failure}" for one in failed),
            ],
            code="",
            command="",
            caveats=["What the raw features give away stands as measured."],
        )
    choose = {"hide": _to_hide, "decide": _to_decide, "keep": _to_keep}[aim]
    key, tradeoff, reasons = choose(evidence)
    recipe = (evidence.audit, key, evidence.representation(key).n_columns, tradeoff)
    return Advice(
        aim=aim,
        representation=key,
        tradeoff=tradeoff,
        reasons=reasons,
        code=python_recipe(*recipe),
        command=shell_recipe(*recipe),
        caveats=_caveats(evidence, key, tradeoff),
    )


def _competing(evidence: Evidence) -> list[str]:
    """Return the fair representations that can serve the aim: one column keeps no others."""
    keeping = evidence.audit.settings.aim == "keep"
    return [key for key in evidence.fair() if not keeping or key != "fair_pls"]


def _to_hide(evidence: Evidence) -> tuple[str, None, list[str]]:
    """Of those that hide best, as far as that can be told apart, the most useful one."""
    keys = evidence.fair()

    def given_away(key: str) -> tuple[float, float]:  # nothing, where chance explains it
        leak = evidence.worst(key)
        return leak.auc.value if leak.above_chance else 0.5, leak.auc.value

    best = min(keys, key=given_away)
    limits = [leak.auc.high for leak in evidence.worst_of_each(best)]
    as_good = [
        key
        for key in keys
        if all(
            leak.auc.value <= limit
            for leak, limit in zip(evidence.worst_of_each(key), limits, strict=True)
        )
    ]
    key = max(as_good, key=evidence.usefulness)
    worst = evidence.worst(key)
    interval = f" ({worst.auc.low:.2f} to {worst.auc.high:.2f})" if worst.above_chance else ""
    rest = ", and no other attribute better" if len(evidence.singles) > 1 else ""
    reasons = [
        f"With {evidence.name(key)} the best of three probes {_recognised(worst)}{interval}{rest}; "
        f"from the raw features the AUC is {evidence.worst('raw', worst.attribute).auc.value:.2f}."
    ]
    others = [evidence.name(k) for k in as_good if k != key]
    if others:
        here = "for this target, the only one that it serves" if key == "fair_pls" else "here"
        reasons.append(
            f"{joined(others)} cannot be told apart from it in what is hidden, but "
            f"{'are' if len(others) > 1 else 'is'} less useful {here}."
        )
    return key, None, reasons


def _recognised(leak: Leak, where: str = "") -> str:
    what = f"{named(leak.attribute)}{where}"
    if leak.above_chance:
        return f"recognises {what} with AUC {leak.auc.value:.2f}"
    return f"does not recognise {what} better than chance (AUC {leak.auc.value:.2f})"


def _to_keep(evidence: Evidence) -> tuple[str, None, list[str]]:
    keys = _competing(evidence)
    key = "leace" if "leace" in keys else max(keys, key=evidence.usefulness)
    worst = evidence.worst(key, probe="linear")
    kept = evidence.representation(key).variance_kept
    assert kept is not None
    reason = (
        f"{evidence.name(key)} keeps {percent(kept.value, 0)} of the variance, and a linear "
        f"model {_recognised(worst, ' from it')}."
    )
    return key, None, [reason]


@dataclass(frozen=True)
class _Option:
    key: str
    tradeoff: float | None
    gap: float
    surely: float
    accuracy: float
    auc: float


def _to_decide(evidence: Evidence) -> tuple[str, float | None, list[str]]:
    """Of linear models whose gaps are small enough, the best; of equally good ones, the fairest.

    Of equally good ones, those with a guarantee (no lambda above 0) come first. Gaps are compared
    as measured: at the upper ends of their intervals, few tables have rows enough for any setting.
    """
    curves = evidence.audit.curves
    options = [
        _option(evidence, key, None, evidence.linear(key))
        for key in evidence.fair()
        if key != "fair_pca" or not curves
    ]
    linear = [point for curve in curves if curve.model == "linear" for point in curve.points]
    options += [_option(evidence, "fair_pca", point.tradeoff, point) for point in linear]
    allowed = evidence.audit.settings.max_gap
    within = [option for option in options if option.gap <= allowed]
    if within:
        enough = max(option.auc for option in within) - WORTH_IT
        as_good = [option for option in within if option.auc >= enough]
        best = min(as_good, key=lambda o: (bool(o.tradeoff), o.gap, -o.auc))
    else:
        best = min(options, key=lambda option: option.gap)
    raw = _option(evidence, "raw", None, evidence.linear("raw"))
    at = f" at lambda = {best.tradeoff:g}" if best.tradeoff else ""
    reasons = [
        f"With {evidence.name(best.key)}{at}, the decisions of a linear model differ by "
        f"{points(best.gap)} between groups (raw features: {points(raw.gap)}), at an AUC of "
        f"{best.auc:.3f} ({raw.auc:.3f}) and an accuracy of {percent(best.accuracy)} "
        f"({percent(raw.accuracy)})."
    ]
    parities = _of_singles(evidence, evidence.linear("raw"))
    small = sorted({name for parity in parities for name in _too_small(parity)})
    if small:
        reasons.append(
            f"Groups of fewer than {ENOUGH_ROWS} rows did not take part in this choice: "
            f"{_the_first_four([named(name) for name in small])}."
        )
    limit = f"the {100 * allowed:g} points that are allowed"
    if len(within) == 1:
        reasons.append(f"Of the {len(options)} settings tried, no other stays within {limit}.")
    elif within:
        stay = "all stay" if len(within) == len(options) else f"{len(within)} stay"
        reasons.append(
            f"Of the {len(options)} settings tried, {stay} within {limit}; of these, none has an "
            f"AUC higher by more than {WORTH_IT:g}."
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


def _option(
    evidence: Evidence, key: str, tradeoff: float | None, found: Downstream | CurvePoint
) -> _Option:
    return _Option(
        key,
        tradeoff,
        gap=_gap_of_large_groups(evidence, found),
        surely=max(parity.dp_gap.high for parity in _of_singles(evidence, found)),
        accuracy=found.accuracy.value,
        auc=found.auc.value,
    )


def _of_singles(evidence: Evidence, found: Downstream | CurvePoint) -> list[Parity]:
    return [parity for parity in found.parities if parity.attribute in evidence.singles]


def _gap_of_large_groups(evidence: Evidence, found: Downstream | CurvePoint) -> float:
    """Return the largest gap between groups of enough rows, over the single attributes."""
    return max(_large_gap(parity) for parity in _of_singles(evidence, found))


def _large_gap(parity: Parity) -> float:
    """Return the gap between groups of enough rows; of all, where fewer than two have them."""
    small = _too_small(parity)
    rates = [g.selection_rate.value for g in parity.groups if g.label not in small]
    return max(rates) - min(rates)


def _too_small(parity: Parity) -> list[str]:
    small = [group.label for group in parity.groups if group.n_rows < ENOUGH_ROWS]
    return small if len(parity.groups) - len(small) >= 2 else []


def _the_first_four(names: Sequence[str]) -> str:
    return joined(names[:4]) + (" and others" if len(names) > 4 else "")


def _caveats(evidence: Evidence, key: str, tradeoff: float | None) -> list[str]:
    """Return what is not protected, the most important first, with its numbers."""
    # What lambda scales down, a model that rescales its inputs sees as from plain PCA.
    leaks = evidence.leaks("pca" if tradeoff else key)
    if key == "fair_pls":
        return [*_of_one_column(evidence, largest(leaks)), *_of_every_advice(evidence)]
    worst = largest([leak for leak in leaks if leak.probe != "linear"])
    name, auc = named(worst.attribute), f"AUC {worst.auc.value:.2f}"
    seen = (
        f"here the better of the two non-linear probes still recognises {name} with {auc}."
        if worst.above_chance
        else f"here the two non-linear probes did not do better than chance ({auc} for {name}), "
        f"but others might."
    )
    caveats = [f"Equal means do not hide what a non-linear model can see: {seen}"]
    linear = largest([leak for leak in leaks if leak.probe == "linear"])
    if tradeoff:
        caveats.append(
            f"With lambda = {tradeoff:g} the attributes are still in the representation, scaled "
            f"down: a model that rescales its inputs reads them. The guarantee of fair PCA holds "
            f"for lambda = 0 only."
        )
    elif linear.above_chance:
        caveats.append(
            f"On new rows a linear model still recognises {named(linear.attribute)} with AUC "
            f"{linear.auc.value:.2f}: means are equal on the rows that were fitted to, and nearly "
            f"so on others (the more rows, the nearer); and where groups have differently shaped "
            f"distributions, equal means do not keep a linear score from ranking them."
        )
    return [*caveats, *_of_every_advice(evidence)]


def _of_one_column(evidence: Evidence, worst: Leak) -> list[str]:
    """Return how far fair PLS is alike in the groups, and that it is for one target."""
    bounds = [
        f"{points(one.bound)} between the groups of {named(one.attribute)}"
        for one in evidence.audit.certificates
        if one.representation == "fair_pls" and one.attribute in evidence.singles
    ]
    level, target = percent(evidence.audit.settings.confidence, 0), evidence.audit.data.target
    assert target is not None
    return [
        f"What fair PLS makes alike is one column, on rows like these, up to a number: decisions "
        f"by any threshold on it differ by at most {joined(bounds)}, each with {level} confidence. "
        f"Of models that decide otherwise three were tried, and the best {_recognised(worst)}; "
        f"others might do better.",
        f"That column is made for {named(target.name)} only. It needs the target when it is "
        f"fitted, not when rows are transformed; another target needs a fair PLS of its own. "
        f"Beside other columns, it hides nothing of what they show.",
    ]


def _of_every_advice(evidence: Evidence) -> list[str]:
    small = [
        f"{named(a.name)} = {named(g.label)} ({g.n_rows})"
        for a in evidence.audit.data.attributes
        if a.name in evidence.singles
        for g in a.groups
        if g.n_rows < ENOUGH_ROWS
    ]
    rough = (
        f"Groups of fewer than {ENOUGH_ROWS} rows are measured roughly: "
        f"{_the_first_four(small)}. Look at the intervals."
    )
    return [
        *([rough] if small else []),
        "Only the named attributes were measured. Any other may be read from every representation "
        "here.",
        "All numbers are about people like those in this table. Audit again when the data, or "
        "what is decided with them, change.",
    ]


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
        points(_gap_of_large_groups(evidence, evidence.linear(one))) for one in ("raw", key)
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
        f"{named(leak.attribute)} with AUC {leak.auc.value:.2f} ({leak.auc.low:.2f} to "
        f"{leak.auc.high:.2f}){_or_chance(leak)}"
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
    target = evidence.audit.data.target
    column = f", one column made for {named(target.name)}," if key == "fair_pls" and target else ""
    return f"After {evidence.spoken(key)}{column} a linear model guesses {joined(parts)}."


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
        if before_parity.attribute not in evidence.singles:
            continue
        gap, large = parity.dp_gap, _large_gap(parity)
        small_group = gap.value - large >= 0.005  # makes the gap
        sentences.append(
            f"A linear model's decisions ({decided}) differ by {points(gap.value)} "
            f"({100 * gap.low:.0f} to {100 * gap.high:.0f}) between the groups of "
            f"{named(parity.attribute)}, instead of {points(before_parity.dp_gap.value)}."
            + f" Between groups of at least {ENOUGH_ROWS} rows it is {points(large)}."
            * small_group
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
