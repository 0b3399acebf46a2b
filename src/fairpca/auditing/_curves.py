"""Accuracy against fairness over all lambdas, on one split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..estimators import FairPCA
from ..tradeoff import PAPERS_TRADEOFFS, TradeoffParts, logistic_path
from ._decisions import Judged, fit_and_judge, judge
from ._held_out import Effort, HeldOut, judged_rows
from ._splits import evenly_sampled

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
        _linear(held_out, parts, effort) if model == "linear" else _kernel(held_out, parts, effort)
    )
    return SplitCurve(model, held_out.index, points)


def _linear(held_out: HeldOut, parts: TradeoffParts, effort: Effort) -> list[Judged]:
    assert held_out.y is not None
    assert held_out.y_train is not None
    judged = judged_rows(held_out, effort)
    y, codes = held_out.y[judged], [c[judged] for c in held_out.codes]
    train, test = parts.common_rows(held_out.rows.X), parts.common_rows(held_out.X[judged])
    factors = (parts.factor(value) for value in LAMBDAS)
    models = logistic_path(train, held_out.y_train.astype(int), factors, 1.0)
    return [
        judge(test @ model.weights, float(held_out.y_train.mean()), y, codes, held_out.sizes)
        for model in models
    ]


def _kernel(held_out: HeldOut, parts: TradeoffParts, effort: Effort) -> list[Judged]:
    assert held_out.y is not None
    assert held_out.y_train is not None
    seed = held_out.rows.seed
    rng = np.random.default_rng(seed)
    chosen = evenly_sampled([held_out.y_train], effort.curve_rows, rng)
    judged = judged_rows(held_out, effort)
    y_train, y = held_out.y_train[chosen], held_out.y[judged]
    codes = [c[judged] for c in held_out.codes]
    train, test = parts.both(held_out.rows.X[chosen]), parts.both(held_out.X[judged])
    return [
        fit_and_judge(
            "kernel",
            parts.scaled(train, value),
            y_train,
            parts.scaled(test, value),
            y,
            codes,
            held_out.sizes,
            seed,
        )
        for value in LAMBDAS
    ]
