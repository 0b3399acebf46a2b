"""Weights, means and scatters of groups: collect them from rows, add them up, fit from them."""

from ._moments import GroupMoments
from .estimators import collect_moments

__all__ = ["GroupMoments", "collect_moments"]
