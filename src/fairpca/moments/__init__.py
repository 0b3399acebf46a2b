"""The waist: weights, means and scatters of groups, which add up over disjoint rows."""

from ._accumulate import accumulate
from ._attribute_moments import AttributeMoments, LevelMoments, NumericMoments
from ._design import attributes_over_rows
from ._group_moments import GroupMoments, common_unit, moments_at, standard_deviations
from ._scatter import DenseScatter, RowScatter, Scatter

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
