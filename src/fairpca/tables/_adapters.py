"""The libraries that tables need. The only file here that imports pandas, pyarrow and skrub."""

from __future__ import annotations

from typing import Any

from ..errors import MissingExtraError

EXTRA = "tables"


def import_pandas(purpose: str = "A table") -> Any:
    """Return the module, or say which extra installs it."""
    try:
        import pandas
    except ImportError as error:
        raise MissingExtraError("pandas", EXTRA, purpose) from error
    return pandas


def import_arrow(purpose: str = "A table") -> Any:
    """Return pyarrow, its modules for computing and for files loaded, or name the extra."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("pyarrow", EXTRA, purpose) from error
    return pyarrow


def date_format(texts: list[str]) -> str | None:
    """Return the format in which skrub can read all the texts as dates, or None.

    Examples
    --------
    >>> date_format(["31/12/2024", "01/02/2025"])
    '%d/%m/%Y'
    >>> date_format(["yesterday", "today"]) is None
    True
    """
    skrub, pandas = _import_skrub("Telling dates from texts"), import_pandas()
    reader = skrub.ToDatetime()
    try:
        reader.fit_transform(pandas.Series(texts, name="dates", dtype=object))
    except ValueError:  # skrub's way to say that the column is none of dates
        return None
    found: str = reader.format_
    return found


def string_encoder(texts: list[str], n_components: int, vocabulary: list[str] | None = None) -> Any:
    """Return skrub's StringEncoder, fitted; `vocabulary` limits the n-grams it looks at."""
    skrub, pandas = _import_skrub("Encoding texts"), import_pandas()
    limits = {} if vocabulary is None else {"vocabulary": vocabulary}
    encoder = skrub.StringEncoder(n_components=n_components, random_state=0, **limits)
    encoder.fit_transform(pandas.Series(texts, name="texts", dtype=object))
    return encoder


def _import_skrub(purpose: str) -> Any:
    try:
        import skrub
    except ImportError as error:
        raise MissingExtraError("skrub", EXTRA, purpose) from error
    return skrub
