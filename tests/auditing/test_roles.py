import numpy as np
import pandas as pd
import pytest

from fairpca._attributes.columns import assign_roles
from fairpca.auditing._asking import ask
from fairpca.auditing._question import prepare
from fairpca.auditing._splits import QUICK, halves
from fairpca.errors import AuditError, MissingGroupError, TableError, UsageError
from fairpca.models import binary_target
from fairpca.tables import find_person
from people import made_up_people

COLUMNS = ["age", "Sex", "income", "paid"]


def test_sensitive_and_target_and_ignored_columns_are_no_features():
    roles = assign_roles(COLUMNS, sensitive=["Sex"], target="paid", ignore=["income"])
    assert roles.features == ("age",)
    assert [roles.of(c) for c in COLUMNS] == ["feature", "sensitive", "ignored", "target"]


def test_a_misspelt_column_gets_a_suggestion_whatever_its_case():
    with pytest.raises(TableError, match=r"no column 'sxe'\. Did you mean 'Sex'"):
        assign_roles(COLUMNS, sensitive=["sxe"])


def test_a_name_like_no_other_gets_a_list():
    with pytest.raises(TableError, match="There are: 'age', 'Sex'"):
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
    with pytest.raises((AuditError, TableError, MissingGroupError), match=message):
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
def test_the_usual_positive_value_is_detected(values, positive):
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
    with pytest.raises(TableError, match=r"3 distinct values .*--pos-label"):
        binary_target(grades)
    is_positive, _, name = binary_target(grades, "2")
    assert (is_positive.tolist(), name) == ([False, True, False, True], "2")


@pytest.mark.parametrize("values", [[1, 1, 1], [None, None]])
def test_a_target_that_does_not_vary_is_refused(values):
    with pytest.raises(TableError, match="nothing can be learned"):
        binary_target(pd.Series(values, name="y"))


def test_a_positive_value_that_does_not_occur_is_refused():
    with pytest.raises(TableError, match="No row of the target 'y' is 'maybe'"):
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


@pytest.mark.parametrize(("values", "name"), [(["1", "1.0", "0"], 1), ([True, "1", 0], 1)])
def test_a_name_that_may_mean_two_values_is_refused(values, name):
    with pytest.raises(TableError, match=r"The target 'y' has '.*', '.*', and pos_label="):
        binary_target(pd.Series(values, name="y", dtype=object), name)


def asked(table, target=None, sensitive="sex", **given):
    """Return the question of a table, asked as an audit asks it."""
    usual = {"pos_label": None, "ignore": (), "n_components": 2, "effort": QUICK, "seed": 0}
    return ask(table, sensitive, target, **(usual | given))


def halves_of(question):
    """Return the question's first two halves, each held out once."""
    splits = halves(question.strata, 1, np.random.default_rng(0), question.people)
    return [prepare(question, split) for split in splits]


@pytest.fixture(scope="module")
def table():
    return made_up_people()


def test_what_has_another_role_is_no_feature():
    columns = [*COLUMNS, "who", "risk", "ok", "w"]
    named = {"person": "who", "score": ["risk"], "decision": ["ok"], "weight": "w"}
    roles = assign_roles(columns, sensitive="Sex", target="paid", **named)
    assert roles.features == ("age", "income")
    assert [roles.of(c) for c in columns[4:]] == ["person", "score", "decision", "weight"]
    assert roles.needed == ["age", "income", "Sex", "paid", "w", "who", "risk", "ok"]
    with pytest.raises(TableError, match="'ok' is named twice, as person and as decision"):
        assign_roles(columns, sensitive="Sex", person="ok", decision=["ok"])


def test_a_number_is_a_target(table):
    question = asked(table, "skill")
    target = question.target
    assert (target.kind, target.pos_label, target.rate, target.classes) == (
        "number",
        None,
        None,
        [],
    )
    assert target.mean == pytest.approx(table["skill"].mean())
    assert target.deviation == pytest.approx(table["skill"].std(ddof=0))
    np.testing.assert_array_equal(question.y, table["skill"])
    np.testing.assert_array_equal(np.bincount(question.strata[-1]), 175)
    (group, *_) = question.described().attributes[0].groups
    assert group.outcome == pytest.approx(table["skill"][table["sex"] == group.label].mean())
    for half in halves_of(question):
        assert half.rows.target_kind == "number"
        assert np.isnan(half.rate)
        np.testing.assert_array_equal(half.y, table["skill"].to_numpy()[half.places])


def test_several_classes_are_a_target(table):
    question = asked(table, "town")
    assert (question.target.kind, question.target.classes) == (
        "classes",
        ["North", "South", "West"],
    )
    assert question.target.rate is None
    np.testing.assert_array_equal(np.array(question.target.classes)[question.y], table["town"])
    for half in halves_of(question):
        expected = np.bincount(half.rows.y) / len(half.rows.y)
        np.testing.assert_allclose(half.rate, expected)


def test_whether_a_number_exceeds_a_limit_is_a_target(table):
    holes = table.assign(skill=table["skill"].where(np.arange(700) >= 10))
    question = asked(holes, "skill", above=0.5)
    assert (question.target.kind, question.target.pos_label) == ("binary", "> 0.5")
    np.testing.assert_array_equal(question.y, table["skill"][10:] > 0.5)
    assert question.n_dropped == 10


def test_the_kind_of_a_target_is_said_like_that_of_an_attribute(table):
    years = table.assign(years=np.arange(700) % 60, few=np.arange(700) % 3)
    with pytest.raises(TableError, match=r"Pass sensitive_kinds=\{'years': 'numeric'\}"):
        asked(years, "years")
    assert asked(years, "years", sensitive_kinds={"years": "numeric"}).target.kind == "number"
    with pytest.raises(AuditError, match="too few rows: '0' "):
        asked(years, "years", sensitive_kinds={"years": "categorical"})
    assert asked(years, "few").target.classes == ["0", "1", "2"]
    assert asked(years, "few", sensitive_kinds={"few": "numeric"}).target.kind == "number"
    with pytest.raises(UsageError, match="names the column 'luck'"):
        asked(years, "few", sensitive_kinds={"luck": "numeric"})


@pytest.mark.parametrize(
    ("target", "given", "message"),
    [
        (None, {"above": 1.0}, "above=1.0 is about the target, but no target"),
        (None, {"pos_label": "yes"}, "pos_label='yes' is about the target"),
        ("skill", {"above": 1.0, "pos_label": 1}, "above=1.0 and pos_label=1 both"),
        ("town", {"above": 1.0}, "target 'town' has to be numbers, but it holds 'West'"),
        ("skill", {"above": 99.0}, "Only 0 rows of the target 'skill' are '> 99'"),
        ("rare", {}, "1 of 3 classes have too few rows: 'c' \\(9\\)"),
        ("paid", {"scores": ["town"]}, "score 'town' has to be numbers, but it holds 'West'"),
        ("paid", {"scores": ["same"]}, "score 'same' has one value only"),
        ("paid", {"scores": ["mostly"]}, "41 rows with a score in 'mostly', but at least 100"),
        ("paid", {"decisions": ["town"]}, "decision 'town' has 3 distinct value"),
        ("paid", {"weight": "town"}, "weight 'town' has to be numbers, but it holds 'West'"),
        ("paid", {"weight": "luck"}, r"of 700 rows have a negative weight in 'luck'"),
        ("paid", {"weight": "mostly"}, "659 of 700 rows have no weight in 'mostly'"),
        ("paid", {"weight": "zero"}, "0 rows of a positive 'zero'"),
        ("paid", {"weight": "day"}, "weight 'day' has to be numbers, but it holds '2020-01-01"),
        ("paid", {"scores": ["of men"]}, "Score 'of men' is known for 0 people with sex = 'f'"),
        ("paid", {"person": "town"}, "3 rows of different people in 'town', but at least 100"),
        ("paid", {"scores": ["huge"]}, r"score 'huge' holds values of the size 1e\+200, whose"),
    ],
)
def test_what_cannot_be_a_target_a_model_or_a_weight_is_refused(table, target, given, message):
    odd = table.assign(
        rare=np.repeat(["a", "b", "c"], [345, 346, 9]),
        mostly=np.where(np.arange(700) < 41, np.arange(700), np.nan),
        same=1,
        zero=0,
        huge=1e200,
        day=pd.date_range("2020-01-01", periods=700),
        **{"of men": table["luck"].where(table["sex"] == "m")},
    )
    with pytest.raises((AuditError, TableError, MissingGroupError), match=message):
        asked(odd, target, **given)


def test_models_that_exist_are_read_as_what_they_say(table):
    score = table["skill"].where(np.arange(700) >= 30)
    given = table.assign(risk=score, said=table["paid"].str.upper(), ok=table["paid"])
    question = asked(given, "paid", scores="risk", decisions=["said", "ok"], ignore=["n0"])
    assert [(str(m.setting), m.setting.method) for m in question.existing] == [
        ("score:risk", "score"),
        ("decision:said", "decision"),
        ("decision:ok", "decision"),
    ]
    np.testing.assert_array_equal(question.existing[0].values, score)
    for model in question.existing[1:]:
        np.testing.assert_array_equal(model.values, question.y)
    assert not {"risk", "said", "ok"} & set(question.features)
    (told,) = [n for n in question.notices if n.kind == "unknown_values"]
    assert told.text.startswith("30 rows have no score in 'risk'")
    roles = {c.name: c.role for c in question.columns}
    assert (roles["risk"], roles["ok"], roles["n0"]) == ("score", "decision", "ignored")


def test_the_yes_of_a_decision_is_that_of_the_target(table):
    given = table.assign(decided=np.where(table["skill"] > 0, "no", "later"))
    question = asked(given, "paid", pos_label="no", decisions=["decided"])
    np.testing.assert_array_equal(question.existing[0].values, table["skill"] > 0)
    question = asked(given, "paid", decisions=["decided"])  # none is 'yes', but one is 'no'
    np.testing.assert_array_equal(question.existing[0].values, table["skill"] <= 0)


def test_weights_have_the_mean_one_and_rows_without_one_are_left_out(table):
    weights = np.where(np.arange(700) < 100, 0.0, 1 + np.arange(700) % 3)
    question = asked(table.assign(w=weights), "paid", weight="w")
    np.testing.assert_allclose(question.weights, weights[100:] / weights[100:].mean())
    assert question.n_dropped == 100
    yes = table["paid"][100:] == "yes"
    assert question.target.rate == pytest.approx(np.average(yes, weights=weights[100:]))
    (told,) = [n for n in question.notices if n.kind == "zero_weight"]
    assert told.text.startswith("100 rows have the weight 0")
    for half in halves_of(question):
        np.testing.assert_array_equal(half.weights, question.weights[half.places])
        expected = np.average(half.rows.y, weights=half.rows.weights)
        assert half.rate == pytest.approx(expected)


def test_a_person_is_on_one_side_and_measured_once(table):
    panel = pd.concat([table.assign(who=range(700), luck=year) for year in range(3)])
    question = asked(panel, "paid", person="who")
    assert question.described().n_people == 700
    assert "who" not in question.features
    first, second = halves_of(question)
    met = [set(question.people[half.places]) for half in (first, second)]
    assert not met[0] & met[1]
    for half, people in zip((first, second), met, strict=True):
        assert len(half.places) == len(people) == 350
        assert len(half.rows.X) == 1050
        years = panel["luck"].to_numpy()[half.places]
        assert np.bincount(years, minlength=3).min() > 80  # any of the three rows, not the first
    again = prepare(
        question, halves(question.strata, 2, np.random.default_rng(0), question.people)[2]
    )
    other = set(again.places) & (set(first.places) | set(second.places))
    assert len(other) < 0.6 * len(again.places)  # another round draws others


def test_a_row_without_a_person_is_of_a_person_of_its_own(table):
    who = pd.Series(np.arange(700) // 2).where(np.arange(700) >= 40)
    question = asked(table.assign(who=who), person="who")
    assert question.described().n_people == 330 + 40
    (told,) = [n for n in question.notices if n.kind == "unknown_values"]
    assert told.text.startswith("40 rows have no value in 'who'")


def panel_of(n, years, noise):
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(n), years)
    usual = rng.normal(size=(n, 6))[who] + noise * rng.normal(size=(n * years, 6))
    frame = pd.DataFrame(usual, columns=list("abcdef")).assign(nr=1000 + who)
    return frame.assign(sex=rng.choice(["f", "m"], size=n)[who], job=rng.integers(9, size=len(who)))


@pytest.mark.parametrize("ignore", [(), ("nr",)])
def test_a_column_that_looks_like_people_is_pointed_out(ignore):
    question = asked(panel_of(150, 4, 0.3), ignore=ignore)
    (told,) = [n for n in question.notices if n.kind == "person"]
    assert (told.severity, told.column, told.other) == ("warning", "nr", "sex")
    assert "--person nr" in told.text
    named = asked(panel_of(150, 4, 0.3), person="nr")
    assert not [n for n in named.notices if n.kind == "person"]


def test_places_occupations_years_and_weights_do_not_look_like_people(table):
    rng = np.random.default_rng(0)
    place = rng.integers(100, size=700)
    age = rng.integers(18, 78, size=700)
    cell = place // 10 * 1000 + 10 * age + 5 * (table["sex"] == "m")
    frame = table.assign(
        zip=10_000 + place, state=place // 10, urban=place % 2, age=age, born=2000 - age, cell=cell
    )
    others = [name for name in frame if name not in ("sex", "race", "state")]
    assert find_person(frame, ["sex", "race", "state"], others) is None


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("worker", None),
        ("fnlwgt", 1),
        ("perwt", 1),
        ("sample_weight", 1),
        ("x", 0.37),
        ("wt", 0.37),
    ],
)
def test_a_weight_is_nobody_s_name(name, of):
    """People who were drawn alike have one weight, and are alike in most columns."""
    rng = np.random.default_rng(0)
    kind = np.repeat(np.arange(60), 5)
    frame = pd.DataFrame({c: rng.integers(0, 4, 60)[kind] for c in ("a", "b", "c")})
    frame["sex"] = rng.choice(["f", "m"], 60)[kind]
    frame[name] = 1000 + kind if of is None else (1000 + kind) * of
    found = find_person(frame, ["sex"], ["a", "b", "c", name])
    assert (found is not None and found.column == name) == (of is None)
