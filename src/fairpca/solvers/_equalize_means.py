"""Fair PCA: the best k-dimensional subspace in which all group means coincide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._attributes import about_whole_numbers
from .._moments import AttributeMoments, GroupMoments, LevelMoments, NumericMoments, noise_along
from .._numerics import Array, array_namespace, graded_basis, like, project_out, row_space
from ..errors import (
    InfeasibleError,
    MissingTargetError,
    ResidualWarning,
    SingleGroupError,
    UsageError,
    warn_user,
)
from ._maximize_variance import maximize_variance
from ._subspace import Subspace

FEW_STRATA = 10
"""Of so few classes of y each must have all groups; of more, those that lack one are skipped."""

SMALLEST_VALUES = 1e-75
"""Squares of numbers below this, times weights, lose digits to underflow."""


def equalize_means(
    moments: GroupMoments,
    k: int | float | None,
    *,
    constraint: MeanConstraint | None = None,
    total: float | None = None,
    solver: str = "auto",
    random_state: int | np.random.Generator | None = None,
) -> Subspace:
    r"""Solve fair PCA.

    Among the subspaces in which every group of every attribute has the same mean, and every
    numeric attribute is uncorrelated with the data, return the one that keeps the most variance.

    Parameters
    ----------
    moments : GroupMoments
        Moments of rows in d dimensions.
    k : int, float or None
        Dimension; or the share of the total variance to reach; or all feasible directions.
    constraint : MeanConstraint, optional
        The directions that separate group means, where they are known already.
    total, solver, random_state
        See `maximize_variance`.

    Returns
    -------
    Subspace

    Raises
    ------
    InfeasibleError
        If fewer than `k` directions satisfy the constraint.
    SingleGroupError
        If an attribute takes one value only.

    See Also
    --------
    fairpca.FairPCA : The same for rows.
    maximize_variance : Without the constraint.

    Notes
    -----
    Algorithms 1 and 2 of [1]_ with the data matrix transposed (our rows are samples). The
    constraint :math:`Z^\top X U = 0` is kept as an orthonormal basis ``Q`` of the row space of
    :math:`Z^\top X`; several attributes are more rows of the same small matrix.

    References
    ----------
    .. [1] Kleindessner, Donini, Russell, Zafar. "Efficient fair PCA for fair representation
       learning". AISTATS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.moments import collect_moments
    >>> from fairpca.solvers import equalize_means
    >>> groups = np.arange(200) % 2
    >>> X = np.random.default_rng(0).normal(size=(200, 5)) + groups[:, None]
    >>> moments = collect_moments(X, groups)
    >>> fair = equalize_means(moments, 2)
    >>> T = X @ fair.basis
    >>> bool(np.allclose(T[groups == 0].mean(axis=0), T[groups == 1].mean(axis=0)))
    True
    """
    constraint = mean_constraint(moments) if constraint is None else constraint
    check_dimension(moments, constraint.rank, k)
    subspace = maximize_variance(
        moments, k, avoid=constraint.Q, total=total, solver=solver, random_state=random_state
    )
    return replace(subspace, basis=constraint.polished(subspace.basis))


@dataclass(frozen=True)
class MeanConstraint:
    """Directions that separate group means: `rows` (r, d) of the constraint, `Q` (d, r) a basis."""

    rows: Array
    Q: Array

    @property
    def rank(self) -> int:
        """Number of directions."""
        return int(self.Q.shape[1])

    def compressed(self, B: Array, moments: GroupMoments, *, tol: float) -> MeanConstraint:
        """Return the constraint for rows times `B`, whose moments are given.

        Combinations of rows that `B` all but annihilates (correlations up to `tol`) are rounding.
        """
        return _independent(self.rows @ B, moments.spread, tol)

    def polished(self, U: Array) -> Array:
        """Satisfy the constraint to rounding in the units of each feature.

        An eigensolver leaves errors of one size in all entries of U. Next to a feature in units of
        1e6 that is visible in a component that lives on features in units of 1e-6. The entries of
        Q are right to all digits, so what is still along it can be taken out to rounding.
        """
        return project_out(project_out(U, self.Q), self.Q)


def mean_constraint(moments: GroupMoments) -> MeanConstraint:
    """Find the directions that separate the groups' means, and their number.

    The rank is decided on correlations, which have no units: an absolute threshold leaves
    attributes in small units unerased, and one relative to the constraint rows alone counts
    rounding as a direction as soon as the rows lie away from the origin.

    Parameters
    ----------
    moments : GroupMoments
        Moments of rows in d dimensions.

    Returns
    -------
    MeanConstraint
        ``rows``, the independent constraint rows, ``Q``, an orthonormal basis of their span, and
        their number, ``rank``.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.moments import collect_moments
    >>> from fairpca.solvers import mean_constraint
    >>> groups = np.arange(200) % 3
    >>> moments = collect_moments(np.random.default_rng(0).normal(size=(200, 5)), groups)
    >>> mean_constraint(moments).rank  # three means span a plane
    2
    """
    check_attributes(moments.attributes)
    rows, sizes = moments.contrasts()
    rows = rows / like(np.where(sizes > 0, sizes, 1.0), rows)[:, None]
    tol = float(moments.rounding * (np.sqrt(rows.shape[0]) + np.sqrt(rows.shape[1])))
    constraint = _independent(rows, moments.spread, tol)
    if moments.provisional and constraint.rank < min(rows.shape):
        finer = tol * float(np.finfo(float).eps) / moments.precision
        if row_space(rows / moments.spread, tol=finer)[0].shape[0] > constraint.rank:
            moments.need_all_digits()
    return constraint


def _independent(rows: Array, spread: Array, tol: float) -> MeanConstraint:
    coefficients, basis = row_space(rows / spread, tol=tol)
    rows = coefficients @ rows
    return MeanConstraint(rows, graded_basis(rows.T) if rows.shape[0] else basis)


def mean_gap(moments: GroupMoments, subspace: Subspace) -> float:
    """Return the largest difference between a group and the rest that is left in the subspace.

    For a level: the distance of its mean from the overall mean, in standard deviations of the
    component. For a numeric attribute: its correlation with the component. Computed from the
    moments; directions whose variance is rounding do not count.

    Parameters
    ----------
    moments : GroupMoments
        Moments of rows in d dimensions.
    subspace : Subspace
        Where to look.

    Returns
    -------
    float
        At rounding for what `equalize_means` returns.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.moments import collect_moments
    >>> from fairpca.solvers import equalize_means, maximize_variance, mean_gap
    >>> groups = np.arange(200) % 2
    >>> X = np.random.default_rng(0).normal(size=(200, 5)) + groups[:, None]
    >>> moments = collect_moments(X, groups)
    >>> fair, plain = equalize_means(moments, 2), maximize_variance(moments, 2)
    >>> mean_gap(moments, fair) < 1e-10 < mean_gap(moments, plain)
    True
    """
    xp, noise = array_namespace(moments.mean), noise_along(moments, subspace.basis)
    gap = largest_gap(
        moments.attributes, moments.weight, subspace.basis, subspace.scatter, noise=noise
    )
    # The moments know a mean to rounding of what a component adds up, which may cancel.
    share = xp.where(subspace.scatter > noise, noise / subspace.scatter, xp.zeros_like(noise))
    rounded = float(xp.max(share) / (2.0 * moments.rounding)) ** 0.5
    return max(gap, float(moments.precision * rounded))


def largest_gap(
    attributes: Sequence[AttributeMoments],
    weight: float,
    basis: Array,
    scatter: Array,
    *,
    noise: float | Array = 0.0,
) -> float:
    """Return the largest group difference along the columns of a basis, as `mean_gap` does.

    Parameters
    ----------
    attributes : sequence of AttributeMoments
        What the groups are.
    weight : float
        Total weight of the rows.
    basis : array of shape (d, k)
        Directions to look along.
    scatter : array of shape (k,)
        Sum of squares along each of them.
    noise : float, default=0.0
        Columns whose scatter is no larger do not count.

    Returns
    -------
    float
        In standard deviations of a component; for a numeric attribute, a correlation.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.moments import collect_moments
    >>> from fairpca.solvers import largest_gap
    >>> moments = collect_moments(np.array([[0.0, 0.0], [0.0, 2.0], [4.0, 1.0]]), ["a", "a", "b"])
    >>> axes = np.eye(2)
    >>> gap = largest_gap(moments.attributes, 3.0, axes, moments.scatter.diagonal)
    >>> round(gap, 3)
    1.414
    """
    xp = array_namespace(basis)
    counts = scatter > noise
    size = xp.sqrt(xp.where(counts, scatter, xp.ones_like(scatter)))
    largest = 0.0
    for a in attributes:
        rows, sizes = a.contrasts()
        if isinstance(a, LevelMoments):
            sizes = a.weight / np.sqrt(weight)
        else:
            largest = max(largest, a.rounding)
        units = like(np.where(sizes > 0, sizes, np.inf), rows)[:, None]
        gaps = xp.abs(rows @ basis) / units / size
        largest = max(largest, float(xp.max(xp.where(counts, gaps, xp.zeros_like(gaps)))))
    return largest


def check_dimension(moments: GroupMoments, constraint_rank: int, k: int | float | None) -> None:
    """Raise if fewer than `k` directions satisfy the constraint."""
    d, r = moments.n_features, constraint_rank
    n_fair = d - r
    if n_fair == 0:
        names = names_of(moments.attributes)
        raise InfeasibleError(
            f"Nothing is left: the attributes ({names}) separate the group means in all {d} "
            f"feature directions (n_features = {d}), so every direction carries them. Remove "
            f"features that are functions of an attribute, merge groups, or add features."
            f"{quantity_hint(moments.attributes)}{_strata_hint(moments.attributes)}"
        )
    if isinstance(k, int) and k > n_fair:
        names = names_of(moments.attributes)
        raise InfeasibleError(
            f"n_components={k} is too large: the attributes ({names}) separate the group means in "
            f"{r} of the {d} feature directions, which leaves {n_fair}. Use n_components <= "
            f"{n_fair}, or merge groups.{quantity_hint(moments.attributes)}"
            f"{_strata_hint(moments.attributes)}",
            available=n_fair,
        )


def names_of(attributes: Sequence[AttributeMoments]) -> str:
    """Return the names of attributes for a message."""
    return ", ".join(dict.fromkeys(repr(a.name) for a in attributes))


def quantity_hint(attributes: Sequence[AttributeMoments]) -> str:
    """Return what to do where levels may be a quantity, after a blank; nothing if none is."""
    levels = {a.name: a.labels for a in attributes if isinstance(a, LevelMoments)}
    told = (about_whole_numbers(name, labels) for name, labels in levels.items())
    return "".join(f" {sentence}" for sentence in told if sentence)


def check_attributes(attributes: Sequence[AttributeMoments]) -> None:
    """Raise if there is nothing to be fair between.

    Of many strata some may lack groups, and of those of legitimate factors any: contrasts are zero
    there, and others are compared.
    """
    for strata in _by_name(attributes):
        given = _are_given(strata)
        for a in strata:
            check_not_tiny(a)
            if len(strata) <= (1 if given else FEW_STRATA):
                _check_complete(a)
        if any(a.is_comparable for a in strata):
            continue
        if given:
            raise SingleGroupError(
                f"Among people whose legitimate factors are equal ({_factor_names(strata)}) "
                f"nobody differs in the sensitive attribute {strata[0].name!r}: it is a function "
                f"of the factors, so given them there is nothing to be fair between. Leave out "
                f"the factor that stands for the attribute, or use coarser levels."
            )
        raise SingleGroupError(
            f"None of the {len(strata)} classes of y has rows of two groups of the sensitive "
            f"attribute {strata[0].name!r}, so there is nothing to be fair between. Merge "
            f"classes of y, or use criterion='demographic_parity'."
        )


def warn_of_incomplete_strata(attributes: Sequence[AttributeMoments]) -> None:
    """Warn of strata that lack groups, with their number; of classes of y where these are many."""
    told = []
    for strata in _by_name(attributes):
        if _are_given(strata):
            _warn_of_strata_given(strata)
            continue
        lacking = sum(not a.is_comparable or bool(_empty_groups(a)) for a in strata)
        skipped = sum(not a.is_comparable for a in strata)
        if len(strata) > FEW_STRATA and lacking and skipped < len(strata):
            told.append(
                f"{lacking} of the {len(strata)} classes of y lack groups of {strata[0].name!r}, "
                f"{skipped} of them all but one"
            )
    if told:
        warn_user(
            f"{'; '.join(told)}. What is missing in a class is not compared there, so that group "
            f"differences may remain. Merge rare classes of y, or pass more rows.",
            ResidualWarning,
        )


def _warn_of_strata_given(strata: Sequence[AttributeMoments]) -> None:
    total = sum(_weight(a) for a in strata)
    without = [a for a in strata if not a.is_comparable]
    some = [a for a in strata if a.is_comparable and _empty_groups(a)]
    if not (without or some) or len(without) == len(strata) or total == 0:
        return
    share = 100 * sum(_weight(a) for a in (*without, *some)) / total
    warn_user(
        f"{len(without) + len(some)} of the {len(strata)} strata of the legitimate factors "
        f"({_factor_names(strata)}), with {share:.2g} % of the weight, lack groups of "
        f"{strata[0].name!r}, {len(without)} of them all but one. Who has no counterpart there is "
        f"not compared, so that group differences may remain. Merge rare levels of the factors, or "
        f"pass more rows.",
        ResidualWarning,
    )


def _weight(a: AttributeMoments) -> float:
    return float(np.sum(a.weight))


def _are_given(strata: Sequence[AttributeMoments]) -> bool:
    """Tell whether strata are those of legitimate factors, rather than of y."""
    return any(isinstance(a.stratum, tuple) or a.given is not None for a in strata)


def _factor_names(strata: Sequence[AttributeMoments]) -> str:
    names = [name for a in strata if isinstance(a.stratum, tuple) for name, _ in a.stratum]
    names += [name for a in strata if a.given is not None for name in a.given.names]
    return ", ".join(f"'{name}'" for name in dict.fromkeys(names))


def _by_name(attributes: Sequence[AttributeMoments]) -> list[list[AttributeMoments]]:
    """Return the strata of each attribute."""
    found: dict[str, list[AttributeMoments]] = {}
    for a in attributes:
        found.setdefault(a.name, []).append(a)
    return list(found.values())


def _check_complete(a: AttributeMoments) -> None:
    problem = _single_value(a)
    if problem:
        raise SingleGroupError(
            f"The sensitive attribute {a.name!r}{_where(a)} {problem}, so there is nothing to "
            f"be fair between. Leave the attribute out, or pass rows of every group."
        )
    empty = _empty_groups(a)
    if empty:
        raise MissingTargetError(
            f"The group(s) {empty} of the sensitive attribute {a.name!r} have no row"
            f"{_where(a)}, so their mean is undefined there. Pass more rows, or merge these "
            f"groups with others.{quantity_hint([a])}"
        )


def _empty_groups(a: AttributeMoments) -> list[Any]:
    if isinstance(a, NumericMoments) or a.optional:
        return []
    return [label for label, w in zip(a.labels, a.weight, strict=True) if w == 0]


def check_not_tiny(a: AttributeMoments, what: str = "sensitive attribute") -> None:
    """Raise if squares of a numeric column underflow."""
    if isinstance(a, LevelMoments):
        return
    weight = a.weight if a.weight > 0 else 1.0
    size = max(abs(a.value_mean), np.sqrt(a.value_scatter / weight))
    if 0 < size < SMALLEST_VALUES:
        raise UsageError(
            f"The numeric {what} {a.name!r} holds values of the size {size:.0e}, "
            f"whose squares underflow, so it is unknown whether it varies. Multiply it by a "
            f"constant first: correlations do not change."
        )


def _single_value(a: AttributeMoments) -> str | None:
    if isinstance(a, NumericMoments):
        return f"is {a.value_mean:g} in every row" if a.is_constant else None
    if a.optional:
        return None
    present = [label for label, w in zip(a.labels, a.weight, strict=True) if w > 0]
    if len(a.labels) > 1 and present:
        return None
    return f"has only the level {present[0]!r}" if present else "has no row"


def _strata_hint(attributes: Sequence[AttributeMoments]) -> str:
    """Return what to do where many strata take directions, after a blank; nothing if few do."""
    n = len({a.stratum for a in attributes})
    if _are_given(attributes) and n > 1:
        return (
            f" Each of the {n} strata of the legitimate factors takes directions of its own: use "
            f"fewer or coarser levels, or remove those they share, by "
            f"sensitive_features=fairpca.erasers.within_pairs(groups, strata)."
        )
    if n <= FEW_STRATA:
        return ""
    return (
        f" Each of the {n} classes of y takes directions of its own: merge classes, or remove "
        f"those they share, by criterion='demographic_parity' and "
        f"sensitive_features=fairpca.erasers.within_pairs(groups, y)."
    )


def _where(a: AttributeMoments) -> str:
    if a.stratum is None or isinstance(a.stratum, tuple):
        return ""
    return f" among the rows with y == {a.stratum!r}"
