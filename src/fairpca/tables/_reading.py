"""From a file, or the name of a data set, to a table."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..datasets import Dataset, load_adult, load_bank, load_compas, load_german, load_loanapp
from ..errors import TableError
from ._adapters import import_arrow, import_pandas
from ._column_names import different_names, is_row_index
from ._csv_dialect import sniff
from ._csv_files import read_texts, typed
from ._file_kinds import existing_file, kind_of_file, unreadable
from ._table import Table, arrow_to_pandas, checked, fingerprint_of_values

BUILT_IN: dict[str, Callable[..., Dataset]] = {
    "loanapp": load_loanapp,
    "adult": load_adult,
    "bank": load_bank,
    "german": load_german,
    "compas": load_compas,
}
"""Data sets by name; all but `loanapp` come from a folder or are downloaded."""


def read_table(
    source: str | os.PathLike[str],
    *,
    data: str | os.PathLike[str] | None = None,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    skip_lines: int = 0,
) -> Table:
    r"""Read a table from a CSV, Parquet or Feather file, or a built-in data set by its name.

    Parameters
    ----------
    source : str or path
        A file; what is in it decides how it is read, not its name. Or one of "loanapp", "adult",
        "bank", "german", "compas", which win over a file of exactly that name.
    data : path, optional
        Folder of the built-in data sets; see `fairpca.datasets`.
    columns : sequence of str, optional
        For text files without names: what the columns are called.
    header : bool, optional
        For text files: whether the first line has the names. By default it must look so, and a
        first line that may be data is refused.
    skip_lines : int, default=0
        For text files: lines to leave out at the beginning.

    Returns
    -------
    Table
        With the columns of the file as they are: numbers where all values are, else texts.

    Raises
    ------
    TableError
        If this is no table, or not all of it can be read. The message is one line.

    See Also
    --------
    Table : What it returns.

    Notes
    -----
    Text files may use any of comma, semicolon, tab, bar and blanks; be gzipped; be in UTF-8,
    UTF-16 or Latin-1; have decimal commas where commas do not divide. Blanks around
    values are removed. Empty fields, "NA", "NaN", "null", "None" and the like are missing, as in
    pandas. "?" is missing in a column of numbers and a value of its own in one of texts.

    Examples
    --------
    >>> import tempfile
    >>> from fairpca.tables import read_table
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("age;sex\n30;f\n40;m\n")
    >>> table = read_table(file)
    >>> table
    <Table people: 2 rows, 2 columns>
    >>> table.frame["age"].tolist()
    [30, 40]
    """
    if str(source) in BUILT_IN:
        return _built_in(str(source), data)
    path = existing_file(Path(source).expanduser(), also=tuple(BUILT_IN))
    kind = kind_of_file(path)
    if kind in ("parquet", "arrow"):
        refuse_text_options(path, kind, columns, header, skip_lines)
        frame = arrow_to_pandas(_read_binary(path, kind))
        names, renamed = different_names([str(name) for name in frame.columns])
        frame.columns = names
    else:
        frame, renamed = _read_text(path, columns, header, skip_lines)
    checked(frame, f"'{path}'")
    name = path.name.removesuffix(".gz")
    told = {"columns": columns, "header": header, "skip_lines": skip_lines or None}
    return Table(
        frame=frame,
        name=Path(name).stem,
        source=str(source),
        fingerprint=fingerprint_of_file(path),
        renamed=renamed,
        reading={option: value for option, value in told.items() if value is not None},
    )


def _built_in(name: str, data: str | os.PathLike[str] | None) -> Table:
    loaded = BUILT_IN[name]() if name == "loanapp" else BUILT_IN[name](data=data)
    target = [] if loaded.target is None else [loaded.target]
    frame = import_pandas().concat([loaded.features, loaded.sensitive, *target], axis=1)
    return Table(
        frame=frame.reset_index(drop=True),
        name=name,
        source=name,
        fingerprint=fingerprint_of_values(frame),
        sensitive=tuple(map(str, loaded.sensitive.columns)),
        target=None if loaded.target is None else str(loaded.target.name),
    )


def _read_binary(path: Path, kind: str) -> Any:
    arrow = import_arrow()
    try:
        if kind == "parquet":
            with arrow.parquet.ParquetFile(path, page_checksum_verification=True) as file:
                return sound(_without_index(file.read()))
        with arrow.memory_map(str(path)) as source:
            return sound(_without_index(arrow.ipc.open_file(source).read_all()))
    except (arrow.ArrowException, UnicodeDecodeError) as error:
        raise damaged(path, kind, error) from error
    except OSError as error:
        raise unreadable_binary(path, kind, error) from error


def sound(rows: Any) -> Any:
    """Return an Arrow table or batch of a file whose texts, lengths and codes were checked.

    What comes after trusts them: lengths beyond the end would be read, and crash.
    """
    rows.validate(full=True)
    return rows


def _without_index(table: Any) -> Any:
    names = table.schema.names
    return table.select([i for i, name in enumerate(names) if not is_row_index(name)])


def refuse_text_options(
    path: Path,
    kind: str,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    skip_lines: int = 0,
) -> None:
    """Refuse what would have no effect on a Parquet or Feather file."""
    if columns is not None or header is not None or skip_lines:
        raise TableError(
            f"'{path}' is a {kind} file, which has its own names: columns, header and skip_lines "
            f"are for text files. Leave them out."
        )


def damaged(path: Path, kind: str, error: Exception) -> TableError:
    """Return the error for a file that is not whole."""
    why = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
    return TableError(f"'{path}' is a damaged or cut-off {kind} file: {why}. Get it again.")


def unreadable_binary(path: Path, kind: str, error: OSError) -> TableError:
    """Return the error for what Arrow calls a failure of the system; without a number it is not."""
    return damaged(path, kind, error) if error.errno is None else unreadable(path, error)


def _read_text(
    path: Path, columns: Sequence[str] | None, header: bool | None, skip_lines: int
) -> tuple[Any, tuple[tuple[str, str], ...]]:
    dialect = sniff(path, columns=columns, header=header, skip_lines=skip_lines)
    names, renamed = different_names(dialect.names)
    texts = read_texts(path, dialect, names)
    arrow = import_arrow()
    table = arrow.table(
        [typed(*pair) for pair in zip(texts.columns, dialect.decimals, strict=True)],
        names=texts.column_names,
    )
    return arrow_to_pandas(table), renamed


def fingerprint_of_file(path: Path) -> str:
    """Return the sha256 of the bytes of a file."""
    with path.open("rb") as stream:
        return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"
