"""Numbers about a representation: what it keeps, and what it leaks."""

from ._auc import (
    AucDraws,
    aucs_within_strata,
    chance_limit,
    chance_p_value,
    cross_fitted_aucs,
    macro_auc,
    mean_auc,
    weight_below,
)
from ._certificate import Certificate, certified_gap
from ._explained import ExplainedDifference, explained_difference
from ._inputs import coded_levels, present_values, stratified_rows
from ._leakage import COARSER, Leakage, leakage
from ._moments import covariance_gap, explained_variance_ratio, mean_gap
from ._neighbours import neighbours_kept, neighbours_kept_of_each, similarity_correlation
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
from ._plan import Plan, plan, share_left
from ._probes import PROBES, fit_probe, level_scores, make_probe
from ._proxy import BetweenGroups, ProxyDifference, between_groups, proxy_difference
from ._scorer import make_leakage_scorer
from ._strata import Cells, Parts, Strata, strata_of

__all__ = [
    "Certificate",
    "ExplainedDifference",
    "Leakage",
    "Plan",
    "ProxyDifference",
    "certified_gap",
    "covariance_gap",
    "distribution_gap",
    "explained_difference",
    "explained_variance_ratio",
    "false_positive_rate_difference",
    "leakage",
    "make_leakage_scorer",
    "mean_gap",
    "mean_prediction_difference",
    "neighbours_kept",
    "plan",
    "precision_difference",
    "proxy_difference",
    "select_top",
    "selection_rate_difference",
    "selection_rate_ratio",
    "similarity_correlation",
    "true_positive_rate_difference",
]
