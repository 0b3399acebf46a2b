"""One table, every place where people keep it: the model and the audit are the same."""

import decimal
import json

import numpy as np
import pytest

from fairpca import audit, fit_table
from fairpca.errors import AuditError, TableError
from fairpca.io import _kept
from fairpca.tables import Table, TableEncoder, check_columns
from optional_libraries import duckdb
from optional_libraries import pandas as pd
from optional_libraries import polars as pl
from optional_libraries import pyarrow as pa
from slow import slow

ATTRIBUTES = ["sex", "race"]
IN_MEMORY_OR_IN_A_FILE = pytest.mark.parametrize("most_rows", [10, 10**6])


def people(n=400, seed=0):
    """People in columns of every kind that databases have, most of them with gaps."""
    rng = np.random.default_rng(seed)

    def gaps(values):
        return [None if rng.random() < 0.05 else value for value in values]

    sex = rng.choice(["f", "m"], n)
    height = rng.normal(size=n) + (sex == "m")
    seen = (np.datetime64("2020-01-01T00:00:00") + rng.integers(0, 10**7, n)).astype("M8[us]")
    cents = [decimal.Decimal(int(value)) / 100 for value in rng.integers(1000, 9999, n)]
    return pa.table(
        {
            "sex": pa.array(gaps(sex)),
            "race": pa.array(gaps(rng.choice(["x", "y", "z"], n))).dictionary_encode(),
            "height": pa.array(height),
            "single": pa.array(rng.normal(size=n).astype(np.float32)),
            "wage": pa.array(gaps(cents), pa.decimal128(10, 2)),
            "total": pa.array(rng.integers(0, 10**6, n)).cast(pa.decimal128(38, 0)),
            "rooms": pa.array(gaps(rng.integers(0, 9, n).tolist()), pa.int32()),
            "small": pa.array(rng.integers(0, 200, n), pa.uint8()),
            "owner": pa.array(gaps((rng.random(n) < 0.5).tolist())),
            "job": pa.array(gaps(rng.choice(["cook", "nurse", "smith"], n))),
            "town": pa.array(gaps(rng.choice(["North", "South"], n))).dictionary_encode(),
            "born": pa.array(gaps((seen - 10**15).astype("M8[D]").tolist()), pa.date32()),
            "seen": pa.array(seen),
            "zoned": pa.array(seen).cast(pa.timestamp("us", "UTC")),
            "clock": pa.array(rng.integers(0, 3, n) * 3_600_000_000, pa.time64("us")),
            "nothing": pa.nulls(n),
            "paid": pa.array(gaps(np.where(height + rng.normal(size=n) > 0, "yes", "no"))),
        }
    )


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "people.parquet"
    pytest.importorskip("pyarrow.parquet").write_table(people(), path)
    return str(path)


def dataset(path):
    return pytest.importorskip("pyarrow.dataset").dataset(path)


IN_BATCHES = {
    "lazy frame of polars": lambda path: pl.scan_parquet(path),
    "relation of DuckDB": lambda path: duckdb.sql(f"select * from '{path}'"),
    "Arrow reader": lambda path: pa.parquet.read_table(path).to_reader(70),
    "Arrow data set": lambda path: dataset(path),
    "Arrow scanner": lambda path: dataset(path).scanner(batch_size=90),
}
PLACES = {
    "pandas": lambda path: pd.read_parquet(path),
    "pandas with types of Arrow": lambda path: pd.read_parquet(path, dtype_backend="pyarrow"),
    "polars": lambda path: pl.read_parquet(path),
    "Arrow table": lambda path: pa.parquet.read_table(path),
    **IN_BATCHES,
}


def assert_same_model(found, expected, rows):
    names = [model.encoder_.get_feature_names_out().tolist() for model in (found, expected)]
    assert names[0] == names[1]
    np.testing.assert_allclose(found.transform(rows), expected.transform(rows), atol=1e-9)
    told = ("n_rows", "sensitive", "target", "groups", "group_notes", "notices")
    assert {k: found.info_[k] for k in told} == {k: expected.info_[k] for k in told}


@pytest.mark.parametrize("place", PLACES)
def test_the_model_is_that_of_the_parquet_file(parquet, place):
    found = fit_table(PLACES[place](parquet), ATTRIBUTES, "paid", n_components=3)
    expected = fit_table(parquet, ATTRIBUTES, "paid", n_components=3)
    rows = pd.read_parquet(parquet)
    assert_same_model(found, expected, rows)
    here = found.transform(PLACES[place](parquet))
    np.testing.assert_allclose(here, expected.transform(rows), atol=1e-9)


@pytest.fixture(scope="module")
def of_parquet(parquet):
    return measured(parquet)


def measured(table):
    """Return an audit without seconds, and without what it calls the table."""
    told = json.loads(audit(table, ATTRIBUTES, quick=True, n_jobs=1).to_json())
    del told["created"], told["seconds"], told["advice"]["code"], told["advice"]["command"]
    for representation in told["representations"]:
        del representation["fit_seconds"]
    for name in ("name", "source", "fingerprint"):
        del told["data"][name]
    return told


FAST = ["lazy frame of polars", "relation of DuckDB", "Arrow reader"]


@pytest.mark.parametrize("place", [p if p in FAST else slow(p) for p in PLACES])
def test_the_audit_is_that_of_the_parquet_file(parquet, of_parquet, place):
    assert measured(PLACES[place](parquet)) == of_parquet


@pytest.mark.parametrize("place", IN_BATCHES)
def test_a_large_table_is_kept_in_a_file_and_gives_the_same_model(
    parquet, place, monkeypatch, tmp_path
):
    monkeypatch.setattr(_kept, "MOST_ROWS", 150)
    monkeypatch.setattr(_kept, "BATCH_ROWS", 64)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    written = []
    write = _kept._write
    monkeypatch.setattr(_kept, "_write", lambda *given: (written.append(1), write(*given)))
    told = []
    found = fit_table(
        *(PLACES[place](parquet), ATTRIBUTES, "paid"),
        n_components=3,
        progress=lambda done, n, what: told.append((done, n)),
    )
    assert written == [1]
    assert told[-1] == (400, 400)
    assert list(tmp_path.iterdir()) == []
    assert found.info_["data"] == "table"
    assert "files" not in found.info_
    expected = fit_table(parquet, ATTRIBUTES, "paid", n_components=3)
    assert_same_model(found, expected, pd.read_parquet(parquet))


def test_bytes_count_as_well_as_rows(parquet, monkeypatch):
    monkeypatch.setattr(_kept, "MOST_BYTES", 1000)
    assert "sample_rows" in fit_table(dataset(parquet), ATTRIBUTES, n_components=2).info_


def test_labels_and_weights_go_with_the_rows_of_a_query(parquet):
    frame = pd.read_parquet(parquet)
    beside = {"y": frame["paid"], "sample_weight": np.arange(len(frame)) % 3 + 1.0}
    model = fit_table(frame, ATTRIBUTES, "paid", method="fair_pls")
    relation = duckdb.sql(f"select * exclude paid from '{parquet}'")
    found = type(model)(**model.get_params()).fit(relation, **beside)
    expected = type(model)(**model.get_params()).fit(frame.drop(columns="paid"), **beside)
    assert_same_model(found, expected, frame)


@pytest.mark.parametrize(
    "use",
    [
        lambda reader: fit_table(reader, "sex"),
        lambda reader: audit(reader, "sex"),
        Table.from_frame,
        lambda reader: TableEncoder().fit(reader),
        lambda reader: check_columns(reader, ["sex"]),
    ],
)
def test_a_reader_that_was_read_is_refused(parquet, use):
    reader = IN_BATCHES["Arrow reader"](parquet)
    fit_table(reader, ATTRIBUTES, n_components=2)
    with pytest.raises(TableError, match=r"RecordBatchReader has no rows\. It hands its rows over"):
        use(reader)


@IN_MEMORY_OR_IN_A_FILE
def test_a_query_that_fails_midway_is_told_in_one_line(monkeypatch, most_rows):
    monkeypatch.setattr(_kept, "MOST_ROWS", most_rows)
    wrong = "select (case when range = {} then 'q' else '1' end)::int a, 'f' sex from range(400000)"
    lazy = pl.LazyFrame({"a": ["q"] * 30}).with_columns(pl.col("a").cast(pl.Int64))
    for source in (duckdb.sql(wrong.format(0)), duckdb.sql(wrong.format(300000)), lazy):
        told = rf"{type(source).__name__} could not be read .*q.*Correct the query"
        for use in (fit_table, audit):
            with pytest.raises(TableError, match=told) as error:
                use(source, "sex")
            assert "\n" not in str(error.value)


def test_an_error_about_a_large_table_names_no_file_that_nobody_has_seen(parquet, monkeypatch):
    monkeypatch.setattr(_kept, "MOST_ROWS", 150)
    relation = duckdb.sql(f"select *, -small::int as w from '{parquet}'")
    with pytest.raises(TableError, match=r"of the DuckDBPyRelation: 395 of 400 rows") as error:
        fit_table(relation, "sex", weight="w")
    assert ".parquet" not in str(error.value)


def test_a_temporary_folder_without_room_is_named(parquet, monkeypatch):
    monkeypatch.setattr(_kept, "MOST_ROWS", 150)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pa.parquet, "ParquetWriter", full)
    with pytest.raises(TableError, match=r"No space left on device.*Set TMPDIR"):
        fit_table(dataset(parquet), "sex")


AS_IF = {  # a type that only databases have, and what it is the same as
    "hash(range, 5)::ubigint % 1000 * 10::hugeint ** 20": "(hash(range, 5) % 1000)::double * 1e20",
    "if(hash(range, 5) % 2 = 0, 170141183460469231731687303715884105727, range)": (
        "if(hash(range, 5) % 2 = 0, 1.7014118346046923e38, range)::double"
    ),
    "interval (range % 90) day + interval 3 hour": "(range % 90 * 86400 + 10800)::double",
    "interval (range % 4) year": "(range % 4 * 365.25 * 86400)::double",
    "if(range % 9 = 0, 'infinity', date '2020-01-01' + range::int)": (
        "if(range % 9 = 0, null, date '2020-01-01' + range::int)"
    ),
    "if(range % 9 = 0, '-infinity', timestamp '2020-01-01' + interval (range) hour)": (
        "if(range % 9 = 0, null, timestamp '2020-01-01' + interval (range) hour)"
    ),
    "if(range % 9 = 0, 'infinity', timestamp_s '2020-01-01 00:00:00' + interval (range) hour)": (
        "if(range % 9 = 0, null, timestamp '2020-01-01' + interval (range) hour)"
    ),
    "if(range % 9 = 0, 'infinity', timestamp_ns '2020-01-01 00:00:00' + interval (range) hour)": (
        "if(range % 9 = 0, null, timestamp '2020-01-01' + interval (range) hour)"
    ),
    "if(range % 3 = 0, union_value(n := 'x'), null)": "if(range % 3 = 0, 'x', null)",
}


@IN_MEMORY_OR_IN_A_FILE
@pytest.mark.parametrize("kind", AS_IF)
def test_types_that_only_databases_have_are_read_as_the_nearest_usual_one(
    kind, most_rows, monkeypatch
):
    monkeypatch.setattr(_kept, "MOST_ROWS", most_rows)
    rows = [
        f"select if(hash(range) % 2 = 0, 'f', 'm') as sex, hash(range, 1) % 50 as age, {one} as v "
        "from range(300)"
        for one in (kind, AS_IF[kind])
    ]
    found, expected = (fit_table(duckdb.sql(query), "sex", n_components=1) for query in rows)
    assert "v" in found.encoder_.needed_columns
    kinds = [
        [(c.name, c.kind, c.n_missing) for c in m.encoder_.columns_] for m in (found, expected)
    ]
    assert kinds[0] == kinds[1]
    here, there = (found.transform(duckdb.sql(query)) for query in rows)
    np.testing.assert_allclose(here, expected.transform(duckdb.sql(rows[1])), atol=1e-9)
    if not kind.startswith(("interval", "if(range % 3")):
        np.testing.assert_allclose(here, there, atol=1e-9)


@pytest.mark.parametrize(
    "kind", ["encode(range::varchar)", "'\\xFF\\x00'::blob", "{'a': range % 4}", "'01'::bit"]
)
def test_columns_of_types_that_have_no_encoding_do_not_end_a_fit(kind):
    query = (
        "select if(hash(range) % 2 = 0, 'f', 'm') as sex, range as n, hash(range, 1) % 9 as m, "
        f"if(range % 5 = 0, null, {kind}) as v from range(300)"
    )
    assert len(Table.from_frame(duckdb.sql(query)).frame) == 300
    assert fit_table(duckdb.sql(query), "sex", ignore="v", n_components=1).info_["n_rows"] == 300


@IN_MEMORY_OR_IN_A_FILE
@pytest.mark.parametrize("kind", ["float[3]", "float[]", "double[]"])
def test_rows_without_a_vector_are_average(kind, most_rows, monkeypatch):
    monkeypatch.setattr(_kept, "MOST_ROWS", most_rows)
    query = (
        "select if(hash(range) % 2 = 0, 'f', 'm') as sex, hash(range, 1) % 50 as age, "
        f"if(range % 7 = 0, null, [hash(range, 2) % 9, hash(range, 3) % 9, 1.5])::{kind} as v "
        "from range(300)"
    )
    encoder = fit_table(duckdb.sql(query), "sex", n_components=1).encoder_
    assert encoder.get_feature_names_out().tolist() == ["age", "v_0", "v_1", "v_missing"]
    encoded = encoder.transform(duckdb.sql(query))
    absent = np.arange(300) % 7 == 0
    np.testing.assert_allclose(encoded[absent, 1:3], 0, atol=1e-9)
    assert len(np.unique(encoded[absent, 3])) == len(np.unique(encoded[~absent, 3])) == 1
    polars = duckdb.sql(query).pl()
    np.testing.assert_allclose(encoder.transform(polars), encoded, atol=1e-9)
    known = np.array(polars["v"].drop_nulls().to_list())[:, :2]
    unit = np.sqrt(known.var(axis=0).mean() * np.mean(~absent))
    np.testing.assert_allclose(encoded[~absent, 1:3] * unit, known - known.mean(axis=0), atol=1e-9)


def test_a_relation_is_read_again_also_by_a_duckdb_that_hands_a_result_over_once():
    class Relation:  # as before DuckDB 1.3
        def __init__(self, query):
            self.query, self.result = query, duckdb.sql(query)

        def __arrow_c_stream__(self, schema=None):
            result, self.result = self.result, None
            if result is None:
                raise duckdb.InvalidInputException("Invalid Input Error: There is no query result")
            return result.__arrow_c_stream__()

        def select(self, what):
            return Relation(f"select {what} from ({self.query})")

    relation = Relation("select range as n from range(5)")
    for _ in range(3):
        assert Table.from_frame(relation).frame["n"].tolist() == [0, 1, 2, 3, 4]


def test_a_fit_that_fails_leaves_the_connection_free(monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pa.parquet, "ParquetWriter", full)
    monkeypatch.setattr(_kept, "MOST_ROWS", 10)
    connection = duckdb.connect()
    with pytest.raises(TableError) as error:  # which holds on to all that the fit had
        fit_table(connection.sql("select range as a, 'f' as sex from range(500_000)"), "sex")
    assert "No space left" in str(error.value)
    assert connection.sql("select 1").fetchall() == [(1,)]


@pytest.mark.parametrize("kind", ["[range % 2]", "{'a': range % 2}"])
@pytest.mark.parametrize("role", ["sensitive", "target", "decisions"])
def test_lists_and_structs_are_no_groups_outcomes_or_decisions(kind, role):
    table = duckdb.sql(
        f"select if(range % 2 = 0, 'f', 'm') as sex, range as n, {kind} as v from range(300)"
    )
    told = {"sensitive": "sex"} | {role: "v"}
    with pytest.raises((TableError, AuditError), match=r"'v'.*(several parts|must be binary)"):
        audit(table, **told)


def test_integers_that_only_polars_has_are_told():
    frame = pl.DataFrame({"sex": ["f", "m"], "a": pl.Series([1, 2]).cast(pl.Int128)})
    for source in (frame, frame.lazy()):
        with pytest.raises(TableError, match=r"i128") as error:
            fit_table(source, "sex")
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("use", [fit_table, audit])
@pytest.mark.parametrize("what", [lambda: 5, lambda: (1, 2), lambda: duckdb.connect()])
def test_what_is_no_table_is_told_which_are(use, what):
    with pytest.raises(TypeError, match=r"A table is needed.*con.sql.*was given"):
        use(what(), "sex")


@IN_MEMORY_OR_IN_A_FILE
def test_two_columns_of_one_name_are_told_apart(monkeypatch, most_rows):
    monkeypatch.setattr(_kept, "MOST_ROWS", most_rows)
    columns = [pa.array(["f", "m"] * 50), pa.array(range(100)), pa.array([1, 2, 4, 9] * 25)]
    table = pa.Table.from_arrays(columns, names=["sex", "age", "age"])
    model = fit_table(table.to_reader(), "sex", n_components=1)
    assert model.feature_names_in_.tolist() == ["age", "age (2)"]
