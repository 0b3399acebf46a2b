"""Where data come from: files in the user's folder or by a checked download, and provenance."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pooch

from fairpca.datasets import Dataset
from fairpca.errors import UsageError

from .errors import DamagedDataError, DownloadError, MissingDataError

if TYPE_CHECKING:
    from pandas import DataFrame, Series

DATA_VARIABLE, CACHE_VARIABLE = "FAIRPCA_DATA", "FAIRPCA_CACHE"
"""Environment variables that name a folder with data sets, and one for downloads."""

DataFolder = str | os.PathLike[str] | None
"""Folder with data sets; without one, that of the environment, or a download."""

CHUNK = 1 << 16

# What zipfile raises for archives that are no archives, were cut off or are garbled.
BAD_ARCHIVE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


@dataclass(frozen=True)
class _DataFile:
    """One published file: ``folder/name`` in a data folder, at `url` perhaps in an archive."""

    folder: str
    name: str
    sha256: str
    url: str
    zipped: bool = False

    def __str__(self) -> str:
        return f"{self.folder}/{self.name}"


def obtain(file: _DataFile, data: DataFolder = None) -> Path:
    """Return the path of a file whose bytes are the published ones; a given `data` must hold it."""
    candidates = candidate_paths(data, file.folder, file.name)
    for path in candidates:
        if path.is_file():
            _check_sha256(path, file.sha256)
            return path
    if data is not None:
        raise MissingDataError(
            f"'{file}' is not in the folder given by data=: looked for {_listed(candidates)}. "
            f"Put the file there (it is published at {file.url}), or leave out data= to have it "
            f"downloaded."
        )
    return _download(file)


def candidate_paths(data: DataFolder, folder: str, name: str = "") -> tuple[Path, ...]:
    """Return where ``folder/name``, or ``name``, may be in the user's folder, if there is one."""
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


def require(data: DataFolder, folder: str, name: str, *, how_to_get: str) -> Path:
    """Return a path in the user's folder; `how_to_get` says where else to get it, in sentences."""
    candidates = candidate_paths(data, folder, name)
    for path in candidates:
        if path.exists():
            return path
    looked = f"no folder was given by data= or the environment variable {DATA_VARIABLE}"
    if candidates:
        looked = f"looked for {_listed(candidates)}"
    raise MissingDataError(
        f"'{folder}/{name}' was not found: {looked}. {how_to_get} Then give that folder by data= "
        f"or {DATA_VARIABLE}."
    )


def _check_sha256(path: Path, sha256: str) -> None:
    """Reject a file whose bytes are not the published ones."""
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != sha256:
        raise DamagedDataError(
            f"'{path}' is not the published file: its sha256 is {found}, expected {sha256}. It "
            f"was cut off, changed (line endings?) or is another edition; replace it or remove "
            f"it. To use another edition on purpose, read it yourself and make a "
            f"fairpca.datasets.Dataset of it."
        )


def _download(
    file: _DataFile, *, timeout: float = 30.0, attempts: int = 3, wait: float = 1.0
) -> Path:
    """Return the path of a checked copy in the cache, fetched where it is missing or damaged.

    It gets its name there in one step, when its sha256 was found right. An attempt ends after
    `timeout` seconds without a byte; the `wait` before the next one doubles.
    """
    cache = os.environ.get(CACHE_VARIABLE) or pooch.os_cache("fairpca")
    target = Path(cache).expanduser() / file.folder / file.name

    def fetch(url: str, output: str, registry: Any) -> None:
        if not file.zipped:
            _get(url, output, timeout)
            return
        archive = Path(f"{output}.zip")
        try:
            _get(url, str(archive), timeout)
            _extract(archive, file.name, Path(output))
        finally:
            archive.unlink(missing_ok=True)

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
        # Not pooch's own retries: they know no failed archive, and do not wait longer each time.
        if attempt + 1 < attempts:
            time.sleep(wait * 2**attempt)
    raise DownloadError(_advice(file, target, attempts, failure)) from failure


def _get(url: str, output: str, timeout: float) -> None:
    responses: list[Any] = []
    hooks = {"response": lambda response, *args, **options: responses.append(response)}
    bar = _Progress(Path(url).name) if sys.stderr.isatty() else False
    http = pooch.HTTPDownloader(progressbar=bar, chunk_size=CHUNK, timeout=timeout, hooks=hooks)
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


def _advice(file: _DataFile, target: Path, attempts: int, failure: Exception) -> str:
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


class _Progress:
    """A percentage that is rewritten in place; the interface is the one pooch expects."""

    def __init__(self, name: str) -> None:
        self.name, self.total = name, 0
        self.reset()

    def reset(self) -> None:
        self.done, self.shown = 0, -1

    def update(self, n_bytes: int) -> None:
        self.done += n_bytes
        percent = min(100, 100 * self.done // self.total) if self.total else 0
        if percent != self.shown:
            self.shown = percent
            self._write(f"\rDownloading {self.name}: {percent} %")

    def close(self) -> None:
        self._write("\n")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _listed(paths: tuple[Path, ...]) -> str:
    return " and ".join(f"'{path}'" for path in paths)


@dataclass(frozen=True)
class Derived:
    """An attribute that is computed from columns of the table, which would leak it."""

    sources: tuple[str, ...]
    values: Callable[[DataFrame], Series]


@dataclass(frozen=True)
class _Source:
    """A published data set: its attributes, files, provenance, and why columns are `dropped`."""

    name: str
    sensitive: tuple[str, ...]
    description: str
    citation: str
    licence: str
    files: tuple[_DataFile, ...] = ()
    how_to_get: str = ""
    dropped: Mapping[str, str] = field(default_factory=dict)

    def read(self, data: DataFolder, **options: Any) -> DataFrame:
        """Read its file."""
        (file,) = self.files
        return read_csv(obtain(file, data), **options)

    def require(self, data: DataFolder, name: str) -> Path:
        """Return the path of something in the user's folder, where nothing can be downloaded."""
        return require(data, self.name, name, how_to_get=self.how_to_get)

    def people(
        self,
        table: DataFrame,
        target: Any,
        given: Sequence[str] | None,
        derived: Mapping[str, Derived] | None = None,
    ) -> Dataset:
        """Divide a table without its target into features and the attributes that were chosen."""
        features, attributes = _separate(table, given, self.sensitive, derived or {})
        return self.dataset(features, attributes, target)

    def dataset(self, features: DataFrame, sensitive: DataFrame, target: Any) -> Dataset:
        """Return the parts with their provenance."""
        provenance = (self.description, self.citation, self.licence)
        return Dataset(self.name, features, target, sensitive, *provenance)


@cache
def source(name: str) -> _Source:
    """Return what ``sources.toml`` says of a data set."""
    text = files(__package__).joinpath("sources.toml").read_text(encoding="utf-8")
    told = tomllib.loads(text)[name]
    told["sensitive"] = tuple(told["sensitive"])
    told["files"] = tuple(_DataFile(folder=name, **file) for file in told.get("files", ()))
    return _Source(name=name, **told)


def read_csv(path: Path, **options: Any) -> DataFrame:
    """Read a file in which only an empty field is missing; texts such as "N/A" are levels."""
    return pd.read_csv(path, keep_default_na=False, na_values=[""], **options)


def chosen_names(
    given: Sequence[str] | None, default: Sequence[str], available: Sequence[str]
) -> tuple[str, ...]:
    """Return the names of the sensitive attributes, each once, or say which there are."""
    names = [given] if isinstance(given, str) else list(default if given is None else given)
    if not names:
        raise UsageError(
            "sensitive is empty, but a data set needs at least one sensitive attribute. Leave it "
            f"out for {listed(default)}."
        )
    unknown = [name for name in names if name not in set(available)]
    if unknown:
        raise UsageError(
            f"sensitive names {listed(unknown)}, which these data do not have. There are: "
            f"{listed(available)}."
        )
    return tuple(dict.fromkeys(names))


def _separate(
    table: DataFrame,
    given: Sequence[str] | None,
    default: Sequence[str],
    derived: Mapping[str, Derived],
) -> tuple[DataFrame, DataFrame]:
    """Return features and attributes; what an attribute is derived from is no feature either."""
    names = chosen_names(given, default, list(dict.fromkeys([*derived, *table])))
    hidden: set[str] = set()
    attributes = {}
    for name in names:
        rule = derived.get(name)
        attributes[name] = rule.values(table) if rule else table[name]
        hidden.update(rule.sources if rule else (name,))
    features = table.drop(columns=[name for name in table if name in hidden])
    sensitive = pd.DataFrame(attributes, index=table.index)
    return _floats_and_categories(features), _floats_and_categories(sensitive)


def _floats_and_categories(table: DataFrame) -> DataFrame:
    """Return the table with numbers as float64 and everything else as sorted categories."""
    is_numeric = pd.api.types.is_numeric_dtype
    kinds = {
        name: float if is_numeric(dtype) else "category"
        for name, dtype in table.dtypes.items()
        if dtype != "category"
    }
    return table.astype(kinds)


def listed(names: Sequence[str]) -> str:
    """Return the names as they are written in a sentence."""
    return ", ".join(f"'{name}'" for name in names)
