"""From what each split showed to what the audit says, number by number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import combine_pvalues

from ..metrics import PROBES, AucDraws
from ..tables import Measured
from ._decisions import CURVE_MODELS, LAMBDAS, Judged, SplitCurve, parity
from ._estimates import pooled, share_error
from ._measures import Measures
from ._representations import METHODS
from ._results import (
    CertifiedGap,
    Curve,
    CurvePoint,
    Downstream,
    Estimate,
    Gap,
    Leak,
    Notice,
    Panel,
    PanelGroups,
    Parity,
    Pictures,
    Representation,
    Spectrum,
)

DRAWN = ("pca", "fair_pca", "fair_pca_covariances", "fair_kernel_pca")
UNBOUNDED = (0.0, float("inf"))


class Findings:
    """All splits of all representations, and how to read them, attribute by attribute."""

    def __init__(
        self,
        measures: Sequence[Measures],
        curves: Sequence[SplitCurve],
        attributes: Sequence[Measured],
        confidence: float,
    ) -> None:
        by_split = sorted(measures, key=lambda m: m.index)
        self.all = {key: [m for m in by_split if m.key == key] for key in METHODS}
        self.measured = {
            key: found
            for key, found in self.all.items()
            if found and all(m.failure is None for m in found)
        }
        self.curves_found = sorted(curves, key=lambda c: c.index)
        self.attributes = attributes
        self.confidence = confidence

    def representations(self) -> list[Representation]:
        """Return what was compared, and what could not be."""
        return [self._representation(key, found) for key, found in self.all.items() if found]

    def _representation(self, key: str, found: Sequence[Measures]) -> Representation:
        method = METHODS[key]
        failure = next((m.failure for m in found if m.failure is not None), None)
        if failure is not None:
            return Representation(key, method.name, method.promise, None, None, None, failure)
        kept, errors = zip(*(m.variance_kept for m in found), strict=True)
        return Representation(
            key=key,
            name=method.name,
            promise=method.promise,
            n_columns=round(np.median([m.n_columns for m in found])),
            variance_kept=pooled(kept, errors, self.confidence, within=(-float("inf"), 1)),
            fit_seconds=float(np.median([m.seconds for m in found])),
            failure=None,
        )

    def leakage(self) -> list[Leak]:
        """Return what probes recognise."""
        return [
            self._leak(key, position, probe)
            for key in self.measured
            for position in range(len(self.attributes))
            for probe in PROBES
        ]

    def _leak(self, key: str, position: int, probe: str) -> Leak:
        draws = [m.leakage[position, probe] for m in self.measured[key]]
        auc = pooled([d.auc for d in draws], [_auc_error(d) for d in draws], self.confidence)
        # A round's two splits score disjoint rows. Rounds score the same rows again: the spread of
        # one round is the widest that their mean can have.
        pairs = [
            (a.chance_draws + b.chance_draws) / 2
            for a, b in zip(draws[0::2], draws[1::2], strict=True)
        ]
        chance = np.concatenate(pairs)
        tail = (1.0 - self.confidence) / 2
        low, high = np.clip(np.quantile(chance, [tail, 1.0 - tail]), 0.0, 1.0)
        as_good = np.count_nonzero(chance >= auc.value - 1e-12)
        p_value = float((1 + as_good) / (1 + len(chance)))
        return Leak(
            representation=key,
            attribute=self.attributes[position].name,
            probe=probe,
            auc=auc,
            chance_low=float(low),
            chance_high=float(high),
            p_value=p_value,
            above_chance=p_value < 1.0 - self.confidence,
        )

    def gaps(self) -> list[Gap]:
        """Return how differently groups are distributed."""
        return [
            self._gap(key, position)
            for key in self.measured
            for position in range(len(self.attributes))
        ]

    def _gap(self, key: str, position: int) -> Gap:
        found = self.measured[key]

        def over_splits(values: Sequence[float]) -> Estimate:
            return pooled(values, [0.0] * len(values), self.confidence, within=UNBOUNDED)

        tests = [m.mmd[position] for m in found]
        return Gap(
            representation=key,
            attribute=self.attributes[position].name,
            mean_gap=over_splits([m.mean_gaps[position] for m in found]),
            covariance_gap=over_splits([m.covariance_gaps[position] for m in found]),
            mmd2=over_splits([t.mmd2 for t in tests]),
            mmd2_chance=float(np.mean([t.chance_mean for t in tests])),
            mmd2_p_value=_combined_p_value([t.p_value for t in tests]),
        )

    def downstream(self) -> list[Downstream]:
        """Return the models that predict the target."""
        found = []
        for key, measures in self.measured.items():
            for model in PROBES:
                judged = [m.decisions[model] for m in measures if model in m.decisions]
                if judged:
                    found.append(Downstream(key, model, *self._judged(judged)))
        return found

    def curves(self) -> list[Curve]:
        """Return accuracy against fairness."""
        found = []
        for model in CURVE_MODELS:
            splits = [c.points for c in self.curves_found if c.model == model]
            if splits:
                points = [
                    CurvePoint(value, *self._judged([points[i] for points in splits]))
                    for i, value in enumerate(LAMBDAS)
                ]
                found.append(Curve("fair_pca", model, points))
        return found

    def _judged(self, judged: Sequence[Judged]) -> tuple[Estimate, Estimate, list[Parity]]:
        accuracy = self._pairs([j.accuracy for j in judged])
        auc = self._pairs([j.auc for j in judged])
        parities = [
            parity(a.name, a.labels, [j.groups[i] for j in judged], self.confidence)
            for i, a in enumerate(self.attributes)
        ]
        return accuracy, auc, parities

    def _pairs(self, pairs: Sequence[tuple[float, float]]) -> Estimate:
        return pooled([p[0] for p in pairs], [p[1] for p in pairs], self.confidence)

    def certificates(self, n_rows: Sequence[int]) -> list[CertifiedGap]:
        """Return the bounds; `n_rows` are the held-out rows of each attribute."""
        return [
            CertifiedGap(
                representation=key,
                attribute=attribute.name,
                n_cells=found.n_cells,
                n_rows=n,
                observed=found.observed,
                bound=found.bound,
                confidence=self.confidence,
                accuracy=None if found.accuracy is None else self._pairs([found.accuracy]),
            )
            for key, measures in self.measured.items()
            for attribute, n, found in zip(
                self.attributes, n_rows, measures[0].certificates, strict=True
            )
        ]

    def spectra(self) -> list[Spectrum]:
        """Return the variance explained by each component."""
        return [
            Spectrum(key, measures[0].ratios)
            for key, measures in self.measured.items()
            if measures[0].ratios and key != "fair_kernel_pca"  # its variance is another one
        ]

    def pictures(self, codes: Sequence[np.ndarray]) -> Pictures:
        """Return held-out rows in two dimensions; `codes` are the groups of these rows."""
        panels = []
        for key in DRAWN:
            picture = self.measured[key][0].picture if key in self.measured else None
            if picture is not None and picture.shape[1] == 2:
                x, y = np.round(picture, 3).T.tolist()
                panels.append(Panel(key, x, y))
        groups = [
            PanelGroups(a.name, c.tolist()) for a, c in zip(self.attributes, codes, strict=True)
        ]
        return Pictures(panels, groups)

    def notices(self) -> list[Notice]:
        """Return what methods warned about."""
        found: dict[str, Notice] = {}
        for key, measures in self.all.items():
            for text in (text for m in measures for text in m.warned):
                name = METHODS[key].name
                found.setdefault(key, Notice("method", "info", "", name, None, f"{name}: {text}"))
        return list(found.values())


def _combined_p_value(p_values: Sequence[float]) -> float:
    """Return one p-value of the tests of all splits.

    The two splits of a round test disjoint rows, so their p-values are combined as independent
    ones (Fisher). Rounds test the same rows again: twice the mean of their p-values is valid
    however they depend on each other (Rueschendorf 1982).

    Examples
    --------
    >>> round(_combined_p_value([0.05, 0.05]), 4)
    0.0175
    """
    rounds = [combine_pvalues(p_values[i : i + 2]).pvalue for i in range(0, len(p_values), 2)]
    return float(rounds[0]) if len(rounds) == 1 else min(1.0, 2.0 * float(np.mean(rounds)))


def _auc_error(draws: AucDraws) -> float:
    """Return the standard error; a perfect order has no spread to estimate one from."""
    if draws.auc in (0.0, 1.0):
        return float(share_error(draws.auc, draws.smallest_level))
    return draws.standard_error
