"""Accuracy and group gaps of many sets of decisions on the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..metrics.inputs import integer_levels, present_values


@dataclass(frozen=True)
class JudgedRows:
    """Labels and groups of the rows that decisions are judged on, coded once.

    Parameters
    ----------
    positive : array of bool of shape (n,)
        Whether the true label is positive.
    groups : array of int of shape (n,)
        Codes 0, 1, ... of the groups.

    Examples
    --------
    >>> rows = JudgedRows.coded([1, 0, 1, 1], ["a", "a", "b", "b"], pos_label=1)
    >>> rows.judge(np.array([True, True, False, True]))
    (0.5, 0.5, 0.5)
    """

    positive: np.ndarray
    groups: np.ndarray

    @classmethod
    def coded(cls, y: Any, sensitive_features: Any, pos_label: Any) -> JudgedRows:
        """Check and code what users pass."""
        n = len(y)
        positive = present_values(y, n, "y_test") == pos_label
        if not positive.any():
            raise ValueError(
                f"No entry of y_test is the positive label {pos_label!r}. Set the estimator's "
                f"pos_label to one of the labels."
            )
        if getattr(sensitive_features, "ndim", 1) == 2 and sensitive_features.shape[1] == 1:
            sensitive_features = np.asarray(sensitive_features)[:, 0]
        values = present_values(sensitive_features, n, "sensitive_test")
        return cls(positive, integer_levels(values, "sensitive_test")[1])

    def judge(self, decisions: np.ndarray) -> tuple[float, float, float]:
        """Return accuracy, selection rate gap and true positive rate gap.

        Parameters
        ----------
        decisions : array of shape (n,)
            Whether each decision is positive; or, of a randomised classifier, the probability
            that it is, and then all three are those over rows and coins.

        Returns
        -------
        accuracy, selection_rate_gap, true_positive_rate_gap : float
            As `fairpca.metrics` computes them; the last is NaN where a group has no positive row.
        """
        chance, positive = np.asarray(decisions, dtype=float), self.positive.astype(float)
        right = float(np.where(self.positive, chance, 1.0 - chance).mean())
        return right, self._gap(chance, np.ones_like(chance)), self._gap(chance, positive)

    def _gap(self, chance: np.ndarray, counted: np.ndarray) -> float:
        total = np.bincount(self.groups, weights=counted)
        if not total.all():
            return float("nan")
        rates = np.bincount(self.groups, weights=chance * counted) / total
        return float(rates.max() - rates.min())
