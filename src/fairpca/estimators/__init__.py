"""The scikit-learn face of the package."""

from typing import TYPE_CHECKING, Any

from ._checks import (
    CRITERIA,
    FLOATS,
    check_bool,
    check_choice,
    check_count,
    check_kernel_parameters,
    check_lengths,
    check_n_components,
    check_number,
    check_same_order,
    check_target,
    check_tradeoff,
    check_weights,
)
from ._choose_by_leakage import Choice
from ._collect import collect_moments
from ._exact_kernel import kernel_scatter
from ._fair_kernel_pca import FairKernelPCA
from ._fair_pca import FairPCA
from ._reader import Reader, check_finite, check_sizes, finite_moments
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

if TYPE_CHECKING:
    from ._moments_of_files import moments_from_csv, moments_from_parquet

__all__ = [
    "FairKernelPCA",
    "FairPCA",
    "collect_moments",
    "moments_from_csv",
    "moments_from_parquet",
]


def __getattr__(name: str) -> Any:
    if name not in ("moments_from_csv", "moments_from_parquet"):  # they need the readers of files
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _moments_of_files

    return getattr(_moments_of_files, name)
