"""The scikit-learn face of the package."""

from .collect import collect_moments
from .fair_pca import FairPCA

__all__ = ["FairPCA", "collect_moments"]
