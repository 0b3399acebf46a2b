"""Let a thread produce the next items while this one works on the last."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from queue import Full, Queue
from typing import Any, TypeVar

Item = TypeVar("Item")

END = object()
DEPTH = 2
"""Items that may wait; together with one on either side, that bounds the memory."""


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items of an iterable that runs in a thread of its own, a few of them ahead.

    What it raises is raised here. It stops soon after this iterator is closed.

    Examples
    --------
    >>> list(ahead(range(3)))
    [0, 1, 2]
    """
    waiting: Queue[tuple[Any, BaseException | None]] = Queue(DEPTH)
    closed = threading.Event()

    def put(item: Any, error: BaseException | None = None) -> bool:
        while not closed.is_set():
            try:
                waiting.put((item, error), timeout=0.1)
                return True
            except Full:
                continue
        return False

    def produce() -> None:
        iterator = iter(items)
        try:
            for item in iterator:
                if not put(item):
                    break
            else:
                put(END)
        except BaseException as error:
            put(END, error)
        finally:
            close = getattr(iterator, "close", None)
            if close is not None:
                close()  # in this thread, which is the one that runs it

    thread = threading.Thread(target=produce, daemon=True, name="fairpca-ahead")
    thread.start()
    try:
        while True:
            item, error = waiting.get()
            if error is not None:
                raise error
            if item is END:
                return
            yield item
    finally:
        closed.set()
        thread.join()
