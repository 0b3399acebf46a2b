"""A checkpoint is continued with the same encoder, attributes, kernel and files, or not at all."""

import os

import numpy as np
import pandas as pd
import pytest

from fairpca import CSVRows, FairKernelPCA, FairPCA, ParquetRows
from fairpca.errors import CheckpointError
from fairpca.peers import PCA, BalancedPCA
from fairpca.tables import TableEncoder
from out_of_core.people_in_files import FEATURES, people, write_in_parts
from out_of_core.test_checkpoints import Interrupted, interrupted_after

PLAIN = {"sensitive": "race", "features": FEATURES, "batch_rows": 50, "checkpoint_seconds": 0.0}


@pytest.fixture
def folder(tmp_path):
    return write_in_parts(people(600, missing=0), tmp_path / "d", [300], row_group_size=100)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.checkpoint"


def fit(folder, path, after=None, estimator=None, rows=ParquetRows, **how):
    progress = None if after is None else interrupted_after(after)
    given = rows(folder, checkpoint=path, progress=progress, **{**PLAIN, **how})
    return (FairPCA(2) if estimator is None else estimator).fit(given)


def encoder_of(seed):
    return TableEncoder().fit(people(200, seed=seed, missing=0)[FEATURES])


class Doubling:
    """An encoder that says nothing about itself."""

    def __init__(self, factor):
        self.factor = factor
        self.needed_columns = FEATURES

    def encode(self, arrays):
        return self.factor * np.stack([np.asarray(arrays[name]) for name in FEATURES], axis=1)

    def get_feature_names_out(self):
        return FEATURES


def test_another_encoder_with_the_same_names_is_refused(folder, path):
    how = {"features": None, "ignore": ["id", "age", "hired", "w"]}
    one, other = encoder_of(0), encoder_of(1)
    with pytest.raises(Interrupted):
        fit(folder, path, 300, encoder=one, **how)
    with pytest.raises(CheckpointError, match="not the same encoder or attributes"):
        fit(folder, path, encoder=other, **how)
    again = fit(folder, path, encoder=encoder_of(0), **how)
    np.testing.assert_array_equal(again.mean_, fit(folder, None, encoder=one, **how).mean_)


def test_an_encoder_that_cannot_be_told_from_another_needs_a_fingerprint(folder, path):
    with pytest.raises(CheckpointError, match=r"encoder=.*attribute `fingerprint`"):
        fit(folder, path, encoder=Doubling(2.0))
    fit(folder, None, encoder=Doubling(2.0))
    two, three = Doubling(2.0), Doubling(3.0)
    two.fingerprint, three.fingerprint = "two", "three"
    with pytest.raises(Interrupted):
        fit(folder, path, 300, encoder=two)
    with pytest.raises(CheckpointError, match="not the same encoder"):
        fit(folder, path, encoder=three)
    fit(folder, path, encoder=two)


@pytest.mark.parametrize("rows", [ParquetRows, CSVRows])
def test_attributes_that_are_computed_need_a_fingerprint(folder, path, tmp_path, rows):
    if rows is CSVRows:
        folder = tmp_path / "people.csv"
        people(600, missing=0).to_csv(folder, index=False)

    def older_than(limit):
        return lambda arrays: {"age": np.asarray(arrays["age"]).astype(float) >= limit}

    young, old = older_than(30), older_than(50)
    how = {"sensitive": "age", "rows": rows, "n_jobs": 1}
    with pytest.raises(CheckpointError, match=r"attributes=.*attribute `fingerprint`"):
        fit(folder, path, attributes=young, **how)
    fit(folder, None, attributes=young, **how)
    young.fingerprint, old.fingerprint = ">= 30", ">= 50"
    with pytest.raises(Interrupted):
        fit(folder, path, 300, attributes=young, **how)
    with pytest.raises(CheckpointError, match="not the same encoder or attributes"):
        fit(folder, path, attributes=old, **how)
    again = fit(folder, path, attributes=young, **how)
    np.testing.assert_array_equal(
        again.components_, fit(folder, None, attributes=young, **how).components_
    )


class Scaled:
    """A kernel with a number inside."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x, y):
        return self.factor * float(x @ y)


def by_kernel(kernel):
    return FairKernelPCA(2, kernel=kernel, approximation="nystroem", n_landmarks=20, random_state=0)


def test_a_kernel_that_is_a_function_needs_a_fingerprint_with_a_checkpoint(folder, path):
    kernel, told = Scaled(1.0), []
    fit(folder, None, estimator=by_kernel(kernel))
    rows = ParquetRows(folder, checkpoint=path, progress=lambda *n: told.append(n), **PLAIN)
    with pytest.raises(CheckpointError, match=r"^kernel is the function 'Scaled'.*`fingerprint`"):
        by_kernel(kernel).fit(rows)
    assert told == []  # refused before the rows are read for a sample
    kernel.fingerprint = "one"

    passes = []

    def in_the_second_pass(done, total):
        passes.append(done)
        if 600 in passes[:-1] and 300 < done < 600:
            raise Interrupted

    rows = ParquetRows(folder, checkpoint=path, progress=in_the_second_pass, **PLAIN)
    with pytest.raises(Interrupted):
        by_kernel(kernel).fit(rows)
    kernel.factor, kernel.fingerprint = 2.0, "two"
    with pytest.raises(CheckpointError, match="not the same parameters"):
        fit(folder, path, estimator=by_kernel(kernel))


def test_the_work_of_another_estimator_is_refused(folder, path):
    with pytest.raises(Interrupted):
        fit(folder, path, 300, estimator=PCA(2))
    with pytest.raises(CheckpointError, match="not the same parameters"):
        fit(folder, path, estimator=BalancedPCA(2))


def test_a_text_file_that_was_exchanged_for_one_of_the_same_size_and_time_is_refused(tmp_path):
    file, path = tmp_path / "people.csv", tmp_path / "fit.checkpoint"
    frame = pd.DataFrame(
        {"a": range(1000, 1600), "b": range(3000, 2400, -1), "race": list("xy") * 300}
    )
    frame.to_csv(file, index=False)
    before = file.stat()
    how = {"rows": CSVRows, "features": ["a", "b"], "estimator": FairPCA(1)}
    with pytest.raises(Interrupted):
        fit(file, path, 300, **how)
    frame.assign(a=frame["a"].iloc[::-1].to_numpy()).to_csv(file, index=False)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    with pytest.raises(CheckpointError, match=r"people\.csv' has changed since \(its content"):
        fit(file, path, **how)
