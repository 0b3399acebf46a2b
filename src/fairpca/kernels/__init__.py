"""Kernels, evaluated in blocks, and the feature maps that stand for them."""

from ._feature_maps import KernelColumns, RandomFeatures, pilot_centre, scale_gamma, whitening
from ._kernel import (
    KERNELS,
    NEGATIVE,
    PRECOMPUTED,
    Kernel,
    kernel_matrix,
    warn_of_negative_directions,
)

__all__ = [
    "KERNELS",
    "NEGATIVE",
    "PRECOMPUTED",
    "Kernel",
    "KernelColumns",
    "RandomFeatures",
    "kernel_matrix",
    "pilot_centre",
    "scale_gamma",
    "warn_of_negative_directions",
    "whitening",
]
