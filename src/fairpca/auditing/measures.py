"""One representation on one split: everything that is measured on the held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.spatial.distance import pdist

from ..metrics import (
    AucDraws,
    Cells,
    MMDKernel,
    MMDTest,
    certified_gap,
    covariance_gap,
    cross_fitted_aucs,
    mean_gap,
)
from .decisions import MODELS, Judged, fit_and_judge
from .estimates import share_error
from .probes import PROBES, probe_for
from .representations import METHODS, Fitted, TrainingRows, fit_method
from .splits import evenly_sampled, represents, sampled_with_rare_groups


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


@dataclass(frozen=True, eq=False)
class Measures:
    """What one representation shows on the held-out rows of one split.

    Parameters
    ----------
    key, index : str, int
        Representation and split.
    seconds, failure, warned
        As in `Fitted`.
    n_columns : int
    variance_kept : float
    leakage : dict of (attribute, probe) to AucDraws
        Attributes by position.
    mean_gaps, covariance_gaps, mmd : list, one per attribute
    decisions : dict of model to Judged
    certificates : list of CellBound, one per attribute; empty but on the first split
    ratios : list of float
        Explained variance of each component.
    picture : array of shape (q, 2) or None
    """

    key: str
    index: int
    seconds: float
    failure: str | None
    warned: tuple[str, ...]
    n_columns: int = 0
    variance_kept: float = float("nan")
    leakage: dict[tuple[int, str], AucDraws] = field(default_factory=dict)
    mean_gaps: list[float] = field(default_factory=list)
    covariance_gaps: list[float] = field(default_factory=list)
    mmd: list[MMDTest] = field(default_factory=list)
    decisions: dict[str, Judged] = field(default_factory=dict)
    certificates: list[CellBound] = field(default_factory=list)
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
        covariance_gaps=[_covariance_gap(T, c) for c in held_out.codes],
        mmd=_discrepancies(held_out, T, effort, rng),
        decisions=_decisions(held_out, T_train, T, effort),
        certificates=_certificates(held_out, T_train, T, effort, confidence),
        ratios=_ratios(fitted),
        picture=T[picture_rows(held_out, effort), :2] if held_out.index == 0 else None,
    )


def picture_rows(held_out: HeldOut, effort: Effort) -> np.ndarray:
    """Return the rows that are drawn, the same for every representation."""
    rng = np.random.default_rng(held_out.rows.seed)
    return evenly_sampled(held_out.codes, effort.picture_rows, rng)


def judged_rows(held_out: HeldOut, effort: Effort) -> np.ndarray:
    """Return the held-out rows that decisions are judged on, the same for every model."""
    rng = np.random.default_rng([held_out.rows.seed, held_out.index])
    return evenly_sampled(held_out.codes, effort.judged_rows, rng)


def _leakage(
    held_out: HeldOut, T: np.ndarray, effort: Effort, rng: np.random.Generator
) -> dict[tuple[int, str], AucDraws]:
    found = {}
    for position, codes in enumerate(held_out.codes):
        chosen = sampled_with_rare_groups(codes, effort.probe_rows, rng)
        for name in PROBES:
            probe = probe_for(name, held_out.sizes[position], effort.boosting_rounds)
            found[position, name] = cross_fitted_aucs(
                T[chosen], codes[chosen], probe, effort.folds, effort.permutations, rng
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


def _covariance_gap(T: np.ndarray, codes: np.ndarray) -> float:
    known = codes >= 0
    return covariance_gap(T[known], codes[known])


def _decisions(
    held_out: HeldOut, T_train: np.ndarray, T: np.ndarray, effort: Effort
) -> dict[str, Judged]:
    if held_out.y is None or held_out.y_train is None:
        return {}
    seed = held_out.rows.seed
    rng = np.random.default_rng(seed)
    chosen = evenly_sampled([held_out.y_train], effort.train_rows, rng)
    train, y_train = T_train[chosen], held_out.y_train[chosen]
    judged = judged_rows(held_out, effort)
    T, y, codes = T[judged], held_out.y[judged], [c[judged] for c in held_out.codes]
    return {
        model: fit_and_judge(model, train, y_train, T, y, codes, held_out.sizes, seed)
        for model in MODELS
    }


def _variance_kept(held_out: HeldOut, T_train: np.ndarray, T: np.ndarray) -> float:
    """Return the share of the held-out rows' variance that a linear reconstruction recovers.

    For a projection this is the variance it explains; kernel features and erasers are compared
    by the same measure. The reconstruction is learned from the training rows.
    """
    X_train, X = held_out.rows.X, held_out.X
    mean, centre = X_train.mean(axis=0), T_train.mean(axis=0)
    back = np.linalg.lstsq(T_train - centre, X_train - mean, rcond=None)[0]
    left = X - mean - (T - centre) @ back
    return float(1.0 - np.sum(left**2) / np.sum((X - X.mean(axis=0)) ** 2))


def _certificates(
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


def _ratios(fitted: Fitted) -> list[float]:
    ratios: Sequence[float] = getattr(fitted.estimator, "explained_variance_ratio_", [])
    return [float(ratio) for ratio in ratios]
