"""Closed-form erasers: all columns stay, and their correlation with the attributes is removed.

What each guarantees, and when to prefer it to `fairpca.FairPCA`, is in ``docs/erasers``.
"""

from ._kernel_sal import KernelSAL
from ._leace import LEACE
from ._mean_projection import MeanProjection
from ._sal import SAL
from ._splince import SPLINCE
from ._within_pairs import within_pairs

__all__ = ["LEACE", "SAL", "SPLINCE", "KernelSAL", "MeanProjection", "within_pairs"]
