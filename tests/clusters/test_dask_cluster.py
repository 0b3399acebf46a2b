"""A real cluster: worker processes, one of which is killed in the middle of a fit."""

import os
import signal
import threading
import time
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pytest
from distributed import Client, LocalCluster

from assertions import assert_same_subspace
from clusters.lazy_people import lazy, lazy_frame, people
from fairpca import FairKernelPCA, FairPCA
from fairpca.errors import MissingGroupError


@pytest.fixture(scope="module")
def client():
    """Return a client of two worker processes with one thread each, on this machine only."""
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def subspace(X, s, w=None, **options):
    return FairPCA(2, **options).fit(X, sensitive_features=s, sample_weight=w).components_.T


def test_worker_processes_give_the_subspace_of_rows_in_memory(client):
    X, s, _, w = people()
    whole = subspace(X, s["race"], w)
    assert_same_subspace(subspace(lazy_frame(X.assign(race=s["race"], w=w)), "race", "w"), whole)


def test_rows_that_are_on_the_workers_already_stay_there(client):
    X, s, _, w = people()
    whole = subspace(X, s["race"], w)
    table = client.persist(lazy_frame(X.assign(race=s["race"], w=w)))
    assert_same_subspace(subspace(table, "race", "w"), whole)
    codes = s["race"].astype("category").cat.codes
    array = client.persist(lazy(X.assign(race=codes, w=w)))
    assert_same_subspace(subspace(array, X.shape[1], X.shape[1] + 1), whole)


def test_every_partition_is_read_on_a_worker(client, tmp_path):
    folder = str(tmp_path)

    def noticed(block, block_info=None):
        number = block_info[0]["chunk-location"][0]
        Path(folder, str(number)).write_text(str(os.getpid()), encoding="utf-8")
        return block

    X, s, _, _ = people()
    blocks = lazy(X.assign(a=s["race"] == "a"), 50).map_blocks(noticed, meta=np.empty((0, 0)))
    subspace(blocks, X.shape[1])
    read_by = {path.name: int(path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()}
    assert sorted(read_by) == [str(i) for i in range(6)]
    assert set(read_by.values()) <= set(client.run(os.getpid).values())


def test_a_fit_survives_the_death_of_a_worker(client, tmp_path):
    folder = str(tmp_path)

    def slow(block):
        Path(folder, f"{os.getpid()}-{time.monotonic_ns()}").touch()
        time.sleep(0.25)
        return block

    X, s, _, w = people()
    victims = []

    def kill_a_worker():
        deadline = time.monotonic() + 20
        while len(readers(tmp_path)) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)  # until both are at work
        time.sleep(0.4)  # and have moments of some partitions
        victims.append(readers(tmp_path).pop())
        os.kill(victims[0], getattr(signal, "SIGKILL", signal.SIGTERM))  # Windows kills by both

    killer = threading.Thread(target=kill_a_worker)
    killer.start()
    table = lazy(X.assign(a=s["race"] == "a", w=w).astype(float), 30)
    blocks = table.map_blocks(slow, meta=np.empty((0, 0)))
    fair = FairPCA(2).fit(blocks, sensitive_features=X.shape[1], sample_weight=X.shape[1] + 1)
    killer.join()
    assert victims[0] not in client.run(os.getpid).values()
    assert len(list(tmp_path.iterdir())) > 10, "nothing was lost, so nothing had to be read again"
    assert_same_subspace(fair.components_.T, subspace(X, s["race"] == "a", w))
    assert fair.n_samples_seen_ == len(X)


def readers(folder):
    return {int(path.name.partition("-")[0]) for path in folder.iterdir()}


def test_errors_come_from_workers_as_themselves(client):
    X, s, _, _ = people()
    with pytest.raises(MissingGroupError, match="'age' is missing") as caught:
        subspace(lazy_frame(X.join(s["age"]), 10), "age")
    assert "of 10, counted from 0" in caught.value.__notes__[0]


def test_kernel_features_and_lazy_results_travel(client):
    X, s, _, _ = people()
    options = {"approximation": "nystroem", "n_landmarks": 40, "random_state": 0}
    table = lazy_frame(X.join(s["race"]))
    apart = FairKernelPCA(2, **options).fit(table, sensitive_features="race")
    whole = FairKernelPCA(2, **options).fit(X, sensitive_features=s["race"])
    T = apart.transform(client.persist(table))
    assert isinstance(T, dd.DataFrame)
    np.testing.assert_allclose(abs(T.compute()), abs(whole.transform(X)), atol=1e-8)
