"""What decisions do to groups: their rates, and the gaps between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._attributes import check_frames, rows_named
from ..errors import MissingTargetError, UsageError
from ._auc import macro_auc
from ._inputs import coded_levels, present_values


def selection_rate_gap(
    y_pred: ArrayLike,
    sensitive_features: ArrayLike,
    *,
    y_true: ArrayLike | None = None,
    pos_label: Any = 1,
) -> float:
    """Largest difference between groups in the share of positive decisions.

    0 is demographic parity.

    Parameters
    ----------
    y_pred : array of shape (n,)
        Decisions, of two values at most; not scores.
    sensitive_features : array of shape (n,)
        Group of each row; a number with fractions is cut at its median.
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
    check_frames(y_pred=y_pred, sensitive_features=sensitive_features, y_true=y_true)
    decisions = _is_positive(y_pred, pos_label, "y_pred")
    groups = coded_levels(sensitive_features, len(decisions), "sensitive_features")[1]
    return _largest_gap(group_shares(decisions, groups))


def true_positive_rate_gap(
    y_pred: ArrayLike, sensitive_features: ArrayLike, *, y_true: ArrayLike, pos_label: Any = 1
) -> float:
    """Largest difference between groups in the share of positives that are recognised.

    0 is equal opportunity.

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
    check_frames(y_pred=y_pred, sensitive_features=sensitive_features, y_true=y_true)
    decisions = _is_positive(y_pred, pos_label, "y_pred")
    truth = _is_positive(y_true, pos_label, "y_true", n_rows=len(decisions))
    levels, groups = coded_levels(sensitive_features, len(decisions), "sensitive_features")
    positives = np.bincount(groups, weights=truth)
    if positives.min() == 0:
        rows = np.flatnonzero(groups == positives.argmin())
        raise MissingTargetError(
            f"y_true has no positive ({pos_label!r}) among the {len(rows)} rows of group "
            f"{levels[groups[rows[0]]]}, so its true positive rate is 0/0. "
            f"Leave that group out, or set pos_label to the positive label."
        )
    return _largest_gap(group_shares(decisions, groups, among=truth))


def group_shares(
    flags: np.ndarray, groups: np.ndarray, *, among: np.ndarray | None = None, m: int = 0
) -> np.ndarray:
    """Share of the rows of each group that are flagged, or of those `among` them; NaN of no rows.

    Flags may be probabilities. At least `m` groups are counted, coded from 0.
    """
    total = np.bincount(groups, weights=among, minlength=m)
    flagged = np.bincount(groups, flags if among is None else flags * among, minlength=m)
    shares = np.full(len(total), np.nan)
    np.divide(flagged, total, out=shares, where=total > 0)
    return shares


def _largest_gap(shares: np.ndarray) -> float:
    """Largest difference between two groups' shares; NaN where one of them is."""
    return float(shares.max() - shares.min())


def _is_positive(y: ArrayLike, pos_label: Any, name: str, n_rows: int | None = None) -> np.ndarray:
    values = present_values(y, np.shape(y)[0] if n_rows is None else n_rows, name)
    positive = rows_named(values, pos_label)
    if len(set(values[~positive].tolist())) > 1:
        distinct = list(dict.fromkeys(values.tolist()))
        raise UsageError(
            f"{name} has {len(distinct)} distinct values (the first are {distinct[:3]}), but two "
            f"are expected, one of them pos_label={pos_label!r}. Threshold scores first, or set "
            f"pos_label."
        )
    return positive.astype(int)


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

    `positive`: whether the true label is; `groups`: codes 0, 1, ... whose names are `levels`.
    """

    positive: np.ndarray
    groups: np.ndarray
    levels: tuple[Any, ...]

    @classmethod
    def coded(
        cls, y: Any, sensitive_features: Any, pos_label: Any, *, name: str = "sensitive_test"
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
        selected, recognised = self._shares(chance)
        return right, _largest_gap(selected), _largest_gap(recognised)

    def rates(self, decisions: np.ndarray) -> GroupRates:
        """Return the rates of every group; `decisions` as in `judge`."""
        selected, recognised = self._shares(np.asarray(decisions, dtype=float))
        positives = np.bincount(self.groups, weights=self.positive).astype(int)

        def by_level(values: np.ndarray) -> dict[Any, Any]:
            return dict(zip(self.levels, values.tolist(), strict=True))

        return GroupRates(
            selection_rate_gap=_largest_gap(selected),
            true_positive_rate_gap=_largest_gap(recognised),
            selection_rates=by_level(selected),
            true_positive_rates=by_level(recognised),
            n_rows=by_level(np.bincount(self.groups)),
            n_positives=by_level(positives),
        )

    def auc(self, scores: np.ndarray | None) -> float:
        """Return how well scores tell positive rows from others; NaN where nothing can be told."""
        if scores is None or self.positive.all():
            return float("nan")
        return float(macro_auc(np.asarray(scores)[:, None], self.positive.astype(int)[None])[0])

    def _shares(self, chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        recognised = group_shares(chance, self.groups, among=self.positive)
        return group_shares(chance, self.groups), recognised
