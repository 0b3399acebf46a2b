"""What the classifiers of a trade-off curve decide about groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._attributes import rows_named
from ..errors import UsageError
from ..metrics import coded_levels, group_shares, largest_difference, macro_auc, present_values


@dataclass(frozen=True)
class GroupRates:
    """What one classifier decides about the groups of one attribute.

    Attributes
    ----------
    selection_rate_difference : float
        Largest difference between groups' selection rates.
    true_positive_rate_difference : float
        Largest difference between groups' true positive rates; NaN where a group has no positive
        row.
    selection_rates : dict of level to float
        Share of positive decisions among all rows of the group.
    true_positive_rates : dict of level to float
        Share of positive decisions among the positive rows of the group; NaN where there are none.
    n_rows : dict of level to int
        Number of rows of the group.
    n_positives : dict of level to int
        Number of positive rows of the group.

    Examples
    --------
    >>> from fairpca.tradeoff._rates import GroupRates
    >>> rates = GroupRates(
    ...     selection_rate_difference=0.2,
    ...     true_positive_rate_difference=0.1,
    ...     selection_rates={"f": 0.3, "m": 0.5},
    ...     true_positive_rates={"f": 0.7, "m": 0.8},
    ...     n_rows={"f": 100, "m": 120},
    ...     n_positives={"f": 40, "m": 70},
    ... )
    >>> min(rates.selection_rates, key=rates.selection_rates.get)
    'f'
    """

    selection_rate_difference: float
    true_positive_rate_difference: float
    selection_rates: Mapping[Any, float]
    true_positive_rates: Mapping[Any, float]
    n_rows: Mapping[Any, int]
    n_positives: Mapping[Any, int]


@dataclass(frozen=True)
class JudgedRows:
    """Labels and groups of the rows that decisions are judged on, coded once.

    `positive`: whether the true label is; `groups`: codes 0, 1, ... whose names are `levels`.
    """

    positive: np.ndarray
    groups: np.ndarray
    levels: tuple[Any, ...]

    @classmethod
    def coded(
        cls,
        y: Any,
        sensitive_features: Any,
        pos_label: Any,
        *,
        name: str = "sensitive_features_test",
    ) -> JudgedRows:
        """Check and code what users pass; `name` is what messages call the attribute."""
        n = len(y)
        positive = rows_named(present_values(y, n, "y_test"), pos_label)
        if not positive.any():
            raise UsageError(
                f"No entry of y_test is the positive label {pos_label!r}. Set the estimator's "
                f"pos_label to one of the labels."
            )
        levels, codes = coded_levels(sensitive_features, n, name)
        return cls(positive, codes, tuple(levels))

    def judge(self, decisions: np.ndarray) -> tuple[float, float, float]:
        """Return accuracy, selection rate gap and true positive rate gap.

        Decisions are true or false; or, of a randomised classifier, probabilities of a positive
        one, and then all three are those over rows and coins. The last is NaN where a group has no
        positive row.
        """
        chance = np.asarray(decisions, dtype=float)
        right = float(np.where(self.positive, chance, 1.0 - chance).mean())
        selected, true_positive = self._shares(chance)
        return right, largest_difference(selected), largest_difference(true_positive)

    def rates(self, decisions: np.ndarray) -> GroupRates:
        """Return the rates of every group; `decisions` as in `judge`."""
        selected, true_positive = self._shares(np.asarray(decisions, dtype=float))
        positives = np.bincount(self.groups, weights=self.positive).astype(int)

        def by_level(values: np.ndarray) -> dict[Any, Any]:
            return dict(zip(self.levels, values.tolist(), strict=True))

        return GroupRates(
            selection_rate_difference=largest_difference(selected),
            true_positive_rate_difference=largest_difference(true_positive),
            selection_rates=by_level(selected),
            true_positive_rates=by_level(true_positive),
            n_rows=by_level(np.bincount(self.groups)),
            n_positives=by_level(positives),
        )

    def auc(self, scores: np.ndarray | None) -> float:
        """Return how well scores rank positive rows above others; NaN where nothing can be."""
        if scores is None or self.positive.all():
            return float("nan")
        return float(macro_auc(np.asarray(scores)[:, None], self.positive.astype(int)[None])[0])

    def _shares(self, chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        true_positive = group_shares(chance, self.groups, among=self.positive)
        return group_shares(chance, self.groups), true_positive
