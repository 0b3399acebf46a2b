"""Numbers about a representation: what it keeps, and what it still gives away."""

from .cells import Cells
from .certificate import Certificate, PairGap, certified_gap
from .covariances import covariance_gap
from .cross_fitting import AucDraws, cross_fitted_aucs
from .inseparability import linear_inseparability
from .leakage import Leakage, leakage
from .means import mean_gap
from .mmd import median_bandwidth, squared_mmd
from .mmd_permutation import MMDKernel, MMDTest, mmd_test
from .parity import selection_rate_gap, true_positive_rate_gap
from .variance import explained_variance_ratio

__all__ = [
    "AucDraws",
    "Cells",
    "Certificate",
    "Leakage",
    "MMDKernel",
    "MMDTest",
    "PairGap",
    "certified_gap",
    "covariance_gap",
    "cross_fitted_aucs",
    "explained_variance_ratio",
    "leakage",
    "linear_inseparability",
    "mean_gap",
    "median_bandwidth",
    "mmd_test",
    "selection_rate_gap",
    "squared_mmd",
    "true_positive_rate_gap",
]
