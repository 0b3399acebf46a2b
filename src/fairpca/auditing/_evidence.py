"""An audit, with what was measured found by representation, attribute, probe and model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from ._audit_result import Audit
from ._phrases import joined, named
from ._results import (
    EXISTING,
    Bounds,
    CertifiedGap,
    Column,
    Comparison,
    CurvePoint,
    Downstream,
    Estimate,
    ExplainedGap,
    Leak,
    Notice,
    Option,
    Parity,
)

_SMALL_BOUND = 0.1  # a certificate up to this is informative, whatever the raw features do


KNOWS_TARGET = 0.99
"""From this AUC on, one column predicts the target: nothing is left for a model."""


def telling_columns(notices: Sequence[Notice], target: str | None) -> list[Notice]:
    """Return data warnings about features that alone predict the target, the surest first."""
    found = [
        one
        for one in notices
        if one.kind in ("leak", "copy") and one.column and one.other == target
        and (one.value or 0.0) >= KNOWS_TARGET
    ]  # fmt: skip
    return sorted(found, key=lambda one: -(one.value or 0.0))


class Evidence:
    """What recommendation, summary and page are made from.

    `fitted` are the representations that did not fail, `singles` the names of the attributes that
    are not intersections, `probable` of those whose groups are probabilities; probes and models are
    in the order in which they first occur.
    """

    def __init__(self, audit: Audit) -> None:
        self.audit = audit
        self.representations = {one.key: one for one in audit.representations}
        self.fitted = [one for one in audit.representations if not one.failure]
        self.singles = [one.name for one in audit.data.attributes if one.kind != "intersection"]
        self.probable = [one.name for one in audit.data.attributes if one.kind == "probabilities"]
        self.probes = list(dict.fromkeys(one.probe for one in audit.leakage))
        self.models = list(dict.fromkeys(one.model for one in audit.downstream))
        self.leak = {(one.representation, one.attribute, one.probe): one for one in audit.leakage}
        self.downstream = {(one.representation, one.model): one for one in audit.downstream}

    @property
    def only_vectors(self) -> Column | None:
        """The column of vectors that is all there is of features: no dimension is a proxy."""
        features = [one for one in self.audit.data.columns if one.role == "feature"]
        return features[0] if [one.kind for one in features] == ["vector"] else None

    def several(self, attribute: str) -> bool:
        """Whether an attribute has more than two groups: their AUC is a mean over the groups."""
        found = [one for one in self.audit.data.attributes if one.name == attribute]
        return any(sum(group.measured for group in one.groups) > 2 for one in found)

    def leaks(self, key: str, attribute: str | None = None) -> list[Leak]:
        """Return the leaks of one attribute, or of all single ones."""
        attributes = self.singles if attribute is None else [attribute]
        return [
            leak
            for leak in self.audit.leakage
            if leak.representation == key and leak.attribute in attributes
        ]

    def certified(self) -> list[CertifiedGap]:
        """Return the informative certificates: below the raw gap, or small."""
        largest_gap = dict.fromkeys((one.name for one in self.audit.data.attributes), _SMALL_BOUND)
        for found in self.audit.downstream:
            for parity in found.parities if found.representation == "raw" else []:
                gap = 0.0 if parity.gap is None else parity.gap.value
                largest_gap[parity.attribute] = max(gap, largest_gap.get(parity.attribute, 0.0))
        return [
            one
            for one in self.audit.certificates
            if one.bound < largest_gap.get(one.attribute, 0.0)
        ]

    def decisions(self, option: Option, model: str) -> Downstream | CurvePoint | None:
        """Return what a model family decides with an option."""
        if option.tradeoff is None:
            return self.downstream.get((option.representation, model))
        points = [p for curve in self.audit.curves if curve.model == model for p in curve.points]
        return next((point for point in points if point.tradeoff == option.tradeoff), None)

    def parities(self, option: Option, attribute: str) -> list[Parity]:
        """Return how decisions compare, of the models that were asked for, or of what exists."""
        asked = self.audit.settings.model
        models = [
            m.model for m in option.models if asked in ("any", m.model) or m.model == EXISTING
        ]
        found = (parity_of(self.decisions(option, model), attribute) for model in models)
        return [parity for parity in found if parity is not None]

    def worst_parity(self, option: Option, attribute: str) -> Parity | None:
        """Return that of the widest gap."""
        found = self.parities(option, attribute)
        return max(found, key=lambda p: -1.0 if p.gap is None else p.gap.value, default=None)

    def bounds(self, option: Option, attribute: str) -> Bounds | None:
        """Return what the gap of an attribute may be, where the groups of some are unknown."""
        return widest_bounds(self.parities(option, attribute))

    def explained(self, option: Option, attribute: str) -> ExplainedGap | None:
        """Return the widest gap of an attribute split by legitimate factors, if there are any."""
        worst = self.worst_parity(option, attribute)
        return None if worst is None else worst.explained

    def factors_tell(self, attribute: str) -> Leak | None:
        """Return how well an attribute is predicted from the legitimate factors alone."""
        found = [one for one in self.audit.factors or [] if one.attribute == attribute]
        return largest(found) if found else None

    def leak_given(self, attribute: str) -> Leak | None:
        """Return what is predicted among people of equal factors, if that was measured."""
        given = self.audit.leakage_given or []
        return next((one for one in given if one.attribute == attribute), None)

    def beyond_limit(self, option: Option) -> Bounds | None:
        """Return the widest bounds of single attributes, if they exceed the limit."""
        of_singles = [p for name in self.singles for p in self.parities(option, name)]
        found = widest_bounds([p for p in of_singles if p.attribute not in self.probable])
        return found if found and found.high > self.audit.settings.max_gap else None

    def assumed(self, option: Option) -> str:
        """Return what must hold for the verdict on an option where groups are probabilities.

        Nothing, where the verdict is not about them; and whatever decisions depend on, where bounds
        are on the same side of the limit.
        """
        limit, gap = self.audit.settings.max_gap, option.gap
        of = {name: self.bounds(option, name) for name in self.probable}
        unsure = {name: bounds for name, bounds in of.items() if bounds is not None}
        if gap is None or gap.low <= limit < gap.high:
            return ""
        settled = all(bounds.high <= limit for bounds in unsure.values())
        if gap.low > limit:
            gaps = {n: widest_gap([p.gap for p in self.parities(option, n)]) for n in self.singles}
            above = {name for name, one in gaps.items() if one is not None and one.low > limit}
            if above - unsure.keys():
                return ""
            settled = any(unsure[name].low > limit for name in above)
        if not unsure:
            return ""
        more = "" if settled else f" and {self.decided} do not depend on the group beyond them"
        return f"probabilities of groups are calibrated{more}"

    @property
    def decided(self) -> str:
        """What gaps compare: decisions, or predictions of a number."""
        target = self.audit.data.target
        return "predictions" if target is not None and target.kind == "number" else "decisions"

    @property
    def assumption(self) -> str:
        """What numbers mean where groups are probabilities; empty where they are known."""
        if not self.probable:
            return ""
        whose = joined([named(self.attribute_label(name)) for name in self.probable])
        if not self.audit.downstream:
            return f"Groups of {whose} are probabilities: leakage is that of the proxy."
        return (
            f"Groups of {whose} are probabilities: gaps are right if these are calibrated and "
            f"{self.decided} do not depend on the group beyond them; where they do, gaps are "
            f"usually too small."
        )

    def told_of_bounds(self, bounds: Bounds, ends: str) -> str:
        """Say why there are bounds, and how large the gap may be."""
        return told_of_bounds(bounds, ends, self.decided)

    def readable(self, option: Option) -> str:
        """Return the key of what a model that rescales its inputs reads: above lambda 0, PCA."""
        return "pca" if option.tradeoff else option.representation

    def proxies(self, attribute: str) -> list[str]:
        """Return the proxies: columns without which an attribute is predicted worse."""
        if self.only_vectors:
            return []
        return [
            one.column
            for one in self.audit.proxy_importance
            if one.attribute == attribute and one.auc_drop.low > 0
        ]

    def label(self, column: str) -> str:
        """Return what a column means, with its name; just the name where nobody said."""
        said = (self.audit.data.labels or {}).get(column)
        return column if said in (None, column) else f"{said} ({column})"

    def attribute_label(self, name: str) -> str:
        """Return what people call an attribute or an intersection; its name where nobody said."""
        labels = self.audit.data.labels or {}
        joint = [
            one.columns
            for one in self.audit.data.attributes
            if one.name == name and one.kind == "intersection"
        ]
        return labels.get(name) or " × ".join(
            labels.get(one, one) for one in (joint or [[name]])[0]
        )

    def spoken_option(self, option: Option) -> str:
        """Return the name of an option for the middle of a sentence."""
        name = option.name
        if name == "Raw features":
            return "the raw features"
        return name[0].lower() + name[1:] if name[1:2].islower() else name


def largest(leaks: Sequence[Leak]) -> Leak:
    """Return the leak with the highest AUC, one above chance if there is any."""
    return max(leaks, key=lambda leak: (leak.above_chance, leak.auc.value))


def widest_gap(gaps: Sequence[Estimate | None]) -> Estimate | None:
    """Return the largest of several gaps; it is above a limit if one of them is."""
    known = [gap for gap in gaps if gap is not None]
    ends = ([getattr(gap, end) for gap in known] for end in ("value", "low", "high"))
    return Estimate(*map(max, ends)) if known else None


def told_of_bounds(bounds: Bounds, ends: str, decided: str) -> str:
    """Say why there are bounds of what is decided, and how large the gap may be."""
    n = f"{bounds.n_unknown:,}"
    if not bounds.n_probable:
        return f"The group of {n} people is unknown: whoever they are, the gap is {ends}."
    others = f", and whoever the {n} people of unknown group are" if bounds.n_unknown else ""
    return (
        f"If probabilities are calibrated, the gap is {ends}, whatever {decided} depend on{others}."
    )


def widest_bounds(parities: Sequence[Parity]) -> Bounds | None:
    """Return what the largest of several gaps may be, where the groups of some are unknown."""
    known = [parity.bounds for parity in parities if parity.bounds is not None]
    if not known:
        return None
    largest_of = {f.name: max(getattr(one, f.name) for one in known) for f in fields(Bounds)}
    return Bounds(**largest_of)


def parity_of(found: Downstream | CurvePoint | None, attribute: str) -> Parity | None:
    """Return how decisions compare between the groups of an attribute, if that was measured."""
    parities = found.parities if found else []
    return next((one for one in parities if one.attribute == attribute), None)


def comparison(parity: Parity) -> Comparison:
    """Return which groups a gap compares, and those that it leaves out."""
    left_out = [group for group in parity.groups if not group.compared]
    return Comparison(parity.n_compared, parity.n_groups, left_out)
