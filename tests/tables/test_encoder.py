"""Columns of any kind become finite, standardised numbers, on old rows and on new ones."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from skrub import StringEncoder, TableVectorizer

from fairpca import fit_table, load
from fairpca.errors import TableError, UsageError
from fairpca.io import CSVRows
from fairpca.models import transform_file
from fairpca.moments import collect_moments
from fairpca.tables import TableEncoder, check_columns, read_table
from fairpca.tables._dates_and_texts import TextColumn
from fairpca.tables._text_values import number
from people import EXPECTED_KINDS, messy


@pytest.fixture(scope="module")
def fitted():
    return TableEncoder().fit(messy())


def test_every_column_is_recognised_and_listed(fitted):
    assert {column.name: column.kind for column in fitted.columns_} == EXPECTED_KINDS
    by_name = {column.name: column for column in fitted.columns_}
    frame = messy()
    assert by_name["income"].n_missing == frame["income"].isna().sum()
    assert by_name["age"].n_distinct == frame["age"].nunique()
    assert by_name["🙂 <b>"].n_missing == (frame["🙂 <b>"] == "?").sum()
    assert by_name["job"].n_distinct == 3
    assert "infinite" in by_name["ratio"].note
    assert sum(column.n_outputs for column in fitted.columns_) == len(fitted.mean_)


def test_outputs_have_mean_zero_and_deviation_one_on_the_fitted_rows(fitted):
    X = fitted.transform(messy())
    assert X.dtype == np.float64
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(X.std(axis=0), 1, rtol=1e-10)
    names = fitted.get_feature_names_out()
    assert X.shape[1] == len(names) == len(set(names))


def test_what_is_missing_is_an_output_where_it_is_more_than_a_few(fitted):
    X = pd.DataFrame(fitted.transform(messy()), columns=fitted.get_feature_names_out())
    for name in ("income", "seen", "name", "job"):
        missing = messy()[name].isna()
        assert X.loc[missing, f"{name}_missing"].nunique() == 1
        assert X.loc[missing, f"{name}_missing"].iloc[0] > X.loc[~missing, f"{name}_missing"].max()
    assert "age_missing" not in X


def test_new_rows_with_all_that_can_go_wrong_are_finite(fitted):
    new = messy(200, seed=1)
    new["job"] = "astronaut"
    new["income"] = None
    new["age"] = new["age"].astype(str)
    new["name"] = "nobody has such a name ∞"
    new["ratio"] = np.nan
    new["nullable"] = new["nullable"].astype(float) * 1e300
    new["extra"] = "ignored"
    X = fitted.transform(new.sample(frac=1.0, axis=1, random_state=0))
    assert np.isfinite(X).all()
    one_by_one = np.vstack([fitted.transform(new.iloc[[i]]) for i in range(5)])
    np.testing.assert_allclose(one_by_one, X[:5], rtol=1e-12, atol=1e-12)


def test_columns_that_do_not_vary_are_not_needed_later(fitted):
    new = messy(50, seed=2).drop(columns=["constant", "empty"])
    assert fitted.transform(new).shape[0] == 50


def test_missing_columns_are_named_with_close_matches(fitted):
    new = messy(5).rename(columns={"income": "Income", "age": "zzz"})
    with pytest.raises(TableError, match=r"lacks 2 of .*'age', 'income' \(there is 'Income'\)"):
        fitted.transform(new)
    with pytest.raises(TableError, match=r"there is 'Income'"):
        fitted.transform(pa.Table.from_pandas(new.drop(columns="mixed")))


def test_a_text_among_numbers_is_refused_with_column_and_value(fitted):
    new = messy(5)
    new["age"] = ["30", "forty", "50", "", " 60 "]
    with pytest.raises(TableError, match=r"'age' held numbers .* has 'forty' here"):
        fitted.transform(new)
    new["age"] = ["30", "?", "50", "", " 60 "]
    assert np.isfinite(fitted.transform(new)).all()
    new["age"] = pd.date_range("2020", periods=5)
    with pytest.raises(TableError, match=r"'age' held numbers .* dates"):
        fitted.transform(new)


def test_a_text_among_dates_is_refused_with_column_and_value(fitted):
    new = messy(5)
    new["born"] = ["01/02/2020", None, "2020-02-01", "03/02/2020", ""]
    with pytest.raises(TableError, match=r"'born' held dates \(%d/%m/%Y\) .* has '2020-02-01'"):
        fitted.transform(new)


def test_dates_may_come_back_as_texts_and_in_another_time_zone(fitted):
    new = messy(50, seed=3)
    texts = new.assign(seen=new["seen"].map(lambda t: None if pd.isna(t) else t.isoformat()))
    np.testing.assert_array_equal(fitted.transform(new), fitted.transform(texts))
    moved = new.assign(zoned=new["zoned"].dt.tz_convert("Asia/Tokyo"))
    np.testing.assert_array_equal(fitted.transform(new), fitted.transform(moved))


def test_an_unseen_level_has_no_indicator_and_is_between_two():
    frame = pd.DataFrame({"two": list("aabbb"), "three": list("abcab")})
    encoder = TableEncoder().fit(frame)
    new = pd.DataFrame({"two": ["b", "z", None], "three": ["a", "z", None]})
    X = pd.DataFrame(encoder.transform(new), columns=encoder.get_feature_names_out())
    assert X["two_b"].iloc[0] > 0
    np.testing.assert_allclose(X["two_b"].iloc[1:], 0.0, atol=1e-15)
    lowest = encoder.transform(frame).min(axis=0)[1:]
    np.testing.assert_allclose(X.iloc[1:, 1:], [lowest, lowest])


def test_integer_levels_come_back_as_floats_or_texts(fitted):
    new = messy(50, seed=4)
    expected = fitted.transform(new)
    for change in (float, str, "category"):
        again = new.assign(declared=new["declared"].astype(int).astype(change))
        np.testing.assert_array_equal(fitted.transform(again), expected)


def test_outputs_with_the_same_name_are_told_apart():
    frame = pd.DataFrame({"a": ["b_c", "x", "y"], "a_b": ["c", "x", "y"]})
    names = TableEncoder().fit(frame).get_feature_names_out()
    assert sorted(names) == ["a_b_c", "a_b_c (2)", "a_b_x", "a_b_y", "a_x", "a_y"]


def test_polars_and_arrow_give_the_same_numbers_as_pandas():
    frame = messy().drop(columns=["mixed", "declared"])
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    expected = TableEncoder().fit_transform(frame)
    for other in (pl.from_arrow(arrow), arrow):
        np.testing.assert_array_equal(TableEncoder().fit_transform(other), expected)


def test_texts_of_numbers_and_huge_or_tiny_numbers_keep_their_order():
    frame = pd.DataFrame(
        {
            "huge": [10**30 * i for i in range(1, 9)],
            "vast": [1e300 * i for i in range(1, 9)],
            "vastest": [-1.7e308, *(1e307 * i for i in range(1, 6)), 1.6e308, 1.7e308],
            "all vast": [1e308 + 1e307 * i for i in range(1, 8)] + [1.79e308],
            "tiny": [1e-300 * i for i in range(1, 9)],
            "offset": [2**60 + 1000 * i for i in range(1, 9)],
        }
    )
    X = TableEncoder().fit_transform(frame)
    assert X.shape == (8, 6)
    assert (np.diff(X, axis=0) > 0).all()
    np.testing.assert_allclose(X.std(axis=0), 1)


def test_declared_levels_that_do_not_occur_are_not_levels():
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y", "x"], categories=["x", "y", "z"])})
    assert TableEncoder().fit(frame).get_feature_names_out().tolist() == ["a_y"]


def test_tables_with_nothing_to_encode_are_refused():
    with pytest.raises(TableError, match="Nothing varies in 'a', 'b', so"):
        TableEncoder().fit(pd.DataFrame({"a": [1, 1], "b": ["x", "x"]}))
    with pytest.raises(TableError, match="no rows"):
        TableEncoder().fit(pd.DataFrame({"a": []}))
    with pytest.raises(TableError, match="Two columns are called 'a'"):
        TableEncoder().fit(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(TypeError, match="ndarray was given"):
        TableEncoder().fit(np.eye(2))
    with pytest.raises(NotFittedError):
        TableEncoder().transform(pd.DataFrame({"a": [1]}))


def test_ten_thousand_strings_become_ten_numbers():
    frame = pd.DataFrame({"id": [f"applicant-{i * 7919 % 99_991:05d}" for i in range(10_000)]})
    encoder = TableEncoder()
    X = encoder.fit_transform(frame)
    assert X.shape == (10_000, 10)
    assert encoder.columns_[0].n_distinct == 10_000


def test_a_column_that_is_nearly_numeric_says_why_it_is_not():
    values = [str(i) for i in range(100)] + ["unknown", "a2", "b3", "c4", "d5", "e6"]
    encoder = TableEncoder().fit(pd.DataFrame({"a": values}))
    assert encoder.columns_[0].kind == "text"
    assert "'unknown'" in encoder.columns_[0].note


WRITTEN = {
    "thousands": [f"{1000 + 7.25 * i:,.2f}" for i in range(100)],
    "per cent": [f"{0.5 * i:.1f}%" for i in range(100)],
    "currency": [f"${i}" for i in range(100)],
    "negative": [f"({i})" if i % 2 else f"-$ {i}" for i in range(100)],
    "decimal comma": [f"{1000 + 7.25 * i:,.2f}".translate({44: ".", 46: ","}) for i in range(100)],
    "a mark": [str(i) if i % 10 else "." for i in range(100)],
    "a dash in few levels": ["1", "2", "-", "3", "2"] * 20,
    "a word": [f"{i}.5" if i else "refused" for i in range(100)],
}
MEANT = {
    "thousands": [1000 + 7.25 * i for i in range(100)],
    "per cent": [0.5 * i for i in range(100)],
    "currency": list(range(100)),
    "negative": [-i for i in range(100)],
    "decimal comma": [1000 + 7.25 * i for i in range(100)],
    "a mark": [i if i % 10 else np.nan for i in range(100)],
    "a dash in few levels": [1, 2, np.nan, 3, 2] * 20,
    "a word": [i + 0.5 if i else np.nan for i in range(100)],
}


@pytest.mark.parametrize("what", WRITTEN)
def test_numbers_as_people_write_them_are_numbers_and_said(tmp_path, what):
    people = {"sex": ["f", "m"] * 50, "age": np.random.default_rng(0).normal(size=100)}
    written = pd.DataFrame({"pay": WRITTEN[what], **people})
    meant = pd.DataFrame({"pay": MEANT[what], **people})
    encoder = TableEncoder().fit(written[["pay"]])
    expected = TableEncoder().fit(meant[["pay"]])
    X = expected.transform(meant)
    assert encoder.columns_[0].kind == "numeric"
    assert "read as numbers" in encoder.columns_[0].note or "count as missing" in (
        encoder.columns_[0].note
    )
    np.testing.assert_allclose(encoder.transform(written), X, atol=1e-9)
    np.testing.assert_allclose(encoder.transform(meant), X, atol=1e-9)  # numbers may come, too
    (notice,) = [n for n in check_columns(written, ["sex"]) if n.kind == "format"]
    assert notice.severity == "warning"
    assert encoder.columns_[0].note in notice.text
    written.to_csv(tmp_path / "1.csv", index=False, sep=";")
    written.to_csv(tmp_path / "2.csv", index=False, sep=";")
    models = [
        fit_table(table, "sex", n_components=1)
        for table in (meant, written, tmp_path / "1.csv", tmp_path)
    ]
    models[1].save(tmp_path / "model.fairpca")
    models.append(load(tmp_path / "model.fairpca"))
    T = models[0].transform(meant)
    for model in models[1:]:
        np.testing.assert_allclose(np.abs(model.transform(written)), np.abs(T), atol=1e-6)
        assert [text for text in model.info_["notices"] if text.startswith("'pay': ")]
        transform_file(model, tmp_path / "1.csv", tmp_path / "fair.csv", dtype="float64")
        fair = pd.read_csv(tmp_path / "fair.csv").to_numpy()
        np.testing.assert_allclose(np.abs(fair), np.abs(T), atol=1e-6)


def test_what_is_no_number_evidently_stays_what_it_is():
    for values in (["$1", "€2"], ["5%", "0.3"], ["1", "2", "3+"], ["-", "."], ["A1", "2", "."]):
        encoder = TableEncoder().fit(pd.DataFrame({"a": values * 10, "n": range(10 * len(values))}))
        assert encoder.columns_[0].kind == "category", values


def test_new_rows_may_have_other_words_where_words_were_missing_and_nowhere_else():
    lenient = TableEncoder().fit(pd.DataFrame({"a": WRITTEN["a word"]}))
    strict = TableEncoder().fit(pd.DataFrame({"a": WRITTEN["thousands"]}))
    new = pd.DataFrame({"a": ["1.5", "unknown", "-"]})
    assert lenient.transform(new)[1] == lenient.transform(new)[2]
    with pytest.raises(TableError, match="has 'unknown' here"):
        strict.transform(new)
    assert np.isfinite(strict.transform(new[["a"]].replace("unknown", "1,000"))).all()


@pytest.mark.parametrize("shape", [(3,), (2, 2), (3, 2, 1)])
def test_texts_whose_components_are_of_another_shape_are_refused(shape):
    column = TextColumn("job", ("a", "b", "c"), np.ones(3), np.ones(shape))
    assert not column._fits_together()
    assert TextColumn("job", ("a", "b", "c"), np.ones(3), np.ones((3, 2)))._fits_together()


def test_numbers_and_kinds_are_those_of_skrub():
    """Same kinds, same names, same values: skrub's to its single precision, standardised."""
    frame = messy(400).assign(job=lambda f: f["job"].str.strip())
    frame["ratio"] = frame["ratio"].replace(np.inf, 3.0)
    frame["declared"] = frame["declared"].cat.remove_unused_categories()
    frame["mixed"] = frame["mixed"].astype(str)
    theirs = TableVectorizer(
        cardinality_threshold=41, high_cardinality=StringEncoder(n_components=10, random_state=0)
    )
    expected = theirs.fit_transform(frame)
    words = {"numeric": "numeric", "datetime": "date", "low_cardinality": "category"}
    kinds = {c: words.get(kind, "text") for c, kind in theirs.column_to_kind_.items()}
    encoder = TableEncoder()
    X = encoder.fit_transform(frame)
    ours = pd.DataFrame(X, columns=encoder.get_feature_names_out())
    assert {**kinds, "constant": "constant", "empty": "empty"} == EXPECTED_KINDS
    compared = set()
    for name in expected:
        column = expected[name].astype(float)
        known = column.notna()  # skrub leaves holes; where there is a value it is the same
        if name in ours and column.std() > 0:
            a, b = ((x - x.mean()) / x.std() for x in (column[known], ours.loc[known, name]))
            np.testing.assert_allclose(a, b, atol=1e-5)
            compared.add(theirs.output_to_input_[name])
    assert compared == set(frame) - {"constant", "empty"}


@given(
    st.lists(st.one_of(st.none(), st.text(max_size=6), st.integers(), st.floats(), st.booleans()))
)
def test_a_column_of_anything_is_encoded_or_refused_in_words(values):
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object), "i": range(len(values))})
    try:
        encoder = TableEncoder()
        X = encoder.fit_transform(frame)
    except TableError:
        assert len(values) <= 1
        return
    assert np.isfinite(X).all()


def test_rows_of_a_larger_table_have_its_kinds_and_their_own_numbers(fitted):
    part = messy().iloc[:100]
    encoder = TableEncoder().fit(part, like=fitted)
    kinds = {c.name: c.kind for c in encoder.columns_}
    assert {name: kinds[name] for name in fitted.needed_columns if kinds[name] != "constant"} == {
        name: EXPECTED_KINDS[name] for name in fitted.needed_columns if kinds[name] != "constant"
    }
    np.testing.assert_allclose(encoder.transform(part).mean(axis=0), 0, atol=1e-10)
    assert np.isfinite(encoder.transform(messy())).all()


@pytest.mark.parametrize("empty", ["?", None])
def test_rows_without_a_value_are_empty_whatever_the_column_is(empty):
    columns = {"day": ["2024-01-02", "2024-03-04"], "n": ["1", "2"], "job": ["a", "b"]}
    whole = TableEncoder().fit(pd.DataFrame({**columns, "x": [1, 2]}))
    rows = pd.DataFrame({"day": [empty] * 2, "n": [empty] * 2, "job": [empty] * 2, "x": [1, 2]})
    encoder = TableEncoder().fit(rows, like=whole)
    assert [column.kind for column in encoder.columns_] == ["empty"] * 3 + ["numeric"]


@pytest.mark.parametrize(
    "values",
    [
        *(
            ["0x1F", "0x2A", "0X3b"],
            ["1e5", "12e3", "3E07"],
            ["+1", "-2", "3"],
            ["007", "010", "1"],
        ),
        *(["٣", "٤", "٥"], ["１２", "３", "4"], ["1_000", "2", "3"], ["inf", "1", "2"]),
        *(
            ["1e999", "1", "2"],
            ["9223372036854775808", "1", "2"],
            [".5", "1.", "2"],
            ["a3", "1", "2"],
        ),
    ],
)
def test_what_is_a_number_in_a_file_is_one_in_the_next(tmp_path, values):
    frame = pd.DataFrame({"x": values * 20, "sex": ["f", "m"] * 30, "y": range(60)})
    path, out = tmp_path / "people.csv", tmp_path / "fair.csv"
    frame.to_csv(path, index=False)
    read = read_table(path).frame
    whole, texts = (TableEncoder().fit(f[["x"]]) for f in (read, frame))
    assert whole.columns_[0].kind == texts.columns_[0].kind
    np.testing.assert_allclose(texts.transform(frame), whole.transform(read))
    np.testing.assert_allclose(whole.transform(frame), whole.transform(read))
    model = fit_table(path, "sex", n_components=1)
    assert transform_file(model, path, out, dtype="float64") == 60
    np.testing.assert_allclose(pd.read_csv(out).to_numpy(), model.transform(read), atol=1e-9)
    in_batches = fit_table([path], "sex", n_components=1)
    np.testing.assert_allclose(in_batches.transform(read), model.transform(read), atol=1e-9)
    rows = CSVRows(path, sensitive="sex", features=["x"])
    if whole.columns_[0].kind == "numeric" and "inf" not in map(str, map(number, values)):
        assert collect_moments(rows, None) is not None
    else:
        with pytest.raises(ValueError, match=r"is no number|infinite"):
            collect_moments(rows, None)


def test_adult_becomes_numbers(data_folder):
    adult = pytest.importorskip("fairpca_paper.datasets").load_adult(data=data_folder)
    encoder = TableEncoder()
    X = encoder.fit_transform(adult.features)
    assert X.shape[0] == 48_842
    kinds = {column.name: column.kind for column in encoder.columns_}
    assert kinds["native-country"] == "text"
    assert kinds["age"] == "numeric"
    assert "occupation_missing" in encoder.get_feature_names_out()


def test_each_output_belongs_to_the_column_whose_values_move_it(fitted):
    frame, before = messy(), fitted.transform(messy())
    where = fitted.outputs_by_column
    assert list(where) == fitted.needed_columns
    assert np.concatenate(list(where.values())).tolist() == list(range(before.shape[1]))
    for name, positions in where.items():
        turned = frame.assign(**{name: frame[name].to_numpy()[::-1]})
        if isinstance(frame[name].dtype, pd.CategoricalDtype | pd.DatetimeTZDtype):
            turned[name] = turned[name].astype(frame[name].dtype)
        changed = np.flatnonzero((fitted.transform(turned) != before).any(axis=0))
        assert changed.tolist() == positions.tolist()


@pytest.fixture(scope="module")
def weighed(fitted):
    weights = np.random.default_rng(0).normal(size=len(fitted.mean_))
    return weights, fitted.column_weights(weights)


def test_a_weight_is_what_one_more_of_a_column_adds_to_the_score(fitted, weighed):
    weights, rows = weighed
    frame = messy()[fitted.needed_columns]
    told = {(row.column, row.what): row.weight for row in rows}

    def score(**columns):
        return fitted.transform(frame.assign(**columns)) @ weights

    more = score(age=frame["age"] + 1) - score()
    np.testing.assert_allclose(more, told["age", "one more"], rtol=1e-9)
    truth = score(member=True) - score(member=False)
    np.testing.assert_allclose(truth, told["member", "true"], rtol=1e-9)
    nurse = score(job="nurse") - score(job="cook")
    np.testing.assert_allclose(nurse, told["job", "nurse"] - told["job", "cook"], rtol=1e-9)
    median = frame["income"].median()
    missing = score(income=np.nan) - score(income=median)
    np.testing.assert_allclose(missing, told["income", "missing"], rtol=1e-9)


def test_levels_are_weighed_against_the_average_row_and_effects_are_of_one_deviation(
    fitted, weighed
):
    weights, rows = weighed
    X, where = fitted.transform(messy()), fitted.outputs_by_column
    for name in ("sex", "job", "declared", "🙂 <b>"):
        scores = X[:, where[name]] @ weights[where[name]]
        values = [None if pd.isna(v) or v == "?" else str(v).strip() for v in messy()[name]]
        values = pd.Series(values, dtype=object)
        levels = [row for row in rows if row.column == name]
        assert len(levels) == values.nunique() + values.isna().any()
        for row in levels:
            there = values.isna() if row.kind == "missing" else values == row.what
            np.testing.assert_allclose(scores[there], row.weight, rtol=1e-9)
            unit = (there - there.mean()) / there.std(ddof=0)
            np.testing.assert_allclose(row.effect, np.mean(unit * scores), rtol=1e-9, atol=1e-12)
    effects = {row.what: row.effect for row in rows if row.column in ("age", "born")}
    assert effects["one more"] == weights[where["age"][0]]
    assert list(effects) == ["one more", "year", "month", "day", "total_seconds"]


def test_weights_of_another_number_of_outputs_are_refused(fitted):
    n = len(fitted.mean_)
    assert fitted.column_weights(np.ones((1, n))) == fitted.column_weights(np.ones(n))
    for shape in ((n - 1,), (2, n), ()):
        with pytest.raises(UsageError, match=f"the encoder has {n} outputs"):
            fitted.column_weights(np.ones(shape))
    with pytest.raises(NotFittedError):
        TableEncoder().column_weights([1.0])


def test_a_weight_per_unit_is_finite_also_of_a_column_of_tiny_numbers():
    fitted = TableEncoder().fit(pd.DataFrame({"tiny": [1e-313 * i for i in range(9)]}))
    (weight,) = fitted.column_weights([-2.0])
    assert weight.weight == -np.finfo(float).max
    assert weight.effect == -2.0


def test_dates_with_a_time_zone_are_what_the_clocks_there_show(tmp_path):
    """Midnight of New Year at +14:00 is the last day of the year before in UTC."""
    rng = np.random.default_rng(0)
    days = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 60, 200), "D"))
    offsets = np.where(np.arange(200) % 2, "+14:00", "-0330")
    texts = days.dt.strftime("%Y-%m-%dT%H:%M:%S") + pd.Series(offsets)
    written = pd.DataFrame({"day": texts, "n": range(200)})
    encoder, plain = TableEncoder().fit(written), TableEncoder().fit(written.assign(day=days))
    X, expected = encoder.transform(written), plain.transform(written.assign(day=days))
    names = encoder.get_feature_names_out().tolist()
    assert names == plain.get_feature_names_out().tolist()  # nobody has an hour but 0
    instants = names.index("day_total_seconds")
    others = [i for i in range(len(names)) if i != instants]
    np.testing.assert_allclose(X[:, others], expected[:, others], atol=1e-9)
    seconds = pd.to_datetime(texts, utc=True).astype("datetime64[s, UTC]").astype(np.int64)
    np.testing.assert_allclose(X[:, instants], (seconds - seconds.mean()) / seconds.std(ddof=0))
    one = written[1::2]
    as_times = one.assign(day=pd.to_datetime(one["day"]))  # of the type of that time zone
    np.testing.assert_allclose(encoder.transform(as_times), X[1::2], atol=1e-9)
    np.testing.assert_allclose(
        TableEncoder().fit(as_times).transform(as_times),
        TableEncoder().fit(one).transform(one),
        atol=1e-9,
    )
    model = fit_table(written.assign(sex=["f", "m"] * 100), "sex", n_components=2)
    model.save(tmp_path / "model.fairpca")
    np.testing.assert_array_equal(
        load(tmp_path / "model.fairpca").transform(written), model.transform(written)
    )
