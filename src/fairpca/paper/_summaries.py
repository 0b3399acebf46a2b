"""Means and standard deviations over draws, one row per number of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._experiment import Result, Summary

Published = Callable[[dict[str, Any], str], tuple[float, float] | None]
"""Takes a key without its draw and a metric, returns the paper's mean and standard deviation."""


def not_published(key: dict[str, Any], metric: str) -> None:
    """Return None: the paper prints a picture, not the number."""


def summarize_draws(
    results: Sequence[Result], published: Published = not_published
) -> list[Summary]:
    """Average over the key ``draw``; all other keys tell rows apart.

    Examples
    --------
    >>> results = [
    ...     Result({"dataset": "adult", "k": 2, "method": "PCA", "draw": i}, {"percent": v})
    ...     for i, v in enumerate([1.0, 3.0])
    ... ]
    >>> row, = summarize_draws(results)
    >>> row.mean, row.std
    (2.0, 1.0)
    """
    values: dict[tuple[Any, str], list[float]] = {}
    for result in results:
        told_apart = tuple((name, v) for name, v in result.key.items() if name != "draw")
        for metric, value in result.values.items():
            values.setdefault((told_apart, metric), []).append(value)
    rows = []
    for (items, metric), numbers in values.items():
        key: dict[str, Any] = dict(items)
        mean, std = published(key, metric) or (None, None)
        rows.append(
            Summary(
                dataset=str(key.get("dataset", "")),
                k=key.get("k"),
                method=str(key.get("method", "")),
                metric=metric,
                mean=float(np.mean(numbers)),
                std=float(np.std(numbers)),
                paper_mean=mean,
                paper_std=std,
                protocol=str(key.get("protocol", "")),
                parameter=key.get("parameter"),
            )
        )
    return rows
