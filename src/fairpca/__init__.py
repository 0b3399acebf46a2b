"""Fair representations: remove what linear models read of groups of people, keep the rest.

Equal means do not hide what a non-linear model can see; measure with `fairpca.metrics`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import (
    FairPCAError,
    FewLandmarksWarning,
    IndefiniteKernelWarning,
    InfeasibleError,
    ManyLevelsWarning,
    MissingExtraError,
    MissingGroupError,
    MissingTargetError,
    ResidualWarning,
    SingleGroupError,
    UnscaledWarning,
    UsageError,
)

if TYPE_CHECKING:
    from ._rows import CSVRows, ParquetRows
    from .auditing import Audit, audit
    from .estimators import (
        FairKernelPCA,
        FairPCA,
        FairPLS,
    )
    from .models import FairModel, fit_table, load, save

__version__ = "0.1.0"

_LATER = {
    "Audit": "auditing",
    "CSVRows": "_rows",
    "FairKernelPCA": "estimators",
    "FairModel": "models",
    "FairPCA": "estimators",
    "FairPLS": "estimators",
    "ParquetRows": "_rows",
    "audit": "auditing",
    "fit_table": "models",
    "load": "models",
    "save": "models",
}
"""Names that are imported when they are first used, and where they live."""

__all__ = [
    "Audit",
    "CSVRows",
    "FairKernelPCA",
    "FairModel",
    "FairPCA",
    "FairPCAError",
    "FairPLS",
    "FewLandmarksWarning",
    "IndefiniteKernelWarning",
    "InfeasibleError",
    "ManyLevelsWarning",
    "MissingExtraError",
    "MissingGroupError",
    "MissingTargetError",
    "ParquetRows",
    "ResidualWarning",
    "SingleGroupError",
    "UnscaledWarning",
    "UsageError",
    "audit",
    "fit_table",
    "load",
    "save",
]


_PACKAGES = (
    "datasets",
    "erasers",
    "metrics",
    "moments",
    "peers",
    "tables",
)


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f".{name}", __name__)
    if name not in _LATER:
        raise AttributeError(f"module 'fairpca' has no attribute {name!r}")
    return getattr(import_module(f".{_LATER[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
