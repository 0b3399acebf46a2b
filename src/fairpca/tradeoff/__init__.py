"""Accuracy against fairness: the curve over all lambdas, from one pass of moments."""

from ._curve import TradeoffPoint, tradeoff_curve
from ._parts import TradeoffParts

__all__ = ["TradeoffPoint", "tradeoff_curve"]
