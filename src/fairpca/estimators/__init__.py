"""The scikit-learn face of the package."""

from .fair_pca import FairPCA

__all__ = ["FairPCA"]
