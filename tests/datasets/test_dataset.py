"""A data set keeps its parts apart, and turns its features into numbers in one known order."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpca.datasets import Dataset

LEVELS = ["?", "A", "B", "a b", "é"]


def dataset(features, target=None, sensitive=None):
    index = features.index
    target = pd.Series(0, index=index, name="y") if target is None else target
    sensitive = pd.DataFrame({"group": "g"}, index=index) if sensitive is None else sensitive
    return Dataset("made", features, target, sensitive, "made up", "nobody", "none")


@st.composite
def mixed_features(draw):
    n = draw(st.integers(1, 8))
    columns = {}
    for i in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["number", "integer", "bool", "level"]))
        values = {
            "number": st.floats(-1e6, 1e6),
            "integer": st.integers(-9, 9),
            "bool": st.booleans(),
            "level": st.sampled_from(LEVELS),
        }[kind]
        column = draw(st.lists(values, min_size=n, max_size=n))
        columns[f"c{i}"] = pd.Categorical(column) if kind == "level" else column
    return pd.DataFrame(columns, index=pd.RangeIndex(n))


@given(mixed_features())
def test_numeric_features_are_the_dummies_of_pandas(features):
    numbers = dataset(features).numeric_features()
    oracle = pd.get_dummies(features, drop_first=True).astype(float)
    # pandas leaves columns of booleans where they are, and so do we.
    assert list(numbers) == list(oracle)
    np.testing.assert_array_equal(numbers.to_numpy(), oracle.to_numpy())
    assert set(numbers.dtypes) <= {np.dtype(float)}
    assert numbers.index.equals(features.index)


@given(mixed_features(), st.data())
def test_a_selection_of_rows_has_the_same_columns(features, data):
    rows = data.draw(st.lists(st.integers(0, len(features) - 1), min_size=1, unique=True))
    whole, part = dataset(features), dataset(features.iloc[rows])
    pd.testing.assert_frame_equal(part.numeric_features(), whole.numeric_features().iloc[rows])


def test_numbers_come_first_then_levels_column_by_column():
    features = pd.DataFrame(
        {
            "job": pd.Categorical(["b", "c", "a"]),
            "age": [1, 2, 3],
            "home": pd.Categorical(["own", "rent", "own"]),
            "debt": [0.5, 0.0, np.nan],
        }
    )
    numbers = dataset(features).numeric_features()
    assert list(numbers) == ["age", "debt", "job_b", "job_c", "home_rent"]
    expected = [[1, 0.5, 1, 0, 0], [2, 0, 0, 1, 1], [3, np.nan, 0, 0, 0]]
    np.testing.assert_array_equal(numbers.to_numpy(), expected)


def test_a_missing_category_is_missing_and_not_the_first_level():
    features = pd.DataFrame({"job": pd.Categorical(["a", None, "b"], categories=["a", "b", "c"])})
    numbers = dataset(features).numeric_features()
    np.testing.assert_array_equal(numbers.to_numpy(), [[0, 0], [np.nan, np.nan], [1, 0]])


def test_features_that_are_floats_are_not_copied():
    pixels = np.zeros((3, 4), dtype=np.float32)
    made = dataset(pd.DataFrame(pixels, columns=list("abcd"), copy=False))
    numbers = made.numeric_features()
    assert np.shares_memory(numbers.to_numpy(), pixels)
    assert set(numbers.dtypes) == {np.dtype(np.float32)}


def test_text_is_refused_by_the_name_of_its_column():
    with pytest.raises(TypeError, match=r"'job' is neither.*astype\('category'\)"):
        dataset(pd.DataFrame({"job": ["a", "b"], "age": [1, 2]})).numeric_features()


def test_the_feature_names_are_the_columns():
    assert dataset(pd.DataFrame({"b": [1.0], "a": [2.0]})).feature_names == ["b", "a"]


def test_an_attribute_among_the_features_is_refused():
    features = pd.DataFrame({"age": [1.0], "sex": [0.0]})
    with pytest.raises(ValueError, match=r"\['sex'\] are among the features"):
        dataset(features, sensitive=pd.DataFrame({"sex": ["f"]}))


def test_parts_whose_rows_do_not_match_are_refused():
    features = pd.DataFrame({"age": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"same index.*2, 1 and 2"):
        dataset(features, target=pd.Series([1]))
    with pytest.raises(ValueError, match="same index"):
        dataset(features, sensitive=pd.DataFrame({"sex": ["f", "m"]}, index=[1, 0]))


def test_a_data_set_may_be_without_a_target():
    features = pd.DataFrame({"age": [1.0]})
    made = Dataset("x", features, None, pd.DataFrame({"sex": ["f"]}), "", "", "")
    assert repr(made) == "<Dataset x: 1 rows, 1 features, no target, sensitive: sex>"
