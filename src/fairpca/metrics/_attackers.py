"""A panel of attackers, of which the one that does best within the training rows is sent out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from ._auc import macro_auc
from ._probes import (
    ENOUGH_TO_STOP_EARLY,
    _LandmarkFeatures,
    _Scaler,
    drawn_by_weight,
    fit_probe,
    last_step,
    level_scores,
)

_INNER_FOLDS = 3
_FEW_DIRECTIONS = 5
_ROUNDING = 100.0  # what is computed from columns is rounded by so much more than they are


class Whitened(TransformerMixin, BaseEstimator):
    r"""Columns of unit covariance, along the directions in which groups differ, most first.

    An invertible linear map of the columns can only rotate whitened columns. So axes are chosen
    that rotate with them, the eigenvectors of :math:`\sum_g p_g (\mu_g \mu_g^\top + (\Sigma_g -
    I)^2)`, with the share, mean and covariance of each group, and the skewness of a column
    decides its sign: then columns are the same after every such map, up to rounding.

    Parameters
    ----------
    n_directions : int or None
        How many columns to keep, of those in which groups differ most; None for all.
    """

    def __init__(self, n_directions: int | None = None) -> None:
        self.n_directions = n_directions

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the directions of these rows, whose groups are `y`."""
        precision = np.finfo(X.dtype).eps if X.dtype.kind == "f" else np.finfo(float).eps
        X = validate_data(self, X, dtype=np.float64)
        share = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        share = share / share.sum()
        self.mean_ = share @ X
        centred = X - self.mean_
        spread = np.sqrt(share @ centred**2)
        rounding = _ROUNDING * precision * np.abs(X).max(axis=0)
        varies = spread > rounding
        scale = np.where(varies, spread, np.inf)  # constant columns are no directions
        # By singular values: those of a covariance matrix would have half of the digits.
        root = np.sqrt(share)[:, None]
        _, s, rows = np.linalg.svd(root * (centred / scale), full_matrices=False)
        kept = s > max(np.linalg.norm(rounding / scale), _ROUNDING * np.finfo(float).eps)
        whitening = rows[kept].T / s[kept] / scale[:, None]

        W = centred @ whitening
        differences = np.zeros((W.shape[1], W.shape[1]))
        for level in np.unique(y):
            group = y == level
            weight = share[group] / share[group].sum()
            mean = weight @ W[group]
            centred_group = np.sqrt(weight)[:, None] * (W[group] - mean)
            excess = centred_group.T @ centred_group - np.eye(len(mean))
            differences += share[group].sum() * (np.outer(mean, mean) + excess @ excess)
        directions = np.linalg.eigh(differences)[1][:, ::-1][:, : self.n_directions]
        skewed = share @ (W @ directions) ** 3
        self.directions_ = whitening @ (directions * np.where(skewed < 0, -1.0, 1.0))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the columns of shape (n, r)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if not self.directions_.shape[1]:
            return np.zeros((len(X), 1))  # all rows are equal
        return np.asarray((X - self.mean_) @ self.directions_)


VIEWS: dict[str, Callable[[], Any]] = {
    "standardised columns": _Scaler,
    "whitened columns": Whitened,
    "few directions": lambda: Whitened(_FEW_DIRECTIONS),
}
"""How attackers look at the columns."""


def _views(n_columns: int) -> tuple[str, ...]:
    """Which views differ: one column is as good as another, few are all directions there are."""
    if n_columns == 1:
        return ("whitened columns",)
    return tuple(VIEWS)[: 2 if n_columns <= _FEW_DIRECTIONS else 3]


@dataclass(frozen=True)
class Attacker:
    """A model to be made for so many rows of the rarest level, of at most so many rows in all."""

    name: str
    make: Callable[[int], Any]
    most_rows: int
    views: tuple[str, ...] = tuple(VIEWS)


def _logistic(rarest: int) -> Any:
    return LogisticRegression(max_iter=1000)


def _neighbours(rarest: int) -> Any:
    # More of more rows, yet an ever smaller share of them: then neither noise nor bias remains.
    return KNeighborsClassifier(max(1, int(rarest**0.6)), weights="distance")


def _kernel(sharpness: float) -> Callable[[int], Any]:
    def make(rarest: int) -> Any:
        return make_pipeline(
            _LandmarkFeatures(300, sharpness=sharpness), RidgeClassifier(alpha=1.0)
        )

    return make


def _trees(rarest: int) -> Any:
    stops = rarest >= ENOUGH_TO_STOP_EARLY
    return HistGradientBoostingClassifier(
        max_iter=300 if stops else 50,
        max_leaf_nodes=31 if stops else 8,
        min_samples_leaf=10,
        early_stopping=stops,
        validation_fraction=0.2,
        n_iter_no_change=10,
        random_state=0,
    )


def _network(*layers: int) -> Callable[[int], Any]:
    def make(rarest: int) -> Any:
        stops = rarest >= ENOUGH_TO_STOP_EARLY
        return MLPClassifier(
            layers,
            max_iter=100 if stops else 30,
            learning_rate_init=3e-3,
            early_stopping=stops,
            validation_fraction=0.2,
            n_iter_no_change=10,
            random_state=0,
        )

    return make


ATTACKERS = (  # from cheap to expensive
    Attacker("logistic regression", _logistic, 100_000, ("whitened columns",)),
    Attacker("nearest neighbours", _neighbours, 5_000),
    Attacker("kernel machine", _kernel(1.0), 10_000),
    Attacker("wide kernel machine", _kernel(0.25), 10_000),
    Attacker("narrow kernel machine", _kernel(4.0), 10_000),
    Attacker("boosted trees", _trees, 100_000, ("standardised columns", "whitened columns")),
    Attacker("wide network", _network(256), 10_000, ("standardised columns", "whitened columns")),
    Attacker("deep network", _network(128, 64), 10_000),
)


class Panel:
    """All attackers as one classifier: fitted, it is the one that does best on inner folds.

    The rows that are scored afterwards have no part in the choice, so the AUC on them is that of a
    single classifier: neither too large, as that of the best of many on the same rows would be, nor
    in need of a correction for having tried many. One panel serves all folds of a call: those who
    start in time on the first inner fold attack the others, too.

    Parameters
    ----------
    seconds : float or None
        For the choice on one fold. The first attacker runs in any case.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = np.inf if seconds is None else seconds
        self.aucs: dict[str, list[float]] = {}
        self.skipped: tuple[str, ...] = ()
        self._attackers: list[tuple[Attacker, str]] = []

    def __sklearn_clone__(self) -> Self:
        return self

    def fit(self, T: np.ndarray, y: np.ndarray, sample_weight: Any = None) -> Self:
        """Try all attackers on inner folds, and fit the best to all rows."""
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        aucs = np.mean([self._compete(T, y, weight, *fold) for fold in _inner_folds(y)], axis=0)
        for one, auc in zip(self._attackers, aucs.tolist(), strict=True):
            self.aucs.setdefault(_called(*one), []).append(auc)
        attacker, view = self._attackers[int(aucs.argmax())]
        self._view = fit_probe(VIEWS[view](), T, y, weight)
        self._model = _fitted(attacker, self._view.transform(T), y, weight)
        return self

    def _compete(
        self, T: np.ndarray, y: np.ndarray, weight: np.ndarray, train: np.ndarray, test: np.ndarray
    ) -> list[float]:
        """Return the AUC of each attacker; the first time, find out for whom there is time."""
        started, every = perf_counter(), self._attackers or _attackers_of(T)
        aucs: list[float] = []
        seen: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for attacker, name in every:
            late = perf_counter() - started > self.seconds / _INNER_FOLDS
            if not self._attackers and aucs and late:
                break
            if name not in seen:
                view = fit_probe(VIEWS[name](), T[train], y[train], weight[train])
                seen[name] = view.transform(T[train]), view.transform(T[test])
            model = _fitted(attacker, seen[name][0], y[train], weight[train])
            scores = level_scores(model, seen[name][1])
            aucs.append(float(macro_auc(scores, y[test][None], weight[test])[0]))
        if not self._attackers:
            self._attackers = every[: len(aucs)]
            self.skipped = tuple(_called(*one) for one in every[len(aucs) :])
        return aucs

    def decision_function(self, T: np.ndarray) -> np.ndarray:
        """Return the scores of the levels, shape (n, m), or (n, 1) for two."""
        return level_scores(self._model, self._view.transform(T))


def _attackers_of(T: np.ndarray) -> list[tuple[Attacker, str]]:
    """Return attackers and how they look, without those that would see the same as another."""
    return [(a, view) for a in ATTACKERS for view in _views(T.shape[1]) if view in a.views]


def _called(attacker: Attacker, view: str) -> str:
    return f"{attacker.name} on {view}"


def _inner_folds(y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return folds with rows of all levels; where one has a single row, rows judge themselves."""
    n_folds = min(_INNER_FOLDS, int(np.bincount(y).min()))
    if n_folds < 2:
        return [(np.arange(len(y)), np.arange(len(y)))]
    return list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(y, y))


def _fitted(attacker: Attacker, T: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Any:
    """Fit an attacker to as many rows as it can take, drawn by weight if it takes no weights."""
    takes_weights = has_fit_parameter(last_step(attacker.make(1)), "sample_weight")
    even = bool((weight == weight[0]).all())
    if len(y) > attacker.most_rows or not (takes_weights or even):
        rows = drawn_by_weight(y, weight, min(attacker.most_rows, len(y)))
        T, y, weight = T[rows], y[rows], np.ones(len(rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # then it is no better than it is
        return fit_probe(attacker.make(int(np.bincount(y).min())), T, y, weight)
