"""Accuracy against fairness: the curve over all lambdas, from one pass of moments."""

from ._curve import PAPERS_TRADEOFFS, TradeoffPoint, predictions_along, tradeoff_curve
from ._logistic_path import logistic_path
from ._parts import TradeoffParts
from ._rates import JudgedRows

__all__ = ["TradeoffPoint", "tradeoff_curve"]
