"""A fitted estimator as plain JSON and arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._numerics import Packer, RationedArrays, unplain
from ..errors import ModelFileError, UnsavableModelError
from ..moments import DenseScatter, GroupMoments, LevelMoments
from ._known_models import CLASSES, check_learned, check_sizes, is_own

MAX_MOMENTS = 2**26
"""Moments that take more bytes than this are left out: a model file serves `transform`."""

MAX_PARAMETERS = 2**20
"""Arrays among the parameters take no more bytes: there are hardly any, and messages show them."""

SET_FOR_LATER_FITS = ("_metadata_request",)
"""Attributes that scikit-learn sets for later fits; they are left out."""


def plain_estimator(estimator: Any, packer: Packer) -> dict[str, Any]:
    """Return the class, the parameters and what was learned; arrays go to the packer."""
    name = type(estimator).__name__
    if CLASSES.get(name) is not type(estimator):
        raise UnsavableModelError(
            f"A {name} cannot be saved. A model file holds one of {', '.join(sorted(CLASSES))}; "
            f"for a pipeline of any steps use fairpca.models.save_pipeline."
        )
    fitted: Any = estimator
    check_is_fitted(fitted)
    fitted._ensure_solved()
    parameters = fitted.get_params(deep=False)
    learned = {k: v for k, v in vars(fitted).items() if k not in parameters}
    left_out = [k for k in learned if k in SET_FOR_LATER_FITS]
    if "moments_" in learned and not _are_small(learned["moments_"]):
        left_out.append("moments_")
    unknown = [k for k in learned if k not in left_out and not is_own(type(fitted), k)]
    if unknown:
        raise UnsavableModelError(
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
    check_learned(cls, learned)
    try:
        estimator._check_parameters()
    except ValueError as reason:
        told = " ".join(str(reason).split())[:400]
        raise ModelFileError(f"has a parameter of {name} that cannot be used: {told}") from reason
    vars(estimator).update(learned)
    check_sizes(estimator)
    return estimator


def group_counts(estimator: Any) -> dict[str, dict[Any, int]]:
    """Return how many rows each group had, where the moments are still there to tell."""
    moments = vars(estimator).get("moments_")
    counts: dict[str, dict[Any, int]] = {}
    for a in () if moments is None else moments.attributes:
        if isinstance(a, LevelMoments) and a.name in vars(estimator).get(
            "groups_", {}
        ):  # not a target's classes
            levels = counts.setdefault(a.name, dict.fromkeys(a.labels, 0))
            for label, count in zip(a.labels, a.count.tolist(), strict=True):
                levels[label] = levels.get(label, 0) + int(count)
    return counts


def _are_small(moments: GroupMoments) -> bool:
    """Tell whether moments are matrices, not the rows themselves, and not very large."""
    scatters = [moments.scatter]
    for a in moments.attributes:
        if isinstance(a, LevelMoments) and a.scatters is not None:
            scatters += [s for s in a.scatters if s is not None]
    return all(isinstance(s, DenseScatter) for s in scatters) and (
        8 * len(scatters) * moments.n_features**2 <= MAX_MOMENTS
    )
