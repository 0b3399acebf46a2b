"""The unit of work: some rows of a file, fixed by the file and by how many rows make a piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from ..tables import import_arrow

PIECE_BYTES = 2**25
"""Features of a piece: less, and the checks of each part would show in the time."""

BLOCK_ROWS, MOST_ROWS = 2**12, 2**17
"""A piece is a whole number of blocks, and has no more rows than this."""


@dataclass(frozen=True)
class Piece:
    """Some consecutive rows.

    Parameters
    ----------
    columns : dict of str to pyarrow.ChunkedArray of length n
        The needed columns. Who has made something of them may clear it, to free the memory.
    n_rows : int
        Number of rows n.
    number : int
        No two pieces have the same, whichever is read first.
    where : str
        For messages: which rows of which file.
    """

    columns: dict[str, Any]
    n_rows: int
    number: int
    where: str


class Stretch(Protocol):
    """Rows that are read one after the other: a row group, or a text file."""

    def pieces(self, skip: int) -> Iterator[Piece]:
        """Yield the pieces in order, without the first few."""
        ...


def rows_per_piece(n_features: int, itemsize: int) -> int:
    """Return how many rows make a piece.

    For very many features a piece has at least as many rows, so that its moments are a matrix.

    Examples
    --------
    >>> rows_per_piece(64, itemsize=4), rows_per_piece(1000, itemsize=8)
    (131072, 4096)
    """
    fit = PIECE_BYTES // max(1, n_features * itemsize)
    rows = max(fit // BLOCK_ROWS, -(-n_features // BLOCK_ROWS)) * BLOCK_ROWS
    return min(rows, MOST_ROWS)


def in_pieces(
    batches: Iterable[Any], rows: int, *, skip: int, stretch: int, where: str
) -> Iterator[Piece]:
    """Yield pieces of exactly so many rows, but for the last, however the rows come.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        Of any lengths.
    rows : int
        Rows per piece.
    skip : int
        How many pieces to leave out at the beginning.
    stretch : int
        Number of the stretch, for the numbers of the pieces.
    where : str
        What holds the rows.
    """
    source, rest = iter(batches), None
    held: list[Any] = []
    n, index = 0, 0
    while (batch := next(source, None) if rest is None else rest) is not None:
        part = batch.slice(0, rows - n)
        rest = batch.slice(rows - n) if batch.num_rows > rows - n else None
        n += part.num_rows
        if index >= skip:
            held.append(part)
        del batch, part  # what a generator has names for stays in memory while it waits
        if n == rows:
            if index >= skip:
                done, held = [_piece(held, n, index, rows, stretch, where)], []
                yield done.pop()
            n, index = 0, index + 1
    if n and index >= skip:
        done, held = [_piece(held, n, index, rows, stretch, where)], []
        yield done.pop()


def _piece(batches: list[Any], n: int, index: int, rows: int, stretch: int, where: str) -> Piece:
    table = import_arrow().Table.from_batches(batches)
    columns = {name: table.column(i) for i, name in enumerate(table.schema.names)}
    first = index * rows
    return Piece(
        columns, n, stretch << 32 | index, f"rows {first:,} to {first + n - 1:,} of {where}"
    )
