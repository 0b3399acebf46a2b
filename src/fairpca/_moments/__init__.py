"""The waist: weights, means and scatters of groups, which add up over disjoint rows."""

from .accumulate import accumulate
from .attribute_moments import AttributeMoments, LevelMoments, NumericMoments
from .design import attributes_over_rows
from .group_moments import (
    FarValue,
    GroupMoments,
    MoreDigitsNeeded,
    moments_at,
    noise_along,
    noise_of_features,
)
from .scatter import DenseScatter, RowScatter, Scatter
from .shares import Distribution, Distributions, Scores, SharesBelow, distributions_of, shares_below
