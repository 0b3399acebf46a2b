"""How does a fit grow? A cost model of a few rates, checked along everything that can grow.

``python -m benchmarks.growth`` takes two minutes. With n rows, d features and p attributes, of
any number of levels and for any number of components:

    time = start + n (a + b d + c d^2 + e p d) + s d^q

The rates come from shapes that are not those that are checked. Rows, features, components, levels
and attributes then vary alone around a point in the middle. Rows are float64 in memory.
"""

import json
import statistics
import time
import warnings
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from .results import KEPT, Run, use_cores
from .table import markdown_table, number, ratio

SURPRISE = 1.5
"""How many times the prediction a time has to be to be called a surprise."""


@dataclass(frozen=True)
class Shape:
    """A fit: rows, features, components, levels of each attribute, attributes."""

    rows: int = 100_000
    features: int = 64
    components: int = 10
    levels: int = 2
    attributes: int = 1


MIDDLE = Shape()
VARIED = {
    "rows": (12_500, 50_000, 200_000, 800_000),
    "features": (16, 32, 128, 512),
    "components": (1, 5, 20, 60),
    "levels": (2, 10, 100, 1_000),
    "attributes": (1, 5, 20, 50),
}
CALIBRATION = (
    *(Shape(n, d) for n in (2_000, 400_000) for d in (24, 96)),
    *(Shape(60_000, d, attributes=p) for d, p in ((48, 1), (48, 12), (192, 12))),
    *(Shape(n, 384) for n in (5_000, 50_000)),
)
SOLVED = (384, 768)


@dataclass(frozen=True)
class Rates:
    """Seconds: of every fit, of a row, a number, a product, a number and attribute; of solving."""

    start: float
    per_row: float
    per_number: float
    per_product: float
    per_attribute: float
    solve_scale: float
    solve_power: float
    cores: int

    def moments(self, shape: Shape) -> float:
        """Return the seconds it takes to turn rows into moments."""
        rates = (self.per_row, self.per_number, self.per_product, self.per_attribute)
        return float(np.dot(terms(shape)[1:], rates))

    def solve(self, d: int) -> float:
        return self.solve_scale * d**self.solve_power

    def fit(self, shape: Shape) -> float:
        return self.start + self.moments(shape) + self.solve(shape.features)


@dataclass(frozen=True)
class Point:
    """A shape, how long it should take, how long it took, and the fastest and the slowest run."""

    varied: str
    shape: Shape
    predicted: float
    measured: float
    low: float
    high: float

    @property
    def size(self) -> int:
        return getattr(self.shape, self.varied)

    @property
    def factor(self) -> float:
        return self.measured / self.predicted


@dataclass
class Growth:
    """What was measured, where, and the rates."""

    run: dict
    rates: Rates
    points: list[Point] = field(default_factory=list)

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "Growth":
        content = json.loads(path.read_text(encoding="utf-8"))
        points = [Point(**p | {"shape": Shape(**p["shape"])}) for p in content["points"]]
        return cls(content["run"], Rates(**content["rates"]), points)


def terms(shape: Shape) -> list[float]:
    """Return 1, n, n d, n d^2 and n d p."""
    n, d, p = shape.rows, shape.features, shape.attributes
    return [1, n, n * d, n * d**2, n * d * p]


def rows_of(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Return X and the attributes. Of one attribute, levels differ in a single direction.

    They are the same rows once per level, then shifted and shuffled: as many levels as features
    leave something to find only if their means have directions in common.
    """
    rng = np.random.default_rng(0)
    n, m = shape.rows // shape.levels * shape.levels, shape.levels
    X = np.tile(rng.standard_normal((n // m, shape.features)), (m, 1))
    Z = np.repeat(np.arange(m), n // m)[:, None]
    X[:, 0] += Z[:, 0] / m
    order = rng.permutation(n)
    X, Z = X[order], Z[order]
    more = rng.integers(0, m, (n, shape.attributes - 1))
    return X, np.hstack([Z, more])


def seconds(run, least: int = 5, budget: float = 0.5) -> list[float]:
    """Return the times of a hot function."""
    run()
    run()
    found: list[float] = []
    ends = time.perf_counter() + budget
    while len(found) < least or (time.perf_counter() < ends and len(found) < 50):
        started = time.perf_counter()
        run()
        found.append(time.perf_counter() - started)
    return found


def fit_seconds(shape: Shape) -> list[float]:
    from fairpca import FairPCA

    X, Z = rows_of(shape)
    return seconds(lambda: FairPCA(shape.components).fit(X, sensitive_features=Z))


def calibrated() -> Rates:
    """Measure the rates: of the solution from moments alone, of the rest from whole fits."""
    from scipy.optimize import nnls

    from fairpca import FairPCA
    from fairpca.moments import collect_moments

    times = []
    for d in SOLVED:
        moments = collect_moments(*rows_of(Shape(4 * d, d)))
        fair = FairPCA(MIDDLE.components)
        times.append(statistics.median(seconds(lambda m=moments, f=fair: f.fit_moments(m))))
    power = float(np.log(times[1] / times[0]) / np.log(SOLVED[1] / SOLVED[0]))
    rates = Rates(0, 0, 0, 0, 0, times[0] / SOLVED[0] ** power, power, Run.here().cores)
    took = [statistics.median(fit_seconds(shape)) for shape in CALIBRATION]
    rest = [t - rates.solve(s.features) for t, s in zip(took, CALIBRATION, strict=True)]
    weights = 1 / np.array(took)
    A = np.array([terms(shape) for shape in CALIBRATION], float)
    found = nnls(A * weights[:, None], np.array(rest) * weights)[0].tolist()
    names = ("start", "per_row", "per_number", "per_product", "per_attribute")
    return replace(rates, **dict(zip(names, found, strict=True)))


def measured_points(rates: Rates) -> Iterator[Point]:
    for varied, sizes in VARIED.items():
        for size in sizes:
            shape = replace(MIDDLE, **{varied: size})
            took = fit_seconds(shape)
            numbers = statistics.median(took), min(took), max(took)
            yield Point(varied, shape, rates.fit(shape), *numbers)


def told(point: Point) -> str:
    word = "  a surprise" if point.factor > SURPRISE else ""
    times = f"predicted {number(point.predicted):>7}, took {number(point.measured):>7}"
    return f"{point.varied:>11} {point.size:>9,}  {times}, {ratio(point.factor)} of it{word}"


def markdown(growth: Growth) -> str:
    """Return the table of all points, and what a billion rows would take."""
    names = ["what grows", "to", "predicted", "measured", "measured by predicted"]
    lines = [
        [p.varied, f"{p.size:,}", number(p.predicted), number(p.measured), ratio(p.factor)]
        for p in growth.points
    ]
    around = f"{MIDDLE.rows:,} rows x {MIDDLE.features} features, {MIDDLE.components} components"
    head = f"**One at a time around {around}, one attribute of two levels**"
    table = markdown_table(names, lines, texts=names[:1])
    measured = f"Measured {Run(**growth.run).described}"
    return "\n".join([head, "", *table, measured, "", a_billion(growth.rates), ""])


def a_billion(rates: Rates, machines: int = 64, cores: int = 16) -> str:
    """Return what is assumed of a cluster, and what follows from the rates."""
    shape = Shape(10**9, 1_024)
    size = 8 * shape.rows * shape.features
    read, work = size / 1e9, rates.moments(shape) * rates.cores / cores
    part = 8 * shape.features * (shape.features + 5)
    parts = size / 1e9
    text = f"""
**A billion rows x {shape.features:,} features**, on paper: {size / 1e12:.1f} TB of float64.
On one machine of {cores} such cores the moments take {work / 60:.0f} minutes,
and reading at 1 GB/s {read / 60:.0f}. On {machines} machines: {read / machines:.0f} s to read,
{work / machines:.0f} s of work beside it, {rates.solve(shape.features):.1f} s for the eigenvectors.
In parts of 1 GB there are {parts:,.0f} moments of {part / 1e6:.1f} MB; added four at a time, and
if none that are added are on one machine, {part * parts * 4 / 3 / 1e9:.0f} GB cross the network.
Assumed: cores scale (here they were {rates.cores}), and storage gives every machine its 1 GB/s.
"""
    return text.strip()


def draw(growth: Growth, path: Path) -> None:
    """Draw a panel for each thing that grows, and one for all."""
    from fairpca_paper.experiments.style import BLUE, FAINT, GREY, VERMILLION, paper_figure

    points = growth.points
    every = [t for p in points for t in (p.predicted, p.low, p.high)]
    ends = np.array([min(every) / 1.5, max(every) * 1.5])
    named = {0.001: "1 ms", 0.01: "10 ms", 0.1: "0.1 s", 1.0: "1 s", 10.0: "10 s"}
    shown = [t for t in named if ends[0] < t < ends[1]]
    ticks = shown, [named[t] for t in shown]
    with paper_figure(8.4, 5.0) as figure:
        panels = list(figure.subplots(2, 3).flat)
        for axes, varied in zip(panels, VARIED, strict=False):
            here = [p for p in points if p.varied == varied]
            sizes, took = [p.size for p in here], [p.measured for p in here]
            spread = [[p.measured - p.low for p in here], [p.high - p.measured for p in here]]
            axes.plot(sizes, [p.predicted for p in here], color=GREY, lw=1.5, label="predicted")
            axes.errorbar(sizes, took, spread, fmt="o", color=BLUE, ms=5, label="measured")
            axes.set(xscale="log", yscale="log", title=f"More {varied}")
            axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        last = panels[-1]
        last.fill_between(ends, ends / SURPRISE, ends * SURPRISE, color=GREY, alpha=0.2, lw=0)
        colours = [VERMILLION if p.factor > SURPRISE else BLUE for p in points]
        last.scatter([p.predicted for p in points], [p.measured for p in points], c=colours, s=20)
        last.set(xscale="log", yscale="log", xlim=ends, title="All of them")
        last.set(xlabel="time predicted", ylabel="time measured")
        last.set_xticks(*ticks)
        label = {"transform": last.transAxes, "color": FAINT, "va": "top"}
        last.text(0.04, 0.96, f"grey: within {SURPRISE:g} times", **label)
        for axes in panels:
            axes.set_ylim(*ends)
            axes.set_yticks(*ticks)
            axes.minorticks_off()
        panels[0].legend(loc="upper left")
        for axes in (panels[0], panels[3]):
            axes.set_ylabel("time of a fit")
    figure.savefig(path)


def main(arguments: list[str] | None = None) -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, help="cores and threads; by default all")
    parser.add_argument("--out", type=Path, help="where the numbers are kept; else .benchmarks/")
    parser.add_argument("--draw", type=Path, metavar="PNG", help="also draw them")
    given = parser.parse_args(arguments)
    use_cores(given.cores)
    warnings.simplefilter("ignore")
    run = Run.here()
    path = given.out or KEPT / "growth" / f"{run.date.replace(':', '-')}.json"
    growth = Growth(asdict(run), calibrated())
    for name, value in asdict(growth.rates).items():
        print(f"{name:14s} {value:.3g}")
    for point in measured_points(growth.rates):
        growth.points.append(point)
        growth.write(path)
        print(told(point), flush=True)
    if given.draw:
        draw(growth, given.draw)
    print(f"Kept in {path}")


if __name__ == "__main__":
    main()
