"""Levels or numbers: the edges of the rules, and the same answer on every path."""

import numpy as np
import pytest

from fairpca._attributes import Levels, Numeric, read_attributes, reading
from fairpca._attributes.reading import _sorted_if_possible as sorted_if_possible
from fairpca.errors import ManyLevelsWarning
from optional_libraries import pandas as pd
from optional_libraries import polars as pl
from optional_libraries import pyarrow as pa


def levels_of(attribute):
    assert isinstance(attribute, Levels)
    return [None if c == -1 else attribute.labels[c] for c in attribute.codes]


def read(column, **options):
    (attribute,) = read_attributes({"column": column}, **options)
    assert attribute.name == "column"
    return attribute


TEXTS = {
    "pandas": lambda: pd.Series(["b", "a", None, "b"]),
    "pandas categories": lambda: pd.Series(["b", "a", None, "b"], dtype="category"),
    "polars": lambda: pl.Series(["b", "a", None, "b"]),
    "polars categories": lambda: pl.Series(["b", "a", None, "b"], dtype=pl.Categorical),
    "arrow in chunks": lambda: pa.chunked_array([["b", "a"], [None, "b"]]),
    "arrow codes": lambda: pa.chunked_array([["b", "a"], [None, "b"]]).dictionary_encode(),
}


@pytest.mark.parametrize("make", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("wrap", [lambda c: c, lambda c: {"x": c}], ids=["alone", "in a dict"])
def test_texts_of_a_frame_library_are_coded_without_a_loop_over_rows(monkeypatch, make, wrap):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(reading, "_plain_values", None)  # where the rows become Python objects
    (attribute,) = read_attributes(wrap(make()), missing="ignore")
    assert attribute.labels == ("a", "b")
    assert attribute.codes.tolist() == [1, 0, -1, 1]


@pytest.mark.parametrize("make", TEXTS.values(), ids=TEXTS)
def test_texts_are_the_same_levels_without_arrow(monkeypatch, make):
    monkeypatch.setattr(reading, "_coded_by_arrow", lambda name, series: None)
    assert levels_of(read(make(), missing="ignore")) == ["b", "a", None, "b"]


def test_categories_that_are_no_texts_keep_their_values():
    column = pd.Series([1.5, 2.5, None, 1.5], dtype="category")
    assert levels_of(read(column, missing="ignore")) == [1.5, 2.5, None, 1.5]


def test_texts_that_hold_numbers_are_numbers_if_declared():
    attribute = read(pd.Series(["1.5", "2"]), kinds={"column": "numeric"})
    assert isinstance(attribute, Numeric)
    assert attribute.values.tolist() == [1.5, 2.0]


def test_labels_of_mixed_types_have_one_order():
    for labels in ([10, "b", 9, "a"], ["a", 9, "b", 10]):
        assert sorted_if_possible(labels) == [10, 9, "a", "b"]
    assert sorted_if_possible(["1", 2]) == [2, "1"]
    assert sorted_if_possible([10, 9]) == [9, 10]


@pytest.mark.parametrize(("others", "warns"), [([], True), (["?"], True), (["?", "!"], False)])
def test_many_integers_are_asked_about_unless_texts_are_among_them(others, warns):
    """One text may stand for what is missing."""
    entries = [*range(21), *others]
    if warns:
        with pytest.warns(ManyLevelsWarning, match="'column' has 21 distinct"):
            read(entries)
    else:
        read(entries)


def test_twenty_integers_are_levels_without_a_question():
    assert len(read(np.arange(20)).labels) == 20


def test_ten_integral_floats_are_levels_and_eleven_are_not():
    assert levels_of(read(np.arange(10.0))) == list(range(10))
    assert isinstance(read(np.arange(11.0)), Numeric)


def test_an_identifier_is_refused_and_one_level_fewer_is_not():
    texts = [f"row {i}" for i in range(reading.MOST_LEVELS + 1)]
    assert len(read(texts[1:]).labels) == reading.MOST_LEVELS
    with pytest.raises(ValueError, match="10001 levels"):
        read(texts)


def test_numbers_are_refused_only_above_the_largest_whose_squares_are_safe():
    assert read([reading.LARGEST, 0.5]).values.max() == reading.LARGEST
    with pytest.raises(ValueError, match="overflow"):
        read([float(np.nextafter(reading.LARGEST, np.inf)), 0.5])


@pytest.mark.parametrize("column", [np.array([]), np.array([np.nan, np.nan])])
def test_numbers_may_all_be_missing(column):
    attribute = read(column, kinds={"column": "numeric"}, missing="ignore")
    assert isinstance(attribute, Numeric)
    assert len(attribute.values) == len(column)


def test_missing_floats_have_no_level():
    assert read(np.array([1.0, np.nan, 0.0]), missing="ignore").codes.tolist() == [1, -1, 0]


def test_bools_stay_bools():
    assert [type(label) for label in read(np.array([True, False])).labels] == [bool, bool]


def test_no_integers_are_no_levels():
    assert read(np.array([], dtype=int)).labels == ()


@pytest.mark.parametrize(
    "values",
    [
        np.array([2**60 + 1, 2**60, 2**60 + 2]),
        np.array([2**63 + 6, 2**63 + 5], dtype=np.uint64),
        np.array([10**12, -(10**12), 0]),
        np.array([0, 65_535, 65_536]),
    ],
    ids=["large", "beyond signed", "far apart", "at the limit of counting"],
)
def test_integers_of_any_size_stay_apart(values):
    assert levels_of(read(values)) == values.tolist()


def test_objects_that_are_all_floats_are_read_as_floats():
    attribute = read(np.array([31.5, None, 44.0], dtype=object), missing="ignore")
    assert isinstance(attribute, Numeric)
    np.testing.assert_array_equal(attribute.values, [31.5, np.nan, 44.0])
    declared = read([31.5, None, 44.0], kinds={"column": "categorical"}, missing="ignore")
    assert levels_of(declared) == [31.5, None, 44.0]


@pytest.mark.parametrize(
    ("declared", "open_question"), [({}, True), ({"column": "categorical"}, False)]
)
def test_a_column_without_any_entry_may_still_turn_out_numeric(declared, open_question):
    attribute = read([None, None], kinds=declared, missing="ignore")
    assert attribute.labels == ()
    assert attribute.integral_floats is open_question


def test_every_way_to_say_missing_counts():
    entries = np.array(["a", pd.NA, pd.NaT, None, float("nan"), np.float32("nan")], dtype=object)
    assert levels_of(read(entries, missing="ignore")) == ["a", None, None, None, None, None]


def test_missing_entries_of_a_declared_number_are_not_numbers():
    attribute = read(
        np.array([1, pd.NA, None, 3], dtype=object), kinds={"column": "numeric"}, missing="ignore"
    )
    np.testing.assert_array_equal(attribute.values, [1, np.nan, np.nan, 3])


def test_a_column_that_cannot_be_numbers_is_named():
    with pytest.raises(ValueError, match=r"'column' was declared 'numeric'.*not numbers"):
        read(["31", "old"], kinds={"column": "numeric"})


def test_floats_are_levels_if_declared():
    values = np.array([1.5, 2.5, 1.5])
    assert levels_of(read(values, kinds={"column": "categorical"})) == [1.5, 2.5, 1.5]
