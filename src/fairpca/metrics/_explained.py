"""How much of a difference between groups legitimate factors explain, and how much they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from ..errors import UsageError
from ._parity import as_means, grouped
from ._strata import Cells, Number, strata_of


@dataclass(frozen=True)
class ExplainedDifference:
    """Result of `explained_difference`: a gap in parts, each with its interval.

    Attributes
    ----------
    groups : tuple of (object, object)
        The two groups that are compared: the one with the higher rate, or mean, first.
    difference : float
        How much higher it is: the sum of the three parts that follow.
    explained : float
        What remains where people of the same stratum are treated alike, and groups differ only in
        how they are distributed over the strata.
    unexplained : float
        What remains where groups are distributed alike: the conditional difference.
    unmatched : float
        What people without a counterpart add: those whose stratum has nobody of the other group.
        Of them nobody can say whether the factors explain anything.
    without_counterpart : tuple of (float, float)
        Share of such people in either group.
    difference_interval : tuple of (float, float)
        Confidence interval of the difference.
    explained_interval : tuple of (float, float)
        That of the explained part.
    unexplained_interval : tuple of (float, float)
        That of the unexplained part.
    unmatched_interval : tuple of (float, float)
        That of what people without a counterpart add.
    confidence : float
        How often such an interval holds the number in the population.
    n_strata : int
        Strata with people of both groups.

    See Also
    --------
    explained_difference : Returns it.

    Examples
    --------
    >>> from fairpca.metrics import explained_difference
    >>> found = explained_difference(
    ...     None,
    ...     [1, 1, 1, 0, 1, 0, 0, 0],
    ...     sensitive_features=["m", "m", "m", "m", "f", "f", "f", "f"],
    ...     given=["rich", "rich", "rich", "poor", "rich", "poor", "poor", "poor"],
    ... )
    >>> found.difference, found.explained, found.unexplained, found.unmatched
    (0.5, 0.5, 0.0, 0.0)
    """

    groups: tuple[Any, Any]
    difference: float
    explained: float
    unexplained: float
    unmatched: float
    without_counterpart: tuple[float, float]
    difference_interval: tuple[float, float]
    explained_interval: tuple[float, float]
    unexplained_interval: tuple[float, float]
    unmatched_interval: tuple[float, float]
    confidence: float
    n_strata: int

    def __str__(self) -> str:
        high, low = self.groups
        told = [
            f"{value:.3f} {name} [{ends[0]:.3f}, {ends[1]:.3f}]"
            for name, value, ends in (
                ("explained", self.explained, self.explained_interval),
                ("unexplained", self.unexplained, self.unexplained_interval),
                ("of people without a counterpart", self.unmatched, self.unmatched_interval),
            )
            if "counterpart" not in name or any(self.without_counterpart)
        ]
        return f"{high} above {low} by {self.difference:.3f} = {' + '.join(told)}"


def explained_difference(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    given: Any,
    pos_label: Any = None,
    between: tuple[Any, Any] | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
) -> ExplainedDifference:
    r"""Split the difference between two groups into what legitimate factors explain, and the rest.

    A difference in decisions may come from a factor that may count, such as income, in which
    groups differ. People are compared within strata of such factors. Which factors are legitimate
    is a decision of people, not of this function: a factor that stands in for the group explains
    every difference away. Measure how well it predicts the group (`leakage`), and write down who
    decided.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or None
        True labels: ignored, as in fairlearn. For true positive rates, pass the rows whose label
        is positive.
    y_pred : array-like of shape (n_samples,)
        Decisions as 0 and 1, or predictions, whose means are compared.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row; floats with fractions are cut at their median.
    given : array-like of shape (n_samples,) or (n_samples, n_factors), frame or dict
        Legitimate factors. People are alike who agree in all of them. Texts and categories are
        levels; numbers of more than 10 values are cut into bands (see Notes). Missing values are a
        stratum of their own.
    pos_label : object, default=None
        The positive decision, where `y_pred` has others than 0 and 1.
    between : tuple of (object, object), default=None
        Two groups; by default those with the highest and the lowest rate.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts; only ratios matter.
    confidence : float, default=0.95
        Level of the intervals.

    Returns
    -------
    found : ExplainedDifference
        The parts, which add up to the difference, with intervals.

    Raises
    ------
    UsageError
        If a factor has one value only, or another one in every row, or if no stratum has people of
        both groups.

    See Also
    --------
    selection_rate_difference : Takes `given`, too: the largest conditional difference.
    leakage : Says how well a factor predicts the groups.

    Notes
    -----
    With the shares :math:`p_{as}` of the strata s in group a, and rates :math:`r_{as}` (Kitagawa
    1955; Oaxaca and Blinder 1973; for decisions Zliobaite, Kamiran and Calders 2011),

    .. math::
        r_a - r_b = \underbrace{\sum_s (p_{as} - p_{bs}) \frac{r_{as} + r_{bs}}{2}}_{explained}
        + \underbrace{\sum_s \frac{p_{as} + p_{bs}}{2} (r_{as} - r_{bs})}_{unexplained}.

    Strata in which one of the groups has nobody are set apart first, as Nopo (2008) does. Of n
    people a numeric factor has :math:`n^{1/3}` bands of equally many, each of p numeric factors
    :math:`n^{1/(2+p)}`; a band in which one of the groups has nobody joins the nearest one, if it
    is at most a quarter of the bands away. People still differ within a band, and what comes of
    that is called unexplained: in a test where all was explained, 5 % of the difference with 300
    people, 2 % with 2,000 and 1 % with 12,000, less than the error. Bands of your own may be passed
    instead. Intervals are those of the linearised parts; in simulations with two and five groups,
    95 % intervals of both parts held the truth in 92 to 98 % of cases. Keep one row of every
    person.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.metrics import explained_difference
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=4000)
    >>> income = rng.normal(size=4000) + (sex == "m")
    >>> approved = income + 0.3 * (sex == "m") + rng.normal(size=4000) > 0.5
    >>> print(explained_difference(None, approved, sensitive_features=sex, given=income))
    m above f by 0.382 = 0.292 explained [0.273, 0.312] + 0.089 unexplained [0.063, 0.116]
    """
    if not 0.0 < confidence < 1.0:
        raise UsageError(f"confidence={confidence} must be between 0 and 1; 0.95 is usual.")
    flags, z = as_means(y_pred, pos_label)
    levels, groups, weight = grouped(y_true, y_pred, sensitive_features, sample_weight)
    cells = Cells.of(z, groups, strata_of(given, len(z)), weight, flags=flags)
    means = cells.means
    a, b = int(np.argmax(means)), int(np.argmin(means))
    if a == b:
        b = (a + 1) % len(levels)
    if between is not None:
        a, b = sorted(places_between(between, levels), key=lambda g: -means[g])
    parts = cells.split(a, b)
    if parts is None:
        raise UsageError(
            f"No stratum of given has people of {levels[a]} and of {levels[b]}, so nobody has a "
            f"counterpart to be compared with. Use fewer or coarser factors."
        )

    def ends(part: Number) -> tuple[float, float]:
        reach = float(norm.ppf(0.5 + confidence / 2)) * part[1]
        return part[0] - reach, part[0] + reach

    return ExplainedDifference(
        groups=(levels[a], levels[b]),
        difference=parts.difference[0],
        explained=parts.explained[0],
        unexplained=parts.unexplained[0],
        unmatched=parts.unmatched[0],
        without_counterpart=parts.without_counterpart,
        difference_interval=ends(parts.difference),
        explained_interval=ends(parts.explained),
        unexplained_interval=ends(parts.unexplained),
        unmatched_interval=ends(parts.unmatched),
        confidence=confidence,
        n_strata=parts.n_strata,
    )


def places_between(between: tuple[Any, Any], levels: Sequence[Any]) -> list[int]:
    """Return the places of two different groups among the levels."""
    unknown = [one for one in between if one not in levels]
    if unknown or len(between) != 2 or between[0] == between[1]:
        raise UsageError(
            f"between={between!r} must be two groups of sensitive_features, which has "
            f"{', '.join(map(repr, levels[:20]))}."
        )
    return [levels.index(one) for one in between]
