"""Tables of any size, a batch of rows at a time, from and to files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import TableError
from ._adapters import import_arrow
from ._arrow_columns import arrow_columns
from ._column_names import different_names, is_row_index
from ._csv_dialect import sniff
from ._csv_files import arrow_stream, explained, options, slowly, with_points
from ._file_kinds import existing_file, kind_of_file, undecodable, unreadable
from ._reading import BUILT_IN, damaged, read_table, refuse_text_options, sound, unreadable_binary

CSV_BLOCK = 2**22


@dataclass(frozen=True, eq=False)
class Batches:
    """Where batches come from.

    Parameters
    ----------
    names : list of str
        The columns there are.
    n_rows : int or None
        How many rows there are, where the file says so.
    read : callable
        Takes the wanted columns, and which of them are numbers; yields dicts of Arrow arrays.
    """

    names: list[str]
    n_rows: int | None
    read: Callable[[Sequence[str], Sequence[str]], Iterator[dict[str, Any]]]


def open_batches(
    source: str | os.PathLike[str], batch_rows: int, *, data: Any = None, **how: Any
) -> Batches:
    """Open a file, or a built-in data set, to be read in batches.

    Parameters
    ----------
    source : str or path
        As for `read_table`.
    batch_rows : int
        Rows per batch, at most; text files come in blocks of a few megabytes.
    data, **how
        As for `read_table`.
    """
    if str(source) in BUILT_IN:
        return _in_memory(read_table(source, data=data).frame, batch_rows)
    path = existing_file(Path(source).expanduser(), also=tuple(BUILT_IN))
    kind = kind_of_file(path)
    if kind in ("parquet", "arrow"):
        refuse_text_options(path, kind, **how)
    if kind == "parquet":
        return _parquet(path, batch_rows)
    if kind == "arrow":
        return _feather(path, batch_rows)
    return _text(path, batch_rows, **how)


def _in_memory(frame: Any, batch_rows: int) -> Batches:
    arrays = arrow_columns(frame)
    n = len(frame)

    def read(wanted: Sequence[str], numbers: Sequence[str]) -> Iterator[dict[str, Any]]:
        for start in range(0, n, batch_rows):
            yield {name: arrays[name].slice(start, batch_rows) for name in wanted}

    return Batches(list(arrays), n, read)


def _parquet(path: Path, batch_rows: int) -> Batches:
    arrow = import_arrow()
    with _whole(path, "parquet"), arrow.parquet.ParquetFile(path) as file:
        there = file.schema_arrow
        names, places = _named(there)
        n_rows = file.metadata.num_rows

    def read(wanted: Sequence[str], numbers: Sequence[str]) -> Iterator[dict[str, Any]]:
        indices = [places[names.index(name)] for name in wanted]
        # Texts as codes of their levels, the way the file has them: nothing is hashed again.
        texts = [
            there.names[i]
            for i in indices
            if arrow.types.is_string(there[i].type) or arrow.types.is_large_string(there[i].type)
        ]
        same = len(set(there.names)) == len(there.names)
        chosen = [there.names[i] for i in indices] if same else None
        with (
            _whole(path, "parquet"),
            # Neither mapped nor buffered ahead: both keep what was read, up to the whole file.
            arrow.parquet.ParquetFile(
                path,
                read_dictionary=texts,
                memory_map=False,
                pre_buffer=False,
                page_checksum_verification=True,  # of files that have checksums
            ) as open_file,
        ):
            for batch in map(sound, open_file.iter_batches(batch_rows, columns=chosen)):
                if same:
                    yield {
                        name: batch.column(there.names[i])
                        for name, i in zip(wanted, indices, strict=True)
                    }
                else:
                    yield {name: batch.column(i) for name, i in zip(wanted, indices, strict=True)}

    return Batches(names, n_rows, read)


def _feather(path: Path, batch_rows: int) -> Batches:
    arrow = import_arrow()
    with _whole(path, "arrow"), arrow.OSFile(str(path)) as source:
        names, places = _named(arrow.ipc.open_file(source).schema)

    def read(wanted: Sequence[str], numbers: Sequence[str]) -> Iterator[dict[str, Any]]:
        indices = sorted(places[names.index(name)] for name in wanted)
        place = {name: indices.index(places[names.index(name)]) for name in wanted}
        only = arrow.ipc.IpcReadOptions(included_fields=indices)
        with _whole(path, "arrow"), arrow.OSFile(str(path)) as source:
            file = arrow.ipc.open_file(source, options=only)
            for i in range(file.num_record_batches):
                batch = sound(file.get_batch(i))
                for start in range(0, batch.num_rows, batch_rows):
                    part = batch.slice(start, batch_rows)
                    yield {name: part.column(place[name]) for name in wanted}

    return Batches(names, None, read)


def _named(schema: Any) -> tuple[list[str], list[int]]:
    """Return the names of the columns, as when a file is read whole, and where each of them is."""
    places = [i for i, name in enumerate(schema.names) if not is_row_index(name)]
    return different_names([schema.names[i] for i in places])[0], places


def _text(path: Path, batch_rows: int, **how: Any) -> Batches:
    arrow = import_arrow()
    dialect = sniff(path, **how)
    names, _ = different_names(dialect.names)
    decimals = dict(zip(names, dialect.decimals, strict=True))

    def read(wanted: Sequence[str], numbers: Sequence[str]) -> Iterator[dict[str, Any]]:
        for batch in texts(wanted):
            columns = {name: batch.column(name) for name in wanted}
            yield {
                name: with_points(column, decimals[name]) if name in set(numbers) else column
                for name, column in columns.items()
            }

    def texts(wanted: Sequence[str]) -> Iterator[Any]:
        if dialect.delimiter == " " or dialect.spaced_quotes:
            yield from slowly(path, dialect, names, batch_rows)
            return
        asked = options(dialect, names, wanted)
        asked["read_options"].block_size = CSV_BLOCK
        try:
            with arrow_stream(path) as stream:
                for batch in arrow.csv.open_csv(stream, **asked):
                    for start in range(0, batch.num_rows, batch_rows):
                        yield batch.slice(start, batch_rows)
        except arrow.ArrowInvalid as error:
            raise explained(path, error, dialect) from error
        except UnicodeDecodeError as error:
            raise undecodable(path, error) from error
        except OSError as error:
            raise unreadable(path, error) from error

    return Batches(names, None, read)


@contextmanager
def _whole(path: Path, kind: str) -> Iterator[None]:
    """Turn what goes wrong in a binary file into one clear line."""
    arrow = import_arrow()
    try:
        yield
    except TableError:
        raise
    except (arrow.ArrowException, UnicodeDecodeError) as error:
        raise damaged(path, kind, error) from error
    except OSError as error:
        raise unreadable_binary(path, kind, error) from error
