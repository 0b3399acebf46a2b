"""Files of any size, batch by batch: the same numbers, and whole files or none."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from fairpca import fit_table, load, save
from fairpca._maps import LinearMap
from fairpca.errors import TableError
from fairpca.models import transform_file
from fairpca.tables import TableEncoder, check_columns, read_table
from people import messy, nasty_csv

K = 4
FRAME = messy(900).assign(mixed=lambda f: f["mixed"].astype(str))


def model_of(encoder, k=K):
    rng = np.random.default_rng(0)
    D = len(encoder.mean_)
    made = LinearMap(
        rng.normal(size=(D, k)) / np.sqrt(D),
        mean=rng.normal(size=D),
        scale=rng.uniform(0.5, 2.0, D),
        offset=rng.normal(size=k),
    )
    names = [f"fair_{i}" for i in range(k)]
    return SimpleNamespace(encoder_=encoder, _map=made, get_feature_names_out=lambda: names)


@pytest.fixture(scope="module")
def model():
    return model_of(TableEncoder().fit(FRAME))


def new_rows():
    """Rows with unseen levels, texts and holes where there were none."""
    new = messy(1000, seed=1).assign(mixed=lambda f: f["mixed"].astype(str))
    new.loc[::7, "job"] = "astronaut"
    new.loc[::11, "sex"] = None
    new.loc[::13, "name"] = "nobody"
    new.loc[::17, "ratio"] = -np.inf
    return new


def write(frame, path):
    if path.name.endswith("parquet"):
        frame.to_parquet(path, row_group_size=300)
    elif path.name.endswith("feather"):
        pa.feather.write_feather(frame, path, chunksize=300)
    elif path.name.endswith(".tsv.gz"):
        frame.to_csv(path, sep="\t", index=False, encoding="utf-16")
    else:
        frame.to_csv(path, index=False)
    return path


def read(path):
    if path.name.endswith("parquet"):
        return pd.read_parquet(path)
    return pd.read_feather(path) if path.name.endswith("feather") else pd.read_csv(path)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("source", ["a.parquet", "a.feather", "a.csv", "a.csv.gz", "a.tsv.gz"])
def test_the_fused_result_is_that_of_encoder_and_map(tmp_path, model, source, dtype):
    new = new_rows()
    path = write(new, tmp_path / source)
    expected = model._map(model.encoder_.transform(new))
    out = tmp_path / "fair.parquet"
    assert transform_file(model, path, out, dtype=dtype, batch_rows=128) == len(new)
    found = pd.read_parquet(out)
    assert found.columns.tolist() == model.get_feature_names_out()
    assert set(found.dtypes) == {np.dtype(dtype)}
    size = np.abs(expected).max()
    tolerance = {"float32": 1e-6, "float64": 1e-12}[dtype] * size
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("out", ["b.parquet", "b.feather", "b.csv", "b.csv.gz"])
def test_every_format_can_be_written_and_columns_kept(tmp_path, model, out):
    path = write(FRAME, tmp_path / "a.parquet")
    transform_file(model, path, tmp_path / out, keep=["name", "age", "name"], batch_rows=256)
    found = read(tmp_path / out)
    assert found.columns.tolist() == ["name", "age", *model.get_feature_names_out()]
    assert found["age"].tolist() == FRAME["age"].tolist()
    assert found["name"].fillna("").tolist() == FRAME["name"].fillna("").tolist()
    expected = model._map(model.encoder_.transform(FRAME))
    np.testing.assert_allclose(found[model.get_feature_names_out()], expected, atol=2e-6)


def test_any_callable_is_a_map(tmp_path, model):
    path = write(FRAME, tmp_path / "a.parquet")
    tanh = SimpleNamespace(
        encoder_=model.encoder_,
        _map=lambda X: np.tanh(X[:, :2]),
        get_feature_names_out=lambda: ["a", "b"],
    )
    transform_file(tanh, path, tmp_path / "b.parquet", dtype="float64", batch_rows=100)
    expected = np.tanh(model.encoder_.transform(FRAME)[:, :2])
    np.testing.assert_array_equal(pd.read_parquet(tmp_path / "b.parquet"), expected)


def test_a_restored_model_streams_the_same_bytes(tmp_path):
    path = write(new_rows(), tmp_path / "a.csv")
    people = FRAME.assign(sex=np.arange(len(FRAME)) % 2)
    model = fit_table(people, "sex", n_components=K)
    save(model, tmp_path / "model.fairpca")
    for name, each in (("one", model), ("two", load(tmp_path / "model.fairpca"))):
        transform_file(each, path, tmp_path / f"{name}.feather", batch_rows=333)
    assert (tmp_path / "one.feather").read_bytes() == (tmp_path / "two.feather").read_bytes()


def test_batches_do_not_matter(tmp_path, model):
    path = write(new_rows(), tmp_path / "a.parquet")
    results = []
    for rows in (7, 64, 10_000):
        transform_file(model, path, tmp_path / "b.parquet", dtype="float64", batch_rows=rows)
        results.append(pd.read_parquet(tmp_path / "b.parquet").to_numpy())
    for result in results[1:]:
        np.testing.assert_allclose(result, results[0], rtol=0, atol=1e-12)


def test_progress_is_reported_with_the_total_where_it_is_known(tmp_path, model):
    seen = []
    path = write(FRAME, tmp_path / "a.parquet")
    transform_file(
        model, path, tmp_path / "b.csv", batch_rows=300, progress=lambda *x: seen.append(x)
    )
    assert seen == [(300, 900), (600, 900), (900, 900)]
    seen.clear()
    path = write(FRAME, tmp_path / "a.csv")
    transform_file(model, path, tmp_path / "b.csv", progress=lambda *x: seen.append(x))
    assert seen[-1] == (900, None)


def test_blanks_around_values_and_other_words_for_missing_do_not_matter(tmp_path):
    fitted = pd.DataFrame(
        {"a": [1.0, 2.0, 3.0, None], "b": ["x", "y", "z", None], "c": [True, False, True, True]}
    )
    model = model_of(TableEncoder().fit(fitted), k=2)
    path = tmp_path / "a.csv"
    path.write_text("a, b, c\n 1.0 , x, TRUE\n2, y ,false\n ?,NA, true \n", encoding="utf-8")
    transform_file(model, path, tmp_path / "b.csv", dtype="float64")
    same = pd.DataFrame({"a": [1.0, 2.0, None], "b": ["x", "y", None], "c": [True, False, True]})
    expected = model._map(model.encoder_.transform(same))
    np.testing.assert_allclose(pd.read_csv(tmp_path / "b.csv"), expected, atol=1e-12)
    pd.testing.assert_frame_equal(read_table(path).frame, same, check_dtype=False)


def test_files_divided_by_blanks_are_streamed_as_well(tmp_path):
    path = tmp_path / "german.data"
    path.write_text("A11 6 x\nA12 48 y\nA11 12 x\n", encoding="utf-8")
    how = {"columns": ["status", "months", "kind"]}
    frame = read_table(path, **how).frame
    model = model_of(TableEncoder().fit(frame), k=2)
    transform_file(model, path, tmp_path / "b.parquet", dtype="float64", batch_rows=2, **how)
    expected = model._map(model.encoder_.transform(frame))
    np.testing.assert_allclose(pd.read_parquet(tmp_path / "b.parquet"), expected, atol=1e-12)


def test_columns_with_the_same_name_are_those_of_read_table(tmp_path):
    table = pa.table([[1, 2, 3], ["x", "y", "x"], [5.0, 1.0, 2.0]], names=["a", "b", "a"])
    for name, store in (("a.parquet", pq.write_table), ("a.arrow", write_arrow)):
        store(table, tmp_path / name)
        frame = read_table(tmp_path / name).frame
        assert frame.columns.tolist() == ["a", "b", "a (2)"]
        model = model_of(TableEncoder().fit(frame), k=2)
        transform_file(model, tmp_path / name, tmp_path / "out.csv", dtype="float64")
        expected = model._map(model.encoder_.transform(frame))
        np.testing.assert_allclose(pd.read_csv(tmp_path / "out.csv"), expected, atol=1e-12)


def write_arrow(table, path):
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def test_a_built_in_data_set_can_be_streamed(tmp_path):
    loans = read_table("loanapp")
    model = model_of(TableEncoder().fit(loans.frame.drop(columns=["race", "sex", "approve"])), k=2)
    assert transform_file(model, "loanapp", tmp_path / "b.csv", keep=["race"]) == len(loans.frame)


@pytest.mark.parametrize("source", ["a.csv", "a.parquet"])
def test_a_bad_value_far_down_leaves_the_old_file_as_it_was(tmp_path, model, source):
    new = new_rows().astype({"age": str})
    new.loc[700, "age"] = "forty"
    path = write(new, tmp_path / source)
    out = tmp_path / "fair.csv"
    out.write_text("old", encoding="utf-8")
    with pytest.raises(TableError, match="forty") as error:
        transform_file(model, path, out, batch_rows=100)
    assert "age" in str(error.value)
    assert "\n" not in str(error.value)
    assert out.read_text(encoding="utf-8") == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([source, "fair.csv"])


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv.gz"])
def test_a_truncated_source_leaves_no_file(tmp_path, model, kind):
    path = write(FRAME, tmp_path / f"a.{kind}")
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(TableError, match=r"damaged|cut.off"):
        transform_file(model, path, tmp_path / "b.csv")
    assert [p.name for p in tmp_path.iterdir()] == [f"a.{kind}"]


def test_a_line_with_too_few_fields_leaves_no_file(tmp_path, model):
    path = write(FRAME, tmp_path / "a.csv")
    path.write_text(path.read_text(encoding="utf-8") + "1,2\n", encoding="utf-8")
    with pytest.raises(TableError, match="2 fields instead of 17"):
        transform_file(model, path, tmp_path / "b.csv")
    assert not (tmp_path / "b.csv").exists()


def test_what_cannot_be_done_is_said_before_the_work(tmp_path, model):
    path = write(FRAME, tmp_path / "a.parquet")
    with pytest.raises(TableError, match="endings"):
        transform_file(model, path, tmp_path / "b.xlsx")
    with pytest.raises(TableError, match="is the source itself"):
        transform_file(model, path, path)
    with pytest.raises(TableError, match="float16"):
        transform_file(model, path, tmp_path / "b.csv", dtype="float16")
    with pytest.raises(TableError, match=r"keep names 'Name'.*Did you mean 'name'"):
        transform_file(model, path, tmp_path / "b.csv", keep=["Name"])
    write(FRAME.drop(columns="age"), tmp_path / "c.csv")
    with pytest.raises(TableError, match="lacks 1 of"):
        transform_file(model, tmp_path / "c.csv", tmp_path / "b.csv")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(TableError, match="cannot be written"):
        transform_file(model, path, tmp_path / "file" / "b.csv")
    assert not (tmp_path / "b.csv").exists()
    assert path.stat().st_size > 1000


def test_a_progress_that_raises_stops_everything_and_leaves_no_file(tmp_path, model):
    path = write(FRAME, tmp_path / "a.parquet")

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        transform_file(model, path, tmp_path / "b.csv", batch_rows=50, progress=stop)
    assert [p.name for p in tmp_path.iterdir()] == ["a.parquet"]


@pytest.mark.parametrize("text", ["a;b\n1,5;x\n2,5;y\n-3,0;x\n", "a b\n1,5 x\n2,5 y\n-3,0 x\n"])
def test_decimal_commas_are_streamed_as_they_are_read(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    frame = read_table(path).frame
    assert frame["a"].tolist() == [1.5, 2.5, -3.0]
    model = model_of(TableEncoder().fit(frame), k=2)
    transform_file(model, path, tmp_path / "b.parquet", dtype="float64")
    expected = model._map(model.encoder_.transform(frame))
    np.testing.assert_allclose(pd.read_parquet(tmp_path / "b.parquet"), expected, atol=1e-12)


def test_a_nasty_file_goes_all_the_way(tmp_path):
    path = tmp_path / "nasty.csv"
    path.write_text(nasty_csv(), encoding="utf-8", newline="")
    table = read_table(path)
    assert table.renamed == (("mixed", "mixed (2)"),)
    assert table.frame["group"].value_counts()["tiny"] == 3
    notices = {(x.column, x.kind) for x in check_columns(table.frame, ["group"], "y")}
    assert {("id", "id"), ("constant", "constant"), ("empty", "empty")} <= notices
    features = table.frame.drop(columns=["group", "y"])
    encoder = TableEncoder().fit(features)
    kinds = {column.name: column.kind for column in encoder.columns_}
    assert kinds == {
        "id": "text",
        "mixed": "category",
        "mixed (2)": "numeric",
        "größe": "numeric",
        "constant": "constant",
        "empty": "empty",
        "free text": "text",
        "<script>alert(1)</script>": "category",
    }
    model = model_of(encoder)
    transform_file(model, path, tmp_path / "b.parquet", dtype="float64", keep=["id"])
    expected = model._map(encoder.transform(features))
    found = pd.read_parquet(tmp_path / "b.parquet")
    np.testing.assert_allclose(found[model.get_feature_names_out()], expected, rtol=0, atol=1e-11)
    assert found["id"].tolist() == table.frame["id"].tolist()


def embedded(n, seed):
    rng = np.random.default_rng(seed)
    people = pd.DataFrame({"sex": rng.choice(["f", "m"], size=n), "age": rng.normal(size=n)})
    return people, rng.normal(size=(n, 6)).astype(np.float32)


@pytest.mark.parametrize("name", ["beside", "vectors"])
def test_vectors_beside_a_file_are_the_column_that_it_lacks(tmp_path, name):
    people, vectors = embedded(90, 0)
    model = fit_table(people, "sex", vectors=vectors, n_components=2)
    new, given = embedded(50, 1)
    new.to_csv(tmp_path / "new.csv", index=False)
    np.save(tmp_path / f"{name}.npy", given)
    expected = np.asarray(model.transform(new.assign(vectors=list(given))))
    ways = {"array": given, "file": tmp_path / f"{name}.npy", "half": given.astype(np.float16)}
    for way, of in ways.items():
        for rows in (7, 1000):
            out = tmp_path / f"{way}.npy"
            how = {"dtype": "float64", "batch_rows": rows, "vectors": of}
            assert transform_file(model, tmp_path / "new.csv", out, **how) == 50
            np.testing.assert_allclose(
                np.load(out), expected, atol=5e-3 if way == "half" else 1e-12
            )


def test_an_array_is_transformed_batch_by_batch(tmp_path):
    people, vectors = embedded(90, 0)
    model = fit_table(people[["sex"]], "sex", vectors=vectors, method="leace")
    _, given = embedded(1234, 1)
    np.save(tmp_path / "new.npy", given)
    seen = []
    how = {"batch_rows": 100, "progress": lambda done, total: seen.append((done, total))}
    assert transform_file(model, tmp_path / "new.npy", tmp_path / "fair.npy", **how) == 1234
    assert seen[0] == (100, 1234)
    assert seen[-1] == (1234, 1234)
    fair = np.load(tmp_path / "fair.npy")
    assert fair.dtype == np.float32
    expected = np.asarray(model.transform(pd.DataFrame({"vectors": list(given)})))
    np.testing.assert_allclose(fair, expected, rtol=1e-5, atol=1e-6)
    transform_file(model, tmp_path / "new.npy", tmp_path / "fair.parquet")
    np.testing.assert_array_equal(pq.read_table(tmp_path / "fair.parquet").to_pandas(), fair)


def test_tables_become_arrays_too(model, tmp_path):
    source = write(new_rows(), tmp_path / "new.parquet")
    assert transform_file(model, source, tmp_path / "fair.npy", batch_rows=300) == 1000
    transform_file(model, source, tmp_path / "fair.feather")
    expected = pa.feather.read_feather(tmp_path / "fair.feather")
    np.testing.assert_array_equal(np.load(tmp_path / "fair.npy"), expected)


def test_vectors_of_a_model_without_any_are_refused(model, tmp_path):
    source = write(new_rows(), tmp_path / "new.csv")
    with pytest.raises(TableError, match=r"lacks 0 of the columns of vectors .* \(none\)"):
        transform_file(model, source, tmp_path / "fair.csv", vectors=np.ones((1000, 3)))
