"""Versions of Python and of the libraries that a result depends on."""

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

LIBRARIES = ("numpy", "scipy", "scikit-learn", "safetensors", "pandas")


def library_versions(libraries: Sequence[str] = LIBRARIES) -> dict[str, str]:
    """Return the versions of Python, of this package and of the libraries that are installed."""
    found = {"python": platform.python_version(), "fairpca": "unknown"}
    for name in ("fairpca", *libraries):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
