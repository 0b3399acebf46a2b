"""From a file, or the name of a data set, to a table."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ..datasets import Dataset, load_adult, load_bank, load_compas, load_german, load_loanapp
from ._adapters import import_pandas
from ._open import fingerprint_of_files, open_table
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
    file = open_table(source, columns=columns, header=header, skip_lines=skip_lines)
    frame = arrow_to_pandas(file.read())
    checked(frame, f"'{file.path}'")
    options = {"columns": columns, "header": header, "skip_lines": skip_lines or None}
    return Table(
        frame=frame,
        name=Path(file.path.name.removesuffix(".gz")).stem,
        source=str(source),
        fingerprint=fingerprint_of_files([file.path], whole=True),
        renamed=file.renamed,
        reading={option: value for option, value in options.items() if value is not None},
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
