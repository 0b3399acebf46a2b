"""What methods share that were published for one categorical attribute."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, TypeVar

from .._attributes import Levels
from .._numerics import Array, deterministic_signs, orthonormalize
from ..errors import InfeasibleError, UsageError
from ..moments import GroupMoments, LevelMoments
from ..solvers import check_attributes, maximize_variance

OneOf = TypeVar("OneOf", Levels, LevelMoments)


def the_levels(kind: type[OneOf], attributes: Sequence[Any], method: str) -> OneOf:
    """Return the one attribute, as levels of the given kind; raise if there are also numbers.

    Estimators set ``intersectional = True``, so that several categorical attributes arrive here
    as one, whose levels are their joint groups.
    """
    numeric = [a.name for a in attributes if not isinstance(a, kind)]
    if numeric:
        raise InfeasibleError(
            f"{method} compares groups, but the sensitive attribute(s) {numeric} are numeric and "
            f"have none. Cut them into bands, or use fairpca.FairPCA, which knows numbers."
        )
    levels: OneOf = attributes[0]
    return levels


def check_number_of_components(n_components: Any) -> int | None:
    """Return the number of components as a plain int, or None."""
    if n_components is None:
        return None
    whole = isinstance(n_components, Integral) and not isinstance(n_components, bool)
    if whole and int(n_components) >= 1:
        return int(n_components)
    raise UsageError(
        f"n_components={n_components!r} is not a number of directions. Use an integer >= 1, or "
        f"None for the default."
    )


def check_positive(name: str, value: Any, *, whole: bool = False, zero: bool = False) -> None:
    """Raise unless `value` is a positive number, or an integer, or zero where that is allowed."""
    number = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
    if not number or not (value >= 0 if zero else value > 0) or value == float("inf"):
        wanted = f"{'an integer' if whole else 'a finite number'} {'>=' if zero else '>'} 0"
        raise UsageError(f"{name}={value!r} cannot be used. Use {wanted}.")


def directions_to_keep(k: int | None, moments: GroupMoments, n_groups: int) -> int:
    """Return how many of the d directions stay; all but one per group beyond the first by default.

    Raises
    ------
    InfeasibleError
        If nothing would be removed, or nothing would be left.
    SingleGroupError
        If there is only one group.
    """
    check_attributes(moments.attributes)
    d = moments.n_features
    if k is None and d < n_groups:
        raise InfeasibleError(
            f"Nothing is left: {n_groups} groups take {n_groups - 1} direction(s), and the rows "
            f"have {d} feature(s) (n_features = {d}). Merge groups, or add features."
        )
    if k is not None and k >= d:
        raise InfeasibleError(
            f"n_components={k} is too large: at least one of the {d} feature direction(s) "
            f"(n_features = {d}) has to go. Use n_components <= {d - 1}."
        )
    return d - n_groups + 1 if k is None else k


def along_principal_axes(U: Array, moments: GroupMoments, k: int) -> Array:
    """Return the first k principal axes of the rows within the span of U, most variance first."""
    axes = maximize_variance(moments.compressed(U), k).basis
    return deterministic_signs(orthonormalize(U @ axes))
