"""Which setting to take for an aim, in words, with the code that reproduces it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .errors import AuditError
from .numbers import percent
from .recipes import python_recipe, shell_recipe
from .results import Advice, Curve, CurvePoint, Data, Downstream, Leak, Representation, Settings

AIMS = ("hide", "decide", "keep")
FAIR = ("fair_pca", "fair_pca_covariances", "fair_kernel_pca", "leace")


@dataclass(frozen=True, eq=False)
class Evidence:
    """What advice is drawn from."""

    settings: Settings
    data: Data
    representations: Sequence[Representation]
    leakage: Sequence[Leak]
    downstream: Sequence[Downstream]
    curves: Sequence[Curve]

    @property
    def singles(self) -> list[str]:
        """Names of the attributes that are not intersections."""
        return [a.name for a in self.data.attributes if a.kind != "intersection"]

    def name(self, key: str) -> str:
        """Return the name of a representation for people."""
        return next(r.name for r in self.representations if r.key == key)

    def fair(self) -> list[str]:
        """Return the keys of the fair representations that could be fitted."""
        return [r.key for r in self.representations if r.key in FAIR and r.failure is None]

    def leaks(self, key: str, *, probe: str | None = None) -> list[Leak]:
        """Return the leaks of the single attributes from a representation."""
        return [
            leak
            for leak in self.leakage
            if leak.representation == key
            and leak.attribute in self.singles
            and probe in (None, leak.probe)
        ]

    def worst(self, key: str, *, probe: str | None = None) -> Leak:
        """Return the largest of them."""
        return max(self.leaks(key, probe=probe), key=lambda leak: leak.auc.value)

    def usefulness(self, key: str) -> float:
        """Return the AUC of the best downstream model, or the variance kept without a target."""
        aucs = [d.auc.value for d in self.downstream if d.representation == key]
        if aucs:
            return max(aucs)
        kept = next(r.variance_kept for r in self.representations if r.key == key)
        return kept.value if kept is not None else 0.0


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
    choose = {"hide": _to_hide, "decide": _to_decide, "keep": _to_keep}[aim]
    key, tradeoff, reasons = choose(evidence)
    k = next(r.n_columns for r in evidence.representations if r.key == key)
    return Advice(
        aim=aim,
        representation=key,
        tradeoff=tradeoff,
        reasons=reasons,
        code=python_recipe(evidence.settings, evidence.data, key, k, tradeoff),
        command=shell_recipe(evidence.settings, evidence.data, key, k, tradeoff),
        caveats=_caveats(evidence, key, tradeoff),
    )


def _to_hide(evidence: Evidence) -> tuple[str, None, list[str]]:
    """Of those that hide best, as far as that can be told apart, the most useful one."""
    keys = evidence.fair()
    best = min(keys, key=lambda key: evidence.worst(key).auc.value)
    limit = evidence.worst(best).auc.high
    as_good = [key for key in keys if evidence.worst(key).auc.value <= limit]
    key = max(as_good, key=evidence.usefulness)
    worst, raw = evidence.worst(key), evidence.worst("raw")
    reasons = [
        f"With {evidence.name(key)} the best of three probes recognises {worst.attribute} with AUC "
        f"{worst.auc.value:.2f} ({worst.auc.low:.2f} to {worst.auc.high:.2f}); from the raw "
        f"features it is {raw.auc.value:.2f} ({raw.attribute})."
    ]
    others = [evidence.name(k) for k in as_good if k != key]
    if others:
        reasons.append(
            f"{_joined(others)} cannot be told apart from it in what is hidden, but "
            f"{'are' if len(others) > 1 else 'is'} less useful here."
        )
    return key, None, reasons


def _to_keep(evidence: Evidence) -> tuple[str, None, list[str]]:
    keys = evidence.fair()
    key = "leace" if "leace" in keys else max(keys, key=evidence.usefulness)
    worst = evidence.worst(key, probe="linear")
    kept = next(r.variance_kept for r in evidence.representations if r.key == key)
    assert kept is not None
    return (
        key,
        None,
        [
            f"{evidence.name(key)} keeps {percent(kept.value, 0)} of the variance, and a linear "
            f"model recognises {worst.attribute} from it with AUC {worst.auc.value:.2f}."
        ],
    )


@dataclass(frozen=True)
class _Option:
    key: str
    tradeoff: float | None
    gap: float
    accuracy: float
    auc: float


def _to_decide(evidence: Evidence) -> tuple[str, float | None, list[str]]:
    """Of the linear models whose gaps are small enough, the one with the highest AUC."""
    options = _options(evidence)
    allowed = evidence.settings.max_gap
    within = [option for option in options if option.gap <= allowed]
    if within:
        best = max(within, key=lambda option: (option.auc, -option.gap))
    else:
        best = min(options, key=lambda option: option.gap)
    raw = _option("raw", None, _linear(evidence, "raw"), evidence.singles)
    what = evidence.name(best.key)
    if best.tradeoff:
        what += f" with lambda = {best.tradeoff:g}"
    outcome = (
        f"With {what}, the decisions of a linear model differ by {percent(best.gap)} between "
        f"groups (raw features: {percent(raw.gap)}), at an AUC of {best.auc:.3f} ({raw.auc:.3f}) "
        f"and an accuracy of {percent(best.accuracy)} ({percent(raw.accuracy)})."
    )
    if within:
        reasons = [
            outcome,
            f"Of the {len(options)} settings tried, {len(within)} "
            f"{'stays' if len(within) == 1 else 'stay'} within the gap of {percent(allowed, 0)} "
            f"that you allow{'; of these, this one predicts best' if len(within) > 1 else ''}.",
        ]
    else:
        reasons = [
            outcome,
            f"None of the {len(options)} settings tried stays within the gap of "
            f"{percent(allowed, 0)} that you allow; this one comes nearest.",
        ]
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
    gap = max(p.dp_gap.value for p in found.parities if p.attribute in singles)
    return _Option(key, tradeoff, gap, found.accuracy.value, found.auc.value)


def _linear(evidence: Evidence, key: str) -> Downstream:
    return next(d for d in evidence.downstream if d.representation == key and d.model == "linear")


def _caveats(evidence: Evidence, key: str, tradeoff: float | None) -> list[str]:
    worst = max(
        (leak for leak in evidence.leaks(key) if leak.probe != "linear"),
        key=lambda leak: leak.auc.value,
    )
    seen = (
        f"here the better of two still recognises {worst.attribute} with AUC {worst.auc.value:.2f}."
        if worst.above_chance
        else f"here two of them did not do better than chance (AUC {worst.auc.value:.2f} for "
        f"{worst.attribute}), but others might."
    )
    caveats = [f"Equal means do not hide what a non-linear model can see: {seen}"]
    if tradeoff:
        caveats.append(
            f"With lambda = {tradeoff:g} the attributes are still in the representation, scaled "
            f"down: a model that rescales its inputs reads them. The guarantee of fair PCA holds "
            f"for lambda = 0 only."
        )
    small = [
        f"{a.name} = {g.label} ({g.n_rows})"
        for a in evidence.data.attributes
        if a.kind != "intersection"
        for g in a.groups
        if g.n_rows < 100
    ]
    if small:
        caveats.append(
            f"Groups of fewer than 100 rows are measured roughly: {_joined(small[:4])}"
            f"{' and others' if len(small) > 4 else ''}. Look at the intervals."
        )
    caveats.append(
        "Only the named attributes were measured. Others, such as age or a disability, may be "
        "read from every representation here."
    )
    caveats.append(
        "All numbers are about people like those in this table. Audit again when the data, or "
        "what is decided with them, change."
    )
    return caveats


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


def _joined(names: Sequence[str]) -> str:
    if len(names) <= 1:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
