"""What can go wrong between a data set and its user."""

from ..errors import FairPCAError


class MissingDataError(FairPCAError, FileNotFoundError):
    """A file or folder of a data set is not where it was looked for.

    Examples
    --------
    >>> from fairpca.datasets import MissingDataError, load_german
    >>> try:
    ...     load_german(data="no-such-folder")
    ... except MissingDataError as refusal:
    ...     print(refusal)
    data='no-such-folder' is not a folder. It should hold one folder per data set, here
    'german'.
    """


class DamagedDataError(FairPCAError, ValueError):
    """A file is there, but it is not the published one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from fairpca.datasets import DamagedDataError, load_german
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "german.data").write_text("A11 6 A34")
    ...     try:
    ...         load_german(data=folder)
    ...     except DamagedDataError as refusal:
    ...         print("german.data" in str(refusal), "sha256" in str(refusal))
    True True
    """


class DownloadError(FairPCAError, OSError):
    """A file could not be fetched; the message says how to put it in place by hand.

    Examples
    --------
    >>> from fairpca.datasets import DownloadError
    >>> try:
    ...     raise DownloadError("german.data could not be fetched. Put it into a folder by hand.")
    ... except OSError as refusal:
    ...     print(refusal)
    german.data could not be fetched. Put it into a folder by hand.
    """
