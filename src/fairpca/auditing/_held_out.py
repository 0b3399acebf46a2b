"""The rows of a split that everything is measured on, and how much work that may be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._representations import TrainingRows
from ._splits import evenly_sampled


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The two halves of a split as numbers, ready to be measured.

    Parameters
    ----------
    index : int
        Number of the split.
    rows : TrainingRows
        What methods are fitted to.
    X : array of shape (n, d)
        Encoded held-out rows.
    codes_train, codes : list of int arrays of shape (n,)
        Groups of the rows of either half, one array per attribute, -1 where unknown.
    sizes : list of int
        Number of groups of each attribute.
    y_train, y : array of bool, or None
        The target of either half.
    """

    index: int
    rows: TrainingRows
    X: np.ndarray
    codes_train: list[np.ndarray]
    codes: list[np.ndarray]
    sizes: list[int]
    y_train: np.ndarray | None
    y: np.ndarray | None


@dataclass(frozen=True)
class Effort:
    """How much work goes into a measurement.

    Parameters
    ----------
    max_rows : int
        Rows of the table that are used at most.
    joint : bool
        Whether intersections of attributes are measured, too.
    n_rounds : int
        Rounds of halves.
    probe_rows, mmd_rows : int
        Most held-out rows for probes and for the discrepancy.
    train_rows, curve_rows : int
        Most rows that downstream models are fitted to, and the kernel model of the curve.
    judged_rows : int
        Most held-out rows that their decisions are judged on.
    folds, permutations, boosting_rounds : int
        Of the probes.
    mmd_permutations : int
        Of the discrepancy.
    cells : int
        Of the certificate.
    picture_rows : int
        Rows that are drawn.
    """

    max_rows: int = 100_000
    joint: bool = True
    n_rounds: int = 2
    probe_rows: int = 8_000
    mmd_rows: int = 1_500
    train_rows: int = 20_000
    curve_rows: int = 10_000
    judged_rows: int = 25_000
    folds: int = 3
    permutations: int = 500
    boosting_rounds: int = 50
    mmd_permutations: int = 200
    cells: int = 8
    picture_rows: int = 1_200


FULL = Effort()
QUICK = Effort(
    max_rows=20_000,
    joint=False,
    n_rounds=1,
    probe_rows=1_500,
    mmd_rows=700,
    train_rows=4_000,
    curve_rows=2_500,
    judged_rows=6_000,
    folds=2,
    permutations=300,
    boosting_rounds=25,
)


def picture_rows(held_out: HeldOut, effort: Effort) -> np.ndarray:
    """Return the rows that are drawn, the same for every representation."""
    rng = np.random.default_rng(held_out.rows.seed)
    return evenly_sampled(held_out.codes, effort.picture_rows, rng)


def judged_rows(held_out: HeldOut, effort: Effort) -> np.ndarray:
    """Return the held-out rows that decisions are judged on, the same for every model."""
    rng = np.random.default_rng([held_out.rows.seed, held_out.index])
    return evenly_sampled(held_out.codes, effort.judged_rows, rng)
