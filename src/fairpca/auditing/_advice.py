"""Which setting to take for an aim, in words, with the code that reproduces it."""

from __future__ import annotations

from ..errors import AuditError
from ..metrics import joined, named, percent
from ._caveats import caveats_of
from ._decisions_advised import best_to_decide
from ._evidence import Evidence, largest
from ._recipes import python_recipe, shell_recipe
from ._results import Advice, Leak

AIMS = ("hide", "decide", "keep")


def checked_aim(aim: str | None, has_target: bool) -> str:
    """Return the aim, or the usual one: decisions where there are some, else hiding."""
    if aim is None:
        return "decide" if has_target else "hide"
    if aim not in AIMS:
        raise AuditError(f"aim='{aim}' is none of {', '.join(map(repr, AIMS))}.")
    if aim == "decide" and not has_target:
        raise AuditError(
            "The aim 'decide' is about decisions, and no target was named. Name one, or take the "
            "aim 'hide' or 'keep'."
        )
    return aim


def advise(evidence: Evidence) -> Advice:
    """Return the setting to take, and why."""
    aim = evidence.settings.aim
    if not evidence.fair():
        return _nothing_fits(evidence)
    choose = {"hide": _to_hide, "decide": best_to_decide, "keep": _to_keep}[aim]
    key, tradeoff, reasons = choose(evidence)
    k = next(r.n_columns for r in evidence.representations if r.key == key)
    return Advice(
        aim=aim,
        representation=key,
        tradeoff=tradeoff,
        reasons=reasons,
        code=python_recipe(evidence.settings, evidence.data, key, k, tradeoff),
        command=shell_recipe(evidence.settings, evidence.data, key, k, tradeoff),
        caveats=caveats_of(evidence, key, tradeoff),
    )


def _to_hide(evidence: Evidence) -> tuple[str, None, list[str]]:
    """Of those that hide best, as far as that can be told apart, the most useful one."""
    keys = evidence.fair()
    best = min(keys, key=lambda key: _hidden(evidence.worst(key)))
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
    raw = largest([leak for leak in evidence.leaks("raw") if leak.attribute == worst.attribute])
    recognised = (
        f"recognises {named(worst.attribute)} with AUC {worst.auc.value:.2f} "
        f"({worst.auc.low:.2f} to {worst.auc.high:.2f})"
        if worst.above_chance
        else f"does not recognise {named(worst.attribute)} better than chance "
        f"(AUC {worst.auc.value:.2f})"
    )
    rest = ", and no other attribute better" if len(evidence.singles) > 1 else ""
    reasons = [
        f"With {evidence.name(key)} the best of three probes {recognised}{rest}; from the raw "
        f"features the AUC is {raw.auc.value:.2f}."
    ]
    others = [evidence.name(k) for k in as_good if k != key]
    if others:
        reasons.append(
            f"{joined(others)} cannot be told apart from it in what is hidden, but "
            f"{'are' if len(others) > 1 else 'is'} less useful here."
        )
    return key, None, reasons


def _hidden(leak: Leak) -> tuple[float, float]:
    """Return how much is given away: nothing, where chance explains it."""
    return leak.auc.value if leak.above_chance else 0.5, leak.auc.value


def _to_keep(evidence: Evidence) -> tuple[str, None, list[str]]:
    keys = evidence.fair()
    key = "leace" if "leace" in keys else max(keys, key=evidence.usefulness)
    worst = evidence.worst(key, probe="linear")
    kept = next(r.variance_kept for r in evidence.representations if r.key == key)
    assert kept is not None
    recognised = (
        f"recognises {named(worst.attribute)} from it with AUC {worst.auc.value:.2f}"
        if worst.above_chance
        else f"does not recognise {named(worst.attribute)} from it better than chance "
        f"(AUC {worst.auc.value:.2f})"
    )
    return (
        key,
        None,
        [
            f"{evidence.name(key)} keeps {percent(kept.value, 0)} of the variance, and a linear "
            f"model {recognised}."
        ],
    )


def _nothing_fits(evidence: Evidence) -> Advice:
    reasons = [f"{r.name}: {r.failure}" for r in evidence.representations if r.failure is not None]
    return Advice(
        aim=evidence.settings.aim,
        representation=None,
        tradeoff=None,
        reasons=["No fair representation could be fitted to these columns.", *reasons],
        code="",
        command="",
        caveats=["What the raw features give away stands as measured."],
    )
