"""Accuracy against fairness: the curve over all lambdas, from one pass of moments."""

from .curve import PAPERS_TRADEOFFS, TradeoffPoint, tradeoff_curve
from .decisions import GroupRates
from .logistic_path import LogisticModel, logistic_path
from .parts import TradeoffParts

__all__ = [
    "PAPERS_TRADEOFFS",
    "GroupRates",
    "LogisticModel",
    "TradeoffParts",
    "TradeoffPoint",
    "logistic_path",
    "tradeoff_curve",
]
