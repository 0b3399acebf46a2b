"""Parquet files, in bounded memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ._adapters import import_arrow
from ._files import FileState, TableFile, checked, places_of_columns, reading
from ._table import family

BUFFER_BYTES = 2**14
"""A column is read through a buffer: without one, all of its row group is read at once."""


@dataclass(frozen=True, eq=False)
class ParquetTable(TableFile):
    """A Parquet file whose footer was read, with the rows of each row group."""

    kind: ClassVar[str] = "parquet"
    groups: tuple[int, ...]

    @classmethod
    def open(cls, path: Path, *, as_written: bool = False) -> ParquetTable:
        """Read what a file says about itself; refuse one that is cut off."""
        arrow = import_arrow()
        with reading(path, "parquet"):
            state = FileState.of(path, _digest_of_footer(path))
            with arrow.parquet.ParquetFile(path, memory_map=False) as file:
                schema, metadata = file.schema_arrow, file.metadata
                groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
            written = tuple(schema.names)
        places, renamed = places_of_columns(written, as_written=as_written)
        types = {name: schema.field(i).type for name, i in places.items()}
        n_rows, names = sum(groups), tuple(places)
        return cls(path, state, names, renamed, types, n_rows, written, places, tuple(groups))

    def read(self) -> Any:
        """Return all of it as an Arrow table."""
        with reading(self.path, self.kind), self._opened() as file:
            return checked(file.read().select(list(self.places.values()))).rename_columns(
                list(self.places)
            )

    def batches(
        self,
        columns: Sequence[str],
        rows: int,
        *,
        span: range | None = None,
        numbers: Sequence[str] = (),
        use_threads: bool = True,
    ) -> Iterator[Any]:
        """Yield record batches of some columns; texts as codes of their levels, as in the file."""
        arrow = import_arrow()
        wanted = [self.places[name] for name in columns]
        texts = [self.written[self.places[n]] for n in columns if family(self.types[n]) == "text"]
        by_name = len(set(self.written)) == len(self.written)

        def chosen(batch: Any) -> Any:
            found = [batch.column(self.written[i] if by_name else i) for i in wanted]
            return checked(arrow.RecordBatch.from_arrays(found, names=list(columns)))

        where = None if span is None else self.where(span)
        with (
            reading(self.path, self.kind, where),
            self._opened(read_dictionary=texts, buffer_size=BUFFER_BYTES) as file,
        ):
            # No name is given to a batch: it would stay in memory while the next one is made.
            yield from map(
                chosen,
                file.iter_batches(
                    rows,
                    row_groups=None if span is None else list(span),
                    columns=[self.written[i] for i in wanted] if by_name else None,
                    use_threads=use_threads,
                ),
            )

    def spans(self, rows: int) -> list[range | None]:
        """Return ranges of row groups, small neighbours together while they have so many rows."""
        found: list[range | None] = []
        first, held = 0, 0
        for i, group in enumerate((*self.groups, rows)):
            if i > first and held + group > rows:
                found.append(range(first, i))
                first, held = i, 0
            held += group
        return found

    def where(self, span: range | None) -> str:
        """Return what row groups are called in messages; they are counted from 0, as by pyarrow."""
        if span is None:
            return f"'{self.path}'"
        many = f"row groups {span[0]} to {span[-1]}"
        return f"{many if len(span) > 1 else f'row group {span[0]}'} of '{self.path}'"

    def _opened(self, **how: Any) -> Any:
        # Neither mapped nor buffered ahead: both keep what was read, up to the whole file.
        return import_arrow().parquet.ParquetFile(
            self.path,
            memory_map=False,
            pre_buffer=False,
            page_checksum_verification=True,  # of files that have checksums
            **how,
        )


def _digest_of_footer(path: Path) -> str:
    """Return the sha256 of the footer, which the last eight bytes of a file tell the length of."""
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - 8))
        length = int.from_bytes(stream.read(4), "little") + 8
        stream.seek(max(0, size - length))
        return hashlib.sha256(stream.read()).hexdigest() if length <= size else ""
