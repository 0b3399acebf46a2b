"""The paper's measure of fairness: the errors of a linear classifier of the attribute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import UsageError
from ._inputs import finite_rows, integer_levels, median_threshold, present_values
from ._probes import as_classifier


def linear_inseparability(
    T: ArrayLike,
    attribute: ArrayLike,
    *,
    T_test: ArrayLike | None = None,
    attribute_test: ArrayLike | None = None,
) -> float:
    """Error rate of a linear classifier that predicts the attribute; higher is fairer.

    The classifier is scikit-learn's LogisticRegression on standardised columns. The error rate
    depends on the group sizes: always answering the larger group errs only on the smaller one,
    so a rare group looks fairly treated in any representation that lets few rows be told apart.
    `leakage` does not depend on them, and says what chance gives.

    Parameters
    ----------
    T : array of shape (n, k)
        Representation of the rows the classifier is trained on.
    attribute : array of shape (n,)
        Their levels; numeric attributes are split as in `leakage`.
    T_test, attribute_test : arrays of shape (n', k) and (n',), optional
        Rows to count the errors on. Without them the errors are those on the training rows.

    Returns
    -------
    error_rate : float

    Examples
    --------
    >>> from fairpca.metrics import linear_inseparability
    >>> T = [[0.0], [1.0], [2.0], [3.0]]
    >>> linear_inseparability(T, ["a", "a", "b", "b"])
    0.0
    >>> linear_inseparability(T, ["a", "a", "b", "b"], T_test=[[0.5]], attribute_test=["b"])
    1.0
    """
    if (T_test is None) != (attribute_test is None):
        given, absent = ("T_test", "attribute_test")[:: 1 if attribute_test is None else -1]
        raise UsageError(
            f"{given} was given without {absent}, and errors on held-out rows need both. Pass "
            f"both, or neither to count the errors on the training rows."
        )
    T = finite_rows(T)
    values = present_values(attribute, len(T), "attribute")
    threshold = median_threshold(values)
    levels, codes = integer_levels(values if threshold is None else values > threshold, "attribute")
    classifier = as_classifier("linear")[1].fit(T, codes)
    if T_test is None or attribute_test is None:
        return float(np.mean(classifier.predict(T) != codes))

    T_test = finite_rows(T_test)
    held_out = present_values(attribute_test, len(T_test), "attribute_test")
    codes_test = _known_levels(held_out if threshold is None else held_out > threshold, levels)
    return float(np.mean(classifier.predict(T_test) != codes_test))


def _known_levels(values: np.ndarray, levels: Sequence[Any]) -> np.ndarray:
    position = {level: code for code, level in enumerate(levels)}
    unknown = [value for value in dict.fromkeys(values.tolist()) if value not in position]
    if unknown:
        raise UsageError(
            f"attribute_test has {len(unknown)} level(s) that attribute lacks, such as "
            f"{unknown[0]!r}, and the classifier cannot predict what it never saw. Train on rows "
            f"of all levels, or drop those test rows."
        )
    return np.array([position[value] for value in values.tolist()])
