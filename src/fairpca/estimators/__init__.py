"""The scikit-learn face of the package."""

from ._checks import (
    FLOATS,
    check_choice,
    check_count,
    check_kernel_parameters,
    check_n_components,
    check_tradeoff,
)
from ._collect import collect_moments
from ._contract import FairTransformer, Representation
from ._exact_kernel import dual_of, kernel_scatter, learned_of_kernel
from ._fair_kernel_pca import FairKernelPCA
from ._fair_pca import FairPCA
from ._fair_pls import FairPLS
from ._finite_moments import check_finite
from ._learned import compared, learned_from
from ._plain_pca import PlainPCA
from ._reader import Reader

__all__: list[str] = []
