"""The trade-off curve from one fit: the same models as fitting one lambda after the other."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from fairpca import FairKernelPCA, FairPCA, FairPLS
from fairpca.erasers import LEACE, SAL, SPLINCE, KernelSAL
from fairpca.errors import SingleGroupError, UsageError
from fairpca.metrics import selection_rate_difference, true_positive_rate_difference
from fairpca.tradeoff import TradeoffPoint, tradeoff_curve
from fairpca.tradeoff._curve import LAMBDAS, predictions_along
from fairpca.tradeoff._parts import TradeoffParts
from fairpca.tradeoff._rates import JudgedRows
from optional_libraries import pandas as pd
from optional_libraries import polars as pl

N_TRAIN, N_TEST, D = 300, 200, 6


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, N_TRAIN + N_TEST)
    X = rng.normal(size=(len(z), D)) * [3, 2, 1, 1, 0.5, 0.1] + np.outer(z, [2, 1, 1, 0, 0, 0]) + 5
    y = (X[:, 0] + X[:, 2] + X[:, 4] + rng.normal(size=len(z)) > 12).astype(int)
    return X, y, z


def curve_on(rows, estimator, classifier, **options):
    X, y, z = rows
    train, test = slice(0, N_TRAIN), slice(N_TRAIN, None)
    given = {"sensitive_features_train": z[train], "sensitive_features_test": z[test], **options}
    return tradeoff_curve(estimator, classifier, X[train], y[train], X[test], y[test], **given)


def one_fit_per_lambda(rows, estimator, classifier, tradeoffs):
    """What a user would write: an estimator, a classifier and two metrics for every lambda."""
    X, y, z = rows
    train, test = slice(0, N_TRAIN), slice(N_TRAIN, None)
    points = []
    for tradeoff in tradeoffs:
        fair = estimator.set_params(tradeoff=tradeoff)
        fair.fit(X[train], y[train], sensitive_features=z[train])
        classifier.fit(fair.transform(X[train]), y[train])
        said = classifier.predict(fair.transform(X[test]))
        gaps = (
            selection_rate_difference(None, said, sensitive_features=z[test]),
            true_positive_rate_difference(y[test], said, sensitive_features=z[test]),
        )
        points.append(TradeoffPoint(tradeoff, np.mean(said == y[test]), *gaps))
    return points


def assert_same_points(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(
            [a.tradeoff, a.accuracy, a.selection_rate_difference, a.true_positive_rate_difference],
            [b.tradeoff, b.accuracy, b.selection_rate_difference, b.true_positive_rate_difference],
            atol=1e-12,
        )


ESTIMATORS = {
    "more columns than features": FairPCA(5),
    "fewer columns than features": FairPCA(2),
    "standardised inside": FairPCA(4, scale=True),
    "equal opportunity": FairPCA(5, criterion="equal_opportunity"),
    "covariances": FairPCA(
        2, match="covariances", covariance_method="spectral", covariance_directions=4
    ),
    "kernel": FairKernelPCA(4),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_all_lambdas_together_equal_one_fit_per_lambda(name, rows):
    classifier = LogisticRegression(C=0.05, tol=1e-9, max_iter=10_000)
    together = curve_on(rows, ESTIMATORS[name], classifier)
    assert_same_points(together, one_fit_per_lambda(rows, ESTIMATORS[name], classifier, LAMBDAS))


@pytest.mark.parametrize("classifier", [SVC(gamma=0.1), DecisionTreeClassifier(random_state=0)])
def test_any_classifier_gets_the_columns_of_transform(classifier, rows):
    points = curve_on(rows, FairPCA(5), classifier, tradeoffs=[0.0, 0.3])
    assert_same_points(points, one_fit_per_lambda(rows, FairPCA(5), classifier, [0.0, 0.3]))


@pytest.mark.parametrize("classifier", [SVC(gamma=0.1), RidgeClassifier(solver="cholesky")])
def test_learners_of_inner_products_decide_the_same_from_fewer_columns(classifier, rows):
    compact = curve_on(rows, FairPCA(5), classifier, compact=True)
    assert_same_points(compact, curve_on(rows, FairPCA(5), classifier))


def test_scores_are_those_of_scikit_learn_on_the_two_halves(rows):
    X, y, z = rows
    parts = TradeoffParts.fit(FairPCA(5), X, sensitive_features=z)
    lambdas = [1.0, 0.0, 0.001, 0.3]
    found = predictions_along(parts, LogisticRegression(C=0.1), X, y, X, lambdas)
    for tradeoff, one in zip(lambdas, found, strict=True):
        reference = LogisticRegression(C=0.1, solver="newton-cholesky", tol=1e-12)
        columns = parts.scaled(parts.both(X), tradeoff)
        scores = reference.fit(columns, y).decision_function(columns)
        # A gradient of 1e-9 per row over the smallest curvature per row, about 1e-3.
        np.testing.assert_allclose(one.scores, scores, atol=1e-6)
        np.testing.assert_array_equal(one.labels, reference.predict(columns))


@given(
    k=st.integers(1, 5),
    tradeoff=st.sampled_from([0.0, 1e-6, 0.1, 1.0]),
    scale=st.booleans(),
)
def test_common_rows_have_the_inner_products_of_the_representation(k, tradeoff, scale):
    rng = np.random.default_rng(k)
    X, z = rng.normal(size=(40, 6)) + 3, np.arange(40) % 2
    parts = TradeoffParts.fit(FairPCA(k, scale=scale), X, sensitive_features=z)
    columns = parts.scaled(parts.both(X), tradeoff)
    compact = parts.common_rows(X) @ parts.factor(tradeoff)
    np.testing.assert_allclose(compact @ compact.T, columns @ columns.T, atol=1e-10)
    assert compact.shape[1] <= min(6, 2 * k)
    estimator = FairPCA(k, scale=scale, tradeoff=tradeoff).fit(X, sensitive_features=z)
    np.testing.assert_allclose(columns, estimator.transform(X), atol=1e-10)


def test_the_order_of_lambdas_is_kept(rows):
    classifier = LogisticRegression(C=0.05)
    forth = curve_on(rows, FairPCA(5), classifier, tradeoffs=[0.0, 0.2, 0.7])
    back = curve_on(rows, FairPCA(5), classifier, tradeoffs=[0.7, 0.0, 0.2])
    assert back == [forth[2], forth[0], forth[1]]


def test_labels_may_be_strings(rows):
    X, y, z = rows
    words = np.where(y == 1, "yes", "no")
    in_words = curve_on((X, words, z), FairPCA(5, pos_label="yes"), LogisticRegression())
    assert in_words == curve_on(rows, FairPCA(5), LogisticRegression())


@pytest.mark.filterwarnings("ignore::fairpca.errors.UnscaledWarning")
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e6])
def test_rare_and_extreme_features_converge(C):
    rng = np.random.default_rng(1)
    X, z = rng.normal(size=(500, 4)) * [1, 100, 1e-3, 1], np.arange(500) % 2
    X[:, 3] = np.where(np.arange(500) < 2, 15.0, -0.06)  # a rare level, standardised
    y = (X[:, 0] + 0.01 * X[:, 1] + rng.normal(size=500) > 0).astype(int)
    y[:2] = 0, 1  # not separable by the rare level, so that a solution exists without penalty
    parts = TradeoffParts.fit(FairPCA(3), X, sensitive_features=z)
    (one,) = predictions_along(parts, LogisticRegression(C=C), X, y, X, [0.0])
    reference = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    columns = parts.fitted.transform(X)[:, :3]
    scores = reference.fit(columns, y).decision_function(columns)
    np.testing.assert_allclose(one.scores, scores, atol=1e-4)


def test_rates_are_those_of_the_metrics():
    rng = np.random.default_rng(2)
    y, z, said = rng.integers(0, 2, 90), rng.integers(0, 3, 90), rng.integers(0, 2, 90)
    accuracy, parity, opportunity = JudgedRows.coded(y, z, 1).judge(said == 1)
    assert accuracy == pytest.approx(np.mean(said == y))
    assert parity == pytest.approx(selection_rate_difference(None, said, sensitive_features=z))
    assert opportunity == pytest.approx(
        true_positive_rate_difference(y, said, sensitive_features=z)
    )


def test_a_group_without_positives_has_no_true_positive_rate():
    rows = JudgedRows.coded([1, 0, 0], ["a", "a", "b"], 1)
    assert np.isnan(rows.judge(np.array([1, 0, 0]))[2])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"solver": "newton"}, "solver='newton' is not an option"),
        ({"tradeoffs": [0.5, 2.0]}, "tradeoff=2.0 is outside"),
        (
            {"sensitive_features_test": np.zeros(3)},
            "sensitive_features_test has 3 values for 200 rows",
        ),
        ({"estimator": FairPCA(2, pos_label="yes")}, "positive label 'yes'"),
    ],
)
def test_what_cannot_be_is_said(wrong, message, rows):
    wrong = dict(wrong)
    estimator = wrong.pop("estimator", FairPCA(2))
    with pytest.raises(ValueError, match=message):
        curve_on(rows, estimator, LogisticRegression(), **wrong)


def test_one_group_among_the_test_rows_is_refused(rows):
    with pytest.raises(SingleGroupError, match="sensitive_features_test"):
        curve_on(rows, FairPCA(2), LogisticRegression(), sensitive_features_test=np.zeros(N_TEST))


@pytest.mark.parametrize("last", [FairPCA(4), FairKernelPCA(3), LEACE()])
def test_the_first_steps_of_a_pipeline_are_fitted_once_to_the_training_rows(last, rows):
    X, y, z = rows
    X = X.copy()
    X[::7, 1] = np.nan
    first = make_pipeline(SimpleImputer(), StandardScaler()).fit(X[:N_TRAIN])
    by_hand = curve_on((first.transform(X), y, z), last, LogisticRegression())
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), last)
    assert curve_on((X, y, z), pipeline, LogisticRegression()) == by_hand
    assert not hasattr(pipeline[0], "statistics_")
    alone = curve_on((first.transform(X), y, z), make_pipeline(last), LogisticRegression())
    assert alone == by_hand


@pytest.mark.parametrize(
    "last", [StandardScaler(), make_pipeline(StandardScaler(), StandardScaler()), KernelSAL()]
)
def test_what_is_not_fair_or_not_fitted_from_moments_is_refused(last, rows):
    with pytest.raises(TypeError, match="tradeoff_curve takes a FairPCA"):
        curve_on(rows, last, LogisticRegression())


def test_fair_pls_has_dials_of_its_own(rows):
    with pytest.raises(UsageError, match="distribution_penalty, or of covariance_penalty"):
        curve_on(rows, make_pipeline(StandardScaler(), FairPLS()), LogisticRegression())


ERASERS = {
    "eraser": LEACE(),
    "eraser of some directions": SAL(1),
    "eraser that keeps the target": SPLINCE(),
}


@pytest.mark.parametrize("name", ERASERS)
def test_an_eraser_stands_beside_lambda_times_the_plain_columns(name, rows):
    X, y, z = rows
    eraser, train = ERASERS[name], slice(0, N_TRAIN)
    fitted = clone(eraser).fit(X[train], y[train], sensitive_features=z[train])
    plain = X - X[train].mean(axis=0)
    classifier = LogisticRegression(C=0.05, tol=1e-9, max_iter=10_000)
    curve = curve_on(rows, eraser, classifier, tradeoffs=[0.0, 0.2, 1.0])
    for point in curve:
        halves = [fitted.transform(X), point.tradeoff * plain][: 2 if point.tradeoff else 1]
        T = np.hstack(halves)
        classifier.fit(T[train], y[train])
        said = classifier.predict(T[N_TRAIN:])
        assert point.accuracy == pytest.approx(np.mean(said == y[N_TRAIN:]))
        assert point.selection_rate_difference == pytest.approx(
            selection_rate_difference(None, said, sensitive_features=z[N_TRAIN:])
        )
        assert point.auc == pytest.approx(
            roc_auc_score(y[N_TRAIN:], classifier.decision_function(T[N_TRAIN:])), abs=2e-4
        )


@pytest.mark.parametrize("name", ERASERS)
@pytest.mark.parametrize("classifier", [RidgeClassifier(solver="cholesky"), SVC(gamma=0.1)])
def test_fewer_columns_are_the_same_to_learners_of_inner_products(name, classifier, rows):
    lambdas = [0.0, 0.3]
    compact = curve_on(rows, ERASERS[name], classifier, tradeoffs=lambdas, compact=True)
    assert_same_points(compact, curve_on(rows, ERASERS[name], classifier, tradeoffs=lambdas))


def test_an_eraser_reads_wide_and_sparse_rows_too(rows):
    X, y, z = rows
    sparse = scipy.sparse.csr_array(np.where(np.abs(X - 5) > 2, X, 0.0))
    dense = curve_on((sparse.toarray(), y, z), LEACE(), LogisticRegression())
    assert_same_points(curve_on((sparse, y, z), LEACE(), LogisticRegression()), dense)


def test_a_eraser_is_fairer_at_zero_than_at_one(rows):
    fair, plain = curve_on(rows, LEACE(), LogisticRegression(), tradeoffs=[0.0, 1.0])
    assert fair.selection_rate_difference < 0.5 * plain.selection_rate_difference
    assert fair.auc < plain.auc


def test_rates_and_sizes_of_all_groups_are_there(rows):
    (point,) = curve_on(rows, FairPCA(5), LogisticRegression(), tradeoffs=[1.0])
    rates = point.attributes["sensitive"]
    _, y, z = (part[N_TRAIN:] for part in rows)
    assert rates.n_rows == {g: int(np.sum(z == g)) for g in (0, 1)}
    assert rates.n_positives == {g: int(np.sum(y[z == g])) for g in (0, 1)}
    low, high = sorted(rates.selection_rates.values())
    assert high - low == pytest.approx(point.selection_rate_difference)
    low, high = sorted(rates.true_positive_rates.values())
    assert high - low == pytest.approx(point.true_positive_rate_difference)


@pytest.mark.parametrize("container", [dict, pd.DataFrame, pl.DataFrame])
def test_gaps_of_several_attributes_come_together_and_equal_those_one_by_one(container, rows):
    z = rows[2][N_TRAIN:]
    age = np.where(rows[0][N_TRAIN:, 3] > 5, "old", "young")
    several = curve_on(
        rows,
        FairPCA(5),
        LogisticRegression(),
        sensitive_features_test=container({"sex": z, "age": age}),
    )
    by_sex = curve_on(rows, FairPCA(5), LogisticRegression(), sensitive_features_test=z)
    by_age = curve_on(rows, FairPCA(5), LogisticRegression(), sensitive_features_test=age)
    for both, sex, old in zip(several, by_sex, by_age, strict=True):
        assert both.attributes["sex"] == sex.attributes["sensitive"]
        assert both.attributes["age"] == old.attributes["sensitive"]
        assert both.selection_rate_difference == max(
            sex.selection_rate_difference, old.selection_rate_difference
        )
        assert (both.accuracy, both.auc) == (sex.accuracy, sex.auc)


def test_an_attribute_of_several_that_cannot_be_compared_is_named(rows):
    attributes = {"sex": rows[2][N_TRAIN:], "planet": np.zeros(N_TEST)}
    with pytest.raises(SingleGroupError, match=r"sensitive_features_test\['planet'\]"):
        curve_on(rows, FairPCA(2), LogisticRegression(), sensitive_features_test=attributes)


@pytest.mark.parametrize(
    "classifier",
    [LogisticRegression(), SVC(), DecisionTreeClassifier(random_state=0), NearestCentroid()],
)
def test_auc_is_that_of_the_scores_whichever_they_are(classifier, rows):
    X, y, z = rows
    fair = FairPCA(4).fit(X[:N_TRAIN], sensitive_features=z[:N_TRAIN])
    fitted = clone(classifier).fit(fair.transform(X[:N_TRAIN]), y[:N_TRAIN])
    new = fair.transform(X[N_TRAIN:])
    scored = hasattr(fitted, "decision_function")
    scores = fitted.decision_function(new) if scored else fitted.predict_proba(new)[:, 1]
    (point,) = curve_on(rows, FairPCA(4), classifier, tradeoffs=[0.0], solver="refit")
    assert point.auc == pytest.approx(roc_auc_score(y[N_TRAIN:], scores))


def test_a_classifier_without_scores_has_no_auc(rows):
    (point,) = curve_on(
        rows, FairPCA(4), VotingClassifier([("a", RidgeClassifier())]), tradeoffs=[0]
    )
    assert np.isnan(point.auc)
    assert 0 < point.accuracy < 1


@pytest.mark.parametrize("estimator", [FairPCA(5), LEACE()])
def test_the_positive_label_may_be_the_first_class(estimator, rows):
    X, y, z = rows
    words = np.where(y == 1, "accept", "refuse")
    in_words = curve_on((X, words, z), estimator, LogisticRegression(), pos_label="accept")
    assert_same_points(in_words, curve_on(rows, estimator, LogisticRegression()))
    numbers = curve_on(rows, estimator, LogisticRegression())
    assert [p.auc for p in in_words] == pytest.approx([p.auc for p in numbers])
