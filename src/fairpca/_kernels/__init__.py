"""Kernels, evaluated in blocks, and the feature maps that stand for them."""

from .feature_maps import (
    Features,
    KernelColumns,
    RandomFeatures,
    RowsAndKernel,
    pilot_centre,
    scale_gamma,
    whitening,
)
from .kernel import (
    KERNELS,
    NEGATIVE,
    PRECOMPUTED,
    Kernel,
    kernel_matrix,
    warn_of_negative_directions,
)
from .kernel_scatter import KernelScatter, Share
from .options import ASYMMETRIC, KernelOptions, check_function
