"""The findings and the decision in plain words, and what the recommendation does not protect.

What is said is chosen here; how it is said is in the template ``advice.txt.j2``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..metrics import PROBES
from ..models import FEWEST_ROWS
from ._decision import Decision
from ._evidence import Evidence, largest, parity_of, telling_columns, widest_gap
from ._judging import ENOUGH_ROWS
from ._measures import MANY_COLUMNS, TREE_COLUMNS
from ._overview import explained_in_words
from ._phrases import in_words, joined, named
from ._recipes import python_recipe, shell_recipe
from ._results import (
    EXISTING,
    Advice,
    Estimate,
    Leak,
    ModelNumbers,
    Option,
    Parity,
    Setting,
    Summary,
)
from ._templates import template

_BEYOND_PROBE = 0.03  # AUC of a score over that of a linear probe: from here on it is told

MODELS = {
    **{name: probe.one for name, probe in PROBES.items()},
    "any": "the model family with the largest gap",
}


def advise(evidence: Evidence, decision: Decision) -> Advice:
    """Return the decision with its reasons, and code to copy where an option is recommended."""
    chosen = decision.chosen
    recipe = None
    if chosen is not None:
        method = evidence.representations[chosen.representation].setting.method
        setting = Setting(method, n_components=chosen.n_columns, tradeoff=chosen.tradeoff)
        recipe = (evidence.audit, setting)
    return Advice(
        aim=evidence.audit.settings.aim,
        verdict=decision.verdict,
        representation=chosen.representation if chosen else None,
        tradeoff=chosen.tradeoff if chosen else None,
        ties=decision.ties,
        options=decision.options,
        reasons=_written("reasons", evidence, decision),
        code=python_recipe(*recipe) if recipe else "",
        command=shell_recipe(*recipe) if recipe else "",
        caveats=_written("caveats", evidence, decision),
    )


def summarise(evidence: Evidence, decision: Decision) -> Summary:
    """Return the headline and the sentences under it."""
    (headline,) = _written("headline", evidence, decision)
    return Summary(headline, _written("sentences", evidence, decision))


def _written(part: str, evidence: Evidence, decision: Decision) -> list[str]:
    """Return what the template says in one of its parts, each entry in one line."""
    found: list[str] = []

    def say(caller: Callable[[], str]) -> str:
        found.append(" ".join(caller().split()))
        return ""

    template("advice.txt.j2").render(part=part, say=say, **_facts(evidence, decision))
    return found


def _facts(evidence: Evidence, decision: Decision) -> dict[str, Any]:
    """Return what the sentences are about."""
    audit, settings, target = evidence.audit, evidence.audit.settings, evidence.audit.data.target
    raw, chosen, option = decision.raw, decision.chosen, decision.chosen or decision.raw
    number = target is not None and target.kind == "number"
    leaks = evidence.leaks(evidence.readable(option))
    reduced = [(o.reduction.value, o) for o in decision.options[1:] if o.reduction is not None]

    def predicts_number(key: str) -> bool:
        return evidence.representations[key].kind == "score" and number

    def label(name: str) -> str:
        return named(evidence.attribute_label(name))

    def widest(option: Option, attribute: str) -> Estimate | None:
        return widest_gap([parity.gap for parity in evidence.parities(option, attribute)])

    def split_of(key: str, attribute: str) -> str:
        (own,) = [one for one in decision.options if one.representation == key]
        return explained_in_words(evidence, own, attribute)

    return {
        **{"audit": audit, "settings": settings, "target": target, "number": number},
        **{"evidence": evidence, "decision": decision, "raw": raw, "chosen": chosen},
        **{"option": option, "shown": evidence.representations[option.representation]},
        "deciding": settings.aim == "decide",
        "given_away": decision.verdict == "target leak",
        "telling": telling_columns(audit.notices, settings.target),
        "only_measured": decision.verdict == "only measured",
        "what": "predictions" if number else "decisions",
        "utility": "share of the variance kept" if target is None else "R²" if number else "AUC",
        "model": MODELS[settings.model],
        "models": MODELS,
        "n_kinds": in_words(len(PROBES)),
        "n_curved": in_words(len(PROBES) - 1),  # all but the linear one
        "enough_rows": ENOUGH_ROWS,
        "spoken": evidence.spoken_option,
        "label": label,
        "any_single": joined([label(name) for name in evidence.singles], "or"),
        "predicts_number": predicts_number,
        "widest": widest,
        "largest": largest,
        "few_people": _few_people(evidence, decision),
        "linear": largest([leak for leak in leaks if leak.probe == "linear"]),
        "nonlinear": largest([leak for leak in leaks if leak.probe != "linear"]),
        "runners_up": _runners_up(evidence, decision),
        "nearest": max(reduced, key=lambda pair: pair[0])[1] if reduced else None,
        "void_models": _void_models(evidence, option),
        "certified": {
            one.attribute: one.bound
            for one in evidence.certified()
            if one.representation == "fair_pls" and one.attribute in evidence.singles
        },
        "precision_gaps": _precision_gaps(evidence, raw, option),
        "small_groups": _small_groups(evidence),
        "score_tells": _score_tells(evidence, option),
        "worse": _worse(evidence, decision, widest),
        "few_rows": FEWEST_ROWS,
        "worst_parity": evidence.worst_parity,
        "bounds_of": evidence.bounds,
        "beyond_limit": evidence.beyond_limit,
        "explained": partial(explained_in_words, evidence),
        "split_of": split_of,
        "tree_columns": TREE_COLUMNS,
        "long": [
            named(evidence.label(one.name))
            for one in audit.data.columns
            if one.kind == "vector" and one.role == "feature" and one.n_outputs > MANY_COLUMNS
        ],
        "only_vectors": evidence.only_vectors,
        "several": evidence.several,
        "existing": _existing(decision),
        "existing_models": [
            (one, found)
            for one in audit.representations
            if (found := evidence.downstream.get((one.key, EXISTING)))
        ],
    }


def _few_people(evidence: Evidence, decision: Decision) -> list[tuple[Leak, Leak]]:
    """Return leaks of linear probes before and after, of which much is the price of few people.

    After the option that is recommended, or after LEACE where none is.
    """
    after = evidence.readable(decision.chosen) if decision.chosen else "leace"
    return [
        (before, leak)
        for leak in evidence.leaks(after)
        if leak.few_people
        and (before := evidence.leak["raw", leak.attribute, "linear"]).above_chance
    ]


def _runners_up(evidence: Evidence, decision: Decision) -> list[Option]:
    """Return the fair options beside the one that was chosen."""
    fair = {one.key for one in evidence.audit.representations if one.kind == "method"}
    chosen = decision.chosen
    return [
        one
        for one in decision.options
        if one.representation in fair
        and chosen is not None
        and (one.representation, one.tradeoff) != (chosen.representation, chosen.tradeoff)
    ]


def _void_models(evidence: Evidence, option: Option) -> list[ModelNumbers]:
    """Return the model families that the recommendation does not hold for."""
    limit = max(evidence.audit.settings.max_gap, option.gap.value if option.gap else 0.0)
    return [
        one
        for one in option.models
        if one.gap is not None and one.gap.low > limit and one.model in MODELS
    ]


def _precision_gaps(evidence: Evidence, raw: Option, option: Option) -> list[Estimate]:
    """Return how far precisions differ before and after; less than both where that is unknown."""
    if option.representation == raw.representation:
        return []
    return [
        parity.precision_gap
        for one in (raw, option)
        if (found := evidence.decisions(one, str(option.gap_model)))
        and (parity := parity_of(found, str(option.gap_attribute)))
        and parity.precision_gap is not None
    ]


def _score_tells(evidence: Evidence, option: Option) -> Parity | None:
    """Return whose groups the score of a linear model ranks better than the linear probe does."""
    decided = evidence.decisions(option, "linear")
    found = [
        (parity.score_auc, parity)
        for parity in (decided.parities if decided else [])
        if parity.attribute in evidence.singles and parity.score_auc is not None
    ]
    if not found:
        return None
    auc, parity = max(found, key=lambda pair: pair[0].value)
    leaks = evidence.leaks(evidence.readable(option), parity.attribute)
    read = max((leak.auc.value for leak in leaks if leak.probe == "linear"), default=1.0)
    return parity if auc.low > 0.5 and auc.value > read + _BEYOND_PROBE else None


def _worse(
    evidence: Evidence, decision: Decision, widest: Callable[[Option, str], Estimate | None]
) -> dict[str, list[tuple[str, float, float]]]:
    """Return what is worse than with the raw features: attributes, with ratios and gaps of both."""
    raw, chosen = decision.raw, decision.chosen
    found: dict[str, list[tuple[str, float, float]]] = {"ratios": [], "gaps": []}
    for name in evidence.singles if chosen else []:
        assert chosen is not None
        parities = [evidence.worst_parity(option, name) for option in (raw, chosen)]
        ratios = [parity.ratio.value for parity in parities if parity and parity.ratio]
        if len(ratios) == 2 and ratios[1] < ratios[0]:
            found["ratios"].append((name, ratios[0], ratios[1]))
        before, after = widest(raw, name), widest(chosen, name)
        if before and after and after.value > before.value:
            found["gaps"].append((name, before.value, after.value))
    return found


def _small_groups(evidence: Evidence) -> list[str]:
    """Return which groups, and joint ones, have too few people to be compared."""
    return list(
        dict.fromkeys(
            named(group.label)
            for one in evidence.audit.downstream[:1]
            for parity in one.parities
            for group in parity.groups
            if not group.compared
        )
    )


def _existing(decision: Decision) -> dict[str, list[Option]]:
    """Return what exists, by the attribute of its gap: it comes first for who came with a model."""
    found: dict[str, list[Option]] = {}
    for one in decision.options:
        if one.gap is not None and one.models[0].model == EXISTING:
            found.setdefault(str(one.gap_attribute), []).append(one)
    return found
