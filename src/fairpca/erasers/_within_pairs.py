"""Pairs: rows that differ in the attribute alone say best what has to go."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._attributes import (
    Levels,
    Numeric,
    advising,
    are_missing,
    as_array,
    check_frames,
    check_weights,
    read_attributes,
)
from ..errors import ResidualWarning, SingleGroupError, UsageError, warn_user


def within_pairs(
    sensitive_features: Any, pairs: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> dict[str, np.ndarray]:
    r"""Return what groups differ in within their pairs, to pass as `sensitive_features`.

    "He is a doctor" and "she is a doctor" differ in the attribute alone. An estimator that is
    fitted with these columns instead of the groups removes the direction from one twin to the
    other, on average over all pairs. Topics stay, also where one group has more texts of some.

    If every row has a twin of each other group, with the same weight, group means differ by just
    that, and groups are enough. Use this function where pairs are incomplete: some texts have no
    twin, or three paraphrases are paired with one. A "pair" may have any number of rows. It may be
    all texts of one topic or template, too; ``criterion="equalized_odds"`` of `fairpca.FairPCA`
    then removes a direction for each of them, and this function one for all.

    Parameters
    ----------
    sensitive_features : array-like, Series, frame or dict of columns
        Group of each of the n_samples rows, for any number of attributes. Two levels or more.
    pairs : array-like of shape (n_samples,)
        Which pair each row belongs to: a number, a text; None or NaN where it has no twin.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights >= 0, if the fit gets any: the same.

    Returns
    -------
    columns : dict of str to ndarray of shape (n_samples,)
        For each level its indicator, less the mean in the pair; of two levels that of the second.
        It is 0 for rows without a twin, which count for means and covariances of the fit alone.

    Warns
    -----
    ResidualWarning
        If a level is in no pair with another one: nothing is known about it, nor removed.

    See Also
    --------
    LEACE : Removes what the columns covary with.
    fairpca.FairPCA : Does, too, and reduces the dimension.

    Notes
    -----
    User guide: :doc:`/howto/embeddings`.

    The columns :math:`h` are orthogonal to all that is constant within pairs, so
    :math:`\sum_i w_i h_i x_i` is a sum of differences of twins. Fitted estimators call them
    numeric, and make them uncorrelated with the result; the means of the groups may still differ,
    by their topics. Whether one can tell the groups is measured with groups, not with these
    columns.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.erasers import MeanProjection, within_pairs
    >>> who = ["he", "she", "she", "she"]
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [-1.0, 9.0], [-1.0, 9.0]])  # two about nursing
    >>> columns = within_pairs(who, pairs=["doctor", "doctor", None, None])
    >>> columns
    {'sensitive=she': array([-0.5,  0.5,  0. ,  0. ])}
    >>> MeanProjection().fit_transform(X, sensitive_features=columns)[:, 1]
    array([0., 0., 9., 9.])
    """
    check_frames(sensitive_features=sensitive_features, pairs=pairs, sample_weight=sample_weight)
    values = as_array(pairs)
    attributes: list[Levels] = []
    with advising(()):
        read = read_attributes(sensitive_features, advise=False)
    for a in read:
        if isinstance(a, Numeric):
            raise UsageError(
                f"The sensitive attribute {a.name!r} has fractions, so it is a quantity, and twins "
                f"differ in a level. Pass levels, such as bands of it."
            )
        if values.shape != a.codes.shape:
            raise UsageError(
                f"pairs has shape {values.shape}, but the sensitive attribute {a.name!r} has "
                f"{len(a.codes)} entries. Pass one pair for each row."
            )
        attributes.append(a)
    weight = check_weights(sample_weight, len(values))
    weight = np.ones(len(values)) if weight is None else weight
    pair = _numbered(values)
    total = np.bincount(pair, weight)
    columns = {}
    for a in attributes:
        labels = list(enumerate(a.labels))
        alone = []
        for code, label in labels[1:] if len(labels) == 2 else labels:
            here = (a.codes == code).astype(float)
            share = np.bincount(pair, weight * here) / np.where(total > 0, total, 1.0)
            column = np.where(weight > 0, here - share[pair], 0.0)
            if np.abs(column).max() > _ROUNDING:
                columns[f"{a.name}={label}"] = column
            else:
                alone.append(label)
        if (len(labels) == 2 and alone) or len(alone) == len(labels):
            raise SingleGroupError(
                f"No pair has two levels of the sensitive attribute {a.name!r}, so that twins do "
                f"not differ in it. Give twins the same entry in pairs."
            )
        if alone:
            warn_user(
                f"The level(s) {alone} of the sensitive attribute {a.name!r} are in no pair with "
                f"another level, so what tells them is not removed. Add twins of them.",
                ResidualWarning,
            )
    return columns


_ROUNDING = 1e-12


def _numbered(values: np.ndarray) -> np.ndarray:
    """Return the number of each row's pair; a row without a pair has one of its own."""
    alone = are_missing(values)
    seen: dict[Any, int] = {}
    numbers = np.empty(len(values), dtype=np.intp)
    numbers[~alone] = [seen.setdefault(v, len(seen)) for v in values[~alone].tolist()]
    numbers[alone] = len(seen) + np.arange(np.count_nonzero(alone))
    return numbers
