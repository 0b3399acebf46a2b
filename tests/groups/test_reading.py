import numpy as np
import pytest

from fairpca._attributes import Levels, Numeric, drop_unused_labels, read_attributes
from fairpca.errors import ManyLevelsWarning, MissingGroupError
from optional_libraries import pandas as pd
from optional_libraries import polars as pl
from optional_libraries import pyarrow as pa


def levels_of(attribute):
    assert isinstance(attribute, Levels)
    return [None if c < 0 else attribute.labels[c] for c in attribute.codes]


@pytest.mark.parametrize(
    "column",
    [
        ["f", "m", "f"],
        np.array(["f", "m", "f"]),
        np.array(["f", "m", "f"], dtype=object),
        pd.Series(["f", "m", "f"]),
        pd.Series(["f", "m", "f"], dtype="category"),
        pl.Series(["f", "m", "f"]),
        pl.Series(["f", "m", "f"], dtype=pl.Categorical),
        pa.chunked_array([["f", "m"], ["f"]]),
        pa.chunked_array([["f", "m"], ["f"]]).dictionary_encode(),
        pd.DataFrame({"sex": ["f", "m", "f"]}),
        pl.DataFrame({"sex": ["f", "m", "f"]}),
        pa.table({"sex": ["f", "m", "f"]}),
        np.array([["f"], ["m"], ["f"]]),
        {"sex": ["f", "m", "f"]},
    ],
    ids=lambda c: type(c).__module__ + "." + type(c).__name__,
)
def test_strings_are_levels_whatever_holds_them(column):
    (attribute,) = read_attributes(column)
    assert levels_of(attribute) == ["f", "m", "f"]


@pytest.mark.parametrize("make", [np.array, pd.Series, pl.Series, list])
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3, 1, 3], [3, 1, 3]),
        ([True, False, True], [True, False, True]),
        ([1.0, 0.0, 1.0], [1.0, 0.0, 1.0]),
        ([10**12, 5, 5], [10**12, 5, 5]),
    ],
)
def test_integers_bools_and_few_integral_floats_are_levels(make, values, expected):
    assert levels_of(read_attributes(make(values))[0]) == expected


@pytest.mark.parametrize("make", [np.array, pd.Series, pl.Series, list])
def test_other_floats_are_numbers(make):
    (attribute,) = read_attributes(make([31.5, 44.0, 27.25]))
    assert isinstance(attribute, Numeric)
    assert attribute.values.tolist() == [31.5, 44.0, 27.25]


def test_many_integral_floats_are_numbers():
    (attribute,) = read_attributes(np.arange(11.0))
    assert isinstance(attribute, Numeric)


def test_mixed_columns_stand_side_by_side():
    frame = pd.DataFrame({"sex": ["f", "m"], "age": [30.5, 40.0], "old": [False, True]})
    sex, age, old = read_attributes(frame)
    assert (sex.name, age.name, old.name) == ("sex", "age", "old")
    assert isinstance(age, Numeric)
    assert levels_of(old) == [False, True]


def test_mixed_types_in_one_column_are_levels():
    assert levels_of(read_attributes([1, "a", 1, "b"])[0]) == [1, "a", 1, "b"]


@pytest.mark.parametrize(
    "column",
    [
        ["f", None, "m"],
        pd.Series(["f", None, "m"]),
        pd.Series(["f", pd.NA, "m"], dtype="string"),
        pd.Series(["f", None, "m"], dtype="category"),
        pl.Series(["f", None, "m"]),
        pa.chunked_array([["f", None, "m"]]),
        np.array(["f", np.nan, "m"], dtype=object),
    ],
)
def test_missing_levels_are_found(column):
    with pytest.raises(MissingGroupError, match=r"missing in 1 of 3 rows.*missing_sensitive"):
        read_attributes(column)
    assert levels_of(read_attributes(column, missing="ignore")[0]) == ["f", None, "m"]
    assert levels_of(read_attributes(column, missing="group")[0]) == ["f", "(missing)", "m"]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, None, 0], dtype="Int64"),
        pl.Series([1, None, 0]),
        pd.Series([1.0, np.nan, 0.0]),
        np.array([1.0, np.nan, 0.0]),
        pl.Series([1.0, float("nan"), 0.0]),
        pl.Series([1.0, None, 0.0]),
    ],
)
def test_missing_numbers_are_found(column):
    with pytest.raises(MissingGroupError, match="missing in 1 of 3 rows"):
        read_attributes(column)
    assert levels_of(read_attributes(column, missing="ignore")[0]) == [1, None, 0]


def test_a_missing_number_can_be_a_group_of_its_own():
    age, is_missing = read_attributes({"age": [30.5, np.nan, 41.0]}, missing="group")
    assert np.isnan(age.values).tolist() == [False, True, False]
    assert levels_of(is_missing) == [False, True, False]


def test_kinds_can_be_forced():
    columns = {"year": np.arange(30) + 1990, "score": [0.25, 0.5, 0.25] * 10}
    year, score = read_attributes(columns, kinds={"year": "numeric", "score": "categorical"})
    assert isinstance(year, Numeric)
    assert score.labels == (0.25, 0.5)


def test_kinds_of_unknown_columns_or_words_are_refused():
    with pytest.raises(ValueError, match=r"names the column 'sx'.*\['sex'\]"):
        read_attributes({"sex": ["f", "m"]}, kinds={"sx": "numeric"})
    with pytest.raises(ValueError, match="either 'categorical'"):
        read_attributes({"sex": ["f", "m"]}, kinds={"sex": "number"})
    with pytest.raises(ValueError, match="declared 'numeric', but it holds entries"):
        read_attributes({"sex": ["f", "m"]}, kinds={"sex": "numeric"})


def test_an_integer_attribute_with_very_many_levels_gets_a_warning_with_the_remedy():
    with pytest.warns(ManyLevelsWarning, match=r"'age' has 40 distinct.*sensitive_kinds"):
        read_attributes({"age": np.arange(40)})


def test_infinite_numbers_are_refused():
    with pytest.raises(ValueError, match="1 infinite values"):
        read_attributes({"age": [0.5, np.inf, 1.0]})


def test_intersections_are_joint_groups():
    frame = pd.DataFrame({"sex": ["f", "m", "m", "f"], "old": [True, False, True, True]})
    (joint,) = read_attributes(frame, intersectional=True)
    assert joint.name == "sex x old"
    assert levels_of(joint) == [("f", True), ("m", False), ("m", True), ("f", True)]


def test_a_row_with_a_missing_part_has_no_joint_group():
    columns = {"sex": ["f", None, "m"], "old": [True, False, True]}
    (joint,) = read_attributes(columns, intersectional=True, missing="ignore")
    assert levels_of(joint) == [("f", True), None, ("m", True)]


def test_three_dimensions_are_refused():
    with pytest.raises(ValueError, match="3 dimensions"):
        read_attributes(np.zeros((2, 2, 2)))


def test_dropping_unused_labels_leaves_missing_rows_missing():
    used = drop_unused_labels(Levels("a", ("x", "y", "z"), np.array([0, 2, -1, 2])))
    assert used.labels == ("x", "z")
    assert used.codes.tolist() == [0, 1, -1, 1]
