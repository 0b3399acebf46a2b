"""Torch, where it is installed."""

from __future__ import annotations

from typing import Any

from ..errors import needing


def torch_side(purpose: str) -> Any:
    """Return the file that knows torch, or say which extra installs it."""
    with needing("torch", "torch", purpose):
        from . import _modules
    return _modules
