"""What does scale cost? Files larger than memory, Dask, a file in and a file out.

`make bench-scale` (``python -m benchmarks --scale``) measures these lines: a quarter of an hour
and 6 GB of disk; with ``--quick`` a tenth of the rows. Files are uncompressed Parquet in the cache
of the system, where they were just written; all read the same columns in the same batches.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from inspect import signature
from pathlib import Path
from tempfile import gettempdir

import numpy as np

from . import measures
from .lines import ALONE, ALTERNATING, OURS, Line
from .timing import Measured

K, GROUPS, LANDMARKS, CHUNK = 10, 4, 300, 2**20
LEVELS = (2, 3, 5, 7, 9, 16, 25, 38)
"""Of the eight texts of the file that is transformed; there are twelve numbers."""


def scale_lines(*, quick: bool) -> list[Line]:
    """Return the lines; a quick run has a tenth of the rows."""
    n, small = (1_600_000, 160_000) if quick else (16_000_000, 1_600_000)
    file = Line("scale", "fit a file", (), n, 64, K, "f4", modes=(ALTERNATING,))
    few = replace(file, n=small)
    dask = replace(file, n=n // 40, d=512, dtype="f8")
    memory = replace(file, what="memory of a file's fit", modes=(ALONE,), unit="MB")
    return [
        replace(file, against=("pyarrow, X^T X",)),
        replace(few, against=("IncrementalPCA",)),
        replace(few, what="error of a file's subspace", against=("IncrementalPCA",), unit="sine"),
        replace(few, what="kernel fit of a file", against=("Nystroem, Phi^T Phi",)),
        replace(memory, against=("pyarrow, X^T X",)),
        replace(few, what="transform a file", against=("pyarrow, a copy",), d=20, dtype=""),
        replace(dask, what="Dask, two workers", against=("one worker",)),
        replace(dask, what="Dask, one worker", against=("NumPy, one thread",)),
    ]


def contestant(line: Line, name: str):
    if line.what.startswith("Dask"):
        return _dask(line, name)
    if line.what == "transform a file":
        return _transform(line, name)
    path = rows_in_a_file(line.n, line.d)
    runs = {
        OURS: lambda: fit(path),
        "pyarrow, X^T X": lambda: read_and_multiply(path),
        "IncrementalPCA": lambda: fit_incrementally(path),
    }
    if line.unit == "MB":
        return measures.extra_memory(runs[name])
    if line.unit == "sine":
        return lambda: Measured(subspace_error(path, runs[name]().components_, fair=name == OURS))
    if "kernel" in line.what:
        return _kernel(path, line.d, name)
    return runs[name]


@cache
def rows_in_a_file(n: int, d: int) -> Path:
    """Write rows with a spectrum that decays, in which groups have different means."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(gettempdir()) / "rows.parquet"
    rng = np.random.default_rng(0)
    mix = (np.linalg.qr(rng.normal(size=(d, d)))[0] * np.geomspace(1.0, 0.1, d)).astype("f4")
    shifts = rng.normal(scale=0.3, size=(GROUPS, d)).astype("f4")
    schema = pa.schema([*((f"x{j}", pa.float32()) for j in range(d)), ("group", pa.int32())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for start in range(0, n, CHUNK):
            size = min(CHUNK, n - start)
            group = rng.integers(0, GROUPS, size).astype("i4")
            X = mix @ rng.standard_normal((d, size), dtype="f4") + shifts[group].T
            writer.write_table(pa.table([*X, group], schema=schema), row_group_size=CHUNK)
    return path


def batches(path: Path) -> Iterator[np.ndarray]:
    """Yield batches of features, shape (n, d), as large as ours; the groups are read as well."""
    import pyarrow.parquet as pq

    from fairpca.io import ParquetRows

    size = ParquetRows(path, sensitive="group").batch_rows
    with pq.ParquetFile(path, memory_map=False, pre_buffer=False) as file:
        for batch in file.iter_batches(size):
            block = np.empty((batch.num_columns - 1, batch.num_rows), "f4")
            for j, column in enumerate(batch.columns[:-1]):
                block[j] = column.to_numpy()
            yield block.T


def fit(path: Path):
    from fairpca import FairPCA
    from fairpca.io import ParquetRows

    return FairPCA(K).fit(ParquetRows(path, sensitive="group"))


def read_and_multiply(path: Path) -> np.ndarray:
    """Return X^T X: products in single precision, their sum in double."""
    return sum((X.T @ X).astype("f8") for X in batches(path))


def fit_incrementally(path: Path):
    from sklearn.decomposition import IncrementalPCA

    model = IncrementalPCA(K)
    for X in batches(path):
        model.partial_fit(X)
    return model


def subspace_error(path: Path, components: np.ndarray, *, fair: bool) -> float:
    """Return the largest sine of an angle to the exact subspace, of all rows in memory."""
    import pyarrow.parquet as pq
    from sklearn.decomposition import PCA

    from fairpca import FairPCA

    X = np.concatenate(list(batches(path))).astype("f8")
    group = pq.read_table(path, columns=["group"])["group"].to_numpy()
    exact = FairPCA(K).fit(X, sensitive_features=group) if fair else PCA(K).fit(X)
    A, B = (np.linalg.qr(M.T.astype("f8"))[0] for M in (components, exact.components_))
    return float(np.linalg.norm(A - B @ (B.T @ A), 2))


def _kernel(path: Path, d: int, name: str):
    """Kernel features of every row, and their products, batch by batch; both read the file."""
    from sklearn.kernel_approximation import Nystroem

    from fairpca import FairKernelPCA
    from fairpca.io import ParquetRows

    few = {"n_landmarks": LANDMARKS, "gamma": 1 / d, "random_state": 0}
    fair = FairKernelPCA(K, approximation="nystroem", **few)

    def by_hand() -> None:
        total, features = np.zeros((LANDMARKS, LANDMARKS)), None
        for X in batches(path):
            if features is None:
                features = Nystroem(gamma=1 / d, n_components=LANDMARKS, random_state=0).fit(X)
            Phi = features.transform(X)
            total += Phi.T @ Phi

    return by_hand if name != OURS else lambda: fair.fit(ParquetRows(path, sensitive="group"))


def people(n: int, seed: int):
    """Return rows of twenty columns, such as a bank or an office has of people."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    columns: dict[str, object] = {}
    for j in range(12):
        values = rng.normal(size=n) if j % 2 else np.round(rng.gamma(2.0, 20.0, size=n))
        if j < 2:
            values[rng.random(n) < 0.04] = np.nan
        columns[f"number_{j}"] = values if j % 2 or j < 2 else values.astype("i8")
    for levels in LEVELS:
        names = np.array([f"level {i} of {levels}" for i in range(levels)])
        columns[f"text_{levels}"] = names[rng.integers(0, levels, n)]
    return pd.DataFrame(columns)


def _transform(line: Line, name: str):
    """Ten components of twenty columns, Parquet in and out; beside Arrow, which copies the file."""
    import pyarrow.parquet as pq

    from fairpca import fit_table
    from fairpca.models import transform_file

    source, out = Path(gettempdir()) / "people.parquet", Path(gettempdir()) / f"{name}.parquet"
    if not source.exists():
        people(line.n, seed=0).to_parquet(source)
    model = fit_table(people(20_000, seed=1), ["text_2"], n_components=K)
    rows = signature(transform_file).parameters["batch_rows"].default

    def copy() -> None:
        with pq.ParquetFile(source) as file, pq.ParquetWriter(out, file.schema_arrow) as writer:
            for batch in file.iter_batches(rows):
                writer.write_batch(batch)

    return copy if name != OURS else lambda: transform_file(model, source, out)


def _dask(line: Line, name: str):
    """A fit of rows that workers of one thread have already; or of one thread in memory."""
    import dask.array as da
    from distributed import Client, LocalCluster, wait
    from threadpoolctl import threadpool_limits

    from fairpca import FairPCA

    count = 2 if (name, line.what) == (OURS, "Dask, two workers") else 1
    rng = da.random.default_rng(0)
    z = rng.integers(0, 2, size=line.n, chunks=line.n // 8)
    X = rng.normal(size=(line.n, line.d), chunks=(line.n // 8, line.d)) + 0.5 * z[:, None]
    X *= np.linspace(3.0, 1.0, line.d)
    table = da.concatenate([X, z[:, None]], axis=1).rechunk({1: -1})  # the group comes last
    client = None
    if name.startswith("NumPy"):
        X, z = (array.compute() for array in (X, z))
    else:
        here = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "memory_limit": 0}
        cluster = LocalCluster(n_workers=count, threads_per_worker=1, processes=True, **here)
        client = Client(cluster, set_as_default=False)
        table = client.persist(table)
        with client.as_current():
            wait(table)

    def fit() -> None:
        with threadpool_limits(1, user_api="blas"):
            if client is None:
                FairPCA(K).fit(X, sensitive_features=z)
            else:
                with client.as_current():
                    FairPCA(K).fit(table, sensitive_features=line.d)

    return fit
