"""Text files: refused with an error of ours, or read alike by everything that reads.

Two kinds of files: valid ones whose bytes were changed, and ones that were written nastily from
the start. There is no digest, so most changes are simply other data. What is promised: the reader
of whole files and the one of streams find the same columns and as many rows; numbers they find
are the same; and moments, models and streamed outputs are finite and have the right number of
rows. "The same" in the table means that both readers agree; a model that cannot be fitted to what
was read is a refusal.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from fairpca import FairPCAError, fit_table
from fairpca.io import CSVRows
from fairpca.models import transform_file
from fairpca.moments import collect_moments
from fairpca.tables import read_table
from tables.streams import streamed, streamed_values

from ..byte_mutations import mutated
from ..cases import EQUAL, REFUSED, VALID, Case, Failed, assert_clear, assert_nothing_left, is_ours
from ..nasty_texts import ENCODINGS, nasty_table
from ..seed_models import people
from .tables import MODEL, TableTarget

GIVEN = ("age", "job", "sex")
TOLD = (*ENCODINGS, "UTF8", "ascii", "shift_jis", "hz", "utf-7", "idna", "rot13", "utf-9", "")
"""Encodings that are told, whatever a file is written in; the last ones are none."""


class TextTables(TableTarget):
    """`read_table`, `CSVRows`, `transform_file` and `fit_table` on text files."""

    name = "text-tables"
    actions = ("read", "read", "moments", "transform", "fit")

    def prepare(self, folder: Path) -> None:
        """Write a table in several dialects, and a model fitted to it."""
        frame = people(80)
        frame.to_csv(folder / "comma.csv", index=False)
        frame.to_csv(folder / "semicolon.csv", index=False, sep=";", decimal=",")
        frame[["age", "job", "sex", "income"]].to_csv(folder / "tab.csv", index=False, sep="\t")
        frame[["age", "job", "sex"]].to_csv(folder / "utf16.csv", index=False, encoding="utf-16")
        frame[["age", "job", "sex"]].to_csv(folder / "packed.csv.gz", index=False)
        (folder / "blank.csv").write_text(
            "\n".join(["age job sex", *(f"{20 + i}  'x y'  f" for i in range(20))]),
            encoding="utf-8",
        )
        fit_table(frame[["age", "job", "sex"]], "sex", n_components=2).save(folder / MODEL)

    def warm_up(self, folder: Path) -> None:
        """Do everything with each of them, and fit to every kind of column."""
        super().warm_up(folder)
        for name in TOLD:  # what their modules import
            with contextlib.suppress(LookupError):
                codecs.lookup(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit_table(people(80), "sex", n_components=2)

    def case(self, rng: random.Random) -> Case:
        """Return a file."""
        about: dict[str, Any] = {"action": rng.choice(self.actions), "how": _options(rng)}
        if rng.random() < 0.5:
            content, how = nasty_table(rng, GIVEN)
            if rng.random() < 0.7:  # what it was written in, the longest name that is said
                about["how"].setdefault("encoding", [e for e in ENCODINGS if f", {e}" in how][-1])
        else:
            content, how = mutated(rng, rng.choice(self.seeds), rng.choice(self.seeds))
        return Case(self.name, content, how, about)

    def check(self, case: Case, folder: Path) -> str:
        """Read, and do something with what was read."""
        path = folder / "table.csv"
        path.write_bytes(case.content)
        how = dict(case.about.get("how", {}))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return getattr(self, f"_{case.about['action']}")(path, folder, how)
            except ValueError as error:
                if not is_ours(error, plainly=case.about["action"] in ("moments", "fit")):
                    raise
                assert_clear(error)
                assert_nothing_left(folder, path)
                return REFUSED

    def _read(self, path: Path, folder: Path, how: dict[str, Any]) -> str:
        whole = _outcome(lambda: read_table(path, **how))
        parts = _outcome(lambda: (*streamed(path, **how), streamed_values(path, **how)))
        if isinstance(whole, FairPCAError):
            if not isinstance(parts, FairPCAError) and len(parts[0]) > 1 and parts[1]:
                raise Failed(f"a stream is read of what is no table: {str(whole)[-150:]}")
            raise whole
        if isinstance(parts, FairPCAError):
            raise Failed(f"a table is read of what is no stream: {str(parts)[-150:]}")
        names, n, texts = parts
        if names != list(whole.frame.columns) or n != len(whole.frame):
            raise Failed(f"{whole.frame.shape} in memory, {n} rows of {len(names)} in a stream")
        assert_same_texts(whole.frame, texts)
        return EQUAL

    def _moments(self, path: Path, folder: Path, how: dict[str, Any]) -> str:
        rows = CSVRows(path, sensitive="sex", features=["age"], **how)
        moments = collect_moments(rows, None)
        if moments is None or not np.isfinite(moments.mean).all():
            raise Failed("moments that are not finite")
        return VALID

    def _transform(self, path: Path, folder: Path, how: dict[str, Any]) -> str:
        out = folder / "out.csv"
        n = transform_file(self.model, path, out, keep=["job"], **how)
        with out.open(newline="", encoding="utf-8") as stream:
            written = sum(1 for _ in csv.reader(stream)) - 1
        if written != n or not n > 0:
            raise Failed(f"{n} rows are mapped, {written} are in the file")
        return VALID

    def _fit(self, path: Path, folder: Path, how: dict[str, Any]) -> str:
        model = fit_table(str(path), "sex", n_components=1, **how)
        T = model.transform(read_table(path, **how).frame)
        if not np.isfinite(T).all():
            raise Failed("a fitted model gives numbers that are not finite")
        return VALID


def _options(rng: random.Random) -> dict[str, Any]:
    kind = rng.randrange(12)
    if kind == 0:
        return {"encoding": rng.choice(TOLD)}
    if kind == 3:
        return {"header": rng.choice((True, False))}
    if kind == 4:
        return {"skip_lines": rng.choice((1, 2, 50, 10**9))}
    if kind == 5:
        return {"columns": rng.choice((list(GIVEN), ["a", "a", ""], ["x"] * 9, [""]))}
    return {}


def _outcome(call: Any) -> Any:
    try:
        return call()
    except FairPCAError as error:
        return error


def assert_same_texts(frame: Any, texts: dict[str, list[Any]]) -> None:
    """Check that columns of texts have the same ones in both readings; blanks do not count."""
    for name, values in texts.items():
        column = frame[name]
        if not pa.types.is_string(pa.array(column, from_pandas=True).type):
            continue
        whole = [None if value is None or value != value else value for value in column.tolist()]
        there = [
            None if text is None else pa.compute.utf8_trim_whitespace(text).as_py()
            for text in values
        ]
        there = [
            None if w is None and t is not None else t for w, t in zip(whole, there, strict=True)
        ]
        if whole != there:
            odd = next((w, t) for w, t in zip(whole, there, strict=True) if w != t)
            raise Failed(f"{odd[0]!r} in memory is {odd[1]!r} in a stream")
