"""SAL: remove the directions that covary most with the attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._moments import AttributeMoments, GroupMoments, NumericMoments
from .._numerics import Array, array_namespace, like
from ..errors import InfeasibleError
from ..estimators import check_count
from ..solvers import check_dimension, mean_constraint, names_of
from ._projections import Eraser, learned_by_an_eraser, mean_projection


def covarying_directions(moments: GroupMoments) -> tuple[Array, Array]:
    """Return singular vectors (d, r) and values of the covariance with the attributes."""
    # These are indicators of all levels, and numbers in units of their standard deviation.
    Q = mean_constraint(moments).Q
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


def checked_directions(n_directions: Any) -> int | None:
    return check_count(
        "n_directions",
        n_directions,
        "a number of directions to remove",
        none_for="all in which the rows covary with the attributes",
    )


class SAL(Eraser):
    """Remove the directions in which the features covary most with the attributes.

    Spectral attribute removal. With all r directions (the default) it is `MeanProjection`, and its
    rows span the same subspace as ``FairPCA(n_components=n_features - r)``: no linear model trained
    on these rows predicts an attribute better than a constant does. **With fewer directions there
    is no such guarantee**; the smaller singular values, in `singular_values_`, show how much
    covariance stays. The result has the columns of the input.

    Parameters
    ----------
    n_directions : int or None, default=None
        Number of directions to remove, those of largest covariance first; None removes all that
        are not rounding.

    Attributes
    ----------
    n_directions_ : int
        How many directions were removed.
    singular_values_ : ndarray of shape (n_covarying,)
        Singular values of the covariance of features and attributes, removed or not, descending.
        Levels count as indicators, numeric attributes in units of their standard deviation.
    components_ : ndarray of shape (n_features, n_features)
        The projection: row j has the weights of the centred features in column j of the result.
    mean_ : ndarray of shape (n_features,)
        Mean of all rows, which the projection leaves where it is.
    groups_ : dict
        The levels of each attribute, or "numeric".
    moments_ : GroupMoments
        The moments of all rows seen, for `partial_fit` and `fit_moments`. They are not kept after
        `fit` to more than 4096 features, or to wide or sparse rows.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only where all of them are strings.
    n_samples_seen_ : int
        Number of rows with positive weight.

    See Also
    --------
    KernelSAL : SAL in the feature space of a kernel.
    MeanProjection : SAL with all directions.

    References
    ----------
    .. [1] Shao, Ziser, Cohen. "Gold doesn't always glitter: spectral removal of linear and
       nonlinear guarded attribute information". EACL 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.erasers import SAL
    >>> rng = np.random.default_rng(0)
    >>> origin = rng.choice(["north", "south", "east"], size=300)
    >>> X = rng.normal(size=(300, 4))
    >>> X[:, 0] += 3.0 * (origin == "south")
    >>> eraser = SAL().fit(X, sensitive_features=origin)
    >>> eraser.n_directions_, eraser.transform(X).shape
    (2, (300, 4))
    """

    _learned = Eraser._learned | {"singular_values_"}

    def __init__(self, n_directions: int | None = None) -> None:
        self.n_directions = n_directions

    def _check_parameters(self) -> None:
        checked_directions(self.n_directions)

    def _solve(self, moments: GroupMoments) -> dict[str, Any]:
        # With the covariance U S V^T, what stays is U_{r+1:} U_{r+1:}^T x; all directions together
        # span what the group means span.
        n_directions = checked_directions(self.n_directions)
        U, values = covarying_directions(moments)
        if n_directions is None or n_directions == U.shape[1]:
            factors = mean_projection(moments)
        else:
            U = first_directions(U, n_directions, moments)
            factors = U, U
        return learned_by_an_eraser(factors, moments) | {"singular_values_": values}
