"""The scikit-learn face of the package."""

from ..errors import UnknownQuestionError
from ._choose_by_leakage import Choice
from ._collect import collect_moments
from ._fair_kernel_pca import FairKernelPCA
from ._fair_pca import FairPCA
from ._given_moments import FitsGivenMoments
from ._inputs import (
    CRITERIA,
    check_lengths,
    check_same_order,
    check_target,
    check_weights,
    unchanged_on_error,
)
from ._kernel_parameters import check_function, check_kernel_parameters, kernel_for
from ._learned import groups_of
from ._parameters import (
    check_bool,
    check_choice,
    check_count,
    check_n_components,
    check_number,
    check_tradeoff,
)
from ._representation import FairTransformer, Represents
from ._row_sample import smallest_keys
from ._rows_to_moments import check_finite, check_sizes, finite_moments
from ._sensitive_rows import FLOATS
from ._usual_choices import (
    COVARIANCE_TOLERANCE,
    approximation_for,
    fewer_and_fewer,
    usual_components,
)

__all__ = ["FairKernelPCA", "FairPCA", "collect_moments"]
