"""Numbers about a representation: what it keeps, and what it still gives away."""

from .covariances import covariance_gap
from .inseparability import linear_inseparability
from .leakage import Leakage, leakage
from .mmd import median_bandwidth, squared_mmd
from .parity import selection_rate_gap, true_positive_rate_gap
from .variance import explained_variance_ratio

__all__ = [
    "Leakage",
    "covariance_gap",
    "explained_variance_ratio",
    "leakage",
    "linear_inseparability",
    "median_bandwidth",
    "selection_rate_gap",
    "squared_mmd",
    "true_positive_rate_gap",
]
