"""Rows of Dask collections; only this package knows Dask."""

from .dask_collections import DaskRows
from .row_pairing import UnpairedRowsError

__all__ = ["DaskRows", "UnpairedRowsError"]
