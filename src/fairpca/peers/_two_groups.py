"""Methods that were published for two groups: which two, and their moments."""

from __future__ import annotations

import numpy as np

from .._numerics import to_numpy
from ..errors import SingleGroupError, UsageError
from ..moments import GroupMoments, LevelMoments
from ..solvers import check_attributes, names_of


def two_groups(moments: GroupMoments, method: str) -> LevelMoments:
    """Return the moments of the only attribute, if it has two levels; else say what to do."""
    attributes = moments.attributes
    if len(attributes) != 1:
        raise UsageError(
            f"{method} compares two groups, but {len(attributes)} attributes were given "
            f"({names_of(attributes)}). Pass one of them, or use fairpca.FairPCA, which takes any "
            f"number."
        )
    check_attributes(attributes)
    (attribute,) = attributes
    if not isinstance(attribute, LevelMoments):
        raise UsageError(
            f"{method} compares two groups, but the sensitive attribute {attribute.name!r} is "
            f"numeric. Cut it into two bands, or use fairpca.FairPCA, which takes numbers."
        )
    if len(attribute.labels) != 2:
        raise UsageError(
            f"{method} compares two groups, but the sensitive attribute {attribute.name!r} has "
            f"{len(attribute.labels)} levels: {list(attribute.labels)[:5]}. Merge them into two, "
            f"or use fairpca.FairPCA, which takes any number."
        )
    return attribute


def means_of_two_groups(moments: GroupMoments) -> np.ndarray:
    """Return the mean row of each of the two groups, about the mean of all rows: (2, d)."""
    (attribute,) = moments.attributes
    assert isinstance(attribute, LevelMoments)
    means: np.ndarray = to_numpy(attribute.total) / attribute.weight[:, None]
    return means


def covariances_of_two_groups(moments: GroupMoments) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariance, divisor n, of each of the two groups."""
    (attribute,) = moments.attributes
    assert isinstance(attribute, LevelMoments)
    if attribute.scatters is None:
        raise UsageError(
            f"The moments of {attribute.name!r} hold no scatter per group. Collect them with "
            f"with_scatters=True."
        )
    first, second = (
        _covariance(label, scatter, weight)
        for label, scatter, weight in zip(
            attribute.labels, attribute.scatters, attribute.weight, strict=True
        )
    )
    return first, second


def _covariance(label: object, scatter: object, weight: float) -> np.ndarray:
    if scatter is None:
        raise SingleGroupError(f"The group {label!r} has no row. Pass rows of both groups.")
    return to_numpy(scatter.dense().matrix) / weight  # type: ignore[attr-defined]
