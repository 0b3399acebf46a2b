"""What workers do with a partition, where it is. Nothing here knows the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..elsewhere import Collect, Part
from .row_pairing import check_paired, is_single


@dataclass(frozen=True)
class Place:
    """Where a value belongs: an argument of `fit`, or a column of it."""

    argument: str
    column: Any = None
    of_several: bool = False

    @property
    def label(self) -> str:
        """What to call it in a message."""
        return f"{self.argument}[{self.column!r}]" if self.of_several else self.argument


def places_of(arguments: Mapping[str, Any]) -> Iterator[tuple[Place, Any]]:
    """Yield what was given, column by column where columns came in a dict."""
    for argument, value in arguments.items():
        if isinstance(value, Mapping):
            yield from ((Place(argument, c, True), column) for c, column in value.items())
        elif value is not None:
            yield Place(argument), value


@dataclass(frozen=True, eq=False)
class Held:
    """A value that the engine does not look into: what a call returns."""

    value: Any

    def __call__(self) -> Any:
        """Return the value."""
        return self.value


@dataclass(frozen=True)
class CollectPart:
    """Check that the rows of a partition belong together, and collect them.

    Parameters
    ----------
    places : tuple of Place
        What is given beside X.
    n_parts : int
        How many partitions there are.
    """

    places: tuple[Place, ...]
    n_parts: int

    def __call__(self, collect: Collect, number: int, X: Any, *values: Any) -> Any:
        """Return what `collect` returns; an error says in which partition it was."""
        try:
            return collect(self._part(number, X, values))
        except Exception as reason:
            reason.add_note(f"This was in partition {number} of {self.n_parts}, counted from 0.")
            raise

    def _part(self, number: int, X: Any, values: Sequence[Any]) -> Part:
        arguments: dict[str, Any] = {}
        for place, value in zip(self.places, values, strict=True):
            if not is_single(value):
                check_paired(X, place.label, value)
            if place.of_several:
                arguments.setdefault(place.argument, {})[place.column] = value
            else:
                arguments[place.argument] = value
        return Part(_aligned(X), number=number, **arguments)


def _aligned(X: Any) -> Any:
    """Return an array at an address that BLAS likes; those that came by network often are not.

    Products of others take several times as long.
    """
    return X.copy() if isinstance(X, np.ndarray) and not X.flags.aligned else X


def mapped_array(rows: Any, transform: Callable[[Any], np.ndarray], out: Any) -> np.ndarray:
    """Return the representation of the rows of a partition, of the type `out`."""
    return transform(_aligned(rows)).astype(out, copy=False)


def mapped_frame(
    frame: Any, transform: Callable[[Any], np.ndarray], out: Any, names: Sequence[str]
) -> Any:
    """Return the representation as a frame of the same library, with the same index."""
    values = mapped_array(frame, transform, out)
    return type(frame)(values, index=frame.index, columns=names)
