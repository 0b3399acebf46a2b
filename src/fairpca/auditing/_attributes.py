"""Sensitive columns as they are measured: groups of enough rows, and their intersections."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ..tables import FEWEST_ROWS, MOST_GROUPS, Measured, measure_attribute
from ._results import Attribute, Group

if TYPE_CHECKING:
    from pandas import DataFrame


def measured_attributes(
    frame: DataFrame, sensitive: Sequence[str], *, joint: bool = True
) -> list[Measured]:
    """Return the sensitive columns of a table as they are measured, intersections last."""
    single = [measure_attribute(frame[name]) for name in sensitive]
    return [*single, *intersections(single)] if joint else single


def described(attribute: Measured, positive: np.ndarray | None) -> Attribute:
    """Return the attribute with its groups counted."""
    known = attribute.codes >= 0
    counts = np.bincount(attribute.codes[known], minlength=len(attribute.labels))
    rates: list[float | None] = [None] * len(attribute.labels)
    if positive is not None:
        hits = np.bincount(attribute.codes[known], positive[known], minlength=len(attribute.labels))
        rates = (hits / counts).tolist()
    groups = [
        Group(label, int(count), float(count / known.sum()), rate)
        for label, count, rate in zip(attribute.labels, counts, rates, strict=True)
    ]
    missing = int(np.count_nonzero(~known))
    return Attribute(
        attribute.name, list(attribute.columns), attribute.kind, groups, missing, attribute.note
    )


def intersections(attributes: Sequence[Measured]) -> list[Measured]:
    """Return every pair of attributes, and all of them together, as joint groups."""
    n = len(attributes)
    sizes = sorted({2, n}) if n >= 2 else []
    joint = [_joint(chosen) for size in sizes for chosen in combinations(attributes, size)]
    return [attribute for attribute in joint if attribute is not None]


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
