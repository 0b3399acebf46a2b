"""The tables of the page "The methods of fairpca, with proofs", made of measured files.

``python tests/documentation/method_tables.py`` writes them into ``docs/research/method.md``,
between its ``<!-- NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "research" / "method.md"
PLACE = "<!-- {name} -->\n.*?<!-- end -->\n"

DIGITS = {"explained_variance_pct": 2, "mmd2": 3}  # that the paper prints; of all others 2
OURS = ("PCA", "Fair PCA", "Fair PCA-S (0.5)", "Fair PCA-S (0.85)", "Fair Kernel PCA")
SIX = ("adult", "bank", "german", "loanapp", "compas", "fairface")
WANTED = {
    "fair PCA": [0.0],
    "spectral, directions": [0.85, 0.5],
    "spectral, penalty": [0.5, 1.0],
    "exact, penalty": [0.0, 0.5, 1.0],
}
NAMES = {
    "fair PCA": "fair PCA, means only",
    "spectral, directions": "Fair PCA-S ({:g})",
    "spectral, penalty": "spectral, penalty {:g}",
    "exact, penalty": "equal covariances, penalty {:g}",
}
SPEED = {  # the words of docs/benchmarks/two-cores.json, and those of the page
    "fit": "`FairPCA.fit`",
    "fit, paper": "`FairPCA.fit`",
    "exact kernel fit": "`FairKernelPCA.fit`",
    "exact kernel fit, paper": "`FairKernelPCA.fit`",
    "kernel fit, 500 landmarks": "the same, 500 landmarks",
    "Fair PCA-S": "Fair PCA-S, from moments",
    "equal covariances": "equal covariances, from moments",
    "equal covariances, one start": "the same, one start",
    "fair PLS of covariances": "`FairPLS`, covariances, rbf",
    "fair PLS of distributions": "`FairPLS`, distributions, rbf",
}


def reproduction() -> str:
    """Count the cells of the paper's tables that ours agree with."""
    cells = pd.concat(map(pd.read_csv, sorted((DOCS / "reproduced").glob("table-*.csv"))))
    cells = cells[(cells.protocol == "paper") & cells.paper_mean.notna()]
    half = 0.5 * 10.0 ** -cells.metric.map(DIGITS).fillna(2)
    off = (cells["mean"] - cells.paper_mean).abs()
    cells = cells.assign(
        same=off <= half + 1e-9,
        close=off <= cells.paper_std + half,
        plain=cells.metric.isin(DIGITS),
        gap=cells.metric.isin(["kernel_svm_dp", "linear_svm_dp"]),
    )
    lines = []
    names = cells.method.where(cells.method.isin(OURS), "the seven others")
    for name, of in sorted(cells.groupby(names), key=lambda pair: [*OURS, pair[0]].index(pair[0])):
        counts = [_of(of.same[of[kind]]) for kind in ("plain", "gap")]
        lines.append([name, *counts, _of(of.close)])
    head = ["method", "%Var and MMD², same digits", "parity gaps of SVMs, same digits"]
    return _table([*head, "all cells, within one deviation"], lines)


def _of(flags: pd.Series) -> str:
    return f"{flags.sum()} of {len(flags)}" if len(flags) else "–"


def held_out() -> str:
    """Return what probes read from held-out rows of Adult, k = 10, beside the variance kept."""
    cells = pd.read_csv(DOCS / "reproduced" / "table-adult.csv")
    cells = cells[(cells.protocol == "held-out") & (cells.k == 10)]
    wide = cells.pivot_table(index="method", columns="metric", values="mean", sort=False)
    methods = ["PCA", "Fair PCA", "Fair PCA-S (0.85)", "Fair PCA-S (0.5)", "MbF-PCA (10^-6)"]
    lines = [
        [
            method,
            f"{wide.explained_variance_pct[method]:.1f} %",
            *(f"{wide[probe][method]:.2f}" for probe in ("linear_probe_auc", "boosting_probe_auc")),
        ]
        for method in methods
    ]
    return _table(["method", "variance kept", "AUC, linear", "AUC, boosted trees"], lines)


def fair_pls() -> str:
    """Return means over the six questions with one attribute and a yes or no."""
    cells = pd.read_csv(DOCS / "data" / "fair_pls.csv")
    cells = cells[(cells.setting == 0) & cells.dataset.isin(SIX)]
    names = ["leak", "util", "gap", "observed", "certified"]
    means = cells.groupby("method", sort=False)[names].mean()
    lines = [[row.Index, *map(_three, row[1:])] for row in means.itertuples()]
    head = ["method", "group read (AUC)", "target predicted (AUC)", "gap of selection rates"]
    return _table([*head, "largest gap of a threshold", "certified"], lines)


def _three(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"


def covariances() -> str:
    """Return means over six data sets of what matched covariances keep and hide."""
    cells = pd.read_csv(DOCS / "data" / "covariance_frontier.csv")
    fair = cells[cells.method == "fair PCA"].set_index("dataset").variance
    cells = cells.assign(kept=cells.variance / cells.dataset.map(fair))
    lines = []
    for method, settings in WANTED.items():
        for setting in settings:
            of = cells[(cells.method == method) & (cells.setting == setting)]
            assert len(of) == len(fair)
            means = of[["boosting", "svm", "covariance gap"]].mean()
            name = NAMES[method].format(setting)
            lines.append([name, f"{of.kept.mean():.0%}", *(f"{value:.3f}" for value in means)])
    head = ["method", "variance kept, of fair PCA's", "AUC, boosted trees", "AUC, kernel SVM"]
    return _table([*head, "covariance gap, new rows"], lines)


def speed() -> str:
    """Return ratios of times on two cores, each in a process of its own."""
    rows = json.loads((DOCS / "benchmarks" / "two-cores.json").read_text(encoding="utf-8"))["rows"]
    rows = [r for r in rows if r["mode"] == "alone" and r["spectrum"] != "flat" and r["against"]]
    lines = []
    for what, name in SPEED.items():
        for row in [row for row in rows if row["what"] == what][:3]:
            size = f"{row['n']:,} x {row['d']:,}, {row['k']}"
            against = f"`{row['against']}`" if "=" in row["against"] else row["against"]
            lines.append([name, size, against, f"{row['ours']:.2g} s", f"{row['ratio']:.2g}"])
    return _table(["what", "rows x features, k", "against", "ours", "ratio"], lines)


TABLES: dict[str, Callable[[], str]] = {
    "reproduction": reproduction,
    "held-out": held_out,
    "fair PLS": fair_pls,
    "covariances": covariances,
    "speed": speed,
}


def _table(head: list[str], lines: list[list[str]]) -> str:
    rows = [head, ["---", *["--:"] * (len(head) - 1)], *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def place_of(name: str) -> re.Pattern[str]:
    """Return where a table is on the page."""
    return re.compile(PLACE.format(name=re.escape(name)), flags=re.DOTALL)


def placed(name: str) -> str:
    """Return a table as it stands on the page."""
    return f"<!-- {name} -->\n\n{TABLES[name]()}\n<!-- end -->\n"


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    for name in TABLES:
        text = place_of(name).sub(lambda _, name=name: placed(name), text)
    PAGE.write_text(text, encoding="utf-8")
