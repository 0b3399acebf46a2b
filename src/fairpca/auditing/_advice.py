"""Which setting to take for an aim, in words, and what it does not protect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import AuditError
from ..metrics import joined, named, percent, points
from ._evidence import Evidence, largest
from ._recipes import python_recipe, shell_recipe
from ._results import Advice, CurvePoint, Downstream, Leak, Parity

AIMS = ("hide", "decide", "keep")

ENOUGH_ROWS = 100
"""Groups of fewer rows have rates too rough to choose by, unless there are no two larger ones."""

WORTH_IT = 0.005
"""A smaller gain in AUC is noise, or worth less than a smaller gap."""


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
    aim = evidence.audit.settings.aim
    if not evidence.fair():
        failed = [one for one in evidence.audit.representations if one.failure is not None]
        return Advice(
            aim=aim,
            representation=None,
            tradeoff=None,
            reasons=[
                "No fair representation could be fitted to these columns.",
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
    interval = f" ({worst.auc.low:.2f} to {worst.auc.high:.2f})" if worst.above_chance else ""
    rest = ", and no other attribute better" if len(evidence.singles) > 1 else ""
    reasons = [
        f"With {evidence.name(key)} the best of three probes {_recognised(worst)}{interval}{rest}; "
        f"from the raw features the AUC is {evidence.worst('raw', worst.attribute).auc.value:.2f}."
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


def _recognised(leak: Leak, where: str = "") -> str:
    what = f"{named(leak.attribute)}{where}"
    if leak.above_chance:
        return f"recognises {what} with AUC {leak.auc.value:.2f}"
    return f"does not recognise {what} better than chance (AUC {leak.auc.value:.2f})"


def _to_keep(evidence: Evidence) -> tuple[str, None, list[str]]:
    keys = evidence.fair()
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

    Of equally good ones, those with a guarantee (no lambda above 0) come first.

    Gaps are compared as they were measured: at the upper ends of their intervals, few tables have
    enough rows for any setting. The reasons say how far the gap may reach. Groups of fewer than
    100 rows do not take part: their rates would be noise that chooses.
    """
    options = _options(evidence)
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


def _options(evidence: Evidence) -> list[_Option]:
    curves = evidence.audit.curves
    options = [
        _option(evidence, key, None, evidence.linear(key))
        for key in evidence.fair()
        if key != "fair_pca" or not curves
    ]
    points_of = [p for curve in curves if curve.model == "linear" for p in curve.points]
    return options + [_option(evidence, "fair_pca", p.tradeoff, p) for p in points_of]


def _option(
    evidence: Evidence, key: str, tradeoff: float | None, found: Downstream | CurvePoint
) -> _Option:
    return _Option(
        key,
        tradeoff,
        gap=gap_of_large_groups(evidence, found),
        surely=max(parity.dp_gap.high for parity in _of_singles(evidence, found)),
        accuracy=found.accuracy.value,
        auc=found.auc.value,
    )


def _of_singles(evidence: Evidence, found: Downstream | CurvePoint) -> list[Parity]:
    return [parity for parity in found.parities if parity.attribute in evidence.singles]


def gap_of_large_groups(evidence: Evidence, found: Downstream | CurvePoint) -> float:
    """Return the largest gap between groups of enough rows, over the single attributes."""
    return max(large_gap(parity) for parity in _of_singles(evidence, found))


def large_gap(parity: Parity) -> float:
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
    small = [
        f"{named(a.name)} = {named(g.label)} ({g.n_rows})"
        for a in evidence.audit.data.attributes
        if a.name in evidence.singles
        for g in a.groups
        if g.n_rows < ENOUGH_ROWS
    ]
    if small:
        caveats.append(
            f"Groups of fewer than {ENOUGH_ROWS} rows are measured roughly: "
            f"{_the_first_four(small)}. Look at the intervals."
        )
    return [
        *caveats,
        "Only the named attributes were measured. Any other may be read from every representation "
        "here.",
        "All numbers are about people like those in this table. Audit again when the data, or "
        "what is decided with them, change.",
    ]
