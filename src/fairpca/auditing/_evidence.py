"""An audit, with what was measured found by representation, attribute, probe and model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ._audit_result import Audit
from ._results import (
    Attribute,
    CertifiedGap,
    CurvePoint,
    Downstream,
    Estimate,
    Leak,
    Option,
    Parity,
    Representation,
)

_SMALL_BOUND = 0.2  # a certificate below this says something, whatever the raw features do


@dataclass(frozen=True, eq=False)
class Evidence:
    """What advice, summary and page are drawn from."""

    audit: Audit

    @cached_property
    def fitted(self) -> list[Representation]:
        """The representations that did not fail."""
        return [one for one in self.audit.representations if not one.failure]

    @property
    def attributes(self) -> list[Attribute]:
        """The attributes, then their intersections."""
        return self.audit.data.attributes

    @cached_property
    def singles(self) -> list[str]:
        """Names of the attributes that are not intersections."""
        return [one.name for one in self.attributes if one.kind != "intersection"]

    @cached_property
    def probes(self) -> list[str]:
        """The probes in the order in which they first occur."""
        return list(dict.fromkeys(one.probe for one in self.audit.leakage))

    @cached_property
    def models(self) -> list[str]:
        """The downstream models in the order in which they first occur."""
        return list(dict.fromkeys(one.model for one in self.audit.downstream))

    def name(self, key: str) -> str:
        """Return the name of a representation for people."""
        return next((one.name for one in self.audit.representations if one.key == key), key)

    def representation(self, key: str) -> Representation:
        """Return a representation."""
        return next(one for one in self.audit.representations if one.key == key)

    @cached_property
    def leak(self) -> dict[tuple[str, str, str], Leak]:
        """What was measured, by representation, attribute and probe."""
        return {(one.representation, one.attribute, one.probe): one for one in self.audit.leakage}

    def leaks(self, key: str, attribute: str | None = None, probe: str | None = None) -> list[Leak]:
        """Return the leaks of one attribute, or of all single ones."""
        attributes = self.singles if attribute is None else [attribute]
        return [
            leak
            for leak in self.audit.leakage
            if leak.representation == key
            and leak.attribute in attributes
            and probe in (None, leak.probe)
        ]

    def worst(self, key: str, attribute: str | None = None, probe: str | None = None) -> Leak:
        """Return the largest of them; what chance explains counts after what it does not."""
        return largest(self.leaks(key, attribute, probe))

    @cached_property
    def downstream(self) -> dict[tuple[str, str], Downstream]:
        """The models that predict the target, by representation and kind of model."""
        return {(one.representation, one.model): one for one in self.audit.downstream}

    def certified(self) -> list[CertifiedGap]:
        """Return the certificates that say something: of less than the raw gap, or of little."""
        largest_gap = dict.fromkeys((one.name for one in self.attributes), _SMALL_BOUND)
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
        """Return what a kind of model decides with a setting."""
        if option.tradeoff is None:
            return self.downstream.get((option.representation, model))
        points = [p for curve in self.audit.curves if curve.model == model for p in curve.points]
        return next((point for point in points if point.tradeoff == option.tradeoff), None)

    def readable(self, option: Option) -> str:
        """Return the key of what a model that rescales its inputs reads: above lambda 0, PCA."""
        return "pca" if option.tradeoff else option.representation

    def carried(self, attribute: str) -> list[str]:
        """Return the columns without which an attribute is recognised less, beyond chance."""
        return [
            one.column
            for one in self.audit.proxy_importance
            if one.attribute == attribute and one.auc_drop.low > 0
        ]

    def spoken_option(self, option: Option) -> str:
        """Return the name of a setting for the middle of a sentence."""
        name = option.name
        if name == "Raw features":
            return "the raw features"
        return name[0].lower() + name[1:] if name[1:2].islower() else name

    @property
    def advised(self) -> Option | None:
        """The recommended setting, if there is one."""
        return self.audit.advice.option


def largest(leaks: Sequence[Leak]) -> Leak:
    """Return the leak with the highest AUC, one above chance if there is any."""
    return max(leaks, key=lambda leak: (leak.above_chance, leak.auc.value))


def widest_gap(gaps: Sequence[Estimate | None]) -> Estimate | None:
    """Return the largest of several gaps; it is above a limit if one of them is."""
    known = [gap for gap in gaps if gap is not None]
    ends = ([getattr(gap, end) for gap in known] for end in ("value", "low", "high"))
    return Estimate(*map(max, ends)) if known else None


def parity_of(found: Downstream | CurvePoint | None, attribute: str) -> Parity | None:
    """Return how decisions compare between the groups of an attribute, if that was measured."""
    parities = found.parities if found else []
    return next((one for one in parities if one.attribute == attribute), None)
