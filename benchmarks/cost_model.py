"""How long will a fit take? A model with a few rates, checked on shapes it was not made from.

Run ``python -m benchmarks.cost_model``, with ``--plot FILE`` for the picture in the docs. Rows come
from Parquet files; while a piece is waited for, others are worked on:

    time = max(n d bytes / storage, n (a + b d + c d^2)) + s d^q

The second term is what the cores do for a row: decode its columns (b), take products (c), look at
its groups (a). It is measured on three shapes, the solution on two; the four shapes of the table
are others. The files lie in the cache of the system, so storage does not count there.
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
from scipy.optimize import nnls

from fairpca import FairPCA, ParquetRows, collect_moments, moments_from_parquet
from fairpca._numerics.threads import blas_threads

from .rows import factor_rows
from .timing import alternate

K = 10
BYTES = 4
SHAPES = ((12_000_000, 16), (2_000_000, 64), (1_000_000, 256), (200_000, 1024))
CALIBRATION = ((4_000_000, 24), (800_000, 128), (160_000, 640))
"""Shapes from which the cost of a row is taken."""

SOLVED = (384, 768)
"""Numbers of features from which the cost of a solution is taken, as a power of d."""


@dataclass(frozen=True)
class Rates:
    """The seconds that something takes on the cores of this machine.

    Parameters
    ----------
    per_row, per_number, per_product : float
        A row takes ``per_row + per_number d + per_product d^2``, from the file to the moments.
    solve_scale, solve_power : float
        A solution takes ``solve_scale d^solve_power``.
    cores : int
        How many worked together.
    """

    per_row: float
    per_number: float
    per_product: float
    solve_scale: float
    solve_power: float
    cores: int

    def moments(self, n: float, d: float) -> float:
        """Return the seconds it takes to turn n rows into moments."""
        return n * (self.per_row + self.per_number * d + self.per_product * d**2)

    def solve(self, d: float) -> float:
        """Return the seconds it takes to find components."""
        return self.solve_scale * d**self.solve_power

    def fit(self, n: float, d: float, storage: float = float("inf")) -> float:
        """Return the seconds of a fit, with files on a storage of so many bytes per second."""
        return max(n * d * BYTES / storage, self.moments(n, d)) + self.solve(d)


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


def calibrate(folder: Path, repeats: int) -> Rates:
    """Measure the rates."""
    path, costs = folder / "rows.parquet", []
    for n, d in CALIBRATION:
        write_rows(path, n, d)
        run = {"moments": lambda: moments_from_parquet(path, "group")}
        costs.append(alternate(run, repeats)["moments"] / n)
    powers = np.array([[1, d, d**2] for _, d in CALIBRATION], float)
    per_row, per_number, per_product = nnls(powers / np.array(costs)[:, None], np.ones(3))[0]
    times = []
    for d in SOLVED:
        moments = collect_moments(*factor_rows(4 * d, d, "float32"))
        times.append(alternate({"fit": lambda m=moments: FairPCA(K).fit_moments(m)}, 5)["fit"])
    power = np.log(times[1] / times[0]) / np.log(SOLVED[1] / SOLVED[0])
    return Rates(
        per_row=float(per_row),
        per_number=float(per_number),
        per_product=float(per_product),
        solve_scale=float(times[0] / SOLVED[0] ** power),
        solve_power=float(power),
        cores=blas_threads(),
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
        rates = calibrate(folder, repeats)
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
