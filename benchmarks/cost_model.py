"""How long will a fit take? A model with four rates, checked on shapes it was not made from.

Run ``python -m benchmarks.cost_model``, with ``--plot FILE`` for the picture in the docs. Rows come
from Parquet files, and reading overlaps with computing:

    time = max(n d bytes / read, n (b d + c d^2)) + s d^q

The four rates are measured on three calibration shapes; the four shapes of the table are others.
"""

import json
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fairpca import FairPCA, collect_moments
from fairpca.out_of_core import ParquetRows

from .rows import factor_rows
from .timing import alternate

K = 10
BYTES = 4
SHAPES = ((6_000_000, 16), (2_000_000, 64), (500_000, 256), (100_000, 1024))
THIN, WIDE = (1_000_000, 32), (100_000, 512)
"""Shapes in memory from which the cost of a row is taken, linear and quadratic in d."""

SOLVED = (384, 768)
"""Numbers of features from which the cost of a solution is taken, as a power of d."""


@dataclass(frozen=True)
class Rates:
    """What a machine does per second, or the seconds that something takes.

    Parameters
    ----------
    bytes_read : float
        Bytes of columns per second, from a Parquet file to blocks of rows.
    per_number, per_product : float
        Seconds per number of a row, and per product of two numbers: a row takes
        ``per_number d + per_product d^2``.
    solve_scale, solve_power : float
        A solution takes ``solve_scale d^solve_power`` seconds.
    """

    bytes_read: float
    per_number: float
    per_product: float
    solve_scale: float
    solve_power: float

    def read(self, n: float, d: float) -> float:
        """Return the seconds it takes to read n rows."""
        return n * d * BYTES / self.bytes_read

    def compute(self, n: float, d: float) -> float:
        """Return the seconds it takes to turn n rows into moments."""
        return n * (self.per_number * d + self.per_product * d**2)

    def solve(self, d: float) -> float:
        """Return the seconds it takes to find components."""
        return self.solve_scale * d**self.solve_power

    def fit(self, n: float, d: float) -> float:
        """Return the seconds of a fit whose reading and computing overlap."""
        return max(self.read(n, d), self.compute(n, d)) + self.solve(d)


def write_rows(path: Path, n: int, d: int) -> None:
    """Write rows of float32 features, and their group, in row groups of 32 MB."""
    group_rows = max(1, 2**25 // (BYTES * d))
    X, z = factor_rows(min(n, 4 * group_rows), d, "float32")
    names = [*(f"x{j}" for j in range(d)), "group"]
    groups = pa.array(z.astype(str)).dictionary_encode()
    table = pa.table([*(pa.array(column) for column in X.T), groups], names=names)
    options = {"compression": "none", "use_dictionary": ["group"]}
    with pq.ParquetWriter(path, table.schema, **options) as writer:
        for done in range(0, n, len(X)):
            writer.write_table(table.slice(0, n - done), row_group_size=group_rows)


def read_only(path: Path) -> None:
    """Read the rows into blocks, and do nothing with them."""
    ParquetRows(path, sensitive="group").fold(lambda part: None)


def calibrate(folder: Path) -> Rates:
    """Measure the four rates."""
    n, d = 1_000_000, 128
    write_rows(folder / "read.parquet", n, d)
    reading = alternate({"read": lambda: read_only(folder / "read.parquet")}, repeats=3)["read"]
    costs = {}
    for shape in (THIN, WIDE):
        X, z = factor_rows(*shape, "float32")
        run = {"moments": lambda X=X, z=z: collect_moments(X, z)}
        costs[shape] = alternate(run, repeats=3)["moments"] / shape[0]
    (_, d1), (_, d2) = THIN, WIDE
    squares, sizes = np.array([[d1, d1**2], [d2, d2**2]], float), [costs[THIN], costs[WIDE]]
    per_number, per_product = np.clip(np.linalg.solve(squares, sizes), 0, None)
    times = []
    for d in SOLVED:
        moments = collect_moments(*factor_rows(4 * d, d, "float32"))
        times.append(alternate({"fit": lambda m=moments: FairPCA(K).fit_moments(m)}, 5)["fit"])
    power = np.log(times[1] / times[0]) / np.log(SOLVED[1] / SOLVED[0])
    return Rates(
        bytes_read=n * 128 * BYTES / reading,
        per_number=float(per_number),
        per_product=float(per_product),
        solve_scale=float(times[0] / SOLVED[0] ** power),
        solve_power=float(power),
    )


def measured(folder: Path, n: int, d: int, repeats: int) -> float:
    path = folder / "rows.parquet"
    write_rows(path, n, d)
    fit = {"fit": lambda: FairPCA(K).fit(ParquetRows(path, sensitive="group"))}
    return alternate(fit, repeats)["fit"]


def compared(repeats: int = 3) -> tuple[Rates, list[tuple[int, int, float, float]]]:
    """Return the rates, and (n, d, predicted, measured) of each shape."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rates = calibrate(folder)
        found = [(n, d, rates.fit(n, d), measured(folder, n, d, repeats)) for n, d in SHAPES]
    return rates, found


def rows_of_the_table() -> Iterator[tuple[str, ...]]:
    """Yield the rows that `make bench-scale` prints."""
    _, found = compared()
    for n, d, predicted, seconds in found:
        against = f"the cost model: {predicted:.2f} s"
        yield (
            "cost model",
            f"{n:,} x {d}",
            against,
            f"{seconds:.2f} s",
            f"{seconds / predicted:.2f}",
        )


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="where the numbers go")
    parser.add_argument("--plot", type=Path, help="where the picture goes")
    parser.add_argument("--from", type=Path, dest="source", help="numbers of an earlier run")
    given = parser.parse_args()
    if given.source:
        content = json.loads(given.source.read_text())
        rates, found = Rates(**content["rates"]), content["shapes"]
    else:
        rates, found = compared(given.repeats)
    for name, value in asdict(rates).items():
        print(f"{name:14s} {value:.3e}")
    for n, d, predicted, seconds in found:
        ratio = f"{seconds / predicted:.2f} of it"
        print(f"{n:>10,} x {d:<5} predicted {predicted:6.2f} s, took {seconds:6.2f} s, {ratio}")
    if given.json:
        given.json.write_text(json.dumps({"rates": asdict(rates), "shapes": found}, indent=1))
    if given.plot:
        from .cost_model_plot import draw

        draw(rates, found, given.plot)


if __name__ == "__main__":
    main()
