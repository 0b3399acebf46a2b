"""What does a fair representation of a large file cost, beside copying the file with Arrow?

Run ``python -m benchmarks.transform_stream``, with ``--rows 10000000`` for the full claim. Twenty
columns, eight of them texts, two of them with missing values; Parquet in, ten components out. Both
read and write in batches of the same size, and alternate.
"""

import re
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from fairpca import FairPCA
from fairpca._rows.maps import LinearMap
from fairpca.models._streaming import BATCH_ROWS, stream_transform
from fairpca.tables import TableEncoder

from .timing import alternate

LEVELS = (2, 3, 5, 7, 9, 16, 25, 38)
NUMBERS = 12
K = 10


def people(n: int, seed: int) -> pd.DataFrame:
    """Return rows of twenty columns, such as a bank or an office has of people."""
    rng = np.random.default_rng(seed)
    columns: dict[str, object] = {}
    for j in range(NUMBERS):
        values = rng.normal(size=n) if j % 2 else np.round(rng.gamma(2.0, 20.0, size=n))
        if j < 2:
            values[rng.random(n) < 0.04] = np.nan
        columns[f"number_{j}"] = values if j % 2 or j < 2 else values.astype(np.int64)
    for levels in LEVELS:
        names = np.array([f"level {i} of {levels}" for i in range(levels)])
        columns[f"text_{levels}"] = names[rng.integers(0, levels, n)]
    return pd.DataFrame(columns)


def write_people(path: Path, n: int) -> None:
    writer, done = None, 0
    while done < n:
        size = min(500_000, n - done)
        table = pa.Table.from_pandas(people(size, seed=done), preserve_index=False)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
        done += size
    writer.close()


def fitted() -> SimpleNamespace:
    frame = people(20_000, seed=1)
    encoder = TableEncoder()
    X = encoder.fit_transform(frame)
    fair = FairPCA(K).fit(X, sensitive_features=np.arange(len(X)) % 2)
    linear = LinearMap(fair.components_.T, fair.mean_)
    names = [f"fair_{i + 1}" for i in range(K)]
    return SimpleNamespace(encoder=encoder, map=linear, output_names=names)


def copy(source: Path, out: Path, *, tuned: bool = False) -> None:
    """Read and write the same file with Arrow, in batches.

    Tuned: texts stay codes of their levels all the way, and no dictionary of numbers is tried.
    """
    texts = [f"text_{levels}" for levels in LEVELS] if tuned else []
    with (
        pq.ParquetFile(source, read_dictionary=texts, memory_map=tuned) as file,
        pq.ParquetWriter(out, file.schema_arrow, use_dictionary=texts or True) as writer,
    ):
        for batch in file.iter_batches(BATCH_ROWS):
            writer.write_batch(batch)


def peak_megabytes(what: str, source: Path, out: Path) -> float:
    """Return the peak memory of a process that only copies, or only transforms."""
    arguments = [sys.executable, "-m", __spec__.name, "--only", what, str(source), str(out)]
    return float(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)


def once(what: str, source: Path, out: Path) -> None:
    if what == "copy":
        copy(source, out)
    else:
        stream_transform(fitted(), source, out)
    # VmHWM is the peak since this program started; ru_maxrss inherits a parent's.
    print(int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024)


def rows_of_the_table(n: int = 1_000_000) -> Iterator[tuple[str, ...]]:
    """Yield the rows that `make bench` prints."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "people.parquet", Path(folder) / "out.parquet"
        write_people(source, n)
        model = fitted()
        seconds = alternate(
            {
                "copy": lambda: copy(source, out),
                "transform": lambda: stream_transform(model, source, out),
            },
            repeats=3,
        )
    ours, theirs = seconds["transform"], seconds["copy"]
    against = "pyarrow: read and write the file"
    yield (f"{n:,} x 20, 10", "Parquet", against, f"{ours:.2f} s", f"{ours / theirs:.2f}")


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", help="where the files are written; by default a temporary one")
    parser.add_argument("--only", nargs=3, metavar=("WHAT", "SOURCE", "OUT"))
    given = parser.parse_args()
    if given.only:
        what, source, out = given.only
        once(what, Path(source), Path(out))
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        source, out = Path(folder) / "people.parquet", Path(folder) / "out.parquet"
        write_people(source, given.rows)
        model = fitted()
        seconds = alternate(
            {
                "copy": lambda: copy(source, out),
                "tuned copy": lambda: copy(source, out, tuned=True),
                "float32": lambda: stream_transform(model, source, out),
                "float64": lambda: stream_transform(model, source, out, dtype="float64"),
            },
            repeats=given.repeats,
            warm_up=given.rows <= 1_000_000,
        )
        size = source.stat().st_size / 2**20
        print(f"{given.rows:,} rows, 20 columns, {size:.0f} MB; to {K} components")
        for name, value in seconds.items():
            plain, tuned = seconds["copy"] / value, seconds["tuned copy"] / value
            rate = f"{given.rows / value / 1e6:5.2f} M rows/s"
            print(f"{name:10s} {value:7.2f} s  {rate}  speed {plain:.2f} (tuned copy: {tuned:.2f})")
        for what in ("copy", "transform"):
            print(f"peak memory of {what}: {peak_megabytes(what, source, out):.0f} MB")


if __name__ == "__main__":
    main()
