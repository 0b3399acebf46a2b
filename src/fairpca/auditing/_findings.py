"""From what each split showed to what the audit says, number by number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache

import numpy as np
from scipy.stats import norm, studentized_range

from ..metrics import AucDraws, chance_limit, chance_p_value
from ..models import Measured
from ._judging import N_RESAMPLES, Judged, Number, Round, compared_groups, share_error
from ._measures import CURVE_MODELS, LAMBDAS, Measures
from ._representations import METHODS, name_of
from ._results import (
    EXISTING,
    CertifiedGap,
    Curve,
    CurvePoint,
    Downstream,
    Estimate,
    GroupRates,
    Leak,
    Notice,
    Parity,
    Representation,
    Setting,
    Target,
)
from ._splits import ExistingModel

MOST_COLUMNS = 30
"""So many columns are told of, those that matter most."""

RATES = [field.name for field in fields(GroupRates)][3:]
"""What is counted of each group."""

UNBOUNDED = (-float("inf"), float("inf"))

_EXISTING = {
    "score": "A score that exists, as it is: whoever made it promised nothing here.",
    "decision": "Decisions as they were made: whoever made them promised nothing here.",
}


class Findings:
    """All splits of all representations, and how to read them, attribute by attribute.

    `judged`, `utilities` (AUC or R2) and `parities` (one per attribute) are those of every setting
    and model with scores; `leaks` are what probes recognise.
    """

    def __init__(
        self,
        measures: Sequence[Measures],
        curves: Sequence[tuple[str, Measures]],
        rounds: Sequence[Round],
        attributes: Sequence[Measured],
        confidence: float,
        target: Target | None,
        existing: Sequence[ExistingModel],
        n_encoded: int = 0,
    ) -> None:
        by_split = sorted(measures, key=lambda m: m.index)
        settings = dict.fromkeys(m.setting for m in measures)
        self.all = {one: [m for m in by_split if m.setting == one] for one in settings}
        self.measured = {
            one: found for one, found in self.all.items() if all(m.failure is None for m in found)
        }
        self.rounds, self.attributes = rounds, attributes
        self.confidence, self.target = confidence, target
        self.existing, self.n_encoded = {one.setting for one in existing}, n_encoded
        scores = {
            (setting, model): [m.scores[model] for m in found]
            for setting, found in self.measured.items()
            for model in found[0].scores
        }
        for model, one in sorted(curves, key=lambda pair: pair[1].index):
            scores.setdefault((one.setting, model), []).append(one.scores[model])
        self.judged = {of: self._judge(of[0], found) for of, found in scores.items()}
        self.utilities = {
            of: self._number([one.utility for one in judged], UNBOUNDED)
            for of, judged in self.judged.items()
        }
        self.parities = {
            of: [self._parity(judged, i) for i in range(len(attributes))]
            for of, judged in self.judged.items()
        }
        self.representations = [self._representation(one, self.all[one]) for one in self.all]
        self.leaks = [leak for one in self.measured for leak in self._leaks(one)]

    # What decisions come to

    def _judge(self, setting: Setting, scores: Sequence[np.ndarray]) -> list[Judged]:
        """Return what the scores of a model on a setting come to, round by round."""
        kind = setting.method if setting in self.existing else None
        pairs = zip(scores[0::2], scores[1::2], strict=True)
        return [
            one.judged(np.concatenate(both), existing=kind)
            for one, both in zip(self.rounds, pairs, strict=False)
        ]

    def compared_rate(self, judged: Sequence[Judged]) -> tuple[str, float]:
        """Return what gaps compare: selection rates, or means of numbers, in deviations."""
        if "selection_rate" in judged[0].groups[0]:
            return "selection_rate", 1.0
        return "mean_score", (self.target and self.target.deviation) or 1.0

    def _parity(self, judged: Sequence[Judged], position: int) -> Parity:
        """Return how a model's decisions compare between the groups of an attribute."""
        attribute = self.attributes[position]
        counts = np.mean([one.counts[position] for one in judged], axis=0)
        compared = compared_groups(counts)
        rates = {
            name: _mean_and_error(
                np.stack([one.groups[position][name].values for one in judged]),
                np.stack([one.groups[position][name].errors for one in judged]),
            )
            for name in judged[0].groups[position]
            if all(name in one.groups[position] for one in judged)  # scores may be shares in some
        }
        name, unit = self.compared_rate(judged)
        top = float("inf") if name == "mean_score" else 1.0
        gaps = [
            largest_difference(v[compared] / unit, e[compared] / unit, self.confidence, top)
            for v, e in zip(*rates[name], strict=True)
        ]
        level = int(np.argmax([-1.0 if gap is None else gap.value for gap in gaps]))

        def gap(name: str) -> Estimate | None:
            if name not in rates:
                return None
            v, e = (part[level][compared] for part in rates[name])
            return largest_difference(v, e, self.confidence)

        def of_group(name: str, g: int) -> Estimate | None:
            if name not in rates:
                return None
            place = level if len(rates[name][0]) > 1 else 0
            within = UNBOUNDED if name.startswith("mean") else (0.0, 1.0)
            value, error = (float(part[place][g]) for part in rates[name])
            return _estimate(value, error, self.confidence, within)

        return Parity(
            attribute=attribute.name,
            level=self.target.classes[level] if self.target and len(gaps) > 1 else None,
            gap=gaps[level],
            ratio=self._ratio(rates[name], level, compared) if name != "mean_score" else None,
            true_positive_gap=gap("true_positive_rate"),
            false_positive_gap=gap("false_positive_rate"),
            precision_gap=gap("precision"),
            distribution_gap=self._apart([one.apart[position] for one in judged]),
            groups=[
                GroupRates(
                    label, round(counts[g]), bool(compared[g]), *(of_group(r, g) for r in RATES)
                )
                for g, label in enumerate(attribute.all_labels)
            ],
            n_compared=int(compared.sum()),
            n_groups=len(counts),
        )

    def gap_draws(self, setting: Setting, model: str, position: int) -> np.ndarray:
        """Return what the gap would have been in other samples of people and of rounds.

        A largest difference grows with noise; that is taken off, so that their mean is the gap.
        """
        judged = self.judged[setting, model]
        parity = self.parities[setting, model][position]
        compared = np.array([group.compared for group in parity.groups])
        name, unit = self.compared_rate(judged)
        rates = [one.groups[position][name] for one in judged]
        drawn = np.zeros((*rates[0].values.shape, N_RESAMPLES))
        for share, rate in zip(_round_shares(len(judged)), rates, strict=True):
            assert rate.draws is not None
            drawn += share * (rate.values[..., None] + rate.draws)
        between = drawn[:, compared] / unit
        gaps = (np.nanmax(between, axis=1) - np.nanmin(between, axis=1)).max(axis=0)
        return gaps - gaps.mean() + (np.nan if parity.gap is None else parity.gap.value)

    def utility_draws(self, setting: Setting, model: str) -> np.ndarray:
        """Return what AUC or R2 would have been in other samples of people and of rounds."""
        judged = self.judged[setting, model]
        drawn = np.zeros(N_RESAMPLES)
        for share, one in zip(_round_shares(len(judged)), judged, strict=True):
            value = np.nan if one.utility is None else one.utility[0]
            drawn += share * (value + one.utility_draws)
        return drawn

    def _ratio(
        self, rates: tuple[np.ndarray, np.ndarray], level: int, compared: np.ndarray
    ) -> Estimate | None:
        """Return the smallest over the largest rate; its logarithm has about normal errors."""
        v, e = (part[level][compared] for part in rates)
        if len(v) < 2 or not np.nanmax(v) > 0:
            return None
        low, high = int(np.nanargmin(v)), int(np.nanargmax(v))
        ratio = float(v[low] / v[high])
        if ratio == 0:
            return Estimate(0.0, 0.0, float(min(1.0, 2 * e[low] / v[high])))
        reach = norm.ppf(0.5 + self.confidence / 2) * np.hypot(e[low] / v[low], e[high] / v[high])
        top = max(ratio, min(1.0, float(ratio * np.exp(reach))))
        return Estimate(ratio, float(ratio * np.exp(-reach)), top)

    def _apart(self, found: Sequence[tuple[float, float] | None]) -> Estimate | None:
        known = [one for one in found if one is not None]
        if not known:
            return None
        value, rough = (float(np.mean(part)) for part in zip(*known, strict=True))
        reach = float(np.sqrt(-np.log((1 - self.confidence) / 2) / 2 * rough))
        return Estimate(value, max(0.0, value - reach), min(1.0, value + reach))

    def downstream(self) -> list[Downstream]:
        """Return the models that predict the target, and those that exist."""
        return [
            Downstream(
                representation=str(setting),
                model=model,
                utility=self.utilities[setting, model],
                rank_correlation=self._number([j.rank for j in self.judged[setting, model]]),
                accuracy=self._number([j.accuracy for j in self.judged[setting, model]]),
                parities=self.parities[setting, model],
            )
            for setting, model in self.judged
            if setting in self.measured
        ]

    def curves(self) -> list[Curve]:
        """Return utility against fairness."""
        found = []
        for model in CURVE_MODELS:
            fair = Setting("fair_pca")
            along = {0.0: fair} | {v: replace(fair, tradeoff=v) for v in LAMBDAS}
            points = [
                CurvePoint(value, utility, [_left_out_only(p) for p in parities])
                for value, setting in along.items()
                if (along[LAMBDAS[0]], model) in self.judged
                and (utility := self.utilities[setting, model]) is not None
                and (parities := self.parities[setting, model])
            ]
            if points:
                found.append(Curve(str(fair), model, points))
        return found

    def _number(
        self, numbers: Sequence[Number | None], within: tuple[float, float] = (-1.0, 1.0)
    ) -> Estimate | None:
        known = [one for one in numbers if one is not None]
        if len(known) < len(numbers) or not known:
            return None
        value, error = _mean_and_error(*(np.array(part) for part in zip(*known, strict=True)))
        number = self.target is not None and self.target.kind == "number"
        within = within if number else (0.0, 1.0)
        return _estimate(float(value), float(error), self.confidence, within)

    # What is recognised

    def _representation(self, setting: Setting, found: Sequence[Measures]) -> Representation:
        kind, guarantee = setting.method, _EXISTING.get(setting.method, "")
        if setting not in self.existing:
            method = METHODS[setting.method]
            kind, guarantee = "method" if method.fit else "features", method.guarantee
        shown = Representation(
            key=str(setting),
            setting=setting,
            name=name_of(setting),
            kind=kind,
            guarantee=guarantee,
            n_columns=1,
            variance_kept=None,
            fit_seconds=None,
            failure=next((m.failure for m in found if m.failure is not None), None),
            note="",
        )
        if shown.failure is not None:
            return replace(shown, n_columns=None)
        if setting in self.existing:
            return shown
        kept = _of_splits(*zip(*(m.variance_kept for m in found), strict=True))
        n_columns = round(np.median([m.n_columns for m in found]))
        if [m.n_columns for m in found] == [m.n_columns for m in self.all[Setting("raw")]]:
            n_columns = self.n_encoded  # of all rows; a half may lack a level
        missed = next((m.missed for m in found if m.missed is not None), None)
        if missed:  # what every split reaches
            n_columns = min(m.n_columns for m in found)
        return replace(
            shown,
            n_columns=n_columns,
            variance_kept=_estimate(*kept, self.confidence, (-float("inf"), 1)),
            fit_seconds=float(np.median([m.seconds for m in found])),
            note=f"{n_columns} of {missed} components: no more can be had." if missed else "",
        )

    def _leaks(self, setting: Setting) -> list[Leak]:
        """Return what probes recognise from one representation.

        Whoever looks for the largest of many AUCs finds a large one. So chance is what the best of
        all attributes and probes reaches by chance, each in deviations of its own draws (Westfall
        and Young, 1993). The probes of an attribute are drawn together and depend on each other as
        they do; attributes are drawn apart, as if they were independent, which is never too bold
        where they go together.
        """
        asked = [m.leakage for m in self.measured[setting] if m.leakage]
        if not asked:
            return []
        cells = [cell for cell in asked[0] if all(cell in leakage for leakage in asked)]
        found = [[leakage[cell] for leakage in asked] for cell in cells]
        # A round's two splits score disjoint rows. Rounds score the same rows again: the spread of
        # one round is the widest that their mean can have.
        by_split = np.array([[draws.chance_draws for draws in cell] for cell in found])
        chance = ((by_split[:, 0::2] + by_split[:, 1::2]) / 2).reshape(len(found), -1)
        spread = np.sqrt(np.mean((chance - 0.5) ** 2, axis=1))
        spread[spread == 0] = np.inf  # a probe that says the same of all rows is never above
        best = ((chance - 0.5) / spread[:, None]).max(axis=0)
        limit = chance_limit(best, 1.0 - self.confidence)
        leaks = []
        for (position, probe), draws, own, deviation in zip(
            cells, found, chance, spread, strict=True
        ):
            value, error = _of_splits([d.auc for d in draws], [_auc_error(d) for d in draws])
            auc = _estimate(value, error, self.confidence)
            if auc is None:
                continue
            reach = limit * deviation if np.isfinite(deviation) else 0.0
            bound = float(min(1.0, 0.5 + reach))
            leaks.append(
                Leak(
                    representation=str(setting),
                    attribute=self.attributes[position].name,
                    probe=probe,
                    auc=auc,
                    chance=bound,
                    above_chance=value > bound,
                    p_value=chance_p_value(best, (value - 0.5) / deviation),
                    p_value_unadjusted=chance_p_value(own, value),
                )
            )
        return leaks

    def certificates(self) -> list[CertifiedGap]:
        """Return the bounds, from the rows of each attribute that were held out."""
        return [
            CertifiedGap(
                representation=str(setting),
                attribute=attribute.name,
                n_rows=found.n_rows,
                observed=found.observed,
                bound=found.bound,
                confidence=self.confidence,
            )
            for setting, measures in self.measured.items()
            for attribute, found in zip(self.attributes, measures[0].certificates, strict=False)
            if found is not None
        ]

    def notices(self) -> list[Notice]:
        """Return what methods warned about."""
        found: dict[Setting, Notice] = {}
        for setting, measures in self.all.items():
            for text in (text for m in measures for text in m.warned):
                name = METHODS[setting.method].name
                found.setdefault(
                    setting, Notice("method", "info", "", name, None, f"{name}: {text}")
                )
        return [*found.values(), *self._reversed()]

    def _reversed(self) -> list[Notice]:
        """Return scores that rank positive rows below others."""
        found = []
        for setting in (one for one in self.all if one in self.existing):
            auc, name = self.utilities[setting, EXISTING], name_of(setting)
            binary = self.target is not None and self.target.kind == "binary"
            if binary and auc is not None and auc.high < 0.5:
                text = (
                    f"{name} ranks positive rows below the others (AUC {auc.value:.2f}): is it "
                    f"one of the other outcome? Then turn its sign, or name the other value as "
                    f"positive."
                )
                found.append(Notice("reversed", "warning", "", name, auc.value, text))
        return found

    # Back to columns

    def ranked(
        self, splits: Sequence[Mapping[str, tuple[float, float]]], within: tuple[float, float]
    ) -> list[tuple[str, Estimate]]:
        """Return what columns are for, over splits, those that matter most first."""
        columns = [c for c in splits[0] if all(c in one for one in splits)] if splits else []
        estimates = []
        for column in columns:
            value, error = _of_splits(*zip(*(one[column] for one in splits), strict=True))
            if estimate := _estimate(value, error, self.confidence, within):
                estimates.append((column, estimate))
        return sorted(estimates, key=lambda pair: -pair[1].value)[:MOST_COLUMNS]


def _left_out_only(parity: Parity) -> Parity:
    return replace(parity, groups=[group for group in parity.groups if not group.compared])


@cache
def _round_shares(n_rounds: int) -> np.ndarray:
    """Return how much each round counts in each resample, of shape (rounds, N_RESAMPLES)."""
    chosen = np.random.default_rng(0).integers(n_rounds, size=(N_RESAMPLES, n_rounds))
    return np.stack([(chosen == r).mean(axis=1) for r in range(n_rounds)])


def _mean_and_error(values: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means over rounds and their standard errors.

    Every round holds out the same people again. So rounds do not lessen the sampling error; they
    average over how the halves were drawn, of which the spread between rounds tells.
    """
    between = values.var(axis=0, ddof=1) / len(values) if len(values) > 1 else 0.0
    return values.mean(axis=0), np.sqrt(np.mean(errors**2, axis=0) + between)


def _of_splits(values: Sequence[float], errors: Sequence[float]) -> tuple[float, float]:
    """Return the mean over splits and its standard error; NaN of nothing.

    The two splits of a round hold out disjoint halves, so a round has half the sampling variance
    of a split. Another round holds out the same rows again and only averages over how the halves
    were drawn, of which the spread between splits tells. Adding it counts some of the sampling
    error twice: in simulations (200 and 600 rows) 95 % intervals covered in 93 to 98 % of cases,
    and without the second term in 87 to 95 %.
    """
    v, e = np.asarray(values, dtype=float), np.asarray(errors, dtype=float)
    known = np.isfinite(v) & np.isfinite(e)
    v, e = v[known], e[known]
    if len(v) == 0:
        return float("nan"), float("nan")
    between = float(v.var(ddof=1)) / len(v) if len(v) > 1 else 0.0
    halves = 2.0 if len(v) > 1 else 1.0
    return float(v.mean()), float(np.sqrt(np.mean(e**2) / halves + between))


def _auc_error(draws: AucDraws) -> float:
    """Return the standard error; a perfect order has no spread to estimate one from."""
    if draws.auc in (0.0, 1.0):
        return float(share_error(draws.auc, draws.smallest_level))
    return draws.standard_error


def _estimate(
    value: float, error: float, confidence: float, within: tuple[float, float] = (0.0, 1.0)
) -> Estimate | None:
    """Return a value with its confidence interval, cut where such a number can be."""
    if np.isnan(value):
        return None
    reach = float(norm.ppf(0.5 + confidence / 2)) * error
    low, high = max(within[0], value - reach), min(within[1], value + reach)
    return Estimate(value, float(min(low, value)), float(max(high, value)))


def largest_difference(
    values: np.ndarray, errors: np.ndarray, confidence: float, most: float = 1.0
) -> Estimate | None:
    """Return the largest difference between groups that have a number, with an interval for it.

    The largest of many noisy differences is too large. The lower end knows that: all differences
    at once exceed the true ones by at most q sqrt((e_g^2 + e_h^2) / 2), with q the quantile of the
    studentised range (Tukey, Kramer). The upper end needs no such care, since the two groups that
    truly differ most do not depend on the rows. For two groups this is the usual interval. In
    simulations with 2 to 12 groups, 95 % intervals over two splits covered in 95 to 100 % of cases.
    """
    v, e = np.asarray(values, dtype=float), np.asarray(errors, dtype=float)
    known = np.isfinite(v) & np.isfinite(e)
    v, e = v[known], e[known]
    if len(v) < 2:
        return None
    first, second = np.triu_indices(len(v), 1)
    apart = np.abs(v[first] - v[second])
    error = np.hypot(e[first], e[second])
    one, any_of_all = norm.ppf(0.5 + confidence / 2), _studentised_range(len(v), confidence)
    low = max(0.0, float(np.max(apart - any_of_all * error / np.sqrt(2))))
    high = min(most, float(np.max(apart + one * error)))
    return Estimate(float(apart.max()), low, high)


@cache
def _studentised_range(m: int, confidence: float) -> float:
    return float(studentized_range.ppf(confidence, m, np.inf))
