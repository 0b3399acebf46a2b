"""The trade-off curve from one fit: the same models as fitting one lambda after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from fairpca import FairKernelPCA, FairPCA, SingleGroupError
from fairpca.metrics import selection_rate_gap, true_positive_rate_gap
from fairpca.tradeoff import (
    PAPERS_TRADEOFFS,
    TradeoffParts,
    TradeoffPoint,
    logistic_path,
    tradeoff_curve,
)
from fairpca.tradeoff.decisions import JudgedRows
from fairpca.tradeoff.logistic_loss import IN_CACHE, LogisticLoss

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
    given = {"sensitive_train": z[train], "sensitive_test": z[test], **options}
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
            selection_rate_gap(said, z[test]),
            true_positive_rate_gap(said, z[test], y_true=y[test]),
        )
        points.append(TradeoffPoint(tradeoff, np.mean(said == y[test]), *gaps))
    return points


def assert_same_points(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(
            [a.tradeoff, a.accuracy, a.selection_rate_gap, a.true_positive_rate_gap],
            [b.tradeoff, b.accuracy, b.selection_rate_gap, b.true_positive_rate_gap],
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
    assert_same_points(
        together, one_fit_per_lambda(rows, ESTIMATORS[name], classifier, PAPERS_TRADEOFFS)
    )


@pytest.mark.parametrize("classifier", [SVC(gamma=0.1), DecisionTreeClassifier(random_state=0)])
def test_any_classifier_gets_the_columns_of_transform(classifier, rows):
    points = curve_on(rows, FairPCA(5), classifier, tradeoffs=[0.0, 0.3])
    assert_same_points(points, one_fit_per_lambda(rows, FairPCA(5), classifier, [0.0, 0.3]))


@pytest.mark.parametrize("classifier", [SVC(gamma=0.1), RidgeClassifier(solver="cholesky")])
def test_learners_of_inner_products_decide_the_same_from_fewer_columns(classifier, rows):
    compact = curve_on(rows, FairPCA(5), classifier, compact=True)
    assert_same_points(compact, curve_on(rows, FairPCA(5), classifier))


def test_weights_are_those_of_scikit_learn_on_the_two_halves(rows):
    X, y, z = rows
    parts = TradeoffParts.fit(FairPCA(5), X, sensitive_features=z)
    lambdas = [0.0, 0.001, 0.3, 1.0]
    models = logistic_path(parts.common_rows(X), y, map(parts.factor, lambdas), C=0.1)
    fair, standard = parts.fitted.components_, parts.fitted.standard_components_
    for tradeoff, model in zip(lambdas, models, strict=True):
        reference = LogisticRegression(C=0.1, solver="newton-cholesky", tol=1e-12)
        reference.fit(parts.columns(X, tradeoff), y)
        u = reference.coef_[0]
        weights = u[:5] @ fair + (tradeoff * u[5:] @ standard if tradeoff else 0.0)
        # A gradient of 1e-8 per row over the smallest curvature per row, about 1e-3, and a step.
        np.testing.assert_allclose(model.weights, weights, atol=1e-6)
        assert model.intercept == pytest.approx(reference.intercept_[0], abs=1e-6)
        assert model.converged


@given(
    k=st.integers(1, 5),
    tradeoff=st.sampled_from([0.0, 1e-6, 0.1, 1.0]),
    scale=st.booleans(),
)
def test_common_rows_have_the_inner_products_of_the_representation(k, tradeoff, scale):
    rng = np.random.default_rng(k)
    X, z = rng.normal(size=(40, 6)) + 3, np.arange(40) % 2
    parts = TradeoffParts.fit(FairPCA(k, scale=scale), X, sensitive_features=z)
    columns, compact = parts.columns(X, tradeoff), parts.common_rows(X) @ parts.factor(tradeoff)
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


def test_many_blocks_of_rows_add_up():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(IN_CACHE // 2, 3))
    y = (rng.random(len(rows)) < 0.3).astype(float)
    loss, w = LogisticLoss(rows, y), np.array([0.5, -1.0, 0.2, 0.1])
    assert len(loss.blocks) >= 2
    f = rows @ w[:3] + w[3]
    p = 1 / (1 + np.exp(-f))
    ones = np.column_stack([rows, np.ones(len(rows))])
    value, slope = loss.value_and_slope(w)
    assert value == pytest.approx(np.sum(np.logaddexp(0, f) - y * f))
    np.testing.assert_allclose(slope, ones.T @ (p - y), rtol=1e-9)
    np.testing.assert_allclose(loss.curvature(w), ones.T @ (ones * (p * (1 - p))[:, None]))


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e6])
def test_rare_and_extreme_features_converge(C):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(500, 4)) * [1, 100, 1e-3, 1]
    rows[:, 3] = np.where(np.arange(500) < 2, 15.0, -0.06)  # a rare level, standardised
    y = (rows[:, 0] + 0.01 * rows[:, 1] + rng.normal(size=500) > 0).astype(int)
    y[:2] = 0, 1  # not separable by the rare level, so that a solution exists without penalty
    (model,) = logistic_path(rows, y, [np.eye(4)], C=C)
    reference = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    scores = reference.fit(rows, y).decision_function(rows)
    assert model.converged
    np.testing.assert_allclose(rows @ model.weights + model.intercept, scores, atol=1e-4)


def test_separable_classes_converge_under_a_penalty():
    rows = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    (model,) = logistic_path(rows, np.array([0, 0, 1, 1]), [np.eye(1)], C=100.0)
    reference = LogisticRegression(C=100.0, solver="newton-cholesky", tol=1e-12)
    reference.fit(rows, [0, 0, 1, 1])
    assert model.weights[0] == pytest.approx(reference.coef_[0, 0], rel=1e-6)


def test_rates_are_those_of_the_metrics():
    rng = np.random.default_rng(2)
    y, z, said = rng.integers(0, 2, 90), rng.integers(0, 3, 90), rng.integers(0, 2, 90)
    accuracy, parity, opportunity = JudgedRows.coded(y, z, 1).judge(said == 1)
    assert accuracy == pytest.approx(np.mean(said == y))
    assert parity == pytest.approx(selection_rate_gap(said, z))
    assert opportunity == pytest.approx(true_positive_rate_gap(said, z, y_true=y))


def test_a_group_without_positives_has_no_true_positive_rate():
    rows = JudgedRows.coded([1, 0, 0], ["a", "a", "b"], 1)
    assert np.isnan(rows.judge(np.array([1, 0, 0]))[2])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"solver": "newton"}, "solver='newton' is not an option"),
        ({"tradeoffs": [0.5, 2.0]}, "tradeoff=2.0 is outside"),
        ({"sensitive_test": np.zeros(3)}, "sensitive_test has 3 values for 200 rows"),
        ({"estimator": FairPCA(2, pos_label="yes")}, "positive label 'yes'"),
    ],
)
def test_what_cannot_be_is_said(wrong, message, rows):
    wrong = dict(wrong)
    estimator = wrong.pop("estimator", FairPCA(2))
    with pytest.raises(ValueError, match=message):
        curve_on(rows, estimator, LogisticRegression(), **wrong)


def test_one_group_among_the_test_rows_is_refused(rows):
    with pytest.raises(SingleGroupError, match="sensitive_test"):
        curve_on(rows, FairPCA(2), LogisticRegression(), sensitive_test=np.zeros(N_TEST))


def test_a_pipeline_is_refused_with_advice():
    X, groups = np.eye(4), [0, 1, 0, 1]
    model = make_pipeline(StandardScaler(), FairPCA())
    with pytest.raises(TypeError, match="not Pipeline"):
        tradeoff_curve(
            model,
            LogisticRegression(),
            X,
            groups,
            X,
            groups,
            sensitive_train=groups,
            sensitive_test=groups,
        )
