"""What does a fit of a file larger than memory cost, beside reading the file and forming X^T X?

Run ``python -m benchmarks.scale_files``; ``--rows 1600000`` for a tenth. A Parquet file of 64
float32 features and a column of four groups, uncompressed, in row groups of 2^20 rows; by default
16 million rows, 4 GB. Contestants alternate in one process, read the same columns in the same
batches, and find the file in the cache of the system, where it was just written. Scikit-learn's
IncrementalPCA gets a tenth of the rows, and so does the fit it is compared with.
"""

import re
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.decomposition import PCA, IncrementalPCA
from sklearn.kernel_approximation import Nystroem

from fairpca import FairKernelPCA, FairPCA, ParquetRows

from .timing import alternate

ROWS, D, K, GROUPS = 16_000_000, 64, 10, 4
LANDMARKS = 300
CHUNK = 2**20
FEATURES = [f"x{j}" for j in range(D)]
LIMIT = 700


def write_rows(path: Path, n: int) -> None:
    """Write rows with a spectrum that decays, in which groups have different means."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(D, D)))[0]
    mix = (Q * np.geomspace(1.0, 0.1, D)).astype(np.float32)
    shifts = rng.normal(scale=0.3, size=(GROUPS, D)).astype(np.float32)
    columns = [(name, pa.float32()) for name in FEATURES]
    schema = pa.schema([*columns, ("group", pa.int32())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for start in range(0, n, CHUNK):
            size = min(CHUNK, n - start)
            group = rng.integers(0, GROUPS, size).astype(np.int32)
            X = mix @ rng.standard_normal((D, size), dtype=np.float32) + shifts[group].T
            writer.write_table(pa.table([*X, group], schema=schema), row_group_size=CHUNK)


def batches(path: Path, batch_rows: int) -> Iterator[np.ndarray]:
    """Yield batches of features, shape (n, d); the groups are read as well."""
    with pq.ParquetFile(path, memory_map=False, pre_buffer=False) as file:
        for batch in file.iter_batches(batch_rows, columns=[*FEATURES, "group"]):
            block = np.empty((D, batch.num_rows), np.float32)
            for j in range(D):
                block[j] = batch.column(j).to_numpy()
            yield block.T


def read_and_multiply(path: Path, batch_rows: int) -> np.ndarray:
    """Return X^T X: products in single precision, their sum in double."""
    total = np.zeros((D, D))
    for X in batches(path, batch_rows):
        total += X.T @ X
    return total


def fit(path: Path) -> FairPCA:
    return FairPCA(K).fit(ParquetRows(path, sensitive="group"))


def fit_incrementally(path: Path, batch_rows: int) -> IncrementalPCA:
    model = IncrementalPCA(K)
    for X in batches(path, batch_rows):
        model.partial_fit(X)
    return model


def in_memory(path: Path) -> tuple[np.ndarray, np.ndarray]:
    table = pq.read_table(path)
    X = np.column_stack([table.column(name).to_numpy() for name in FEATURES]).astype(float)
    return X, table.column("group").to_numpy()


def subspace_error(A: np.ndarray, B: np.ndarray) -> float:
    """Return the largest sine of an angle between two subspaces, given by orthonormal rows."""
    A, B = (np.linalg.qr(M.T.astype(float))[0] for M in (A, B))
    return float(np.linalg.norm(A - B @ (B.T @ A), 2))


def peak_megabytes(path: Path) -> float:
    """Return the peak memory of a process that does nothing but the fit."""
    arguments = [sys.executable, "-m", __spec__.name, "--only-fit", str(path)]
    return float(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)


def only_fit(path: Path) -> None:
    fit(path)
    # VmHWM is the peak since this program started; ru_maxrss inherits a parent's.
    print(int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024)


def rows_of_the_table(
    *, quick: bool = False, rows: int | None = None, folder: str | None = None
) -> Iterator[tuple[str, ...]]:
    """Yield the rows that `make bench-scale` prints."""
    n = rows or (ROWS // 10 if quick else ROWS)
    with tempfile.TemporaryDirectory(dir=folder) as made:
        path, tenth = Path(made) / "rows.parquet", Path(made) / "tenth.parquet"
        write_rows(path, n)
        size = f"{n:,} x {D} float32, {path.stat().st_size / 1e9:.1f} GB"
        batch_rows = ParquetRows(path, sensitive="group").batch_rows
        seconds = alternate(
            {
                "fit": lambda: fit(path),
                "read": lambda: read_and_multiply(path, batch_rows),
            },
            repeats=3,
            warm_up=False,
        )
        ours, theirs = seconds["fit"], seconds["read"]
        against = f"pyarrow and NumPy: read it, form X^T X, {theirs:.1f} s"
        yield "fit a file", size, against, f"{ours:.1f} s", f"{ours / theirs:.2f}"
        peak = peak_megabytes(path)
        yield "peak memory", size, f"limit {LIMIT} MB", f"{peak:.0f} MB", f"{peak / LIMIT:.2f}"
        path.unlink()
        write_rows(tenth, n // 10)
        yield from _against_incremental_pca(tenth, n // 10, batch_rows)
        yield _against_nystroem(tenth, n // 10, batch_rows)


def _against_incremental_pca(path: Path, n: int, batch_rows: int) -> Iterator[tuple[str, ...]]:
    size = f"{n:,} x {D} float32"
    seconds = alternate(
        {
            "fit": lambda: fit(path),
            "incremental": lambda: fit_incrementally(path, batch_rows),
        },
        repeats=3,
        warm_up=False,
    )
    ours, theirs = seconds["fit"], seconds["incremental"]
    against = f"IncrementalPCA on the same batches, {theirs:.1f} s"
    yield "fit a file", size, against, f"{ours:.2f} s", f"{ours / theirs:.3f}"
    X, group = in_memory(path)
    fair = FairPCA(K).fit(X, sensitive_features=group)
    plain = PCA(K, svd_solver="covariance_eigh").fit(X)
    ours = subspace_error(fit(path).components_, fair.components_)
    theirs = subspace_error(fit_incrementally(path, batch_rows).components_, plain.components_)
    against = f"IncrementalPCA {theirs:.0e}, each against its exact answer"
    yield "error of the subspace", size, against, f"{ours:.0e}", f"{ours / theirs:.0e}"


def _against_nystroem(path: Path, n: int, batch_rows: int) -> tuple[str, ...]:
    """Kernel features of every row, and their products, batch by batch; both read the file."""
    fair = FairKernelPCA(K, approximation="nystroem", n_landmarks=LANDMARKS, random_state=0)
    gamma = 1.0 / D

    def by_hand() -> None:
        total, features = np.zeros((LANDMARKS, LANDMARKS)), None
        for X in batches(path, batch_rows):
            if features is None:
                features = Nystroem(gamma=gamma, n_components=LANDMARKS, random_state=0).fit(X)
            Phi = features.transform(X)
            total += Phi.T @ Phi

    fair.set_params(gamma=gamma)
    seconds = alternate(
        {
            "fit": lambda: fair.fit(ParquetRows(path, sensitive="group")),
            "by hand": by_hand,
        },
        repeats=3,
        warm_up=False,
    )
    ours, theirs = seconds["fit"], seconds["by hand"]
    against = f"Nystroem on the same batches, Phi^T Phi, {theirs:.1f} s"
    size = f"{n:,} x {D} float32, {LANDMARKS} landmarks"
    return "kernel fit of a file", size, against, f"{ours:.1f} s", f"{ours / theirs:.2f}"


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--folder", help="where the file is written; by default a temporary one")
    parser.add_argument("--only-fit", metavar="FILE")
    given = parser.parse_args()
    if given.only_fit:
        only_fit(Path(given.only_fit))
        return
    for row in rows_of_the_table(rows=given.rows, folder=given.folder):
        print(" | ".join(row), flush=True)


if __name__ == "__main__":
    main()
