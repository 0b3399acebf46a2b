"""The dictionary of an audit, with its entries found by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...errors import UnreadableAuditError

Entry = dict[str, Any]
"""One of the plain dictionaries that an audit is made of."""

READABLE = "1"
"""The first number of the versions of the audit's structure that this page understands."""

HIDES_NOTHING = ("raw", "pca")
"""Representations that are there to be compared with."""


class AuditLookup:
    """Find what was measured by representation, attribute, probe and model.

    Parameters
    ----------
    audit : dict
        An audit as plain dictionaries, lists, strings and numbers.

    Raises
    ------
    UnreadableAuditError
        If it is not an audit, or one of an unknown version.
    """

    def __init__(self, audit: Entry) -> None:
        version = audit.get("schema_version") if isinstance(audit, dict) else None
        if str(version).split(".")[0] != READABLE:
            raise UnreadableAuditError(
                f"schema_version={version!r} cannot be shown: this page is made from audits of "
                f"version {READABLE}.x, as plain dictionaries. Make the audit again with the "
                f"installed version of fairpca, or install the version that made it."
            )
        self.audit = audit
        self.representations = [one for one in audit["representations"] if not one["failure"]]
        self.failures = [one for one in audit["representations"] if one["failure"]]
        self.attributes: list[Entry] = audit["data"]["attributes"]
        self._names: dict[str, str] = {one["key"]: one["name"] for one in audit["representations"]}
        self._leaks = {
            (one["representation"], one["attribute"], one["probe"]): one for one in audit["leakage"]
        }
        self._downstream = {
            (one["representation"], one["model"]): one for one in audit["downstream"]
        }

    def name(self, representation: str) -> str:
        """Return what people call a representation."""
        return self._names.get(representation, representation)

    def leak(self, representation: str, attribute: str, probe: str) -> Entry | None:
        """Return what a probe recognises, or None if it was not measured."""
        return self._leaks.get((representation, attribute, probe))

    def leaks(self, representation: str, attribute: str) -> list[Entry]:
        """Return what each probe recognises, without those that have no number."""
        return [
            one
            for one in self.audit["leakage"]
            if one["representation"] == representation
            and one["attribute"] == attribute
            and value_of(one["auc"]) is not None
        ]

    def downstream(self, representation: str, model: str) -> Entry | None:
        """Return the model that predicts the target from a representation, if there is one."""
        return self._downstream.get((representation, model))

    def probes(self) -> list[str]:
        """Return the probes in the order in which they first occur."""
        return in_order(one["probe"] for one in self.audit["leakage"])

    def models(self) -> list[str]:
        """Return the downstream models in the order in which they first occur."""
        return in_order(one["model"] for one in self.audit["downstream"])

    def before(self) -> str | None:
        """Return the representation that hides nothing: the raw features, or else PCA."""
        keys = [one["key"] for one in self.representations]
        return next((key for key in HIDES_NOTHING if key in keys), None)

    def after(self) -> str | None:
        """Return the representation to compare with: the advised, or else the first fair one."""
        fair = [one["key"] for one in self.representations if one["key"] not in HIDES_NOTHING]
        advised = self.audit["advice"]["representation"]
        return advised if advised in fair else next(iter(fair), None)

    def advised_lambda(self) -> float:
        """Return the advised lambda, 0 where there is none."""
        return float(self.audit["advice"]["tradeoff"] or 0.0)

    def readable_from(self, representation: str) -> str:
        """Return the representation whose leakage counts once lambda is above 0.

        Then plain PCA stands beside the fair components, scaled down: a model that rescales its
        inputs reads it.
        """
        return "pca" if representation == "fair_pca" and self.advised_lambda() else representation

    def decisions(self, representation: str, model: str) -> Entry | None:
        """Return the decisions on a representation, with the advised lambda where there is one."""
        if representation == "fair_pca" and self.advised_lambda():
            for curve in self.audit["curves"]:
                if curve["model"] == model:
                    points: list[Entry] = curve["points"]
                    return next(p for p in points if p["tradeoff"] == self.advised_lambda())
        return self.downstream(representation, model)


def parity_of(entry: Entry | None, attribute: str) -> Entry | None:
    """Return how decisions compare between the groups of an attribute, if that was measured."""
    parities = entry["parities"] if entry else []
    return next((one for one in parities if one["attribute"] == attribute), None)


def value_of(estimate: Entry | None) -> float | None:
    """Return the number of an estimate; None if there is no estimate or no number in it."""
    return None if estimate is None else estimate["value"]


def in_order(names: Iterable[str]) -> list[str]:
    """Return the distinct names in the order in which they first occur."""
    return list(dict.fromkeys(names))
