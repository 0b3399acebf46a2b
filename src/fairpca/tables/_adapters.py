"""The libraries that tables need. The only file here that imports pandas and pyarrow."""

from __future__ import annotations

from typing import Any

from ..errors import needing

EXTRA = "tables"


def import_pandas() -> Any:
    """Return the module, or say which extra installs it."""
    with needing("pandas", EXTRA, "A table"):
        import pandas
    return pandas


def import_arrow() -> Any:
    """Return pyarrow, its modules for computing and for files loaded, or name the extra."""
    with needing("pyarrow", EXTRA, "A table"):
        import pyarrow
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.ipc
        import pyarrow.parquet
    return pyarrow
