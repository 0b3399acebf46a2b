"""What can be wrong with the files of a data set."""

from __future__ import annotations

from fairpca.errors import FairPCAError


class MissingDataError(FairPCAError, FileNotFoundError):
    """A file or folder of a data set is not where it was looked for."""


class DamagedDataError(FairPCAError, ValueError):
    """A file is there, but it is not the published one."""


class DownloadError(FairPCAError, OSError):
    """A file could not be fetched; the message says how to put it in place by hand."""
