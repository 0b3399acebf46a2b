"""From what each split showed to what the audit says, number by number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache, cached_property

import numpy as np
from scipy.stats import norm, studentized_range, t

from ..metrics import AucDraws, chance_limit, chance_p_value
from ..models import Measured
from ._judging import (
    N_RESAMPLES,
    Between,
    Compared,
    Judged,
    Number,
    Rates,
    Round,
    compared_groups,
    share_error,
)
from ._measures import CURVE_MODELS, LAMBDAS, Measures, certify_existing
from ._representations import METHODS, name_of
from ._results import (
    EXISTING,
    Bounds,
    CertifiedGap,
    Curve,
    CurvePoint,
    Downstream,
    Estimate,
    ExplainedGap,
    GroupRates,
    Leak,
    Notice,
    Parity,
    Representation,
    Setting,
    Target,
)
from ._splits import ExistingModel, HeldOut

MOST_COLUMNS = 30
"""So many columns are told of, those that matter most."""

RATES = [field.name for field in fields(GroupRates)][3:]
"""What is counted of each group."""

_ENOUGH_SWINGS = 3  # of halves: fewer do not show whether a method equalises its rows

UNBOUNDED = (-float("inf"), float("inf"))

_EXISTING = {
    "score": "An existing score, as it is.",
    "decision": "Existing decisions, as they were made.",
}


class Findings:
    """All splits of all representations, and how to read them, attribute by attribute.

    `judged`, `utilities` (AUC or R2) and `parities` (one per attribute) are those of every setting
    and model with scores; `leaks` are how well probes predict attributes, and `few_people` notices
    of those with few.
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
        everybody: Sequence[HeldOut] = (),
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
        self._own, self._everybody = existing, everybody
        scores = {
            (setting, model): [m.scores[model] for m in found]
            for setting, found in self.measured.items()
            for model in found[0].scores
        }
        for model, one in sorted(curves, key=lambda pair: pair[1].index):
            scores.setdefault((one.setting, model), []).append(one.scores[model])
        decided = {
            (setting, model): [m.decided[model] for m in found]
            for setting, found in self.measured.items()
            for model in found[0].decided
        }
        self.judged = {of: self._judge(found, decided.get(of)) for of, found in scores.items()}
        self.judged |= {
            (one.setting, EXISTING): self._judge_existing(one, everybody) for one in existing
        }
        self.utilities = {
            of: self._number(
                [one.utility for one in judged],
                UNBOUNDED,
                None if of[0] in self.existing else [one.utility_draws for one in judged],
            )
            for of, judged in self.judged.items()
        }
        self.parities = {
            of: [self._parity(judged, i) for i in range(len(attributes))]
            for of, judged in self.judged.items()
        }
        self.leaks = [leak for one in self.measured for leak in self._leaks(one)]
        self.few_people: list[Notice] = []

    # What decisions come to

    def _judge(
        self, scores: Sequence[np.ndarray], decided: Sequence[np.ndarray] | None = None
    ) -> list[Judged]:
        """Return what the scores of a model on a setting come to, round by round."""
        both = [np.concatenate(pair) for pair in zip(scores[0::2], scores[1::2], strict=True)]
        if decided is None:
            return [one.judged(of) for one, of in zip(self.rounds, both, strict=False)]
        chosen = [np.concatenate(pair) for pair in zip(decided[0::2], decided[1::2], strict=True)]
        return [
            one.judged(of, decided=selected)
            for one, of, selected in zip(self.rounds, both, chosen, strict=False)
        ]

    def _judge_existing(self, model: ExistingModel, rows: Sequence[HeldOut]) -> list[Judged]:
        """Return what a model that exists comes to on all rows: nothing is fitted or drawn."""
        return [
            Round([one]).judged(model.values[one.places][:, None], existing=model.setting.method)
            for one in rows
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
            name: mean_of_rounds([one.groups[position][name] for one in judged])
            for name in judged[0].groups[position]
            if all(name in one.groups[position] for one in judged)  # scores may be shares in some
        }

        def of_rounds(name: str, level: int) -> list[Rates]:
            return [one.groups[position][name].at(level, compared) for one in judged]

        name, unit = self.compared_rate(judged)
        top = float("inf") if name == "mean_score" else 1.0
        in_common = _in_common([one.groups[position][name] for one in judged])
        gaps = [
            largest_difference(of_rounds(name, level), self.confidence, top, unit)
            for level in range(len(rates[name][0]))
        ]
        level = int(np.argmax([-1.0 if gap is None else gap.value for gap in gaps]))

        def gap(name: str) -> Estimate | None:
            if name not in rates:
                return None
            return largest_difference(of_rounds(name, level), self.confidence)

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
            ratio=self._ratio(rates[name], level, compared, in_common)
            if name != "mean_score"
            else None,
            true_positive_gap=gap("true_positive_rate"),
            false_positive_gap=gap("false_positive_rate"),
            precision_gap=gap("precision"),
            distribution_gap=self._apart([one.apart[position] for one in judged]),
            score_auc=self._ranked([one.ranked[position] for one in judged], compared),
            groups=[
                GroupRates(
                    label, round(counts[g]), bool(compared[g]), *(of_group(r, g) for r in RATES)
                )
                for g, label in enumerate(attribute.all_labels)
            ],
            n_compared=int(compared.sum()),
            n_groups=len(counts),
            bounds=self._bounds(
                [one.between[position] for one in judged], gaps[level], compared, top, unit
            ),
            explained=self._explained(
                [one.compared for one in judged],
                position,
                level,
                np.where(compared, rates[name][0][level], np.nan),
                top,
                unit,
            ),
        )

    def _explained(
        self,
        rounds: Sequence[Compared | None],
        position: int,
        level: int,
        means: np.ndarray,
        top: float,
        unit: float,
    ) -> ExplainedGap | None:
        """Split the difference between the highest and the lowest mean by legitimate factors.

        Means over rounds are differences of the rates that are shown, as their parts are. Whatever
        part of the sampling error of its rows a fit turns around, the fit to all rows differs from
        that mean by the sampling error of a part itself, as it does with whole gaps.
        """
        attribute = self.attributes[position]
        known = [one for one in rounds if one is not None]
        groups = np.flatnonzero(np.isfinite(means))
        if not known or attribute.kind == "intersection" or len(groups) < 2:
            return None
        high, *_, low = groups[np.argsort(-means[groups], kind="stable")]
        found = [one.split(position, level, high, low) for one in known]
        parts = [one[0] for one in found if one is not None]
        if len(parts) < len(found):
            return None
        draws = [one[1] for one in found if one is not None and one[1] is not None]

        def part(place: int, name: str) -> Estimate:
            values, errors = np.array([getattr(one, name) for one in parts]).T / unit
            resampled = np.stack([of[place] for of in draws]) / unit if draws else None
            error = _error_of_next(values, np.mean(errors**2), resampled)
            found = _estimate(float(values.mean()), float(error), self.confidence, (-top, top))
            assert found is not None  # both groups have people
            return found

        return ExplainedGap(
            higher=attribute.all_labels[high],
            lower=attribute.all_labels[low],
            difference=part(0, "difference"),
            explained=part(1, "explained"),
            unexplained=part(2, "unexplained"),
            unmatched=part(3, "unmatched"),
            higher_alone=float(np.mean([one.without_counterpart[0] for one in parts])),
            lower_alone=float(np.mean([one.without_counterpart[1] for one in parts])),
            n_strata=min(one.n_strata for one in parts),
        )

    def _bounds(
        self,
        rounds: Sequence[Between | None],
        gap: Estimate | None,
        compared: np.ndarray,
        top: float,
        unit: float,
    ) -> Bounds | None:
        """Return the smallest and the largest difference that are possible, of any two groups.

        They include the gap with its interval, to which fits may add their own variance. The upper
        end needs no correction for several pairs, since one of them has the largest difference
        whatever the sample is; the lower end is corrected (Bonferroni).
        """
        known = [one for one in rounds if one is not None]
        groups = np.flatnonzero(compared)
        if len(known) < len(rounds) or gap is None:
            return None
        apart = ~np.eye(len(groups), dtype=bool)
        most, errors = (
            np.stack([of[:, groups][:, :, groups][:, apart] for of in part]) / unit
            for part in ([one.most for one in known], [one.errors for one in known])
        )
        values, error = most.mean(axis=0), _error_of_next(most, np.mean(errors**2, axis=0))
        one = norm.ppf(0.5 + self.confidence / 2)
        any_pair = norm.ppf(1 - (1 - self.confidence) / (2 * (apart.sum() // 2)))
        return Bounds(
            n_unknown=round(np.mean([one.n_unknown for one in known])),
            n_probable=round(np.mean([one.n_probable for one in known])),
            smallest=min(gap.value, max(0.0, float((-values).max()))),
            largest=max(gap.value, min(top, float(values.max()))),
            low=min(gap.low, max(0.0, float((-values - any_pair * error).max()))),
            high=max(gap.high, min(top, float((values + one * error).max()))),
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
        drawn = _one_fit_more(
            _stacked(rates, "values")[..., None],
            np.stack([np.zeros(1) if r.draws is None else r.draws for r in rates]),
        )
        between = drawn[:, compared] / unit
        gaps = (np.nanmax(between, axis=1) - np.nanmin(between, axis=1)).max(axis=0)
        return gaps - gaps.mean() + (np.nan if parity.gap is None else parity.gap.value)

    def utility_draws(self, setting: Setting, model: str) -> np.ndarray:
        """Return what AUC or R2 would have been in other samples of people and of rounds."""
        judged = self.judged[setting, model]
        values = [np.nan if one.utility is None else one.utility[0] for one in judged]
        return _one_fit_more(
            np.array(values)[:, None], np.stack([one.utility_draws for one in judged])
        )

    def _ratio(
        self,
        rates: tuple[np.ndarray, np.ndarray],
        level: int,
        compared: np.ndarray,
        in_common: np.ndarray | None = None,
    ) -> Estimate | None:
        """Return the smallest over the largest rate.

        Logarithms of ratios have about normal errors. As of differences, the end that is near 1
        takes into account that the smallest of many noisy ratios is too small.
        """
        v, e = (part[level][compared] for part in rates)
        known = np.isfinite(v)
        v, e = v[known], e[known]
        if len(v) < 2 or not v.max() > 0:
            return None
        ratio = float(v.min() / v.max())
        any_of_all = studentised_range(len(v), self.confidence) / np.sqrt(2)
        if ratio == 0:
            return Estimate(0.0, 0.0, float(min(1.0, any_of_all * e[v == 0].min() / v.max())))
        pairs = np.stack(np.triu_indices(len(v), 1))
        apart = np.abs(np.log(v[pairs[0]] / v[pairs[1]]))
        error = np.hypot(*(e / v)[pairs])
        if in_common is not None:
            both = in_common[level][compared][:, compared][known][:, known][tuple(pairs)]
            error = np.sqrt(np.maximum(error**2 - 2 * both / np.prod(v[pairs], axis=0), 0.0))
        low = np.exp(-np.max(apart + norm.ppf(0.5 + self.confidence / 2) * error))
        high = np.exp(-max(0.0, float(np.max(apart - any_of_all * error))))
        return Estimate(ratio, float(min(low, ratio)), float(max(high, ratio)))

    def _apart(self, found: Sequence[tuple[float, float] | None]) -> Estimate | None:
        known = [one for one in found if one is not None]
        if not known:
            return None
        value, rough = (float(np.mean(part)) for part in zip(*known, strict=True))
        reach = float(np.sqrt(-np.log((1 - self.confidence) / 2) / 2 * rough))
        return Estimate(value, max(0.0, value - reach), min(1.0, value + reach))

    def _ranked(
        self, found: Sequence[tuple[np.ndarray, np.ndarray] | None], compared: np.ndarray
    ) -> Estimate | None:
        """Return how well a score ranks groups apart, whichever it ranks higher."""
        known = [one for one in found if one is not None]
        if not known or compared.sum() < 2:
            return None
        aucs, errors = (np.stack(part)[:, compared] for part in zip(*known, strict=True))
        error = float(np.mean(_error_of_next(aucs, np.mean(errors**2, axis=0))))
        value = 0.5 + float(np.mean(np.abs(aucs.mean(axis=0) - 0.5)))
        return _estimate(value, error, self.confidence, (0.5, 1.0))

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
        self,
        numbers: Sequence[Number | None],
        within: tuple[float, float] = (-1.0, 1.0),
        draws: Sequence[np.ndarray] | None = None,
    ) -> Estimate | None:
        known = [one for one in numbers if one is not None]
        if len(known) < len(numbers) or not known:
            return None
        values, errors = (np.array(part) for part in zip(*known, strict=True))
        drawn = None if draws is None else np.stack(draws)
        value, error = values.mean(), _error_of_next(values, np.mean(errors**2), drawn)
        number = self.target is not None and self.target.kind == "number"
        within = within if number else (0.0, 1.0)
        return _estimate(float(value), float(error), self.confidence, within)

    # Leakage

    @cached_property
    def representations(self) -> list[Representation]:
        """What was compared."""
        return [self._representation(one, self.all[one]) for one in self.all]

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
        n_columns = round(np.median([m.n_columns for m in found]))
        if [m.n_columns for m in found] == [m.n_columns for m in self.all[Setting("raw")]]:
            n_columns = self.n_encoded  # of all rows; a half may lack a level
        missed = next((m.missed for m in found if m.missed is not None), None)
        if missed:  # what every split reaches
            n_columns = min(m.n_columns for m in found)
        near = _of_splits(*zip(*(m.neighbours_kept for m in found), strict=True))
        return replace(
            shown,
            n_columns=n_columns,
            variance_kept=self.variance_kept(setting),
            fit_seconds=float(np.median([m.seconds for m in found])),
            note=f"{n_columns} of {missed} components: no more are available." if missed else "",
            neighbours_kept=_estimate(*near, self.confidence, (0, 1)),
        )

    def variance_kept(self, setting: Setting) -> Estimate | None:
        """Return the share of held-out variance that a linear map recovers from columns."""
        kept = _of_splits(*zip(*(m.variance_kept for m in self.all[setting]), strict=True))
        return _estimate(*kept, self.confidence, (-float("inf"), 1))

    def _leaks(self, setting: Setting) -> list[Leak]:
        """Return how well probes predict attributes from one representation.

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
        own = {
            one.setting: certify_existing(self._everybody[0], one, self.confidence)
            for one in self._own
        }
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
            for attribute, found in zip(
                self.attributes,
                own.get(setting, measures[0].certificates),
                strict=False,
            )
            if found is not None and attribute.kind != "probabilities"  # drawn groups are no one's
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
                    f"{name} ranks positive rows below the others (AUC {auc.value:.2f}). If it "
                    f"predicts the other outcome, reverse its sign, or set the other value as "
                    f"positive class."
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


def _one_fit_more(values: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Return what a number of several rounds would be in other samples of people, by another fit.

    Each resample is off the mean as one of the rounds is, scaled to the variance of another fit.
    """
    n_rounds, mean = len(values), values.mean(axis=0)
    if n_rounds == 1:
        return mean + draws[0]
    between = values.var(axis=0, ddof=0)
    wanted = _variance_of_fits(values, draws.var(axis=0, ddof=1).mean(axis=-1, keepdims=True))
    scale = np.sqrt(np.divide(wanted, between, out=np.zeros_like(mean), where=between > 0))
    chosen = _rounds_of_resamples(n_rounds)
    apart = sum(((chosen == r) * (values[r] - mean) for r in range(n_rounds)), np.zeros(1))
    return np.asarray(mean + scale * apart + draws.mean(axis=0))


def _variance_of_fits(values: np.ndarray, of_people: np.ndarray | None) -> np.ndarray:
    """Return the variance of one more fit about the mean of R rounds.

    Rounds differ by a variance b. Some of it is people whom one fit decides otherwise than another,
    here and there (`of_people`): among many people that is nothing. The rest is of fits. A round is
    the mean of two fits to halves, so that one of these differs by twice as much, and so may one to
    all rows where a method does not settle with rows, as components of equal variance do not.
    """
    between = values.var(axis=0, ddof=1)
    of_fits = 0.0 if of_people is None else np.maximum(between - of_people, 0.0)
    return np.asarray(between / len(values) + 2 * of_fits)


@cache
def _rounds_of_resamples(n_rounds: int) -> np.ndarray:
    """Return the round that each resample takes, the same for all settings."""
    return np.random.default_rng(0).permutation(np.arange(N_RESAMPLES) % n_rounds)


def mean_of_rounds(rounds: Sequence[Rates]) -> tuple[np.ndarray, np.ndarray]:
    """Return means over rounds, and their errors for what the fit to all rows comes to.

    Every round holds out the same people again. So rounds do not lessen the sampling error; they
    show what another fit changes.
    """
    values, errors, draws = _stacked(rounds, "values"), _stacked(rounds, "errors"), None
    if rounds[0].draws is not None:
        draws = _stacked(rounds, "draws")
    return values.mean(axis=0), _error_of_next(values, np.mean(errors**2, axis=0), draws)


def _in_common(rounds: Sequence[Rates]) -> np.ndarray | None:
    """Return the covariances of groups' rates, None where no one counts in several groups."""
    return None if rounds[0].shared is None else _stacked(rounds, "shared").mean(axis=0)


def _stacked(rounds: Sequence[Rates], part: str) -> np.ndarray:
    return np.stack([getattr(one, part) for one in rounds])


def _error_of_next(
    values: np.ndarray, sampling: np.ndarray, draws: np.ndarray | None = None
) -> np.ndarray:
    """Return the error of a mean over rounds for what one more fit comes to among new people.

    The fit to all rows is one more. `draws` are resampled people, whom rounds decide about
    differently. Of few rounds, the variance of fits is rough: the error is stretched by the
    quantile of Student's t over the normal one, at 95 %, with the degrees of freedom of the sum
    (Satterthwaite, 1946).
    """
    n_rounds = len(values)
    if n_rounds == 1:
        return np.sqrt(sampling)
    of_people = None if draws is None else draws.var(axis=0, ddof=1).mean(axis=-1)
    of_fits = _variance_of_fits(values, of_people)
    whole = sampling + of_fits
    share = np.divide(of_fits, whole, out=np.zeros_like(whole), where=whole > 0)
    freedom = (n_rounds - 1) / np.maximum(share, 1e-3) ** 2
    return np.sqrt(whole) * t.ppf(0.975, freedom) / norm.ppf(0.975)


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
    rounds: Sequence[Rates], confidence: float, most: float = 1.0, unit: float = 1.0
) -> Estimate | None:
    """Return the largest difference between groups, among new people, of the fit to all rows.

    Rates are of one level, of shape (groups,); differences are in units. The mean over rounds
    keeps its sign: it is what all fits have in common, with the sampling error of all people.

    A method that equalises groups on its rows turns their sampling error around. On a half it is
    off by what the other half is off, with the opposite sign, and the mean over swapped halves is
    zero, whatever the fit does to new people. If it does not, the two halves swing by the error e
    with which they were drawn; if it equalises groups exactly, by 2 e; so in general by (1 + r) e,
    and r is known. The mean m then has (1 - r)^2 of the sampling variance, the fit to all rows r^2
    of it, and its difference among new people the mean square m^2 + (2 r - 1) e^2. Where that is
    more than m^2, the value is the mean size of a normal number with mean m and this variance. Else
    it is |m|, the difference of the rates as they are shown.

    The largest of many noisy differences is too large. The lower end knows that: all differences
    at once exceed the true ones by at most q sqrt((e_g^2 + e_h^2) / 2), with q the quantile of the
    studentised range (Tukey, Kramer). The upper end needs no such care, since the two groups that
    truly differ most do not depend on the rows.
    """
    values, errors = _stacked(rounds, "values") / unit, _stacked(rounds, "errors") / unit
    known = np.isfinite(values).all(axis=0) & np.isfinite(errors).all(axis=0)
    n_groups = int(known.sum())
    if n_groups < 2:
        return None
    pairs = np.flatnonzero(known)[np.stack(np.triu_indices(n_groups, 1))]

    def between(of: np.ndarray) -> np.ndarray:
        return np.asarray(of[:, pairs[0]] - of[:, pairs[1]])

    def variance(of: str, together: str) -> np.ndarray:
        """Return that of the differences; groups have people in common where these are unsure."""
        alone = np.mean((_stacked(rounds, of) / unit)[:, pairs] ** 2, axis=0).sum(axis=0)
        if getattr(rounds[0], together) is None:
            return np.asarray(alone)
        both = _stacked(rounds, together).mean(axis=0)[pairs[0], pairs[1]] / unit**2
        return np.asarray(np.maximum(alone - 2 * both, 0.0))

    apart, sampling = between(values), variance("errors", "shared")
    value = mean = np.abs(apart.mean(axis=0))
    draws = None if rounds[0].draws is None else between(_stacked(rounds, "draws") / unit)
    error = _error_of_next(apart, sampling, draws)
    if draws is not None and len(rounds) >= _ENOUGH_SWINGS:
        swing = np.nanmean(between(_stacked(rounds, "swings") / unit) ** 2, axis=0)
        chance = variance("swing_errors", "swings_shared")
        turned = np.sqrt(np.divide(swing, chance, out=np.zeros_like(mean), where=chance > 0)) - 1
        extra = np.maximum(2 * np.clip(turned, 0, 1) - 1, 0) * sampling
        value = _mean_size(mean, np.sqrt(extra))
    one = norm.ppf(0.5 + confidence / 2)
    any_of_all = studentised_range(n_groups, confidence) / np.sqrt(2)
    low = max(0.0, float(np.max(mean - any_of_all * error)))
    high = min(most, float(np.max(mean + one * error)))
    return Estimate(float(min(value.max(), high)), low, high)


def _mean_size(mean: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Return the mean of the absolute values of normal numbers."""
    at = np.divide(mean, deviation, out=np.full_like(mean, np.inf), where=deviation > 0)
    return mean * (1 - 2 * norm.cdf(-at)) + 2 * deviation * norm.pdf(np.minimum(at, 40))


@cache
def studentised_range(m: int, confidence: float) -> float:
    return float(studentized_range.ppf(confidence, m, np.inf))
