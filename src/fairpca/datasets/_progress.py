"""How much of a download has arrived, on one line of a terminal."""

from __future__ import annotations

import sys
from typing import TextIO


class Progress:
    r"""A percentage that is rewritten in place; the interface is the one pooch expects.

    Parameters
    ----------
    name : str
        What is being downloaded.
    stream : text stream, optional
        Where to write; standard error by default.

    Examples
    --------
    >>> import io
    >>> progress = Progress("adult.data", stream=io.StringIO())
    >>> progress.total = 200
    >>> progress.update(150); progress.close()
    >>> progress.stream.getvalue()
    '\rDownloading adult.data: 75 %\n'
    """

    def __init__(self, name: str, stream: TextIO | None = None) -> None:
        self.name = name
        self.stream = stream if stream is not None else sys.stderr
        self.total = 0
        self.reset()

    def reset(self) -> None:
        """Begin again at zero."""
        self.done = 0
        self.shown = -1

    def update(self, n_bytes: int) -> None:
        """Count bytes that arrived; write only where the percentage changes."""
        self.done += n_bytes
        percent = min(100, 100 * self.done // self.total) if self.total else 0
        if percent != self.shown:
            self.shown = percent
            self.stream.write(f"\rDownloading {self.name}: {percent} %")
            self.stream.flush()

    def close(self) -> None:
        """End the line."""
        self.stream.write("\n")
        self.stream.flush()
