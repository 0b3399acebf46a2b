"""A fitted estimator as plain JSON and arrays, and back: what is saved, and what is believed."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import erasers
from .._attributes import as_columns
from .._files import Packer, RationedArrays, is_array, is_count, is_label, unplain
from .._kernels import Features
from .._maps import AffineMap, FeatureMap, LinearMap
from .._moments import DenseScatter, GroupMoments, LevelMoments
from ..errors import ExportError, ModelFileError
from ..estimators import FairKernelPCA, FairPCA, FairPLS, PlainPCA

MAX_PARAMETERS = 2**20
"""Arrays among the parameters take no more bytes: there are hardly any, and messages show them."""

SET_FOR_LATER_FITS = ("_metadata_request",)
"""Attributes that scikit-learn sets for later fits; they are left out."""


CLASSES: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        *(FairPCA, FairPLS, FairKernelPCA, PlainPCA),
        *(getattr(erasers, name) for name in erasers.__all__),
    )
    if isinstance(cls, type)  # there is a function, too
}
"""Everything that a model file can hold."""


def plain_estimator(estimator: Any, packer: Packer, *, moments: bool) -> dict[str, Any]:
    """Return the class, the parameters and what was learned; arrays go to the packer.

    A model file serves `transform`: moments are statistics of people, and often most of the bytes.
    """
    name = type(estimator).__name__
    if CLASSES.get(name) is not type(estimator):
        raise ExportError(
            f"A {name} cannot be saved. A model file holds one of {', '.join(sorted(CLASSES))}; "
            f"for a pipeline of any steps see fairpca.models.trusted_types."
        )
    fitted: Any = estimator
    check_is_fitted(fitted)
    fitted._ensure_solved()
    parameters = fitted.get_params(deep=False)
    learned = {k: v for k, v in vars(fitted).items() if k not in parameters}
    left_out = [k for k in learned if k in SET_FOR_LATER_FITS]
    if moments:
        _check_moments(fitted)
    elif "moments_" in learned:
        left_out.append("moments_")
    unknown = [k for k in learned if k not in left_out and not _is_own(type(fitted), k)]
    if unknown:
        raise ExportError(
            f"This {name} has the attribute(s) {unknown}, which are none of its own. Remove them, "
            f"or pass facts about the model as info=... instead."
        )
    return {
        "class": name,
        "parameters": {k: packer.plain(v, f"{name}.{k}") for k, v in parameters.items()},
        "learned": {
            k: packer.plain(v, f"{name}.{k}") for k, v in learned.items() if k not in left_out
        },
        "left_out": left_out,
    }


def made_estimator(header: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> Any:
    """Return the fitted estimator of a header, if all its parts are those of a known class."""
    name = header["class"]
    cls = CLASSES.get(name) if isinstance(name, str) else None
    if cls is None:
        raise ModelFileError(
            f"holds a {str(name)[:40]!r}, which this version of fairpca does not know. Upgrade "
            f"with: pip install --upgrade fairpca"
        )
    few = RationedArrays(tensors, MAX_PARAMETERS)
    parameters = {k: unplain(v, few) for k, v in header["parameters"].items()}
    if not isinstance(parameters.get("device"), str | None):
        raise ModelFileError("has a device that is no name of one")
    estimator: Any = cls(**parameters)
    learned = {k: unplain(v, tensors) for k, v in header["learned"].items()}
    _check_learned(cls, learned)
    try:
        estimator._check_parameters()
    except ValueError as reason:
        told = " ".join(str(reason).split())[:400]
        raise ModelFileError(f"has a parameter of {name} that cannot be used: {told}") from reason
    vars(estimator).update(learned)
    _check_sizes(estimator)
    return estimator


def n_columns(fitted: AffineMap | FeatureMap) -> int:
    """Return how many columns rows have that a map takes."""
    if isinstance(fitted, AffineMap):
        return fitted.n_inputs
    if isinstance(fitted.features, Features):
        return fitted.features.n_columns
    return int(fitted.linear.matrix.shape[0])  # given kernel values


def _check_moments(fitted: Any) -> None:
    """Raise unless a fitted estimator has moments that are sums, and can add batches to them."""
    name, found = type(fitted).__name__, vars(fitted).get("moments_")
    if not hasattr(fitted, "partial_fit"):
        reason = "has no partial_fit, for which they are saved"
    elif found is None:
        reason = "kept none: its rows were wide or sparse, had very many features, or a kernel"
    elif not all(isinstance(s, DenseScatter) for s in _scatters(found)):
        reason = "was fed few wide rows, and its moments are these rows themselves"
    else:
        return
    raise ExportError(f"Moments cannot be saved: this {name} {reason}. Save it without them.")


def _scatters(moments: GroupMoments) -> Iterator[Any]:
    yield moments.scatter
    for a in moments.attributes:
        if isinstance(a, LevelMoments) and a.scatters is not None:
            yield from (s for s in a.scatters if s is not None)


def _groups(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(name, str)
        and (levels == "numeric" or (isinstance(levels, list) and all(map(is_label, levels))))
        for name, levels in value.items()
    )


def _texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _names(value: Any) -> bool:
    named = isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1
    return named and _texts(value)


_RELIED_ON: dict[str, Any] = {
    "_map": AffineMap | FeatureMap,
    "_inverse": LinearMap,
    "_feature_map": Features,
    "moments_": GroupMoments,
    "groups_": _groups,
    "_factors": lambda value: isinstance(value, dict) and _texts([*value, *value.values()]),
    "targets_": _groups,
    "explained_targets_": lambda value: is_array(value, None, None),
    "explained_variance_ratio_": lambda value: is_array(value, None),
    "feature_names_in_": _names,
    "_sklearn_output_config": lambda value: (
        isinstance(value, dict) and value.get("transform") in ("default", "pandas", "polars")
    ),
}
"""What methods of any estimator rely on: a class, or a check."""


def _is_own(cls: type, name: str) -> bool:
    """Tell whether a learned attribute can have this name: by custom, and hiding no method."""
    private = name.startswith("_") and not name.startswith("__")
    hidden = getattr(cls, name, None)
    free = not callable(hidden) and not isinstance(hidden, property)
    return name.isidentifier() and (private or name.endswith("_")) and free


def _check_learned(cls: type, learned: dict[str, Any]) -> None:
    """Raise unless each attribute can be one of the class, and is what methods rely on."""
    for name, value in learned.items():
        if not _is_own(cls, name) or not _is_of_its_kind(name, value):
            raise ModelFileError(f"has a learned attribute {name[:40]!r} that no model has")
    for name in ("_map", "n_features_in_", "n_components_"):
        if name not in learned:
            raise ModelFileError(f"lacks {name!r}, without which a model is not fitted")


def _is_of_its_kind(name: str, value: Any) -> bool:
    if name.startswith("n_"):
        return is_count(value)
    kind = _RELIED_ON.get(name, object)
    return bool(kind(value) if inspect.isfunction(kind) else isinstance(value, kind))


def _check_sizes(estimator: Any) -> None:
    """Raise unless what was learned fits together: columns in, components out, names."""
    learned, linear = vars(estimator), estimator._map
    sensitive = estimator.sensitive_columns
    d = learned["n_features_in_"] - len(as_columns(sensitive))
    k = linear.n_outputs
    names = learned.get("feature_names_in_")
    moments, features = learned.get("moments_"), learned.get("_feature_map")
    p = d if features is None else features.n_features
    fits = {
        "columns": n_columns(linear) == d,
        "components": learned["n_components_"] <= k,
        "names": names is None or len(names) == learned["n_features_in_"],
        "moments": moments is None or moments.n_features == p,
        "explained_variance_ratio_": len(learned.get("explained_variance_ratio_", ())) <= k,
        "targets": np.shape(learned.get("explained_targets_", np.empty((k, 0))))
        == (k, len(learned.get("targets_", ()))),
        "inverse": "_inverse" not in learned or learned["_inverse"].matrix.shape == (d, k),
    }
    wrong = [name for name, fit in fits.items() if not fit]
    if wrong:
        raise ModelFileError(f"has arrays whose shapes do not fit together ({', '.join(wrong)})")
