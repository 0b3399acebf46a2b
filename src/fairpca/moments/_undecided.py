"""Attributes of which a batch knows nothing: are they levels, or numbers? Other batches tell."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from .._attributes import MISSING_LABEL, name_of_missing
from .._numerics import take_rows
from ._attribute_moments import AttributeMoments, LevelMoments


def settled_attributes(
    attributes: Sequence[AttributeMoments], others: Collection[str]
) -> tuple[AttributeMoments, ...] | None:
    """Return attributes with missing values as a level, where the others have it so.

    Where all values are missing nobody can tell levels from numbers, and missing values are an
    attribute of their own, as for numbers. Moments that know levels have no such attribute, and
    then the missing values become the level that they are there.

    Parameters
    ----------
    attributes : sequence of LevelMoments or NumericMoments
        Of one batch.
    others : collection of str
        Names of the attributes of the moments that it is added to.

    Returns
    -------
    tuple, or None if nothing changes
    """
    missing = {(a.name, a.stratum): a for a in attributes}
    found: list[AttributeMoments] = []
    dropped = set()
    for a in attributes:
        companion = name_of_missing(a.name)
        unknown = isinstance(a, LevelMoments) and not a.labels and a.integral_floats
        if unknown and companion not in others and (companion, a.stratum) in missing:
            dropped.add(companion)
            found.append(_as_level(a, missing[companion, a.stratum]))
        else:
            found.append(a)
    if not dropped:
        return None
    return tuple(a for a in found if a.name not in dropped)


def _as_level(a: AttributeMoments, told: AttributeMoments) -> LevelMoments:
    assert isinstance(told, LevelMoments)
    where = [i for i, label in enumerate(told.labels) if label is True]
    return replace(
        told,
        name=a.name,
        labels=(MISSING_LABEL,) if where else (),
        count=told.count[where],
        weight=told.weight[where],
        total=take_rows(told.total, np.asarray(where, dtype=np.intp)),
        scatters=None if told.scatters is None else tuple(told.scatters[i] for i in where),
        integral_floats=False,
        optional=False,
    )
