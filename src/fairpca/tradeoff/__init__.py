"""Accuracy against fairness: the curve over all lambdas, from one pass of moments."""

from ..metrics import GroupRates
from ._curve import PAPERS_TRADEOFFS, TradeoffPoint, predictions_along, tradeoff_curve
from ._logistic_path import logistic_path
from ._parts import TradeoffParts

__all__ = ["PAPERS_TRADEOFFS", "GroupRates", "TradeoffPoint", "tradeoff_curve"]
