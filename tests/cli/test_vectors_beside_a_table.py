"""A file of vectors beside a table, on the command line: audited, fitted, transformed."""

import shlex

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.commands import run_command
from fairpca import Audit
from fairpca.auditing._recipes import audit_again
from fairpca.metrics import leakage

D, N_OLD, N_NEW = 12, 2000, 3000


def people(n, seed):
    """Return labels, and float32 vectors that lean towards the sex in one direction."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], size=n), "topic": rng.integers(3, size=n)})
    vectors = rng.normal(size=(n, D)) / np.sqrt(1 + np.arange(D))
    vectors[:, 0] += 2 * (frame["sex"] == "f")
    return frame, (vectors + 0.5).astype(np.float32)


def as_column(frame, vectors):
    flat = pa.array(vectors.ravel())
    lists = pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
    return pa.Table.from_pandas(frame).append_column("emb", lists)


def succeed(command):
    code, said = run_command(command)
    assert code == 0, said
    return said


def fail(command):
    code, said = run_command(command)
    assert code == 2, said
    assert len(said.strip().splitlines()) == 1
    return said


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with people to fit to, and new ones: labels and vectors, apart and in one file."""
    monkeypatch.chdir(tmp_path)
    for name, n, seed in (("old", N_OLD, 0), ("new", N_NEW, 1)):
        frame, vectors = people(n, seed)
        frame.to_csv(f"{name}.csv", index=False)
        np.save(f"{name}.npy", vectors)
        pq.write_table(as_column(frame, vectors), f"{name}.parquet")
    return tmp_path


@pytest.fixture
def fitted(folder):
    succeed(["fit", "old.csv", "--vectors", "old.npy", "-s", "sex", "-o", "model.fairpca"])
    return folder


@pytest.mark.parametrize("table", [["old.csv", "--vectors", "old.npy"], ["old.parquet"]])
def test_the_recommended_command_leaves_new_people_what_was_promised(folder, table):
    asked = ["audit", *table, "-s", "sex", "--ignore", "topic", "--quick", "-j", "1"]
    said = succeed([*asked, "--json", "found.json"])
    found = Audit.from_json((folder / "found.json").read_text("utf-8"))
    command = found.advice.command
    assert f"Apply   {command}" in said
    assert command.startswith(f"fairpca fit {table[0]}")
    assert ("--vectors old.npy" in command) == ("--vectors" in table)
    succeed(shlex.split(command)[1:])
    new = [word.replace("old", "new") for word in table]
    succeed(["transform", "model.fairpca", *new, "--out", "fair.npy"])
    fair = np.load("fair.npy")
    assert fair.dtype == np.float32
    frame, vectors = people(N_NEW, 1)
    sex = frame["sex"]
    promised = next(
        leak.auc
        for leak in found.leakage
        if (leak.representation, leak.probe) == (found.advice.representation, "linear")
    )
    left = leakage(fair, sex, probe="linear", random_state=0).auc
    assert promised.low <= left <= promised.high
    assert leakage(vectors, sex, probe="linear", random_state=0).auc > promised.high + 0.2


def test_vectors_beside_a_table_and_in_it_make_the_same_representation(fitted):
    succeed(["fit", "old.parquet", "-s", "sex", "-o", "other.fairpca"])
    ways = {
        "model.fairpca": ["new.csv", "--vectors", "new.npy"],
        "other.fairpca": ["new.parquet"],
    }
    made = []
    for model, table in ways.items():
        succeed(["transform", model, *table, "--out", f"{model}.npy"])
        made.append(np.load(f"{model}.npy"))
    np.testing.assert_array_equal(*made)
    succeed(["transform", "model.fairpca", "new.csv", "--vectors", "new.npy", "-o", "fair.parquet"])
    written = pq.read_table("fair.parquet")
    assert {str(kind) for kind in written.schema.types} == {"float"}
    np.testing.assert_array_equal(written.to_pandas().to_numpy(), made[0])


def test_vectors_alone_need_no_table(fitted):
    succeed(
        [
            "fit",
            "old.csv",
            "--vectors",
            "old.npy",
            *["-s", "sex", "--ignore", "topic", "-o", "m.fairpca"],
        ]
    )
    succeed(["transform", "m.fairpca", "new.npy", "--out", "fair.npy", "--double"])
    succeed(
        ["transform", "m.fairpca", "new.csv", "--vectors", "new.npy", "-o", "b.npy", "--double"]
    )
    assert np.load("fair.npy").dtype == np.float64
    np.testing.assert_array_equal(np.load("fair.npy"), np.load("b.npy"))
    kept = ["transform", "m.fairpca", "new.csv", "--vectors", "new.npy", "--keep", "topic"]
    succeed([*kept, "--out", "fair.csv"])
    frame, _ = people(N_NEW, 1)
    written = pd.read_csv("fair.csv")
    assert written["topic"].tolist() == frame["topic"].tolist()
    np.testing.assert_allclose(written.iloc[:, 1:], np.load("fair.npy"), rtol=1e-5, atol=1e-6)


TRANSFORM = ["transform", "model.fairpca"]
WRONG = {
    "has 3,000 rows, but the table has 2,000": [*TRANSFORM, "old.csv", "--vectors", "new.npy"],
    "has 2,000 rows, but the table has 3,000": [*TRANSFORM, "new.csv", "--vectors", "old.npy"],
    "has 2,000 rows, but the table has 3,000:": [*TRANSFORM, "new.feather", "--vectors", "old.npy"],
    "lacks 1 of the 2 columns": [*TRANSFORM, "new.csv"],
    "Add or rename them": [*TRANSFORM, "new.npy"],
    "would be a second one": [*TRANSFORM, "new.npy", "--vectors", "new.npy"],
    "has vectors of 5 numbers here, but of 12": [*TRANSFORM, "new.csv", "--vectors", "few.npy"],
    "in 1 of the rows 1 to 3,000, first in row 7": [*TRANSFORM, "new.csv", "--vectors", "nan.npy"],
    "holds int64 numbers": [*TRANSFORM, "new.csv", "--vectors", "whole.npy"],
    "no file of one array": [*TRANSFORM, "new.csv", "--vectors", "new.csv"],
    "There is no file 'old_new.npy'": [*TRANSFORM, "new.csv", "--vectors", "old_new.npy"],
    "lacks 0 of the columns of vectors": ["transform", "p", "new.csv", "--vectors", "new.npy"],
    "no place for the column 'sex'": [
        *[*TRANSFORM, "new.csv", "--vectors", "new.npy"],
        *["--keep", "sex", "--out", "out.npy"],
    ],
    "several files are named": ["fit", "old.csv", "new.csv", "--vectors", "old.npy", "-s", "sex"],
    "has 3,000 rows, but the table has 2,000:": [
        "fit",
        "old.csv",
        "--vectors",
        "new.npy",
        "-s",
        "sex",
    ],
    "is an array of NumPy": ["fit", "old.npy", "-s", "sex"],
}


@pytest.fixture
def mistakes(fitted):
    """Files that do not belong to what was fitted, or to each other."""
    frame, vectors = people(N_NEW, 1)
    frame.to_feather("new.feather")
    np.save("few.npy", vectors[:, :5])
    np.save("whole.npy", vectors.astype(int))
    vectors[6, 3] = np.nan
    np.save("nan.npy", vectors)
    frame.assign(age=vectors[:, 0]).to_csv("plain.csv", index=False)
    succeed(["fit", "plain.csv", "-s", "sex", "-o", "p"])
    return fitted


def test_what_does_not_fit_is_said_in_one_line_and_nothing_is_written(mistakes):
    before = sorted(path.name for path in mistakes.iterdir())
    for message, command in WRONG.items():
        out = [] if "--out" in command else ["--out", "out.parquet"]
        assert message.rstrip(":") in fail([*command, *out])
        assert sorted(path.name for path in mistakes.iterdir()) == before


def test_vectors_are_not_written_over(fitted):
    said = fail([*TRANSFORM, "new.csv", "--vectors", "new.npy", "--out", "new.npy", "--force"])
    assert "new.npy" in said
    assert len(np.load("new.npy")) == N_NEW


def test_an_audit_is_made_again_with_its_vectors(folder):
    asked = ["audit", "old.csv", "--vectors", "old.npy", "-s", "sex", "--ignore", "topic"]
    succeed([*asked, "--quick", "-j", "1", "--json", "found.json"])
    found = Audit.from_json((folder / "found.json").read_text("utf-8"))
    assert found.data.reading.vectors == "old.npy"
    assert "--vectors old.npy" in audit_again(found)
    assert "read_table('old.csv', vectors='old.npy')" in found.advice.code
    assert "has 3,000 rows, but the table has 2,000" in fail(
        [*asked[:3], "new.npy", *asked[4:], "--quick", "-f"]
    )
