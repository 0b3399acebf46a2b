"""Numbers about a representation: what it keeps, and what it still gives away."""

from ._auc import (
    AucDraws,
    chance_limit,
    chance_p_value,
    cross_fitted_aucs,
    macro_auc,
    mean_auc,
)
from ._certificate import Certificate, certified_gap
from ._inputs import FEWEST, coded_levels, present_values, stratified_rows
from ._leakage import Leakage, leakage, linear_inseparability
from ._mmd import MMDKernel, MMDTest, median_bandwidth, mmd_test, squared_mmd
from ._moments import covariance_gap, explained_variance_ratio, mean_gap
from ._parity import (
    distribution_gap,
    false_positive_rate_difference,
    group_shares,
    largest_difference,
    mean_prediction_difference,
    precision_difference,
    select_top,
    selection_rate_difference,
    selection_rate_ratio,
    shares_up_to,
    true_positive_rate_difference,
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
    "Certificate",
    "Leakage",
    "MMDKernel",
    "MMDTest",
    "certified_gap",
    "covariance_gap",
    "distribution_gap",
    "explained_variance_ratio",
    "false_positive_rate_difference",
    "leakage",
    "linear_inseparability",
    "mean_gap",
    "mean_prediction_difference",
    "median_bandwidth",
    "mmd_test",
    "precision_difference",
    "select_top",
    "selection_rate_difference",
    "selection_rate_ratio",
    "squared_mmd",
    "true_positive_rate_difference",
]
