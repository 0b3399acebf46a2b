"""What is tried, what may come of it, and what every target has."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import traceback
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairpca import FairPCAError

REFUSED, EQUAL, VALID = "refused", "equal", "valid"
"""Refused with an error of ours; accepted with the same result; accepted as something else that
is whole in itself."""


class Failed(AssertionError):
    """A promise was broken."""


@dataclass(frozen=True)
class Case:
    """One input.

    Parameters
    ----------
    target : str
        Who takes it.
    content : bytes
        The file.
    how : str
        What was done to make it.
    about : dict
        What else the target has to know, in plain JSON.
    """

    target: str
    content: bytes
    how: str
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """A short name that depends on nothing but the case."""
        digest = hashlib.sha256(self.content + json.dumps(self.about, sort_keys=True).encode())
        return f"{self.target}-{digest.hexdigest()[:12]}"

    def keep(self, folder: Path, why: str) -> Path:
        """Write the case to a file that later runs try again, and return its path."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        content = base64.b64encode(self.content).decode("ascii")
        plain = {"target": self.target, "how": self.how, "why": why, "about": dict(self.about)}
        path.write_text(json.dumps({**plain, "content": content}, indent=1), encoding="utf-8")
        return path

    @classmethod
    def kept(cls, path: Path) -> Case:
        """Return the case of a file."""
        plain = json.loads(path.read_text(encoding="utf-8"))
        content = base64.b64decode(plain["content"])
        return cls(plain["target"], content, plain["how"], plain["about"])


class Target(ABC):
    """Something that takes files or arguments of strangers.

    A case follows from the seeds and a number alone.
    """

    name: str
    seconds: float = 10.0
    """Longer than this, no input may take."""

    @abstractmethod
    def prepare(self, folder: Path) -> None:
        """Write the seeds into a folder: valid inputs, from which others are made."""

    @abstractmethod
    def load_seeds(self, folder: Path) -> None:
        """Read the seeds."""

    @abstractmethod
    def warm_up(self, folder: Path) -> None:
        """Do once, in an empty folder, what the first input would do: import, compile, allocate."""

    @abstractmethod
    def case(self, rng: random.Random) -> Case:
        """Return an input."""

    @abstractmethod
    def check(self, case: Case, folder: Path) -> str:
        """Try an input in an empty folder; return what came of it, or raise.

        Errors of ours are refusals and are told by the result; any other exception is a failure.
        """


def numbered(target: str, seed: int, index: int) -> random.Random:
    """Return the randomness of one case, whatever was drawn before it."""
    return random.Random(f"{seed}/{target}/{index}")


def is_ours(error: Exception, *, plainly: bool) -> bool:
    """Tell whether an error is one of ours; plain ones that estimators raise may count."""
    if isinstance(error, FairPCAError):
        return True
    raised_in = traceback.extract_tb(error.__traceback__)[-1].filename
    return plainly and type(error) is ValueError and "/fairpca/" in raised_in


def assert_clear(error: Exception) -> None:
    """Check that an error has words, and not too many."""
    if not str(error).strip() or len(str(error)) > 20_000:
        raise Failed(f"an error without a clear line: {str(error)[:200]!r}") from error


def assert_nothing_left(folder: Path, *expected: Path) -> None:
    """Check that a refusal leaves no file behind."""
    left = sorted({p.name for p in folder.iterdir()} - {p.name for p in expected})
    if left:
        raise Failed(f"files are left after a refusal: {left}")


def assert_one_line(error: Exception, path: Path) -> None:
    """Check that a refusal is one line that names the file, of a length that can be read."""
    message = str(error)
    if "\n" in message or repr(str(path)) not in message or len(message) > 2000:
        raise Failed(f"a refusal that is not one clear line: {message[:300]!r}")
