"""The estimators that can be saved, and what their learned attributes may be."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from .. import estimators, peers
from .._attributes import as_columns
from .._numerics import is_array, is_count, is_label
from .._rows import FeatureMap, LinearMap
from ..errors import ModelFileError
from ..estimators import Choice
from ..kernels import KernelColumns, RandomFeatures
from ..moments import GroupMoments


def _maps_rows(cls: Any) -> bool:
    """Tell whether this is a class whose fitted state is a map of rows without attributes."""
    transform = getattr(cls, "transform", None) if inspect.isclass(cls) else None
    return transform is not None and not (
        {"sensitive_features", "sensitive"} & set(inspect.signature(transform).parameters)
    )


CLASSES: dict[str, type] = {
    name: cls
    for package in (estimators, peers)
    for name in package.__all__
    if _maps_rows(cls := getattr(package, name))
}
"""Everything public whose fitted state is a map of rows that needs no attributes."""


def _groups(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(name, str)
        and (levels == "numeric" or (isinstance(levels, list) and all(map(is_label, levels))))
        for name, levels in value.items()
    )


def _names(value: Any) -> bool:
    named = isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1
    return named and all(isinstance(name, str) for name in value)


def _output(value: Any) -> bool:
    return isinstance(value, dict) and value.get("transform") in ("default", "pandas", "polars")


def _vector(value: Any) -> bool:
    return is_array(value, None)


_RELIED_ON: dict[str, Any] = {
    "_map": LinearMap | FeatureMap,
    "_inverse": LinearMap,
    "_feature_map": KernelColumns | RandomFeatures,
    "_choice": Choice,
    "moments_": GroupMoments,
    "groups_": _groups,
    "explained_variance_ratio_": _vector,
    "feature_names_in_": _names,
    "_sklearn_output_config": _output,
}
"""What methods of any estimator rely on: a class, or a check."""


def is_own(cls: type, name: str) -> bool:
    """Tell whether a learned attribute can have this name: by custom, and hiding no method."""
    private = name.startswith("_") and not name.startswith("__")
    hidden = getattr(cls, name, None)
    free = not callable(hidden) and not isinstance(hidden, property)
    return name.isidentifier() and (private or name.endswith("_")) and free


def check_learned(cls: type, learned: dict[str, Any]) -> None:
    """Raise unless each attribute can be one of the class, and is what methods rely on."""
    for name, value in learned.items():
        if not is_own(cls, name) or not _is_of_its_kind(name, value):
            raise ModelFileError(f"has a learned attribute {name[:40]!r} that no model has")
    for name in ("_map", "n_features_in_", "n_components_"):
        if name not in learned:
            raise ModelFileError(f"lacks {name!r}, without which a model is not fitted")


def _is_of_its_kind(name: str, value: Any) -> bool:
    if name.startswith("n_"):
        return is_count(value)
    kind = _RELIED_ON.get(name, object)
    return bool(kind(value) if inspect.isfunction(kind) else isinstance(value, kind))


def check_sizes(estimator: Any) -> None:
    """Raise unless what was learned fits together: columns in, components out, names."""
    learned, linear = vars(estimator), estimator._map
    sensitive = estimator.sensitive_columns
    d = learned["n_features_in_"] - (0 if sensitive is None else len(as_columns(sensitive)))
    k = linear.matrix.shape[1]
    names = learned.get("feature_names_in_")
    moments, features = learned.get("moments_"), learned.get("_feature_map")
    p = d if features is None else features.n_features
    fits = {
        "columns": n_columns(linear) == d,
        "components": learned["n_components_"] <= k,
        "names": names is None or len(names) == learned["n_features_in_"],
        "moments": moments is None or moments.n_features == p,
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
