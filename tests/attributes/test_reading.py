"""Levels or numbers: whatever holds them, the edges of the rules, names and missing values."""

from datetime import date
from decimal import Decimal

import numpy as np
import pytest

from fairpca._attributes import (
    Levels,
    Numeric,
    drop_unused_labels,
    levels,
    read_attributes,
    reading,
)
from fairpca._attributes.levels import intersect
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
    with pytest.warns(ManyLevelsWarning, match=r"age has 40 whole-number.*sensitive_kinds"):
        read_attributes({"age": np.arange(40)})


def test_infinite_numbers_are_refused():
    with pytest.raises(ValueError, match="1 infinite values"):
        read_attributes({"age": [0.5, np.inf, 1.0]})


def test_intersections_are_joint_groups():
    frame = pd.DataFrame({"sex": ["f", "m", "m", "f"], "old": [True, False, True, True]})
    (joint,) = read_attributes(frame, intersectional=True)
    assert joint.name == "sex x old"
    assert levels_of(joint) == [("f", True), ("m", False), ("m", True), ("f", True)]


def test_three_dimensions_are_refused():
    with pytest.raises(ValueError, match="3 dimensions"):
        read_attributes(np.zeros((2, 2, 2)))


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
        assert reading.sorted_labels(labels) == (10, 9, "a", "b")
    assert reading.sorted_labels(["1", 2]) == (2, "1")
    assert reading.sorted_labels([10, 9]) == (9, 10)


@pytest.mark.parametrize(("others", "warns"), [([], True), (["?"], True), (["?", "!"], False)])
def test_many_integers_are_asked_about_unless_texts_are_among_them(others, warns):
    """One text may stand for what is missing."""
    entries = [*range(11), *others]
    if warns:
        with pytest.warns(ManyLevelsWarning, match="column has 11 whole-number values"):
            read(entries)
    else:
        read(entries)


@pytest.mark.parametrize("m", [10, 11])
@pytest.mark.parametrize(
    "make",
    [
        np.arange,
        lambda m: np.arange(float(m)),
        lambda m: [*range(m)],
        lambda m: pd.Series(range(m), dtype="Int64"),
        lambda m: pd.Series([*map(Decimal, range(m))]),
        lambda m: pa.chunked_array([pa.array(range(m)).cast(pa.decimal128(25, 2))]),
        lambda m: pl.Series(range(m), dtype=pl.Float32),
        lambda m: np.ma.array(np.arange(m + 1), mask=np.arange(m + 1) == m),
    ],
)
def test_whole_numbers_are_levels_of_any_type_and_number_and_more_than_ten_are_told(make, m):
    if m > 10:
        with pytest.warns(ManyLevelsWarning, match="has 11 whole-number values"):
            attribute = read(make(m), missing="ignore")
    else:
        attribute = read(make(m), missing="ignore")
    assert [v for v in levels_of(attribute) if v is not None] == list(range(m))


@pytest.mark.parametrize(
    "column",
    [
        [1, 2, 2.5],
        np.array([1, 2, 2.5, None], dtype=object),
        np.array([Decimal(1), Decimal("2.50"), 3], dtype=object),
        pd.Series([1, 2, 2.5], dtype="Float64"),
        pl.Series([Decimal("1.00"), Decimal("2.50")]),
        pa.chunked_array([[Decimal("1.00"), Decimal("2.50"), None]]),
    ],
)
def test_one_fraction_makes_a_number_whatever_holds_it(column):
    attribute = read(column, missing="ignore")
    assert isinstance(attribute, Numeric)
    assert 2.5 in attribute.values


def test_categories_are_declared_to_be_groups_and_nobody_is_asked():
    assert len(read(pd.Series(range(12), dtype="category")).labels) == 12


DATES = {
    "numpy": np.array(["2000-01-01", "NaT", "1970-01-11"], dtype="datetime64[ns]"),
    "python": [date(2000, 1, 1), None, date(1970, 1, 11)],
    "pandas": pd.Series(pd.to_datetime(["2000-01-01", None, "1970-01-11"])),
    "zone": pd.Series(pd.to_datetime(["2000-01-01", None, "1970-01-11"])).dt.tz_localize("UTC"),
    "polars": pl.Series([date(2000, 1, 1), None, date(1970, 1, 11)]),
    "arrow": pa.chunked_array([[date(2000, 1, 1), None, date(1970, 1, 11)]]),
}


@pytest.mark.parametrize("column", DATES.values(), ids=DATES)
def test_dates_are_refused_until_somebody_says_what_they_are(column):
    with pytest.raises(ValueError, match=r"'column' is a date.*bands.*'numeric'.*'categorical'"):
        read(column, missing="ignore")
    days = read(column, kinds={"column": "numeric"}, missing="ignore")
    np.testing.assert_array_equal(days.values, [10957, np.nan, 10])
    levels = read(column, kinds={"column": "categorical"}, missing="ignore")
    assert [c >= 0 for c in levels.codes] == [True, False, True]
    assert len(levels.labels) == 2


def test_a_duration_counts_in_days():
    hours = np.array([36, 12], dtype="timedelta64[h]")
    assert read(hours, kinds={"column": "numeric"}).values.tolist() == [1.5, 0.5]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (np.ma.array([1, 2, 3], mask=[0, 1, 0]), [1, None, 3]),
        (np.ma.array(["a", "b", "c"], mask=[1, 0, 0]), [None, "b", "c"]),
        (np.ma.array([0.0, 1.0, 1.0], mask=[0, 0, 1]), [0.0, 1.0, None]),
        (np.ma.array([True, False], mask=[0, 0]), [True, False]),
    ],
)
def test_what_a_mask_hides_is_missing(column, expected):
    if None in expected:
        with pytest.raises(MissingGroupError, match="missing in 1 of 3 rows"):
            read_attributes(column)
    assert levels_of(read_attributes(column, missing="ignore")[0]) == expected


@pytest.mark.parametrize(
    "column",
    [
        [2**63, -1, 2**53 + 1, 2**53],
        pd.Series([2**53, 2**53 + 1, None], dtype="Int64"),
        [Decimal(2**53), Decimal(2**53 + 1), Decimal("1e40"), None],
    ],
)
def test_codes_of_any_size_stay_apart(column):
    attribute = read(column, missing="ignore")
    assert len(set(levels_of(attribute))) == len(column)


def test_floats_that_no_longer_tell_codes_apart_are_refused():
    with pytest.raises(ValueError, match=r"2\^53.*integers or as texts"):
        read(np.array([2.0**53, 1.0]))
    assert read([2.0**53, 1.0], kinds={"column": "numeric"}).values.max() == 2.0**53


def test_sixty_attributes_have_joint_groups():
    """The number of possible cells overflows any integer; those with rows are few."""
    rng = np.random.default_rng(0)
    columns = {f"a{j}": rng.integers(0, 3, size=40) for j in range(60)}
    (joint,) = read_attributes(columns, intersectional=True)
    assert len(joint.labels) == 40
    found = [joint.labels[c] for c in joint.codes]
    assert found == list(zip(*(c.tolist() for c in columns.values()), strict=True))


def test_more_joint_groups_than_make_sense_are_refused():
    columns = {"a": np.arange(20_000) % 200, "b": np.arange(20_000) // 200}
    kinds = dict.fromkeys(columns, "categorical")
    with pytest.raises(ValueError, match="'a x b' has 20000 levels"):
        read_attributes(columns, intersectional=True, kinds=kinds)


def test_an_identifier_is_refused_and_one_level_fewer_is_not():
    texts = [f"row {i}" for i in range(levels.MOST_LEVELS + 1)]
    assert len(read(texts[1:]).labels) == levels.MOST_LEVELS
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


@pytest.mark.parametrize(
    ("name", "called"), [(None, "sensitive"), ("", "sensitive"), ("sex", "sex")]
)
def test_a_series_without_a_name_is_called_sensitive(name, called):
    assert read_attributes(pd.Series(["a", "b"], name=name))[0].name == called


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


@pytest.mark.parametrize(
    ("codes", "labels", "kept"),
    [([0, -1, 0], ("a",), [0, -1, 0]), ([0, 2, -1, 2], ("a", "c"), [0, 1, -1, 1])],
)
def test_labels_that_no_row_has_are_dropped_and_missing_rows_stay_missing(codes, labels, kept):
    used = drop_unused_labels(Levels("x", ("a", "b", "c"), np.array(codes)))
    assert (used.labels, used.codes.tolist()) == (labels, kept)


def test_a_row_with_a_missing_part_is_in_no_intersection():
    one = Levels("x", ("a", "b"), np.array([0, 1]))
    assert intersect([one]) == (one,)
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


def test_columns_of_a_frame_may_be_named_by_numbers():
    sex, race = read_attributes(pd.DataFrame({0: [*"fm"], 1: [*"ab"]}))
    assert (sex.labels, race.labels) == (("f", "m"), ("a", "b"))
