"""Dask computes late, once, where the rows are, and only small results come here."""

import pickle

import cloudpickle
import dask
import dask.array as da
import numpy as np
import pandas as pd

from clusters.lazy_people import (
    CHUNKS,
    D,
    N,
    lazy,
    lazy_frame,
    people,
    unknown_chunks,
    with_an_empty_partition,
)
from fairpca import FairKernelPCA, FairPCA
from fairpca.moments import collect_moments


def test_an_array_is_transformed_when_it_is_asked_for():
    X, s, _, _ = people()
    fair = FairPCA(3, tradeoff=0.5).fit(X.to_numpy(), sensitive_features=s["race"])
    with dask.config.set(scheduler=refusing):
        T = fair.transform(da.from_array(X.to_numpy(), chunks=(CHUNKS, 3)))
        unknown = fair.transform(unknown_chunks(X))
    assert T.chunks == (CHUNKS, (6,))
    assert T.dtype == T._meta.dtype == np.float64
    np.testing.assert_allclose(T.compute(), fair.transform(X.to_numpy()))
    np.testing.assert_allclose(unknown.compute(), fair.transform(X.to_numpy()))


def test_a_frame_is_transformed_when_it_is_asked_for():
    X, s, _, _ = people()
    X.index = pd.Index(np.arange(N) * 10, name="id")
    fair = FairPCA(2).fit(X, sensitive_features=s["race"].to_numpy())
    with dask.config.set(scheduler=refusing):
        T = fair.transform(lazy_frame(X))
    assert T.divisions == lazy_frame(X).divisions
    assert T.columns.tolist() == ["fairpca0", "fairpca1"]
    expected = pd.DataFrame(fair.transform(X), index=X.index, columns=T.columns)
    pd.testing.assert_frame_equal(T.compute(), expected)
    assert_columns_agree_with_the_meta(fair.transform(with_an_empty_partition(X)))


def assert_columns_agree_with_the_meta(frame):
    for part in frame.partitions:
        assert part.compute().dtypes.tolist() == frame.dtypes.tolist()


def refusing(*_, **__):
    raise AssertionError("computed too early")


def test_only_moments_come_to_the_client():
    sizes = []

    def watched(graph, keys, **options):
        results = dask.threaded.get(graph, keys, **options)
        sizes.append(len(pickle.dumps(results)))
        return results

    X, s = da.zeros((200_000, 4), chunks=10_000), da.arange(200_000, chunks=10_000) % 2
    table = da.concatenate([X + 1.0 * s[:, None], s[:, None]], axis=1)
    with dask.config.set(scheduler=watched):
        collect_moments(table, 4)
    assert len(sizes) == 1
    assert sizes[0] < 5_000


def test_what_the_tasks_need_to_know_is_in_one_task():
    large = []

    def watched(graph, keys, **options):
        large.append(tasks_of_size(graph, 50_000))
        return dask.threaded.get(graph, keys, **options)

    X = da.random.default_rng(0).normal(size=(2000, 14), chunks=100)
    table = da.concatenate([X, da.arange(2000, chunks=100)[:, None] % 2], axis=1)
    fair = FairKernelPCA(2, approximation="nystroem", n_landmarks=500, random_state=0)
    with dask.config.set(scheduler=watched):
        fair.fit(table, sensitive_features=14)
    assert fair.landmarks_.nbytes > 50_000
    assert large == [0, 1]  # a sample is drawn, then landmarks are used
    assert tasks_of_size(fair.transform(X), 50_000) == 1


def tasks_of_size(graph, size):
    graph = dict(graph.__dask_graph__() if dask.is_dask_collection(graph) else graph)
    return sum(len(cloudpickle.dumps(task)) > size for task in graph.values())


def test_every_partition_is_computed_once():
    computed = []

    def counted(block):
        computed.append(len(block))
        return block

    X, s, _, _ = people()
    table = X.assign(race=(s["race"] == "a") * 1)
    array = lazy(table).map_blocks(counted, meta=np.empty((0, 0)))
    FairPCA(2).fit(array, sensitive_features=D)
    assert sorted(computed) == sorted(CHUNKS)
    computed.clear()
    frame = lazy_frame(table).map_partitions(counted, meta=table[:0])
    FairPCA(2).fit(frame, sensitive_features="race")
    assert sorted(computed) == [75] * 4
