"""Columns of X that are sensitive attributes."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import narwhals as nw
import numpy as np

from .._numerics import is_sparse
from ..errors import UsageError

Columns = dict[Any, Any]
"""Sensitive columns of X by their name or position."""


def as_columns(sensitive_columns: Any) -> list[Any]:
    """Return the columns as a list; a single name or position may stand alone."""
    if isinstance(sensitive_columns, str | int | np.integer):
        return [sensitive_columns]
    return list(sensitive_columns)


def indexable(X: Any) -> Any:
    """Return X in a form whose columns can be taken: frames and arrays as they are."""
    if is_sparse(X):
        return X.tocsr()
    return X if hasattr(X, "shape") else np.asarray(X)


def split_columns(X: Any, columns: Sequence[Any]) -> tuple[Any, Columns]:
    """Split a frame or an array into the features and the named sensitive columns."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        _check_known(columns, frame.columns)
        return frame.drop(*columns).to_native(), {c: frame.get_column(c) for c in columns}
    if X.ndim != 2:
        raise UsageError(
            f"X has {X.ndim} dimension(s), so it has no columns to take as attributes. Pass one "
            f"row per person and one column per feature. Reshape your data."
        )
    d = X.shape[1]
    _check_known(columns, range(-d, d), shown=range(d))
    positions = [int(j) % d for j in columns]
    rest = [j for j in range(d) if j not in set(positions)]
    return X[:, rest], {j: _column(X, j) for j in positions}


def _column(X: Any, j: int) -> np.ndarray:
    column = X[:, [j]]
    return np.ravel(column.toarray() if is_sparse(column) else column)


def _check_known(
    columns: Sequence[Any], available: Sequence[Any], shown: Sequence[Any] | None = None
) -> None:
    unknown = [c for c in columns if c not in available]
    if unknown:
        listed = list(available if shown is None else shown)
        near = [m for c in unknown for m in get_close_matches(str(c), [str(a) for a in listed])]
        hint = f" Did you mean {near}?" if near else ""
        raise UsageError(
            f"sensitive_columns names {unknown}, but X has the columns {listed[:20]}"
            f"{' ...' if len(listed) > 20 else ''}.{hint} Use names of columns of X, or positions "
            f"if X has no names (an earlier pipeline step may have dropped them: put this step "
            f"first, or use set_output(transform='pandas'))."
        )
