"""How the page writes numbers, models and aims: a number and its unit stay on one line."""

from __future__ import annotations

from functools import partial

from ... import metrics
from .._results import Estimate

UNBROKEN = "\u00a0"

MODELS = {"linear": "Linear model", "boosting": "Boosted trees", "kernel": "Kernel model"}
"""The same three models guess attributes (as probes) and predict the target."""

AIMS = {
    "hide": "let nobody tell the attributes",
    "decide": "make decisions that hardly depend on the attributes",
    "keep": "keep all columns, while linear models cannot tell the attributes",
}

percent = partial(metrics.percent, space=UNBROKEN)
points = partial(metrics.points, space=UNBROKEN)


def level(value: float) -> str:
    """Write a level of confidence."""
    return f"{100 * value:g}{UNBROKEN}%"


def model_name(model: str) -> str:
    """Return what people call a probe or a downstream model."""
    return MODELS.get(model, model)


def interval(estimate: Estimate | None, scale: float = 1, digits: int = 2) -> str:
    r"""Write the confidence interval of an estimate; empty if there is none.

    >>> interval(Estimate(0.77, 0.741, 0.80), scale=100, digits=1)
    '74.1\xa0to\xa080.0'
    """
    if estimate is None or estimate.low is None or estimate.high is None:
        return ""
    ends = (metrics.decimal(scale * end, digits) for end in (estimate.low, estimate.high))
    return f"{UNBROKEN}to{UNBROKEN}".join(ends)
