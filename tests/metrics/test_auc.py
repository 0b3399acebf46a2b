"""AUCs from ranks and over folds: against scikit-learn, definitions and simulations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from fairpca.metrics import AucDraws, cross_fitted_aucs, leakage
from fairpca.metrics import _auc as auc_module
from fairpca.metrics._auc import _permuted_macro_auc, macro_auc, placements
from fairpca.metrics._probes import MORE_PROBES, PROBES, _LandmarkFeatures
from slow import first_fast


def pairs_ordered_rightly(scores, inside, weight):
    """The definition: every row against every row of the other side."""
    lower = (scores[:, None] > scores) + 0.5 * (scores[:, None] == scores)
    others = (
        np.average(lower[:, side], axis=1, weights=weight[side]) for side in (~inside, inside)
    )
    return np.where(inside, next(others), 1 - next(others))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("levels", [2, 3])
def test_placements_are_shares_of_pairs_and_average_to_the_auc(levels, weighted):
    rng = np.random.default_rng(levels)
    codes = rng.permutation(np.r_[np.arange(levels), rng.integers(levels, size=40)])
    scores = rng.integers(6, size=(len(codes), 1 if levels == 2 else levels)).astype(float)
    w = rng.exponential(size=len(codes)) if weighted else np.ones(len(codes))
    given = (w,) if weighted else ()
    placed = placements(scores, codes, *given)
    aucs = []
    for column, level in enumerate([1] if levels == 2 else range(levels)):
        inside = codes == level
        expected = pairs_ordered_rightly(scores[:, column], inside, w)
        np.testing.assert_allclose(placed[:, column], expected)
        both = [np.average(placed[side, column], weights=w[side]) for side in (inside, ~inside)]
        textbook = roc_auc_score(inside, scores[:, column], sample_weight=w)
        assert both == pytest.approx([textbook, textbook])
        aucs.append(textbook)
    assert np.mean(aucs) == pytest.approx(macro_auc(scores, codes[None], *given)[0])


class FixedDirection:
    """A probe that learned elsewhere, so that its AUC on new rows is known."""

    def __init__(self, slope=1.0):
        self.slope = slope

    def get_params(self, deep=True):
        return {"slope": self.slope}

    def fit(self, T, y):
        return self

    def decision_function(self, T):
        return self.slope * T[:, 0]


def test_the_standard_error_of_one_known_score_is_delongs_up_to_the_folds():
    rng = np.random.default_rng(0)
    z = np.arange(2000) % 2
    T = rng.normal(size=(2000, 1)) + 1.5 * z[:, None]
    draws = cross_fitted_aucs(T, z, FixedDirection(), cv=2, n_permutations=1, rng=0)
    placed = placements(T, z)[:, 0]
    delong = np.sqrt(placed[z == 1].var(ddof=1) / 1000 + placed[z == 0].var(ddof=1) / 1000)
    # The factor for chance is 1 + (3 / s)^2 with s about 45 here.
    assert draws.standard_error == pytest.approx(delong, rel=0.01)


def true_auc(classifier_weights, shift):
    w = np.asarray(classifier_weights)
    return norm.cdf(w @ shift / np.linalg.norm(w) / np.sqrt(2))


@pytest.mark.parametrize("strength", first_fast([0.3, 0.0, 1.0]))
def test_intervals_of_a_fitted_probe_cover_for_two_levels(strength):
    """Against the AUC that the probe of each fold has on new rows, which is known for normals."""
    n, k, repeats = 150, 4, 200
    shift = np.array([strength, 0.0, 0.0, 0.0])
    covered = 0
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        z = rng.integers(2, size=n)
        probe = Remembering()
        T = rng.normal(size=(n, k)) + np.outer(z, shift)
        Remembering.weights.clear()
        low, high = cross_fitted_aucs(T, z, probe, 5, 1, seed).interval()
        covered += low <= np.mean([true_auc(w, shift) for w in Remembering.weights]) <= high
    # Binomial(200, 0.95) is below 181 with a probability of less than 0.5 %.
    assert covered >= 181


def test_fold_aucs_their_error_and_chance_are_weighted():
    """Half of the rows have another slope and count a tenth, so that leaving out weights shows."""
    rng = np.random.default_rng(0)
    z, light = rng.integers(2, size=2000), np.arange(2000) % 2 == 1
    T = (rng.normal(size=2000) + np.where(light, -2.0, 1.0) * z)[:, None]
    w = np.where(light, 0.1, 1.0) * np.exp(rng.normal(size=2000))
    draws = cross_fitted_aucs(T, z, WeighingNothing(), 2, 400, 5, sample_weight=w)
    folds = StratifiedKFold(2, shuffle=True, random_state=5).split(T, z)
    by_hand = [roc_auc_score(z[test], T[test, 0], sample_weight=w[test]) for _, test in folds]
    assert draws.fold_aucs == pytest.approx(by_hand)

    # The error of a standard deviation of 300 draws is 4 %; weights change it by 40 %.
    drawn = [rng.integers(2000, size=2000) for _ in range(300)]
    again = [roc_auc_score(z[row], T[row, 0], sample_weight=w[row]) for row in drawn]
    assert draws.standard_error == pytest.approx(np.std(again), rel=0.15)
    chance = [roc_auc_score(rng.permutation(z), T[:, 0], sample_weight=w) for _ in range(300)]
    assert np.std(draws.chance_draws) == pytest.approx(2**0.5 * np.std(chance), rel=0.15)
    sums = [np.bincount(z, w**power) for power in (1, 2)]
    assert draws.smallest_level == pytest.approx(min(sums[0] ** 2 / sums[1]))


@pytest.mark.parametrize("strength", first_fast([0.0, 0.3, 1.0]))
def test_intervals_and_chance_hold_where_rows_have_weights(strength):
    """The largest of these weights are 50 times the median, and 150 rows are worth about 60."""
    n, k, repeats = 150, 4, 200
    shift, covered, alarms = strength * np.eye(k)[0], 0, 0
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        z, w = rng.integers(2, size=n), np.exp(rng.normal(size=n))
        T = rng.normal(size=(n, k)) + np.outer(z, shift)
        Weighing.weights.clear()
        draws = cross_fitted_aucs(T, z, Weighing(), 5, 99, seed, sample_weight=w)
        low, high = draws.interval()
        covered += low <= np.mean([true_auc(v, shift) for v in Weighing.weights]) <= high
        alarms += draws.p_value < 0.05
    # Binomial(200, 0.95) is below 181, and Binomial(200, 0.05) above 19, in less than 0.5 %.
    assert covered >= 181
    assert strength > 0 or alarms <= 19


@pytest.mark.parametrize("probe", PROBES | MORE_PROBES)
@pytest.mark.parametrize("levels", [2, 3])
def test_weights_that_are_equal_change_nothing_and_ratios_are_all_that_counts(probe, levels):
    rng = np.random.default_rng(levels)
    z = rng.integers(levels, size=150)
    T, w = rng.normal(size=(150, 2)) + 0.4 * z[:, None], rng.exponential(size=150)

    def found(weight, rows=slice(None)):
        draws = cross_fitted_aucs(T[rows], z[rows], probe, 3, 20, 0, sample_weight=weight)
        return *draws.fold_aucs, draws.standard_error, *draws.chance_draws, draws.smallest_level

    assert found(np.full(150, 0.1)) == found(None)
    assert found(2.0**-20 * w) == found(w)
    assert found(3 * w) == pytest.approx(found(w), abs=1e-6)
    assert found(w) != pytest.approx(found(None), abs=0.01)
    w[::4] = 0
    kept = np.flatnonzero(w)
    assert found(w) == found(w[kept], kept)
    assert found((w > 0) * 5.0) == found(None, kept)


@given(st.integers(0, 2**20))
def test_a_weight_is_so_many_rows_of_which_one_was_drawn(seed):
    """AUCs are those of repeated rows; as evidence a row is one, however much it stands for."""
    rng = np.random.default_rng(seed)
    codes = np.r_[0, 1, rng.integers(2, size=18)]
    scores, w = np.round(rng.normal(size=(20, 1)) + codes[:, None], 1), rng.integers(1, 5, size=20)
    rows = np.repeat(np.arange(20), w)
    repeated = placements(scores[rows], codes[rows])
    np.testing.assert_allclose(placements(scores, codes, w)[rows], repeated)
    auc = macro_auc(scores, codes[None], w)
    assert auc == pytest.approx(macro_auc(scores[rows], codes[rows][None]))


def test_one_row_that_outweighs_all_others_says_next_to_nothing():
    z = np.arange(200) % 2
    T = np.random.default_rng(0).normal(size=(200, 2)) + 2 * z[:, None]
    draws = cross_fitted_aucs(T, z, "linear", 4, 9, 0, sample_weight=1.0 + 1e9 * (z.cumsum() == 1))
    low, high = draws.interval()
    assert draws.smallest_level < 3
    assert high - low > 0.8
    assert draws.standard_error < 0.5


def test_labels_are_permuted_while_weights_stay_with_the_rows():
    w, codes = np.array([1e9, 1.0, 1.0, 1.0]), np.array([1, 1, 0, 0])
    scores = np.array([[1.0], [0.0], [0.5], [0.2]])
    found = _permuted_macro_auc(scores, codes, 400, np.random.default_rng(0), w)
    # Everything hangs on the first row, which is above all others, whichever side it is given.
    assert set(np.round(found, 6)) == {0.0, 1.0}


class WeighingNothing(FixedDirection):
    def fit(self, T, y, sample_weight):
        return self


class Weighing(FixedDirection):
    """Difference of weighted means, noting its directions where the test finds them."""

    weights: list = []  # noqa: RUF012

    def fit(self, T, y, sample_weight):
        means = [np.average(T[y == g], axis=0, weights=sample_weight[y == g]) for g in (0, 1)]
        self.w = means[1] - means[0]
        self.weights.append(self.w)
        return self

    def decision_function(self, T):
        return T @ self.w


@pytest.mark.parametrize("rare", first_fast([5, 10, 20, 50]))
@pytest.mark.parametrize("auc", first_fast([0.9, 0.5, 0.7, 0.99]))
def test_intervals_cover_where_a_group_has_few_rows(auc, rare):
    """Few rows may lie together by chance; an interval of their own spread covers in 80 %."""
    codes, repeats, held = np.repeat([1, 0], [rare, 60]), 300, []
    for seed, spread in [(seed, spread) for seed in range(repeats // 2) for spread in (1.0, 3.0)]:
        shift = norm.ppf(auc) * np.sqrt(1 + spread**2) * np.eye(4)[0]
        rng = np.random.default_rng(seed)
        T = rng.normal(size=(len(codes), 4)) * np.where(codes, spread, 1.0)[:, None]
        Remembering.weights.clear()
        draws = cross_fitted_aucs(T + np.outer(codes, shift), codes, Remembering(), 5, 1, seed)
        along = [w @ shift / np.linalg.norm(w) for w in Remembering.weights]
        truth = np.mean(norm.cdf(np.array(along) / np.sqrt(1 + spread**2)))
        low, high = draws.interval()
        held.append(low <= truth <= high)
    # Binomial(300, 0.95) is below 275 with a probability of less than 0.7 %.
    assert np.sum(held) >= 275


class Remembering(FixedDirection):
    """Difference of means, noting its weights where the test finds them."""

    weights: list = []  # noqa: RUF012

    def fit(self, T, y):
        self.w = T[y == 1].mean(axis=0) - T[y == 0].mean(axis=0)
        self.weights.append(self.w)
        return self

    def decision_function(self, T):
        return T @ self.w


class NearestMean(FixedDirection):
    """Scores of levels from distances to given points."""

    def decision_function(self, T):
        return -((T - np.arange(3) * self.slope) ** 2)


@pytest.mark.parametrize("slope", first_fast([0.5, 0.001, 2.0]))
def test_intervals_cover_for_three_levels_of_unequal_size(slope):
    rng = np.random.default_rng(0)

    def draw(n):
        z = rng.choice(3, size=n, p=[0.5, 0.35, 0.15])
        return (rng.normal(size=n) + z * slope)[:, None], z

    T, z = draw(400_000)
    truth = macro_auc(NearestMean(slope).decision_function(T), z[None])[0]
    held = []
    for seed in range(300):
        T, z = draw(200)
        low, high = cross_fitted_aucs(T, z, NearestMean(slope), 4, 1, seed).interval()
        held.append(low <= truth <= high)
    # Binomial(300, 0.95) is below 275 with a probability of less than 0.7 %.
    assert np.sum(held) >= 275


def test_an_interval_narrows_with_rows_and_widens_with_confidence():
    few = AucDraws((0.7, 0.8), 0.05, np.array([0.5]), n_rows=100, smallest_level=50)
    many = AucDraws((0.7, 0.8), 0.005, np.array([0.5]), n_rows=10_000, smallest_level=5000)
    low, high = few.interval()
    assert low < many.interval()[0] < 0.75 < many.interval()[1] < high
    assert few.interval(0.99)[0] < low
    # Wald's interval, which Wilson's approaches: 0.75 +- 1.96 * 0.005.
    assert many.interval() == pytest.approx((0.7402, 0.7598), abs=2e-4)


def test_certainty_on_few_rows_is_not_certainty_on_new_rows():
    draws = cross_fitted_aucs(
        np.arange(12.0)[:, None] > 5, np.arange(12) // 6, "linear", cv=2, n_permutations=9, rng=0
    )
    assert draws.auc == 1.0
    low, high = draws.interval()
    # Wilson's lower end for six of six.
    assert (low, high) == (pytest.approx(6 / (6 + 1.96**2), abs=1e-4), 1.0)


@pytest.mark.parametrize("probe", PROBES | MORE_PROBES)
@pytest.mark.parametrize("cv", [2, 3])
def test_a_level_may_have_as_few_rows_as_there_are_folds(probe, cv):
    rng = np.random.default_rng(0)
    codes = np.r_[np.zeros(60, int), np.ones(40, int), np.full(cv, 2)]
    T = rng.normal(size=(len(codes), 3)) + codes[:, None]
    draws = cross_fitted_aucs(T, codes, probe, cv, 20, 0)
    low, high = draws.interval()
    assert 0 <= low < draws.auc < high <= 1
    assert (draws.smallest_level, len(draws.fold_aucs), len(draws.chance_draws)) == (cv, cv, 20)


def test_leakage_is_the_same_with_its_arguments_checked():
    rng = np.random.default_rng(0)
    T, z = rng.normal(size=(90, 2)), rng.choice(["a", "b"], size=90)
    found = leakage(T, z, cv=3, n_permutations=50, random_state=4)
    draws = cross_fitted_aucs(T, (z == "b").astype(int), "linear", 3, 50, 4)
    assert found.fold_aucs == draws.fold_aucs
    assert found.interval == draws.interval()
    assert found.p_value == draws.p_value


@given(st.integers(1, 60), st.integers(0, 2**20))
def test_an_auc_above_the_chance_interval_is_above_chance_and_no_other(n_draws, seed):
    rng = np.random.default_rng(seed)
    draws = np.round(rng.normal(0.5, 0.05, size=n_draws), 2)
    for auc in (*np.unique(draws), 0.3, 0.5, 0.61, 1.0):
        found = AucDraws((float(auc),), 0.05, draws, n_rows=100, smallest_level=50)
        low, high = found.chance_interval
        assert (found.p_value < 0.05) == (auc > high + 1e-12)
        assert 0 <= low <= high <= 1


def test_a_generator_seeds_the_folds_too():
    T, z = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    first, second = (
        cross_fitted_aucs(T, z, "linear", 2, 5, np.random.default_rng(1)) for _ in range(2)
    )
    assert first.fold_aucs == second.fold_aucs


def test_landmarks_are_never_more_than_rows_and_equal_rows_do_no_harm():
    T = np.random.default_rng(0).normal(size=(30, 2))
    features = _LandmarkFeatures().fit(T)
    assert features.closeness_.n_features == 30
    K = features.transform(T) @ features.transform(T).T
    squares = ((T[:, None] - T) ** 2).sum(axis=2)
    np.testing.assert_allclose(K, np.exp(-features.gamma_ * squares), atol=1e-6)
    assert features.gamma_ == pytest.approx(1 / np.median(squares[np.triu_indices(30, 1)]))
    for degenerate in (np.zeros((20, 2)), np.r_[np.zeros((18, 2)), np.ones((2, 2))]):
        out = _LandmarkFeatures().fit_transform(degenerate)
        assert np.isfinite(out).all()
        assert out.shape[1] == len(np.unique(degenerate, axis=0))


@st.composite
def tied_scores(draw):
    """Scores on a coarse grid, so that most of them are tied."""
    m = draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = rng.permutation(np.r_[np.arange(m), rng.integers(m, size=draw(st.integers(0, 20)))])
    scores = rng.integers(4, size=(len(codes), 1 if m == 2 else m)).astype(float)
    return scores, codes


def textbook_auc(scores, codes):
    if scores.shape[1] == 1:
        return roc_auc_score(codes, scores[:, 0])
    columns = enumerate(scores.T)
    return np.mean([roc_auc_score(codes == level, column) for level, column in columns])


@given(tied_scores())
def test_ranks_agree_with_scikit_learn_also_with_ties(rows):
    scores, codes = rows
    assert macro_auc(scores, codes[None])[0] == pytest.approx(textbook_auc(scores, codes))


@given(tied_scores())
def test_each_relabelling_is_scored_by_itself(rows):
    scores, codes = rows
    labellings = np.array([codes, codes[::-1], np.roll(codes, 1)])
    expected = [textbook_auc(scores, labels) for labels in labellings]
    assert macro_auc(scores, labellings) == pytest.approx(np.array(expected))


def test_permutations_centre_on_one_half_with_the_exact_variance():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], [30, 20])
    aucs = _permuted_macro_auc(rng.normal(size=(50, 1)), codes, 20_000, rng)
    # Mann & Whitney (1947): without ties the variance is (n + 1) / (12 n0 n1).
    assert aucs.mean() == pytest.approx(0.5, abs=0.003)
    assert aucs.var() == pytest.approx(51 / (12 * 30 * 20), rel=0.05)


def test_permutations_come_in_blocks_but_in_the_number_asked_for(monkeypatch):
    monkeypatch.setattr(auc_module, "_BLOCK_ENTRIES", 30)
    codes = np.array([0, 1] * 5)
    aucs = _permuted_macro_auc(np.arange(10.0)[:, None], codes, 17, np.random.default_rng(0))
    assert aucs.shape == (17,)
    assert ((aucs >= 0) & (aucs <= 1)).all()


def test_intervals_of_a_mean_over_strata_cover():
    """Groups are of unequal sizes from stratum to stratum, some with few rows of one of them."""
    rng, truth, held = np.random.default_rng(0), norm.cdf(0.8 / np.sqrt(2)), []
    sizes, shares = [400, 150, 60, 40], [0.5, 0.2, 0.8, 0.25]
    side = np.repeat(np.arange(4), sizes)
    for _ in range(80):
        z = (rng.random(len(side)) < np.repeat(shares, sizes)).astype(int)
        T = rng.normal(size=(len(side), 1)) + 0.8 * z[:, None] + side[:, None]
        found = leakage(T, z, given=side, probe=FixedDirection(), cv=2, n_permutations=1)
        held.append(found.interval[0] <= truth <= found.interval[1])
    assert np.mean(held) > 0.9  # 97.6 % of 250
