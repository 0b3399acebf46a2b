"""Reductions: fairlearn's lottery behind this package's signature."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairpca.errors import MissingGroupError, MissingTargetError, SingleGroupError
from fairpca.metrics import selection_rate_difference
from fairpca_paper.methods import Reductions
from slow import first_fast, slow


def unfair_rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 4)) + np.outer(z, [1.5, 0.5, 0, 0])
    y = (X[:, 0] + X[:, 2] + rng.normal(size=n) > 0.75).astype(int)
    return X, y, z


def rates(fair, X, chosen, z):
    said = fair.decision_probability(X)
    return np.array([said[chosen & (z == g)].mean() for g in np.unique(z)])


@pytest.mark.parametrize("bound", first_fast([0.02, 0.0, 0.1]))
def test_rates_of_groups_stay_within_the_bound_of_the_overall_rate(bound):
    X, y, z = unfair_rows()
    fair = Reductions(difference_bound=bound).fit(X, y, sensitive_features=z)
    overall = fair.decision_probability(X).mean()
    # Theorem 1 of Agarwal et al.: a violation costs up to 1 / eps, so it exceeds the bound by at
    # most eps (1 + 2 gap).
    allowed = bound + fair.eps * (1 + 2 * fair.best_gap_)
    assert np.abs(rates(fair, X, np.ones(len(X), bool), z) - overall).max() <= allowed


def test_true_positive_rates_stay_within_the_bound():
    X, y, z = unfair_rows()
    fair = Reductions(criterion="equal_opportunity", difference_bound=0.01)
    fair.fit(X, y, sensitive_features=z)
    overall = fair.decision_probability(X)[y == 1].mean()
    allowed = 0.01 + fair.eps * (1 + 2 * fair.best_gap_)
    assert np.abs(rates(fair, X, y == 1, z) - overall).max() <= allowed


@pytest.mark.filterwarnings("ignore::DeprecationWarning:fairlearn")
def test_the_lottery_is_that_of_fairlearn():
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient

    X, y, z = unfair_rows()
    base = LogisticRegression(C=0.1)
    theirs = ExponentiatedGradient(base, DemographicParity(difference_bound=0.03))
    theirs.fit(X, y, sensitive_features=z)
    ours = Reductions(base, difference_bound=0.03).fit(X, y, sensitive_features=z)
    np.testing.assert_allclose(ours.decision_probability(X), theirs._pmf_predict(X)[:, 1])
    assert ours.n_fits_ == theirs.n_oracle_calls_
    assert ours.weights_.sum() == pytest.approx(1.0)


def test_decisions_are_thrown_with_the_given_probabilities():
    X, y, z = unfair_rows(n=3000)
    fair = Reductions(difference_bound=0.0).fit(X, y, sensitive_features=z)
    chance = fair.decision_probability(X)
    tossed = (chance > 0.01) & (chance < 0.99)
    assert tossed.sum() > 100
    thrown = [fair.set_params(random_state=seed).predict(X)[tossed] for seed in range(20)]
    deviations = np.sqrt((chance * (1 - chance))[tossed].mean() / (20 * tossed.sum()))
    assert abs(np.mean(thrown) - chance[tossed].mean()) < 4 * deviations
    np.testing.assert_array_equal(fair.predict(X), fair.predict(X))
    np.testing.assert_array_equal(fair.predict(X)[~tossed], chance[~tossed].round())


@pytest.mark.parametrize(
    ("swap", "words"), [(True, True), slow(True, False), slow(False, True), slow(False, False)]
)
def test_names_of_groups_and_labels_do_not_matter(swap, words):
    X, y, z = unfair_rows(n=120)
    reference = Reductions(max_iter=6).fit(X, y, sensitive_features=z)
    groups = np.array(["b", "a"] if swap else ["a", "b"])[z]
    labels = np.array(["no", "yes"])[y] if words else y
    renamed = Reductions(max_iter=6, pos_label="yes" if words else 1)
    renamed.fit(X, labels, sensitive_features=groups)
    expected = reference.decision_probability(X)
    np.testing.assert_allclose(renamed.decision_probability(X), expected, atol=1e-9)
    assert set(renamed.predict(X)) <= set(labels.tolist())


def test_kernel_values_can_be_given():
    X, y, z = unfair_rows(n=200)
    K = np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(-1))
    given = Reductions(SVC(kernel="precomputed")).fit(K, y, sensitive_features=z)
    computed = Reductions(SVC(gamma=0.1)).fit(X, y, sensitive_features=z)
    np.testing.assert_allclose(given.decision_probability(K), computed.decision_probability(X))


def test_two_attributes_make_joint_groups():
    X, y, z = unfair_rows()
    other = np.arange(len(z)) % 2
    fair = Reductions(difference_bound=0.01).fit(X, y, sensitive_features={"a": z, "b": other})
    joint = 2 * z + other
    overall = fair.decision_probability(X).mean()
    allowed = 0.01 + fair.eps * (1 + 2 * fair.best_gap_)
    assert np.abs(rates(fair, X, np.ones(len(X), bool), joint) - overall).max() <= allowed


def test_a_looser_bound_is_more_accurate_and_less_fair():
    X, y, z = unfair_rows(n=1000)
    tight, loose = (
        Reductions(difference_bound=b).fit(X, y, sensitive_features=z) for b in (0.0, 0.3)
    )
    assert loose.score(X, y) > tight.score(X, y)
    assert selection_rate_difference(
        None, loose.predict(X), sensitive_features=z
    ) > selection_rate_difference(None, tight.predict(X), sensitive_features=z)


def test_a_copy_has_the_same_parameters_and_the_base_is_not_fitted():
    X, y, z = unfair_rows(n=100)
    base = LogisticRegression(C=0.5)
    fair = clone(Reductions(base, difference_bound=0.2))
    assert fair.difference_bound == 0.2
    fair.fit(X, y, sensitive_features=z)
    assert not hasattr(base, "coef_")
    assert fair.estimator.C == 0.5


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"sensitive_features": None}, MissingGroupError, "nothing to be fair"),
        ({"sensitive_features": np.zeros(50, int)}, SingleGroupError, "one value only"),
        ({"sensitive_features": np.zeros(3, int)}, ValueError, "50 rows.* 3 entries"),
        ({"sensitive_features": np.linspace(0, 1, 50)}, ValueError, "numeric.* Cut it into bands"),
        ({"y": np.arange(50)}, ValueError, "y has 50 distinct"),
        ({"y": np.zeros(50)}, ValueError, "y has 1 distinct"),
        ({"y": None}, MissingTargetError, "requires y"),
        ({"difference_bound": -1}, ValueError, "difference_bound=-1 is outside"),
        ({"eps": 0}, ValueError, "eps=0 is not between"),
        ({"max_iter": 0}, ValueError, "max_iter=0 cannot be used"),
        ({"criterion": "parity"}, ValueError, "criterion='parity' is not an option"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_learned(changes, error, message):
    X, y, z = unfair_rows(n=50)
    changes = dict(changes)
    y, z = changes.pop("y", y), changes.pop("sensitive_features", z)
    fair = Reductions(**changes)
    with pytest.raises(error, match=message):
        fair.fit(X, y, sensitive_features=z)
    assert not hasattr(fair, "classes_")


class OfTwoGroups(Reductions):
    """The checks pass no groups: every second row is of the other one."""

    def fit(self, X, y=None, *, sensitive_features=None):
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        return super().fit(X, y, sensitive_features=np.arange(n) % 2)


WHY_NOT = {
    "check_classifiers_classes": "labels that are words need pos_label",
    "check_classifier_data_not_an_array": "the synthetic groups need a length",
    "check_supervised_y_2d": "a column of labels is taken without a warning",
}


FEW_STEPS = OfTwoGroups(difference_bound=1.0, max_iter=2)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["fit_idempotent", "estimators_nan_inf", "estimators_pickle"])
def test_the_checks_that_say_most(name):
    getattr(estimator_checks, f"check_{name}")("OfTwoGroups", clone(FEW_STEPS))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([FEW_STEPS], expected_failed_checks=lambda estimator: WHY_NOT)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
