"""Every way rows can arrive, with the arguments of `fit`.

Weights, two categorical attributes and a numeric one, missing values, and a level that only the
last rows have, so that most parts of a divided table have never heard of it.
"""

from itertools import pairwise

import array_api_strict
import numpy as np
import pandas as pd
import polars
import scipy.sparse

from estimators.test_rows_in_parts import ListedParts
from fairpca._rows import Batch

N, D, K = 480, 12, 4
FEATURES = [f"x{j}" for j in range(D)]
ATTRIBUTES = ["race", "sex", "age"]


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


def parts(table, folder):
    """The smallest engine: parts in a list, one of them empty, sent through pickle, shuffled."""
    X, rest = table[FEATURES].astype(float), rows(table)[1]
    edges = [0, 1, 3, 3, 200, 479, N]
    return ListedParts(
        [
            Batch(X[a:b], *(value[a:b] for value in rest.values()), number=i)
            for i, (a, b) in enumerate(pairwise(edges))
        ]
    ), {}


DOORS = {
    "numpy": numpy,
    "float32": float32,
    "memmap": memmap,
    "sparse": sparse,
    "pandas": pandas,
    "polars": polars_frame,
    "arrow": arrow,
    "parquet": parquet,
    "csv": csv,
    "parts": parts,
    "dask array": dask_array,
    "dask dataframe": dask_dataframe,
    "spark": spark_frame,
    "array-api-strict": strict,
    "torch": torch,
}
NEEDS = {"dask array": "dask", "dask dataframe": "dask", "spark": "pyspark", "torch": "torch"}
