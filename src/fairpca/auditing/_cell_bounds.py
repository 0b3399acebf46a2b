"""What no classifier exceeds that sees cells of a representation instead of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..metrics import Cells, certified_gap
from ._estimates import share_error
from ._held_out import Effort, HeldOut


@dataclass(frozen=True)
class CellBound:
    """What no classifier on cells exceeds, and what the best one achieves.

    Parameters
    ----------
    observed, bound : float
        The gap of the worst classifier on the held-out rows, and what it is at most.
    n_cells : int
    accuracy : (float, float) or None
        Of the best decision per cell, with its standard error.
    """

    observed: float
    bound: float
    n_cells: int
    accuracy: tuple[float, float] | None


def cell_bounds(
    held_out: HeldOut, T_train: np.ndarray, T: np.ndarray, effort: Effort, confidence: float
) -> list[CellBound]:
    """Bound the gap of all classifiers on cells that were chosen on the training rows.

    Each attribute gets cells that keep the target and do not tell its groups apart. Only the first
    split: the bound is about one fitted representation.
    """
    if held_out.index != 0:
        return []
    bounds = []
    for codes_train, codes in zip(held_out.codes_train, held_out.codes, strict=True):
        seen, known = codes_train >= 0, codes >= 0
        cells = Cells(effort.cells, random_state=held_out.rows.seed)
        if held_out.y_train is None:
            cells.fit(T_train)
        else:
            cells.fit(T_train[seen], held_out.y_train[seen], sensitive=codes_train[seen])
            if cells.n_cells_ == 1:  # no split was worth its price, and one cell says nothing
                cells.fit(T_train[seen], held_out.y_train[seen])
        new = cells.predict(T)
        found = certified_gap(
            new[known], codes[known], confidence=confidence, n_cells=cells.n_cells_
        )
        accuracy = _cell_accuracy(cells, held_out, T_train, new)
        bounds.append(CellBound(found.observed, found.bound, cells.n_cells_, accuracy))
    return bounds


def _cell_accuracy(
    cells: Cells, held_out: HeldOut, T_train: np.ndarray, new: np.ndarray
) -> tuple[float, float] | None:
    """Return the accuracy of the majority of each cell, with its standard error."""
    if held_out.y is None or held_out.y_train is None:
        return None
    seen = cells.predict(T_train)
    counts = np.bincount(seen, minlength=cells.n_cells_)
    positive = np.bincount(seen, held_out.y_train, minlength=cells.n_cells_)
    right = float(np.mean((2 * positive > counts)[new] == held_out.y))
    return right, float(share_error(right, len(new)))
