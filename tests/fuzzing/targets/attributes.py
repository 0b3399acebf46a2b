"""Sensitive columns of any type: refused with an error of ours, or of one kind by every door.

Codes, counts, decimals, dates, integers beyond 2^53, masks and mixtures of them are fitted to as
arrays, as frames, in batches, as a table and as a file. What is promised: whoever accepts a column
takes it for the same, groups or a number, and for as many groups; only batches may refuse what the
whole column would be accepted as, for one of them does not know what another brings.
"""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fairpca import FairPCA, fit_table
from fairpca.io import ParquetRows

from ..cases import EQUAL, REFUSED, Case, Failed, Target, assert_clear, is_ours

N = 600
MOST_KEPT = 12
"""Tables measure the smaller ones of more groups together."""

MADE: dict[str, Callable[[int], Any]] = {
    "integer": lambda i: i + 1,
    "float": float,
    "half": lambda i: i / 2,
    "decimal": Decimal,
    "quarter": lambda i: Decimal(i) / 4,
    "large": lambda i: 2**53 + i,
    "huge": lambda i: 2**64 + i,
    "infinite": lambda i: float("inf") if i == 3 else float(i),
    "date": lambda i: date(1999, 12, 30) + timedelta(days=i),
    "duration": lambda i: timedelta(hours=i),
    "truth": lambda i: i % 2 == 0,
    "text": str,
    "missing": lambda i: None,
    "nan": lambda i: float("nan"),
}


class Attributes(Target):
    """`FairPCA.fit`, `partial_fit`, `fit_table` and `ParquetRows` on one sensitive column."""

    name = "attributes"

    def prepare(self, folder: Path) -> None:
        """Columns need no seeds."""

    def load_seeds(self, folder: Path) -> None:
        """Make the features."""
        self.X = np.random.default_rng(0).normal(size=(N, 16))

    def warm_up(self, folder: Path) -> None:
        """Fit once by every door."""
        about = {"makers": ["text"], "m": 3, "masked": False, "kind": None}
        self.check(Case(self.name, json.dumps(about).encode(), "unchanged"), folder)

    def case(self, rng: random.Random) -> Case:
        """Return what a column is made of."""
        makers = rng.sample(list(MADE), rng.choice([1, 1, 1, 2, 3]))
        about = {
            "makers": makers,
            "m": rng.choice([2, 3, 9, 10, 11, 12, 13]),
            "masked": rng.random() < 0.2,
            "kind": rng.choice([None, None, None, "numeric", "categorical"]),
        }
        return Case(self.name, json.dumps(about).encode(), " and ".join(makers))

    def check(self, case: Case, folder: Path) -> str:
        """Fit by every door, and compare what the column was taken for."""
        about = json.loads(case.content)
        values = [
            MADE[about["makers"][(i // 97) % len(about["makers"])]](i % about["m"])
            for i in range(N)
        ]
        column: Any = pd.Series(values, dtype=object).infer_objects()
        if about["masked"]:
            column = np.ma.array(np.array(values, dtype=object), mask=np.arange(N) % 7 == 0)
        kinds = None if about["kind"] is None else {"a": about["kind"]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = self._taken_for(self._fitted, column, kinds)
            others = {"batches": self._taken_for(self._in_batches, column, kinds)}
            if not about["masked"]:
                others["table"] = self._taken_for(self._of_a_table, column, kinds)
                path = folder / "column.parquet"
                others["file"] = self._taken_for(self._of_a_file, column, kinds, path)
        for door, found in others.items():
            if None in (whole, found):
                continue
            merged = door == "table" and isinstance(found, int)  # 1 and "1" are one group there
            merged = merged and (found >= MOST_KEPT or "text" in about["makers"])
            if found != whole and not (merged and isinstance(whole, int)):
                raise Failed(f"{whole} as a whole, {found} by way of {door}")
        return REFUSED if whole is None else EQUAL

    def _taken_for(self, door: Callable[..., FairPCA], *given: Any) -> Any:
        """Return the number of groups, "numeric", or None where it is refused."""
        try:
            groups = door(*given).groups_["a"]
        except ValueError as error:
            if not is_ours(error, plainly=True):
                raise
            assert_clear(error)
            return None
        return groups if isinstance(groups, str) else len(groups)

    def _fitted(self, column: Any, kinds: Any) -> FairPCA:
        fair = FairPCA(1, missing_sensitive="ignore", sensitive_kinds=kinds)
        return fair.fit(self.X, sensitive_features={"a": column})

    def _in_batches(self, column: Any, kinds: Any) -> FairPCA:
        fair = FairPCA(1, missing_sensitive="ignore", sensitive_kinds=kinds)
        for rows in (slice(0, 250), slice(250, N)):
            fair.partial_fit(self.X[rows], sensitive_features={"a": column[rows]})
        return fair.fit_moments(fair.moments_)

    def _table(self, column: Any) -> pd.DataFrame:
        return pd.DataFrame(self.X, columns=[f"x{j}" for j in range(16)]).assign(a=column)

    def _of_a_table(self, column: Any, kinds: Any) -> FairPCA:
        return fit_table(self._table(column), "a", n_components=1, sensitive_kinds=kinds).estimator_

    def _of_a_file(self, column: Any, kinds: Any, path: Path) -> FairPCA:
        try:
            self._table(column).to_parquet(path)
        except (ValueError, TypeError, OverflowError):  # no type of Arrow holds it
            return self._fitted(column, kinds)
        fair = FairPCA(1, missing_sensitive="ignore", sensitive_kinds=kinds)
        return fair.fit(ParquetRows(path, sensitive="a"))
