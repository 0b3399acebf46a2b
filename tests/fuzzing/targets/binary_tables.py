"""Parquet and Feather files: refused with an error of ours, or read whole.

Pages of Parquet files have no checksum unless their writer asked for one, so a changed byte may
be another number. What is promised is that nothing crashes, hangs or takes memory that the file
does not explain, that both readers find the same columns and rows, and that refusals are ours.
Half of the files are of types that tables seldom have.
"""

from __future__ import annotations

import decimal
import io
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from fairpca import fit_table
from fairpca.io import ParquetRows
from fairpca.models import transform_file
from fairpca.moments import collect_moments
from fairpca.tables import read_table
from tables.streams import streamed

from ..byte_mutations import mutated
from ..cases import EQUAL, REFUSED, VALID, Case, Failed, assert_clear, assert_nothing_left, is_ours
from ..nasty_texts import NAMES, NUMBERS, TEXTS
from ..seed_models import people
from .tables import MODEL, TableTarget


class BinaryTables(TableTarget):
    """`read_table`, `ParquetRows`, `transform_file` and `fit_table` on Parquet and Feather."""

    name = "binary-tables"
    actions = ("read", "moments", "transform", "fit")

    def prepare(self, folder: Path) -> None:
        """Write files of both formats, and a model."""
        frame = people(80)
        frame.to_parquet(folder / "a.parquet", row_group_size=16)
        frame[["age", "job", "sex"]].to_parquet(folder / "b.parquet", compression="none")
        frame[["age", "job", "sex"]].to_parquet(folder / "c.parquet", compression="gzip")
        frame[["age", "job", "sex"]].to_feather(folder / "d.feather")
        pa.feather.write_feather(pa.table(frame), folder / "e.feather", compression="uncompressed")
        fit_table(frame[["age", "job", "sex"]], "sex", n_components=2).save(folder / MODEL)

    def case(self, rng: random.Random) -> Case:
        """Return a file."""
        about = {"action": rng.choice(self.actions)}
        if rng.random() < 0.4:
            content, how = strange_table(rng)
        else:
            content, how = mutated(rng, rng.choice(self.seeds), rng.choice(self.seeds))
        return Case(self.name, content, how, about)

    def check(self, case: Case, folder: Path) -> str:
        """Read, and do something with what was read."""
        path = folder / "table.parquet"
        path.write_bytes(case.content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return getattr(self, f"_{case.about['action']}")(path, folder)
            except ValueError as error:
                if not is_ours(error, plainly=case.about["action"] in ("moments", "fit")):
                    raise
                assert_clear(error)
                assert_nothing_left(folder, path)
                return REFUSED

    def _read(self, path: Path, folder: Path) -> str:
        table = read_table(path)
        names, rows = streamed(path)
        wanted = [name for name in names if name in table.frame.columns]
        if len(wanted) != table.frame.shape[1] or rows != len(table.frame):
            raise Failed(f"{table.frame.shape} in memory, {rows} rows of {len(wanted)} in a stream")
        return EQUAL

    def _moments(self, path: Path, folder: Path) -> str:
        moments = collect_moments(ParquetRows(path, sensitive="sex", features=["age"]), None)
        if moments is None or not np.isfinite(moments.mean).all():
            raise Failed("moments that are not finite")
        return VALID

    def _transform(self, path: Path, folder: Path) -> str:
        out = folder / "out.parquet"
        n = transform_file(self.model, path, out, keep=["job"])
        if pa.parquet.read_metadata(out).num_rows != n:
            raise Failed("the output has another number of rows")
        return VALID

    def _fit(self, path: Path, folder: Path) -> str:
        T = fit_table(str(path), "sex", n_components=1).transform(read_table(path).frame)
        if not np.isfinite(T).all():
            raise Failed("a fitted model gives numbers that are not finite")
        return VALID


def strange_table(rng: random.Random) -> tuple[bytes, str]:
    """Return a valid file of types that are seldom seen."""
    n = rng.choice((0, 1, 2, 60, 80))
    names = [*rng.choice((("age", "job", "sex"), ("age", "sex"), ()))]
    names += [rng.choice(NAMES) for _ in range(rng.choice((0, 1, 3)))]
    usual = {"age": 0, "job": 2, "sex": 2}
    columns = [_column(rng, usual.get(name) if rng.random() < 0.6 else None, n) for name in names]
    table = pa.Table.from_arrays(columns, names=names)
    made, kind = io.BytesIO(), rng.choice(("parquet", "feather"))
    try:
        if kind == "parquet":
            pa.parquet.write_table(table, made, row_group_size=rng.choice((7, 100)))
        else:
            pa.feather.write_feather(table, made, compression=rng.choice(("lz4", "uncompressed")))
    except (pa.ArrowException, NotImplementedError, TypeError):
        return b"PAR1", "what cannot be written"
    return made.getvalue(), f"{kind} of {', '.join(str(c.type)[:40] for c in columns)}"


def _column(rng: random.Random, kind: int | None, n: int) -> pa.Array:
    floats = [rng.choice((1.5, np.nan, np.inf, -np.inf, 1e308, 5e-324, -0.0)) for _ in range(n)]
    texts: list[Any] = [rng.choice(TEXTS + NUMBERS) for _ in range(n)]
    days = [rng.choice((None, 0, -(10**5), 10**6, 2**31 - 1)) for _ in range(n)]
    makers = (
        lambda: pa.array(floats, pa.float64()),
        lambda: pa.array([rng.randint(0, 9) for _ in range(n)], pa.int64()),
        lambda: pa.array([rng.choice(("f", "m")) for _ in range(n)]),
        lambda: pa.array([rng.choice(("f", "m", None)) for _ in range(n)]).dictionary_encode(),
        lambda: pa.array(texts, pa.large_string()),
        lambda: pa.array([t.encode("utf-8", "replace") for t in texts], pa.binary()),
        lambda: pa.array([b"\xff\xfe" for _ in range(n)], pa.binary(2)),
        lambda: pa.array([None] * n, pa.null()),
        lambda: pa.array([[1.0]] * n, pa.list_(pa.float64())),
        lambda: pa.array([{"a": 1}] * n, pa.struct([("a", pa.int8())])),
        lambda: pa.array([decimal.Decimal("1.5")] * n, pa.decimal128(38, 10)),
        lambda: pa.array(days, pa.int32()).cast(pa.date32()),
        lambda: pa.array([0, 2**62] * n, pa.int64()).slice(0, n).cast(pa.timestamp("ns", "UTC")),
        lambda: pa.array([-(2**63)] * n, pa.int64()).cast(pa.timestamp("us")),
        lambda: pa.array([10**17] * n, pa.int64()).cast(pa.timestamp("s")),
        lambda: pa.array([1] * n, pa.int64()).cast(pa.duration("ms")),
        lambda: pa.array([2**64 - 1] * n, pa.uint64()),
        lambda: pa.array([1.5] * n, pa.float16()),
        lambda: pa.array([True, False] * n, pa.bool_()).slice(0, n),
        lambda: pa.array([[("k", "v")]] * n, pa.map_(pa.string(), pa.string())),
        lambda: pa.array([3] * n, pa.int32()).cast(pa.time32("s")),
        lambda: pa.array(texts, pa.string_view()),
    )
    return (rng.choice(makers) if kind is None else makers[kind])()
