"""Work that was interrupted goes on where it was; a checkpoint that does not fit is refused."""

import os
import random
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from fairpca import CSVRows, FairKernelPCA, FairPCA, FairPLS, ParquetRows, moments_from_parquet
from fairpca.errors import CheckpointError, FairPCAError
from out_of_core.people_in_files import (
    TOLD,
    people,
    same_bits,
    write_in_parts,
    write_parquet,
)
from systems import posix

HOW = {
    "missing_sensitive": "ignore",
    "checkpoint_seconds": 0.0,
    "batch_rows": 50,
    "criterion": "equalized_odds",
    **TOLD,
}


class Interrupted(Exception):
    """What a test raises in the middle of the work."""


def interrupted_after(rows):
    """Return a progress that stops the work when so many rows are added."""

    def progress(done, total):
        if done > rows:
            raise Interrupted

    return progress


@pytest.fixture
def folder(tmp_path):
    return write_in_parts(people(2000), tmp_path / "d", [300, 310, 1200], row_group_size=400)


@pytest.fixture
def stopped(folder, tmp_path):
    """Return the path of a checkpoint of half the work."""
    path = tmp_path / "fit.checkpoint"
    with pytest.raises(Interrupted):
        moments(folder, path, progress=interrupted_after(1000))
    return path


def moments(folder, checkpoint=None, **how):
    return moments_from_parquet(
        folder, **{"sensitive": ["race", "age"], **HOW, "checkpoint": checkpoint, **how}
    )


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("after", [0, 55, 301, 1111, 1900])
def test_interrupted_work_goes_on_with_the_same_bits(folder, tmp_path, n_jobs, after):
    path = tmp_path / "sub" / "fit.checkpoint"
    with pytest.raises(Interrupted):
        moments(folder, path, progress=interrupted_after(after), n_jobs=n_jobs)
    told = []
    again = moments(folder, path, progress=lambda *rows: told.append(rows), n_jobs=4 - n_jobs)
    assert same_bits(again, moments(folder))
    assert told[0][0] > after
    assert told[-1] == (2000, 2000)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("target", ["hired", "x3"], ids=["classes", "numbers"])
def test_targets_are_kept_in_a_checkpoint(folder, tmp_path, target):
    how = {"with_targets": True, "with_scatters": True, "criterion": "demographic_parity"}
    how |= {"target": target, "ignore": ["id", "x4"]}
    path = tmp_path / "fit.checkpoint"
    with pytest.raises(Interrupted):
        moments(folder, path, progress=interrupted_after(1000), **how)
    with pytest.raises(CheckpointError, match="parameters"):
        moments(folder, path, **{**how, "with_targets": False})
    again, whole = moments(folder, path, **how), moments(folder, **how)
    assert same_bits(again, whole)
    assert [a.name for a in again.targets] == [target]


def test_fair_pls_goes_on_from_a_checkpoint(folder, tmp_path):
    path, told = tmp_path / "fit.checkpoint", []
    reading = {"batch_rows": 50, "checkpoint_seconds": 0.0, **TOLD, "sensitive": ["race", "age"]}

    def fit(**how):
        rows = ParquetRows(folder, **reading, **how)
        return FairPLS(missing_sensitive="ignore", scale=True).fit(rows)

    with pytest.raises(Interrupted):
        fit(checkpoint=path, progress=interrupted_after(1000))
    again = fit(checkpoint=path, progress=lambda *rows: told.append(rows))
    assert told[0][0] > 1000
    np.testing.assert_array_equal(again.coef_, fit().coef_)
    assert not path.exists()


def test_work_that_a_user_stops_loses_nothing(folder, tmp_path):
    path = tmp_path / "fit.checkpoint"

    def stop(done, total):
        if done > 900:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        moments(folder, path, progress=stop, checkpoint_seconds=1e9)
    told = []
    again = moments(folder, path, progress=lambda *rows: told.append(rows))
    assert told[0][0] > 900
    assert same_bits(again, moments(folder))


def test_a_checkpoint_holds_rows_as_rows(tmp_path):
    frame = people(90, missing=0)[["race"]]
    frame[[f"y{j}" for j in range(70)]] = np.random.default_rng(0).normal(size=(90, 70))
    write_in_parts(frame, tmp_path / "d", [20, 40, 60], row_group_size=7)
    path = tmp_path / "wide.checkpoint"
    how = {"with_scatters": True, "batch_rows": 7, "checkpoint_seconds": 0.0}
    whole = moments_from_parquet(tmp_path / "d", "race", **how)
    for after in range(0, 89, 11):
        how["progress"] = interrupted_after(after)
        with pytest.raises(Interrupted):
            moments_from_parquet(tmp_path / "d", "race", checkpoint=path, **how)
        how["progress"] = None
        again = moments_from_parquet(tmp_path / "d", "race", checkpoint=path, **how)
        assert same_bits(again, whole)


def test_text_files_go_on_as_well(tmp_path):
    frame = people(1000)
    frame[:700].to_csv(tmp_path / "1.csv", index=False)
    frame[700:].to_csv(tmp_path / "2.csv.gz", index=False)
    path = tmp_path / "fit.checkpoint"

    def fit(progress=None, checkpoint=path):
        rows = CSVRows(
            [tmp_path / "1.csv", tmp_path / "2.csv.gz"],
            sensitive=["race", "age"],
            n_jobs=1,
            batch_rows=50,
            checkpoint=checkpoint,
            checkpoint_seconds=0,
            progress=progress,
            **TOLD,
        )
        return FairPCA(2, missing_sensitive="ignore").fit(rows)

    for after in (150, 800):
        with pytest.raises(Interrupted):
            fit(interrupted_after(after))
        np.testing.assert_array_equal(fit().components_, fit(checkpoint=None).components_)


def test_a_sample_of_rows_does_not_confuse_the_checkpoint(folder, tmp_path):
    path = tmp_path / "kernel.checkpoint"

    def fit(progress=None, checkpoint=path, seed=0):
        rows = ParquetRows(
            folder,
            sensitive=["race", "age"],
            batch_rows=50,
            checkpoint=checkpoint,
            checkpoint_seconds=0,
            progress=progress,
            **TOLD,
        )
        fair = FairKernelPCA(
            2,
            approximation="nystroem",
            n_landmarks=40,
            random_state=seed,
            missing_sensitive="ignore",
        )
        return fair.fit(rows)

    def in_the_second_pass(done, total):
        passes.append(done)
        if passes.count(2000) and passes[-1] != 2000 and done > 700:
            raise Interrupted

    whole = fit(checkpoint=None)
    with pytest.raises(Interrupted):
        fit(interrupted_after(700))
    np.testing.assert_array_equal(fit().dual_components_, whole.dual_components_)
    passes = []
    with pytest.raises(Interrupted):
        fit(in_the_second_pass)
    np.testing.assert_array_equal(fit().dual_components_, whole.dual_components_)
    passes.clear()
    with pytest.raises(Interrupted):
        fit(in_the_second_pass)
    with pytest.raises(CheckpointError, match="random_state"):
        fit(seed=1)


def refused(folder, path, match, **how):
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=match) as caught:
        moments(folder, path, **how)
    assert isinstance(caught.value, FairPCAError)
    assert isinstance(caught.value, ValueError)
    assert re.search(r"Delete it|another name", str(caught.value))
    assert path.read_bytes() == before


def test_a_flipped_bit_anywhere_is_found(folder, stopped):
    whole = stopped.read_bytes()
    places = random.Random(0).sample(range(len(whole)), 60)
    for place in [*range(90), *places, len(whole) - 1]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        stopped.write_bytes(damaged)
        refused(folder, stopped, "damaged|truncated|not a checkpoint|another version")


def test_a_truncated_checkpoint_is_found(folder, stopped):
    whole = stopped.read_bytes()
    for length in [0, 10, 30, 85, 86, 90, 200, len(whole) // 2, len(whole) - 1]:
        stopped.write_bytes(whole[:length])
        refused(folder, stopped, "truncated|damaged|not a checkpoint")
    stopped.write_bytes(whole + b"more")
    refused(folder, stopped, "damaged")


def test_a_file_that_is_no_checkpoint_is_left_alone(folder, tmp_path):
    for file in (folder / "part-000.parquet", write_parquet(people(9), tmp_path / "precious")):
        refused(folder, file, "is not a checkpoint of fairpca, and is left alone")


def test_another_question_is_refused(folder, stopped):
    refused(folder, stopped, "not the same parameters", criterion="demographic_parity")
    refused(folder, stopped, "not the same parameters", sensitive_kinds={"age": "categorical"})
    refused(folder, stopped, "not the same columns", sensitive=["race"], ignore=["id", "age"])
    refused(folder, stopped, "not the same features", ignore=["id", "x3"])
    refused(folder, stopped, "not the same features", dtype="float32")
    refused(folder, stopped, "not the same batch_rows", batch_rows=51)


def test_changed_files_are_refused(folder, stopped):
    refused([folder / "part-000.parquet"], stopped, "part-001.parquet', which is not among these")
    paths = sorted(folder.iterdir())
    refused(paths[::-1], stopped, "another order")
    later = write_parquet(people(30), folder / "part-009.parquet")
    refused(folder, stopped, "knows nothing of the file '.*part-009.parquet'")
    later.unlink()
    touched = folder / "part-001.parquet"
    found = touched.stat()
    os.utime(touched, ns=(found.st_atime_ns, found.st_mtime_ns + 1))
    refused(folder, stopped, "part-001.parquet' has changed since")
    write_parquet(people(10, seed=9), touched)
    refused(folder, stopped, "part-001.parquet' has changed since")


def test_a_place_that_cannot_be_written_to_is_told_at_once(folder, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(CheckpointError, match="cannot be"):
        moments(folder, tmp_path / "file" / "fit.checkpoint", progress=interrupted_after(0))


def test_an_error_in_the_data_leaves_the_checkpoint(folder, tmp_path):
    path = tmp_path / "fit.checkpoint"
    frame = people(300)
    frame.loc[299, "x3"] = np.inf
    write_parquet(frame, folder / "part-003.parquet")
    with pytest.raises(ValueError, match="'x3' is infinite"):
        moments(folder, path, checkpoint_seconds=1e9)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d", "fit.checkpoint"]
    with pytest.raises(ValueError, match="'x3' is infinite"):
        moments(folder, path)


FITS = """
import os, sys, time
import numpy as np
import pandas, pyarrow.parquet
from fairpca import FairPCA, ParquetRows

def progress(done, total):
    time.sleep(0.001)
    print("added", done, flush=True)

def fit(folder, checkpoint, out, n_jobs):
    rows = ParquetRows(
        folder, sensitive=["race", "age"], ignore=["id", "hired", "w"], batch_rows=50,
        checkpoint=checkpoint, checkpoint_seconds=0, progress=progress, n_jobs=int(n_jobs),
    )
    np.save(out, FairPCA(2, missing_sensitive="ignore").fit(rows).components_)

for line in sys.stdin:  # a process for each fit, but one import for all
    process = os.fork()
    if process == 0:
        fit(*line.split())
        os._exit(0)
    print("process", process, flush=True)
    print("ended", os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""


@posix
def test_a_fit_that_is_killed_ten_times_gives_the_same_bits(folder, tmp_path):
    """Each process is killed at a random moment after it began to add, and the next goes on."""
    write_in_parts(people(20_000), folder, [3000, 3010, 9000], row_group_size=2000)
    checkpoint, out = tmp_path / "fit.checkpoint", tmp_path / "components.npy"
    rng = random.Random(7)
    begun = []
    with subprocess.Popen(
        [sys.executable, "-c", FITS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        text=True,
    ) as fits:
        for kill in range(11):
            print(folder, checkpoint, out, 1 + kill % 2, file=fits.stdin, flush=True)
            told = {}
            while not {"process", "added"} <= set(told):
                what, number = fits.stdout.readline().split()
                told.setdefault(what, int(number))
            begun.append(told["added"])
            if kill < 10:
                enough = told["added"] + rng.randint(200, 1200)  # rows, however slow the machine
                while int(number) < enough or what != "added":
                    what, number = fits.stdout.readline().split()
                time.sleep(rng.uniform(0.0, 0.005))  # in the middle of anything
                os.kill(told["process"], signal.SIGKILL)
            while what != "ended":
                what, number = fits.stdout.readline().split()
            assert int(number) == (-signal.SIGKILL if kill < 10 else 0)
    assert begun == sorted(begun)
    assert begun[-1] > begun[0]
    told = {"sensitive": ["race", "age"], "ignore": ["id", "hired", "w"], "batch_rows": 50}
    whole = FairPCA(2, missing_sensitive="ignore").fit(ParquetRows(folder, **told))
    np.testing.assert_array_equal(np.load(out), whole.components_)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["components.npy", "d"]
