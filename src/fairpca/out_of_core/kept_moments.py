"""Moments as plain values and back: all of them, also those that are rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..batches import Rows
from ..moments import DenseScatter, GroupMoments, LevelMoments, NumericMoments, RowScatter
from ..persistence.records import fields_of

KINDS: dict[str, type[LevelMoments] | type[NumericMoments]] = {
    "levels": LevelMoments,
    "numeric": NumericMoments,
}


def plain_moments(moments: GroupMoments | None) -> Any:
    """Return moments as dicts, lists, numbers and arrays.

    A scatter that is the rows themselves stays so: made a matrix, it would be added in another
    order, and the result of continued work would differ in its last bits.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import collect_moments
    >>> moments = collect_moments(np.eye(3)[:2], ["a", "b"])
    >>> again = restored_moments(plain_moments(moments))
    >>> bool((again.scatter.dense().matrix == moments.scatter.dense().matrix).all())
    True
    """
    if moments is None:
        return None
    return {
        **fields_of(moments),
        "scatter": _plain_scatter(moments.scatter),
        "attributes": [_plain_attribute(a) for a in moments.attributes],
    }


def restored_moments(plain: Any) -> GroupMoments | None:
    """Return the moments that plain values stand for."""
    if plain is None:
        return None
    return GroupMoments(
        **{
            **plain,
            "scatter": _scatter(plain["scatter"]),
            "attributes": tuple(_attribute(a) for a in plain["attributes"]),
        }
    )


def _plain_attribute(a: LevelMoments | NumericMoments) -> dict[str, Any]:
    if isinstance(a, NumericMoments):
        return {"kind": "numeric", **fields_of(a)}
    scatters = None if a.scatters is None else [_plain_scatter(s) for s in a.scatters]
    return {"kind": "levels", **fields_of(a), "scatters": scatters}


def _attribute(plain: Mapping[str, Any]) -> LevelMoments | NumericMoments:
    fields = {name: value for name, value in plain.items() if name != "kind"}
    if fields.get("scatters") is not None:
        fields["scatters"] = tuple(_scatter(s) for s in fields["scatters"])
    return KINDS[plain["kind"]](**fields)


def _plain_scatter(scatter: DenseScatter | RowScatter | None) -> Any:
    if scatter is None:
        return None
    if isinstance(scatter, DenseScatter):
        return {"matrix": scatter.matrix}
    pieces = [[rows.X, rows.weight] for rows in scatter.pieces]
    return {"pieces": pieces, "mean": scatter.mean}


def _scatter(plain: Any) -> Any:
    if plain is None:
        return None
    if "matrix" in plain:
        return DenseScatter(plain["matrix"])
    return RowScatter(tuple(Rows(X, weight) for X, weight in plain["pieces"]), plain["mean"])
