"""Where the files of a data set are: a folder of the user's, or a checked download."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from ..errors import DamagedDataError, MissingDataError

DATA_VARIABLE = "FAIRPCA_DATA"
"""Environment variable that names a folder with data sets."""


@dataclass(frozen=True)
class DataFile:
    """One published file, known by its bytes.

    Parameters
    ----------
    folder, name : str
        Where it lies in a data folder: ``folder/name``.
    sha256 : str
        Of the published bytes, 64 hexadecimal digits.
    url : str
        Official address of the file, or of a zip archive that holds it.
    zipped : bool
        Whether `url` is a zip archive with a member called `name`.
    """

    folder: str
    name: str
    sha256: str
    url: str
    zipped: bool = False

    def __str__(self) -> str:
        return f"{self.folder}/{self.name}"


def obtain(file: DataFile, data: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of a file whose bytes are the published ones.

    Parameters
    ----------
    file : DataFile
        Which file.
    data : path, optional
        A folder that must hold the file, as ``folder/name`` or directly. Without it, the folder
        in the environment variable `FAIRPCA_DATA` is tried, and then a download.

    Returns
    -------
    Path
        Of the file in the folder, or of a copy in the cache.

    Raises
    ------
    MissingDataError
        If `data` is given and does not hold the file.
    DamagedDataError
        If the file in the folder is not the published one.
    DownloadError
        If there is no such file in a folder, and it cannot be downloaded.
    """
    candidates = candidate_paths(data, file.folder, file.name)
    for path in candidates:
        if path.is_file():
            check_sha256(path, file.sha256)
            return path
    if data is not None:
        raise MissingDataError(
            f"'{file}' is not in the folder given by data=: looked for {_listed(candidates)}. "
            f"Put the file there (it is published at {file.url}), or leave out data= to have it "
            f"downloaded."
        )
    from ._downloads import download

    return download(file)


def candidate_paths(
    data: str | os.PathLike[str] | None, folder: str, name: str = ""
) -> tuple[Path, ...]:
    """Return where ``folder/name`` may be in the user's data folder, if there is one.

    A file may lie in the folder of its data set, or directly in the folder that was given.
    """
    given = data if data is not None else os.environ.get(DATA_VARIABLE) or None
    if given is None:
        return ()
    base = Path(given).expanduser()
    if not base.is_dir():
        origin = "data=" if data is not None else f"the environment variable {DATA_VARIABLE}="
        raise MissingDataError(
            f"{origin}'{base}' is not a folder. It should hold one folder per data set, here "
            f"'{folder}'."
        )
    return base / folder / name, base / name


def require(
    data: str | os.PathLike[str] | None, folder: str, name: str, *, how_to_get: str
) -> Path:
    """Return a path in the user's data folder, for data that cannot be downloaded.

    Parameters
    ----------
    data : path or None
        Folder given by the user; None: the environment variable `FAIRPCA_DATA`.
    folder, name : str
        Looked for as ``folder/name`` and as ``name``.
    how_to_get : str
        Sentences that tell where to get the data and how to lay them out.

    Returns
    -------
    Path
        Exists.

    Raises
    ------
    MissingDataError
        If it does not exist, or if no folder was given.
    """
    candidates = candidate_paths(data, folder, name)
    for path in candidates:
        if path.exists():
            return path
    looked = (
        f"looked for {_listed(candidates)}"
        if candidates
        else f"no folder was given by data= or the environment variable {DATA_VARIABLE}"
    )
    raise MissingDataError(
        f"'{folder}/{name}' was not found: {looked}. {how_to_get} Then give that folder by data= "
        f"or {DATA_VARIABLE}."
    )


def check_sha256(path: Path, sha256: str) -> None:
    """Refuse a file whose bytes are not the published ones."""
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != sha256:
        raise DamagedDataError(
            f"'{path}' is not the published file: its sha256 is {found}, expected {sha256}. It "
            f"was cut off, changed (line endings?) or is another edition; replace it or remove "
            f"it. To use another edition on purpose, read it yourself and make a "
            f"fairpca.datasets.Dataset of it."
        )


def _listed(paths: tuple[Path, ...]) -> str:
    return " and ".join(f"'{path}'" for path in paths)
