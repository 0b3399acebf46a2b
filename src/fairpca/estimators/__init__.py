"""The scikit-learn face of the package."""

from ._choose_by_leakage import Choice
from ._collect import collect_moments
from ._exact_kernel import check_function, kernel_for
from ._fair_kernel_pca import FairKernelPCA
from ._fair_pca import FairPCA
from ._inputs import FLOATS, check_lengths, check_same_order, check_target, check_weights
from ._parameters import (
    CRITERIA,
    check_bool,
    check_choice,
    check_count,
    check_kernel_parameters,
    check_n_components,
    check_number,
    check_tradeoff,
)
from ._reader import Reader, check_finite, check_sizes, finite_moments
from ._row_sample import smallest_keys
from ._transformer import (
    FairTransformer,
    Representation,
    groups_of,
    learned_from,
    unchanged_on_error,
)
from ._usual_choices import (
    COVARIANCE_TOLERANCE,
    approximation_for,
    fewer_and_fewer,
    usual_components,
)

__all__ = ["FairKernelPCA", "FairPCA", "collect_moments"]
