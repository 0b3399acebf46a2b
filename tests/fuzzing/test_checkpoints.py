"""What fuzzing found in checkpoints: forged ones made fits hang, or end in others' errors."""

import hashlib
import json
import os

import numpy as np
import pandas as pd
import pytest
from fuzz.forged_models import Parts, put_together, taken_apart
from fuzz.targets.checkpoints import DIGITS, FIRST_LINE

from fairpca import FairPCA
from fairpca._rows.files import ParquetRows
from fairpca.errors import CheckpointError
from fuzzing.forgeries import entry, put
from systems import posix


class Stopped(Exception):
    pass


@pytest.fixture(params=[3, 20], ids=["matrix", "rows"])
def work(request, tmp_path):
    """Return how to fit, and the checkpoint that an interruption left."""
    rng, d = np.random.default_rng(0), request.param
    for i in (0, 1, 2):
        frame = pd.DataFrame(rng.normal(size=(6, d)), columns=[f"x{j}" for j in range(d)])
        frame["sex"] = np.resize(["f", "m"], 6)
        frame.to_parquet(tmp_path / f"{i}.parquet")
    path = tmp_path / "work.checkpoint"

    def stop(done, total):
        raise Stopped

    def fit(progress=None):
        rows = ParquetRows(
            [tmp_path / f"{i}.parquet" for i in (0, 1, 2)],
            sensitive="sex",
            checkpoint=path,
            checkpoint_seconds=0.0,
            batch_rows=6,
            n_jobs=1,
            progress=progress,
        )
        return FairPCA(1).fit(rows)

    with pytest.raises(Stopped):
        fit(stop)
    return fit, path


def forge(path, change):
    start = len(FIRST_LINE) + DIGITS + 1
    parts = taken_apart(path.read_bytes()[start:])
    inner = json.loads(json.dumps(parts.inner))
    change(inner)
    body = put_together(Parts(parts.outer, inner, parts.data), sign=False)
    digest = hashlib.sha256(body).hexdigest().encode()
    path.write_bytes(FIRST_LINE + digest + b"\n" + body)


def test_a_checkpoint_that_was_only_rewritten_is_continued(work):
    fit, path = work
    forge(path, lambda state: None)
    assert fit().n_samples_seen_ == 18
    assert not path.exists()


@pytest.mark.parametrize("count", [4, 10**6, -1, 2.5, "1", None, True, 10**30])
def test_a_count_of_parts_that_cannot_be_is_refused(work, count):
    fit, path = work
    forge(path, lambda state: put(state, "finished", count))
    with pytest.raises(CheckpointError, match="is damaged: it"):
        fit()


def total_of(state):
    """Return the moments of a checkpoint."""
    return entry(state, "total")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mean", None),
        ("mean", [1.0]),
        ("weight", -3.0),
        ("weight", {"$float": "nan"}),
        ("n_rows", 1.5),
        ("scatter", None),
        ("scatter", {"$record": "DenseScatter", "fields": {"matrix": None}}),
        ("scatter", {"$record": "RowScatter", "fields": {"pieces": [None], "mean": None}}),
        ("attributes", [3]),
        ("attributes", {"$tuple": [3]}),
        ("attributes", {"$tuple": [{"$record": "LevelMoments", "fields": {"name": "sex"}}]}),
    ],
)
def test_moments_whose_parts_do_not_fit_are_refused(work, name, value):
    fit, path = work
    forge(path, lambda state: put(total_of(state), name, value))
    with pytest.raises(CheckpointError, match="is damaged"):
        fit()


@pytest.mark.parametrize("value", [None, [], 3, {"$tuple": []}])
def test_another_question_of_any_kind_is_refused(work, value):
    fit, path = work
    forge(path, lambda state: put(state, "question", value))
    with pytest.raises(CheckpointError, match="is damaged"):
        fit()


def test_contents_without_end_are_refused(work):
    fit, path = work
    body = put_together(Parts({}, {}, b""), sign=False)
    deep = body.replace(b'"{}"', b'"' + b"[" * 50_000 + b'"')
    length = len(deep) - 8
    deep = length.to_bytes(8, "little") + deep[8:]
    digest = hashlib.sha256(deep).hexdigest().encode()
    path.write_bytes(FIRST_LINE + digest + b"\n" + deep)
    with pytest.raises(CheckpointError, match="is damaged"):
        fit()


@posix
def test_a_pipe_is_not_waited_for(work):
    fit, path = work
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(CheckpointError, match="no plain file"):
        fit()
