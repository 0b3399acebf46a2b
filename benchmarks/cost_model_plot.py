"""The picture of the cost model: predicted against measured, and a billion rows on a cluster."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fairpca.paper._style import BLUE, FAINT, GREEN, GREY, VERMILLION, paper_figure

from .cost_model import BYTES, Rates

ROWS, FEATURES = 1e9, 1024
GROUPS = 4


@dataclass(frozen=True)
class Cluster:
    """What is assumed of the machines, beside the rates that were measured here.

    Parameters
    ----------
    cores : int
        Per machine; what was measured on fewer is taken to scale with them.
    storage, network : float
        Bytes per second that a machine reads from shared storage, and exchanges with others.
    part_bytes : float
        Size of a part, the unit of work.
    fan_in : int
        How many moments are added at once on the way to one.
    """

    cores: int = 16
    storage: float = 1e9
    network: float = 1.25e9
    part_bytes: float = 1e9
    fan_in: int = 4

    def read(self, machines: float) -> float:
        """Return the seconds it takes to bring all bytes from storage."""
        return ROWS * FEATURES * BYTES / self.storage / machines

    def compute(self, rates: Rates, machines: float) -> float:
        """Return the seconds of turning rows into moments."""
        return rates.moments(ROWS, FEATURES) * rates.cores / self.cores / machines

    @property
    def moment_bytes(self) -> float:
        """Size of the moments of a part."""
        return 8.0 * FEATURES * (FEATURES + GROUPS + 1)

    @property
    def parts(self) -> float:
        """Number of parts."""
        return ROWS * FEATURES * BYTES / self.part_bytes

    @property
    def bytes_sent(self) -> float:
        """Bytes that cross the network if no two moments that are added are on one machine."""
        return self.moment_bytes * self.parts * self.fan_in / (self.fan_in - 1)

    def send(self, machines: float) -> float:
        """Return the seconds of adding up: all parts once, and the last levels of the tree."""
        levels = np.ceil(np.log(self.parts) / np.log(self.fan_in))
        last = levels * self.fan_in * self.moment_bytes / self.network
        return self.bytes_sent / self.network / machines + last

    def fit(self, rates: Rates, machines: float) -> float:
        """Return the seconds of a fit."""
        work = max(self.read(machines), self.compute(rates, machines))
        return work + self.send(machines) + rates.solve(FEATURES)


def draw(rates: Rates, found: Sequence[Sequence[float]], path: Path) -> None:
    """Draw both panels into a file."""
    with paper_figure(8.4, 3.5) as figure:
        left, right = figure.subplots(1, 2)
        _draw_comparison(left, found)
        _draw_cluster(right, rates)
    figure.savefig(path)


def _draw_comparison(axes, found: Sequence[Sequence[float]]) -> None:
    predicted = np.array([f[2] for f in found])
    seconds = np.array([f[3] for f in found])
    low, high = 0.3 * min(predicted.min(), seconds.min()), 2.8 * max(predicted.max(), seconds.max())
    axes.fill_between(
        [low, high],
        [low / 1.25, high / 1.25],
        [low * 1.25, high * 1.25],
        color=GREY,
        alpha=0.18,
        lw=0,
    )
    axes.plot([low, high], [low, high], color=FAINT, lw=0.8)
    axes.plot(predicted, seconds, "o", color=BLUE, ms=6)
    for n, d, p, s in found:
        above = s > p
        axes.annotate(
            f"{n / 1e6:g} M × {d:,g}",
            (p, s),
            xytext=(-8, 6) if above else (8, -9),
            textcoords="offset points",
            ha="right" if above else "left",
        )
    axes.set(
        xscale="log",
        yscale="log",
        xlim=(low, high),
        ylim=(low, high),
        xlabel="seconds predicted",
        ylabel="seconds measured",
        title="Fits from Parquet files, two cores",
    )
    ticks = [t for t in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if low < t < high]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ticks, [f"{t:g}" for t in ticks])
        axis.set_ticks([], minor=True)
    axes.text(0.03, 0.95, "grey: within 25 %", transform=axes.transAxes, color=FAINT, va="top")


def _draw_cluster(axes, rates: Rates) -> None:
    cluster, machines = Cluster(), np.array([1, 2, 4, 8, 16, 32, 64, 128, 256])
    lines = {
        "whole fit": ([cluster.fit(rates, m) for m in machines], BLUE, "-", 1.8),
        "read, 1 GB/s a machine": ([cluster.read(m) for m in machines], GREEN, "--", 1.2),
        "moments": ([cluster.compute(rates, m) for m in machines], VERMILLION, ":", 1.4),
        "add up": ([cluster.send(m) for m in machines], GREY, "-.", 1.2),
    }
    for name, (seconds, colour, style, width) in lines.items():
        axes.plot(machines, seconds, style, color=colour, lw=width, label=name)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="machines of 16 cores",
        ylabel="time of a fit",
        title="A billion rows × 1,024 features, on paper",
    )
    axes.set_xticks(machines, [str(m) for m in machines])
    axes.set_xticks([], minor=True)
    times = {1: "1 s", 10: "10 s", 60: "1 min", 600: "10 min", 3600: "1 h"}
    axes.set_yticks(list(times), list(times.values()))
    axes.set_yticks([], minor=True)
    chosen = 64
    seconds = cluster.fit(rates, chosen)
    axes.plot([chosen], [seconds], "o", color=BLUE, ms=5)
    axes.annotate(
        f"{chosen} machines:\n{seconds:.0f} s",
        (chosen, seconds),
        xytext=(3, 8),
        textcoords="offset points",
        color=BLUE,
        ha="left",
    )
    axes.legend(loc="lower left")
    axes.grid(axis="y")
