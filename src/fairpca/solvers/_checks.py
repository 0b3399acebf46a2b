"""What no solver can do, said before the work: nothing to equalise, nothing left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import InfeasibleError, MissingTargetError, SingleGroupError, UsageError
from ..moments import AttributeMoments, GroupMoments, LevelMoments, NumericMoments


def check_dimension(moments: GroupMoments, constraint_rank: int, k: int | float | None) -> None:
    """Raise if fewer than `k` directions satisfy the constraint."""
    d, r = moments.n_features, constraint_rank
    n_fair = d - r
    names = names_of(moments.attributes)
    if n_fair == 0:
        raise InfeasibleError(
            f"Nothing is left: the attributes ({names}) separate the group means in all {d} "
            f"feature directions (n_features = {d}), so every direction carries them. Remove "
            f"features that are functions of an attribute, merge groups, or add features."
        )
    if isinstance(k, int) and k > n_fair:
        raise InfeasibleError(
            f"n_components={k} is too large: the attributes ({names}) separate the group means in "
            f"{r} of the {d} feature directions, which leaves {n_fair}. Use n_components <= "
            f"{n_fair}, or merge groups."
        )


def names_of(attributes: Sequence[AttributeMoments]) -> str:
    """Return the names of attributes for a message."""
    return ", ".join(dict.fromkeys(repr(a.name) for a in attributes))


def check_attributes(attributes: Sequence[AttributeMoments]) -> None:
    """Raise if there is nothing to be fair between."""
    for a in attributes:
        if isinstance(a, NumericMoments):
            _check_not_tiny(a)
        problem = _single_value(a)
        if problem:
            raise SingleGroupError(
                f"The sensitive attribute {a.name!r}{_where(a)} {problem}, so there is nothing to "
                f"be fair between. Leave the attribute out, or pass rows of every group."
            )
        if isinstance(a, LevelMoments) and not a.optional and np.any(a.weight == 0):
            empty = [label for label, w in zip(a.labels, a.weight, strict=True) if w == 0]
            raise MissingTargetError(
                f"The group(s) {empty} of the sensitive attribute {a.name!r} have no row"
                f"{_where(a)}, so their mean is undefined there. Pass more rows, or merge these "
                f"groups with others."
            )


SMALLEST_VALUES = 1e-75
"""Squares of numbers below this, times weights, lose digits to underflow."""


def _check_not_tiny(a: NumericMoments) -> None:
    weight = a.weight if a.weight > 0 else 1.0
    size = max(abs(a.value_mean), np.sqrt(a.value_scatter / weight))
    if 0 < size < SMALLEST_VALUES:
        raise UsageError(
            f"The numeric sensitive attribute {a.name!r} holds values of the size {size:.0e}, "
            f"whose squares underflow, so nobody can tell whether it varies. Multiply it by a "
            f"constant first: correlations do not change."
        )


def _single_value(a: AttributeMoments) -> str | None:
    if isinstance(a, NumericMoments):
        return f"is {a.value_mean:g} in every row" if a.is_constant else None
    if a.optional:
        return None
    present = [label for label, w in zip(a.labels, a.weight, strict=True) if w > 0]
    if len(a.labels) > 1 and present:
        return None
    return f"has only the level {present[0]!r}" if present else "has no row"


def _where(a: AttributeMoments) -> str:
    return "" if a.stratum is None else f" among the rows with y == {a.stratum!r}"
