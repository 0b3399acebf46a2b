"""The findings and the decision in plain words, and what the advice does not protect."""

from __future__ import annotations

from collections.abc import Sequence

from ..metrics import decimal, joined, named, percent, points
from ._decision import Decision
from ._evidence import Evidence, largest, parity_of, widest_gap
from ._judging import ENOUGH_ROWS
from ._recipes import python_recipe, shell_recipe
from ._results import EXISTING, Advice, Estimate, Leak, Option, Setting, Summary

MODELS = {
    "linear": "a linear model",
    "boosting": "boosted trees",
    "kernel": "a kernel model",
    "any": "the worst of three kinds of models",
}


def advise(evidence: Evidence, decision: Decision) -> Advice:
    """Return the decision with its reasons, code to copy where there is something to take."""
    chosen = decision.chosen
    recipe = None
    if chosen is not None:
        method = evidence.representation(chosen.representation).setting.method
        setting = Setting(method, n_components=chosen.n_columns, tradeoff=chosen.tradeoff)
        recipe = (evidence.audit, setting)
    return Advice(
        aim=evidence.audit.settings.aim,
        verdict=decision.verdict,
        representation=chosen.representation if chosen else None,
        tradeoff=chosen.tradeoff if chosen else None,
        ties=decision.ties,
        options=decision.options,
        reasons=_reasons(evidence, decision),
        code=python_recipe(*recipe) if recipe else "",
        command=shell_recipe(*recipe) if recipe else "",
        caveats=_caveats(evidence, decision.raw, chosen or decision.raw),
    )


def _reasons(evidence: Evidence, decision: Decision) -> list[str]:
    chosen = decision.chosen
    failed = [
        f"{one.name} could not be fitted: {one.failure}"
        for one in evidence.audit.representations
        if one.failure
    ]
    if chosen is None:
        why = _nothing_to_do if decision.verdict == "nothing to do" else _nothing_helps
        return [*why(evidence, decision), *failed]
    return [
        _what_it_does(evidence, decision.raw, chosen),
        *_against_the_limit(evidence, decision, chosen),
        _how_sure(decision),
        *_others(evidence, decision, chosen),
        *failed,
    ]


def _what_it_does(evidence: Evidence, raw: Option, chosen: Option) -> str:
    with_it = f"With {evidence.spoken_option(chosen)} ({_columns(chosen.n_columns)})"
    if evidence.audit.settings.aim == "decide":
        return (
            f"{with_it}, {_what(evidence)} of {_model(evidence)} differ by "
            f"{_gap(evidence, chosen.gap)} between the groups of "
            f"{named(str(chosen.gap_attribute))}; with the raw features by "
            f"{_gap(evidence, raw.gap)}{_elsewhere(raw, chosen)}. The {_utility(evidence)} of the "
            f"best model is {_value(chosen.utility)} instead of {_value(raw.utility)}."
        )
    probes = "a linear probe" if evidence.audit.settings.aim == "keep" else "the best of the probes"
    return (
        f"{with_it}, {probes} {_recognised(chosen)}; from the raw features the AUC is "
        f"{_value(raw.leak)} ({named(raw.leak_attribute)}). The {_utility(evidence)} is "
        f"{_value(chosen.utility)} instead of {_value(raw.utility)}."
    )


def _elsewhere(raw: Option, chosen: Option) -> str:
    """Say whose the gap of the raw features is, where it is of another attribute."""
    if raw.gap_attribute == chosen.gap_attribute:
        return ""
    return f", between those of {named(str(raw.gap_attribute))}"


def _recognised(option: Option) -> str:
    name = named(option.leak_attribute)
    if option.leak_above_chance:
        return f"recognises {name} with AUC {_value(option.leak)}"
    return f"does not recognise {name} better than chance (AUC {option.leak.value:.2f})"


def _against_the_limit(evidence: Evidence, decision: Decision, chosen: Option) -> list[str]:
    settings = evidence.audit.settings
    if settings.aim != "decide" or chosen.gap is None:
        return []
    limit = _limit(evidence)
    if chosen.gap.high <= settings.max_gap:
        return [f"That is within {limit}, which are accepted, with the whole interval."]
    if chosen.gap.low <= settings.max_gap:
        more = f"more than {limit}, which are accepted, but on these rows that may be chance"
        return [
            f"That is {more if chosen.gap.value > settings.max_gap else f'within {limit}'}; in the "
            f"population it may be as large as {_plain_gap(evidence, chosen.gap.high)}. Of the "
            f"{decision.n_settings} fair settings tried, the most useful of those that may be "
            f"within the limit is recommended."
        ]
    return [
        f"No setting tried, of {decision.n_settings}, comes to {limit}, which are accepted; this "
        f"one comes as near as any that is as useful."
    ]


def _how_sure(decision: Decision) -> str:
    assert decision.chosen is not None
    of = "of 100 resamples of these people and splits"
    if not decision.ties:
        return f"It would have been recommended in {_hundredths(decision.sure)} {of}."
    shares = {one.name: one.selection_frequency for one in decision.options}
    others = [f"{name} in {_hundredths(shares[name])}" for name in decision.ties]
    first = f"{decision.chosen.name} would have been recommended in {_hundredths(decision.sure)}"
    return f"They cannot be told apart on these rows: {first} {of}, {joined(others)}."


def _hundredths(share: float) -> str:
    return f"{100 * share:.0f}"


def _others(evidence: Evidence, decision: Decision, chosen: Option) -> list[str]:
    """Return the runner-up, and what joint groups still see."""
    own = {one.key for one in evidence.audit.representations if one.kind != "method"}
    others = [
        f"{evidence.spoken_option(one)} ({_short(evidence, one)})"
        for one in decision.options
        if one.representation not in own
        and (one.representation, one.tradeoff) != (chosen.representation, chosen.tradeoff)
    ]
    found = []
    if others:
        found.append(f"No other setting is both fairer and more useful. Others: {joined(others)}.")
    if chosen.joint_gap is not None and evidence.audit.settings.aim == "decide":
        found.append(
            f"Between the groups of {named(str(chosen.joint_attribute))} it is "
            f"{_gap(evidence, chosen.joint_gap)}; the choice is by single attributes."
        )
    return found


def _short(evidence: Evidence, one: Option) -> str:
    utility = f"{_utility(evidence)} {_value(one.utility)}"
    if evidence.audit.settings.aim == "decide" and one.gap is not None:
        return f"{_plain_gap(evidence, one.gap.value)}, {utility}"
    return f"recognised with AUC {one.leak.value:.2f}, {utility}"


def _nothing_to_do(evidence: Evidence, decision: Decision) -> list[str]:
    raw = decision.raw
    share = f"{_hundredths(decision.sure)} of 100 resamples say the same."
    if evidence.audit.settings.aim == "decide":
        assert raw.gap is not None
        sure = (
            "with the whole interval"
            if raw.gap.high <= evidence.audit.settings.max_gap
            else "though more cannot be ruled out: see the interval"
        )
        return [
            f"With the raw features, {_what(evidence)} of {_model(evidence)} differ by "
            f"{_gap(evidence, raw.gap)} between groups: within {_limit(evidence)}, which are "
            f"accepted, {sure}. {share}"
        ]
    return [
        f"From the raw features, the best of the probes {_recognised(raw)}. That none did better "
        f"than chance on these rows does not show that none could. {share}"
    ]


def _nothing_helps(evidence: Evidence, decision: Decision) -> list[str]:
    raw, n = decision.raw, decision.n_settings
    if not n:
        return ["No fair representation could be fitted to these columns."]
    deciding = evidence.audit.settings.aim == "decide"
    best = [one for one in decision.options[1:] if one.reduction is not None]
    nearest = max(best, key=lambda one: one.reduction.value, default=None)  # type: ignore[union-attr]
    what = (
        f"the gap ({_gap(evidence, raw.gap)} with the raw features)"
        if deciding
        else f"what is recognised (AUC {_value(raw.leak)} from the raw features)"
    )
    tried = "the one setting tried does not make" if n == 1 else f"none of {n} settings tried makes"
    reasons = [
        f"Here {tried} {what} smaller by a quarter of what is too much, and beyond what chance "
        f"explains, with models that are better than guessing."
    ]
    if deciding and raw.gap is not None and raw.gap.low <= evidence.audit.settings.max_gap:
        reasons.append(
            f"The gap itself cannot be told from {_limit(evidence)}, which are accepted: more "
            f"people would tell."
        )
    if nearest is not None:
        reasons.append(
            f"Nearest comes {evidence.spoken_option(nearest)}: {_short(evidence, nearest)}."
        )
    return reasons


def _left_out(evidence: Evidence) -> list[str]:
    """Return which groups, and joint ones, have too few people to be compared."""
    small = dict.fromkeys(
        named(group.label)
        for one in evidence.audit.downstream[:1]
        for parity in one.parities
        for group in parity.groups
        if not group.compared
    )
    if not small:
        return []
    return [
        f"Gaps leave out groups of fewer than {ENOUGH_ROWS} people: {_first_four(list(small))}. "
        f"Their rates are rough, and may differ by more: see the groups in detail."
    ]


def _first_four(names: Sequence[str]) -> str:
    return joined(names[:4]) + (" and others" if len(names) > 4 else "")


def _caveats(evidence: Evidence, raw: Option, option: Option) -> list[str]:
    """Return what is not protected, the most important first, with its numbers."""
    key = option.representation
    one = evidence.representation(key)
    leaks = evidence.leaks(evidence.readable(option))
    caveats = []
    if one.kind == "method":
        worst = largest([leak for leak in leaks if leak.probe != "linear"])
        name, auc = named(worst.attribute), f"AUC {worst.auc.value:.2f}"
        seen = (
            f"here the better of the two non-linear probes still recognises {name} with {auc}."
            if worst.above_chance
            else f"here the two non-linear probes did not do better than chance ({auc} for "
            f"{name}), but others might."
        )
        caveats.append(f"Equal means do not hide what a non-linear model can see: {seen}")
        caveats += _of_models(evidence, option)
    if one.setting.method == "fair_pls":
        caveats += _of_one_target(evidence)
    linear = largest([leak for leak in leaks if leak.probe == "linear"])
    if option.tradeoff:
        caveats.append(
            f"With lambda = {option.tradeoff:g} the attributes are still in the representation, "
            f"scaled down: a model that rescales its inputs reads them. The guarantee of fair PCA "
            f"holds for lambda = 0 only."
        )
    elif linear.above_chance and one.kind == "method":
        caveats.append(
            f"On new rows a linear model still recognises {named(linear.attribute)} with AUC "
            f"{linear.auc.value:.2f}: means are equal on the rows that were fitted to, and nearly "
            f"so on others (the more rows, the nearer); and where groups have differently shaped "
            f"distributions, equal means do not keep a linear score from ranking them."
        )
    if evidence.audit.settings.weight is not None and one.kind == "method":
        caveats.append(
            "Every number here counts rows by their weights, but the code fits all rows alike: "
            "weights are for `fit` of the estimators, not for tables."
        )
    return [
        *caveats,
        *_of_precision(evidence, raw, option),
        *_left_out(evidence),
        "Only the named attributes were measured. Any other may be read from every representation "
        "here.",
        "All numbers are about people like those in this table. Audit again when the data, or "
        "what is decided with them, change.",
    ]


def _of_models(evidence: Evidence, option: Option) -> list[str]:
    """Say where the advice is void: with models that it is not for."""
    limit = max(evidence.audit.settings.max_gap, option.gap.value if option.gap else 0.0)
    void = [
        f"with {MODELS[one.model]} {_what(evidence)} differ by {_gap(evidence, one.gap)}"
        for one in option.models
        if one.gap is not None and one.gap.low > limit and one.model in MODELS
    ]
    return [f"The advice does not hold for every model: {joined(void)}."] if void else []


def _of_precision(evidence: Evidence, raw: Option, option: Option) -> list[str]:
    """Say where equal selection makes precision unequal."""
    gaps = [
        parity.precision_gap
        for one in (raw, option)
        if (found := evidence.decisions(one, str(option.gap_model)))
        and (parity := parity_of(found, str(option.gap_attribute)))
        and parity.precision_gap is not None
    ]
    if len(gaps) < 2 or option.representation == "raw":
        return []
    before, after = gaps
    return [
        f"Alike rates of selection are not alike precision: of the selected, the shares that are "
        f"positive differ by {_points(after)} between the groups of "
        f"{named(str(option.gap_attribute))}, with the raw features by {_points(before)}."
    ]


def _of_one_target(evidence: Evidence) -> list[str]:
    """Return how far fair PLS is alike in the groups, and that it is for one target."""
    bounds = {
        one.attribute: f"{points(one.bound)} between the groups of {named(one.attribute)}"
        for one in evidence.certified()
        if one.representation == "fair_pls" and one.attribute in evidence.singles
    }
    target, level = evidence.audit.data.target, percent(evidence.audit.settings.confidence, 0)
    assert target is not None
    certified = (
        f"What fair PLS makes alike is one column, on rows like these, up to a number: the shares "
        f"above any threshold on it differ by at most {joined([*bounds.values()])}, each with "
        f"{level} confidence."
    )
    rest = [named(name) for name in evidence.singles if name not in bounds]
    if bounds and rest:
        certified += f" For {joined(rest)}, rows are too few for a bound that says anything."
    return [
        *([certified] if bounds else []),
        f"Fair PLS is made for {named(target.name)} only. It needs the target when it is fitted, "
        f"not when rows are transformed; another target needs a fair PLS of its own. Beside other "
        f"columns, it hides nothing of what they show.",
    ]


def summarise(evidence: Evidence, decision: Decision) -> Summary:
    """Return the headline and the sentences under it."""
    chosen = decision.chosen
    sentences = [_given_away(evidence)]
    if chosen is not None:
        sentences.append(_after(evidence, chosen))
    sentences += _decisions(evidence, decision)
    headline = " ".join([*_of_existing(evidence, decision), _headline(evidence, decision)])
    return Summary(headline, sentences)


def _of_existing(evidence: Evidence, decision: Decision) -> list[str]:
    """Return what comes first for who came with a model: what it does."""
    found: dict[str, list[str]] = {}
    for one in decision.options:
        if one.gap is not None and one.models[0].model == EXISTING:
            number = _predicts_a_number(evidence, one.representation)
            gap = _plain_gap(evidence, one.gap.value) if number else points(one.gap.value)
            what = f"{one.name[0].lower()}{one.name[1:]} differs by {gap}"
            found.setdefault(named(str(one.gap_attribute)), []).append(what)
    return [f"Between the groups of {name}, {joined(gaps)}." for name, gaps in found.items()]


def _predicts_a_number(evidence: Evidence, key: str) -> bool:
    """Whether what a model that exists says is compared as a number, not as a decision."""
    return evidence.representation(key).kind == "score" and _what(evidence) == "predictions"


def _headline(evidence: Evidence, decision: Decision) -> str:
    raw, chosen = decision.raw, decision.chosen
    if evidence.audit.settings.aim != "decide" or raw.gap is None:
        return _headline_of_hiding(evidence, decision)
    asked = evidence.audit.settings.model
    by = "" if asked == "any" else f" of {MODELS[asked]}"
    before = f"{_what(evidence)}{by} differ by {_plain_gap(evidence, raw.gap.value)}"
    where = f"between the groups of {named(str(raw.gap_attribute))}"
    if decision.verdict == "nothing to do":
        return f"Nothing to do: {before} {where}, within the {_limit(evidence)} accepted."
    if chosen is None or chosen.gap is None:
        return (
            f"Nothing here helps: {before} {where}, and these rows show no setting that takes much "
            f"of that off."
        )
    rest = (
        f"at {_utility(evidence)} {_value(chosen.utility, interval=False)} instead of "
        f"{_value(raw.utility, interval=False)}"
    )
    return (
        f"From these columns {before} {where}; with {evidence.spoken_option(chosen)} by "
        f"{_plain_gap(evidence, chosen.gap.value)}{_elsewhere(raw, chosen)}, {rest}"
        f"{_not_told_apart(evidence, decision)}."
    )


def _not_told_apart(evidence: Evidence, decision: Decision) -> str:
    """Return the gaps of settings that are as good, as far as these rows tell."""
    alike = [
        f"{evidence.spoken_option(one)} ({_plain_gap(evidence, one.gap.value)})"
        for one in decision.options
        if one.name in decision.ties and one.gap is not None
    ]
    return f"; {joined(alike)} cannot be told apart from it" if alike else ""


def _or_tied(decision: Decision) -> str:
    others = joined(decision.ties)
    return f" (or {others}: they cannot be told apart)" if others else ""


def _headline_of_hiding(evidence: Evidence, decision: Decision) -> str:
    raw, chosen, n = decision.raw, decision.chosen, evidence.audit.data.n_features
    start = "From this one column" if n == 1 else f"From these {n} columns"
    if decision.verdict == "nothing to do":
        names = " or ".join(named(name) for name in evidence.singles)
        return (
            f"Nothing to do: {start[0].lower()}{start[1:]} no probe guesses {names} better than "
            f"chance (AUC {raw.leak.value:.2f})."
        )
    guessed = f"{start} a model guesses {named(raw.leak_attribute)} with AUC {raw.leak.value:.2f}"
    if chosen is None:
        guessed = f"{guessed[0].lower()}{guessed[1:]}"
        return f"Nothing here helps: {guessed}, and no setting hides much of it."
    end = f"reaches {chosen.leak.value:.2f}"
    if chosen.leak_attribute != raw.leak_attribute:
        end += f" ({named(chosen.leak_attribute)})"
    if not chosen.leak_above_chance:
        end = f"does no better than chance ({chosen.leak.value:.2f})"
    after = f"{evidence.spoken_option(chosen)}{_or_tied(decision)}"
    return f"{guessed}; after {after} the best probe {end}."


def _given_away(evidence: Evidence) -> str:
    parts = [
        f"{named(leak.attribute)} with AUC {leak.auc.value:.2f} ({leak.auc.low:.2f} to "
        f"{leak.auc.high:.2f}{_or_chance(leak, '; ')})"
        for leak in (evidence.worst("raw", name) for name in evidence.singles)
    ]
    n = evidence.audit.data.n_features
    hidden = " or ".join(named(name) for name in evidence.audit.settings.sensitive)
    start = (
        f"From one column, not {hidden},"
        if n == 1
        else f"From {n} columns, none of which is {hidden},"
    )
    worst = evidence.worst("raw")
    return (
        f"{start} the best of three models guesses {joined(parts)}: of two people of different "
        f"{named(worst.attribute)}, it tells which is which in {100 * worst.auc.value:.0f} of 100 "
        f"cases; 50 is guessing."
    )


def _after(evidence: Evidence, chosen: Option) -> str:
    parts = []
    for name in evidence.singles:
        best = evidence.worst(evidence.readable(chosen), name)
        parts.append(f"{named(name)} with AUC {best.auc.value:.2f}{_or_chance(best, ' (', ')')}")
    return f"After {evidence.spoken_option(chosen)} it guesses {joined(parts)}."


def _or_chance(leak: Leak, before: str = ", ", after: str = "") -> str:
    return "" if leak.above_chance else f"{before}no better than chance{after}"


def _decisions(evidence: Evidence, decision: Decision) -> list[str]:
    """Return gaps, ratios and utility before and after, and those of models that exist."""
    raw, chosen = decision.raw, decision.chosen or decision.raw
    sentences = []
    for one in evidence.audit.representations:
        if one.kind in ("score", "decision"):
            sentences += _of_own(evidence, one.key, one.name)
    if evidence.audit.data.target is None:
        if decision.chosen is not None:
            sentences.append(f"It keeps {_value(chosen.utility)} of the variance of the columns.")
        return sentences
    target = evidence.audit.data.target
    what = _what(evidence).capitalize()
    equal = "" if evidence.audit.settings.above is not None else "= "
    yes = f" ({named(target.name)} {equal}{named(target.positive)})" if target.positive else ""
    for name in evidence.singles:
        before = _widest_of(evidence, raw, name)
        after = (
            "" if decision.chosen is None else f"{_widest_of(evidence, chosen, name)}, instead of "
        )
        sentences.append(
            f"{what}{yes} of {_model(evidence)} differ by {after}{before}, between the groups of "
            f"{named(name)}."
        )
    if raw.ratio is not None:
        after = "" if decision.chosen is None else f" and {_value(chosen.ratio)} with the advice"
        sentences.append(
            f"Ratio of selection rates (disparate impact; the four-fifths rule asks for 0.80 of a "
            f"favourable outcome): "
            f"{_value(raw.ratio)} with the raw features{after}."
        )
    if decision.chosen is not None:
        sentences.append(
            f"The {_utility(evidence)} of the best model goes from {_value(raw.utility)} to "
            f"{_value(chosen.utility)}."
        )
    return sentences


def _of_own(evidence: Evidence, key: str, name: str) -> list[str]:
    found = evidence.downstream.get((key, EXISTING))
    leak = evidence.worst(key)
    if found is None:
        return []
    number = _predicts_a_number(evidence, key)
    gaps = [
        f"{_gap(evidence, parity.gap) if number else _points(parity.gap)} between the groups of "
        f"{named(attribute)}"
        for attribute in evidence.singles
        if (parity := parity_of(found, attribute)) and parity.gap is not None
    ]
    utility = found.utility and f", at {_utility(evidence)} {_value(found.utility)}"
    return [
        f"{name}: {'predictions' if number else 'decisions'} differ by {joined(gaps)}"
        f"{utility or ''}; it gives "
        f"{named(leak.attribute)} away with AUC {leak.auc.value:.2f}{_or_chance(leak)}."
    ]


def _widest_of(evidence: Evidence, option: Option, attribute: str) -> str:
    asked = evidence.audit.settings.model
    gaps = [
        parity.gap
        for one in option.models
        if asked in ("any", one.model)
        and (parity := parity_of(evidence.decisions(option, one.model), attribute))
    ]
    return _gap(evidence, widest_gap(gaps)) if gaps else "an unknown gap"


# How numbers are said


def _columns(n: int) -> str:
    return "one column" if n == 1 else f"{n} columns"


def _model(evidence: Evidence) -> str:
    return MODELS[evidence.audit.settings.model]


def _what(evidence: Evidence) -> str:
    target = evidence.audit.data.target
    return "predictions" if target is not None and target.kind == "number" else "decisions"


def _utility(evidence: Evidence) -> str:
    target = evidence.audit.data.target
    if target is None:
        return "share of the variance kept"
    return "R²" if target.kind == "number" else "AUC"


def _value(estimate: Estimate | None, *, interval: bool = True) -> str:
    if estimate is None:
        return "n/a"
    ends = f" ({decimal(estimate.low)} to {decimal(estimate.high)})"
    return decimal(estimate.value) + ends * interval


def _limit(evidence: Evidence) -> str:
    gap = evidence.audit.settings.max_gap
    return _deviations(gap) if _what(evidence) == "predictions" else f"{100 * gap:g} points"


def _plain_gap(evidence: Evidence, gap: float) -> str:
    return _deviations(gap) if _what(evidence) == "predictions" else points(gap)


def _deviations(gap: float) -> str:
    return f"{decimal(gap)} standard deviations"


def _points(gap: Estimate) -> str:
    return f"{points(gap.value)} ({decimal(100 * gap.low, 1)} to {decimal(100 * gap.high, 1)})"


def _gap(evidence: Evidence, gap: Estimate | None) -> str:
    """Return a gap with its interval: in points, or in deviations and units of the target."""
    target = evidence.audit.data.target
    if gap is None:
        return "an unknown gap"
    if target is None or target.kind != "number":
        return _points(gap)
    unit = target.deviation or 1.0
    return (
        f"{decimal(gap.value, 2)} standard deviations of {named(target.name)} "
        f"({decimal(gap.low, 2)} to {decimal(gap.high, 2)}; {gap.value * unit:.3g} in its unit)"
    )
