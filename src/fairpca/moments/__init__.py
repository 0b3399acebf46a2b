"""The waist: weights, means and scatters of groups, which add up over disjoint rows."""

from .accumulate import accumulate
from .attribute_moments import AttributeMoments, LevelMoments, NumericMoments
from .group_moments import GroupMoments, standard_deviations
from .places import moments_at
from .rows_as_features import attributes_over_rows
from .scatter import DenseScatter, RowScatter, Scatter

__all__ = [
    "AttributeMoments",
    "DenseScatter",
    "GroupMoments",
    "LevelMoments",
    "NumericMoments",
    "RowScatter",
    "Scatter",
    "accumulate",
    "attributes_over_rows",
    "moments_at",
    "standard_deviations",
]
