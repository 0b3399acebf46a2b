"""Numbers about a representation: what it keeps, and what it still gives away."""

from ._auc import AucDraws, chance_limit, chance_p_value, cross_fitted_aucs, mean_auc
from ._cells import Cells
from ._certificate import Certificate, PairGap, certified_gap
from ._inputs import FEWEST, stratified_rows
from ._leakage import Leakage, leakage, linear_inseparability
from ._mmd import MMDKernel, MMDTest, median_bandwidth, mmd_test, squared_mmd
from ._moments import covariance_gap, explained_variance_ratio, mean_gap
from ._parity import (
    GroupRates,
    JudgedRows,
    distribution_gap,
    false_positive_rate_gap,
    group_shares,
    mean_prediction_gap,
    precision_gap,
    selected,
    selection_rate_gap,
    selection_rate_ratio,
    shares_up_to,
    true_positive_rate_gap,
)
from ._probes import PROBES, fit_reading_model, level_scores, reading_model
from ._wording import (
    NOT_MEASURED,
    decimal,
    joined,
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
    "distribution_gap",
    "explained_variance_ratio",
    "false_positive_rate_gap",
    "leakage",
    "linear_inseparability",
    "mean_gap",
    "mean_prediction_gap",
    "median_bandwidth",
    "mmd_test",
    "precision_gap",
    "selected",
    "selection_rate_gap",
    "selection_rate_ratio",
    "squared_mmd",
    "true_positive_rate_gap",
]
