"""What inputs must not take: long, and much memory."""

from __future__ import annotations

import contextlib
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .cases import Failed

EXTRA_MEMORY = 2**29
"""Bytes that the process may grow by."""

ADDRESS_SPACE = 3 * 2**30
"""Bytes of addresses beyond those of the warm process; more are not given by the system."""


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


def limit_memory() -> None:
    """Let this process have so many more bytes of addresses, and no more."""
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0])
    most = pages * resource.getpagesize() + ADDRESS_SPACE
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def peak_memory() -> int:
    """Return the most bytes that this process ever had in memory."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
