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
    NAMES,
    columns_of,
    in_numbers,
    lazy,
    lazy_frame,
    one_table,
    people,
    unknown_chunks,
    with_an_empty_partition,
)
from fairpca import FairPCA
from fairpca.moments import collect_moments
from slow import first_fast

RACE = {"sensitive_features": "race"}


def same(lazily, in_memory, *, atol=1e-8, **options):
    """Fit both ways with the same options and compare what was learned."""
    options = {"n_components": 2, "missing_sensitive": "ignore", **options}
    apart, whole = (FairPCA(**options).fit(**given) for given in (lazily, in_memory))
    assert_same_subspace(apart.components_.T, whole.components_.T, atol=atol)
    np.testing.assert_allclose(apart.explained_variance_, whole.explained_variance_, rtol=10 * atol)
    assert apart.n_samples_seen_ == whole.n_samples_seen_
    return apart, whole


FRAMES = {
    "frame": lazy_frame,
    "one partition": lambda table: lazy_frame(table, 1),
    "an empty partition": with_an_empty_partition,
    "columns in another order": lambda table: lazy_frame(table)[
        [*list(table)[14:], *list(table)[:14]]
    ],
}
ARRAYS = {
    "array": lazy,
    "chunked columns": lambda table: da.from_array(table, chunks=(70, 3)),
    "unknown chunks": unknown_chunks,
    "frame without names": lambda table: lazy_frame(pd.DataFrame(table)),
}


@pytest.mark.parametrize("form", FRAMES)
def test_a_frame_gives_the_subspace_of_rows_in_memory(form):
    table = one_table(*people())
    lazily = {"X": FRAMES[form](table), **NAMES}
    same(lazily, columns_of(table), criterion="equal_opportunity", scale=True)


@pytest.mark.parametrize("form", ARRAYS)
def test_an_array_gives_the_subspace_of_rows_in_memory(form):
    table = one_table(*people())
    numbers, where = in_numbers(table)
    apart, _ = same(
        {"X": ARRAYS[form](numbers), **where},
        columns_of(table.assign(race=numbers[:, 14])),
        criterion="equal_opportunity",
        scale=True,
    )
    assert apart.groups_ == {"14": [0.0, 1.0, 2.0, 3.0], "15": "numeric"}


def test_covariances_are_matched_alike():
    X, s, _, w = people()
    is_a = s["race"] == "a"
    lazily = {"X": lazy_frame(X.assign(a=is_a, w=w)), "sensitive_features": "a"}
    given = {"X": X, "sensitive_features": is_a, "sample_weight": w}
    same({**lazily, "sample_weight": "w"}, given, match="covariances")


def test_columns_of_a_frame_may_be_the_attributes():
    X, s, _, _ = people()
    table = X.assign(race=s["race"].astype("category"))
    lazily = {"X": lazy_frame(table)}
    apart, _ = same(lazily, {"X": table}, sensitive_columns=["race"])
    assert apart.feature_names_in_.tolist() == list(table)
    np.testing.assert_allclose(apart.transform(lazy_frame(X)), apart.transform(table))


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_numbers_of_other_types_are_read_alike(dtype):
    X, s, _, _ = people()
    X = (10 * X).astype(dtype)
    # A block of float32 is multiplied in float32, and other blocks round otherwise.
    atol = 1e-6 if dtype == "float32" else 1e-8
    lazily = {"X": lazy_frame(X.join(s["race"])), **RACE}
    apart, _ = same(lazily, {"X": X, "sensitive_features": s["race"]}, atol=atol)
    expected = "float32" if dtype == "float32" else "float64"
    assert set(apart.transform(lazy_frame(X)).dtypes) == {np.dtype(expected)}


def test_wide_rows_are_read_alike():
    X, s, _, w = people(n=30, d=90)
    lazily = {"X": lazy_frame(X.assign(race=s["race"], w=w)), **RACE, "sample_weight": "w"}
    same(lazily, {"X": X, "sensitive_features": s["race"], "sample_weight": w})


def test_sparse_blocks_are_read_alike():
    X, s, _, _ = people()
    dense = np.where(X > 0.5, X, 0)
    sex = (s["race"] == "a").to_numpy(float)
    X, table = scipy.sparse.csr_matrix(dense), np.column_stack([sex, dense])
    blocks = lazy(table).map_blocks(scipy.sparse.csr_matrix)
    lazily = {"X": blocks, "sensitive_features": 0}
    apart, _ = same(lazily, {"X": X, "sensitive_features": sex})
    without = lazy(dense).map_blocks(scipy.sparse.csr_matrix)
    np.testing.assert_allclose(apart.transform(without).compute(), apart.transform(X))


def test_moments_and_batches_may_be_lazy():
    X, s, _, w = people()
    table = X.assign(race=s["race"], w=w)
    moments = collect_moments(lazy_frame(table), "race", sample_weight="w")
    assert_same_subspace(
        FairPCA(2).fit_moments(moments).components_.T,
        FairPCA(2).fit(X, sensitive_features=s["race"], sample_weight=w).components_.T,
    )
    fair = FairPCA(2).partial_fit(lazy_frame(X.join(s["race"])[:100]), **RACE)
    fair.partial_fit(X[100:], sensitive_features=s[["race"]][100:])
    whole = FairPCA(2).fit(X, sensitive_features=s["race"])
    assert_same_subspace(fair.components_.T, whole.components_.T)


@pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")  # Dask's own
def test_files_are_read_once_by_dask(tmp_path):
    X, s, _, _ = people()
    table = X.assign(race=s["race"])
    for i in range(10):
        table[30 * i : 30 * i + 30].to_parquet(tmp_path / f"{i}.parquet", index=False)
    scheduler = CountedRuns()
    with dask.config.set(scheduler=scheduler):
        same({"X": dd.read_parquet(tmp_path), **RACE}, {"X": X, "sensitive_features": s["race"]})
    assert scheduler.runs == 1


class CountedRuns:
    """A scheduler that counts how often it was asked."""

    runs = 0

    def __call__(self, graph, keys, **options):
        self.runs += 1
        return dask.threaded.get(graph, keys, **options)


@pytest.mark.parametrize("method", first_fast(["disk", "tasks"]))
def test_people_keep_their_groups_in_a_shuffle(method):
    """A merge leaves rows in any order, another one each time: columns of it stay together."""
    X, s, _, w = people()
    key = np.random.default_rng(1).permutation(len(X))
    features = dd.from_pandas(X.assign(key=key), npartitions=6, sort=False)
    others = s.assign(key=key, w=w).sample(frac=1, random_state=0)
    given = {"X": X, "sensitive_features": s["race"], "sample_weight": w}
    with dask.config.set({"dataframe.shuffle.method": method}):
        merged = features.merge(dd.from_pandas(others, npartitions=4, sort=False), on="key")
        rows = merged.drop(columns=["key", "age"])
        same({"X": rows, **RACE, "sample_weight": "w"}, given)


@pytest.mark.parametrize("given", ["race", ["race", "age"]])
def test_factors_are_columns_that_are_no_features(given):
    table = one_table(*people(n=600)).fillna({"age": 40.0})
    table["group"] = np.where(table["x2"] + table["age"] / 20 > 2.3, "a", "b")
    given = [given] if isinstance(given, str) else given
    rows = lazy_frame(table.drop(columns=["y", "w"] + ["age"] * (len(given) == 1)))
    apart = FairPCA(3).fit(rows, sensitive_features="group", given=given)
    X, factors = table[[c for c in table if c.startswith("x")]], table[given]
    whole = FairPCA(3).fit(X, sensitive_features=table["group"], given=factors)
    assert_same_subspace(apart.components_.T, whole.components_.T)
