"""What was found, as advice and summary ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ._results import Curve, Data, Downstream, Leak, Representation, Settings

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
        """Return the largest of them; what chance explains counts after what it does not."""
        return largest(self.leaks(key, probe=probe))

    def worst_of_each(self, key: str) -> list[Leak]:
        """Return the largest leak of each single attribute, whatever the probe."""
        leaks = self.leaks(key)
        return [largest([k for k in leaks if k.attribute == name]) for name in self.singles]

    def usefulness(self, key: str) -> float:
        """Return the AUC of the best downstream model, or the variance kept without a target."""
        aucs = [d.auc.value for d in self.downstream if d.representation == key]
        if aucs:
            return max(aucs)
        kept = next(r.variance_kept for r in self.representations if r.key == key)
        return kept.value if kept is not None else 0.0


def largest(leaks: Sequence[Leak]) -> Leak:
    """Return the leak with the highest AUC, one above chance if there is any."""
    return max(leaks, key=lambda leak: (leak.above_chance, leak.auc.value))
