"""Rows that this process does not hold as a whole: files, and the partitions of a cluster.

Moments add, so all that an engine must do is to call a function where each part of the rows lives,
and to add up what it returns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UsageError

ENGINES = {"dask": "Dask", "dask_expr": "Dask", "pyspark": "Spark"}
"""Engines by the package that their collections come from."""

ROWS_HAVE = ("__getitem__", "__array__", "__dataframe__", "__arrow_c_stream__", "shape")
"""What has one of these holds rows, or is read in a way of its own."""


@dataclass(frozen=True)
class Batch:
    """Some of the rows, as the arguments of `fit`; no two batches have the same number."""

    X: Any
    y: Any = None
    sensitive_features: Any = None
    sample_weight: Any = None
    number: int = 0
    given: Any = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])


Collect = Callable[[Batch], Any]
"""From a batch to something that can be added, or None where the batch has no rows.

It travels to where the rows are, so it can be pickled.
"""


class LazyRows(ABC):
    """Rows that come to the moments batch by batch."""

    @property
    @abstractmethod
    def head(self) -> Batch:
        """A batch without rows: it tells the names and types of the columns."""

    @abstractmethod
    def fold(self, collect: Collect) -> Any:
        """Return the sum of what `collect` returns for each batch, once; None if all are empty."""

    def for_estimator(
        self, sensitive: Sequence[Any], fitted_to: Sequence[str] | None = None
    ) -> LazyRows:
        """Return these rows with the columns that an estimator asks for as features."""
        # Only an engine whose rows have no order must set aside what is no feature. `sensitive` are
        # columns of X that are attributes; `fitted_to` the names seen at `fit`, None before.
        return self

    def mapped(
        self, transform: Callable[[Any], np.ndarray], names: Sequence[str], dtype: np.dtype
    ) -> Any:
        """Return a lazy collection of `transform` of the features of each batch, (n, k) numbers."""
        raise TypeError(
            f"{type(self).__name__} can be fitted to, but not transformed: there is nowhere to put "
            f"the result. Use FairTableTransformer and `fairpca transform`, which write files."
        )


def plus(a: Any, b: Any) -> Any:
    """Return the sum of two values of which either may be None."""
    if a is None or b is None:
        return b if a is None else a
    return a + b


def as_lazy_rows(
    X: Any,
    y: Any = None,
    sensitive_features: Any = None,
    sample_weight: Any = None,
    given: Any = None,
) -> LazyRows | None:
    """Return the arguments of `fit` as rows of an engine; None if they are in memory."""
    others = {"y": y, "sensitive_features": sensitive_features, "sample_weight": sample_weight}
    others["given"] = given
    if isinstance(X, LazyRows):
        came = [name for name, value in others.items() if value is not None]
        if came:
            raise UsageError(
                f"X is a {type(X).__name__}, which has its own attributes, labels and weights, but "
                f"{', '.join(came)} came too. Name the columns where you made it."
            )
        return X
    if yields_batches(X):
        return _batch_rows(X, [name for name, value in others.items() if value is not None])
    engine = _engine(X)
    if engine is None:
        for name, value in others.items():
            columns = value.values() if isinstance(value, dict) else [value]
            lazy = next(filter(None, map(_engine, columns)), None)
            if lazy is not None:
                raise UsageError(
                    f"{name} is a {lazy} collection, but X is in memory, so their rows cannot be "
                    f"paired. Compute {name} first, or make both columns of one {lazy} DataFrame."
                )
        return None
    if engine == "Dask":
        from .dask import DaskRows

        return DaskRows(X, **others)
    from .spark import SparkRows

    return SparkRows(X, **others)


def yields_batches(X: Any) -> bool:
    """Tell whether X is an iterator, or starts one anew as a DataLoader does, rather than rows."""
    if isinstance(X, Iterator):
        return True
    rows = any(hasattr(X, name) for name in ROWS_HAVE) or _engine(X) is not None
    return isinstance(X, Iterable) and not rows


def _batch_rows(X: Any, given: list[str]) -> LazyRows:
    if given:
        raise UsageError(
            f"X yields batches, which have their own attributes, labels and weights, but "
            f"{', '.join(given)} came too. Yield them with each batch: (X, sensitive_features)."
        )
    from .batches import BatchRows

    return BatchRows(X)


def _engine(value: Any) -> str | None:
    return ENGINES.get(type(value).__module__.partition(".")[0])
