"""Other people's methods behind the same `fit` and `transform`, to compare with on your data.

Written from their papers. What each guarantees, and when to prefer it, is in ``docs/peers``.
"""

from ..errors import NothingLeftToRemoveWarning
from ._baselines import PCA, KernelPCA
from ._fpca import FPCA
from ._inlp import INLP
from ._mbf_pca import MbFPCA
from ._oracle_leace import OracleLEACE
from ._reconstruction import BalancedPCA, SamadiPCA
from ._reductions import Reductions
from ._rlace import RLACE

__all__ = [
    "FPCA",
    "INLP",
    "PCA",
    "RLACE",
    "BalancedPCA",
    "KernelPCA",
    "MbFPCA",
    "NothingLeftToRemoveWarning",
    "OracleLEACE",
    "Reductions",
    "SamadiPCA",
]
