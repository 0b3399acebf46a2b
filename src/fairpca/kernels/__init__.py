"""Kernels, evaluated in blocks, and the feature maps that stand for them."""

from .bandwidth import pilot_centre, scale_gamma
from .feature_maps import KernelColumns, RandomFeatures, warn_if_indefinite, whitening
from .gram import kernel_matrix
from .kernel import KERNELS, PRECOMPUTED, Kernel

__all__ = [
    "KERNELS",
    "PRECOMPUTED",
    "Kernel",
    "KernelColumns",
    "RandomFeatures",
    "kernel_matrix",
    "pilot_centre",
    "scale_gamma",
    "warn_if_indefinite",
    "whitening",
]
