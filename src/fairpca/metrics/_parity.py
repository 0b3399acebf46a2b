"""Gaps between groups in the decisions of a downstream classifier, computed by fairlearn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import MissingExtraError, MissingTargetError, UsageError
from ._inputs import integer_levels, present_values


def selection_rate_gap(
    y_pred: ArrayLike,
    sensitive_features: ArrayLike,
    *,
    y_true: ArrayLike | None = None,
    pos_label: Any = 1,
) -> float:
    """Largest difference between groups in the share of positive decisions.

    0 is demographic parity. Needs fairlearn (``pip install 'fairpca[parity]'``).

    Parameters
    ----------
    y_pred : array of shape (n,)
        Decisions, of two values at most; not scores.
    sensitive_features : array of shape (n,)
        Group of each row.
    y_true : array of shape (n,), optional
        Ignored: parity looks at decisions only. Accepted so that all gaps are called alike.
    pos_label : object, default=1
        The decision counted as positive.

    Returns
    -------
    gap : float
        Between 0 and 1.

    See Also
    --------
    true_positive_rate_gap : The same among the rows with a positive label.

    Examples
    --------
    >>> from fairpca.metrics import selection_rate_gap
    >>> selection_rate_gap([1, 1, 0, 1], ["a", "a", "b", "b"])
    0.5
    """
    decisions = _is_positive(y_pred, pos_label, "y_pred")
    groups = _group_codes(sensitive_features, len(decisions))
    return _largest_gap("selection", decisions, decisions, groups)


def true_positive_rate_gap(
    y_pred: ArrayLike,
    sensitive_features: ArrayLike,
    *,
    y_true: ArrayLike,
    pos_label: Any = 1,
) -> float:
    """Largest difference between groups in the share of positives that are recognised.

    0 is equal opportunity. Needs fairlearn (``pip install 'fairpca[parity]'``).

    Parameters
    ----------
    y_pred : array of shape (n,)
        Decisions, of two values at most; not scores.
    sensitive_features : array of shape (n,)
        Group of each row; every group needs a row whose true label is positive.
    y_true : array of shape (n,)
        True labels, of two values at most.
    pos_label : object, default=1
        The label and decision counted as positive.

    Returns
    -------
    gap : float
        Between 0 and 1.

    Raises
    ------
    MissingTargetError
        If a group has no row whose true label is positive.

    See Also
    --------
    selection_rate_gap : The same among all rows.

    Examples
    --------
    >>> from fairpca.metrics import true_positive_rate_gap
    >>> true_positive_rate_gap([1, 1, 0, 1], ["a", "a", "b", "b"], y_true=[1, 0, 1, 1])
    0.5
    """
    decisions = _is_positive(y_pred, pos_label, "y_pred")
    truth = _is_positive(y_true, pos_label, "y_true", n_rows=len(decisions))
    groups = _group_codes(sensitive_features, len(decisions))
    positives = np.bincount(groups, weights=truth)
    if positives.min() == 0:
        rows = np.flatnonzero(groups == positives.argmin())
        raise MissingTargetError(
            f"y_true has no positive ({pos_label!r}) among the {len(rows)} rows of group "
            f"{np.asarray(sensitive_features)[rows[0]]!s}, so its true positive rate is 0/0. "
            f"Leave that group out, or set pos_label to the positive label."
        )
    return _largest_gap("true positive", truth, decisions, groups)


def _largest_gap(rate: str, truth: np.ndarray, decisions: np.ndarray, groups: np.ndarray) -> float:
    try:
        from fairlearn.metrics import MetricFrame, selection_rate, true_positive_rate
    except ImportError as error:
        raise MissingExtraError("fairlearn", "parity", "Comparing the groups' rates") from error
    rates = {"selection": selection_rate, "true positive": true_positive_rate}
    frame = MetricFrame(
        metrics=rates[rate], y_true=truth, y_pred=decisions, sensitive_features=groups
    )
    return float(frame.difference(method="between_groups"))


def _is_positive(y: ArrayLike, pos_label: Any, name: str, n_rows: int | None = None) -> np.ndarray:
    values = present_values(y, np.shape(y)[0] if n_rows is None else n_rows, name)
    distinct = list(dict.fromkeys(values.tolist()))
    if len(distinct) > 2 or (len(distinct) == 2 and pos_label not in distinct):
        raise UsageError(
            f"{name} has {len(distinct)} distinct values (the first are {distinct[:3]}), but two "
            f"are expected, one of them pos_label={pos_label!r}. Threshold scores first, or set "
            f"pos_label."
        )
    positive: np.ndarray = (values == pos_label).astype(int)
    return positive


def _group_codes(sensitive_features: ArrayLike, n_rows: int) -> np.ndarray:
    name = "sensitive_features"
    return integer_levels(present_values(sensitive_features, n_rows, name), name)[1]
