"""The waist: weights, means and scatters of groups, which add up over disjoint rows."""

from .accumulate import accumulate
from .attribute_moments import AttributeMoments, LevelMoments, NumericMoments
from .design import attributes_over_rows
from .group_moments import GroupMoments, MoreDigitsNeeded, moments_at, noise_along
from .scatter import DenseScatter, RowScatter, Scatter
from .shares import Scores, SharesBelow, shares_below
