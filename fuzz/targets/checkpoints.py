"""Checkpoints: refused with `CheckpointError`, or the work goes on to the same result.

Files whose bytes were changed are refused. Files with other contents and the right digest are
refused too, unless they stand for sums that could be somebody's: then the fit goes on to its end
and gives a map of finite numbers, or ends with an error of ours, or with a plain `ValueError`
where the sums hold numbers that no rows have. It never hangs.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from fairpca import CSVRows, FairPCA, FairPCAError, ParquetRows

from ..byte_mutations import mutated
from ..cases import EQUAL, REFUSED, VALID, Case, Failed, Target
from ..forged_models import FORGERIES, Parts, put_together, taken_apart
from ..seed_models import people

FIRST_LINE = b"fairpca checkpoint 2\n"
DIGITS = 64
FEATURES = ("age", "weight", "height")


class Stopped(Exception):
    """The work was interrupted."""


class Checkpoints(Target):
    """Checkpoints of fits to files."""

    name = "checkpoints"

    def prepare(self, folder: Path) -> None:
        """Interrupt fits in several places."""
        _data(folder)
        for kind in ("csv", "parquet", "wide"):
            for after in (1, 2, 3):
                path = folder / f"{kind}{after}.checkpoint"
                calls = 0

                def stop(done: int, total: int | None, after: int = after) -> None:
                    nonlocal calls
                    calls += 1
                    if calls >= after:
                        raise Stopped

                with contextlib.suppress(Stopped):
                    self._fit(folder, kind, path, stop)

    def load_seeds(self, folder: Path) -> None:
        """Read the checkpoints."""
        self.folder = folder
        self.seeds = {p.stem: p.read_bytes() for p in sorted(folder.glob("*.checkpoint"))}

    def warm_up(self, folder: Path) -> None:
        """Fit once without a checkpoint, and go on from each of them."""
        self.expected = {}
        for kind in ("csv", "parquet", "wide"):
            self.expected[kind] = self._fit(self.folder, kind, folder / "none.checkpoint")
        for name, content in self.seeds.items():
            outcome = self.check(Case(self.name, content, "unchanged", {"seed": name}), folder)
            if outcome != EQUAL:
                raise Failed(f"the seed {name} is {outcome}")

    def case(self, rng: random.Random) -> Case:
        """Return a checkpoint that was changed, with or without its digest."""
        name, other = rng.choice(list(self.seeds)), rng.choice(list(self.seeds.values()))
        content, signed = self.seeds[name], rng.random() < 0.6
        if signed:
            content, how = _forged(rng, content, other)
        else:
            content, how = mutated(rng, content, other)
        return Case(self.name, content, how, {"seed": name, "signed": signed})

    def check(self, case: Case, folder: Path) -> str:
        """Go on with the work."""
        path = folder / "work.checkpoint"
        path.write_bytes(case.content)
        kind = case.about["seed"][:-1]
        try:
            T = self._fit(self.folder, kind, path)
        except FairPCAError:
            return REFUSED
        except ValueError:  # numbers that no rows have, say 1e308, in sums that could be
            if case.about.get("signed"):
                return REFUSED
            raise
        if T.tobytes() == self.expected[kind].tobytes():
            return EQUAL
        if not case.about.get("signed"):
            raise Failed("a damaged checkpoint gave another result")
        if not np.isfinite(T).all():
            raise Failed("a forged checkpoint gave a map that is not finite")
        return VALID

    def _fit(self, folder: Path, kind: str, checkpoint: Path, progress: Any = None) -> np.ndarray:
        how = {"sensitive": "sex", "checkpoint": checkpoint, "checkpoint_seconds": 0.0, "n_jobs": 1}
        how |= {"progress": progress, "batch_rows": 8 if kind != "wide" else 2}
        if kind == "csv":
            X: Any = CSVRows(folder / "data" / "csv", features=FEATURES, **how)
        else:
            X = ParquetRows(folder / "data" / kind, **how)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fair = FairPCA(2).fit(X)
        return fair._map(np.eye(fair.n_features_in_))


def _data(folder: Path) -> None:
    """Write small files, with times that do not depend on when they are written."""
    frame = people(80)
    rng = np.random.default_rng(0)
    frame["weight"], frame["height"] = rng.normal(size=(2, 80))
    kept = frame[[*FEATURES, "sex"]]
    wide = frame[["sex"]].assign(**{f"x{i}": rng.normal(size=80) for i in range(30)})
    for kind in ("csv", "parquet", "wide"):
        (folder / "data" / kind).mkdir(parents=True)
    for i in (0, 1):
        part = slice(40 * i, 40 * i + 40)
        kept[part].to_csv(folder / "data" / "csv" / f"{i}.csv", index=False)
        kept[part].to_parquet(folder / "data" / "parquet" / f"{i}.parquet", row_group_size=15)
        wide[part][: 4 + i].to_parquet(folder / "data" / "wide" / f"{i}.parquet")
    for path in (folder / "data").rglob("*.*"):
        os.utime(path, (10**9, 10**9))


def _forged(rng: random.Random, content: bytes, other: bytes) -> tuple[bytes, str]:
    """Return a checkpoint with other contents and the right digest."""
    start = len(FIRST_LINE) + DIGITS + 1
    parts, stranger = taken_apart(content[start:]), taken_apart(other[start:])
    parts, how = rng.choice(FORGERIES)(rng, parts, stranger)
    body = put_together(Parts(parts.outer, parts.inner, parts.data), sign=False)
    digest = hashlib.sha256(body).hexdigest().encode("ascii")
    return FIRST_LINE + digest + b"\n" + body, how
