"""Which option to recommend: Pareto-optimal, serving the aim, and how stable that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import norm

from ..metrics import PROBES
from ._evidence import comparison, largest, widest_gap
from ._findings import Findings
from ._judging import N_RESAMPLES
from ._measures import CURVE_MODELS, LAMBDAS
from ._representations import name_of
from ._results import (
    EXISTING,
    Estimate,
    Leak,
    ModelNumbers,
    Option,
    Representation,
    Setting,
    Settings,
)

WORTH_IT = 0.005
"""A smaller gain in utility is worth less than what is hidden better."""

WORTH_DOING = 0.25
"""Of the excess over the limit: an option that reduces it by less does not help."""

MOST_OPTIONS = 4
"""So many settings are named beside the raw features."""

_SURE = 2 / 3  # of the resamples: from here on a recommendation stands alone
_CONTENDER = 0.1  # of the resamples: from here on another setting is named beside it

NO_ACTION_NEEDED, NO_METHOD_HELPS, NOT_SETTLED, LIMIT_NOT_REACHED = -1, -2, -3, -4
_VERDICTS = {
    NO_ACTION_NEEDED: "no action needed",
    NO_METHOD_HELPS: "no method helps",
    NOT_SETTLED: "not settled",
    LIMIT_NOT_REACHED: "limit not reached",
}


@dataclass(frozen=True)
class Decision:
    """A verdict, the option it names, and all that are worth a look."""

    verdict: str
    chosen: Option | None
    ties: list[str]
    options: list[Option]
    raw: Option
    """The raw features; where there are no features, the first of what exists."""
    n_settings: int
    sure: float
    """Share of the resamples that came to the same verdict and setting; of data that cannot tell,
    share of those in which the gap is above the limit."""


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A setting with what is to be small (`x`: a gap or an AUC), what is to be large, and draws.

    It serves where `x` less `slack` is at most the `limit`; utilities up to `floor` are chance.
    """

    setting: Setting
    option: Option
    x: Estimate
    limit: float
    slack: float
    x_draws: np.ndarray
    y: Estimate | None
    y_draws: np.ndarray
    leak_draws: np.ndarray
    floor: float


def decide(findings: Findings, settings: Settings, singles: Sequence[int]) -> Decision:
    """Compare all settings on the same people, and as often on resamples of them."""
    raw, *others = [
        _candidate(findings, settings, singles, one, setting)
        for one, setting in _settings(findings.representations, settings)
    ]
    if raw.setting in findings.existing:
        return _only_measured([raw.option, *(c.option for c in others)])
    existing = [c.option for c in others if c.setting in findings.existing]
    competing = [c for c in others if c.setting not in findings.existing]
    if settings.aim == "keep":
        competing = [c for c in competing if c.option.n_columns == raw.option.n_columns]
    else:
        competing = [c for c in competing if c.setting.method != "pca"]
    z = float(norm.ppf(0.5 + settings.confidence / 2))
    contest = _Contest(raw, competing, z, to_limit=settings.aim == "decide")
    chosen = contest.verdict()
    counted = Counter(contest.choose(1 + draw) for draw in range(N_RESAMPLES))
    taken = {i: n / N_RESAMPLES for i, n in counted.items()}
    frontier, eligible = contest.standing()
    if chosen >= 0:  # of several that serve, the one that resamples take most often is steadier
        chosen = max(eligible, key=lambda i: (taken.get(i, 0.0), i == chosen))
    every = [
        replace(
            c.option,
            selection_frequency=taken.get(i, 0.0),
            eligible=i in eligible,
            reduction=contest.reduction(i),
        )
        for i, c in enumerate(competing)
    ]
    sure = taken.get(chosen, 0.0)
    if chosen == NOT_SETTLED:
        sure = 1.0 - taken.get(NO_ACTION_NEEDED, 0.0)
    tied = contest.tied(chosen, counted) if sure < _SURE else []
    shown = _listed(contest, frontier, eligible, [chosen, *tied])
    return Decision(
        verdict=_VERDICTS.get(chosen, "tie" if tied else "recommended"),
        chosen=every[chosen] if chosen >= 0 else None,
        ties=[every[i].name for i in tied],
        options=[
            replace(raw.option, selection_frequency=taken.get(NO_ACTION_NEEDED, 0.0)),
            *existing,
            *(every[i] for i in shown),
        ],
        raw=raw.option,
        n_settings=len(competing),
        sure=sure,
    )


def _only_measured(existing: list[Option]) -> Decision:
    """Return the decision where there are no features: there is no alternative."""
    return Decision(
        verdict="only measured",
        chosen=None,
        ties=[],
        options=existing,
        raw=existing[0],
        n_settings=0,
        sure=1.0,
    )


def withheld(decision: Decision) -> Decision:
    """Return a decision that recommends nothing: a column leaks the target.

    All models that were compared know the answer, so how often each is recommended means nothing.
    """
    options = [replace(option, selection_frequency=0.0) for option in decision.options]
    return replace(decision, verdict="target leak", chosen=None, ties=[], options=options, sure=0.0)


def _settings(
    representations: Sequence[Representation], settings: Settings
) -> list[tuple[Representation, Setting]]:
    """Return the raw features, then every representation, and fair PCA at every lambda.

    Lambda scales columns, which trees do not notice: it is no choice for who may use any model.
    """
    found = [(one, one.setting) for one in representations if not one.failure]
    if settings.aim == "decide" and settings.model in CURVE_MODELS:
        fair = [one for one, setting in found if setting == Setting("fair_pca")]
        found += [(one, replace(one.setting, tradeoff=v)) for one in fair for v in LAMBDAS]
    return found


def _candidate(
    findings: Findings,
    settings: Settings,
    singles: Sequence[int],
    one: Representation,
    setting: Setting,
) -> _Candidate:
    models = [m for m in [*PROBES, EXISTING] if (setting, m) in findings.judged]
    asked = [m for m in models if settings.model in ("any", m) or m == EXISTING]
    readable = setting if setting.tradeoff is None else Setting("pca")
    leak = _worst_leak(findings, settings, singles, readable)
    numbers = [_of_model(findings, singles, setting, model) for model in models]
    of_asked = [n for n in numbers if n.model in asked]
    compared = [n for n in of_asked if n.gap is not None]
    gap = max(compared, key=lambda n: n.gap.value, default=None)  # type: ignore[union-attr]
    parities = [findings.parities[setting, gap.model][i] for i in singles] if gap else []
    worst = next((p for p in parities if gap and p.attribute == gap.attribute), None)
    useful = [n for n in of_asked if n.utility is not None]
    best = max(useful, key=lambda n: n.utility.value, default=None)  # type: ignore[union-attr]
    joint = [
        p
        for model in asked
        for i in range(len(findings.attributes))
        if i not in singles and (p := findings.parities[setting, model][i]).gap is not None
    ]
    widest = max(joint, key=lambda p: p.gap.value, default=None)  # type: ignore[union-attr]
    utility = best.utility if best else one.variance_kept if findings.target is None else None
    option = Option(
        representation=one.key,
        name=name_of(setting),
        n_columns=int(one.n_columns or 0),
        tradeoff=setting.tradeoff,
        gap=None if gap is None else widest_gap([n.gap for n in of_asked]),
        gap_attribute=gap.attribute if gap else None,
        gap_model=gap.model if gap else None,
        gap_groups=comparison(worst) if worst else None,
        utility=utility,
        utility_model=best.model if best else None,
        leak=leak.auc,
        leak_attribute=leak.attribute,
        leak_probe=leak.probe,
        leak_above_chance=leak.above_chance,
        ratio=worst.ratio if worst else None,
        joint_gap=widest.gap if widest else None,
        joint_attribute=widest.attribute if widest else None,
        joint_groups=comparison(widest) if widest else None,
        reduction=None,
        models=numbers,
        eligible=False,
        selection_frequency=0.0,
    )
    y_draws = _normal_draws(utility, settings, f"{setting} utility")
    competes = setting not in findings.existing
    if best is not None and competes:
        y_draws = findings.utility_draws(setting, best.model)
    leak_draws = _normal_draws(leak.auc, settings, f"{setting} leak")
    floor = 0.0 if findings.target is None or findings.target.kind == "number" else 0.5
    if settings.aim == "decide" and competes:
        assert option.gap is not None
        draws = np.max([findings.gap_draws(setting, m, i) for m in asked for i in singles], axis=0)
        draws += option.gap.value - draws.mean()
        x, limit, slack = option.gap, settings.max_gap, option.gap.value - option.gap.low
    else:
        draws, x, limit, slack = leak_draws, leak.auc, leak.chance, 0.0
    return _Candidate(setting, option, x, limit, slack, draws, utility, y_draws, leak_draws, floor)


def _worst_leak(
    findings: Findings, settings: Settings, singles: Sequence[int], setting: Setting
) -> Leak:
    """Return the largest AUC; what chance explains counts after what it does not.

    Who decides wants to know of every probe; who hides may ask for one kind.
    """
    names = [findings.attributes[i].name for i in singles]
    probes = ("linear",) if settings.aim == "keep" else PROBES
    if settings.model != "any" and settings.aim != "decide":
        probes = (settings.model,)
    leaks = [
        leak
        for leak in findings.leaks
        if leak.representation == str(setting) and leak.attribute in names and leak.probe in probes
    ]
    return largest(leaks)


def _of_model(
    findings: Findings, singles: Sequence[int], setting: Setting, model: str
) -> ModelNumbers:
    parities = [findings.parities[setting, model][i] for i in singles]
    worst = max(parities, key=lambda p: 0.0 if p.gap is None else p.gap.value)
    gap = widest_gap([p.gap for p in parities])
    return ModelNumbers(model, findings.utilities[setting, model], gap, worst.attribute)


def _normal_draws(estimate: Estimate | None, settings: Settings, what: str) -> np.ndarray:
    if estimate is None:
        return np.zeros(N_RESAMPLES)
    z = float(norm.ppf(0.5 + settings.confidence / 2))
    error = (estimate.high - estimate.low) / (2 * z)
    rng = np.random.default_rng([settings.seed, *what.encode()])
    return estimate.value + error * rng.standard_normal(N_RESAMPLES)


class _Contest:
    """Settings that compete on the same people, as they are (draw 0) and in resamples of them.

    `x` is to be small, `y` to be large, and `leak` is what still leaks: a row for each setting, a
    column for each draw.
    """

    def __init__(
        self, raw: _Candidate, competing: Sequence[_Candidate], z: float, *, to_limit: bool = True
    ) -> None:
        self.raw, self.competing, self.z, self.to_limit = raw, competing, z, to_limit
        self._raw = [raw.x.value, *raw.x_draws.tolist()]
        shape = len(competing), 1 + N_RESAMPLES
        x = [[c.x.value, *c.x_draws] for c in competing]
        y = [[c.y.value if c.y else 0.0, *np.nan_to_num(c.y_draws)] for c in competing]
        leak = [[c.option.leak.value, *c.leak_draws] for c in competing]
        self.x, self.y, self.leak = (np.reshape(numbers, shape) for numbers in (x, y, leak))
        self._errors = np.std(raw.x_draws - self.x[:, 1:], axis=1)
        self._useful = np.array([c.y is None or c.y.low > c.floor for c in competing], dtype=bool)
        self._slack = np.array([c.slack for c in competing])
        self._limits = np.array([c.limit for c in competing])

    def reduction(self, i: int) -> Estimate:
        """Return by how much less a setting has than the raw features, on the same people."""
        value, reach = self.raw.x.value - self.competing[i].x.value, self.z * self._errors[i]
        return Estimate(value, float(value - reach), float(value + reach))

    def standing(self, draw: int = 0) -> tuple[list[int], list[int]]:
        """Return the settings that no other exceeds, and those of them that serve the aim.

        A setting helps if it takes off a quarter of what the raw features have too much, and more
        than chance explains on the same people, and if its models are better than chance. Of
        those that help and that none exceeds in both what is small and what is large, those serve
        which may meet the limit; if there are none, those not significantly above the
        smallest, unless it is the limit that is to be reached.
        """
        x, y = self.x[:, draw], self.y[:, draw]
        helping = np.flatnonzero(self._helps(draw)).tolist()
        among = helping or list(range(len(x)))
        frontier = [i for i in among if not any(_exceeds(x, y, j, i) for j in among)]
        if not helping:
            return frontier, []
        low = x - self._slack
        eligible = [i for i in frontier if low[i] <= self._limits[i]]
        if not eligible and not self.to_limit:
            nearest = float(min(x[i] for i in frontier))
            eligible = [i for i in frontier if low[i] <= nearest]
        return frontier, eligible

    def _helps(self, draw: int) -> np.ndarray:
        raw = self._raw[draw]
        enough = np.maximum(self.z * self._errors, WORTH_DOING * (raw - self.raw.limit))
        return np.asarray((raw - self.x[:, draw] > enough) & self._useful)

    def verdict(self) -> int:
        """Return what to do: of gaps, only where these people tell on which side the limit is."""
        if not self.to_limit:
            return self.choose()
        if self.raw.x.high <= self.raw.limit:
            return NO_ACTION_NEEDED
        return NOT_SETTLED if self.raw.x.low <= self.raw.limit else self.choose()

    def choose(self, draw: int = 0) -> int:
        """Return the setting to take, or why there is none.

        Of those that serve, the most useful; of those not significantly different, the one that
        leaks least.
        """
        if self._raw[draw] <= self.raw.limit:
            return NO_ACTION_NEEDED
        _, eligible = self.standing(draw)
        if not eligible:
            return LIMIT_NOT_REACHED if self._helps(draw).any() else NO_METHOD_HELPS
        y, leak = self.y[:, draw], self.leak[:, draw]
        apart = self.y[:, 1:]
        best = max(eligible, key=lambda i: y[i])
        as_good = [
            i
            for i in eligible
            if y[best] - y[i] <= max(WORTH_IT, self.z * float(np.std(apart[best] - apart[i])))
        ]
        return min(as_good, key=lambda i: leak[i])

    def tied(self, chosen: int, counted: Counter[int]) -> list[int]:
        """Return what else is often recommended: two at most, and none that exceeds it.

        What exceeds it was not chosen because it may not help at all.
        """
        x, y = self.x[:, 0], self.y[:, 0]
        often = [i for i, n in counted.most_common() if n / N_RESAMPLES >= _CONTENDER]
        others = [i for i in often if chosen >= 0 and i >= 0 and i != chosen]
        return [i for i in others if not _exceeds(x, y, i, chosen)][:2]


def _exceeds(x: np.ndarray, y: np.ndarray, i: int, j: int) -> bool:
    """Whether one setting is as good as another in both, and better in one."""
    return bool(x[i] <= x[j] and y[i] >= y[j] and (x[i] < x[j] or y[i] > y[j]))


def _listed(
    contest: _Contest, frontier: Sequence[int], eligible: Sequence[int], first: Sequence[int]
) -> list[int]:
    """Return at most four settings by decreasing utility: the chosen, the fairest, the best."""
    x, y = contest.x[:, 0], contest.y[:, 0]
    by_utility = sorted(frontier, key=lambda i: -y[i])
    ends = [min(frontier, key=lambda i: x[i]), by_utility[0]] if frontier else []
    rest = sorted(by_utility, key=lambda i: i not in eligible)
    wanted = list(dict.fromkeys([i for i in [*first, *ends, *rest] if i >= 0]))[:MOST_OPTIONS]
    return sorted(wanted, key=lambda i: -y[i])
