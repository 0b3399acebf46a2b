"""Sensitive columns as they are measured: groups of enough rows, and their intersections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ._attribute_plans import (
    FEWEST_ROWS,
    MOST_GROUPS,
    NUMERIC_FROM,
    cut_in_two,
    plan_levels,
    refuse_dates,
)
from ._results import Attribute, Group
from ._roles import as_text, is_known

if TYPE_CHECKING:
    from pandas import DataFrame, Series


@dataclass(frozen=True, eq=False)
class Measured:
    """An attribute of n rows.

    Parameters
    ----------
    name : str
    columns : tuple of str
        Where it comes from.
    kind : str
        "levels", "numeric" or "intersection".
    labels : tuple of str
        Its m groups, most rows first.
    codes : array of int of shape (n,)
        Position of each row's group among the labels; -1 where unknown or too rare.
    fitted : array of shape (n,)
        What estimators get: labels, None where unknown; or numbers, NaN where unknown.
    note : str
        What was merged, cut or left out.
    """

    name: str
    columns: tuple[str, ...]
    kind: str
    labels: tuple[str, ...]
    codes: np.ndarray
    fitted: np.ndarray
    note: str

    def described(self, positive: np.ndarray | None) -> Attribute:
        """Return the attribute with its groups counted."""
        known = self.codes >= 0
        counts = np.bincount(self.codes[known], minlength=len(self.labels))
        rates: list[float | None] = [None] * len(self.labels)
        if positive is not None:
            hits = np.bincount(self.codes[known], positive[known], minlength=len(self.labels))
            rates = (hits / counts).tolist()
        groups = [
            Group(label, int(count), float(count / known.sum()), rate)
            for label, count, rate in zip(self.labels, counts, rates, strict=True)
        ]
        missing = int(np.count_nonzero(~known))
        return Attribute(self.name, list(self.columns), self.kind, groups, missing, self.note)


def measure_attribute(column: Series) -> Measured:
    """Return the groups of a sensitive column.

    Numbers with many distinct values are cut at their median for the measurements, and given to
    estimators as numbers. Levels of fewer than 20 rows, and those beyond the eleven largest, are
    merged; where even together they have fewer than 20 rows, they count as unknown.
    """
    name = str(column.name)
    if getattr(column.dtype, "kind", "") == "M":
        refuse_dates(name)
    if is_quantity(column):
        return _in_two_bands(name, column)
    known = is_known(column)
    texts = column.astype(object).where(known).map(as_text, na_action="ignore")
    plan = plan_levels(name, texts.value_counts().to_dict(), int(np.count_nonzero(~known)))
    codes = texts.map(plan.position).fillna(-1).to_numpy().astype(int)
    return Measured(name, (name,), "levels", plan.labels, codes, plan.fitted(codes), plan.note)


def intersections(attributes: Sequence[Measured]) -> list[Measured]:
    """Return every pair of attributes, and all of them together, as joint groups."""
    n = len(attributes)
    sizes = sorted({2, n}) if n >= 2 else []
    joint = [_joint(chosen) for size in sizes for chosen in combinations(attributes, size)]
    return [attribute for attribute in joint if attribute is not None]


def estimator_columns(
    attributes: Sequence[Measured], rows: np.ndarray
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the columns of some rows as estimators take them, and their kinds."""
    single = [a for a in attributes if a.kind != "intersection"]
    kinds = {a.name: "numeric" if a.kind == "numeric" else "categorical" for a in single}
    return {a.name: a.fitted[rows] for a in single}, kinds


def _joint(attributes: Sequence[Measured]) -> Measured | None:
    """Return the joint groups of enough rows, or None where there are fewer than two."""
    codes = np.stack([a.codes for a in attributes], axis=1)
    known = (codes >= 0).all(axis=1)
    distinct, inverse, counts = np.unique(
        codes[known], axis=0, return_inverse=True, return_counts=True
    )
    order = np.argsort(-counts, kind="stable")
    kept = [g for g in order[:MOST_GROUPS] if counts[g] >= FEWEST_ROWS]
    if len(kept) < 2:
        return None
    labels = tuple(
        " & ".join(a.labels[code] for a, code in zip(attributes, distinct[g], strict=True))
        for g in kept
    )
    position = np.full(len(counts), -1)
    position[kept] = np.arange(len(kept))
    joint = np.full(len(codes), -1)
    joint[known] = position[inverse.ravel()]
    left = int(np.count_nonzero(known & (joint < 0)))
    note = f"{left} rows of {len(counts) - len(kept)} rare combinations are left out."
    return Measured(
        name=" × ".join(a.name for a in attributes),
        columns=tuple(column for a in attributes for column in a.columns),
        kind="intersection",
        labels=labels,
        codes=joint,
        fitted=np.array([*labels, None], dtype=object)[joint],
        note=note if left else "",
    )


def is_quantity(column: Series) -> bool:
    """Whether a column is a quantity: numbers with many distinct values."""
    numeric = column.dtype.kind in "iuf" if hasattr(column.dtype, "kind") else False
    return bool(numeric) and column.nunique() >= NUMERIC_FROM


def _in_two_bands(name: str, column: Series) -> Measured:
    values = column.to_numpy(dtype=float, na_value=np.nan)
    values = np.where(np.isfinite(values), values, np.nan)
    known = np.isfinite(values)
    cut = cut_in_two(name, *np.unique(values[known], return_counts=True))
    labels = (f"{name} ≤ {cut:g}", f"{name} > {cut:g}")
    codes = np.where(known, (values > cut).astype(int), -1)
    counts = np.bincount(codes[known], minlength=2)
    if counts[1] > counts[0]:
        labels, codes = labels[::-1], np.where(known, 1 - codes, -1)
    note = f"Made uncorrelated as a number; measured in two bands, cut at the median {cut:g}."
    return Measured(name, (name,), "numeric", labels, codes, values, note)


def measured_attributes(
    frame: DataFrame, sensitive: Sequence[str], *, joint: bool = True
) -> list[Measured]:
    """Return the sensitive columns of a table as they are measured, intersections last."""
    single = [measure_attribute(frame[name]) for name in sensitive]
    return [*single, *intersections(single)] if joint else single
