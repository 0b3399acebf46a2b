"""What this package refuses to read, to encode or to write."""

from ..errors import FairPCAError


class TableError(FairPCAError, ValueError):
    """A file, a table or a column that cannot be used; the message is one clear line.

    Examples
    --------
    >>> from fairpca.tables import TableError
    >>> raise TableError("'people.csv' is empty.")
    Traceback (most recent call last):
    fairpca.tables.errors.TableError: 'people.csv' is empty.
    """
