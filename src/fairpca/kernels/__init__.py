"""Kernels, evaluated in blocks, and the feature maps that stand for them."""

from ._bandwidth import pilot_centre, scale_gamma
from ._feature_maps import KernelColumns, RandomFeatures, whitening
from ._gram import kernel_matrix
from ._indefinite import NEGATIVE, warn_of_negative_directions
from ._kernel import KERNELS, PRECOMPUTED, Kernel

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
