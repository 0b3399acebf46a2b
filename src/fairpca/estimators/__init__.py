"""The scikit-learn face of the package."""

from .collect import collect_moments
from .fair_kernel_pca import FairKernelPCA
from .fair_pca import FairPCA

__all__ = ["FairKernelPCA", "FairPCA", "collect_moments"]
