"""SAL: remove the directions in which the rows covary most with the attributes."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from .._numerics import Array, array_namespace, like
from .._rows import LinearMap
from ..errors import InfeasibleError, UsageError
from ..moments import AttributeMoments, GroupMoments, NumericMoments
from ..solvers import check_dimension, mean_constraint, names_of
from ._mean_projection import (
    Eraser,
    around_the_mean,
    identity,
    in_units_of_spread,
    mean_directions,
    mean_projection,
)


def sal(moments: GroupMoments, n_directions: int | None = None) -> LinearMap:
    r"""Project out the leading left singular vectors of the covariance of rows and attributes.

    Parameters
    ----------
    moments : GroupMoments
        Moments of rows in d dimensions.
    n_directions : int, optional
        How many singular vectors to remove; by default all with a singular value above rounding.

    Returns
    -------
    LinearMap
        From d to d columns.

    Raises
    ------
    InfeasibleError
        If there are fewer such directions, or none would be left.

    Notes
    -----
    With :math:`\Sigma_{xz} = U S V^\top`, [1]_ keep :math:`U_{r+1:}U_{r+1:}^\top x`. All directions
    together span what the group means span.

    References
    ----------
    .. [1] Shao, Ziser, Cohen. "Gold doesn't always glitter: spectral removal of linear and
       nonlinear guarded attribute information". EACL 2023.
    """
    U, _ = covarying_directions(moments)
    if n_directions is None or n_directions == U.shape[1]:
        return mean_projection(moments)
    U = first_directions(U, n_directions, moments)
    return around_the_mean(identity(U) - U @ U.T, moments)


def covarying_directions(moments: GroupMoments) -> tuple[Array, Array]:
    """Return the directions in which the rows covary with the attributes, and how much.

    Returns
    -------
    U : array of shape (d, r)
        Orthonormal columns: left singular vectors, largest singular value first.
    values : array of shape (r,)
        Singular values of the covariance with indicators of all levels, and with numeric
        attributes in units of their standard deviation (in which they compare with indicators).
    """
    Q = mean_directions(moments, mean_constraint(in_units_of_spread(moments)).Q)
    xp = array_namespace(Q)
    cross = xp.concat([_cross_moments(a) for a in moments.attributes], axis=0)
    _, values, right = xp.linalg.svd((cross @ Q) / moments.weight, full_matrices=False)
    return Q @ right.T, values


def _cross_moments(attribute: AttributeMoments) -> Array:
    rows, sizes = attribute.contrasts()
    if isinstance(attribute, NumericMoments):
        return rows * like(np.sqrt(attribute.weight) / sizes, rows)[:, None]
    return rows


def first_directions(U: Array, n_directions: int, moments: GroupMoments) -> Array:
    """Return the first of the directions; raise if there are not as many, or nothing is left."""
    r = U.shape[1]
    if n_directions > r:
        raise InfeasibleError(
            f"n_directions={n_directions} is too large: the rows covary with the attributes "
            f"({names_of(moments.attributes)}) in {r} direction(s) only, and removing others would "
            f"remove what has nothing to do with them. Use n_directions <= {r}, or None for all."
        )
    check_dimension(moments, n_directions, None)
    return U[:, :n_directions]


def check_n_directions(n_directions: Any) -> int | None:
    """Return the number of directions as a plain int, None for all."""
    if n_directions is None:
        return None
    whole = isinstance(n_directions, Integral) and not isinstance(n_directions, bool)
    if whole and int(n_directions) >= 1:
        return int(n_directions)
    raise UsageError(
        f"n_directions={n_directions!r} is not a number of directions to remove. Use an integer "
        f">= 1, or None for all in which the rows covary with the attributes."
    )


class SAL(Eraser):
    """Remove the directions in which the features covary most with the attributes.

    Spectral attribute removal. With all directions (the default) it is `MeanProjection`, and its
    rows span the same subspace as ``FairPCA(n_components=d - r)``: no linear model can tell the
    groups apart on these rows. **With fewer directions there is no such guarantee**; the smaller
    singular values, in `singular_values_`, tell how much covariance stays. The result has the
    columns of the input.

    Parameters
    ----------
    n_directions : int or None, default=None
        Number of directions to remove, those of largest covariance first; None removes all that
        are not rounding.

    Attributes
    ----------
    n_directions_ : int
        How many directions were removed.
    singular_values_ : array of shape (r,)
        Singular values of the covariance of features and attributes, removed or not, descending.
        Levels count as indicators, numeric attributes in units of their standard deviation.
    components_, mean_, groups_, moments_, n_features_in_, feature_names_in_, n_samples_seen_
        As in `MeanProjection`.

    See Also
    --------
    KernelSAL : The same in the feature space of a kernel.

    References
    ----------
    .. [1] Shao, Ziser, Cohen. "Gold doesn't always glitter: spectral removal of linear and
       nonlinear guarded attribute information". EACL 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.peers import SAL
    >>> rng = np.random.default_rng(0)
    >>> origin = rng.choice(["north", "south", "east"], size=300)
    >>> X = rng.normal(size=(300, 4))
    >>> X[:, 0] += 3.0 * (origin == "south")
    >>> eraser = SAL().fit(X, sensitive_features=origin)
    >>> eraser.n_directions_, eraser.transform(X).shape
    (2, (300, 4))
    """

    _learned: ClassVar[frozenset[str]] = Eraser._learned | {"singular_values_"}

    def __init__(self, n_directions: int | None = None) -> None:
        self.n_directions = n_directions

    def _check_parameters(self) -> None:
        check_n_directions(self.n_directions)

    def _linear_map(self, moments: GroupMoments) -> LinearMap:
        return sal(moments, check_n_directions(self.n_directions))

    def _solve(self, moments: GroupMoments) -> dict[str, Any]:
        return {**super()._solve(moments), "singular_values_": covarying_directions(moments)[1]}
