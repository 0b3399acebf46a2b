"""Parquet and Feather files, in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ._adapters import import_arrow
from ._files import FileState, TableFile, different_names, reading
from ._table import family

_BUFFER_BYTES = 2**14
"""A column is read through a buffer: without one, all of its row group is read at once."""

_ROW_INDEX = re.compile(r"__index_level_\d+__|__null_dask_index__")
"""The unnamed index that pandas or Dask put into a file: none when these libraries read it."""


def _columns_of(schema: Any, *, as_written: bool) -> dict[str, Any]:
    """Return what a `TableFile` knows of its columns, by different names unless `as_written`."""
    written = tuple(schema.names)
    found = [i for i, name in enumerate(written) if not _ROW_INDEX.fullmatch(name)]
    plain = [written[i] for i in found]
    names, renamed = (plain, ()) if as_written else different_names(plain)
    places = dict(zip(names, found, strict=True))
    types = {name: schema.field(i).type for name, i in places.items()}
    return {
        "names": tuple(places),
        "renamed": renamed,
        "types": types,
        "written": written,
        "places": places,
    }


def _checked(rows: Any) -> Any:
    """Return rows whose texts, lengths and codes were checked: wrong ones crash what comes next."""
    rows.validate(full=True)
    return rows


@dataclass(frozen=True, eq=False)
class FeatherTable(TableFile):
    """A Feather file, Arrow's own format, whose schema was read."""

    kind: ClassVar[str] = "arrow"

    @classmethod
    def open(cls, path: Path, *, as_written: bool = False) -> FeatherTable:
        """Read the schema; raise for a file that is cut off."""
        arrow, state = import_arrow(), FileState.of(path)
        with reading(path, cls.kind), arrow.OSFile(str(path)) as source:
            columns = _columns_of(arrow.ipc.open_file(source).schema, as_written=as_written)
        return cls(path=path, state=state, n_rows=None, **columns)

    def read(self) -> Any:
        """Return all of it as an Arrow table."""
        arrow = import_arrow()
        with reading(self.path, self.kind), arrow.OSFile(str(self.path)) as source:
            table = arrow.ipc.open_file(source).read_all().select(list(self.places.values()))
            return _checked(table).rename_columns(list(self.places))

    def batches(self, columns: Sequence[str], rows: int, **how: Any) -> Iterator[Any]:
        """Yield record batches of some columns."""
        arrow = import_arrow()
        indices = sorted(self.places[name] for name in columns)
        at = {index: i for i, index in enumerate(indices)}
        place = [at[self.places[name]] for name in columns]
        only = arrow.ipc.IpcReadOptions(included_fields=indices)
        with reading(self.path, self.kind), arrow.OSFile(str(self.path)) as source:
            file = arrow.ipc.open_file(source, options=only)
            for i in range(file.num_record_batches):
                batch = _checked(file.get_batch(i))
                for start in range(0, batch.num_rows, rows):
                    found = [batch.column(j).slice(start, rows) for j in place]
                    yield arrow.RecordBatch.from_arrays(found, names=list(columns))


@dataclass(frozen=True, eq=False)
class ParquetTable(TableFile):
    """A Parquet file whose footer was read, with the rows of each row group."""

    kind: ClassVar[str] = "parquet"
    groups: tuple[int, ...]

    @classmethod
    def open(cls, path: Path, *, as_written: bool = False) -> ParquetTable:
        """Read what a file says about itself; raise for one that is cut off."""
        with reading(path, cls.kind):
            state = FileState.of(path)
            with import_arrow().parquet.ParquetFile(path, memory_map=False) as file:
                columns = _columns_of(file.schema_arrow, as_written=as_written)
                about = file.metadata
                groups = tuple(about.row_group(i).num_rows for i in range(about.num_row_groups))
        return cls(path=path, state=state, n_rows=sum(groups), groups=groups, **columns)

    def read(self) -> Any:
        """Return all of it as an Arrow table."""
        with reading(self.path, self.kind), self._opened() as file:
            table = file.read().select(list(self.places.values()))
            return _checked(table).rename_columns(list(self.places))

    def batches(
        self,
        columns: Sequence[str],
        rows: int,
        *,
        span: range | None = None,
        use_threads: bool = True,
        **how: Any,
    ) -> Iterator[Any]:
        """Yield record batches of some columns; texts as codes of their levels, as in the file."""
        arrow = import_arrow()
        wanted = [self.places[name] for name in columns]
        texts = [self.written[self.places[n]] for n in columns if family(self.types[n]) == "text"]
        by_name = len(set(self.written)) == len(self.written)

        def chosen(batch: Any) -> Any:
            found = [batch.column(self.written[i] if by_name else i) for i in wanted]
            return _checked(arrow.RecordBatch.from_arrays(found, names=list(columns)))

        where = None if span is None else self.where(span)
        with (
            reading(self.path, self.kind, where),
            self._opened(read_dictionary=texts, buffer_size=_BUFFER_BYTES) as file,
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
