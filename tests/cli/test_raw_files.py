"""Files as they come: four public data sets as they were published, and a deliberately nasty one.

What the tests compare with is counted here by pandas alone.
"""

import json
import os
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

from cli import refusals
from cli.nasty_table import AWKWARD, EMOJI, SCRIPT, TINY_GROUP, TINY_ROWS, nasty_rows, written
from fairpca import FairTableTransformer
from fairpca.auditing import audit_schema
from people import made_up_people
from slow import first_fast
from systems import links, posix

ADULT = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,"
    "sex,capital-gain,capital-loss,hours-per-week,native-country,income"
)
GERMAN = (
    "checking,duration,history,purpose,amount,savings,employment,rate,personal_status,debtors,"
    "residence,property,age,plans,housing,credits,job,liable,telephone,foreign,risk"
)
QUICK = ("--quick", "--jobs", "1", "--n-components", "2", "--json", "found.json")
"""Equal covariances in many dimensions take most of the time."""

FEW = ("--max-rows", "1500")

LARGEST_PAGE = 6_000_000


assert_refused = partial(refusals.assert_refused, absent=("report.html",))


@pytest.fixture
def fairpca(command):
    return command


def found_in(result):
    """Check what every audit must be, and return its JSON."""
    assert result.exit_code == 0, result.output
    assert "Traceback" not in result.output
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    jsonschema.validate(found, audit_schema())
    assert os.path.getsize("report.html") < LARGEST_PAGE
    return found


def counted(found, name):
    """Return the rows and the share of positive ones by group of an attribute."""
    (attribute,) = [a for a in found["data"]["attributes"] if a["name"] == name]
    return {g["label"]: (g["n_rows"], g["outcome"]) for g in attribute["groups"]}


def expected(groups, positive):
    table = pd.DataFrame({"group": groups, "positive": positive}).groupby("group")["positive"]
    return {g: (len(rows), pytest.approx(rows.mean())) for g, rows in table}


def noticed(found, kind):
    return {n["column"] for n in found["notices"] if n["kind"] == kind}


def kinds(found):
    return {c["name"]: c["kind"] for c in found["data"]["columns"]}


def raw_linear_auc(found, attribute):
    (auc,) = [
        leak["auc"]
        for leak in found["leakage"]
        if (leak["representation"], leak["probe"], leak["attribute"])
        == ("raw", "linear", attribute)
    ]
    return auc


def test_german_credit_as_published(fairpca, data_folder):
    file = data_folder / "german" / "german.data"
    sensitive = ("--sensitive", "age", "--sensitive", "personal_status", "--target", "risk")
    refused = fairpca("audit", file, "--columns", GERMAN, *sensitive, *FEW, *QUICK)
    assert refused.exit_code == 2
    assert "'age' has 53 whole-number values" in refused.stderr
    assert "--numeric age" in refused.stderr
    sensitive = (*sensitive, "--numeric", "age", "--aim", "hide")  # of gaps it could not tell
    found = found_in(fairpca("audit", file, "--columns", GERMAN, *sensitive, *FEW, *QUICK))
    table = pd.read_csv(file, sep=" ", names=GERMAN.split(","))
    bad = table["risk"] == 2
    assert counted(found, "personal_status") == expected(table["personal_status"], bad)
    older = np.where(table["age"] > table["age"].median(), "age > 33", "age ≤ 33")
    assert counted(found, "age") == expected(older, bad)
    assert kinds(found)["checking"] == "category"
    assert kinds(found)["amount"] == "numeric"
    command = found["advice"]["command"]
    assert f"--columns {GERMAN}" in command  # or it could not read the file
    assert fairpca(*re.split(r"\s+", command)[1:]).exit_code == 0


@pytest.mark.slow
def test_adult_as_published(fairpca, data_folder):
    file = data_folder / "adult" / "adult.test"
    arguments = ("--sensitive", "sex", "--sensitive", "race", "--target", "income", *QUICK)
    refused = fairpca("audit", file, "--columns", ADULT, *arguments)
    assert refused.exit_code == 2
    assert "--skip-lines 1" in refused.stderr
    how = ("--columns", ADULT, "--skip-lines", "1", *FEW)
    found = found_in(fairpca("audit", file, *how, *arguments))
    table = pd.read_csv(file, names=ADULT.split(","), skiprows=1, skipinitialspace=True)
    assert found["data"]["target"]["pos_label"] == ">50K."
    share = (table["income"] == ">50K.").mean()
    assert found["data"]["target"]["rate"] == pytest.approx(share, abs=1e-3)  # drawn evenly
    assert sum(rows for rows, _ in counted(found, "sex").values()) == 1500
    unknown = {c["name"]: c["n_missing"] for c in found["data"]["columns"]}
    assert unknown["workclass"] > 50  # the question marks
    assert "fnlwgt" not in noticed(found, "id")  # a different number in many rows is no id
    assert 0.87 < raw_linear_auc(found, "sex")["value"] < 0.95


@pytest.mark.slow
def test_bank_marketing_as_published(fairpca, data_folder):
    file = data_folder / "bank" / "bank-additional-full.csv"
    arguments = ("-s", "marital", "-s", "age", "--numeric", "age", "--target", "y")
    found = found_in(fairpca("audit", file, *arguments, *FEW, *QUICK))
    table = pd.read_csv(file, sep=";")
    groups = counted(found, "marital")
    for group, rows in table["marital"].value_counts().drop("unknown").items():
        assert groups[group][0] == pytest.approx(rows * 1500 / len(table), rel=0.15)
    assert kinds(found)["job"] == "category"
    assert found["data"]["target"]["rate"] == pytest.approx((table["y"] == "yes").mean(), abs=1e-3)


@pytest.mark.slow
def test_compas_as_published(fairpca, data_folder):
    file = data_folder / "compas" / "compas-scores-two-years.csv"
    arguments = ("--sensitive", "race", "--sensitive", "sex", "--target", "two_year_recid")
    result = fairpca("audit", file, *arguments, *FEW, *QUICK)
    found = found_in(result)
    assert {"id", "name", "c_case_number"} <= noticed(found, "id")
    given_away = {n["column"] for n in found["notices"] if n["kind"] == "leak"}
    assert {"is_recid", "r_case_number", "r_offense_date", "event", "end"} <= given_away
    assert "'is_recid' alone predicts 'two_year_recid' nearly perfectly" in result.output
    assert {"decile_score (2)", "priors_count (2)"} <= noticed(found, "renamed")
    assert {"decile_score (2)", "priors_count (2)"} <= noticed(found, "copy")
    assert noticed(found, "empty") == {"violent_recid"}
    expected_kinds = {"dob": "date", "c_jail_in": "date", "name": "text", "age": "numeric"}
    assert expected_kinds.items() <= kinds(found).items()
    assert sum(rows for rows, _ in counted(found, "sex").values()) == 1500


@pytest.fixture(scope="module")
def nasty():
    return nasty_rows()


def test_a_nasty_file_is_audited_right(fairpca, nasty):
    names, rows = nasty
    Path("nasty file.csv").write_bytes(written(names, rows))
    arguments = ("--sensitive", "gender", "--sensitive", SCRIPT, "--target", "approved")
    result = fairpca("audit", "nasty file.csv", *arguments, *QUICK)
    found = found_in(result)
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))  # of `score`, the second
    yes = np.array([value == "yes" for value in columns["approved"]])
    women = [value.strip() for value in columns["gender"]]
    assert counted(found, "gender") == expected(women, yes)
    origin = np.array(columns[SCRIPT], dtype=object)
    known = origin != ""
    assert counted(found, SCRIPT) == expected(origin[known], yes[known])
    (attribute,) = [a for a in found["data"]["attributes"] if a["name"] == SCRIPT]
    assert attribute["n_missing"] == np.count_nonzero(~known)
    assert [g["label"] for g in attribute["groups"] if not g["measured"]] == [TINY_GROUP]
    assert f"{TINY_ROWS} row(s) of {TINY_GROUP} are too few" in attribute["note"]

    assert noticed(found, "id") == {"id"}
    assert noticed(found, "copy") == {"approved again"}
    assert noticed(found, "format") == {"born", "thousands"}
    assert noticed(found, "renamed") == {"score (2)"}
    assert noticed(found, "empty") == {"empty"}
    assert "constant" in noticed(found, "constant")
    as_expected = {
        **dict.fromkeys(["score", "score (2)", AWKWARD, "huge", "minute", "thousands"], "numeric"),
        **dict.fromkeys(["mixed", EMOJI, "member", "padded", "</style>"], "category"),
        **dict.fromkeys(["free text", "born", "id"], "text"),
        "joined": "date",
    }
    assert as_expected.items() <= kinds(found).items()

    page = Path("report.html").read_text(encoding="utf-8")
    assert SCRIPT not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<img src=x" not in page


def test_a_nasty_file_is_fitted_and_new_ones_are_mapped(fairpca, nasty):
    names, rows = nasty
    Path("nasty.csv").write_bytes(written(names, rows[:2000]))
    arguments = ("--sensitive", "gender", "--sensitive", SCRIPT, "--target", "approved")
    leave_out = ("--ignore", "id", "--ignore", "approved again", "--n-components", "4")
    result = fairpca("fit", "nasty.csv", *arguments, *leave_out, "--out", "model.fairpca")
    assert result.exit_code == 0, result.output

    # Other rows and levels, no sensitive columns, the rest in another order and format.
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        [row[:5] + row[6:] for row in rows[2000:2300]], columns=names[:5] + names[6:]
    )
    table = table.drop(
        columns=["gender", SCRIPT, "approved", "approved again", "constant", "empty"]
    )
    table["score (2)"] = rng.normal(size=len(table))
    for name in ("score", AWKWARD):
        numbers = table[name].replace(["NaN", "NA", "?", ""], None).str.replace(",", ".")
        table[name] = numbers.astype(float)
    table["negative zero"] = "7"
    table[EMOJI] = "⚽ unseen"
    table["mixed"] = rng.integers(0, 99, len(table))
    table["joined"] = pd.to_datetime(table["joined"])
    table["huge"] = table["huge"].astype(float)
    table["minute"] = table["minute"].astype(float)
    table[table.columns[::-1]].to_parquet("new.parquet")
    result = fairpca(
        *("transform", "model.fairpca", "new.parquet", "--out", "fair.csv", "--keep", "id")
    )
    assert result.exit_code == 0, result.output
    fair = pd.read_csv("fair.csv", dtype={"id": str})
    assert fair["id"].tolist() == table["id"].tolist()
    numbers = fair.drop(columns="id").to_numpy()
    assert numbers.shape == (300, 4)
    assert np.isfinite(numbers).all()
    expected = FairTableTransformer.load("model.fairpca").transform(table)
    np.testing.assert_allclose(numbers, expected, rtol=1e-4, atol=1e-4)

    shown = fairpca("inspect", "model.fairpca", "--all")
    assert shown.exit_code == 0
    assert SCRIPT in shown.output
    assert fairpca("export", "model.fairpca", "--to", "onnx", "--map-only").exit_code == 0
    assert os.path.getsize("model.onnx") > 0


def people(**columns):
    """Write made-up people, some columns replaced."""
    table = made_up_people(n=240).assign(**columns)
    table.to_csv("people.csv", index=False)
    return table


@links
def test_the_table_itself_is_never_overwritten(fairpca):
    people()
    before = Path("people.csv").read_bytes()
    os.symlink("people.csv", "link.html")
    audit = ("audit", "people.csv", "--sensitive", "sex", "--quick", "--jobs", "1", "--force")
    assert_refused(fairpca(*audit, "--out", "people.csv"), "is what is read")
    assert_refused(fairpca(*audit, "--json", "people.csv"), "is what is read")
    assert_refused(fairpca(*audit, "--out", "link.html"), "is what is read")
    fit = ("fit", "people.csv", "--sensitive", "sex", "--force", "--out", "people.csv")
    assert_refused(fairpca(*fit), "is what is read")
    assert Path("people.csv").read_bytes() == before


def test_json_can_be_printed_alone(fairpca):
    people()
    result = fairpca("audit", "people.csv", "-s", "sex", "--quick", "--jobs", "1", "--json", "-")
    assert result.exit_code == 0
    jsonschema.validate(json.loads(result.stdout), audit_schema())
    assert "AUC for predicting" in result.stderr
    assert not os.path.exists("-")


@pytest.mark.parametrize("positive", first_fast(["1.0", "1"]))
def test_a_positive_number_may_be_written_either_way(fairpca, positive):
    paid = (np.arange(240) % 3).astype(float)
    paid[:5] = np.nan  # integers with holes are floats
    people(paid=paid)
    arguments = ("-s", "sex", "-t", "paid", "--pos-label", positive, *QUICK)
    found = found_in(fairpca("audit", "people.csv", *arguments))
    assert found["data"]["target"]["pos_label"] == "1"
    assert found["data"]["target"]["rate"] == pytest.approx(np.mean(paid[5:] == 1))
    assert found["data"]["n_rows_dropped"] == 5


def test_question_marks_are_neither_a_group_nor_an_outcome(fairpca):
    table = made_up_people(n=240)
    rows = np.arange(240)
    people(sex=table["sex"].where(rows > 29, "?"), paid=table["paid"].where(rows > 3, "?"))
    found = found_in(fairpca("audit", "people.csv", "-s", "sex", "-t", "paid", *QUICK))
    assert set(counted(found, "sex")) == {"f", "m"}
    assert found["data"]["n_rows_dropped"] == 4


def outcomes(n_yes):
    return np.where(np.arange(240) < n_yes, "yes", "no")


@pytest.mark.parametrize(
    ("columns", "messages"),
    [
        ({"paid": outcomes(1)}, ["Only 1 rows of the target 'paid' are 'yes'", "20"]),
        ({"paid": outcomes(230)}, ["Only 10 rows of the target 'paid' are not 'yes'"]),
        ({"paid": outcomes(0)}, ["the value 'no' only"]),
        ({"paid": ""}, ["no value at all"]),
        ({"paid": np.arange(240)}, ["240 whole-number values", "(command line: --numeric paid)"]),
        ({"paid": [f"c{i % 13}" for i in range(240)]}, ["13 of 13 classes", "'c0' (19)"]),
        ({"sex": ""}, ["no value at all, 240 missing"]),
        ({"sex": np.where(np.arange(240) < 3, "m", "f")}, ["'f' (237), 'm' (3)"]),
    ],
)
def test_what_cannot_be_measured_is_said_in_one_line(fairpca, columns, messages):
    people(**columns)
    result = fairpca("audit", "people.csv", "-s", "sex", "-t", "paid", "--quick", "--jobs", "1")
    assert_refused(result, *messages)


SEX, PAID = ("-s", "sex"), ("-s", "sex", "-t", "paid")
ROWS = np.arange(240)
DATES = pd.date_range("2020-01-01", periods=240).astype(str)
HALF_SCORED = {"sex": np.where(ROWS % 2, "m", "f"), "luck": np.where(ROWS % 2, ROWS, np.nan)}


@pytest.mark.parametrize(
    ("columns", "arguments", "words"),
    [
        ({"luck": "", "skill": ""}, PAID, "Nothing varies in 'luck', 'skill'"),
        ({"luck": 1.5, "skill": "x"}, PAID, "Nothing varies in 'luck', 'skill'"),
        ({"luck": 1.0 * (ROWS == 7), "skill": 0}, PAID, "Nothing varies in 'luck', 'skill'"),
        ({}, (*PAID, "--ignore", "luck", "--ignore", "skill"), "No feature is left"),
        ({}, (*SEX, "--ignore", "sex"), "named twice, as sensitive and as ignored"),
        ({}, (*PAID, "--ignore", "luk"), "Did you mean 'luck'?"),
        ({}, (*PAID, "--pos-label", "maybe"), "No row of the target 'paid' is 'maybe'"),
        ({}, (*PAID, "--numeric", "sex"), "holds entries that are not numbers"),
        ({}, (*PAID, "--numeric", "luck"), "sensitive_kinds names the column 'luck'"),
        ({}, (*SEX, "--aim", "decide"), "no target was named"),
        ({"sex": [f"g{i % 120}" for i in ROWS]}, PAID, "fewer than two groups of at least 20"),
        ({"sex": ROWS}, PAID, "--numeric sex"),
        ({"sex": DATES}, PAID, "fewer than two groups"),
        ({"sex": 3.5}, PAID, "nothing to compare"),
        ({"sex": np.where(ROWS < 12, ROWS / 7, 0.5)}, PAID, "on one side of 0.5"),
        ({"sex": np.where(ROWS % 2, " f", "f ")}, PAID, "'f' (240)"),
        ({"sex": np.where(ROWS < 235, np.nan, 1)}, PAID, "fewer than two groups"),
        ({"paid": np.where(ROWS < 150, "", outcomes(200))}, PAID, "90 rows with a known 'paid'"),
        ({"sex": 1e20 * (1 + ROWS / 240)}, PAID, "2^53"),
        ({"sex": 1e-320 * (1 + ROWS)}, PAID, "underflow"),
        ({"luck,skill": 1}, ("-s", "luck,skill", "--columns", "a,b"), "columns= names 2"),
        ({}, (*PAID, "--weight", "luck"), "negative weight in 'luck'"),
        ({"luck": ""}, (*PAID, "--weight", "luck"), "240 of 240 rows have no weight in 'luck'"),
        ({"luck": 1e308}, (*PAID, "--weight", "luck"), "whose squares overflow"),
        ({}, (*PAID, "--weight", "sex"), "named twice, as sensitive and as weight"),
        ({}, (*PAID, "--person", "nobody"), "no column 'nobody'"),
        ({"luck": ROWS % 9}, (*PAID, "--person", "luck"), "9 rows of different people in 'luck'"),
        ({"luck": DATES}, (*PAID, "--score", "luck"), "has to be numbers, but it holds '2020-01-"),
        ({"luck": 1.5}, (*PAID, "--score", "luck"), "one value only"),
        (HALF_SCORED, (*PAID, "--score", "luck"), "is known for 0 people with sex = 'f'"),
        ({}, (*PAID, "--decision", "luck"), "but it must be binary"),
        ({}, (*SEX, "--above", "3"), "no target was named"),
        ({}, (*SEX, "--pos-label", "yes"), "no target was named"),
        ({}, (*PAID, "--above", "3"), "has to be numbers, but it holds"),
        ({}, (*SEX, "-t", "luck", "--above", "99"), "Only 0 rows of the target 'luck'"),
        ({}, (*PAID, "--max-gap", "500"), "from 0 to below 100 percentage points"),
    ],
)
def test_a_mistake_is_told_in_one_line(fairpca, columns, arguments, words):
    table = made_up_people(n=240)[["sex", "paid", "luck", "skill"]]
    table.assign(**columns).to_csv("people.csv", index=False)
    result = fairpca("audit", "people.csv", *arguments, "--quick", "--jobs", "1", "--quiet")
    assert_refused(result, words)


ODD = {
    "huge": {"luck": np.where(ROWS % 3, 1.7e308, -1.7e308)},  # no such number, to many programs
    "rare": {"luck": (ROWS < 12) * 1.0, "skill": 0},
    "the target is sex": {"paid": np.where(ROWS % 2, "yes", "no"), "sex": ROWS % 2},
    "infinite": {"luck": np.where(ROWS % 7, ROWS, np.inf)},
    "dates": {"luck": DATES, "skill": DATES[::-1]},
    "copies of sex": {"luck": ROWS % 2, "sex": np.where(ROWS % 2, "m", "f"), "skill": ROWS % 2},
}


@pytest.mark.parametrize("what", first_fast(ODD, fast=3))
def test_odd_tables_are_measured_all_the_same(fairpca, what):
    table = made_up_people(n=240)[["sex", "paid", "luck", "skill"]]
    table.assign(**ODD[what]).to_csv("people.csv", index=False)
    found_in(fairpca("audit", "people.csv", *PAID, *QUICK, "--n-components", "1"))


def test_columns_of_lists_can_be_left_out(fairpca):
    table = made_up_people(n=240)[["sex", "paid", "luck", "skill"]]
    table.assign(seen=[[i, i + 1] for i in ROWS // 2]).to_parquet("people.parquet")
    found = found_in(fairpca("audit", "people.parquet", *PAID, *QUICK, "--ignore", "seen"))
    assert {c["name"]: c["n_distinct"] for c in found["data"]["columns"]}["seen"] == 120


def test_a_first_line_of_data_is_explained_in_options(fairpca):
    made_up_people(n=240).to_csv("people.csv", index=False, header=False)
    refused = fairpca("audit", "people.csv", "-s", "sex")
    assert_refused(refused, "--columns", "--no-header", "--header")
    arguments = ("-s", "column_1", "--no-header", *QUICK)
    found = found_in(fairpca("audit", "people.csv", *arguments))
    assert set(counted(found, "column_1")) == {"f", "m"}
    assert "--no-header" in found["advice"]["command"]


def test_names_that_are_numbers_can_be_declared(fairpca):
    made_up_people(n=240).rename(columns={"n0": "2020"}).to_csv("people.csv", index=False)
    assert_refused(fairpca("audit", "people.csv", "-s", "sex"), "--header")
    found = found_in(fairpca("audit", "people.csv", "-s", "sex", "--header", *QUICK))
    assert kinds(found)["2020"] == "numeric"


def test_more_lines_than_there_are_cannot_be_left_out(fairpca):
    people()
    assert_refused(
        fairpca("audit", "people.csv", "-s", "sex", "--skip-lines", "999"),
        "empty after the first 999 line(s)",
    )


def test_options_for_texts_are_refused_for_parquet(fairpca):
    people().to_parquet("people.parquet")
    fit = ("fit", "people.csv", "-s", "sex", "--out", "model.fairpca")
    assert fairpca(*fit).exit_code == 0
    transform = ("transform", "model.fairpca", "people.parquet", "--out", "fair.csv", "-q")
    assert_refused(fairpca(*transform, "--skip-lines", "1"), "for text files")
    assert not os.path.exists("fair.csv")


def test_characters_that_command_terminals_are_not_printed(fairpca):
    people(n1=np.where(np.arange(240) == 200, "4\0\x1b[31m2", "1"))
    fit = ("fit", "people.csv", "-s", "sex", "--out", "model.fairpca")
    table = made_up_people(n=240)
    table.to_csv("clean.csv", index=False)
    assert fairpca("fit", "clean.csv", *fit[2:]).exit_code == 0
    result = fairpca("transform", "model.fairpca", "people.csv", "--out", "fair.csv", "-q")
    assert_refused(result, "has '4��[31m2' here")
    assert not os.path.exists("fair.csv")


def test_each_column_has_its_own_decimal_sign(fairpca):
    table = people()
    text = table.assign(a0=[f"{v:.3f}".replace(".", ",") for v in table["a0"]])
    text.to_csv("people.csv", index=False, sep=";")
    found = found_in(fairpca("audit", "people.csv", "-s", "sex", *QUICK))
    assert (kinds(found)["a0"], kinds(found)["a1"]) == ("numeric", "numeric")


def test_help_fits_a_narrow_terminal(fairpca, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = fairpca("audit", "--help").output.splitlines()
    start = next(i for i, line in enumerate(shown) if "Measures on held-out" in line)
    paragraph = shown[start : shown.index(next(s for s in shown[start:] if not s.strip()), start)]
    assert all(len(line.rstrip()) > 60 for line in paragraph[:-1])  # no line ends early


@posix
@pytest.mark.parametrize(("ending", "jobs"), [(signal.SIGINT, "1"), (signal.SIGTERM, "2")])
def test_an_interrupted_audit_leaves_nothing(tmp_path, ending, jobs):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    made_up_people(n=2000).to_csv(tmp_path / "people.csv", index=False)
    command = [sys.executable, "-m", "fairpca", "audit", "people.csv", "-s", "sex", "-t", "paid"]
    running = subprocess.Popen(
        [*command, "--json", "found.json", "--jobs", jobs],
        cwd=tmp_path,
        env={**os.environ, "JOBLIB_TEMP_FOLDER": str(temporary), "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(ending, signal.SIG_DFL),  # shells' background ignores it
    )
    first = running.stderr.readline()  # it has begun
    running.send_signal(ending)
    output, errors = running.communicate(timeout=60)
    assert first.startswith("Auditing: ")
    assert running.returncode == 128 + ending
    assert output == ""
    assert errors.splitlines()[-1] == "Interrupted; nothing was written."
    assert "Traceback" not in errors
    assert sorted(os.listdir(tmp_path)) == ["people.csv", "temporary"]
    assert os.listdir(temporary) == []
