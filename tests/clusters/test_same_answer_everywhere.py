"""One question, every way rows can arrive: the subspace is the same.

Weights, two categorical attributes and a numeric one, missing values, and a level that only the
last rows have, so that most parts of a divided table have never heard of it.
"""

import importlib.util

import array_api_strict
import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse

from assertions import assert_same_subspace
from fairpca import FairPCA, FairPLS
from fairpca.moments import collect_moments
from slow import slow

N, D, K = 480, 12, 4
FEATURES = [f"x{j}" for j in range(D)]
ATTRIBUTES = ["race", "sex", "age"]
OPTIONS = {"missing_sensitive": "ignore", "criterion": "equalized_odds"}
PROJECTOR = 1e-8
SINGLE = 2e-5
"""Products of blocks of 480 rows in single precision; float64 adds them up."""


@pytest.fixture(scope="module")
def people():
    """A table: features of decaying size, attributes, an outcome and weights."""
    rng = np.random.default_rng(8)
    race = rng.choice(["a", "b"], N).astype(object)
    race[-60:] = "only in the last rows"
    table = pd.DataFrame(
        {"race": race, "sex": rng.integers(0, 2, N), "age": rng.uniform(20, 60, N)}
    )
    table["y"] = rng.integers(0, 2, N)
    table["w"] = rng.uniform(0.5, 2.0, N)
    X = rng.normal(size=(N, D)) * 2.0 ** -np.arange(D / 2, step=0.5) + rng.normal(size=D)
    X[:, 0] += table["race"] == "a"
    X[:, 2] += 0.02 * table["age"] + 0.3 * table["sex"]
    X[rng.random(X.shape) < 0.3] = 0.0  # so that a sparse matrix is worth its name
    table[FEATURES] = X.astype(np.float32)  # the same numbers in either precision
    table["race"] = table["race"].where(rng.random(N) > 0.05, None)
    table.loc[rng.random(N) < 0.05, "age"] = np.nan
    return table


def rows(table):
    """Return the features, and the other arguments of `fit`."""
    rest = {"sensitive_features": table[ATTRIBUTES], "sample_weight": table["w"].to_numpy()}
    return table[FEATURES].to_numpy(np.float64), {"y": table["y"].to_numpy(), **rest}


def numpy(table, folder):
    X, rest = rows(table)
    return X, rest


def float32(table, folder):
    X, rest = rows(table)
    return X.astype(np.float32), rest


def memmap(table, folder):
    X, rest = rows(table)
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r"), rest


def sparse(table, folder):
    X, rest = rows(table)
    return scipy.sparse.csr_array(X), rest


def pandas(table, folder):
    _, rest = rows(table)
    return table[FEATURES].astype(float), rest


def polars_frame(table, folder):
    frame = polars.from_pandas(table)
    rest = {"sensitive_features": frame[ATTRIBUTES], "sample_weight": frame["w"], "y": frame["y"]}
    return frame[FEATURES].cast(polars.Float64), rest


def arrow(table, folder):
    import pyarrow

    frame = pyarrow.Table.from_pandas(table.astype(dict.fromkeys(FEATURES, float)))
    rest = {"sensitive_features": frame.select(ATTRIBUTES), "sample_weight": frame["w"]}
    return frame.select(FEATURES), {"y": frame["y"], **rest}


def parquet(table, folder):
    from fairpca.io import ParquetRows

    double = table.astype(dict.fromkeys(FEATURES, float))
    for i, start in enumerate(range(0, N, 200)):
        part = double[start : start + 200]
        part.to_parquet(folder / f"{i}.parquet", row_group_size=70, index=False)
    return ParquetRows(folder, sensitive=ATTRIBUTES, target="y", weight="w", batch_rows=50), {}


def csv(table, folder):
    from fairpca.io import CSVRows

    double = table.astype(dict.fromkeys(FEATURES, float))  # singles are written in fewer digits
    for i, start in enumerate(range(0, N, 200)):
        double[start : start + 200].to_csv(folder / f"{i}.csv", index=False)
    files = f"{folder}/*.csv"
    return CSVRows(files, sensitive=ATTRIBUTES, target="y", weight="w", batch_rows=50), {}


def dask_array(table, folder):
    """An array, of which a frame with the attributes is made: by the labels of the rows."""
    import dask.array as da
    import dask.dataframe as dd

    X = da.from_array(table[FEATURES].to_numpy(float), chunks=((100, 1, 279, 100), 5))
    frame = dd.from_dask_array(X.rechunk({1: -1}), columns=FEATURES)
    frame = frame.join(dd.from_pandas(table[[*ATTRIBUTES, "y", "w"]], npartitions=3))
    return frame, {"sensitive_features": ATTRIBUTES, "sample_weight": "w", "y": "y"}


def dask_dataframe(table, folder):
    import dask.dataframe as dd

    frame = dd.from_pandas(table.astype(dict.fromkeys(FEATURES, float)), npartitions=5)
    return frame, {"sensitive_features": ATTRIBUTES, "sample_weight": "w", "y": "y"}


def spark_frame(table, folder):
    import pyarrow

    session = folder  # given instead of a folder
    double = table.astype(dict.fromkeys(FEATURES, float))
    frame = session.createDataFrame(pyarrow.Table.from_pandas(double, preserve_index=False))
    rest = {"sensitive_features": ATTRIBUTES, "sample_weight": "w", "y": "y"}
    return frame.repartitionByRange(4, "race"), rest


def strict(table, folder):
    X, rest = rows(table)
    return array_api_strict.asarray(X), rest


def torch(table, folder):
    import torch

    X, rest = rows(table)
    return torch.asarray(X), rest


ENGINES = {
    "numpy": numpy,
    "float32": float32,
    "memmap": memmap,
    "sparse": sparse,
    "pandas": pandas,
    "polars": polars_frame,
    "arrow": arrow,
    "parquet": parquet,
    "csv": csv,
    "dask array": dask_array,
    "dask dataframe": dask_dataframe,
    "spark": spark_frame,
    "array-api-strict": strict,
    "torch": torch,
}
NEEDS = {"dask array": "dask", "dask dataframe": "dask", "spark": "pyspark", "torch": "torch"}


@pytest.fixture(params=ENGINES)
def arrived(request, people, tmp_path):
    """The name of an engine, and the arguments of `fit` as it has them."""
    engine = request.param
    library = NEEDS.get(engine)
    if library is not None and importlib.util.find_spec(library) is None:
        pytest.skip(f"needs the extra {library!r}")
    place = request.getfixturevalue("spark") if engine == "spark" else tmp_path
    return engine, *ENGINES[engine](people, place)


@pytest.mark.parametrize("scale", [False, True])
def test_the_subspace_is_that_of_rows_in_memory(arrived, scale, people):
    engine, X, rest = arrived
    there = FairPCA(K, scale=scale, **OPTIONS).fit(X, **rest)
    X, rest = rows(people)
    here = FairPCA(K, scale=scale, **OPTIONS).fit(X, **rest)
    U, V = np.asarray(there.components_).T, here.components_.T
    assert_same_subspace(U, V, atol=SINGLE if engine == "float32" else PROJECTOR)
    assert there.constraint_rank_ == here.constraint_rank_
    assert there.n_samples_seen_ == N
    assert {a: set(map(str, v)) for a, v in there.groups_.items()} == {
        a: set(map(str, v)) for a, v in here.groups_.items()
    }
    assert there.mean_gap_ < (SINGLE if engine == "float32" else PROJECTOR)
    new = people[FEATURES].astype(float) if hasattr(there, "feature_names_in_") else X
    products = [np.asarray(T) @ np.asarray(T).T for T in (there.transform(new), here.transform(X))]
    np.testing.assert_allclose(*products, atol=1e-3 if engine == "float32" else 1e-6)


PLS = {
    "means": {"match": "means", "criterion": "equalized_odds", "scale": True},
    "covariances": {"match": "covariances", "missing_sensitive": "group"},
    "distributions": {"scale": True},
    "kernel": {"kernel": "rbf", "n_landmarks": N, "match": "covariances", "shrinkage": 0.1},
}
"""With as many landmarks as rows, everybody has the same ones."""


FAST = {"kernel": ["sparse", "parquet"], "means": set(ENGINES) - {"spark", "csv"}}
FAST["covariances"] = FAST["means"] - {"dask dataframe"}
"""Engines that are tried in these forms by the fast tests."""


@pytest.mark.parametrize(
    ("arrived", "form"),
    [
        (pytest.param if engine in FAST.get(form, ENGINES) else slow)(engine, form)
        for engine in ENGINES
        for form in PLS
    ],
    indirect=["arrived"],
)
def test_fair_pls_is_that_of_rows_in_memory(arrived, form, people):
    engine, X, rest = arrived
    options = {"missing_sensitive": "ignore", **PLS[form]}
    there = FairPLS(**options).fit(X, **rest)
    X, rest = rows(people)
    here = FairPLS(**options).fit(X, **rest)
    assert_same_scores(there, here, people, 2e-3 if engine == "float32" else 1e-7)


@pytest.mark.parametrize("criterion", ["equal_opportunity", "equalized_odds"])
@pytest.mark.parametrize("engine", ["parquet", "dask dataframe"])
def test_fair_pls_sees_rows_through_the_same_landmarks(engine, criterion, people, tmp_path):
    """Drawn from all groups alike, where few of the rows are: whatever rows are compared."""
    X, rest = ENGINES[engine](people, tmp_path)
    options = {"kernel": "rbf", "n_landmarks": 20, "random_state": 0, "criterion": criterion}
    options |= {"missing_sensitive": "ignore", "match": "means"}
    there = FairPLS(**options).fit(X, **rest)
    X, rest = rows(people)
    here = FairPLS(**options).fit(X, **rest)
    np.testing.assert_allclose(there.landmarks_, here.landmarks_)
    assert_same_scores(there, here, people, 1e-7)


PARTS = [slice(0, 1), slice(1, 130), slice(130, 420), slice(420, N)]


def by_batches(fair, arguments, parts):
    for part in parts:
        fair.partial_fit(**{name: value[part] for name, value in arguments.items()})
    return fair


def by_moments(fair, arguments, parts):
    how = ("criterion", "missing_sensitive")
    options = {name: getattr(fair, name) for name in how}
    options |= {"with_targets": True, "with_scatters": fair.match == "covariances"}
    return fair.fit_moments(
        sum(
            collect_moments(**{name: value[part] for name, value in arguments.items()}, **options)
            for part in parts
        )
    )


@pytest.mark.parametrize("by", [by_batches, by_moments])
@pytest.mark.parametrize("form", ["means", "covariances", "equal opportunity"])
@pytest.mark.parametrize("order", [1, -1], ids=["forwards", "backwards"])
def test_fair_pls_is_that_of_batches_that_saw_other_classes_and_levels(form, by, order, people):
    """Whichever class, level or fraction comes first."""
    sorted_people = people.sort_values("y", ascending=False, ignore_index=True)
    X, rest = rows(sorted_people)
    criterion = {"equal opportunity": {"match": "means", "criterion": "equal_opportunity"}}
    options = {"missing_sensitive": "ignore", **{**PLS, **criterion}[form]}
    here = FairPLS(**options).fit(X, **rest)
    there = by(FairPLS(**options), {"X": X, **rest}, PARTS[::order])
    assert_same_scores(there, here, sorted_people, 1e-9)


@pytest.mark.parametrize("form", ["means", "distributions"])
def test_fair_pls_takes_weights_as_repeated_rows(form, people):
    X, rest = rows(people)
    times = np.random.default_rng(0).integers(0, 4, N)
    # What depends on the number of rows: shrinkage, and covariances, divided by one less.
    fixed = {"shrinkage": 0.1, "covariance_penalty": 0.0}
    options = {"missing_sensitive": "ignore", **PLS[form], **fixed}
    rest["sample_weight"] = times.astype(float)
    weighted = FairPLS(**options).fit(X, **rest)
    again = np.repeat(np.arange(N), times)
    y, groups = rest["y"][again], rest["sensitive_features"].iloc[again].reset_index(drop=True)
    repeated = FairPLS(**options).fit(X[again], y, sensitive_features=groups)
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), rtol=0, atol=1e-9)


def assert_same_scores(there, here, people, atol):
    X, _ = rows(people)
    new = people[FEATURES].astype(float) if hasattr(there, "feature_names_in_") else X
    T, expected = np.asarray(there.transform(new)), here.transform(X)
    assert expected.std() == pytest.approx(1, abs=0.1)
    np.testing.assert_allclose(T, expected, rtol=0, atol=atol)
    np.testing.assert_allclose(
        np.asarray(there.explained_targets_), here.explained_targets_, atol=atol
    )
    assert there.targets_ == here.targets_ == {"y": [0, 1]}
    assert there.mean_gap_ < max(atol, 1e-9)
    if hasattr(here, "distribution_gap_"):
        assert there.distribution_gap_ == pytest.approx(here.distribution_gap_, abs=atol)
