"""Numbers about a representation: what it keeps, and what it still gives away."""

from ._cells import Cells
from ._certificate import Certificate, PairGap, certified_gap
from ._covariances import covariance_gap
from ._cross_fitting import AucDraws, cross_fitted_aucs
from ._inputs import integer_levels, present_values
from ._inseparability import linear_inseparability
from ._kernel_probe import LandmarkFeatures
from ._leakage import Leakage, leakage
from ._means import mean_gap
from ._mmd import median_bandwidth, squared_mmd
from ._mmd_permutation import MMDKernel, MMDTest, mmd_test
from ._parity import (
    GroupRates,
    JudgedRows,
    group_shares,
    selection_rate_gap,
    true_positive_rate_gap,
)
from ._rank_auc import macro_auc, placements
from ._subsample import FEWEST, stratified_rows
from ._variance import explained_variance_ratio
from ._wording import (
    MOST_LISTED,
    NOT_MEASURED,
    decimal,
    joined,
    markdown,
    markdown_list,
    markdown_number,
    named,
    p_value,
    percent,
    points,
    shortened,
    significant,
    whole,
)

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
