"""Columns of vectors, such as embeddings: read, encoded as one block, and added from a file."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

from fairpca import fit_table, load
from fairpca.errors import TableError
from fairpca.tables import (
    Table,
    TableEncoder,
    VectorColumn,
    check_columns,
    read_table,
    with_vectors,
)


@pytest.fixture
def embedded(rng):
    """People, and an embedding for each with dimensions of different spread; one never varies."""
    people = pd.DataFrame({"sex": rng.choice(["f", "m"], size=60), "age": rng.normal(size=60)})
    vectors = (rng.normal(size=(60, 6)) * [4, 2, 1, 1, 0.5, 0]).astype(np.float32)
    return people, vectors + np.float32(3)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def as_fixed_lists(vectors, kind=None):
    flat = pa.array(vectors.ravel(), type=kind)
    return pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])


def test_a_vector_stays_one_block_with_one_unit(embedded):
    people, vectors = embedded
    encoder = TableEncoder().fit(people[["age"]].assign(emb=list(vectors)))
    assert [(c.kind, c.n_outputs) for c in encoder.columns_] == [("numeric", 1), ("vector", 5)]
    assert encoder.get_feature_names_out().tolist() == ["age", *(f"emb_{i}" for i in range(5))]
    assert list(encoder.outputs_by_column["emb"]) == [1, 2, 3, 4, 5]
    X = encoder.transform(people[["age"]].assign(emb=list(vectors)))[:, 1:]
    unit = np.sqrt(vectors[:, :5].astype(float).var(axis=0).mean())
    np.testing.assert_allclose(X * unit, vectors[:, :5] - vectors[:, :5].mean(axis=0), atol=1e-5)
    assert np.isclose(X.var(axis=0).mean(), 1.0)


@pytest.mark.parametrize("write", ["parquet", "feather"])
@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
@pytest.mark.parametrize("fixed", [True, False])
def test_files_hold_vectors_of_every_precision_and_both_kinds_of_lists(
    embedded, tmp_path, write, kind, fixed
):
    people, vectors = embedded
    held = vectors.astype(np.dtype(kind.to_pandas_dtype()))
    column = as_fixed_lists(held, kind) if fixed else pa.array(list(held), pa.list_(kind))
    table, file = pa.table({"sex": people["sex"], "emb": column}), tmp_path / "people.any"
    writers = {"parquet": pa.parquet.write_table, "feather": pa.feather.write_feather}
    if write == "parquet" and kind == pa.float16() and fixed:
        table = table.cast(pa.schema([("sex", pa.string()), ("emb", pa.list_(kind, 6))]))
    writers[write](table, file)
    X = TableEncoder().fit_transform(read_table(file).frame[["emb"]])
    expected = TableEncoder().fit_transform(pd.DataFrame({"emb": list(vectors)}))
    np.testing.assert_allclose(X, expected, atol=5e-3 if kind == pa.float16() else 1e-6)


def test_other_libraries_of_tables_hold_vectors_too(embedded):
    polars = pytest.importorskip("polars")
    _, vectors = embedded
    encoder = TableEncoder().fit(pd.DataFrame({"emb": list(vectors)}))
    frame = polars.DataFrame({"emb": vectors})
    expected = encoder.transform(pd.DataFrame({"emb": list(vectors)}))
    np.testing.assert_array_equal(encoder.transform(frame), expected)


def test_lists_of_integers_are_texts_as_before():
    frame = pd.DataFrame({"tags": [[1, 2], [3, 4]] * 10})
    assert [c.kind for c in TableEncoder().fit(frame).columns_] == ["category"]


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1.0, 2.0], [1.0]], "vector of 1 numbers in row 2.*Leave out such rows"),
        ([None, [1.0, 2.0], [1.0]], "vector of 1 numbers in row 3.*Leave out such rows"),
        ([None, [1.0, 2.0], [np.nan, 1.0]], "infinite number in row 3.*Leave out such rows"),
        ([[1.0, 2.0], [np.nan, 1.0]], "missing or infinite number in row 2.*Leave out such rows"),
        ([[np.inf, 2.0], [2.0, 1.0]], "missing or infinite number in row 1.*Leave out such rows"),
        ([[], []], "vector of 0 numbers in row 1.*Leave out such rows"),
    ],
)
def test_vectors_that_cannot_be_compared_are_named_by_row(vectors, message):
    table = pa.table({"emb": pa.array(vectors, pa.list_(pa.float64()))})
    with pytest.raises(TableError, match=message):
        TableEncoder().fit(table)


def test_new_rows_have_vectors_of_the_same_length(embedded):
    _, vectors = embedded
    encoder = TableEncoder().fit(pd.DataFrame({"emb": list(vectors)}))
    with pytest.raises(TableError, match=r"3 numbers here, but of 6 when .* the same model"):
        encoder.transform(pd.DataFrame({"emb": list(vectors[:, :3])}))
    with pytest.raises(TableError, match=r"'emb' held vectors .* type .* fit again"):
        encoder.transform(pd.DataFrame({"emb": vectors[:, 0]}))


def test_a_model_of_an_earlier_version_has_no_vector_for_rows_without_one(embedded):
    encoder = TableEncoder().fit(pd.DataFrame({"emb": list(embedded[1])}))
    encoder.encoders_ = [VectorColumn("emb", 6)]  # as its file has it
    with pytest.raises(TableError, match=r"'emb' has no vector in row 2.*or fit again"):
        encoder.transform(pa.table({"emb": [embedded[1][0], None]}))


def test_nothing_is_said_of_single_dimensions(embedded):
    people, vectors = embedded
    copy = vectors.copy()
    copy[:, 0] = people["sex"] == "f"
    frame = people.assign(emb=list(copy))
    assert "emb" not in [notice.column for notice in check_columns(frame, ["sex"])]


def test_a_fingerprint_sees_every_number(embedded):
    people, vectors = embedded
    wide = np.tile(vectors, 400)  # of which numpy prints the first and last three
    other = wide.copy()
    other[30, 1200] += 1
    for absent in ([], [0], [59]):
        prints = []
        for values in (wide, wide, other):
            column = [None if i in absent else vector for i, vector in enumerate(values)]
            prints.append(Table.from_frame(people.assign(emb=column)).fingerprint)
        assert prints[0] == prints[1] != prints[2]


@pytest.mark.parametrize("method", ["leace", "fair_pca", "fair_pls"])
def test_models_of_tables_take_vectors_and_keep_them_in_their_files(embedded, tmp_path, method):
    people, vectors = embedded
    frame = people.assign(emb=list(vectors), paid=np.where(vectors[:, 0] > 3, "yes", "no"))
    model = fit_table(frame, "sex", "paid", method=method)
    T = np.asarray(model.transform(frame))
    model.save(tmp_path / "model.fairpca")
    np.testing.assert_array_equal(load(tmp_path / "model.fairpca").transform(frame), T)
    absent = frame.assign(emb=[None, *vectors[1:]])
    np.testing.assert_array_equal(
        load(tmp_path / "model.fairpca").transform(absent), model.transform(absent)
    )
    women = (people["sex"] == "f").to_numpy()
    np.testing.assert_allclose(T[women].mean(axis=0), T[~women].mean(axis=0), atol=1e-8)


def test_a_file_of_vectors_becomes_a_column(embedded, tmp_path):
    people, vectors = embedded
    people.to_csv(tmp_path / "people.csv", index=False)
    np.save(tmp_path / "emb.npy", vectors)
    table = read_table(tmp_path / "people.csv", vectors=tmp_path / "emb.npy")
    assert list(table.frame) == ["sex", "age", "emb"]
    np.testing.assert_array_equal(np.stack(table.frame["emb"]), vectors)
    assert table.reading["vectors"] == str(tmp_path / "emb.npy")
    other = read_table(tmp_path / "people.csv", vectors=2 * vectors)
    assert list(other.frame) == ["sex", "age", "vectors"]
    assert other.fingerprint != table.fingerprint
    people[["sex"]].to_parquet(tmp_path / "groups.parquet")
    alone = read_table(tmp_path / "groups.parquet", vectors=vectors)  # one column is enough beside
    assert list(alone.frame) == ["sex", "vectors"]


def test_tensors_are_vectors(embedded):
    torch = pytest.importorskip("torch")
    people, vectors = embedded
    plain = with_vectors(Table.from_frame(people), vectors)
    for kind in (torch.float32, torch.bfloat16):
        given = torch.from_numpy(vectors).to(kind).requires_grad_()
        table = with_vectors(Table.from_frame(people), given)
        got, expected = (np.stack(one.frame["vectors"]) for one in (table, plain))
        np.testing.assert_allclose(got, expected, rtol=1e-2)


def test_a_column_of_the_same_name_is_kept(embedded):
    people, vectors = embedded
    table = with_vectors(Table.from_frame(people.assign(vectors=1.0)), vectors)
    assert list(table.frame) == ["sex", "age", "vectors", "vectors (2)"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v[:50], "vectors has 50 rows, but the table has 60.* Pass one vector for each"),
        (lambda v: v[:, 0], r"shape \(60,\), but must have a row for .* array of 2 dimensions"),
        (lambda v: v[:, :0], r"shape \(60, 0\), but must .* array of 2 dimensions"),
        (lambda v: v.astype(int), r"holds int64 numbers, but .* astype\('float32'\)"),
        (lambda v: np.where(v == v[3, 0], np.nan, v), "in 1 of the rows 1 to 60, first in row 4"),
    ],
)
def test_arrays_that_do_not_fit_the_table_say_what_to_do(embedded, change, message):
    people, vectors = embedded
    with pytest.raises(TableError, match=message):
        with_vectors(Table.from_frame(people), change(vectors))


def test_files_that_hold_no_array_say_what_to_write(embedded, tmp_path):
    people, vectors = embedded
    table = Table.from_frame(people)
    (tmp_path / "text.npy").write_text("no array")
    np.savez(tmp_path / "several.npz", vectors=vectors)
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    (tmp_path / "empty.npy").write_bytes(b"")
    for name in ("text.npy", "several.npz", "objects.npy", "empty.npy"):
        with pytest.raises(TableError, match=r"no file of one array of numbers.*numpy.save"):
            with_vectors(table, tmp_path / name)
    with pytest.raises(TableError, match="There is no file"):
        with_vectors(table, tmp_path / "missing.npy")
