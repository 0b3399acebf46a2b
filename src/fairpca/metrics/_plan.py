"""How much of a linear difference between groups any linear eraser must leave on new people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, exp, expm1, inf, sqrt
from numbers import Integral, Real
from reprlib import repr as brief

from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from ..errors import UsageError

_MOST = 1e15  # people, columns: more than this are neither taken nor looked for
_FARTHEST = 100.0  # separation; no two people of different groups overlap long before


@dataclass(frozen=True)
class Plan:
    """Result of `plan`: what a linear eraser fitted to so many people leaves, and what would do.

    Attributes
    ----------
    people : tuple of float
        People per group.
    columns : int
        Columns before the attribute is removed.
    n_components : int
        Directions that are kept: all columns but one for each group but one, or fewer.
    auc : float
        AUC of the best linear model before the attribute is removed.
    separation : float
        The same as a distance of means, in standard deviations within groups (Mahalanobis).
    share_left : float
        Expected share of the squared separation that is left among new people.
    auc_left : float
        AUC of the best linear model among new people afterwards; with `trained_on`, as `auc`, of
        one that has learned from so many.
    target_auc : float or None
        The AUC that was asked for.
    people_needed : tuple of int or None
        People per group, in the same proportions, with whom `target_auc` is reached.
    n_components_allowed : int or None
        With these people, the most components that reach it; 0 if one is too many.
    columns_allowed : int or None
        With these people, the most columns that reach it if these few columns separate the groups
        as well as all; 0 if there is no such number.

    See Also
    --------
    plan : Returns it.

    Examples
    --------
    >>> from fairpca.metrics import plan
    >>> planned = plan([150, 850], columns=384, auc=0.9, target_auc=0.6)
    >>> planned.people_needed, planned.n_components_allowed
    ((3374, 19116), 31)
    """

    people: tuple[float, ...]
    columns: int
    n_components: int
    auc: float
    separation: float
    share_left: float
    auc_left: float
    target_auc: float | None = None
    people_needed: tuple[int, ...] | None = None
    n_components_allowed: int | None = None
    columns_allowed: int | None = None

    def __str__(self) -> str:
        kept = f"{self.columns:,} columns"
        if self.n_components < self.columns - len(self.people) + 1:
            kept = f"{self.n_components:,} components of {kept}"
        smallest = "the group" if len(self.people) == 2 else "the smallest group"
        text = (
            f"With {_listed(self.people)} people and {kept}, the best linear model still predicts "
            f"{smallest} of new people with AUC {self.auc_left:.2f} ({self.auc:.2f} before): "
            f"linear erasers leave {self.share_left:.0%} of the squared separation on average."
        )
        if self.target_auc is None or self.people_needed is None:
            return text
        ways = [f"{_listed(self.people_needed)} people"]
        if self.n_components_allowed:
            ways += [f"{self.n_components_allowed:,} components (FairPCA)"]
        if self.columns_allowed:
            ways += [f"{self.columns_allowed:,} columns that separate the groups as well"]
        return f"{text} For AUC {self.target_auc:.2f}: {', or '.join(ways)}."


def plan(
    people: Sequence[float],
    *,
    columns: int,
    auc: float | None = None,
    separation: float | None = None,
    n_components: int | None = None,
    target_auc: float | None = None,
    trained_on: Sequence[float] | None = None,
) -> Plan:
    r"""Predict the AUC that any linear eraser leaves on new people, before data are collected.

    An eraser removes the difference of means of the people it was fitted to. Among new people the
    difference lies elsewhere, by chance: the further, the fewer people there are for each column.
    No linear eraser can do better on average, and mean projection, SAL and LEACE all do as well.

    Count people, not rows: ten texts of one author are about one person.

    Parameters
    ----------
    people : sequence of float
        Number of people in each group, two groups or more. With more, the prediction is for the
        smallest group against the rest.
    columns : int
        Number of columns that vary (after encoding: a category with five levels has four).
    auc : float or None, default=None
        AUC with which a linear model predicts the group before, from very many people; from a
        pilot, or from others' data. This or `separation` is needed.
    separation : float or None, default=None
        Distance of the two means in standard deviations within groups (Mahalanobis).
    n_components : int or None, default=None
        Number of components that `fairpca.FairPCA` keeps; by default all directions that an eraser
        leaves, ``columns - len(people) + 1``.
    target_auc : float or None, default=None
        Largest AUC that is accepted afterwards: the result also has the people, the components
        and the columns with which it is reached.
    trained_on : sequence of float or None, default=None
        People per group that the linear model learns from, whose AUC `auc` and `auc_left` are; by
        default any number. One that learns from few finds less, before and after. To compare a
        plan with an AUC that was measured, pass the people of that measurement (with five folds,
        four fifths of them).

    Returns
    -------
    planned : Plan
        The AUC left and what it would take; `print` gives it in sentences.

    See Also
    --------
    leakage : Measures on held-out people what is left.

    Notes
    -----
    User guide: :doc:`/howto/plan`.

    With normal groups of equal covariance, a separation :math:`\theta` and :math:`n_1` and
    :math:`n_0` people, the expected share of :math:`\theta^2` that is left in `k` of `d` directions
    is [1]_

    .. math:: k \, E\Big[\frac{1}{d + 2J}\Big], \quad J \sim \mathrm{Poisson}(\kappa / 2), \quad
        \kappa = \frac{\theta^2}{1/n_1 + 1/n_0},

    for any covariance, since columns can be whitened first. For all :math:`k = d - 1` directions it
    is exact. For fewer it takes the kept directions to be unrelated to the difference. Then
    :math:`AUC = \Phi(\theta/\sqrt2)`. A linear model that learns from few people finds the
    direction of the difference as badly as an eraser does: of :math:`\theta^2` it misses the share
    that erasing would leave, and, as it learns the covariance, too, the share :math:`d / n`. Groups
    of different covariances, rare categories, heavy tails and new people of another kind (other
    topics, other years) are not in the law. :doc:`/research/method` derives it.

    References
    ----------
    .. [1] Aimoldin et al. "Detecting a shift is not enough". 2026.

    Examples
    --------
    >>> from fairpca.metrics import plan
    >>> print(plan([150, 850], columns=384, auc=0.9, target_auc=0.6))
    With 150 and 850 people and 384 columns, the best linear model still predicts the group of new
    people with AUC 0.81 (0.90 before): linear erasers leave 48% of the squared separation on
    average. For AUC 0.60: 3,374 and 19,116 people, or 31 components (FairPCA), or 17 columns that
    separate the groups as well.
    """
    sizes = _sizes(people)
    removed = len(sizes) - 1
    _check_whole("columns", columns, len(sizes), f"{len(sizes)} groups cost {removed}, one is left")
    most = columns - removed
    k = most if n_components is None else n_components
    _check_whole("n_components", k, 1)
    if k > most:
        raise UsageError(
            f"n_components={k} is too large: {len(sizes)} groups cost {removed} of {columns} "
            f"columns. Use at most {most}."
        )
    probed = None if trained_on is None else _sizes(trained_on, "trained_on")
    theta = _separation(auc, separation)
    if auc is not None and probed is not None:
        theta = _separation_behind(float(auc), columns, probed)
    kappa = _kappa(theta, sizes)
    raw = _auc_of(_found(theta, columns, probed)) if auc is None else float(auc)
    share = share_left(k, columns, kappa)
    planned = Plan(
        people=sizes,
        columns=int(columns),
        n_components=int(k),
        auc=raw,
        separation=theta,
        share_left=share,
        auc_left=_auc_of(_found(theta * sqrt(share), k, probed)),
    )
    if target_auc is None:
        return planned
    if probed is not None:
        raise UsageError(
            "target_auc and trained_on are both given, but a target is an AUC that no linear model "
            "exceeds, whatever it learns from. Pass one of them."
        )
    if not (_is_number(target_auc) and 0.5 < target_auc < raw):
        raise UsageError(
            f"target_auc={target_auc!r} is not strictly between 0.5, which takes infinitely many "
            f"people, and {raw:.3g}, the AUC before. Pass a number between them."
        )
    wanted = (_separation(target_auc, None) / theta) ** 2
    more = _times_more(lambda times: share_left(k, columns, times * kappa) - wanted)
    return replace(
        planned,
        target_auc=float(target_auc),
        people_needed=tuple(max(1, ceil(more * n)) for n in sizes),
        n_components_allowed=min(most, int(wanted / share_left(1, columns, kappa))),
        columns_allowed=_most_columns(removed, kappa, wanted),
    )


def share_left(n_components: int, columns: int, kappa: float) -> float:
    """Return the expected share of squared separation left; `kappa` is that of the estimate.

    With x in units of the integrand's width, E[1/(d + 2J)] is the integral of t^(d + 2J - 1) over
    (0, 1), averaged over J; nothing in it cancels, however large `kappa` is.
    """
    scale = columns + kappa

    def integrand(x: float) -> float:
        return exp((kappa * expm1(-2 * x / scale) / 2) - columns * x / scale)

    area, _ = quad(integrand, 0.0, inf, epsabs=0.0, epsrel=1e-11, limit=200)
    return float(n_components * area / scale)


def _kappa(separation: float, people: Sequence[float]) -> float:
    """Return the noncentrality of the difference, the smallest group against the rest."""
    smallest, total = min(people), sum(people)
    return separation**2 / (1 / smallest + 1 / (total - smallest))


def _found(separation: float, columns: int, people: Sequence[float] | None) -> float:
    """Return the separation along the direction that a linear model learns from people."""
    if people is None:
        return separation
    missed = share_left(columns - 1, columns, _kappa(separation, people))
    known = max(0.0, 1 - columns / sum(people))
    return separation * sqrt(max(0.0, 1 - missed) * known)


def _separation_behind(auc: float, columns: int, people: Sequence[float]) -> float:
    """Return the separation of which a linear model of so many people finds this AUC."""

    def excess(separation: float) -> float:
        return _auc_of(_found(separation, columns, people)) - auc

    if excess(_FARTHEST) < 0:
        raise UsageError(
            f"auc={auc} is more than linear models find that learn {columns} columns from "
            f"{sum(people):g} people, whatever the groups are. Pass more people as trained_on, or "
            f"leave it out."
        )
    return float(brentq(excess, 0.0, _FARTHEST, xtol=1e-12))


def _auc_of(separation: float) -> float:
    return float(norm.cdf(separation / sqrt(2)))


def _separation(auc: float | None, separation: float | None) -> float:
    if (auc is None) == (separation is None):
        given = "neither is" if auc is None else "both are"
        raise UsageError(f"Of auc and separation, {given} given. Pass one of them.")
    if separation is not None:
        if not (isinstance(separation, Real) and 0 < separation <= _FARTHEST):
            raise UsageError(
                f"separation={separation!r} is not a number above 0, up to {_FARTHEST:g} standard "
                f"deviations. Pass such a one."
            )
        return float(separation)
    if not (isinstance(auc, Real) and 0.5 < auc < 1):
        raise UsageError(
            f"auc={auc!r} is not strictly between 0.5 (nothing to remove) and 1 (groups that never "
            f"overlap). Pass a number between them, such as 0.8."
        )
    return float(sqrt(2) * norm.ppf(float(auc)))


def _sizes(people: Sequence[float], name: str = "people") -> tuple[float, ...]:
    try:
        sizes = tuple(people)
    except TypeError:
        sizes = ()
    numbers = [n for n in sizes if _is_number(n) and 1 <= n <= _MOST]
    if isinstance(people, str) or len(numbers) < len(sizes) or len(sizes) < 2:
        raise UsageError(
            f"{name}={brief(people)} is not a number of 1 or more (up to {_MOST:g}) for each of "
            f"two or more groups. Pass for example {name}=[150, 850]."
        )
    return tuple(int(n) if n == int(n) else float(n) for n in numbers)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _check_whole(name: str, value: object, least: int, because: str = "") -> None:
    if (
        isinstance(value, bool)
        or not isinstance(value, Integral)
        or not least <= int(value) <= _MOST
    ):
        reason = f" ({because})" if because else ""
        raise UsageError(
            f"{name}={brief(value)} is not a whole number from {least}{reason} to {_MOST:g}."
        )


def _times_more(excess: Callable[[float], float]) -> float:
    """Return how many times as many people it takes; 0 if any number of them will do."""
    low, high = 1e-12, 1.0
    if excess(low) <= 0:
        return 0.0
    while excess(high) > 0:
        high *= 4
        if high > _MOST:
            raise UsageError(
                "target_auc is so close to 0.5 that no number of people reaches it. Pass a larger "
                "one."
            )
    return float(brentq(excess, low, high, rtol=1e-12))


def _most_columns(removed: int, kappa: float, wanted: float) -> int:
    """Return the largest d with no more than the wanted share left; 0 if there is none."""

    def enough(columns: int) -> bool:
        return share_left(columns - removed, columns, kappa) <= wanted

    low = removed + 1
    if not enough(low):
        return 0
    high = 2 * low
    while enough(high):
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if enough(middle) else (low, middle)
    return low


def _listed(people: Sequence[float]) -> str:
    *others, last = [f"{n:,.0f}" for n in people]
    return f"{', '.join(others)} and {last}"
