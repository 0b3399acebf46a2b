import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import sklearn
from hypothesis import given
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from assertions import assert_equal_group_means, assert_uncorrelated
from fairpca.erasers import LEACE
from fairpca.errors import MissingGroupError
from fairpca_paper.methods import OracleLEACE
from oracles import indicator_matrix
from strategies import grouped_rows


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    z = rng.choice(["a", "b", "c"], 300)
    X = rng.normal(size=(300, 4)) + np.outer(z == "b", [3, 1, 0, 0]) + 10
    return X, {"z": z, "old": rng.integers(0, 2, 300), "v": rng.normal(size=300) + X[:, 2]}


@given(grouped_rows(weights=True))
def test_rows_lose_their_regression_on_the_attributes(data):
    """The textbook: weighted least squares on all one-hot columns at once."""
    X, columns, weight = data
    mean = np.average(X, axis=0, weights=weight)
    spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight)) + 1e-9 * np.abs(mean)
    Z = indicator_matrix(*columns.values())
    Z = (Z - np.average(Z, axis=0, weights=weight)) / Z.std(axis=0)
    root = np.sqrt(weight)[:, None]
    coefficients = scipy.linalg.lstsq(root * Z, root * (X - mean), cond=1e-8)[0]
    T = OracleLEACE().fit_transform(X, sensitive_features=columns, sample_weight=weight)
    expected = X - mean - Z @ coefficients
    np.testing.assert_allclose((T - mean) / spread, expected / spread, atol=1e-7)


def test_one_categorical_attribute_moves_every_group_onto_the_common_mean(people):
    X, columns = people
    z = columns["z"]
    T = OracleLEACE().fit_transform(X, sensitive_features=z)
    for g in "abc":
        expected = X[z == g] - X[z == g].mean(axis=0) + X.mean(axis=0)
        np.testing.assert_allclose(T[z == g], expected, atol=1e-12)


def test_it_changes_the_rows_less_than_leace_and_removes_as_much(people):
    X, columns = people
    ours = OracleLEACE().fit_transform(X, sensitive_features=columns)
    blind = LEACE().fit_transform(X, sensitive_features=columns["z"])
    oracle = OracleLEACE().fit_transform(X, sensitive_features=columns["z"])
    assert np.sum((oracle - X) ** 2) < 0.9 * np.sum((blind - X) ** 2)
    assert_equal_group_means(ours, columns["z"])
    assert_equal_group_means(ours, columns["old"])
    assert_uncorrelated(ours, columns["v"])


def test_no_row_that_is_uncorrelated_with_the_attributes_is_nearer(people):
    """Certificate: the change is a function of the attributes, so orthogonal to all other ones."""
    X, columns = people
    T = OracleLEACE().fit_transform(X, sensitive_features=columns)
    Z = indicator_matrix(columns["z"], columns["old"], columns["v"])
    Z = Z - Z.mean(axis=0)
    rng = np.random.default_rng(1)
    noise = rng.normal(size=X.shape)
    noise -= noise.mean(axis=0)
    noise -= Z @ np.linalg.lstsq(Z, noise, rcond=1e-10)[0]
    for M in rng.normal(size=(20, 4, 4)):
        assert np.sum(((T - X) @ M) ** 2) < np.sum(((T + 0.1 * noise - X) @ M) ** 2)


def test_new_rows_are_treated_by_the_groups_they_say_they_belong_to(people):
    X, columns = people
    eraser = OracleLEACE().fit(X, sensitive_features=columns)
    whole = eraser.transform(X, sensitive_features=columns)
    for rows in (slice(0, 1), slice(7, 40)):
        part = {name: column[rows] for name, column in columns.items()}
        np.testing.assert_allclose(eraser.transform(X[rows], sensitive_features=part), whole[rows])


def test_numbers_that_happen_to_be_whole_stay_numbers(people):
    X, columns = people
    eraser = OracleLEACE().fit(X, sensitive_features=columns["v"])
    T = eraser.transform(X[:2], sensitive_features=np.array([1.0, 2.0]))
    halves = eraser.transform(X[:2], sensitive_features=np.array([1.5, 2.0]))
    np.testing.assert_array_equal(T[1], halves[1])
    assert np.abs(T[0] - halves[0]).max() > 1e-3


def test_transform_without_attributes_is_refused(people):
    X, columns = people
    eraser = OracleLEACE().fit(X, sensitive_features=columns)
    with pytest.raises(MissingGroupError, match=r"transform was given none.*or use LEACE"):
        eraser.transform(X)


@pytest.mark.parametrize("groups", [["a", "z"], ["z", "z"], [0.5, 1.5]])
def test_a_level_that_was_not_there_at_fit_is_refused(people, groups):
    X, columns = people
    eraser = OracleLEACE().fit(X, sensitive_features=columns["z"])
    with pytest.raises(ValueError, match=r"which no row had at fit \(\['a', 'b', 'c'\]\)"):
        eraser.transform(X[:2], sensitive_features=groups)


def test_missing_attributes_and_other_names_are_refused(people):
    X, columns = people
    eraser = OracleLEACE().fit(X, sensitive_features=columns)
    with pytest.raises(ValueError, match=r"has the columns \['z'\], but at fit they were"):
        eraser.transform(X, sensitive_features={"z": columns["z"]})
    with pytest.raises(MissingGroupError, match="missing in 1 of 2 rows"):
        OracleLEACE().fit(X, sensitive_features=columns["z"]).transform(
            X[:2], sensitive_features=["a", None]
        )
    with pytest.raises(ValueError, match="numeric at fit, but now has the levels"):
        OracleLEACE().fit(X, sensitive_features=columns["v"]).transform(
            X[:2], sensitive_features=["low", "high"]
        )
    with pytest.raises(ValueError, match="cannot be paired"):
        eraser.transform(X[:5], sensitive_features=columns)


def test_metadata_routing_carries_the_attributes_to_transform(people):
    X, columns = people
    with sklearn.config_context(enable_metadata_routing=True):
        eraser = OracleLEACE().set_fit_request(sensitive_features=True)
        eraser.set_transform_request(sensitive_features=True)
        model = make_pipeline(eraser, LinearRegression())
        model.fit(X, X[:, 0], sensitive_features=columns["z"])
        predictions = model.predict(X, sensitive_features=columns["z"])
    T = OracleLEACE().fit_transform(X, sensitive_features=columns["z"])
    np.testing.assert_allclose(predictions, LinearRegression().fit(T, X[:, 0]).predict(T))


def test_counts_give_the_group_away_afterwards(people):
    """Equal means, but each group is shifted by its own fraction: the warning is deserved."""
    _, columns = people
    z = columns["z"]
    answers = np.random.default_rng(2).integers(0, 2, (300, 4)).astype(float)
    T = OracleLEACE().fit_transform(answers, sensitive_features=z)
    assert_equal_group_means(T, z)
    values = [set(T[z == g, 0]) for g in "abc"]
    assert not values[0] & values[1]
    assert not values[1] & values[2]


def test_groups_at_transform_must_be_those_of_the_rows(people):
    X, columns = people
    frame, z = pd.DataFrame(X), pd.Series(columns["z"])
    eraser = OracleLEACE().fit(frame, sensitive_features=z)
    with pytest.raises(ValueError, match="different row labels"):
        eraser.transform(frame, sensitive_features=z[::-1])


def test_columns_that_the_attributes_explain_become_their_mean(people):
    """What rounding leaves of a copy of the attribute is a copy still."""
    X, columns = people
    old = columns["old"]
    X = np.column_stack([X, 1e6 * old + 7.0])
    T = OracleLEACE().fit_transform(X, sensitive_features=old)
    assert np.ptp(T[:, -1]) == 0.0
