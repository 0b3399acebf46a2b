"""The waist: weights, means and scatters of groups, which add up over disjoint rows."""

from .accumulate import accumulate
from .attribute_moments import AttributeMoments, LevelMoments, NumericMoments
from .group_moments import GroupMoments, standard_deviations
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
    "standard_deviations",
]
