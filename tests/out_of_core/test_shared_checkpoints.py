"""Fits that share a checkpoint by mistake do not take the drafts of each other."""

import os
import threading

import numpy as np
import pytest

from fairpca import FairPCA, ParquetRows
from fairpca._numerics import whole_files
from fairpca._rows.checkpoint import Checkpoint
from fairpca.errors import CheckpointError
from out_of_core.people_in_files import FEATURES, people, write_in_parts
from systems import posix

PLAIN = {"sensitive": "race", "features": FEATURES, "batch_rows": 20, "checkpoint_seconds": 0.0}


@pytest.fixture
def folder(tmp_path):
    return write_in_parts(people(600, missing=0), tmp_path / "d", [300], row_group_size=100)


def fit(folder, path):
    return FairPCA(2).fit(ParquetRows(folder, checkpoint=path, n_jobs=1, **PLAIN))


def test_fits_at_once_on_one_checkpoint_all_end(folder, tmp_path):
    path = tmp_path / "fit.checkpoint"
    whole, ended, failed = fit(folder, None).components_, [], []

    def work():
        try:
            ended.extend(fit(folder, path).components_ for _ in range(4))
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(ended) == 16
    for components in ended:
        np.testing.assert_array_equal(components, whole)


def test_a_draft_that_is_being_written_is_nobody_elses_to_remove(folder, tmp_path, monkeypatch):
    path, sync, removed = tmp_path / "fit.checkpoint", os.fsync, []

    def another_fit_ends(handle):
        Checkpoint(path).remove()
        removed.append(handle)
        sync(handle)

    monkeypatch.setattr(os, "fsync", another_fit_ends)
    fit(folder, path)
    assert len(removed) > 1


@posix
def test_a_draft_that_keeps_vanishing_tells_of_the_other_fit(folder, tmp_path, monkeypatch):
    path = tmp_path / "fit.checkpoint"

    def remove_all(handle):
        for draft in tmp_path.glob(".fit.checkpoint.*"):
            draft.unlink()

    monkeypatch.setattr(os, "fsync", remove_all)
    with pytest.raises(CheckpointError, match="another fit uses this checkpoint"):
        fit(folder, path)


@posix
def test_drafts_of_killed_processes_are_removed(folder, tmp_path, monkeypatch):
    left = tmp_path / ".fit.checkpoint.fairpca-abcd1234"
    left.write_bytes(b"half")
    fit(folder, tmp_path / "fit.checkpoint")
    assert not left.exists()
    monkeypatch.setattr(whole_files, "_lock", lambda *_, **__: False)  # a system without locks
    left.write_bytes(b"half")
    fit(folder, tmp_path / "fit.checkpoint")
    assert left.exists()
    os.utime(left, (0, 0))
    fit(folder, tmp_path / "fit.checkpoint")
    assert not left.exists()
