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
from ._inputs import coded_levels, present_values, row_weights, score_places

_ROUNDING = 1e-12  # by so much equal shares may differ


def selected(
    scores: ArrayLike, share: float, *, sample_weight: ArrayLike | None = None
) -> np.ndarray:
    """Select a share of the rows, those with the highest scores.

    This is how an audit decides: the share is that of the positive rows among those that a model
    was fitted to. At a threshold of one half a model of a rare outcome selects nobody, and no gap
    can be seen. Rows with equal scores are decided alike, so that nobody's decision is drawn by
    lot; of what thresholds can do, the share that is nearest is taken, the larger of two as near.

    Parameters
    ----------
    scores : array of shape (n,)
        Numbers that rise with the decision, ties and infinities included.
    share : float in [0, 1]
        How many of all rows to select, or which share of their weight.
    sample_weight : array of shape (n,), optional
        How much each row counts.

    Returns
    -------
    decisions : array of bool of shape (n,)
        True for rows that are selected.

    See Also
    --------
    selection_rate_gap : What such decisions do to groups.

    Examples
    --------
    >>> from fairpca.metrics import selected, selection_rate_gap
    >>> decisions = selected([0.1, 0.7, 0.4, 0.7, 0.2], share=0.3)
    >>> decisions.tolist()
    [False, True, False, True, False]
    >>> selection_rate_gap(decisions, ["a", "a", "b", "b", "b"])
    0.16666666666666669
    """
    if not 0.0 <= share <= 1.0:
        raise UsageError(
            f"share={share!r} is not a share of the rows. Pass a number from 0 (nobody) to 1 "
            f"(everybody)."
        )
    check_frames(scores=scores, sample_weight=sample_weight)
    place = score_places(scores, "scores")[1]
    at = np.bincount(place, weights=row_weights(sample_weight, len(place)))
    from_here = np.append(at[::-1].cumsum()[::-1], 0.0)
    distance = np.abs(from_here / from_here[0] - share)
    return np.asarray(place >= np.argmax(distance <= distance.min() + _ROUNDING))


def selection_rate_gap(
    y_pred: ArrayLike,
    sensitive_features: ArrayLike,
    *,
    y_true: ArrayLike | None = None,
    pos_label: Any = 1,
    sample_weight: ArrayLike | None = None,
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
    sample_weight : array of shape (n,), optional
        How much each row counts; only ratios matter.

    Returns
    -------
    gap : float
        Between 0 and 1.

    See Also
    --------
    selection_rate_ratio : The same rates, divided.
    true_positive_rate_gap : The same among the rows with a positive label.

    Examples
    --------
    >>> from fairpca.metrics import selection_rate_gap
    >>> selection_rate_gap([1, 1, 0, 1], ["a", "a", "b", "b"])
    0.5
    >>> selection_rate_gap([1, 1, 0, 1], ["a", "a", "b", "b"], sample_weight=[1, 1, 1, 3])
    0.25
    """
    given = y_pred, sensitive_features, y_true, pos_label, sample_weight
    return _largest_gap(_rates("selection rate", *given))


def selection_rate_ratio(
    y_pred: ArrayLike,
    sensitive_features: ArrayLike,
    *,
    y_true: ArrayLike | None = None,
    pos_label: Any = 1,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Smallest share of positive decisions of a group over the largest.

    Known as disparate impact or adverse impact ratio; 1 is demographic parity. The four-fifths
    rule of the American guidelines on hiring takes less than 0.8 as a sign of adverse impact.

    Parameters
    ----------
    y_pred, sensitive_features, y_true, pos_label, sample_weight
        As in `selection_rate_gap`.

    Returns
    -------
    ratio : float
        Between 0 and 1.

    Raises
    ------
    UsageError
        If nobody is selected: the ratio is then 0/0.

    See Also
    --------
    selection_rate_gap : The same rates, subtracted.

    Notes
    -----
    Ratios depend on which decision is called positive: rates of 98 and 99 % have a ratio of 0.99,
    the rates of refusal, 2 and 1 %, one of 0.5. The gap is the same for both.

    Examples
    --------
    >>> from fairpca.metrics import selection_rate_ratio
    >>> selection_rate_ratio([1, 1, 0, 1], ["a", "a", "b", "b"])
    0.5
    """
    given = y_pred, sensitive_features, y_true, pos_label, sample_weight
    rates = _rates("selection rate", *given)
    if rates.max() == 0:
        raise UsageError(
            f"y_pred selects ({pos_label!r}) nobody in {np.shape(y_pred)[0]} rows, or nobody who "
            f"counts, so the ratio of selection rates is 0/0. Lower the threshold, or set "
            f"pos_label to the positive decision."
        )
    return float(rates.min() / rates.max())


def true_positive_rate_gap(
    y_pred: ArrayLike,
    sensitive_features: ArrayLike,
    *,
    y_true: ArrayLike,
    pos_label: Any = 1,
    sample_weight: ArrayLike | None = None,
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
    sample_weight : array of shape (n,), optional
        How much each row counts; only ratios matter.

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
    selection_rate_gap : The same over all rows.
    false_positive_rate_gap : The same over the other rows.

    Examples
    --------
    >>> from fairpca.metrics import true_positive_rate_gap
    >>> true_positive_rate_gap([1, 1, 0, 1], ["a", "a", "b", "b"], y_true=[1, 0, 1, 1])
    0.5
    """
    given = y_pred, sensitive_features, y_true, pos_label, sample_weight
    return _largest_gap(_rates("true positive rate", *given))


def false_positive_rate_gap(
    y_pred: ArrayLike,
    sensitive_features: ArrayLike,
    *,
    y_true: ArrayLike,
    pos_label: Any = 1,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Largest difference between groups in the share of negatives that are taken for positives.

    With `true_positive_rate_gap`, 0 of both is equalized odds.

    Parameters
    ----------
    y_pred, sensitive_features, y_true, pos_label, sample_weight
        As in `true_positive_rate_gap`; every group needs a row whose true label is not positive.

    Returns
    -------
    gap : float
        Between 0 and 1.

    Raises
    ------
    MissingTargetError
        If all rows of a group are positive.

    See Also
    --------
    precision_gap : How many of those selected were taken rightly.

    Examples
    --------
    >>> from fairpca.metrics import false_positive_rate_gap
    >>> false_positive_rate_gap([1, 1, 0, 1], ["a", "a", "b", "b"], y_true=[1, 0, 0, 1])
    1.0
    """
    given = y_pred, sensitive_features, y_true, pos_label, sample_weight
    return _largest_gap(_rates("false positive rate", *given))


def precision_gap(
    y_pred: ArrayLike,
    sensitive_features: ArrayLike,
    *,
    y_true: ArrayLike,
    pos_label: Any = 1,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Largest difference between groups in the share of positive decisions that are right.

    0 is predictive parity: being selected means the same whatever the group. Where groups have
    different shares of positives, no model that errs has this and equalized odds.

    Parameters
    ----------
    y_pred, sensitive_features, y_true, pos_label, sample_weight
        As in `true_positive_rate_gap`; of every group a row needs to be selected.

    Returns
    -------
    gap : float
        Between 0 and 1.

    Raises
    ------
    MissingTargetError
        If nobody of a group is selected.

    See Also
    --------
    false_positive_rate_gap : How many of those who are not positive are selected.

    Examples
    --------
    >>> from fairpca.metrics import precision_gap
    >>> precision_gap([1, 1, 0, 1], ["a", "a", "b", "b"], y_true=[1, 0, 0, 1])
    0.5
    """
    given = y_pred, sensitive_features, y_true, pos_label, sample_weight
    return _largest_gap(_rates("precision", *given))


def mean_prediction_gap(
    y_pred: ArrayLike, sensitive_features: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Largest difference between groups' mean predictions of a number, such as a wage.

    Parameters
    ----------
    y_pred : array of shape (n,)
        Predictions, or the numbers themselves for the gap that the data has.
    sensitive_features : array of shape (n,)
        Group of each row; a number with fractions is cut at its median.
    sample_weight : array of shape (n,), optional
        How much each row counts; only ratios matter.

    Returns
    -------
    gap : float
        In the units of `y_pred`.

    See Also
    --------
    distribution_gap : Whether more differs than the mean.

    Examples
    --------
    >>> from fairpca.metrics import mean_prediction_gap
    >>> mean_prediction_gap([10.0, 14.0, 9.0, 10.0], ["m", "m", "f", "f"])
    2.5
    """
    found, place = score_places(y_pred, "y_pred")
    if not np.isfinite(found[[0, -1]]).all():
        raise UsageError(
            "y_pred has infinite values, which have no mean. Leave them out, or pass numbers."
        )
    _, groups, weight = _grouped(len(place), sensitive_features, sample_weight, y_pred=y_pred)
    return _largest_gap(group_shares(found[place], groups, among=weight))


def distribution_gap(
    y_pred: ArrayLike, sensitive_features: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Largest difference between groups in the share of rows above a threshold, over all of them.

    The Kolmogorov distance of the groups' distributions: 0 where every threshold selects as many of
    each group, 1 where one divides two groups.

    Parameters
    ----------
    y_pred : array of shape (n,)
        Predictions or scores, ties and infinities included.
    sensitive_features, sample_weight
        As in `mean_prediction_gap`.

    Returns
    -------
    gap : float
        Between 0 and 1.

    See Also
    --------
    certified_gap : How large it may be in the population.

    Examples
    --------
    >>> from fairpca.metrics import distribution_gap
    >>> distribution_gap([10.0, 14.0, 9.0, 10.0], ["m", "m", "f", "f"])
    0.5
    """
    place = score_places(y_pred, "y_pred")[1]
    _, groups, weight = _grouped(len(place), sensitive_features, sample_weight, y_pred=y_pred)
    return float(np.ptp(shares_up_to(place, groups, among=weight), axis=0).max())


def group_shares(
    flags: np.ndarray, groups: np.ndarray, *, among: np.ndarray | None = None, m: int = 0
) -> np.ndarray:
    """Share of the rows of each group that are flagged, or of those `among` them; NaN of no rows.

    Flags may be probabilities, or numbers of which the mean is taken; `among` may be weights. At
    least `m` groups are counted, coded from 0.
    """
    total = np.bincount(groups, weights=among, minlength=m)
    flagged = np.bincount(groups, flags if among is None else flags * among, minlength=m)
    shares = np.full(len(total), np.nan)
    np.divide(flagged, total, out=shares, where=total > 0)
    return shares


def shares_up_to(
    places: np.ndarray, groups: np.ndarray, *, among: np.ndarray | None = None, m: int = 0
) -> np.ndarray:
    """`group_shares` at or below every threshold, of shape (groups, places)."""
    m, n_places = max(m, int(groups.max()) + 1), int(places.max()) + 1
    at = np.bincount(groups * n_places + places, weights=among, minlength=m * n_places)
    below = at.reshape(m, n_places).cumsum(axis=1)
    shares = np.full(below.shape, np.nan)
    np.divide(below, below[:, -1:], out=shares, where=below[:, -1:] > 0)
    return shares


def _largest_gap(shares: np.ndarray) -> float:
    """Largest difference between two groups' shares; NaN where one of them is."""
    return float(shares.max() - shares.min())


def _rates(
    rate: str,
    y_pred: ArrayLike,
    sensitive_features: ArrayLike,
    y_true: ArrayLike | None,
    pos_label: Any,
    sample_weight: ArrayLike | None,
) -> np.ndarray:
    """Return a rate of every group; raise where one has no rows that it could be taken among."""
    flags = _is_positive(y_pred, pos_label, "y_pred")
    of_rows = {"y_pred": y_pred, "y_true": y_true}
    levels, groups, weight = _grouped(len(flags), sensitive_features, sample_weight, **of_rows)
    if rate == "selection rate":
        return group_shares(flags, groups, among=weight)
    among = _is_positive(y_true, pos_label, "y_true", n_rows=len(flags))
    lacking, remedy = (
        f"y_true has no positive ({pos_label!r})",
        "set pos_label to the positive label",
    )
    if rate == "false positive rate":
        among = 1 - among
        lacking, remedy = f"y_true has nothing but positives ({pos_label!r})", "pass more rows"
    elif rate == "precision":
        flags, among = among, flags
        lacking, remedy = f"y_pred has no positive ({pos_label!r})", "lower the threshold"
    counted = among if weight is None else among * weight
    shares = group_shares(flags, groups, among=counted)
    if np.isnan(shares).any():
        empty = int(np.isnan(shares).argmax())
        rows = np.count_nonzero(groups == empty if weight is None else weight[groups == empty])
        raise MissingTargetError(
            f"{lacking} among the {rows} rows of group {levels[empty]}, so its {rate} is 0/0. "
            f"Leave that group out, or {remedy}."
        )
    return shares


def _grouped(
    n_rows: int, sensitive_features: ArrayLike, sample_weight: ArrayLike | None, **beside: Any
) -> tuple[list[Any], np.ndarray, np.ndarray | None]:
    """Return levels, the group of each row, and weights; raise where a group has none."""
    check_frames(**beside, sensitive_features=sensitive_features, sample_weight=sample_weight)
    levels, groups = coded_levels(sensitive_features, n_rows, "sensitive_features")
    weight = row_weights(sample_weight, n_rows)
    if weight is not None and not (total := np.bincount(groups, weights=weight)).all():
        raise UsageError(
            f"sample_weight is zero in all rows of group {levels[int(total.argmin())]}, so none of "
            f"them counts. Leave that group out, or give its rows a weight."
        )
    return levels, groups, weight


def _is_positive(y: Any, pos_label: Any, name: str, n_rows: int | None = None) -> np.ndarray:
    values = present_values(y, np.shape(y)[0] if n_rows is None else n_rows, name)
    positive = rows_named(values, pos_label)
    at = int(np.argmin(positive)) if len(positive) else 0
    if np.any(~positive & (values != values[at : at + 1])):
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
