"""The same rows in memory and as Dask collections, divided in many ways."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

N, D = 300, 14
CHUNKS = (100, 1, 0, 149, 50)
NAMES = {"y": "y", "sensitive_features": ["race", "age"], "sample_weight": "w"}
"""Which columns of a table of people are no features."""


def people(n=N, d=D, seed=0):
    """Features, attributes (one numeric, with missing values), labels and weights."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"x{j}" for j in range(d)])
    s = pd.DataFrame({"race": rng.choice(["a", "b", "c"], n), "age": rng.uniform(20, 60, n)})
    s.loc[n // 2 :, "race"] = rng.choice(["a", "d"], n - n // 2)  # levels of some partitions
    s.loc[rng.random(n) < 0.1, "age"] = np.nan
    X["x0"] += s["race"] == "a"
    X["x1"] += s["age"].fillna(40) / 10
    return X, s, rng.integers(0, 2, n), rng.uniform(0, 3, n)


def one_table(X, s, y, w):
    """Return all that is known of people as columns of one frame."""
    return X.join(s).assign(y=y, w=w)


def columns_of(table):
    """Return the arguments of `fit` for a table in memory."""
    features = table.drop(columns=["race", "age", "y", "w"], errors="ignore")
    found = {name: table[column] for name, column in NAMES.items()}
    return {"X": features, **found}


def in_numbers(table):
    """Return a table as one array of numbers, and the positions of columns that are no features."""
    codes = table.assign(race=table["race"].astype("category").cat.codes)
    where = {
        name: [codes.columns.get_loc(c) for c in column]
        if isinstance(column, list)
        else codes.columns.get_loc(column)
        for name, column in NAMES.items()
    }
    return codes.to_numpy(float), where


def lazy(values, chunks=CHUNKS):
    """Return a Dask array, whole rows in a block unless the chunks say otherwise."""
    values = np.asarray(values)
    return da.from_array(values, chunks=chunks if values.ndim == 1 else (chunks, -1))


def lazy_frame(frame, npartitions=4):
    return dd.from_pandas(frame, npartitions=npartitions)


def unknown_chunks(values):
    """Return an array in four blocks whose lengths Dask does not know."""
    return lazy_frame(pd.DataFrame(np.asarray(values))).to_dask_array()


def with_an_empty_partition(frame):
    parts = [frame[:80], frame[80:80], frame[80:]]
    return dd.from_delayed([dask.delayed(p) for p in parts], meta=frame[:0], verify_meta=False)
