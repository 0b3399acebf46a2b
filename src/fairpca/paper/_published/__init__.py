"""The paper's printed numbers, by data set, k, method and metric."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files


@cache
def published_tables() -> dict[tuple[str, int, str, str], tuple[float, float]]:
    """Return mean and standard deviation of every cell of the paper's four tables.

    Examples
    --------
    >>> published_tables()["adult", 2, "Fair PCA", "explained_variance_pct"]
    (6.37, 0.65)
    """
    text = files(__package__).joinpath("tables.csv").read_text(encoding="utf-8")
    return {
        (row["dataset"], int(row["k"]), row["method"], row["metric"]): (
            float(row["mean"]),
            float(row["std"]),
        )
        for row in csv.DictReader(text.splitlines())
    }
