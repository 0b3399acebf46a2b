"""Moments moved between array libraries and devices."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .._numerics import Array, is_sparse, placed, same_place
from .._rows import Rows
from ._attribute_moments import AttributeMoments, LevelMoments
from ._scatter import DenseScatter, Scatter

if TYPE_CHECKING:
    from ._group_moments import GroupMoments


def moments_at(moments: GroupMoments, example: Array) -> GroupMoments:
    """Return the moments as arrays of the library and on the device of `example`.

    Moments of sparse rows hold the rows themselves, and these stay on the host: nothing is moved.

    Parameters
    ----------
    moments : GroupMoments
        Moments, wherever they are.
    example : array
        Where they should be, such as an empty tensor on a GPU.

    Returns
    -------
    GroupMoments
        The very same object where it is there already.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import collect_moments
    >>> from fairpca.moments import moments_at
    >>> moments = collect_moments(np.array([[0.0, 1.0], [2.0, 3.0]]), ["a", "b"])
    >>> moments_at(moments, np.empty(0)) is moments
    True
    """
    if same_place(moments.mean, example) or _sparse(moments.scatter):
        return moments
    return replace(
        moments,
        mean=placed(moments.mean, example),
        scatter=_scatter_at(moments.scatter, example),
        attributes=tuple(_attribute_at(a, example) for a in moments.attributes),
    )


def _sparse(scatter: Scatter) -> bool:
    if isinstance(scatter, DenseScatter):
        return False
    return any(is_sparse(rows.X) for rows in scatter.pieces)


def _scatter_at(scatter: Scatter, example: Array) -> Scatter:
    if isinstance(scatter, DenseScatter):
        return DenseScatter(placed(scatter.matrix, example))
    return replace(
        scatter,
        pieces=tuple(Rows(placed(rows.X, example), rows.weight) for rows in scatter.pieces),
        mean=placed(scatter.mean, example),
        scale=None if scatter.scale is None else placed(scatter.scale, example),
    )


def _attribute_at(a: AttributeMoments, example: Array) -> AttributeMoments:
    if not isinstance(a, LevelMoments):
        return replace(a, total=placed(a.total, example), cross=placed(a.cross, example))
    scatters = a.scatters
    if scatters is not None:
        scatters = tuple(s and _scatter_at(s, example) for s in scatters)
    return replace(a, total=placed(a.total, example), scatters=scatters)
