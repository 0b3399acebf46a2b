"""Other people's methods behind the same `fit` and `transform`, to compare with on your data.

Written from their papers. What each guarantees, and when to prefer it, is in ``docs/peers``.
"""

from .balanced_pca import BalancedPCA
from .baselines import PCA, KernelPCA
from .fpca_sdp import FPCA
from .inlp import INLP, NothingLeftToRemoveWarning
from .kernel_sal import KernelSAL
from .leace import LEACE
from .mbf_pca import MbFPCA
from .mean_projection import MeanProjection
from .oracle_leace import OracleLEACE
from .reductions import Reductions
from .rlace import RLACE
from .sal import SAL
from .samadi import SamadiPCA
from .splince import SPLINCE

__all__ = [
    "FPCA",
    "INLP",
    "LEACE",
    "PCA",
    "RLACE",
    "SAL",
    "SPLINCE",
    "BalancedPCA",
    "KernelPCA",
    "KernelSAL",
    "MbFPCA",
    "MeanProjection",
    "NothingLeftToRemoveWarning",
    "OracleLEACE",
    "Reductions",
    "SamadiPCA",
]
