"""Finished tasks on disk, one line each, so that an interrupted run goes on where it was."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ._experiment import Key, Result, Task


def fingerprint(tasks: Iterable[Task]) -> str:
    """Return a text that changes when results of an earlier run may no longer hold.

    It covers what is computed (the functions and their arguments) and the versions it is
    computed with, not how many of the tasks there are.
    """
    kinds = sorted({f"{task.run.__module__}.{task.run.__qualname__}" for task in tasks})
    versions = [f"{name} {version(name)}" for name in ("fairpca", "numpy", "scikit-learn")]
    return hashlib.sha256("; ".join([*kinds, *versions]).encode()).hexdigest()[:16]


class ResultsFile:
    """The results of one experiment, appended as they come.

    Parameters
    ----------
    path : Path
        A file of JSON lines; the first names the fingerprint.
    mark : str
        Fingerprint that stored results must have; others are set aside.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "table.jsonl"
    >>> ResultsFile(path, "v1").add(Result({"k": 2}, {"percent": 6.4}))
    >>> ResultsFile(path, "v1").results()
    [Result(key={'k': 2}, values={'percent': 6.4})]
    >>> ResultsFile(path, "v2").results()
    []
    """

    def __init__(self, path: Path, mark: str) -> None:
        self.path, self.mark = path, mark
        self._results = self._read()

    def results(self) -> list[Result]:
        """Return all results so far."""
        return list(self._results.values())

    def get(self, key: Key) -> Result:
        """Return the result of the task with this key."""
        return self._results[_line(key)]

    def has(self, key: Key) -> bool:
        """Tell whether a task with this key is done."""
        return _line(key) in self._results

    def add(self, result: Result) -> None:
        """Append a result; it is on disk when this returns."""
        self._results[_line(result.key)] = result
        new = not self.path.exists()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            if new:
                file.write(json.dumps({"fingerprint": self.mark}) + "\n")
            values = {m: None if math.isnan(v) else v for m, v in result.values.items()}
            file.write(json.dumps({"key": dict(result.key), "values": values}) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _read(self) -> dict[str, Result]:
        if not self.path.exists():
            return {}
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
        whole = [_parsed(line) for line in lines]
        head = whole[0] if whole else None
        if head is None or head.get("fingerprint") != self.mark:
            self.path.replace(self.path.with_suffix(".old"))
            return {}
        good = [entry for entry in whole[1:] if entry is not None]
        if len(good) < len(lines) - 1:  # a run was killed while it wrote: keep whole lines only
            kept = [line for line, entry in zip(lines, whole, strict=True) if entry is not None]
            draft = self.path.with_suffix(".draft")
            draft.write_text("".join(kept), encoding="utf-8")
            draft.replace(self.path)
        results = [
            Result(
                entry["key"],
                {m: math.nan if v is None else v for m, v in entry["values"].items()},
            )
            for entry in good
        ]
        return {_line(result.key): result for result in results}


def _line(key: Key) -> str:
    return json.dumps(dict(key), sort_keys=True)


def _parsed(line: str) -> dict[str, Any] | None:
    if not line.endswith("\n"):
        return None
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None
