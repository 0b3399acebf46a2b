"""Methods that the paper compares with, and others of their kind, behind one `fit` and `transform`.

Written from their papers, for comparisons. What each guarantees, and when to prefer it, is in
``docs/research``.
"""

from ._base import FewerComponentsWarning
from ._fpca import FPCA
from ._inlp import INLP, NothingLeftToRemoveWarning
from ._mbf_pca import MbFPCA
from ._oracle_leace import OracleLEACE
from ._pca import PCA
from ._reconstruction import BalancedPCA, SamadiPCA
from ._reductions import Reductions
from ._rlace import RLACE

__all__ = [
    "FPCA",
    "INLP",
    "PCA",
    "RLACE",
    "BalancedPCA",
    "FewerComponentsWarning",
    "MbFPCA",
    "NothingLeftToRemoveWarning",
    "OracleLEACE",
    "Reductions",
    "SamadiPCA",
]
