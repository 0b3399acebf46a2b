"""What decisions do to groups: their rates, and how far these are apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._attributes import (
    check_frames,
    probability_columns,
    read_probabilities,
    rows_named,
)
from ..errors import MissingTargetError, UsageError
from ._inputs import coded_levels, present_values, row_weights, score_places
from ._strata import conditional_difference, strata_of

_ROUNDING = 1e-12  # by so much equal shares may differ


def select_top(
    scores: ArrayLike, rate: float, *, sample_weight: ArrayLike | None = None
) -> np.ndarray:
    """Select the rows with the highest scores, at the threshold nearest to a selection rate.

    This is how an audit decides: the rate is the share of positive rows in the training data. At a
    threshold of one half, a model of a rare outcome selects nobody, and shows no gap. Rows with
    equal scores get the same decision, none is random. Of all thresholds the one with the nearest
    rate is used, and of two equally near ones that with the larger rate.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Numbers that rise with the decision, ties and infinities included.
    rate : float in [0, 1]
        Share of all rows to select, or of their weight.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts.

    Returns
    -------
    decisions : ndarray of bool of shape (n_samples,)
        True for rows that are selected.

    See Also
    --------
    selection_rate_difference : What such decisions do to groups.

    Examples
    --------
    >>> from fairpca.metrics import select_top
    >>> select_top([0.1, 0.7, 0.4, 0.7, 0.2], rate=0.3).tolist()
    [False, True, False, True, False]
    """
    if not 0.0 <= rate <= 1.0:
        raise UsageError(
            f"rate={rate!r} is not a share of the rows. Pass a number from 0 (nobody) to 1 "
            f"(everybody)."
        )
    check_frames(scores=scores, sample_weight=sample_weight)
    place = score_places(scores, "scores")[1]
    at = np.bincount(place, weights=row_weights(sample_weight, len(place)))
    from_here = np.append(at[::-1].cumsum()[::-1], 0.0)
    distance = np.abs(from_here / from_here[0] - rate)
    return np.asarray(place >= np.argmax(distance <= distance.min() + _ROUNDING))


def selection_rate_difference(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    pos_label: Any = 1,
    sample_weight: ArrayLike | None = None,
    given: Any = None,
) -> float:
    """Return the same as fairlearn.metrics.selection_rate_difference: 0 is demographic parity.

    Largest difference between groups in the share of positive decisions.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or None
        True labels: ignored by selection rates, as in fairlearn, so that all metrics have the same
        arguments.
    y_pred : array-like of shape (n_samples,)
        Decisions, of two values at most; not scores.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_groups)
        Group of each row; floats with fractions are cut at their median. Several columns are the
        probabilities of groups, called by their columns: see `proxy_difference`.
    pos_label : object, default=1
        The positive label and decision.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts; only ratios matter.
    given : array-like, frame or dict, default=None
        Legitimate factors, as in `explained_difference`: groups are compared within their strata,
        and the difference is the largest that the factors leave unexplained.

    Returns
    -------
    difference : float
        Between 0 and 1.

    See Also
    --------
    selection_rate_ratio : The ratio of the same rates.
    true_positive_rate_difference : Compares the rows with a positive label.

    Examples
    --------
    >>> from fairpca.metrics import selection_rate_difference
    >>> sex = ["a", "a", "b", "b"]
    >>> selection_rate_difference([1, 0, 0, 1], [1, 1, 0, 1], sensitive_features=sex)
    0.5
    >>> selection_rate_difference(
    ...     None, [1, 1, 0, 1], sensitive_features=sex, sample_weight=[1, 1, 1, 3]
    ... )
    0.25
    """
    asked = y_true, y_pred, sensitive_features, pos_label, sample_weight
    return _difference("selection rate", *asked, given)


def selection_rate_ratio(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    pos_label: Any = 1,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the same as fairlearn.metrics.selection_rate_ratio: 1 is demographic parity.

    Smallest share of positive decisions of a group over the largest, known as disparate impact or
    adverse impact ratio. The four-fifths rule of the American guidelines on hiring takes less than
    0.8 as a sign of adverse impact.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or None
        True labels: ignored by selection rates, as in fairlearn, so that all metrics have the same
        arguments.
    y_pred : array-like of shape (n_samples,)
        Decisions, of two values at most; not scores.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_groups)
        Group of each row; floats with fractions are cut at their median. Several columns are the
        probabilities of groups, called by their columns: see `proxy_difference`.
    pos_label : object, default=1
        The positive label and decision.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts; only ratios matter.

    Returns
    -------
    ratio : float
        Between 0 and 1.

    Raises
    ------
    UsageError
        If nobody is selected: the ratio is then 0/0, where fairlearn returns NaN.

    See Also
    --------
    selection_rate_difference : The difference of the same rates.

    Notes
    -----
    Ratios depend on which decision is called positive: rates of 98 and 99 % have a ratio of 0.99,
    the rates of rejection, 2 and 1 %, one of 0.5. The difference is the same for both.

    Examples
    --------
    >>> from fairpca.metrics import selection_rate_ratio
    >>> selection_rate_ratio(None, [1, 1, 0, 1], sensitive_features=["a", "a", "b", "b"])
    0.5
    """
    asked = y_true, y_pred, sensitive_features, pos_label, sample_weight
    rates = _rates("selection rate", *asked)
    if rates.max() == 0:
        raise UsageError(
            f"y_pred selects ({pos_label!r}) nobody in {np.shape(y_pred)[0]} rows, or nobody who "
            f"counts, so the ratio of selection rates is 0/0. Lower the threshold, or set "
            f"pos_label to the positive decision."
        )
    return float(rates.min() / rates.max())


def true_positive_rate_difference(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    pos_label: Any = 1,
    sample_weight: ArrayLike | None = None,
    given: Any = None,
) -> float:
    """Return the same as fairlearn.metrics.true_positive_rate_difference: 0 is equal opportunity.

    Largest difference between groups in the share of positives that are predicted to be positive.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, of two values at most. Every group needs a row with a positive one.
    y_pred : array-like of shape (n_samples,)
        Decisions, of two values at most; not scores.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_groups)
        Group of each row; floats with fractions are cut at their median. Several columns are the
        probabilities of groups, called by their columns: see `proxy_difference`.
    pos_label : object, default=1
        The positive label and decision.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts; only ratios matter.
    given : array-like, frame or dict, default=None
        Legitimate factors, as in `explained_difference`: groups are compared within their strata,
        and the difference is the largest that the factors leave unexplained.

    Returns
    -------
    difference : float
        Between 0 and 1.

    Raises
    ------
    MissingTargetError
        If a group has no row whose true label is positive; fairlearn takes its rate as 0.

    See Also
    --------
    selection_rate_difference : Compares all rows.
    false_positive_rate_difference : Compares the rows whose label is not positive.

    Examples
    --------
    >>> from fairpca.metrics import true_positive_rate_difference
    >>> sex = ["a", "a", "b", "b"]
    >>> true_positive_rate_difference([1, 0, 1, 1], [1, 1, 0, 1], sensitive_features=sex)
    0.5
    """
    asked = y_true, y_pred, sensitive_features, pos_label, sample_weight
    return _difference("true positive rate", *asked, given)


def false_positive_rate_difference(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    pos_label: Any = 1,
    sample_weight: ArrayLike | None = None,
    given: Any = None,
) -> float:
    """Return the same as fairlearn.metrics.false_positive_rate_difference.

    Largest difference between groups in the share of negatives that are predicted to be positive.
    With `true_positive_rate_difference`, 0 of both is equalized odds.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, of two values at most. Every group needs a row with one that is not positive.
    y_pred : array-like of shape (n_samples,)
        Decisions, of two values at most; not scores.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_groups)
        Group of each row; floats with fractions are cut at their median. Several columns are the
        probabilities of groups, called by their columns: see `proxy_difference`.
    pos_label : object, default=1
        The positive label and decision.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts; only ratios matter.
    given : array-like, frame or dict, default=None
        Legitimate factors, as in `explained_difference`: groups are compared within their strata,
        and the difference is the largest that the factors leave unexplained.

    Returns
    -------
    difference : float
        Between 0 and 1.

    Raises
    ------
    MissingTargetError
        If all rows of a group are positive; fairlearn takes its rate as 0.

    See Also
    --------
    precision_difference : Compares the rows that are selected.

    Examples
    --------
    >>> from fairpca.metrics import false_positive_rate_difference
    >>> sex = ["a", "a", "b", "b"]
    >>> false_positive_rate_difference([1, 0, 0, 1], [1, 1, 0, 1], sensitive_features=sex)
    1.0
    """
    asked = y_true, y_pred, sensitive_features, pos_label, sample_weight
    return _difference("false positive rate", *asked, given)


def precision_difference(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    pos_label: Any = 1,
    sample_weight: ArrayLike | None = None,
    given: Any = None,
) -> float:
    """Return the largest difference between groups in precision: 0 is predictive parity.

    Precision is the share of positive decisions that are right. Where groups have different shares
    of positives, no model that errs has both predictive parity and equalized odds. It is the
    difference of a fairlearn MetricFrame of scikit-learn's precision_score.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, of two values at most.
    y_pred : array-like of shape (n_samples,)
        Decisions, of two values at most; not scores. Every group needs a
        selected row.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_groups)
        Group of each row; floats with fractions are cut at their median. Several columns are the
        probabilities of groups, called by their columns: see `proxy_difference`.
    pos_label : object, default=1
        The positive label and decision.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts; only ratios matter.
    given : array-like, frame or dict, default=None
        Legitimate factors, as in `explained_difference`: groups are compared within their strata,
        and the difference is the largest that the factors leave unexplained.

    Returns
    -------
    difference : float
        Between 0 and 1.

    Raises
    ------
    MissingTargetError
        If nobody of a group is selected.

    See Also
    --------
    false_positive_rate_difference : Compares the rows whose label is not positive.

    Examples
    --------
    >>> from fairpca.metrics import precision_difference
    >>> sex = ["a", "a", "b", "b"]
    >>> precision_difference([1, 0, 0, 1], [1, 1, 0, 1], sensitive_features=sex)
    0.5
    """
    asked = y_true, y_pred, sensitive_features, pos_label, sample_weight
    return _difference("precision", *asked, given)


def mean_prediction_difference(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    sample_weight: ArrayLike | None = None,
    given: Any = None,
) -> float:
    """Return the largest difference between groups' mean predictions of a continuous target.

    It is the difference of a fairlearn MetricFrame of fairlearn.metrics.mean_prediction.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or None
        True values: ignored, as in fairlearn.
    y_pred : array-like of shape (n_samples,)
        Predictions, or the true values for the difference in the data.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_groups)
        Group of each row; floats with fractions are cut at their median. Several columns are the
        probabilities of groups, called by their columns: see `proxy_difference`.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts; only ratios matter.
    given : array-like, frame or dict, default=None
        Legitimate factors, as in `explained_difference`: groups are compared within their strata,
        and the difference is the largest that the factors leave unexplained.

    Returns
    -------
    difference : float
        In the units of `y_pred`.

    See Also
    --------
    distribution_gap : Compares whole distributions.

    Examples
    --------
    >>> from fairpca.metrics import mean_prediction_difference
    >>> wages, sex = [10.0, 14.0, 9.0, 10.0], ["m", "m", "f", "f"]
    >>> mean_prediction_difference(None, wages, sensitive_features=sex)
    2.5
    """
    found, place = score_places(y_pred, "y_pred")
    _check_finite(found)
    _, groups, weight, at = members(y_true, y_pred, sensitive_features, sample_weight)
    values = found[place[at]]
    if given is not None:
        strata = strata_of(given, len(place)).at(at)
        return conditional_difference(values, groups, strata, weight)
    return largest_difference(group_shares(values, groups, among=weight))


def distribution_gap(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the largest difference between groups' shares above a threshold, over all thresholds.

    The Kolmogorov distance of the groups' distributions: 0 where every threshold selects the same
    share of each group, 1 where some threshold separates two groups.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or None
        True values: ignored, as in fairlearn.
    y_pred : array-like of shape (n_samples,)
        Predictions or scores, ties and infinities included.
    sensitive_features : array-like of shape (n_samples,) or (n_samples, n_groups)
        Group of each row; floats with fractions are cut at their median. Several columns are the
        probabilities of groups, called by their columns: see `proxy_difference`.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts; only ratios matter.

    Returns
    -------
    gap : float
        Between 0 and 1.

    See Also
    --------
    certified_gap : Bounds the gap in the population.

    Examples
    --------
    >>> from fairpca.metrics import distribution_gap
    >>> wages, sex = [10.0, 14.0, 9.0, 10.0], ["m", "m", "f", "f"]
    >>> distribution_gap(None, wages, sensitive_features=sex)
    0.5
    """
    place = score_places(y_pred, "y_pred")[1]
    _, groups, weight, at = members(y_true, y_pred, sensitive_features, sample_weight)
    return float(np.ptp(shares_up_to(place[at], groups, among=weight), axis=0).max())


def group_shares(
    flags: np.ndarray, groups: np.ndarray, *, among: np.ndarray | None = None, m: int = 0
) -> np.ndarray:
    """Return the share of each group's rows (`among` some) that are flagged; NaN of no rows.

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


def largest_difference(shares: np.ndarray) -> float:
    """Return the largest difference between two groups' shares; NaN where one of them is."""
    return float(shares.max() - shares.min())


def _rates(
    rate: str,
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    sensitive_features: ArrayLike,
    pos_label: Any,
    sample_weight: ArrayLike | None,
) -> np.ndarray:
    """Return a rate of every group; raise where one has no rows that it could be taken among."""
    flags, groups, counted, _ = _counted(
        rate, y_true, y_pred, sensitive_features, pos_label, sample_weight
    )
    return group_shares(flags, groups, among=counted)


def _difference(rate: str, *asked: Any) -> float:
    """Return the largest difference of a rate, perhaps within strata of what is given."""
    *rows, given = asked
    if given is None:
        return largest_difference(_rates(rate, *rows))
    flags, groups, counted, at = _counted(rate, *rows)
    strata = strata_of(given, len(rows[1])).at(at)
    return conditional_difference(flags, groups, strata, counted)


def _counted(
    rate: str,
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    sensitive_features: ArrayLike,
    pos_label: Any,
    sample_weight: ArrayLike | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray]:
    """Return what a rate is the mean of, the groups, how much each entry counts, and whose it is.

    The entries are people, or a person in each group that the person may belong to.
    """
    flags = _is_positive(y_pred, pos_label, "y_pred")
    levels, groups, weight, at = members(y_true, y_pred, sensitive_features, sample_weight)
    n_rows, flags = len(flags), flags[at]
    if rate == "selection rate":
        return flags, groups, weight, at
    among = _is_positive(y_true, pos_label, "y_true", n_rows=n_rows)[at]
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
    if not (there := np.bincount(groups, weights=counted)).all():
        empty = int(there.argmin())
        rows = np.count_nonzero(groups == empty if weight is None else weight[groups == empty])
        raise MissingTargetError(
            f"{lacking} among the {rows} rows of group {levels[empty]}, so its {rate} is 0/0. "
            f"Leave that group out, or {remedy}."
        )
    return flags, groups, counted, at


def as_means(y_pred: ArrayLike, pos_label: Any = None) -> tuple[bool, np.ndarray]:
    """Return whether predictions are decisions, and these as numbers of which means are taken."""
    if pos_label is not None:
        return True, _is_positive(y_pred, pos_label, "y_pred").astype(float)
    found, place = score_places(y_pred, "y_pred")
    _check_finite(found)
    return set(found.tolist()) <= {0, 1}, found[place].astype(float)


def _check_finite(found: np.ndarray) -> None:
    if not np.isfinite(found[[0, -1]]).all():
        raise UsageError(
            "y_pred has infinite values, which have no mean. Leave them out, or pass numbers."
        )


def grouped(
    y_true: Any, y_pred: Any, sensitive_features: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[list[Any], np.ndarray, np.ndarray | None]:
    """Return levels, the group of each row, and weights; raise where a group has none."""
    n_rows = len(y_pred)
    check_frames(
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
    )
    levels, groups = coded_levels(sensitive_features, n_rows, "sensitive_features")
    weight = row_weights(sample_weight, n_rows)
    if weight is not None and not (total := np.bincount(groups, weights=weight)).all():
        raise UsageError(
            f"sample_weight is zero in all rows of group {levels[int(total.argmin())]}, so none of "
            f"them counts. Leave that group out, or give its rows a weight."
        )
    return levels, groups, weight


def members(
    y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: ArrayLike | None
) -> tuple[list[Any], np.ndarray, np.ndarray | None, np.ndarray]:
    """Return levels, and of each member of a group the group, the weight and the row.

    Of probabilities, a row is a member of each group that it may belong to, with a weight that is
    the probability (Chen, Kallus, Mao, Svacha and Udell, 2019).
    """
    asked = y_true, y_pred, sensitive_features, sample_weight
    if (found := probable_groups(*asked)) is None:
        return *grouped(*asked), np.arange(len(y_pred))
    levels, P, weight = found
    P = P * weight[:, None]
    groups, at = np.nonzero(P.T)
    return levels, groups, P[at, groups], at


def probable_groups(
    y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: ArrayLike | None
) -> tuple[list[Any], np.ndarray, np.ndarray] | None:
    """Return levels, their probabilities (n, levels), and weights; None of one group per row."""
    check_frames(
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
    )
    columns, n_rows = probability_columns(sensitive_features), len(y_pred)
    if columns is None:
        return None
    P = read_probabilities(columns, n_rows, "sensitive_features")
    weight = row_weights(sample_weight, n_rows)
    weight = np.ones(n_rows) if weight is None else weight
    check_each_counts(list(columns), weight @ P)
    return list(columns), P, weight


def check_each_counts(levels: Sequence[Any], total: np.ndarray) -> None:
    """Raise where the weights of a group come to nothing."""
    if not total.all():
        raise UsageError(
            f"sample_weight is zero in all rows that may belong to group "
            f"{levels[int(total.argmin())]!r}, so none of them counts. Leave that group out, or "
            f"give its rows a weight."
        )


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
