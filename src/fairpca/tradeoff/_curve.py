"""Accuracy against fairness: the whole curve of a fair representation from one pass of moments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from .._attributes import attribute_columns, check_frames, rows_named
from .._numerics import on_the_host
from ..errors import UsageError
from ..estimators import FairKernelPCA, FairPLS, FairTransformer, check_choice, check_tradeoff
from ._parts import TakesTradeoff, TradeoffParts
from ._rates import GroupRates, JudgedRows

SOLVERS = ("auto", "refit")
LAMBDAS = tuple((i / 10) ** 3 for i in range(11))  # those of the paper's figures
GRADIENT = 1e-9  # largest entry per row where Newton's method stops; scikit-learn's default is 1e-4
MOST_STEPS = 1000


@dataclass(frozen=True)
class TradeoffPoint:
    """One classifier on the fairness-accuracy curve, measured on the test data.

    Attributes
    ----------
    tradeoff : float
        Its lambda.
    accuracy : float
        Share of the test rows that are classified correctly.
    selection_rate_difference : float
        Violation of demographic parity: the largest difference between groups, over all attributes.
    true_positive_rate_difference : float
        Violation of equal opportunity: the largest difference between groups, over all attributes.
        NaN where a group has no row with a positive label.
    auc : float, default=nan
        AUC of its scores for the positive label; NaN where it has no scores.
    attributes : dict of str to object, default={}
        The rates of all groups by attribute ("sensitive" where it has no name), each a dict by
        level: `selection_rates`, `true_positive_rates`, `n_rows` and `n_positives`.

    See Also
    --------
    tradeoff_curve : Returns a list of them.

    Examples
    --------
    >>> from fairpca.tradeoff import TradeoffPoint
    >>> point = TradeoffPoint(
    ...     0.1, 0.8, selection_rate_difference=0.05, true_positive_rate_difference=0.02
    ... )
    >>> point.selection_rate_difference <= 0.1 and point.accuracy >= 0.75
    True
    """

    tradeoff: float
    accuracy: float
    selection_rate_difference: float
    true_positive_rate_difference: float
    auc: float = float("nan")
    attributes: Mapping[str, GroupRates] = field(default_factory=dict, hash=False)


def tradeoff_curve(
    estimator: TakesTradeoff | Pipeline,
    classifier: Any,
    X_train: Any,
    y_train: Any,
    X_test: Any,
    y_test: Any,
    *,
    sensitive_features_train: Any,
    sensitive_features_test: Any,
    tradeoffs: Sequence[float] = LAMBDAS,
    solver: str = "auto",
    compact: bool = False,
    pos_label: Any = None,
) -> list[TradeoffPoint]:
    r"""Return accuracy and group differences of a classifier for every lambda of the trade-off.

    Use it to choose the `tradeoff` of a fair representation on held-out data. All lambdas
    share one fit of the representation.

    Parameters
    ----------
    estimator : FairPCA, FairKernelPCA, eraser, or Pipeline that ends in one of them
        Unfitted; its `tradeoff` is ignored. The erasers LEACE, SPLINCE, SAL and MeanProjection have
        no lambda of their own: their columns are put beside lambda times the centred features. The
        first steps of a pipeline are fitted once, to `X_train`. `FairPLS` raises an error: it has
        `covariance_penalty` and `distribution_penalty` instead.
    classifier : scikit-learn classifier
        Learns from the representation. It is cloned, never changed.
    X_train : array-like, frame or sparse matrix of shape (n_samples, n_features)
        Features of the training data.
    y_train : array-like of shape (n_samples,)
        Labels of the training data.
    X_test : array-like, frame or sparse matrix of shape (n_test_samples, n_features)
        Features of the test data.
    y_test : array-like of shape (n_test_samples,)
        Labels of the test data.
    sensitive_features_train : array-like, Series, frame or dict of columns
        Sensitive attributes of the training data, as in ``estimator.fit``.
    sensitive_features_test : array-like of shape (n_test_samples,), frame or dict of columns
        Sensitive attributes of the test data, which are measured: one group per row and attribute.
    tradeoffs : sequence of float in [0, 1], default=(0.0, 0.001, ..., 0.729, 1.0)
        The lambdas; by default the paper's eleven, (i / 10)^3.
    solver : {"auto", "refit"}, default="auto"
        "auto" solves a LogisticRegression with two classes and an l2 penalty with scikit-learn's
        "newton-cholesky" on at most as many columns as there are features, each lambda from the
        solution of the last: the same models, converged to a gradient of 1e-9 per row, whatever
        the classifier's `tol`. "refit" fits the classifier as it is for every lambda.
    compact : bool, default=False
        Whether a classifier that is fitted anew gets at most d columns rather than 2k, with the
        same inner products. Use it for learners that see rows through inner products only (ridge,
        linear SVM, SVM with a kernel of fixed gamma), never for trees.
    pos_label : object, default=None
        The positive class. None is the estimator's `pos_label`, which for erasers is 1.

    Returns
    -------
    curve : list of TradeoffPoint
        In the order of `tradeoffs`.

    See Also
    --------
    fairpca.FairPCA : Has the parameter `tradeoff` that is chosen by the curve.
    TradeoffPoint : A point of the curve.

    Notes
    -----
    User guide: :doc:`/howto/tradeoff`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from fairpca import FairPCA
    >>> from fairpca.tradeoff import tradeoff_curve
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.integers(0, 2, size=600)
    >>> X = rng.normal(size=(600, 5)) + np.outer(sex, [1.5, 1, 0, 0, 0])
    >>> y = (X[:, 0] + X[:, 2] + rng.normal(size=600) > 0.75).astype(int)
    >>> train, test = slice(0, 400), slice(400, 600)
    >>> curve = tradeoff_curve(
    ...     FairPCA(), LogisticRegression(C=0.01), X[train], y[train], X[test], y[test],
    ...     sensitive_features_train=sex[train], sensitive_features_test=sex[test],
    ...     tradeoffs=[0.0, 1.0],
    ... )
    >>> curve[0].accuracy < curve[1].accuracy
    True
    >>> curve[0].selection_rate_difference < curve[1].selection_rate_difference
    True
    """
    check_choice("solver", solver, SOLVERS)
    lambdas = [check_tradeoff(value) for value in tradeoffs]
    last = _fair_step(estimator)
    positive = last.pos_label if pos_label is None else pos_label
    check_frames(
        X_train=X_train, y_train=y_train, sensitive_features_train=sensitive_features_train
    )
    check_frames(X_test=X_test, y_test=y_test, sensitive_features_test=sensitive_features_test)
    rows = _judged_rows(y_test, sensitive_features_test, positive)
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        first = clone(estimator[:-1])
        X_train, X_test = first.fit_transform(X_train, y_train), first.transform(X_test)
    parts = TradeoffParts.fit(last, X_train, y_train, sensitive_features=sensitive_features_train)
    y = np.asarray(on_the_host(y_train))
    together = solver == "auto"
    predicted = predictions_along(
        parts, classifier, X_train, y, X_test, lambdas, together=together, compact=compact
    )
    return [
        _point(tradeoff, rows, one, positive)
        for tradeoff, one in zip(lambdas, predicted, strict=True)
    ]


def _fair_step(estimator: Any) -> TakesTradeoff:
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if isinstance(last, FairPLS):
        raise UsageError(
            "tradeoff_curve puts columns of the standard method beside the fair ones, and FairPLS "
            "has no standard half: what it keeps is for the target alone. Fit it with several "
            "values of distribution_penalty, or of covariance_penalty."
        )
    if isinstance(last, FairTransformer | FairKernelPCA):
        return last
    raise TypeError(
        f"tradeoff_curve takes a FairPCA, a FairKernelPCA or an eraser fitted from moments, or a "
        f"Pipeline that ends in one, not {type(last).__name__}: it puts the fair and the standard "
        f"columns together itself."
    )


def _judged_rows(y: Any, sensitive: Any, pos_label: Any) -> dict[str, JudgedRows]:
    columns = {str(name): column for name, column in attribute_columns(sensitive).items()}
    if not columns:
        raise UsageError("sensitive_features_test has no columns. Pass at least one attribute.")
    several = len(columns) > 1
    return {
        name: JudgedRows.coded(
            y,
            column,
            pos_label,
            name=f"sensitive_features_test[{name!r}]" if several else "sensitive_features_test",
        )
        for name, column in columns.items()
    }


def _point(
    tradeoff: float, rows: Mapping[str, JudgedRows], predicted: _Predicted, pos_label: Any
) -> TradeoffPoint:
    decisions = rows_named(predicted.labels, pos_label)
    rates = {name: judged.rates(decisions) for name, judged in rows.items()}
    any_rows = next(iter(rows.values()))
    return TradeoffPoint(
        tradeoff=tradeoff,
        accuracy=any_rows.judge(decisions)[0],
        # NaN, if one of them is.
        selection_rate_difference=float(
            np.max([r.selection_rate_difference for r in rates.values()])
        ),
        true_positive_rate_difference=float(
            np.max([r.true_positive_rate_difference for r in rates.values()])
        ),
        auc=any_rows.auc(predicted.scores_of(pos_label)),
        attributes=rates,
    )


@dataclass(frozen=True)
class _Predicted:
    """What a classifier says of the test rows: labels, and scores of each of its classes."""

    labels: np.ndarray
    classes: np.ndarray
    scores: np.ndarray | None

    def scores_of(self, label: Any) -> np.ndarray | None:
        """Return one score per row, larger for the label; None if there is none."""
        column = np.flatnonzero(rows_named(self.classes, label))
        if self.scores is None or len(column) != 1:
            return None
        if self.scores.ndim == 1:  # of two classes: the score of the second
            return self.scores if column[0] == 1 else -self.scores
        return np.asarray(self.scores[:, column[0]])


def predictions_along(
    parts: TradeoffParts,
    classifier: Any,
    X_train: Any,
    y: np.ndarray,
    X_test: Any,
    lambdas: Sequence[float],
    *,
    together: bool = True,
    compact: bool = False,
) -> Iterable[_Predicted]:
    """Fit a classifier for every lambda: `together` where that is possible, else anew for each."""
    if together and _is_plain_logistic_regression(classifier, y):
        return _all_together(parts, classifier, X_train, y, X_test, lambdas)
    return _one_by_one(parts, classifier, X_train, y, X_test, lambdas, compact=compact)


def _is_plain_logistic_regression(classifier: Any, y: np.ndarray) -> bool:
    """Tell whether "newton-cholesky" minimises the same loss."""
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


def _all_together(
    parts: TradeoffParts,
    classifier: Any,
    X_train: Any,
    y: Any,
    X_test: Any,
    lambdas: Sequence[float],
) -> list[_Predicted]:
    """Fit logistic regression by Newton's method, in as few columns as have the inner products."""
    train, test = parts.common_rows(X_train), parts.common_rows(X_test)
    newton = LogisticRegression(
        C=classifier.C,
        solver="newton-cholesky",
        tol=GRADIENT,
        max_iter=MOST_STEPS,
        warm_start=True,
    )
    found: dict[float, _Predicted] = {}
    for tradeoff in sorted(set(lambdas)):  # neighbours start from each other
        B = parts.factor(tradeoff)
        if hasattr(newton, "coef_") and newton.coef_.shape[1] != B.shape[1]:
            newton = clone(newton)
        scores = newton.fit(train @ B, y).decision_function(test @ B)
        labels = newton.classes_[(scores > 0).astype(int)]
        found[tradeoff] = _Predicted(labels, newton.classes_, scores)
    return [found[tradeoff] for tradeoff in lambdas]


def _one_by_one(
    parts: TradeoffParts,
    classifier: Any,
    X_train: Any,
    y: Any,
    X_test: Any,
    lambdas: Sequence[float],
    *,
    compact: bool,
) -> Iterator[_Predicted]:
    """Fit any classifier anew for every lambda."""
    rows_of = parts.common_rows if compact else parts.both
    train, test = rows_of(X_train), rows_of(X_test)
    for tradeoff in lambdas:
        if compact:
            B = parts.factor(tradeoff)
            seen, new = train @ B, test @ B
        else:
            seen, new = parts.scaled(train, tradeoff), parts.scaled(test, tradeoff)
        fitted = clone(classifier).fit(seen, y)
        yield _Predicted(fitted.predict(new), fitted.classes_, _scores(fitted, new))


def _scores(fitted: Any, rows: np.ndarray) -> np.ndarray | None:
    for method in ("decision_function", "predict_proba"):
        if hasattr(fitted, method):
            return np.asarray(getattr(fitted, method)(rows))
    return None
