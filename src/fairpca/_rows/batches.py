"""Rows that a program makes as it goes: batches of an iterable, and arrays of three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from .._numerics import array_namespace, is_foreign, is_numpy, on_the_host
from ..errors import UsageError
from .lazy_rows import Batch, Collect, LazyRows, plus

PARTS = ("X", "sensitive_features", "y", "sample_weight", "given")
"""What a batch has, in this order if it is a tuple, or by these names."""


class BatchRows(LazyRows):
    """Rows of the batches that an iterable yields, each a tuple or a mapping of `PARTS`.

    An iterator is read once; who looks at rows several times needs an iterable that starts anew.
    """

    def __init__(self, batches: Iterable[Any]) -> None:
        iterator = iter(batches)
        first = next(iterator, None)
        if first is None:
            raise UsageError(
                "The iterable of batches yields nothing. Pass one that yields (X, "
                "sensitive_features) at least once; an iterator that was read before is empty."
            )
        self._first = _batch_of(first, 0)
        self._again: Iterable[Any] | None = batches if iterator is not batches else None
        self._rest: Iterator[Any] | None = chain([first], iterator)

    @property
    def head(self) -> Batch:
        """The first batch without its rows."""
        none = slice(0, 0)
        of = self._first
        X, y, columns, weight, given = (
            _part(value, none)
            for value in (of.X, of.y, of.sensitive_features, of.sample_weight, of.given)
        )
        return Batch(X, y, columns, weight, given=given)

    def fold(self, collect: Collect) -> Any:
        """Return the sum of what `collect` returns for each batch, in their order."""
        if self._rest is None and self._again is None:
            raise UsageError(
                "The batches come from an iterator, which can be read once, and this method looks "
                "at the rows several times. Pass an iterable that starts anew, such as a "
                "DataLoader or an object with __iter__, or the rows in memory."
            )
        batches, self._rest = self._rest or iter(self._again or ()), None
        total = None
        for number, batch in enumerate(batches):
            total = plus(total, collect(_batch_of(batch, number)))
        return total

    def mapped(
        self, transform: Callable[[Any], np.ndarray], names: Sequence[str], dtype: np.dtype
    ) -> Any:
        """Say how to transform what comes in batches."""
        raise UsageError(
            "X is an iterable of batches, and transform maps rows. Call transform for the features "
            "of each batch."
        )


def _batch_of(value: Any, number: int) -> Batch:
    """Return what an iterable yielded as the arguments of `fit`."""
    if isinstance(value, Mapping):
        unknown = [str(name) for name in value if name not in PARTS]
        if unknown or "X" not in value:
            raise UsageError(
                f"A batch has the keys {[str(name) for name in value][:10]}. Yield mappings with "
                f"the keys {', '.join(PARTS)}, of which X is required, or tuples in this order."
            )
        parts = [value.get(name) for name in PARTS]
    elif isinstance(value, tuple | list) and 1 <= len(value) <= len(PARTS):
        parts = [*value, *[None] * (len(PARTS) - len(value))]
    else:
        raise UsageError(
            f"A batch is a {type(value).__name__}. Yield tuples (X, sensitive_features), with y "
            f"sample_weight and given behind them where needed, or mappings of these names."
        )
    X, sensitive_features, y, sample_weight, given = flat(*parts)
    return Batch(X, y, sensitive_features, sample_weight, number, given)


def _part(value: Any, rows: slice) -> Any:
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {name: _part(column, rows) for name, column in value.items()}
    return value.iloc[rows] if hasattr(value, "iloc") else value[rows]


def flat(X: Any, *others: Any) -> tuple[Any, ...]:
    """Return rows of an array of three dimensions one below the other, and what belongs to them.

    X has the shape (batch, tokens, d); what has an entry for each row of the batch has it for each
    of its tokens.
    """
    if not is_cube(X):
        return X, *others
    b, t, d = X.shape
    return array_namespace(X).reshape(X, (b * t, d)), *(
        _for_each_token(value, b, t) for value in others
    )


def is_cube(X: Any) -> bool:
    """Tell whether X is an array of three dimensions: (batch, tokens, features)."""
    return (is_numpy(X) or is_foreign(X)) and X.ndim == 3


def _for_each_token(value: Any, b: int, t: int) -> Any:
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {name: _for_each_token(column, b, t) for name, column in value.items()}
    values = on_the_host(value)
    shape = np.shape(values)
    if shape[:2] == (b, t):
        return np.asarray(values).reshape(b * t, *shape[2:])
    if shape[:1] != (b,):
        raise UsageError(
            f"X has the shape (batch, tokens, features) with {b} x {t} tokens, but what belongs to "
            f"it has the shape {shape}. Pass one entry for each of the {b} rows of the batch, or "
            f"an array of shape ({b}, {t})."
        )
    return np.repeat(np.asarray(values), t, axis=0)
