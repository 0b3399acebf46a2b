"""What inputs must not take: long, and much memory."""

from __future__ import annotations

import contextlib
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .cases import Failed

ADDRESS_SPACE = 3 * 2**30
"""Bytes of addresses beyond those of the process; more are not given by the system."""


@contextlib.contextmanager
def timed(seconds: float) -> Iterator[None]:
    """Fail if the block takes longer; works in the main thread, between lines of Python."""

    def stop(*_: Any) -> None:
        raise Failed(f"took more than {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def little_memory() -> Iterator[None]:
    """Give this process so many more bytes of addresses in the block, and no more."""
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0])
    before, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ADDRESS_SPACE, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, most))
