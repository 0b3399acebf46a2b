"""One representation on one split: everything that is measured on the held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..metrics import AucDraws, MMDTest, covariance_gap, cross_fitted_aucs, mean_gap
from ._cell_bounds import CellBound, cell_bounds
from ._decisions import MODELS, Judged, fit_and_judge
from ._discrepancies import discrepancies
from ._held_out import Effort, HeldOut, judged_rows, picture_rows
from ._probes import PROBES, probe_for
from ._representations import METHODS, Fitted, fit_method
from ._splits import evenly_sampled, sampled_with_rare_groups


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
    variance_kept : (float, float)
        With its standard error.
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
    variance_kept: tuple[float, float] = (float("nan"), float("nan"))
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
        mmd=discrepancies(held_out, T, effort, rng),
        decisions=_decisions(held_out, T_train, T, effort),
        certificates=cell_bounds(held_out, T_train, T, effort, confidence),
        ratios=_ratios(fitted),
        picture=T[picture_rows(held_out, effort), :2] if held_out.index == 0 else None,
    )


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
    ratios: Sequence[float] = getattr(fitted.estimator, "explained_variance_ratio_", [])
    return [float(ratio) for ratio in ratios]
