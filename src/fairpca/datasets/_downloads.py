"""Downloads that are checked before anything sees them. The only file that knows pooch."""

from __future__ import annotations

import os
import shutil
import sys
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import DownloadError, MissingExtraError, UsageError
from ._files import DATA_VARIABLE, DataFile
from ._progress import Progress

CACHE_VARIABLE = "FAIRPCA_CACHE"
"""Environment variable that names the folder for downloaded files."""

CHUNK = 1 << 16

# What zipfile raises for archives that are no archives, were cut off or are garbled.
BAD_ARCHIVE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


def download(
    file: DataFile,
    cache: Path | None = None,
    *,
    timeout: float = 30.0,
    attempts: int = 3,
    wait: float = 1.0,
) -> Path:
    """Return the path of a checked copy of `file` in the cache, fetching it where needed.

    A file gets its name in the cache only after its sha256 was found right, in one step, so
    neither a broken download nor a second process can leave a bad file there. A cached file that
    was damaged later is noticed, and fetched again.

    Parameters
    ----------
    file : DataFile
        Which file, its address and its sha256.
    cache : Path, optional
        Folder for downloads; by default the environment variable `FAIRPCA_CACHE`, or the
        operating system's folder for caches.
    timeout : float, default=30
        Seconds without a byte after which an attempt is given up.
    attempts : int, default=3
        How often to try, whatever the failure was.
    wait : float, default=1
        Seconds before the second attempt; doubled before each further one.

    Returns
    -------
    Path
        ``cache/folder/name``.

    Raises
    ------
    DownloadError
        If no attempt succeeded.
    MissingExtraError
        If pooch is not installed.
    """
    pooch = _import_pooch()
    target = (cache if cache is not None else cache_folder(pooch)) / file.folder / file.name
    fetch = _downloader(pooch, file, timeout)
    for attempt in range(attempts):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            pooch.retrieve(
                url=file.url,
                known_hash=f"sha256:{file.sha256}",
                fname=target.name,
                path=target.parent,
                downloader=fetch,
            )
            return target
        except (OSError, ValueError) as error:  # the exceptions of requests are OSErrors
            failure = error
        if attempt + 1 < attempts:
            time.sleep(wait * 2**attempt)
    raise DownloadError(_advice(file, target, attempts, failure)) from failure


def cache_folder(pooch: ModuleType | None = None) -> Path:
    """Return the folder that downloads are kept in."""
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given).expanduser()
    return Path((pooch or _import_pooch()).os_cache("fairpca"))


def _import_pooch() -> ModuleType:
    try:
        import pooch
    except ImportError as error:
        raise MissingExtraError("pooch", "data", "Downloading a data set") from error
    module: ModuleType = pooch
    return module


def _downloader(pooch: Any, file: DataFile, timeout: float) -> Callable[..., None]:
    def fetch(url: str, output: str, registry: Any) -> None:
        if not file.zipped:
            _get(pooch, url, output, timeout)
            return
        archive = Path(f"{output}.zip")
        try:
            _get(pooch, url, str(archive), timeout)
            _extract(archive, file.name, Path(output))
        finally:
            archive.unlink(missing_ok=True)

    return fetch


def _get(pooch: Any, url: str, output: str, timeout: float) -> None:
    responses: list[Any] = []

    def remember(response: Any, *args: Any, **kwargs: Any) -> None:
        responses.append(response)

    bar = Progress(Path(url).name) if sys.stderr.isatty() else False
    http = pooch.HTTPDownloader(
        progressbar=bar, chunk_size=CHUNK, timeout=timeout, hooks={"response": remember}
    )
    try:
        http(url, output, None)
    finally:
        for response in responses:  # pooch leaves connections open that failed half-way
            response.close()


def _extract(archive: Path, name: str, output: Path) -> None:
    """Write the member called `name`, in whichever folder of the archive, to `output`."""
    try:
        with zipfile.ZipFile(archive) as members:
            matches = [m for m in members.namelist() if m.rsplit("/", 1)[-1] == name]
            if len(matches) != 1:
                raise UsageError(f"the archive has {len(matches)} members called '{name}', not 1")
            with members.open(matches[0]) as source, output.open("wb") as copy:
                shutil.copyfileobj(source, copy)
    except BAD_ARCHIVE as error:
        raise UsageError(f"what came is not a readable zip archive ({error})") from error


def _advice(file: DataFile, target: Path, attempts: int, failure: Exception) -> str:
    what = f"the member '{file.name}' of that archive" if file.zipped else "that file"
    times = "once" if attempts == 1 else f"{attempts} times"
    return (
        f"'{file}' could not be downloaded from {file.url} (tried {times}). The last failure: "
        f"{type(failure).__name__}: {failure}\n"
        f"Check the connection; behind a proxy set HTTPS_PROXY. Or get {what} another way (its "
        f"sha256 must be {file.sha256}) and save it as '{target}'; or save it as FOLDER/{file} "
        f"and give the folder by data=FOLDER or by the environment variable {DATA_VARIABLE}. "
        f"{CACHE_VARIABLE} names another folder for downloads."
    )
