"""The columns that all files of a table have, and how their values come from the files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._attributes import closest
from ..errors import TableError
from ..tables import import_arrow, simple
from ._counted_values import RawColumn

if TYPE_CHECKING:
    from ._table_files import TableFile


def check_same_columns(first: TableFile, other: TableFile) -> None:
    """Raise unless another file has the columns of the first, of types that go together."""
    lacking = [name for name in first.names if name not in other.names]
    extra = [name for name in other.names if name not in first.names]
    if lacking:
        near = closest(lacking[0], other.names)
        meant = f" (it has '{near}')" if near and near in extra else ""
        raise TableError(
            f"'{other.path}' lacks the column '{lacking[0]}'{meant}, which '{first.path}' has. "
            f"All files of a table must have the same columns."
        )
    if extra:
        raise TableError(
            f"'{other.path}' has a column '{extra[0]}', which '{first.path}' does not have. All "
            f"files of a table must have the same columns."
        )
    for name, kind in other.types.items():
        families = {_family(first.types[name]), _family(kind)} - {"nothing"}
        if len(families) > 1:
            raise TableError(
                f"The column '{name}' is of the type {kind} in '{other.path}', but of the type "
                f"{first.types[name]} in '{first.path}'. Write both alike."
            )


def _family(kind: Any) -> str:
    types = import_arrow().types
    if types.is_null(kind):
        return "nothing"
    if types.is_dictionary(kind):
        return _family(kind.value_type)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        return "text"
    if types.is_timestamp(kind):
        return "time" if kind.tz is None else "time in a zone"
    return str(kind)


def raw_columns(files: Sequence[TableFile]) -> tuple[RawColumn, ...]:
    """Return how the columns come from the files."""
    first = files[0]
    if first.kind != "text":
        arrow = import_arrow()
        common = {name: _common([file.types[name] for file in files]) for name in first.names}
        # What is neither a number nor a date nor a text is read as one.
        return tuple(
            RawColumn(name, simple(arrow.array([], kind)).type) for name, kind in common.items()
        )
    commas = {
        name
        for file in files
        if file.dialect is not None
        for name, decimal in zip(file.names, file.dialect.decimals, strict=True)
        if decimal == ","
    }
    return tuple(RawColumn(name, None, "," if name in commas else ".") for name in first.names)


def _common(kinds: Sequence[Any]) -> Any:
    arrow = import_arrow()
    schemas = [arrow.schema([("a", kind)]) for kind in dict.fromkeys(kinds)]
    if len(schemas) == 1:
        return kinds[0]
    plain = [arrow.schema([("a", _decoded(s.field(0).type))]) for s in schemas]
    return arrow.unify_schemas(plain, promote_options="permissive").field(0).type


def _decoded(kind: Any) -> Any:
    return kind.value_type if import_arrow().types.is_dictionary(kind) else kind
