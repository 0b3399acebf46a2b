"""What fuzzing found in tables: each crashed, or ended in somebody else's error."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from fairpca import fit_table
from fairpca.errors import TableError
from fairpca.io import CSVRows, ParquetRows
from fairpca.models import transform_file
from fairpca.moments import collect_moments
from fairpca.tables import read_table
from fuzzing.cases import numbered
from fuzzing.seed_models import people
from fuzzing.targets.text_tables import TextTables
from tables.streams import streamed


def moments(path, **how):
    return collect_moments(CSVRows(path, sensitive="sex", features=["age"], **how), None)


@pytest.fixture(scope="module")
def model():
    return fit_table(people()[["age", "job", "sex"]], "sex", n_components=2)


@pytest.mark.parametrize("read", [read_table, streamed, moments, lambda p: fit_table(p, "sex")])
@pytest.mark.parametrize(
    "damage",
    [lambda b: b[:-1], lambda b: b[:44] + b"\x00\xd8" + b[46:], lambda b: b + b"\x00\xdc\n\x00"],
    ids=["odd number of bytes", "half of a pair", "the other half at the end"],
)
def test_damaged_utf_16_is_refused(tmp_path, read, damage):
    path = tmp_path / "people.csv"
    people()[["age", "sex", "job"]].to_csv(path, index=False, encoding="utf-16")
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(TableError, match="not all text in UTF-16: line"):
        read(path)


def test_a_packed_file_is_known_by_its_bytes_in_a_stream_too(tmp_path, model):
    plain, packed = tmp_path / "plain.csv", tmp_path / "packed.csv"
    people()[["age", "job", "sex"]].to_csv(plain, index=False)
    packed.write_bytes(gzip.compress(plain.read_bytes()) + bytes(64))  # filled up, as tapes do it
    assert streamed(packed) == streamed(plain)
    for path in (plain, packed):
        transform_file(model, path, path.with_suffix(".parquet"))
    a, b = (pa.parquet.read_table(p.with_suffix(".parquet")) for p in (plain, packed))
    assert a.equals(b)
    files = [plain, packed]
    assert fit_table(files, "sex", n_components=1).info_["n_rows"] == 160


@pytest.mark.parametrize("read", [read_table, streamed, moments])
def test_a_packed_file_that_was_cut_off_is_refused(tmp_path, read):
    path = tmp_path / "people.csv.gz"
    people()[["age", "job", "sex"]].to_csv(path, index=False)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(TableError, match="cannot be unpacked"):
        read(path)


def feather(path, change):
    """Write a file whose second column has texts, after `change` of its bytes."""
    table = pa.table(
        {"age": np.arange(64.0), "job": ["cook", "nurse"] * 32, "sex": ["f", "m"] * 32}
    )
    pa.feather.write_feather(table, path, compression="uncompressed")
    path.write_bytes(change(path.read_bytes()))
    return path


def with_a_length_beyond_the_end(content):
    places = np.int32([0, 4, 9, 13]).tobytes()  # where texts end: cook, nurse, cook
    assert content.count(places) == 1
    return content.replace(places, np.int32([0, 4, 2**30, 2**30]).tobytes())


@pytest.mark.parametrize("read", [read_table, streamed, lambda p: fit_table(p, "sex")])
def test_a_feather_file_with_lengths_beyond_its_end_is_refused(tmp_path, read):
    with pytest.raises(TableError, match="damaged or cut-off arrow file"):
        read(feather(tmp_path / "x.feather", with_a_length_beyond_the_end))


@pytest.mark.parametrize("read", [read_table, streamed, lambda p: fit_table([p], "sex")])
def test_texts_that_are_none_are_refused(tmp_path, read):
    table = pa.table(
        {"age": np.arange(60.0), "job": ["abcdefgh", "b"] * 30, "sex": ["f", "m"] * 30}
    )
    path = tmp_path / "x.parquet"
    pa.parquet.write_table(table, path, compression="none")
    path.write_bytes(path.read_bytes().replace(b"abcdefgh", b"abc\xff\xfefgh"))
    with pytest.raises(TableError, match=r"damaged|is damaged"):
        read(path)


@pytest.mark.parametrize("read", [read_table, streamed, lambda p: fit_table([p], "sex")])
@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_names_that_are_no_texts_are_refused(tmp_path, read, kind):
    table = pa.table({"age": np.arange(60.0), "ninebyte": [1, 2] * 30, "sex": ["f", "m"] * 30})
    path = tmp_path / f"x.{kind}"
    if kind == "parquet":
        pa.parquet.write_table(table, path, store_schema=False)
    else:
        pa.feather.write_feather(table, path)
    path.write_bytes(path.read_bytes().replace(b"ninebyte", b"nine\xff\xfete"))
    with pytest.raises(TableError, match="damaged"):
        read(path)


def test_what_pandas_noted_in_a_file_is_not_believed(tmp_path):
    table = pa.table({"age": [1.0, 2.0], "sex": ["f", "m"]})
    table = table.replace_schema_metadata({"pandas": '{"columns": [\x07'})
    pa.parquet.write_table(table, tmp_path / "x.parquet")
    assert read_table(tmp_path / "x.parquet").frame["sex"].tolist() == ["f", "m"]


def test_a_column_that_pandas_cannot_hold_is_refused_in_words(tmp_path):
    nothing = pa.array([None, None], pa.null()).dictionary_encode()
    pa.feather.write_feather(pa.table({"a": nothing, "b": [1, 2]}), tmp_path / "x.feather")
    with pytest.raises(TableError, match="type that cannot be used"):
        read_table(tmp_path / "x.feather")


@pytest.mark.parametrize("kind", [pa.timestamp("us"), pa.timestamp("s"), pa.date32()])
def test_dates_that_python_does_not_have_are_unknown_levels(tmp_path, model, kind):
    far = pa.array([2**31 - 1, 0], pa.int32())
    far = far.view(pa.int32()) if kind == pa.date32() else far.cast(pa.int64())
    if kind == pa.timestamp("us"):
        far = pa.array([2**62, 0])
    table = pa.table({"age": [1.0, 2.0], "job": far.cast(kind), "sex": ["f", "m"]})
    pa.feather.write_feather(table, tmp_path / "x.feather")
    out = tmp_path / "out.parquet"
    assert transform_file(model, tmp_path / "x.feather", out) == 2
    assert np.isfinite(pa.parquet.read_table(out).to_pandas()).all(axis=None)


def test_a_kept_column_that_cannot_be_written_leaves_no_file(tmp_path, model):
    far = pa.array([10**17, 0]).cast(pa.timestamp("s"))
    table = pa.table({"age": [1.0, 2.0], "job": ["cook", "x"], "far": far})
    pa.feather.write_feather(table, tmp_path / "x.feather")
    with pytest.raises(TableError, match="cannot be written"):
        transform_file(model, tmp_path / "x.feather", tmp_path / "o.parquet", keep=["far"])
    assert [p.name for p in tmp_path.iterdir()] == ["x.feather"]


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_unnamed_columns_have_one_name_beside_an_index_too(tmp_path, kind):
    columns = [pa.array([7, 8]), pa.array([1.0, 2.0]), pa.array(["f", "m"])]
    table = pa.Table.from_arrays(columns, ["__index_level_0__", "", "sex"])
    path = tmp_path / f"x.{kind}"
    (pa.parquet.write_table if kind == "parquet" else pa.feather.write_feather)(table, path)
    assert streamed(path) == (read_table(path).frame.columns.tolist(), 2)


def test_infinite_attributes_are_refused_in_words(tmp_path):
    pa.parquet.write_table(
        pa.table({"age": [1.0, 2.0, 3.0], "sex": [0.5, np.inf, 1.5]}), tmp_path / "x.parquet"
    )
    with pytest.raises(ValueError, match="infinite"):
        collect_moments(ParquetRows(tmp_path / "x.parquet", sensitive="sex"), None)


def test_the_fuzzer_tells_encodings_and_repeats_names():
    """What was found slow or wrong in these would be found again."""
    target = TextTables()
    target.seeds = [b"age,job,sex\n1,a,f\n"]
    cases = [target.case(numbered(target.name, 0, index)) for index in range(300)]
    told = [case.about["how"].get("encoding") for case in cases]
    assert {"cp1252", "utf-16-le", "latin-1", None} < set(told)
    assert any(len(content.split(b"\n")[0].split(b",")) > 1000 for content in contents(cases))


def contents(cases):
    return [case.content for case in cases if not case.content.startswith(b"\x1f\x8b")]


@pytest.mark.parametrize(
    "read", [read_table, streamed, moments, lambda p, **how: fit_table(p, "sex", **how)]
)
def test_utf_16_without_its_mark_is_refused_where_that_was_told(tmp_path, read):
    path = tmp_path / "people.csv"
    people()[["age", "sex", "job"]].to_csv(path, index=False)
    with pytest.raises(TableError, match="not all text in UTF-16"):
        read(path, encoding="utf-16")
