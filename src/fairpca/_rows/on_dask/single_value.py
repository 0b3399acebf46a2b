"""One value computed from Dask collections, by the current client or scheduler."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from dask.array import Array
from dask.base import DaskMethodsMixin
from dask.highlevelgraph import HighLevelGraph
from dask.threaded import get

from ..._numerics import limited_threads
from .blocks import Graph


def computed(rows: Sequence[Any], tasks: Graph, key: Hashable) -> Any:
    """Return one value, computed by the current client or scheduler."""
    # Tasks run side by side, in threads of this process or in workers, which Dask starts with one
    # BLAS thread each. The limit is set here because only one thread may set it.
    with limited_threads(1):
        kind = _Value if any(hasattr(r, "divisions") for r in rows) else _ValueOfArrays
        value: DaskMethodsMixin = kind(rows, tasks, key)
        return value.compute()


def _as_it_is(graph: Any, keys: Any, **_: Any) -> Any:
    return graph


class _Value(DaskMethodsMixin):
    """One value computed from collections, as a collection of its own."""

    __dask_scheduler__ = staticmethod(get)
    __dask_optimize__ = staticmethod(_as_it_is)

    def __init__(self, rows: Sequence[Any], tasks: Graph, key: Hashable) -> None:
        self._key = key
        self._graph = HighLevelGraph.from_collections(str(key), tasks, dependencies=rows)

    def __dask_graph__(self) -> HighLevelGraph:
        return self._graph

    def __dask_keys__(self) -> list[Hashable]:
        return [self._key]

    def __dask_postcompute__(self) -> tuple[Callable[[Any], Any], tuple[()]]:
        return _only, ()


class _ValueOfArrays(_Value):
    """Steps of arrays are fused; those of frames have been."""

    __dask_optimize__ = staticmethod(Array.__dask_optimize__)


def _only(results: Sequence[Any]) -> Any:
    (result,) = results
    return result
