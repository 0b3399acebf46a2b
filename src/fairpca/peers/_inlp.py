"""INLP: train a classifier for the groups, remove what it looks at, repeat."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._attributes import Levels
from .._numerics import complete_basis
from .._rows import LinearMap, Rows
from ..errors import InfeasibleError, NothingLeftToRemoveWarning, warn_user
from ..estimators import check_choice
from ..moments import GroupMoments
from ..solvers import names_of
from ._base import RowPeer
from ._classifying_directions import directions_that_classify
from ._one_attribute import (
    along_principal_axes,
    check_number_of_components,
    check_positive,
    directions_to_keep,
    the_levels,
)

KEEP = ("random", "variance")


class INLP(RowPeer):
    r"""Remove, one after the other, the directions that linear classifiers of the groups look at.

    Iterative null-space projection: train a linear SVM for the groups, project the rows onto the
    null space of its coefficients, train again on what is left, and so on. With k components it
    runs until d - k directions are gone.

    It guarantees less than it costs. The first classifiers remove most of what a linear model can
    read; each further one removes a direction, whether or not it still matters, and the variance
    that is kept is not considered at all. `fairpca.FairPCA` removes one direction less than there
    are groups, after which *no* linear model reads anything from the training rows, and keeps the
    most variance. **Non-linear models still see the groups.**

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components k. None removes one direction less than there are groups, and keeps
        all others in which the rows vary.
    C : float, default=1.0
        Price of the classifiers' losses, as in scikit-learn's `LinearSVC`.
    keep : {"random", "variance"}, default="random"
        Once group means agree, the classifier is zero and there is nothing to remove. If more than
        k directions are left then, "random" keeps k of them at random, which is what the published
        comparisons did (an eigensolver chose), and "variance" those with the most variance.
    random_state : int, RandomState or None, default=0
        Which directions "random" keeps.

    Attributes
    ----------
    components_ : array of shape (k, d)
        Orthonormal rows, most variance first.
    removed_ : array of shape (r, d)
        Orthonormal rows: the directions that were removed, in the order in which they were found.
    n_removed_ : int
        Their number r; less than d - k where the classifiers found nothing any more, of which a
        `NothingLeftToRemoveWarning` tells.
    mean_, groups_, n_components_, n_features_in_, feature_names_in_, n_samples_seen_
        As in `fairpca.FairPCA`.

    See Also
    --------
    fairpca.FairPCA : All of it in one step, and the most variance.
    RLACE : The same aim as a game between a classifier and a projection.

    Notes
    -----
    The settings of the fair PCA paper [2]_: a `LinearSVC` without intercept, squared hinge loss,
    all iterations on the rows projected so far, no threshold on the accuracy. Rows are centred
    first. More than two groups give one row of coefficients per group (one against the rest).
    Several attributes are merged into their joint groups.

    An iteration works in the coordinates of what is left, which are one fewer each time, and costs
    one to five Newton steps. Only what the rows span is searched: elsewhere there is nothing to
    classify, but rounding errors are amplified there from one iteration to the next.

    References
    ----------
    .. [1] Ravfogel, Elazar, Gonen, Twiton, Goldberg. "Null it out: guarding protected attributes
       by iterative nullspace projection". ACL 2020.
    .. [2] Kleindessner, Donini, Russell, Zafar. "Efficient fair PCA for fair representation
       learning". AISTATS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.peers import INLP
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=300)
    >>> X = rng.normal(size=(300, 5)) + np.outer(sex == "m", [3, 1, 0, 0, 0])
    >>> inlp = INLP(n_components=2).fit(X, sensitive_features=sex)
    >>> inlp.transform(X).shape, inlp.n_removed_
    ((300, 2), 3)
    """

    intersectional: bool = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        C: float = 1.0,
        keep: str = "random",
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.C = C
        self.keep = keep
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number_of_components(self.n_components)
        check_positive("C", self.C)
        check_choice("keep", self.keep, KEEP)

    def _linear_map(self, rows: Rows, moments: GroupMoments) -> LinearMap:
        groups = the_levels(Levels, rows.attributes, "INLP")
        m, d = len(groups.labels), moments.n_features
        k = directions_to_keep(check_number_of_components(self.n_components), moments, m)
        cost = self.C * (np.ones(rows.n_rows) if rows.weight is None else rows.weight)
        removed, left = directions_that_classify(rows.X, groups.codes, moments, cost, count=d - k)
        self.removed_, self.n_removed_ = removed.T, removed.shape[1]
        if self.n_components is None:
            return LinearMap(_all_that_vary(left, moments), moments.mean)
        if self.n_removed_ < d - k:
            warn_user(
                f"After {self.n_removed_} directions a linear SVM finds no difference between the "
                f"groups any more, so {d - self.n_removed_} directions are left of which "
                f"{k} are kept, by keep={self.keep!r}. Fewer than {d - k} had to be removed: "
                f"n_components={d - self.n_removed_} would do, and FairPCA keeps more variance.",
                NothingLeftToRemoveWarning,
            )
        if self.n_removed_ < d - k and self.keep == "random":
            U = _random_directions(k, removed, moments, np.random.default_rng(self._seed()))
        else:
            U = complete_basis(left, removed, k)
        return LinearMap(along_principal_axes(U, moments, k), moments.mean)


def _all_that_vary(left: np.ndarray, moments: GroupMoments) -> np.ndarray:
    k = left.shape[1]
    if k == 0:
        raise InfeasibleError(
            f"Nothing is left: the {moments.n_rows} rows vary only along what separates the "
            f"groups ({names_of(moments.attributes)}). Pass more rows or features, or merge groups."
        )
    axes: np.ndarray = along_principal_axes(left, moments, k)
    return axes


def _random_directions(
    k: int, removed: np.ndarray, moments: GroupMoments, rng: np.random.Generator
) -> np.ndarray:
    """Return k orthonormal directions, uniform among those left; constant features come last."""
    varies = np.asarray(moments.varies)
    G = rng.standard_normal((moments.n_features, k))
    if varies.sum() - removed.shape[1] >= k:
        G *= varies[:, None]
    for _ in range(2):  # "twice is enough" (Parlett, The Symmetric Eigenvalue Problem)
        G = np.linalg.qr(G - removed @ (removed.T @ G))[0]
    return G
