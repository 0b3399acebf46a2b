import pandas as pd
import pytest

from fairpca._attributes.columns import assign_roles
from fairpca.errors import AuditError, TargetError, UnknownColumnError
from fairpca.tables import binary_target

COLUMNS = ["age", "Sex", "income", "paid"]


def test_sensitive_and_target_and_ignored_columns_are_no_features():
    roles = assign_roles(COLUMNS, sensitive=["Sex"], target="paid", ignore=["income"])
    assert roles.features == ("age",)
    assert [roles.of(c) for c in COLUMNS] == ["feature", "sensitive", "ignored", "target"]


def test_a_misspelt_column_gets_a_suggestion_whatever_its_case():
    with pytest.raises(UnknownColumnError, match=r"no column 'sxe'\. Did you mean 'Sex'"):
        assign_roles(COLUMNS, sensitive=["sxe"])


def test_a_name_like_no_other_gets_a_list():
    with pytest.raises(UnknownColumnError, match="There are: 'age', 'Sex'"):
        assign_roles(COLUMNS, sensitive=["zzzzzz"])


@pytest.mark.parametrize(
    ("sensitive", "target", "ignore", "message"),
    [
        ([], None, [], "No sensitive column"),
        (["Sex"], "Sex", [], "as sensitive and as target"),
        (["Sex"], None, ["Sex"], "as sensitive and as ignored"),
        (COLUMNS, None, [], "No feature is left"),
    ],
)
def test_roles_that_contradict_each_other_are_refused(sensitive, target, ignore, message):
    with pytest.raises(AuditError, match=message):
        assign_roles(COLUMNS, sensitive=sensitive, target=target, ignore=ignore)


@pytest.mark.parametrize(
    ("values", "positive"),
    [
        ([0, 1, 1], "1"),
        ([1, 2, 2], "2"),
        ([True, False, False], "True"),
        (["no", "yes", "no"], "yes"),
        (["good", "bad", "bad"], "good"),
        ([">50K", "<=50K", "<=50K"], ">50K"),
    ],
)
def test_the_usual_positive_value_is_guessed(values, positive):
    is_positive, known, name = binary_target(pd.Series(values, name="y"))
    assert name == positive
    assert known.all()
    assert is_positive.tolist() == [str(v) == positive for v in values]


def test_rows_without_a_target_are_not_known():
    is_positive, known, _ = binary_target(pd.Series(["yes", None, "no"], name="y"))
    assert known.tolist() == [True, False, True]
    assert is_positive.tolist() == [True, False, False]


def test_a_target_of_several_values_needs_to_be_told_which_is_positive():
    grades = pd.Series([1, 2, 3, 2], name="grade")
    with pytest.raises(TargetError, match=r"3 distinct values .*--positive"):
        binary_target(grades)
    is_positive, _, name = binary_target(grades, "2")
    assert (is_positive.tolist(), name) == ([False, True, False, True], "2")


@pytest.mark.parametrize("values", [[1, 1, 1], [None, None]])
def test_a_target_that_does_not_vary_is_refused(values):
    with pytest.raises(TargetError, match="nothing can be learned"):
        binary_target(pd.Series(values, name="y"))


def test_a_positive_value_that_does_not_occur_is_refused():
    with pytest.raises(TargetError, match="No row of the target 'y' is 'maybe'"):
        binary_target(pd.Series(["yes", "no"], name="y"), "maybe")


@pytest.mark.parametrize(
    ("values", "names", "called"),
    [
        (["yes", " yes", "no", "yes "], ["yes", " yes"], "yes"),
        ([1, "1", 0, 1.0], [1, "1", "1.0", 1.0, True], "1"),
        ([True, True, False, True], [True, "True", "true", " TRUE", 1], "True"),
        (["true", "true", "false", "true"], ["true", True], "true"),
        ([2.0, 2.0, 7.5, 2.0], [2, "2", "2.0"], "2"),
    ],
)
def test_what_is_written_in_several_ways_is_one_value(values, names, called):
    column = pd.Series(values, name="y")
    for name in names:
        is_positive, known, found = binary_target(column, name)
        assert is_positive.tolist() == [True, True, False, True]
        assert known.all()
        assert found == called


def test_without_a_word_blanks_do_not_make_a_third_value():
    assert binary_target(pd.Series([" low", "high"], name="y"))[2] == "low"  # the last, as "low" is
    is_positive, known, name = binary_target(pd.Series([" yes", "no", "yes", " ?"], name="y"))
    assert (is_positive.tolist(), name) == ([True, False, True, False], "yes")
    assert known.tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("values", "name"), [(["yes", "Yes", "no"], "yes"), (["1", "1.0", "0"], 1), ([True, "1", 0], 1)]
)
def test_a_name_that_may_mean_two_values_is_refused(values, name):
    with pytest.raises(TargetError, match=r"The target 'y' has '.*', '.*', and positive="):
        binary_target(pd.Series(values, name="y", dtype=object), name)
