"""What scores come to, against plain formulas, public functions and repeated samples."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score

from fairpca.auditing._findings import Findings, largest_difference
from fairpca.auditing._judging import ENOUGH_ROWS, N_RESAMPLES, Rates, Round, share_error
from fairpca.auditing._measures import Measures, fitted_model
from fairpca.auditing._representations import TrainingRows
from fairpca.auditing._results import EXISTING, Setting, Target
from fairpca.auditing._splits import QUICK, ExistingModel, HeldOut, halves
from fairpca.metrics import (
    PROBES,
    distribution_gap,
    false_positive_rate_difference,
    make_probe,
    mean_prediction_difference,
    precision_difference,
    select_top,
    selection_rate_difference,
    selection_rate_ratio,
    true_positive_rate_difference,
)
from fairpca.models import Measured
from slow import slow

EVERYBODY = replace(QUICK, judged_rows=10**9)


def made_up(seed=0, n=500, m=3, kind="binary"):
    """Return scores of shape (n, levels), what they predict, and groups, some unknown."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, m, size=n)
    signal = rng.normal(size=n) + 0.5 * codes
    noise = rng.normal(size=(n, 3 if kind == "classes" else 1))
    if kind == "number":
        return signal[:, None], signal + noise[:, 0], codes
    if kind == "classes":
        y = np.digitize(signal + noise[:, 0], [-0.5, 0.8])
        return noise + 1.5 * (y[:, None] == np.arange(3)), y, codes
    return signal[:, None], signal + noise[:, 0] > 0.3, codes


def rounds_of(y, codes, *, n_rounds=1, weights=None, kind="binary", m=None, seed=0, people=None):
    """Return rounds of halves of people, whose rates are those of the other half."""
    m = int(codes.max()) + 1 if m is None else m
    strata = [codes] if y is None or kind == "number" else [codes, y.astype(int)]
    splits = halves(strata, n_rounds, np.random.default_rng(seed))
    found = []
    for split in splits:
        w = np.ones(len(codes)) if weights is None else weights
        y_train = None if y is None else y[split.train]
        rate = float("nan")
        if kind == "binary" and y is not None:
            rate = float(np.average(y_train, weights=w[split.train]))
        elif kind == "classes":
            shares = np.bincount(y_train, w[split.train])
            rate = shares / shares.sum()
        rows = TrainingRows(np.zeros((len(split.train), 0)), {}, {}, 1, seed, y_train, "y", kind)
        found.append(
            HeldOut(
                *(split.index, rows, np.zeros((len(split.test), 0)), [codes[split.train]]),
                *([codes[split.test]], [m], None if y is None else y[split.test], rate),
                weights=None if weights is None else weights[split.test],
                places=split.test,
                people=split.test if people is None else people[split.test],
            )
        )
    return [Round(pair, EVERYBODY) for pair in zip(found[0::2], found[1::2], strict=True)]


def judged(scores, y, codes, *, own=None, **given):
    """Return what scores of all rows come to in one round, and the round."""
    (one,) = rounds_of(y, codes, **given)
    return one.judged(scores[one.places], existing=own), one


def findings_of(scores, y, codes, *, n_rounds=1, own=None, confidence=0.95, **given):
    """Return findings of one model, or of one that exists."""
    kind = given.get("kind", "binary")
    rounds = rounds_of(y, codes, n_rounds=n_rounds, **given)
    key, model = (
        (Setting("raw"), "linear") if own is None else (Setting(own, column="it"), EXISTING)
    )
    measures = [
        Measures(key, 2 * r + h, scores={} if own else {model: scores[one.places[one.half == h]]})
        for r, one in enumerate(rounds)
        for h in (0, 1)
    ]
    labels = tuple(f"g{i}" for i in range(int(codes.max()) + 1))
    attribute = Measured("race", ("race",), "levels", labels, codes, codes, "")
    deviation = float(y.std()) if kind == "number" else None
    classes = ["a", "b", "c"] if kind == "classes" else []
    target = None if y is None else Target("y", kind, None, None, classes, None, deviation)
    existing = [ExistingModel(key, scores[:, 0])] if own else []
    everybody = [all_rows(y, codes, kind, given.get("weights"))]
    found = (measures, [], rounds, [attribute], confidence, target, existing, everybody, 0)
    return Findings(*found), key, model


def all_rows(y, codes, kind, weights):
    """Return all rows as one half, to which nothing was fitted."""
    rows = TrainingRows(np.empty((0, 0)), {}, {}, 0, 0, None if y is None else y[:0], "y", kind)
    m, n = int(codes.max()) + 1, np.arange(len(codes))
    X = np.empty((len(codes), 0))
    return HeldOut(0, rows, X, [], [codes], [m], y, weights=weights, places=n, people=n)


WEIGHTS = np.random.default_rng(9).exponential(size=500)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
@pytest.mark.parametrize("seed", range(3))
def test_what_a_decision_that_was_made_comes_to_is_what_the_public_functions_say(seed, weights):
    """Of all rows, to the last digit, as whoever has to sign will check it."""
    scores, y, codes = made_up(seed)
    decided = (scores > 0.4).astype(float)
    findings, key, model = findings_of(decided, y, codes, own="decision", weights=weights)
    found, known = findings.parities[key, model][0], codes >= 0
    given = {"sensitive_features": codes[known]}
    if weights is not None:
        given["sample_weight"] = weights[known]
    asked = y[known].astype(int), decided[known, 0].astype(int)
    for printed, public in (
        (found.gap, selection_rate_difference),
        (found.ratio, selection_rate_ratio),
        (found.true_positive_gap, true_positive_rate_difference),
        (found.false_positive_gap, false_positive_rate_difference),
        (found.precision_gap, precision_difference),
    ):
        assert printed.value == pytest.approx(public(*asked, **given), rel=1e-12)
        assert printed.low <= printed.value <= printed.high
    assert found.distribution_gap is None
    downstream = findings.downstream()[0]
    exact = {"rel": 1e-12}
    assert downstream.utility.value == pytest.approx(
        roc_auc_score(y, decided[:, 0], sample_weight=weights), **exact
    )
    assert downstream.accuracy.value == pytest.approx(
        accuracy_score(y, decided[:, 0], sample_weight=weights), **exact
    )
    for g, group in enumerate(found.groups):
        assert group.n_rows == np.sum(codes == g)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
def test_what_a_score_comes_to_is_what_the_public_functions_say(weights):
    scores, y, codes = made_up()
    scores = np.round(1 / (1 + np.exp(-scores)), 2)  # ties, and from 0 to 1
    findings, key, model = findings_of(scores, y, codes, own="score", weights=weights, n_rounds=2)
    found, known = findings.parities[key, model][0], codes >= 0
    given = {} if weights is None else {"sample_weight": weights[known]}
    share = np.average(y, weights=weights)
    chosen = select_top(scores[:, 0], share, sample_weight=weights)
    gap = selection_rate_difference(
        None, chosen[known].astype(int), sensitive_features=codes[known], **given
    )
    assert found.gap.value == pytest.approx(gap, rel=1e-12)
    assert found.distribution_gap.value == pytest.approx(
        distribution_gap(None, scores[known, 0], sensitive_features=codes[known], **given),
        rel=1e-12,
    )
    utility = findings.utilities[key, model].value
    assert utility == pytest.approx(roc_auc_score(y, scores[:, 0], sample_weight=weights), rel=1e-9)
    for g, group in enumerate(found.groups):
        rows = codes == g
        w = None if weights is None else weights[rows]
        mean = np.average(scores[rows, 0], weights=w)
        assert group.mean_score.value == pytest.approx(mean, rel=1e-6)
        assert group.mean_outcome.value == pytest.approx(np.average(y[rows], weights=w), rel=1e-9)


def test_a_score_without_a_target_selects_the_upper_half():
    scores, _, codes = made_up()
    findings, key, model = findings_of(scores, None, codes, own="score")
    known = codes >= 0
    chosen = select_top(scores[:, 0], 0.5)
    gap = selection_rate_difference(
        None, chosen[known].astype(int), sensitive_features=codes[known]
    )
    assert findings.parities[key, model][0].gap.value == pytest.approx(gap, rel=1e-12)
    assert findings.utilities[key, model] is None


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
def test_a_model_is_judged_half_by_half(weights):
    """The two halves have two models, whose scores need not be on one scale."""
    scores, y, codes = made_up()
    (one,) = rounds_of(y, codes, weights=weights)
    s = scores[one.places] * np.where(one.half == 1, 100.0, 1.0)[:, None]
    found = one.judged(s)
    y, codes, w = one.y, one.codes[0], None if weights is None else one.weights
    aucs, chosen = [], np.zeros(len(y), dtype=int)
    for h in (0, 1):
        rows = one.half == h
        part = None if w is None else w[rows]
        aucs.append(roc_auc_score(y[rows], s[rows, 0], sample_weight=part))
        chosen[rows] = select_top(s[rows, 0], float(one.rates[h][0]), sample_weight=part)
    assert found.utility[0] == pytest.approx(np.mean(aucs), rel=1e-12)
    known = codes >= 0
    gap = selection_rate_difference(
        None,
        chosen[known],
        sensitive_features=codes[known],
        sample_weight=None if w is None else w[known],
    )
    assert np.ptp(found.groups[0]["selection_rate"].values) == pytest.approx(gap, rel=1e-12)


def test_a_number_is_judged_by_means_distributions_and_r2():
    scores, y, codes = made_up(kind="number")
    findings, key, model = findings_of(scores, y, codes, kind="number", n_rounds=3)
    found, known = findings.parities[key, model][0], codes >= 0
    gap = (
        mean_prediction_difference(None, scores[known, 0], sensitive_features=codes[known])
        / y.std()
    )
    assert found.gap.value == pytest.approx(gap, rel=1e-6)
    assert found.ratio is None
    whole = distribution_gap(None, scores[known, 0], sensitive_features=codes[known])
    assert found.distribution_gap.value == pytest.approx(whole, rel=1e-12)
    downstream = findings.downstream()[0]
    assert downstream.utility.value == pytest.approx(r2_score(y, scores[:, 0]), abs=0.01)
    rank = spearmanr(y, scores[:, 0])[0]
    assert downstream.rank_correlation.value == pytest.approx(rank, abs=0.01)
    assert downstream.accuracy is None
    assert found.groups[0].selection_rate is None


def test_a_number_that_exists_is_judged_as_one():
    scores, y, codes = made_up(kind="number")
    findings, key, model = findings_of(scores, y, codes, kind="number", own="score")
    found, known = findings.downstream()[0], codes >= 0
    assert found.utility.value == pytest.approx(r2_score(y, scores[:, 0]), rel=1e-9)
    assert found.rank_correlation.value == pytest.approx(spearmanr(y, scores[:, 0])[0], rel=1e-9)
    gap = (
        mean_prediction_difference(None, scores[known, 0], sensitive_features=codes[known])
        / y.std()
    )
    assert found.parities[0].gap.value == pytest.approx(gap, rel=1e-9)
    assert findings.gap_draws(key, model, 0).mean() == pytest.approx(gap, rel=1e-6)


def test_decisions_beside_a_number_are_no_prediction_of_it():
    scores, y, codes = made_up(kind="number")
    decided = (scores > 0.4).astype(float)
    findings, key, model = findings_of(decided, y, codes, kind="number", own="decision")
    (found,), known = findings.downstream(), codes >= 0
    assert (found.utility, found.rank_correlation, found.accuracy) == (None, None, None)
    gap = selection_rate_difference(
        None, decided[known, 0].astype(int), sensitive_features=codes[known]
    )
    assert found.parities[0].gap.value == pytest.approx(gap, rel=1e-12)
    assert findings.gap_draws(key, model, 0).mean() == pytest.approx(gap, rel=1e-6)


def test_several_classes_are_judged_by_the_class_that_differs_most():
    scores, y, codes = made_up(kind="classes", n=900)
    findings, key, model = findings_of(scores, y, codes, kind="classes")
    (one,) = findings.rounds
    s, c, labels = scores[one.places], one.codes[0], one.y
    known, gaps = c >= 0, []
    for level in range(3):
        chosen = np.zeros(len(c), dtype=int)
        for h in (0, 1):
            rows = one.half == h
            chosen[rows] = select_top(s[rows, level], float(one.rates[h][level]))
        gaps.append(selection_rate_difference(None, chosen[known], sensitive_features=c[known]))
    found = findings.parities[key, model][0]
    assert found.gap.value == pytest.approx(max(gaps), rel=1e-12)
    assert found.level == "abc"[int(np.argmax(gaps))]
    aucs = [
        roc_auc_score(labels[one.half == h] == level, s[one.half == h, level])
        for h in (0, 1)
        for level in range(3)
    ]
    assert findings.utilities[key, model].value == pytest.approx(np.mean(aucs), rel=1e-9)


def test_a_score_beside_several_classes_is_no_prediction_of_them():
    scores, y, codes = made_up(kind="classes", n=900)
    findings, *_ = findings_of(scores[:, :1], y, codes, kind="classes", own="score")
    known = codes >= 0
    chosen = select_top(scores[:, 0], 0.5).astype(int)
    found = findings.downstream()[0]
    assert found.utility is None
    gap = selection_rate_difference(None, chosen[known], sensitive_features=codes[known])
    assert found.parities[0].gap.value == pytest.approx(gap, rel=1e-12)
    assert found.parities[0].level is None


def repeated(rows, times):
    return np.repeat(rows, times, axis=0)


@pytest.mark.parametrize("kind", ["binary", "number", "classes"])
def test_a_row_of_weight_three_is_three_rows(kind):
    scores, y, codes = made_up(kind=kind, n=600)
    times = np.random.default_rng(1).integers(1, 4, size=600)
    (light,) = rounds_of(y, codes, kind=kind, weights=times.astype(float))
    parts = [repeated(a[light.places], times[light.places]) for a in (scores, y, codes)]
    half = repeated(light.half, times[light.places])
    heavy = Round.__new__(Round)
    heavy.__dict__ |= light.__dict__ | {
        "y": parts[1],
        "codes": [parts[2]],
        "half": half,
        "weights": np.ones(len(half)),
        "people": np.arange(len(half)),
    }
    one, other = light.judged(scores[light.places]), heavy.judged(parts[0])
    assert one.utility[0] == pytest.approx(other.utility[0], rel=1e-9)
    for name, rates in one.groups[0].items():
        np.testing.assert_allclose(rates.values, other.groups[0][name].values, rtol=1e-9)
        assert (rates.errors >= other.groups[0][name].errors).all()  # fewer people
    if kind == "number":
        assert one.apart[0][0] == pytest.approx(other.apart[0][0])


def test_rows_that_a_model_does_not_know_are_left_out():
    scores, y, codes = made_up()
    holes = np.where(np.arange(500)[:, None] % 7 == 0, np.nan, scores)
    known = np.isfinite(holes[:, 0])
    some, _ = judged(holes, y, codes, own="score")
    assert some.utility[0] == pytest.approx(roc_auc_score(y[known], scores[known, 0]), rel=1e-9)
    assert some.counts[0].sum() == np.sum(known & (codes >= 0))


@pytest.mark.parametrize("kind", ["binary", "number", "classes"])
def test_errors_of_rates_and_utility_are_those_of_repeated_samples(kind):
    found = [judged(*made_up(seed, 300, 2, kind), kind=kind)[0] for seed in range(200)]
    name = "mean_score" if kind == "number" else "selection_rate"
    rates = np.stack([f.groups[0][name].values[0] for f in found])
    errors = np.stack([f.groups[0][name].errors[0] for f in found])
    # 200 draws know a standard deviation to about 5 %; shares of the whole are fixed, which makes
    # groups' rates vary less than the errors say.
    assert np.all(errors.mean(axis=0) > 0.85 * rates.std(axis=0))
    assert np.all(errors.mean(axis=0) < 1.6 * rates.std(axis=0))
    utility = np.array([f.utility for f in found])
    assert utility[:, 1].mean() == pytest.approx(utility[:, 0].std(), rel=0.2)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
@pytest.mark.parametrize("kind", ["binary", "number", "classes"])
def test_draws_vary_as_much_as_the_errors_say(kind, weights):
    scores, y, codes = made_up(kind=kind)
    found, _ = judged(scores, y, codes, kind=kind, weights=weights)
    # 400 draws know a standard deviation to about 3.5 %
    assert np.std(found.utility_draws) == pytest.approx(found.utility[1], rel=0.12)
    rates = found.groups[0]["mean_score" if kind == "number" else "selection_rate"]
    assert rates.draws.shape == (*rates.values.shape, N_RESAMPLES)
    np.testing.assert_allclose(rates.draws.std(axis=2), rates.errors, rtol=0.15)
    np.testing.assert_allclose(rates.draws.mean(axis=2) / rates.errors, 0, atol=0.2)


@pytest.mark.parametrize("kind", ["binary", "number"])
@pytest.mark.parametrize("n_rounds", [1, 4])
def test_draws_of_a_gap_have_its_mean_and_the_spread_of_a_bootstrap(kind, n_rounds):
    """Rounds hold out the same people again, and do not make a gap more certain."""
    scores, y, codes = made_up(n=600, m=2, kind=kind)
    findings, key, model = findings_of(scores, y, codes, kind=kind, n_rounds=n_rounds)
    draws = findings.gap_draws(key, model, 0)
    assert draws.mean() == pytest.approx(findings.parities[key, model][0].gap.value, rel=1e-9)
    if kind == "number":
        value, unit = scores[:, 0], y.std()
    else:
        value, unit = select_top(scores[:, 0], y.mean()).astype(float), 1.0
    rng, again = np.random.default_rng(0), []
    for _ in range(2000):
        rows = rng.integers(600, size=600)
        z, g = value[rows], codes[rows]
        again.append(z[g == 1].mean() - z[g == 0].mean())
    assert draws.std() == pytest.approx(np.std(again) / unit, rel=0.12)
    auc_draws = findings.utility_draws(key, model)
    assert auc_draws.mean() == pytest.approx(findings.utilities[key, model].value, abs=0.005)


def test_rows_of_one_person_are_drawn_together():
    """Another row of the same person does not make a gap more certain."""
    scores, y, codes = made_up(n=600, m=2)
    once, key, model = findings_of(scores, y, codes)
    twice = [repeated(a, 2) for a in (scores, y, codes)]
    people = repeated(np.arange(600), 2)
    again, _, _ = findings_of(*twice, people=people, own=None)
    spread = once.gap_draws(key, model, 0).std()
    assert again.gap_draws(key, model, 0).std() == pytest.approx(spread, rel=0.12)


def test_two_models_are_drawn_on_the_same_people():
    """What two almost equal models differ by is far more certain than either."""
    scores, y, codes = made_up(n=600, m=2)
    close = scores + 0.02 * np.random.default_rng(0).normal(size=scores.shape)
    draws = []
    for s in (scores, close):
        findings, key, model = findings_of(s, y, codes, n_rounds=4)
        draws.append((findings.gap_draws(key, model, 0), findings.utility_draws(key, model)))
    for one, other in zip(*draws, strict=True):
        assert np.std(one - other) < 0.35 * np.std(one)


def population_gap(shift, share):
    """Return by how much top scores of two groups of normal scores, one shifted, differ."""
    from scipy.optimize import brentq
    from scipy.stats import norm

    def excess(t):
        return 0.5 * (norm.sf(t) + norm.sf(t - shift)) - share

    t = brentq(excess, -9, 9)
    return float(norm.sf(t - shift) - norm.sf(t)), float(norm.sf(t) / norm.sf(t - shift))


@pytest.mark.parametrize("n", [300, slow(1200)])
@pytest.mark.parametrize("shift", [0.0, 0.6])
def test_intervals_of_gap_and_ratio_cover_as_often_as_they_say(n, shift):
    gap, ratio = population_gap(shift, 0.4)
    covered = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 2, size=n)
        y = rng.random(n) < 0.4
        s = (rng.normal(size=n) + shift * codes)[:, None]
        findings, key, model = findings_of(s, y, codes, n_rounds=2)
        found = findings.parities[key, model][0]
        covered.append(
            [
                found.gap.low - 1e-9 <= gap <= found.gap.high,
                found.ratio.low <= ratio <= found.ratio.high + 1e-9,
            ]
        )
    # 200 repeats know a share of 95 % to about 1.5 %
    assert np.all(np.mean(covered, axis=0) >= 0.92)


@pytest.mark.slow
def test_intervals_of_utility_cover_as_often_as_they_say():
    """Of AUC and R2 of fixed scores: 0.76 and 0.5 in the population."""
    from scipy.stats import norm

    covered = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        codes, y = rng.integers(0, 2, size=300), rng.random(300) < 0.5
        s = (rng.normal(size=300) + y)[:, None]
        findings, key, model = findings_of(s, y, codes, n_rounds=2)
        auc = findings.utilities[key, model]
        x, e = rng.normal(size=(2, 300))
        numbers, key, model = findings_of(x[:, None], x + e, codes, kind="number", n_rounds=2)
        r2 = numbers.utilities[key, model]
        truth = norm.cdf(1 / np.sqrt(2))
        covered.append([auc.low <= truth <= auc.high, r2.low <= 0.5 <= r2.high])
    assert np.all(np.mean(covered, axis=0) >= 0.92)


@pytest.mark.parametrize(
    ("shares", "sizes"),
    [
        ([0.3] * 6, [50] * 6),
        slow([0.3] * 12, [100] * 12),
        slow([0.3, 0.4], [150, 150]),
        ([0.2, 0.3, 0.45], [600, 200, 60]),
    ],
)
def test_the_largest_difference_of_many_groups_is_covered_as_often_as_said(shares, sizes):
    """Six equal groups of 50 rows are seen 17 points apart, which must not count as a finding."""
    truth, covered, repeats = max(shares) - min(shares), 0, 400
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        seen = np.array([rng.binomial(n, p) / n for n, p in zip(sizes, shares, strict=True)])
        gap = largest_difference([Rates(seen, share_error(seen, np.array(sizes)))], 0.95)
        assert gap.low <= gap.value <= gap.high
        covered += gap.low <= truth <= gap.high
    # 400 repeats know a share of 95 % to about 1 %
    assert covered / repeats > 0.93


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
@pytest.mark.parametrize("m", [2, 3])
def test_how_a_score_ranks_groups_is_the_auc_of_each_against_the_others(m, weights):
    """Of what trees say, too, whose scores are tied."""
    scores, y, codes = made_up(m=m)
    scores = np.round(-scores, 1)  # it ranks the last group lowest
    found, key, model = findings_of(scores, y, codes, own="score", weights=weights)
    known = codes >= 0
    w = None if weights is None else weights[known]
    aucs = [roc_auc_score(codes[known] == g, scores[known, 0], sample_weight=w) for g in range(m)]
    expected = 0.5 + np.mean(np.abs(np.array(aucs) - 0.5))
    parity = found.parities[key, model][0]
    assert parity.score_auc.value == pytest.approx(expected)
    assert 0.5 < parity.score_auc.low < expected < parity.score_auc.high
    decided, key, model = findings_of(scores > 0, y, codes, own="decision")
    assert decided.parities[key, model][0].score_auc is None


def test_the_error_of_a_ranking_is_that_of_equal_distributions():
    rng, aucs, errors = np.random.default_rng(0), [], []
    for _ in range(300):
        codes, y = (rng.random(400) < 0.2).astype(int), rng.random(400) < 0.5
        found, _ = judged(rng.normal(size=(400, 1)), y, codes)
        aucs.append(found.ranked[0][0][1])
        errors.append(found.ranked[0][1][1])
    assert np.mean(errors) == pytest.approx(np.std(aucs), rel=0.12)


def test_a_difference_needs_two_groups_with_a_number():
    nothing = float("nan")
    rates, errors = np.array([0.3, nothing, 0.5]), np.full(3, 0.1)
    assert largest_difference([Rates(rates[:2], errors[:2])], 0.95) is None
    assert largest_difference([Rates(rates, errors)], 0.95).value == pytest.approx(0.2)


def test_a_group_without_positive_rows_has_no_true_positive_rate():
    scores, y, codes = made_up(n=900, m=3)
    y = y & (codes != 2)
    findings, key, model = findings_of(scores, y, codes)
    found = findings.parities[key, model][0]
    assert found.groups[2].true_positive_rate is None
    rates = [group.true_positive_rate.value for group in found.groups[:2]]
    assert found.true_positive_gap.value == pytest.approx(abs(rates[0] - rates[1]))


def test_gaps_leave_out_groups_of_few_people_and_say_which():
    scores, y, codes = made_up(n=900, m=2)
    codes[:30], scores[:30] = 2, 99.0
    findings, key, model = findings_of(scores, y, codes, own="score")
    found = findings.parities[key, model][0]
    assert [group.compared for group in found.groups] == [True, True, False]
    large = (codes >= 0) & (codes < 2)
    chosen = select_top(scores[:, 0], y.mean()).astype(int)
    assert found.gap.value == pytest.approx(
        selection_rate_difference(None, chosen[large], sensitive_features=codes[large])
    )
    assert found.distribution_gap.value == pytest.approx(
        distribution_gap(None, scores[large, 0], sensitive_features=codes[large])
    )
    few = slice(0, ENOUGH_ROWS)  # no two groups are large enough: all are compared
    findings, key, model = findings_of(scores[few], y[few], codes[few], own="score")
    assert all(group.compared for group in findings.parities[key, model][0].groups)


@pytest.mark.parametrize("rate", [0.2, 0.9])
def test_a_model_that_says_the_same_of_all_rows_decides_as_most_of_them(rate):
    y = np.arange(100) < 100 * rate
    found, _ = judged(np.zeros((100, 1)), y, np.arange(100) % 2)
    assert found.accuracy[0] == pytest.approx(max(rate, 1 - rate))
    assert found.utility[0] == 0.5
    assert set(found.groups[0]["selection_rate"].values[0]) == {float(rate > 0.5)}


def test_a_perfect_order_of_few_rows_is_not_certain():
    few, many = (
        judged(np.arange(n)[:, None], np.arange(n) >= n // 2, np.arange(n) % 2)[0].utility
        for n in (16, 1600)
    )
    assert few[0] == many[0] == 1.0
    assert few[1] > 0.1 > many[1] > 0


def test_a_share_of_nothing_in_few_rows_is_not_certain():
    assert share_error(0.0, 5) > 0.1
    assert share_error(0.0, 5000) < 0.001


@pytest.mark.parametrize("name", PROBES)
def test_every_downstream_model_learns_a_simple_rule(name):
    rng = np.random.default_rng(0)
    T = rng.normal(size=(600, 2))
    y = T[:, 0] > 0
    model = make_probe(name, as_is=True).fit(T[:400], y[:400])
    assert model.score(T[400:], y[400:]) > 0.9


def test_trees_that_learned_rows_by_heart_select_no_fewer_of_others():
    rng = np.random.default_rng(0)
    T = rng.normal(size=(600, 5))
    y = T[:, 0] + 2 * rng.normal(size=600) > 2.9  # about a tenth
    codes, ends, scores = np.arange(600) % 2, (slice(0, 300), slice(300, 600)), np.empty((600, 1))
    for train, test in (ends, ends[::-1]):
        rows = TrainingRows(T[train], {}, {}, 1, 0, y[train], "y")
        half = HeldOut(0, rows, T[test], [], [codes[test]], [2], y[test])
        scores[test] = fitted_model("boosting", half, T[train], QUICK)(T[test])
    found, _ = judged(scores, y, codes)
    assert found.groups[0]["selection_rate"].values.mean() == pytest.approx(y.mean(), abs=0.01)
