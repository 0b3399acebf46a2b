"""How far to match covariances, chosen by what trees read from rows that were held out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from .._attributes import Levels
from .._numerics import is_number, is_numpy, record
from .._rows import Rows, RowsElsewhere
from ..errors import InfeasibleError, ManyLevelsWarning, UsageError
from ._reader import Reader

DIRECTIONS = (1.0, 0.97, 0.93, 0.85, 0.7, 0.5)
PENALTIES = (0.0, 0.25, 0.5, 1.0, 2.0)
"""What is tried, most variance first."""

FOLDS, FEWEST = 3, 30
"""Parts of the rows that are held out in turn, and the fewest rows that such a part may have."""

Fit = Callable[[Rows], Callable[[float], Callable[[Any], Any]]]
"""From rows to what makes a map of a setting."""


@record()
@dataclass(frozen=True)
class Choice:
    """The setting chosen, and what was measured of every setting that has a solution."""

    setting: float
    held_out: dict[float, float]

    def _fits_together(self) -> bool:
        return is_number(self.setting) and isinstance(self.held_out, dict)


def choose_by_leakage(
    reader: Reader,
    rows: Rows | RowsElsewhere,
    settings: Sequence[float],
    fit: Fit,
    seed: int,
    *,
    trees: bool = True,
) -> Choice:
    """Return the setting that keeps the most among those that hide nearly best, or the best."""
    # Each is fitted to two thirds of the rows; boosted trees try to read the attributes of the
    # rest. Of those whose AUC is within one standard error of the smallest, the first in the list
    # is taken. Without trees, the smallest Kolmogorov distance of groups counts: of few columns it
    # says as much, and settings within its error did no better (docs/explanation/fair_pls.md).
    if isinstance(rows, RowsElsewhere):
        raise UsageError(
            f"'auto' holds out a part of all rows, so it needs them in one place, but X is a "
            f"{type(rows).__name__}. Pass a number, or choose it on a sample of the rows."
        )
    if not reader.complete:
        raise UsageError(
            "'auto' holds out a part of all rows, so it needs them at once. Pass a number, "
            "or use fit."
        )
    rows = rows.materialized()
    if not is_numpy(rows.X):
        raise UsageError("'auto' works with dense arrays and frames only. Pass a number instead.")
    if rows.n_rows < FOLDS * FEWEST:
        raise UsageError(
            f"'auto' holds out a third of the rows in turn, which needs at least {FOLDS * FEWEST} "
            f"rows; these are {rows.n_rows}. Pass a number instead."
        )
    if not any(isinstance(a, Levels) for a in rows.attributes):
        raise UsageError(
            "'auto' measures how well groups are recognised, but all attributes are numeric. Use "
            "match='means', or cut the attribute into bands."
        )
    order = np.random.default_rng(seed).permutation(rows.n_rows)
    folds = [np.sort(order[i::FOLDS]) for i in range(FOLDS)]
    measured: dict[float, list[float]] = {setting: [] for setting in settings}
    for held_out in folds:
        train = np.setdiff1d(np.arange(rows.n_rows), held_out)
        solve = fit(_part(rows, train))
        for setting in settings:
            try:
                T = solve(setting)(rows.X[held_out])
            except InfeasibleError:
                continue
            rest = _part(rows, held_out)
            measured[setting].append(_worst(T, rest, seed) if trees else _largest_distance(T, rest))
    return _choose(measured, nearly=trees)


def _part(rows: Rows, positions: np.ndarray) -> Rows:
    weight = None if rows.weight is None else rows.weight[positions]
    attributes, targets = (
        tuple(a.take(positions) for a in of) for of in (rows.attributes, rows.targets)
    )
    return replace(rows, X=rows.X[positions], weight=weight, attributes=attributes, targets=targets)


def _worst(T: np.ndarray, rows: Rows, seed: int) -> float:
    """Return the largest AUC that trees reach for a categorical attribute."""
    from ..metrics import leakage, reading_model  # loads trees, which other fits do without

    trees = reading_model("boosting")  # as many rounds for any number of levels
    options: dict[str, Any] = {"probe": trees, "n_permutations": 1, "random_state": seed}
    aucs = [0.5]
    for a in rows.attributes:
        if not isinstance(a, Levels) or len(np.unique(a.codes[~a.missing])) < 2:
            continue
        try:
            with catch_warnings():
                simplefilter("ignore", ManyLevelsWarning)  # codes of groups are meant as such
                aucs.append(leakage(T[~a.missing], a.codes[~a.missing], **options).auc)
        except ValueError as reason:
            raise UsageError(
                f"'auto' could not measure how well {a.name!r} is recognised on a third of the "
                f"rows: some of its groups are too small. Merge them, or pass a number instead."
            ) from reason
    return float(max(aucs))


def _largest_distance(T: np.ndarray, rows: Rows) -> float:
    """Return the largest difference of groups' shares below any threshold on any column."""
    from ..metrics import certified_gap  # loads trees, which other fits do without

    groups = [a for a in rows.attributes if isinstance(a, Levels)]
    known = [(a.codes[~a.missing], T[~a.missing]) for a in groups]
    return max(
        certified_gap(column, codes, of="scores").observed
        for codes, scores in known
        if len(np.unique(codes)) > 1
        for column in scores.T
    )


def _choose(measured: dict[float, list[float]], *, nearly: bool) -> Choice:
    complete = {s: aucs for s, aucs in measured.items() if len(aucs) == FOLDS}
    if not complete:
        raise InfeasibleError(
            "None of the settings that 'auto' tries has a solution on two thirds of the rows. Use "
            "fewer components, or set covariance_tol to a gap you accept."
        )
    means = {s: float(np.mean(aucs)) for s, aucs in complete.items()}
    best = min(means, key=means.__getitem__)
    error = float(np.std(complete[best], ddof=1)) / np.sqrt(FOLDS) if nearly else 0.0
    setting = next(s for s, leak in means.items() if leak <= means[best] + error)
    return Choice(setting, means)
