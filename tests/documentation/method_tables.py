"""The tables of the page "Methods with proofs", made of measured files.

``python tests/documentation/method_tables.py`` writes them into ``docs/research/method.md``,
between its ``<!-- NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

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
SHOWN = (  # of the methods of docs/data/fair_pls.csv
    "features",
    "PCA",
    "PLS",
    "LEACE",
    "FairPCA",
    "FairPLS, means",
    "FairPLS, covariances",
    "FairPLS, distributions",
    "FairPLS rbf, distributions",
)
SIX = ("adult", "bank", "german", "loanapp", "compas", "fairface")
WANTED = {
    "fair PCA": [0.0],
    "spectral, directions": [0.85, 0.5],
    "spectral, penalty": [0.5],
    "exact, penalty": [0.0, 0.5],
}
NAMES = {
    "fair PCA": "fair PCA, means only",
    "spectral, directions": "Fair PCA-S ({:g})",
    "spectral, penalty": "spectral, penalty {:g}",
    "exact, penalty": "equal covariances, penalty {:g}",
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
    ours = cells.method.isin(OURS)
    lines = []
    for name, of in (("PCA and fair PCA, all kinds", cells[ours]), ("others", cells[~ours])):
        counts = [_of(of.same[of[kind]]) for kind in ("plain", "gap")]
        lines.append([name, *counts, _of(of.close)])
    head = ["methods", "%Var and MMD², same digits", "parity gaps of SVMs, same digits"]
    return _table([*head, "all cells, within one deviation"], lines)


def _of(flags: pd.Series) -> str:
    return f"{flags.sum()} of {len(flags)}"


def held_out() -> str:
    """Return AUCs of probes on held-out rows of Adult, k = 10, and the variance kept."""
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
    """Return means over the six tasks with one attribute and a binary target."""
    cells = pd.read_csv(DOCS / "data" / "fair_pls.csv")
    cells = cells[(cells.setting == 0) & cells.dataset.isin(SIX)]
    names = ["leak", "util", "gap", "observed", "certified"]
    means = cells.groupby("method", sort=False)[names].mean().loc[list(SHOWN)]
    lines = [[row.Index, *map(_three, row[1:])] for row in means.itertuples()]
    head = ["method", "AUC, group", "AUC, target", "selection rate gap"]
    return _table([*head, "largest gap over thresholds", "certified"], lines)


def _three(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"


def covariances() -> str:
    """Return means over six data sets: variance kept, AUCs and gaps of matched covariances."""
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
    return _table([*head, "covariance gap"], lines)


TABLES: dict[str, Callable[[], str]] = {
    "reproduction": reproduction,
    "held-out": held_out,
    "fair PLS": fair_pls,
    "covariances": covariances,
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
