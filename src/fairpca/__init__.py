"""Fair representation learning: remove demographic information from data, keep the rest.

Equal means do not hide what a non-linear model can see; measure with `fairpca.metrics`.
"""

from .errors import (
    FairPCAError,
    FewLandmarksWarning,
    IndefiniteKernelWarning,
    InfeasibleError,
    ManyLevelsWarning,
    MissingExtraError,
    MissingGroupError,
    MissingTargetError,
    ResidualWarning,
    SingleGroupError,
)
from .estimators import FairKernelPCA, FairPCA, collect_moments
from .moments import GroupMoments

__version__ = "0.1.0.dev0"

__all__ = [
    "FairKernelPCA",
    "FairPCA",
    "FairPCAError",
    "FewLandmarksWarning",
    "GroupMoments",
    "IndefiniteKernelWarning",
    "InfeasibleError",
    "ManyLevelsWarning",
    "MissingExtraError",
    "MissingGroupError",
    "MissingTargetError",
    "ResidualWarning",
    "SingleGroupError",
    "collect_moments",
]
