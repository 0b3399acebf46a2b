"""The estimators that can be saved, and what each of their learned attributes may be.

Files name classes and attributes; only those listed here come to life.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .. import peers
from .._attributes import as_columns
from .._rows import FeatureMap, LinearMap
from ..errors import ModelFileError
from ..estimators import Choice, FairKernelPCA, FairPCA
from ..kernels import KernelColumns, RandomFeatures
from ..moments import GroupMoments
from ._records import is_array, is_count, is_label, is_number

CLASSES: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        FairPCA,
        FairKernelPCA,
        peers.BalancedPCA,
        peers.FPCA,
        peers.INLP,
        peers.KernelPCA,
        peers.KernelSAL,
        peers.LEACE,
        peers.MbFPCA,
        peers.MeanProjection,
        peers.PCA,
        peers.RLACE,
        peers.SAL,
        peers.SamadiPCA,
        peers.SPLINCE,
    )
}
"""Everything whose fitted state is a map of rows that needs no attributes."""


def _or_none(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


def _vector(value: Any) -> bool:
    return is_array(value, None)


def _matrix(value: Any) -> bool:
    return is_array(value, None, None)


def _rows(value: Any) -> bool:
    return _matrix(value) or issparse(value)


def _a(*classes: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, classes)


def _groups(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(name, str)
        and (levels == "numeric" or (isinstance(levels, list) and all(map(is_label, levels))))
        for name, levels in value.items()
    )


def _names(value: Any) -> bool:
    named = isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1
    return named and all(isinstance(name, str) for name in value)


def _numbers(value: Any) -> bool:
    return isinstance(value, dict) and all(map(is_number, [*value, *value.values()]))


def _output(value: Any) -> bool:
    return isinstance(value, dict) and value.get("transform") in ("default", "pandas", "polars")


_KINDS: dict[Callable[[Any], bool], str] = {
    is_count: "n_features_in_ n_components_ constraint_rank_ n_samples_seen_ n_directions_ n_lost_ "
    "n_iter_ n_removed_",
    is_number: "mean_gap_ covariance_gap_ relaxed_mean_gap_ objective_ duality_gap_ overlap_ loss_ "
    "accuracy_ majority_ bandwidth_ mmd2_ penalty_ in_sight_ covariance_penalty_ "
    "covariance_directions_",
    _vector: "mean_ explained_variance_ explained_variance_ratio_ eigenvalues_ singular_values_ "
    "losses_ weights_",
    _or_none(_vector): "scale_",
    _or_none(is_number): "gamma_",
    _matrix: "components_ standard_components_ dual_components_ standard_dual_components_ "
    "relaxation_ removed_",
    _rows: "X_fit_ landmarks_",
    _groups: "groups_",
    _names: "feature_names_in_",
    _numbers: "held_out_auc_",
    _output: "_sklearn_output_config",
    _a(bool): "averaged_",
    _a(dict): "_drawn_with",
    _a(Choice): "_choice",
    _a(GroupMoments): "moments_",
    _a(LinearMap): "_inverse",
    _a(LinearMap, FeatureMap): "_map",
    _a(KernelColumns, RandomFeatures): "_feature_map",
}

LEARNED = {name: check for check, names in _KINDS.items() for name in names.split()}
"""What an attribute must be, by its name."""


def check_learned(learned: dict[str, Any]) -> None:
    """Raise unless each attribute is known and of its kind, and the map has its size."""
    for name, value in learned.items():
        if name not in LEARNED or not LEARNED[name](value):
            raise ModelFileError(f"has a learned attribute {name[:40]!r} that no model has")
    for name in ("_map", "n_features_in_", "n_components_"):
        if name not in learned:
            raise ModelFileError(f"lacks {name!r}, without which a model is not fitted")


def check_sizes(estimator: Any) -> None:
    """Raise unless what was learned fits together: columns in, components out, names."""
    learned, linear = vars(estimator), estimator._map
    sensitive = estimator.sensitive_columns
    d = learned["n_features_in_"] - (0 if sensitive is None else len(as_columns(sensitive)))
    k = linear.matrix.shape[1]
    names = learned.get("feature_names_in_")
    fits = {
        "columns": n_columns(linear) == d,
        "components": learned["n_components_"] <= k,
        "names": names is None or len(names) == learned["n_features_in_"],
        "moments": _moments_fit(learned, d),
        "explained_variance_ratio_": len(learned.get("explained_variance_ratio_", ())) <= k,
        "inverse": "_inverse" not in learned or learned["_inverse"].matrix.shape == (d, k),
    }
    wrong = [name for name, fit in fits.items() if not fit]
    if wrong:
        raise ModelFileError(f"has arrays whose shapes do not fit together ({', '.join(wrong)})")


def n_columns(fitted: LinearMap | FeatureMap) -> int:
    """Return how many columns rows have that a map takes."""
    if isinstance(fitted, LinearMap):
        return int(fitted.matrix.shape[0])
    if isinstance(fitted.features, KernelColumns):
        return int(fitted.features.rows.shape[1])
    if isinstance(fitted.features, RandomFeatures):
        return int(fitted.features.frequencies.shape[0])
    return int(fitted.linear.matrix.shape[0])  # given kernel values


def _moments_fit(learned: dict[str, Any], d: int) -> bool:
    moments = learned.get("moments_")
    if moments is None:
        return True
    features = learned.get("_feature_map")
    return bool(moments.n_features == (d if features is None else features.n_features))
