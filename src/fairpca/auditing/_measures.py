"""One representation on one split: everything that is measured on the held-out rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.spatial.distance import pdist

from ..metrics import (
    PROBES,
    AucDraws,
    Cells,
    MMDKernel,
    MMDTest,
    certified_gap,
    covariance_gap,
    cross_fitted_aucs,
    mean_gap,
)
from ._decisions import Judged, fit_and_judge
from ._estimates import share_error
from ._representations import METHODS, Fitted, fit_method
from ._splits import Effort, HeldOut, evenly_sampled, represents, sampled_with_rare_groups


@dataclass(frozen=True)
class _CellBound:
    """The gap of the worst classifier that sees cells instead of rows, and what bounds it.

    `accuracy` is that of the best decision per cell, with its standard error.
    """

    observed: float
    bound: float
    n_cells: int
    accuracy: tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class Measures:
    """What one representation shows on the held-out rows of one split.

    `seconds`, `failure` and `warned` are those of `Fitted`; `variance_kept` has its standard
    error; leakage is by position of the attribute and probe, gaps, discrepancies and (on the first
    split) certificates are one per attribute; `ratios` explain the components' variance.
    """

    key: str
    index: int
    seconds: float
    failure: str | None
    warned: tuple[str, ...]
    n_columns: int = 0
    variance_kept: tuple[float, float] = (float("nan"), float("nan"))
    leakage: dict[tuple[int, str], AucDraws] = field(default_factory=dict)
    mean_gaps: list[float] = field(default_factory=list)
    covariance_gaps: list[float] = field(default_factory=list)
    mmd: list[MMDTest] = field(default_factory=list)
    decisions: dict[str, Judged] = field(default_factory=dict)
    certificates: list[_CellBound] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    picture: np.ndarray | None = None


def measure(held_out: HeldOut, key: str, effort: Effort, confidence: float) -> Measures:
    """Fit one representation and measure it; a method that cannot be fitted says why."""
    fitted = fit_method(METHODS[key], held_out.rows)
    if fitted.failure is not None:
        return Measures(key, held_out.index, fitted.seconds, fitted.failure, fitted.warned)
    rng = np.random.default_rng([held_out.rows.seed, held_out.index])
    T_train, T = fitted.represent(held_out.rows.X), fitted.represent(held_out.X)
    return Measures(
        key=key,
        index=held_out.index,
        seconds=fitted.seconds,
        failure=None,
        warned=fitted.warned,
        n_columns=T.shape[1],
        variance_kept=_variance_kept(held_out, T_train, T),
        leakage=_leakage(held_out, T, effort, rng),
        mean_gaps=[mean_gap(T[c >= 0], c[c >= 0]) for c in held_out.codes],
        covariance_gaps=[covariance_gap(T[c >= 0], c[c >= 0]) for c in held_out.codes],
        mmd=_discrepancies(held_out, T, effort, rng),
        decisions=_decisions(held_out, T_train, T, effort),
        certificates=_cell_bounds(held_out, T_train, T, effort, confidence),
        ratios=_ratios(fitted),
        picture=T[held_out.picture_rows(effort), :2] if held_out.index == 0 else None,
    )


def _leakage(
    held_out: HeldOut, T: np.ndarray, effort: Effort, rng: np.random.Generator
) -> dict[tuple[int, str], AucDraws]:
    """Ask every probe for every attribute: the numbers of `fairpca.metrics.leakage`."""
    found = {}
    for position, codes in enumerate(held_out.codes):
        chosen = sampled_with_rare_groups(codes, effort.probe_rows, rng)
        for name in PROBES:
            found[position, name] = cross_fitted_aucs(
                T[chosen], codes[chosen], name, effort.folds, effort.permutations, rng
            )
    return found


def _discrepancies(
    held_out: HeldOut, T: np.ndarray, effort: Effort, rng: np.random.Generator
) -> list[MMDTest]:
    """Test every attribute; those whose groups a common sample represents share one kernel matrix.

    Where groups are unknown or rare, the attribute gets rows of its own: what the common sample
    has of them may be next to nothing.
    """
    common = evenly_sampled(held_out.codes, effort.mmd_rows, rng)
    shared = MMDKernel(T[common], bandwidth=_bandwidth(T[common]))
    tests = []
    for codes in held_out.codes:
        rows, kernel = common, shared
        if not represents(common, codes):
            rows = sampled_with_rare_groups(codes, effort.mmd_rows, rng)
            kernel = MMDKernel(T[rows], bandwidth=_bandwidth(T[rows]))
        seed = int(rng.integers(2**31))
        tests.append(
            kernel.test(codes[rows], n_permutations=effort.mmd_permutations, random_state=seed)
        )
    return tests


def _bandwidth(T: np.ndarray) -> float | Literal["median"]:
    """Return the root of the mean squared distance where most rows are alike."""
    sample = T[: min(len(T), 400)]
    if np.median(pdist(sample, "sqeuclidean")) > 0 and len(np.unique(T, axis=0)) > len(T) / 2:
        return "median"
    spread = float(T.var(axis=0).sum())
    return float(np.sqrt(spread)) if spread > 0 else 1.0


def _decisions(
    held_out: HeldOut, T_train: np.ndarray, T: np.ndarray, effort: Effort
) -> dict[str, Judged]:
    if held_out.y is None or held_out.y_train is None:
        return {}
    rng = np.random.default_rng(held_out.rows.seed)
    chosen = evenly_sampled([held_out.y_train], effort.train_rows, rng)
    train, y_train = T_train[chosen], held_out.y_train[chosen]
    judged = held_out.judged_rows(effort)
    T, y, codes = T[judged], held_out.y[judged], [c[judged] for c in held_out.codes]
    return {
        model: fit_and_judge(model, train, y_train, T, y, codes, held_out.sizes) for model in PROBES
    }


def _cell_bounds(
    held_out: HeldOut, T_train: np.ndarray, T: np.ndarray, effort: Effort, confidence: float
) -> list[_CellBound]:
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
        bounds.append(_CellBound(found.observed, found.bound, cells.n_cells_, accuracy))
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


def _variance_kept(held_out: HeldOut, T_train: np.ndarray, T: np.ndarray) -> tuple[float, float]:
    """Return the share of the held-out rows' variance that a linear reconstruction recovers.

    For a projection this is the variance it explains; kernel features and erasers are compared
    by the same measure. The reconstruction is learned from the training rows. The standard error
    is that of a ratio of two sums over rows.
    """
    X_train, X = held_out.rows.X, held_out.X
    mean, centre = X_train.mean(axis=0), T_train.mean(axis=0)
    back = np.linalg.lstsq(T_train - centre, X_train - mean, rcond=None)[0]
    left = np.sum((X - mean - (T - centre) @ back) ** 2, axis=1)
    whole = np.sum((X - X.mean(axis=0)) ** 2, axis=1)
    lost = float(left.sum() / whole.sum())
    return 1.0 - lost, float(np.linalg.norm(left - lost * whole) / whole.sum())


def _ratios(fitted: Fitted) -> list[float]:
    return [float(ratio) for ratio in getattr(fitted.estimator, "explained_variance_ratio_", [])]
