"""A model file: arrays, a JSON header, and a digest of all its bytes.

Bytes are checked before anything is made of them: the size of the file before it is read, the
digest before the header is parsed, the header before arrays are made.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .._files import LENGTH, MAX_HEADER, announced_size, header_bytes, pack, unpack, whole_file
from ..errors import ExportError, ModelFileError, UsageError

FORMAT, VERSION = "fairpca model", 2

MAX_BYTES = 2**31
"""Larger files raise an error before they are read, unless the caller allows more."""

KEY, DIGITS = "fairpca", 64
_DIGEST = re.compile(rb'"\{\\"sha256\\":\\"([0-9a-f]{64})\\"')


def write_model_file(
    path: str | os.PathLike[str], header: Mapping[str, Any], tensors: Mapping[str, np.ndarray]
) -> None:
    """Write a file that is whole or not there; `header` is plain JSON."""
    text = json.dumps(
        {"sha256": "0" * DIGITS, **header},
        allow_nan=False,
        ensure_ascii=False,
        separators=(",", ":"),
    )
    content = pack(tensors, {KEY: text})
    start = int.from_bytes(content[:LENGTH], "little")
    if start > MAX_HEADER:
        raise ExportError(
            f"The names and labels of this model take {start / 2**20:.0f} MB, more than the "
            f"{MAX_HEADER / 2**20:.0f} MB that a model file has for them. Shorten the column "
            f"names, or merge rare groups."
        )
    start, stop = _place(content)
    with whole_file(path) as draft:
        draft.write_bytes(b"".join([content[:start], _digest(content), content[stop:]]))


def read_model_file(
    path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES
) -> tuple[dict[str, Any], Mapping[str, np.ndarray]]:
    """Return the header and the arrays of a model file, or say what is wrong with it."""
    with about_file(path):
        content = file_content(Path(path), max_bytes)
        _check_digest(content)
        tensors, metadata = unpack(content)
        return _checked_header(metadata), tensors


@contextmanager
def about_file(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let an error name the file that it is about."""
    try:
        yield
    except ModelFileError as reason:
        raise ModelFileError(f"{os.fspath(path)!r} {reason}.") from reason.__cause__


def file_content(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a file of which there are no more than allowed."""
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            raise ModelFileError("is a folder. Pass the path of a model file")
        if not stat.S_ISREG(found.st_mode):  # opening a pipe would wait for somebody to write
            raise ModelFileError("is no plain file. Pass the path of a model file")
        if found.st_size > max_bytes:
            raise ModelFileError(
                f"has {found.st_size:,} bytes, more than the {max_bytes:,} that are read. If it is "
                f"yours, pass load(..., max_bytes={found.st_size})"
            )
        with path.open("rb") as file:
            return file.read(found.st_size)
    except FileNotFoundError as reason:
        raise ModelFileError("does not exist. Check the path") from reason
    except ModelFileError:
        raise
    except (OSError, ValueError) as reason:
        raise ModelFileError(f"cannot be read: {reason}") from reason


def _digest(content: bytes) -> bytes:
    """Return the sha256 of all bytes, those of the digest itself read as zeros."""
    start, stop = _place(content)
    digest = hashlib.sha256(memoryview(content)[:start])
    digest.update(b"0" * DIGITS)
    digest.update(memoryview(content)[stop:])
    return digest.hexdigest().encode("ascii")


def _place(content: bytes) -> tuple[int, int]:
    """Return where the digest stands: it opens our JSON, so the first match is it."""
    header = header_bytes(content)
    found = None if header is None else _DIGEST.search(header)
    if found is None:
        kind = "a safetensors file, but not one of" if header else "not a model file of"
        raise ModelFileError(f"is {kind} fairpca. Pass a file that fairpca.save wrote")
    return LENGTH + found.start(1), LENGTH + found.end(1)


def _check_digest(content: bytes) -> None:
    start, stop = _place(content)
    if _digest(content) == content[start:stop]:
        return
    size = announced_size(content)
    if size is not None and len(content) < size:
        raise ModelFileError(
            f"is truncated: {len(content):,} of its {size:,} bytes are there. Copy it again"
        )
    raise ModelFileError(
        "was altered or damaged after it was saved: its bytes do not have the digest that it "
        "names. Take a fresh copy of the file"
    )


def _checked_header(metadata: Any) -> dict[str, Any]:
    try:
        header: dict[str, Any] = json.loads(metadata[KEY], parse_constant=_no_json)
        json.dumps(header, ensure_ascii=False).encode("utf-8")  # no halves of characters
        known = isinstance(header, dict) and header["format"] == FORMAT
        version, written_by = header["format_version"], header["versions"]["fairpca"]
        known = known and type(version) is int and version >= 1
        if known and version <= VERSION:
            texts = [header["created"], *header["versions"], *header["versions"].values()]
            if not all(isinstance(text, str) for text in (*texts, *header["left_out"])):
                raise UsageError("facts that are no texts")  # people read them
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as reason:
        raise ModelFileError("is damaged: its header is not that of a model") from reason
    if not known:
        raise ModelFileError("is not a model file of fairpca: its header names another format")
    if version > VERSION:
        raise ModelFileError(
            f"was written by fairpca {str(written_by)[:40]} in format {version}; this version "
            f"reads formats up to {VERSION}. Upgrade with: pip install --upgrade fairpca"
        )
    return header


def _no_json(constant: str) -> None:
    raise UsageError(f"{constant} is not JSON")
