"""Accuracy against fairness over all lambdas, on one split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..estimators import FairPCA
from ..tradeoff import PAPERS_TRADEOFFS, TradeoffParts, logistic_path
from .decisions import Judged, fit_and_judge, judge
from .measures import Effort, HeldOut
from .splits import evenly_sampled

CURVE_MODELS = ("linear", "kernel")
"""Trees are left out: they do not notice how a column is scaled, hence not lambda."""

LAMBDAS = PAPERS_TRADEOFFS


@dataclass(frozen=True, eq=False)
class SplitCurve:
    """The curve of one downstream model on one split.

    Parameters
    ----------
    model : str
    index : int
        Number of the split.
    points : list of Judged
        In the order of `LAMBDAS`; empty where fair PCA could not be fitted.
    """

    model: str
    index: int
    points: list[Judged]


def measure_curve(held_out: HeldOut, model: str, effort: Effort) -> SplitCurve:
    """Judge a downstream model at every lambda; fair PCA is solved once, from one pass."""
    assert held_out.y is not None
    assert held_out.y_train is not None
    rows = held_out.rows
    both = FairPCA(rows.k, tradeoff=1.0, random_state=rows.seed).fit_moments(rows.moments())
    parts = TradeoffParts(both)
    points = (
        _linear(held_out, parts)
        if model == "linear"
        else _kernel(held_out, parts, effort.curve_rows)
    )
    return SplitCurve(model, held_out.index, points)


def _linear(held_out: HeldOut, parts: TradeoffParts) -> list[Judged]:
    y_train, y = held_out.y_train, held_out.y
    assert y is not None
    assert y_train is not None
    train, test = parts.common_rows(held_out.rows.X), parts.common_rows(held_out.X)
    factors = (parts.factor(value) for value in LAMBDAS)
    models = logistic_path(train, y_train.astype(int), factors, 1.0)
    return [
        judge(
            train @ model.weights, y_train, test @ model.weights, y, held_out.codes, held_out.sizes
        )
        for model in models
    ]


def _kernel(held_out: HeldOut, parts: TradeoffParts, most_rows: int) -> list[Judged]:
    y_train, y = held_out.y_train, held_out.y
    assert y is not None
    assert y_train is not None
    seed = held_out.rows.seed
    chosen = evenly_sampled([y_train], most_rows, np.random.default_rng(seed))
    train = parts.fitted.transform(held_out.rows.X[chosen])
    test = parts.fitted.transform(held_out.X)
    return [
        fit_and_judge(
            "kernel",
            parts.scaled(train, value),
            y_train[chosen],
            parts.scaled(test, value),
            y,
            held_out.codes,
            held_out.sizes,
            seed,
        )
        for value in LAMBDAS
    ]
