"""Feather files: Arrow's own format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ._adapters import import_arrow
from ._files import FileState, TableFile, checked, places_of_columns, reading


@dataclass(frozen=True, eq=False)
class FeatherTable(TableFile):
    """A Feather file whose schema was read."""

    kind: ClassVar[str] = "arrow"

    @classmethod
    def open(cls, path: Path, *, as_written: bool = False) -> FeatherTable:
        """Read the schema; refuse a file that is cut off."""
        arrow, state = import_arrow(), FileState.of(path)
        with reading(path, cls.kind), arrow.OSFile(str(path)) as source:
            schema = arrow.ipc.open_file(source).schema
            written = tuple(schema.names)
        places, renamed = places_of_columns(written, as_written=as_written)
        types = {name: schema.field(i).type for name, i in places.items()}
        return cls(path, state, tuple(places), renamed, types, None, written, places)

    def read(self) -> Any:
        """Return all of it as an Arrow table."""
        arrow = import_arrow()
        with reading(self.path, self.kind), arrow.memory_map(str(self.path)) as source:
            table = arrow.ipc.open_file(source).read_all()
            chosen = table.select(list(self.places.values())).rename_columns(list(self.places))
            return checked(chosen)

    def batches(self, columns: Sequence[str], rows: int, **how: Any) -> Iterator[Any]:
        """Yield record batches of some columns."""
        arrow = import_arrow()
        indices = sorted(self.places[name] for name in columns)
        place = [indices.index(self.places[name]) for name in columns]
        only = arrow.ipc.IpcReadOptions(included_fields=indices)
        with reading(self.path, self.kind), arrow.OSFile(str(self.path)) as source:
            file = arrow.ipc.open_file(source, options=only)
            for i in range(file.num_record_batches):
                batch = checked(file.get_batch(i))
                for start in range(0, batch.num_rows, rows):
                    found = [batch.column(j).slice(start, rows) for j in place]
                    yield arrow.RecordBatch.from_arrays(found, names=list(columns))
