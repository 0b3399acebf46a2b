"""Moments as plain values and back: all of them, also those that are rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .._numerics import is_sparse
from .._rows import Rows
from ..errors import ModelFileError
from ..moments import DenseScatter, GroupMoments, LevelMoments, NumericMoments, RowScatter
from ..persistence import RECORDS, fields_of, is_array, is_count, is_number

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
    moments = GroupMoments(
        **{
            **plain,
            "scatter": _scatter(plain["scatter"]),
            "attributes": tuple(_attribute(a) for a in plain["attributes"]),
        }
    )
    if not _fit_together(moments):
        raise ModelFileError("has moments whose parts do not fit together")
    return moments


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


def _fit_together(m: GroupMoments) -> bool:
    """Tell whether these could be the moments of rows: they are added to without a look."""
    if not is_array(m.mean, None):
        return False
    d = len(m.mean)
    numbers = is_number(m.weight) and m.weight >= 0 and is_number(m.precision)
    fitting = all(_attribute_fits(a, d) for a in m.attributes)
    return numbers and is_count(m.n_rows) and _scatter_fits(m.scatter, d) and fitting


def _attribute_fits(a: LevelMoments | NumericMoments, d: int) -> bool:
    record = RECORDS[type(a).__name__]
    if isinstance(a, NumericMoments):
        return record.check(a) and a.weight >= 0 and len(a.total) == d
    if not record.check(replace(a, scatters=None)) or a.total.shape[1] != d:
        return False
    scatters = (None,) * len(a.labels) if a.scatters is None else a.scatters
    same = len(scatters) == len(a.labels) and bool((a.weight >= 0).all())
    return same and all(s is None or _scatter_fits(s, d) for s in scatters)


def _scatter_fits(scatter: Any, d: int) -> bool:
    if isinstance(scatter, DenseScatter):
        return is_array(scatter.matrix, d, d)
    return is_array(scatter.mean, d) and all(_rows_fit(rows, d) for rows in scatter.pieces)


def _rows_fit(rows: Rows, d: int) -> bool:
    X, weight = rows.X, rows.weight
    numbers = is_array(X, None, d) or (is_sparse(X) and X.shape[1] == d and X.dtype.kind == "f")
    return numbers and (
        weight is None or (is_array(weight, X.shape[0]) and bool((weight > 0).all()))
    )
