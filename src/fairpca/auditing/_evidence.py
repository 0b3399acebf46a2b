"""An audit, with what was measured found by representation, attribute, probe and model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ._audit_result import Audit
from ._results import Attribute, CurvePoint, Downstream, Estimate, Leak, Parity, Representation

FAIR = ("fair_pca", "fair_pca_covariances", "fair_kernel_pca", "leace", "fair_pls")
HIDES_NOTHING = ("raw", "pca")
"""Representations that are there to be compared with."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What advice, summary and page are drawn from; in one from JSON, numbers may be None."""

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

    def spoken(self, key: str) -> str:
        """Return its name for the middle of a sentence: 'the raw features', but 'PCA'."""
        name = self.name(key)
        if name == "Raw features":
            return "the raw features"
        return name[0].lower() + name[1:] if name[1:2].islower() else name

    def representation(self, key: str) -> Representation:
        """Return a representation."""
        return next(one for one in self.audit.representations if one.key == key)

    def fair(self) -> list[str]:
        """Return the keys of the fair representations that could be fitted."""
        return [one.key for one in self.fitted if one.key in FAIR]

    @cached_property
    def leak(self) -> dict[tuple[str, str, str], Leak]:
        """What was measured, by representation, attribute and probe."""
        return {(one.representation, one.attribute, one.probe): one for one in self.audit.leakage}

    def leaks(self, key: str, attribute: str | None = None, probe: str | None = None) -> list[Leak]:
        """Return the leaks that have a number: of one attribute, or of all single ones."""
        attributes = self.singles if attribute is None else [attribute]
        return [
            leak
            for leak in self.audit.leakage
            if leak.representation == key
            and leak.attribute in attributes
            and probe in (None, leak.probe)
            and leak.auc.value is not None
        ]

    def worst(self, key: str, attribute: str | None = None, probe: str | None = None) -> Leak:
        """Return the largest of them; what chance explains counts after what it does not."""
        return largest(self.leaks(key, attribute, probe))

    def worst_of_each(self, key: str) -> list[Leak]:
        """Return the largest leak of each single attribute, whatever the probe."""
        return [self.worst(key, name) for name in self.singles]

    @cached_property
    def downstream(self) -> dict[tuple[str, str], Downstream]:
        """The models that predict the target, by representation and kind of model."""
        return {(one.representation, one.model): one for one in self.audit.downstream}

    def usefulness(self, key: str) -> float:
        """Return the AUC of the best downstream model, or the variance kept without a target."""
        aucs = [one.auc.value for one in self.audit.downstream if one.representation == key]
        kept = self.representation(key).variance_kept
        return max(aucs) if aucs else kept.value if kept is not None else 0.0

    def before(self) -> str | None:
        """Return the representation that hides nothing: the raw features, or else PCA."""
        keys = [one.key for one in self.fitted]
        return next((key for key in HIDES_NOTHING if key in keys), None)

    def after(self) -> str | None:
        """Return the representation to compare with: the advised, or else the first fair one."""
        fair = [one.key for one in self.fitted if one.key not in HIDES_NOTHING]
        advised = self.audit.advice.representation
        return advised if advised in fair else next(iter(fair), None)

    def readable_from(self, key: str) -> str:
        """Return what can be read: above lambda 0, plain PCA stands beside the fair components."""
        return "pca" if key == "fair_pca" and self.audit.advice.tradeoff else key

    def decisions(self, key: str, model: str) -> Downstream | CurvePoint | None:
        """Return the decisions on a representation, with the advised lambda where there is one."""
        advised = self.audit.advice.tradeoff
        if key == "fair_pca" and advised:
            for curve in self.audit.curves:
                if curve.model == model:
                    return next(point for point in curve.points if point.tradeoff == advised)
        return self.downstream.get((key, model))

    def linear(self, key: str) -> Downstream | CurvePoint:
        """Return those of the linear model, which is always asked where there is a target."""
        found = self.decisions(key, "linear")
        assert found is not None
        return found


def largest(leaks: Sequence[Leak]) -> Leak:
    """Return the leak with the highest AUC, one above chance if there is any."""
    return max(leaks, key=lambda leak: (leak.above_chance, leak.auc.value))


def parity_of(found: Downstream | CurvePoint | None, attribute: str) -> Parity | None:
    """Return how decisions compare between the groups of an attribute, if that was measured."""
    parities = found.parities if found else []
    return next((one for one in parities if one.attribute == attribute), None)


def value_of(estimate: Estimate | None) -> float | None:
    """Return the number of an estimate; None if there is no estimate or no number in it."""
    return None if estimate is None else estimate.value
