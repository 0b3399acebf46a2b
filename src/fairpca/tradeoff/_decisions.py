"""Accuracy and group gaps of many sets of decisions on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UsageError
from ..metrics import integer_levels, macro_auc, present_values


@dataclass(frozen=True)
class GroupRates:
    """What one classifier decides about the groups of one attribute.

    Parameters
    ----------
    selection_rate_gap, true_positive_rate_gap : float
        Largest differences between groups; the second is NaN where a group has no positive row.
    selection_rates, true_positive_rates : dict of level to float
        Share of positive decisions: among all rows of the group, and among its positive ones
        (NaN where there are none).
    n_rows, n_positives : dict of level to int
        How many rows those shares are taken over.

    Examples
    --------
    >>> from fairpca.tradeoff import GroupRates
    >>> rates = GroupRates(
    ...     selection_rate_gap=0.2,
    ...     true_positive_rate_gap=0.1,
    ...     selection_rates={"f": 0.3, "m": 0.5},
    ...     true_positive_rates={"f": 0.7, "m": 0.8},
    ...     n_rows={"f": 100, "m": 120},
    ...     n_positives={"f": 40, "m": 70},
    ... )
    >>> min(rates.selection_rates, key=rates.selection_rates.get)
    'f'
    """

    selection_rate_gap: float
    true_positive_rate_gap: float
    selection_rates: Mapping[Any, float]
    true_positive_rates: Mapping[Any, float]
    n_rows: Mapping[Any, int]
    n_positives: Mapping[Any, int]


@dataclass(frozen=True)
class JudgedRows:
    """Labels and groups of the rows that decisions are judged on, coded once.

    Parameters
    ----------
    positive : array of bool of shape (n,)
        Whether the true label is positive.
    groups : array of int of shape (n,)
        Codes 0, 1, ... of the groups.
    levels : sequence
        The groups' names, by code.

    Examples
    --------
    >>> rows = JudgedRows.coded([1, 0, 1, 1], ["a", "a", "b", "b"], pos_label=1)
    >>> rows.judge(np.array([True, True, False, True]))
    (0.5, 0.5, 0.5)
    >>> rows.rates(np.array([True, True, False, True])).selection_rates
    {'a': 1.0, 'b': 0.5}
    """

    positive: np.ndarray
    groups: np.ndarray
    levels: tuple[Any, ...] = ()

    @classmethod
    def coded(
        cls, y: Any, sensitive_features: Any, pos_label: Any, *, name: str = "sensitive_test"
    ) -> JudgedRows:
        """Check and code what users pass; `name` is what messages call the attribute."""
        n = len(y)
        positive = present_values(y, n, "y_test") == pos_label
        if not positive.any():
            raise UsageError(
                f"No entry of y_test is the positive label {pos_label!r}. Set the estimator's "
                f"pos_label to one of the labels."
            )
        if getattr(sensitive_features, "ndim", 1) == 2 and sensitive_features.shape[1] == 1:
            sensitive_features = np.asarray(sensitive_features)[:, 0]
        levels, codes = integer_levels(present_values(sensitive_features, n, name), name)
        return cls(positive, codes, tuple(levels))

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
        chance = np.asarray(decisions, dtype=float)
        right = float(np.where(self.positive, chance, 1.0 - chance).mean())
        selected, recognised = self._shares(chance)
        return right, _range(selected), _range(recognised)

    def rates(self, decisions: np.ndarray) -> GroupRates:
        """Return the rates of every group; `decisions` as in `judge`."""
        selected, recognised = self._shares(np.asarray(decisions, dtype=float))
        levels = self.levels or tuple(range(len(selected)))
        positives = np.bincount(self.groups, weights=self.positive)
        return GroupRates(
            selection_rate_gap=_range(selected),
            true_positive_rate_gap=_range(recognised),
            selection_rates=dict(zip(levels, selected.tolist(), strict=True)),
            true_positive_rates=dict(zip(levels, recognised.tolist(), strict=True)),
            n_rows=dict(zip(levels, np.bincount(self.groups).tolist(), strict=True)),
            n_positives=dict(zip(levels, positives.astype(int).tolist(), strict=True)),
        )

    def auc(self, scores: np.ndarray | None) -> float:
        """Return how well scores tell positive rows from others; NaN where nothing can be told."""
        if scores is None or self.positive.all():
            return float("nan")
        return float(macro_auc(np.asarray(scores)[:, None], self.positive.astype(int)[None])[0])

    def _shares(self, chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        shares = []
        for counted in (np.ones_like(chance), self.positive.astype(float)):
            total = np.bincount(self.groups, weights=counted)
            said = np.bincount(self.groups, weights=chance * counted)
            shares.append(np.divide(said, total, out=np.full(len(total), np.nan), where=total > 0))
        return shares[0], shares[1]


def _range(rates: np.ndarray) -> float:
    return float(rates.max() - rates.min())  # NaN where one of them is


def attribute_columns(sensitive: Any) -> dict[str, Any]:
    """Return the attributes by name: of a mapping or frame its columns, else one or as many.

    Examples
    --------
    >>> list(attribute_columns({"sex": ["f", "m"], "age": ["old", "young"]}))
    ['sex', 'age']
    >>> list(attribute_columns(["f", "m"]))
    ['sensitive']
    """
    if isinstance(sensitive, Mapping):
        return {str(name): column for name, column in sensitive.items()}
    if getattr(sensitive, "ndim", len(getattr(sensitive, "shape", (0,)))) == 2:
        if hasattr(sensitive, "columns"):
            return {str(name): sensitive[name] for name in sensitive.columns}
        array = np.asarray(sensitive)
        return {"sensitive": array} if array.shape[1] == 1 else dict(_numbered(array))
    return {str(getattr(sensitive, "name", None) or "sensitive"): sensitive}


def _numbered(array: np.ndarray) -> list[tuple[str, np.ndarray]]:
    return [(str(j), array[:, j]) for j in range(array.shape[1])]
