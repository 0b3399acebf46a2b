"""A checkpoint: where the work stands, as numbers and text, whole and checked.

A line that names the format, a digest of all that follows, then the arrays and the text of a
safetensors file. Nothing in it is ever executed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .._numerics import (
    LENGTH,
    MAX_HEADER,
    MAX_TENSORS,
    RECORDS,
    Packer,
    announced_size,
    is_no_plain_file,
    pack,
    remove_drafts,
    unpack,
    unplain,
    whole_file,
)
from ..errors import CheckpointError, ModelFileError, UnsavableModelError
from ..tables import FileState
from .ordered_fold import SumSoFar

NAME, VERSION = b"fairpca checkpoint ", 2
FIRST_LINE = NAME + b"%d\n" % VERSION
DIGITS = 64
UNFIT = (
    *(ModelFileError, KeyError, TypeError, ValueError, IndexError, AttributeError),
    *(OverflowError, RecursionError, MemoryError),
)
"""What altered contents make the code below raise."""

START_ANEW = "Delete it to start anew, or give another name"


@dataclass(frozen=True)
class Question:
    """What a sum is the sum of: the files in order, and all else that decides the result."""

    files: Sequence[FileState]
    asked: Mapping[str, str]

    def plain(self) -> dict[str, Any]:
        """Return it as lists and dicts."""
        states = [asdict(state) for state in self.files]
        columns = {key: [state[key] for state in states] for key in states[0]} if states else {}
        return {"files": columns, "asked": {**self.asked, "version": version("fairpca")}}

    def difference(self, other: Mapping[str, Any], *, files_only: bool = False) -> str:
        """Return the first thing that another question has different; nothing if it is this one."""
        mine = self.plain()
        theirs, ours = other["files"], mine["files"]
        for path in ours.get("path", []):
            if path not in theirs.get("path", []):
                return f"it knows nothing of the file '{path}'"
        for path in theirs.get("path", []):
            if path not in ours["path"]:
                return f"it has read the file '{path}', which is not among these"
        if theirs.get("path") != ours.get("path"):
            return "the files come in another order"
        for key, told in {"size": "size", "modified": "time", "digest": "content"}.items():
            for i, path in enumerate(ours.get("path", [])):
                if theirs[key][i] != ours[key][i]:
                    return f"the file '{path}' has changed since (its {told} is another)"
        for name, value in mine["asked"].items():
            if other["asked"].get(name) != value and not files_only:
                return f"it is of another question (not the same {name})"
        return ""


class Checkpoint:
    """Where the work stands, in a file that is written in one step and removed in the end."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser()

    def save(self, question: Question, so_far: SumSoFar) -> None:
        """Write where the work stands."""
        packer = Packer()
        state = {
            "question": question.plain(),
            **{field: getattr(so_far, field) for field in ("finished", "added", "rows", "total")},
        }
        try:
            text = json.dumps(packer.plain(state, "the checkpoint"), allow_nan=False)
        except UnsavableModelError as error:
            raise CheckpointError(
                f"'{self.path}' cannot be written: {error} Or work without a checkpoint."
            ) from error
        content = pack(packer.tensors, {"fairpca": text})
        header = int.from_bytes(content[:LENGTH], "little")
        if len(packer.tensors) > MAX_TENSORS or header > MAX_HEADER:
            raise CheckpointError(
                f"'{self.path}' cannot be written: the moments have {len(packer.tensors):,} arrays "
                f"and {header / 2**20:.0f} MB of labels, more than a file holds. Merge rare "
                f"levels, or work without a checkpoint."
            )
        try:
            digest = hashlib.sha256(content).hexdigest().encode("ascii")
            with whole_file(self.path) as draft, draft.open("wb") as stream:
                stream.writelines([FIRST_LINE, digest + b"\n", content])
        except OSError as error:
            if isinstance(error, FileNotFoundError) and self.path.parent.is_dir():
                raise CheckpointError(
                    f"'{self.path}' cannot be written: its draft was removed, so another fit uses "
                    f"this checkpoint. Give each fit a checkpoint of its own."
                ) from error
            raise CheckpointError(
                f"'{self.path}' cannot be written: {error.strerror or error}. Make room, or give "
                f"the checkpoint another place."
            ) from error

    def load(self, question: Question, *, files_only: bool = False) -> SumSoFar:
        """Return where the work stood; the beginning if there is no file.

        With `files_only`, the rest of the question is not known yet.
        """
        try:
            if is_no_plain_file(self.path):  # a pipe would be waited for
                raise CheckpointError(
                    f"'{self.path}' is no plain file, so it cannot be the checkpoint. Give another "
                    f"name."
                )
            with self.path.open("rb") as stream:
                self._check_first_line(stream.readline(len(FIRST_LINE)))
                content = stream.read()
        except FileNotFoundError:
            return SumSoFar()
        except OSError as error:
            raise CheckpointError(
                f"'{self.path}' cannot be read: {error.strerror or error}. {START_ANEW}."
            ) from error
        try:
            state = self._checked(content)
            difference = question.difference(state["question"], files_only=files_only)
            if difference:
                raise self._refused(f"belongs to other work: {difference}")
            total = state["total"]
            if total is not None and not isinstance(total, RECORDS["GroupMoments"]):
                raise TypeError("sums are moments")
            found = SumSoFar(total, state["finished"], state["added"], state["rows"])
            if not found.is_possible:
                raise self._refused("is damaged: it counts what cannot be")
            return found
        except UNFIT as error:
            if isinstance(error, CheckpointError):
                raise
            raise self._refused("is damaged: its contents are not those of one") from error

    def _check_first_line(self, line: bytes) -> None:
        """Refuse other files before they are read: they may be large."""
        if line.startswith(NAME) and line != FIRST_LINE:
            raise self._refused("was written by another version of fairpca, or is truncated")
        if line != FIRST_LINE:
            raise CheckpointError(
                f"'{self.path}' is not a checkpoint of fairpca, and is left alone. Give the "
                f"checkpoint another name."
            )

    def _checked(self, content: bytes) -> Any:
        digest, body = content[: DIGITS + 1], content[DIGITS + 1 :]
        size = announced_size(body)
        if len(digest) <= DIGITS or (size is not None and len(body) < size):
            raise self._refused("is truncated")
        if digest != hashlib.sha256(body).hexdigest().encode("ascii") + b"\n":
            raise self._refused("is damaged: its bytes do not have the digest that it names")
        tensors, metadata = unpack(body)
        return unplain(json.loads(metadata["fairpca"]), tensors)

    def _refused(self, why: str) -> CheckpointError:
        return CheckpointError(f"The checkpoint '{self.path}' {why}. {START_ANEW}.")

    def remove(self) -> None:
        """Remove the file, and drafts that killed processes left."""
        path = Path(os.path.realpath(self.path))
        remove_drafts(path)
        path.unlink(missing_ok=True)
