"""Rows of Dask collections give the answer of the same rows in memory."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from assertions import assert_same_subspace
from clusters.lazy_people import (
    N,
    lazy,
    lazy_frame,
    people,
    unknown_chunks,
    with_an_empty_partition,
)
from fairpca import FairKernelPCA, FairPCA
from fairpca.moments import collect_moments
from fairpca.peers import PCA


def same(lazily, in_memory, *, atol=1e-8, **options):
    """Fit both ways with the same options and compare what was learned."""
    options = {"n_components": 2, "missing_sensitive": "ignore", **options}
    X, s, y, w = lazily
    apart = FairPCA(**options).fit(X, y, sensitive_features=s, sample_weight=w)
    X, s, y, w = in_memory
    whole = FairPCA(**options).fit(X, y, sensitive_features=s, sample_weight=w)
    assert_same_subspace(apart.components_.T, whole.components_.T, atol=atol)
    np.testing.assert_allclose(apart.explained_variance_, whole.explained_variance_, rtol=10 * atol)
    assert apart.n_samples_seen_ == whole.n_samples_seen_
    return apart, whole


FORMS = {
    "arrays": lambda X, s, y, w: (lazy(X), {c: lazy(s[c]) for c in s}, lazy(y), lazy(w)),
    "chunked columns": lambda X, s, y, w: (
        da.from_array(X.to_numpy(), chunks=(70, 3)),
        {c: lazy(s[c], 70) for c in s},
        lazy(y, 70),
        lazy(w, 70),
    ),
    "unknown chunks": lambda X, s, y, w: (
        unknown_chunks(X),
        {c: unknown_chunks(s[c])[:, 0] for c in s},
        unknown_chunks(y)[:, 0],
        unknown_chunks(w)[:, 0],
    ),
    "chunks of their own": lambda X, s, y, w: (
        lazy(X),
        {c: lazy(s[c], 40) for c in s},
        lazy(y, 130),
        lazy(w, N),
    ),
    "chunks of their own, X unknown": lambda X, s, y, w: (
        unknown_chunks(X),
        {"race": lazy(s["race"], 40), "age": lazy_frame(s, 3)["age"].to_dask_array()},
        lazy(y, 130),
        w,
    ),
    "frames": lambda X, s, y, w: (
        lazy_frame(X),
        lazy_frame(s),
        lazy_frame(pd.Series(y)),
        lazy_frame(pd.Series(w)),
    ),
    "frames of other partitions": lambda X, s, y, w: (
        lazy_frame(X),
        lazy_frame(s, 3),
        lazy_frame(pd.Series(y), 7),
        lazy_frame(pd.Series(w), 1),
    ),
    "frame and the rest in memory": lambda X, s, y, w: (lazy_frame(X), s, y, list(w)),
    "array and the rest in memory": lambda X, s, y, w: (lazy(X), dict(s), y, pd.Series(w)),
    "array and frames": lambda X, s, y, w: (
        lazy(X, (75,) * 4),
        lazy_frame(s),
        lazy(y, (75,) * 4),
        lazy_frame(pd.Series(w), 2),
    ),
    "an empty partition": lambda X, s, y, w: (
        with_an_empty_partition(X),
        with_an_empty_partition(s),
        with_an_empty_partition(pd.Series(y)),
        with_an_empty_partition(pd.Series(w)),
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_collection_of_any_form_gives_the_subspace_of_rows_in_memory(form):
    same(FORMS[form](*people()), people(), criterion="equal_opportunity", scale=True)


@pytest.mark.parametrize("criterion", ["demographic_parity", "equalized_odds"])
@pytest.mark.parametrize("missing", ["ignore", "group"])
def test_criteria_and_missing_values_are_treated_alike(criterion, missing):
    given = people()
    same(FORMS["arrays"](*given), given, criterion=criterion, missing_sensitive=missing)


def test_covariances_are_matched_alike():
    X, s, _, w = people()
    lazily = (lazy(X), lazy(s["race"] == "a"), None, lazy(w))
    same(lazily, (X, s["race"] == "a", None, w), match="covariances")


def test_columns_of_a_frame_may_be_the_attributes():
    X, s, _, _ = people()
    table = X.assign(race=s["race"].astype("category"))
    lazily = (lazy_frame(table), None, None, 2.0)
    apart, _ = same(lazily, (table, None, None, 2.0), sensitive_columns=["race"])
    assert apart.feature_names_in_.tolist() == list(table)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_numbers_of_other_types_are_read_alike(dtype):
    X, s, _, _ = people()
    X = (10 * X).astype(dtype)
    # A block of float32 is multiplied in float32, and other blocks round otherwise.
    atol = 1e-6 if dtype == "float32" else 1e-8
    given = (X, s["race"], None, None)
    apart, _ = same((lazy(X), lazy(s["race"]), None, None), given, atol=atol)
    assert apart.transform(lazy(X)).dtype == ("float32" if dtype == "float32" else "float64")


def test_the_yardstick_needs_no_attributes_here_either():
    X, *_ = people()
    apart, whole = PCA(2).fit(lazy(X)), PCA(2).fit(X.to_numpy())
    assert_same_subspace(apart.components_.T, whole.components_.T, atol=1e-8)


def test_wide_rows_are_read_alike():
    X, s, _, w = people(n=30, d=90)
    lazily = (lazy(X, 7), lazy(s["race"], 7), None, lazy(w, 7))
    same(lazily, (X, s["race"], None, w))


def test_sparse_blocks_are_read_alike():
    X, s, _, _ = people()
    X = scipy.sparse.csr_matrix(np.where(X > 0.5, X, 0))
    blocks = lazy(X.toarray()).map_blocks(scipy.sparse.csr_matrix)
    apart, _ = same((blocks, lazy(s["race"]), None, None), (X, s["race"], None, None))
    np.testing.assert_allclose(apart.transform(blocks).compute(), apart.transform(X))


@pytest.mark.parametrize("approximation", ["nystroem", "random_features"])
def test_kernel_features_are_drawn_and_used_alike(approximation):
    X, s, _, w = people()
    options = {"approximation": approximation, "n_landmarks": 40, "random_state": 1}
    lazily = {"sensitive_features": lazy(s["race"], 90), "sample_weight": lazy(w, 90)}
    apart = FairKernelPCA(2, **options).fit(lazy(X, 90), **lazily)
    whole = FairKernelPCA(2, **options).fit(X, sensitive_features=s["race"], sample_weight=w)
    T = apart.transform(lazy(X))
    assert isinstance(T, da.Array)
    np.testing.assert_allclose(abs(T.compute()), abs(whole.transform(X)), atol=1e-8)


def test_moments_and_batches_may_be_lazy():
    X, s, _, w = people()
    moments = collect_moments(lazy(X), lazy(s["race"]), sample_weight=lazy(w))
    assert_same_subspace(
        FairPCA(2).fit_moments(moments).components_.T,
        FairPCA(2).fit(X, sensitive_features=s["race"], sample_weight=w).components_.T,
    )
    fair = FairPCA(2).partial_fit(lazy(X)[:100], sensitive_features={"race": s["race"][:100]})
    fair.partial_fit(X.to_numpy()[100:], sensitive_features=s["race"][100:])
    whole = FairPCA(2).fit(X, sensitive_features=s["race"])
    assert_same_subspace(fair.components_.T, whole.components_.T)


@pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")  # Dask's own
def test_columns_of_a_parquet_file_are_paired_however_dask_would_read_them(tmp_path):
    X, s, _, _ = people()
    table = X.assign(race=s["race"])
    for i in range(10):  # small: Dask would read a single column in fewer, larger partitions
        table[30 * i : 30 * i + 30].to_parquet(tmp_path / f"{i}.parquet", index=False)
    frame = dd.read_parquet(tmp_path)
    assert len(frame["race"].to_delayed()) < frame.npartitions
    scheduler = CountedRuns()
    with dask.config.set(scheduler=scheduler):
        same((frame[list(X)], frame["race"], None, None), (X, s["race"], None, None))
    assert scheduler.runs == 1


class CountedRuns:
    """A scheduler that counts how often it was asked."""

    runs = 0

    def __call__(self, graph, keys, **options):
        self.runs += 1
        return dask.threaded.get(graph, keys, **options)
