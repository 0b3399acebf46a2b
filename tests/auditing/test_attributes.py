import numpy as np
import pandas as pd
import pytest

from fairpca._attributes import Roles
from fairpca.auditing._asking import ask
from fairpca.auditing._question import Everybody, attributes_in, counted_groups, prepare
from fairpca.auditing._splits import QUICK, Split
from fairpca.errors import SingleGroupError
from fairpca.models import FEWEST_ROWS, MOST_GROUPS, measure_attribute


def column(counts, name="race"):
    values = [value for value, count in counts.items() for _ in range(count)]
    return pd.Series(values, name=name)


def everybody(attribute, y, weights=None):
    return Everybody([attribute], np.arange(len(attribute.codes)), y, weights, [])


def test_groups_are_sorted_by_size_and_counted():
    race = measure_attribute(column({"a": 30, "b": 50}))
    assert race.labels == ("b", "a")
    found = counted_groups(race, everybody(race, np.arange(80) < 30))
    assert [(g.label, g.n_rows, g.outcome) for g in found.groups] == [
        ("b", 50, 0.0),
        ("a", 30, 1.0),
    ]


def test_shares_and_outcomes_of_groups_go_by_weights():
    race = measure_attribute(column({"a": 20, "b": 60}))
    weights = np.repeat([3.0, 0.5, 1.5], [20, 30, 30])
    yes = np.arange(80) < 50
    found = {g.label: g for g in counted_groups(race, everybody(race, yes, weights)).groups}
    assert (found["a"].share, found["b"].share) == (0.5, 0.5)
    assert (found["a"].outcome, found["b"].outcome) == (1.0, 0.25)
    assert (found["a"].n_rows, found["b"].n_rows) == (20, 60)
    wages = np.repeat([2.0, 4.0, 8.0], [20, 30, 30])
    assert [g.outcome for g in counted_groups(race, everybody(race, wages, weights)).groups] == [
        7.0,
        2.0,
    ]
    classes = np.arange(80) % 3
    assert [g.outcome for g in counted_groups(race, everybody(race, classes, weights)).groups] == [
        None,
        None,
    ]


def test_what_is_rare_is_decided_by_people_not_by_their_rows():
    race = column({"a": 30, "b": 30, "c": 60})
    people_each = np.repeat([1.0, 1.0, 1 / 6], [30, 30, 60])
    assert measure_attribute(race).labels == ("c", "a", "b")
    assert measure_attribute(race, n_rows=people_each).labels == ("a", "b")
    both = pd.DataFrame({"sex": ["f", "m"] * 60, "race": race}), Roles((), ("sex", "race")), {}
    _, _, alone = attributes_in(*both)
    assert alone.labels == ("f & c", "m & c")
    assert len(attributes_in(*both, people_each)) == 2
    ages = measure_attribute(pd.Series(np.arange(120.0), name="age"), "numeric", people_each)
    assert ages.labels == ("age > 34.5", "age ≤ 34.5")  # half of the 70 people, not of the rows


def test_a_group_of_three_rows_counts_as_unknown_and_is_said():
    race = measure_attribute(column({"a": 40, "b": 40, "c": 3}))
    assert race.labels == ("a", "b")
    assert np.count_nonzero(race.codes == -1) == 3
    assert "3 row(s) of c are too few" in race.note
    assert race.fitted[-1] is None


def test_rare_groups_that_are_enough_together_are_measured_together():
    race = measure_attribute(column({"a": 40, "b": 40, "c": 15, "d": 10}))
    assert race.labels == ("a", "b", "other (c, d)")
    assert np.count_nonzero(race.codes == 2) == 25


def test_at_most_twelve_groups_are_measured():
    race = measure_attribute(column({f"g{i}": 100 - i for i in range(30)}))
    assert len(race.labels) == MOST_GROUPS
    assert race.labels[-1].startswith("other (")
    assert not (race.codes == -1).any()
    twelve = measure_attribute(column({f"g{i}": 100 - i for i in range(12)}))
    assert "other" not in " ".join(twelve.labels)


@pytest.mark.parametrize("counts", [{"a": 100}, {"a": 100, "b": 5}, {None: 50, "a": 100}])
def test_fewer_than_two_groups_are_refused_with_their_counts(counts):
    with pytest.raises(SingleGroupError, match=r"'a' \(100\)"):
        measure_attribute(column(counts))


def test_missing_values_are_unknown_not_a_group():
    sex = measure_attribute(column({"f": 30, "m": 30, None: 7}))
    assert sex.labels == ("f", "m")
    assert counted_groups(sex, everybody(sex, None)).n_missing == 7


def test_a_quantity_is_measured_in_two_bands_and_fitted_as_numbers():
    age = measure_attribute(pd.Series([*range(20, 80), np.nan], name="age"), "numeric")
    assert age.kind == "numeric"
    assert age.labels == ("age ≤ 49.5", "age > 49.5")
    assert age.codes[-1] == -1
    assert np.isnan(age.fitted[-1])
    assert age.fitted[0] == 20.0


def test_a_quantity_with_one_dominant_value_still_has_two_bands():
    values = [0.0] * 60 + [i + 0.5 for i in range(1, 31)]
    hours = measure_attribute(pd.Series(values, name="hours"))
    assert np.bincount(hours.codes).tolist() == [60, 30]


@pytest.mark.parametrize("values", [[0.0, 1.0], [1, 2, 3], [True, False], ["1", "2"]])
def test_few_numbers_are_levels(values):
    code = measure_attribute(pd.Series(values * 40, name="code"))
    assert code.kind == "levels"
    assert len(code.labels) == len(values)
    assert "." not in "".join(code.labels)


def test_intersections_are_pairs_and_all_together_with_enough_rows():
    rng = np.random.default_rng(0)
    people = pd.DataFrame({name: rng.choice(list("ab"), size=400) for name in "pqr"})
    *singles, pq, pr, qr, pqr = attributes_in(people, Roles((), ("p", "q", "r")), {})
    joint = [pq, pr, qr, pqr]
    assert [a.name for a in joint] == ["p × q", "p × r", "q × r", "p × q × r"]
    assert len(joint[-1].labels) == 8
    first = joint[0]
    row = 17
    expected = (
        f"{singles[0].labels[singles[0].codes[row]]} & {singles[1].labels[singles[1].codes[row]]}"
    )
    assert first.labels[first.codes[row]] == expected


def test_rare_combinations_are_counted_and_left_to_no_probe():
    people = pd.DataFrame({"p": ["a"] * 50 + ["b"] * 50, "q": ["x"] * 45 + ["y"] * 55})
    _, _, joint = attributes_in(people, Roles((), ("p", "q")), {})
    assert joint.labels == ("b & y", "a & x")
    assert np.count_nonzero(joint.codes == -1) == 5
    assert joint.note == "Probes leave out 5 rows of 1 rare combinations, whose rates are shown."
    assert joint.all_labels == ("b & y", "a & x", "a & y")
    assert np.bincount(joint.all_codes).tolist() == [50, 45, 5]
    assert [group.n_rows for group in counted_groups(joint, everybody(joint, None)).groups] == [
        50,
        45,
        5,
    ]


def test_very_many_combinations_are_all_counted_the_last_of_them_together():
    rng = np.random.default_rng(0)
    people = pd.DataFrame({name: rng.choice(list("abcdef"), size=3000) for name in "pq"})
    *_, joint = attributes_in(people, Roles((), ("p", "q")), {})
    assert (len(joint.labels), len(joint.all_labels)) == (12, 24)
    assert joint.all_labels[-1] == "other (13 combinations)"
    assert np.bincount(joint.all_codes).sum() == 3000
    assert "13 combinations with the fewest rows are combined" in joint.note


def test_a_level_of_a_few_rows_is_shown_and_not_measured():
    race = measure_attribute(column({"a": 40, "b": 30, "c": 3, "d": 2}))
    assert (race.labels, race.rare) == (("a", "b"), ("other (c, d)",))
    assert np.bincount(race.codes + 1).tolist() == [5, 40, 30]
    assert np.bincount(race.all_codes).tolist() == [40, 30, 5]
    assert [group.n_rows for group in counted_groups(race, everybody(race, None)).groups] == [
        40,
        30,
        5,
    ]


def test_estimators_get_single_attributes_only():
    people = pd.DataFrame({"p": ["a"] * 50 + ["b"] * 50, "q": ["x", "y"] * 50, "n": range(100)})
    asked = {"pos_label": None, "ignore": (), "n_components": None, "effort": QUICK, "seed": 0}
    question = ask(people, ["p", "q"], None, **asked)
    assert [a.name for a in question.attributes] == ["p", "q", "p × q"]
    rows = prepare(question, Split(0, np.array([0, 99]), np.arange(1, 99)), encoded=False).rows
    assert set(rows.sensitive) == set(rows.kinds) == {"p", "q"}
    assert rows.sensitive["p"].tolist() == ["a", "b"]


def test_the_smallest_group_that_is_measured_is_the_promised_one():
    race = measure_attribute(column({"a": 40, "b": FEWEST_ROWS, "c": FEWEST_ROWS - 1}))
    assert race.labels == ("a", "b")
