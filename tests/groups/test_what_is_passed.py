"""Names, shapes and missing values of what is passed as sensitive features."""

import numpy as np
import pytest

from fairpca._attributes import Levels, drop_unused_labels, read_attributes
from fairpca._attributes.levels import intersect
from fairpca.errors import MissingGroupError
from optional_libraries import pandas as pd


@pytest.mark.parametrize("name", [None, ""])
def test_a_series_without_a_name_is_called_sensitive(name):
    assert read_attributes(pd.Series(["a", "b"], name=name))[0].name == "sensitive"


def test_a_series_with_a_name_keeps_it():
    assert read_attributes(pd.Series(["a", "b"], name="sex"))[0].name == "sex"


def test_rows_of_mixed_entries_keep_their_types():
    number, text = read_attributes([[1, "a"], [2, "b"]])
    assert (number.name, text.name) == ("0", "1")
    assert (number.labels, text.labels) == ((1, 2), ("a", "b"))


def test_whatever_can_become_an_array_is_read():
    class Column:
        def __array__(self, dtype=None, copy=None):
            return np.array([3, 1, 3])

    (attribute,) = read_attributes(Column())
    assert attribute.labels == (1, 3)


def test_missing_values_are_an_error_unless_said_otherwise():
    with pytest.raises(MissingGroupError, match="1 of 2 rows"):
        read_attributes(["a", None])


def test_missing_floats_as_a_group_are_told_apart_from_the_values():
    """A later batch may show that the column is numeric, so its levels are kept clean."""
    values, is_missing = read_attributes({"x": [1.0, np.nan, 2.0]}, missing="group")
    assert values.labels == (1.0, 2.0)
    assert (is_missing.name, is_missing.labels) == ("x is missing", (False, True))
    assert is_missing.codes.tolist() == [0, 1, 0]
    assert is_missing.optional is True


def test_missing_values_are_one_more_level_where_groups_are_crossed():
    columns = {"x": [1.0, np.nan, 2.0], "y": ["a", "b", "a"]}
    (joint,) = read_attributes(columns, missing="group", intersectional=True)
    assert joint.labels == ((1.0, "a"), (2.0, "a"), ("(missing)", "b"))


def test_missing_texts_are_one_more_level_and_no_longer_undecided():
    (attribute,) = read_attributes({"x": [None, None]}, missing="group", intersectional=True)
    assert attribute.labels == ("(missing)",)
    assert attribute.integral_floats is False


def test_labels_that_no_row_has_are_dropped_from_the_end_too():
    kept = drop_unused_labels(Levels("x", ("a", "b", "c"), np.array([0, -1, 0])))
    assert kept.labels == ("a",)
    assert kept.codes.tolist() == [0, -1, 0]


def test_one_attribute_is_its_own_intersection():
    one = Levels("x", ("a", "b"), np.array([0, 1]))
    assert intersect([one]) == (one,)


def test_a_row_with_a_missing_part_is_in_no_intersection():
    x = Levels("x", ("only",), np.array([0, 0, -1]))
    y = Levels("y", ("a", "b"), np.array([1, 0, 0]))
    (joint,) = intersect([x, y])
    assert joint.labels == (("only", "a"), ("only", "b"))
    assert joint.codes.tolist() == [1, 0, -1]


def test_where_every_row_lacks_a_part_there_is_no_intersection():
    x = Levels("x", ("a", "b"), np.array([0, -1]))
    y = Levels("y", ("a", "b"), np.array([-1, 1]))
    (joint,) = intersect([x, y])
    assert joint.labels == ()
    assert joint.codes.tolist() == [-1, -1]
