"""Rows of Dask collections; only this package knows Dask."""

from ...errors import UnpairedRowsError
from .dask_collections import DaskRows

__all__ = ["DaskRows", "UnpairedRowsError"]
