"""Accuracy against fairness: the whole curve of a fair representation from one pass of moments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from ..errors import warn_user
from ..estimators import FairKernelPCA, FairPCA
from ..estimators.parameters import check_choice, check_tradeoff
from .decisions import JudgedRows
from .logistic_path import logistic_path
from .parts import TradeoffParts

PAPERS_TRADEOFFS = tuple((i / 10) ** 3 for i in range(11))
"""The lambdas of the paper's figures."""

SOLVERS = ("auto", "refit")


@dataclass(frozen=True)
class TradeoffPoint:
    """One classifier on the curve.

    Parameters
    ----------
    tradeoff : float
        Its lambda.
    accuracy, selection_rate_gap, true_positive_rate_gap : float
        On the test rows; the gaps are the violations of demographic parity and of equal
        opportunity. The last is NaN where a group has no row with a positive label.
    """

    tradeoff: float
    accuracy: float
    selection_rate_gap: float
    true_positive_rate_gap: float


def tradeoff_curve(
    estimator: FairPCA | FairKernelPCA,
    classifier: Any,
    X_train: Any,
    y_train: Any,
    X_test: Any,
    y_test: Any,
    *,
    sensitive_train: Any,
    sensitive_test: Any,
    tradeoffs: Sequence[float] = PAPERS_TRADEOFFS,
    solver: str = "auto",
    compact: bool = False,
) -> list[TradeoffPoint]:
    r"""Return accuracy and unfairness of a classifier for every lambda of the trade-off.

    Use it to choose the `tradeoff` of `FairPCA` or `FairKernelPCA` on held-out rows. All lambdas
    share one fit; logistic regression moreover shares its work among them, so that a curve of
    eleven points costs little more than two or three of them.

    Parameters
    ----------
    estimator : FairPCA or FairKernelPCA
        Unfitted; its `tradeoff` is ignored, its `pos_label` names the positive class.
    classifier : scikit-learn classifier
        Learns from the representation. It is cloned, never changed.
    X_train, X_test : array-like, frame or sparse matrix of shape (n, d)
        Features.
    y_train, y_test : array-like of shape (n,)
        Labels.
    sensitive_train : array-like, Series, frame or dict of columns
        Sensitive attributes, as in ``estimator.fit``.
    sensitive_test : array-like of shape (n,)
        The attribute that gaps are computed for: one group per test row.
    tradeoffs : sequence of float in [0, 1]
        The lambdas; by default the paper's eleven, (i / 10)^3.
    solver : {"auto", "refit"}, default="auto"
        "auto" solves all lambdas together where `classifier` is a LogisticRegression with two
        classes and an l2 penalty: the same models, converged to a gradient of 1e-7 per row
        and a step more, whatever the classifier's `tol`. "refit" fits the classifier anew for
        every lambda.
    compact : bool, default=False
        Whether a classifier that is fitted anew gets at most d columns rather than 2k, with the
        same inner products. Say True for learners that see rows through inner products only (ridge,
        linear SVM, SVM with a kernel of fixed gamma), never for trees.

    Returns
    -------
    curve : list of TradeoffPoint
        In the order of `tradeoffs`.

    Notes
    -----
    With A = (U_fair, lambda U_st), a model with weights u on the 2k columns has weights w = A u on
    the centred features. Newton's method for w needs second derivatives of the loss in one set of
    coordinates only, and they hardly change from one lambda to the next: see `logistic_path`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.integers(0, 2, size=600)
    >>> X = rng.normal(size=(600, 5)) + np.outer(sex, [1.5, 1, 0, 0, 0])
    >>> y = (X[:, 0] + X[:, 2] + rng.normal(size=600) > 0.75).astype(int)
    >>> train, test = slice(0, 400), slice(400, 600)
    >>> curve = tradeoff_curve(
    ...     FairPCA(), LogisticRegression(C=0.01), X[train], y[train], X[test], y[test],
    ...     sensitive_train=sex[train], sensitive_test=sex[test], tradeoffs=[0.0, 1.0],
    ... )
    >>> curve[0].accuracy < curve[1].accuracy
    True
    >>> curve[0].selection_rate_gap < curve[1].selection_rate_gap
    True
    """
    check_choice("solver", solver, SOLVERS)
    if not isinstance(estimator, FairPCA | FairKernelPCA):
        raise TypeError(
            f"tradeoff_curve takes a FairPCA or a FairKernelPCA, not {type(estimator).__name__}: "
            f"it puts the fair and the standard components together itself. Impute and scale the "
            f"rows first, and pass what comes out."
        )
    lambdas = [check_tradeoff(value) for value in tradeoffs]
    rows = JudgedRows.coded(y_test, sensitive_test, estimator.pos_label)
    parts = TradeoffParts.fit(estimator, X_train, y_train, sensitive_features=sensitive_train)
    y = np.asarray(y_train)
    decisions: Iterable[np.ndarray]
    if solver == "auto" and is_plain_logistic_regression(classifier, y):
        decisions = _together(parts, classifier, X_train, y, X_test, lambdas)
    else:
        decisions = _one_by_one(parts, classifier, X_train, y, X_test, lambdas, compact=compact)
    return [
        TradeoffPoint(tradeoff, *rows.judge(labels == estimator.pos_label))
        for tradeoff, labels in zip(lambdas, decisions, strict=True)
    ]


def is_plain_logistic_regression(classifier: Any, y: np.ndarray) -> bool:
    """Tell whether a classifier minimises the loss of `logistic_path` and nothing else."""
    if type(classifier) is not LogisticRegression or len(np.unique(y)) != 2:
        return False
    p = classifier.get_params()
    return (
        p.get("penalty", "l2") in ("l2", "deprecated")
        and p["l1_ratio"] in (None, 0.0)
        and 0 < p["C"] < np.inf
        and p["fit_intercept"]
        and p["class_weight"] is None
        and p["solver"] != "liblinear"  # penalises the intercept
        and p.get("multi_class", "auto") != "multinomial"  # another penalty
    )


def _together(
    parts: TradeoffParts,
    classifier: LogisticRegression,
    X_train: Any,
    y: np.ndarray,
    X_test: Any,
    lambdas: Sequence[float],
) -> list[np.ndarray]:
    classes, codes = np.unique(y, return_inverse=True)
    ascending = np.argsort(lambdas, kind="stable")  # neighbours start from each other
    factors = (parts.factor(lambdas[i]) for i in ascending)
    found = logistic_path(parts.common_rows(X_train), codes, factors, classifier.C)
    if not all(model.converged for model in found):
        warn_user(
            "Logistic regression did not converge for some lambdas: C is very large, or the "
            "classes can be separated. Use a smaller C, or solver='refit'.",
            ConvergenceWarning,
        )
    models = [found[i] for i in np.argsort(ascending)]
    weights = np.column_stack([model.weights for model in models])
    scores = parts.common_rows(X_test) @ weights + [model.intercept for model in models]
    return list(classes[(scores > 0).astype(int)].T)


def _one_by_one(
    parts: TradeoffParts,
    classifier: Any,
    X_train: Any,
    y: np.ndarray,
    X_test: Any,
    lambdas: Sequence[float],
    *,
    compact: bool,
) -> Iterator[np.ndarray]:
    rows_of = parts.common_rows if compact else parts.fitted.transform
    train, test = rows_of(X_train), rows_of(X_test)
    for tradeoff in lambdas:
        if compact:
            B = parts.factor(tradeoff)
            seen, new = train @ B, test @ B
        else:
            seen, new = parts.scaled(train, tradeoff), parts.scaled(test, tradeoff)
        yield clone(classifier).fit(seen, y).predict(new)
