"""R-LACE: a game between a linear classifier of the groups and the projection that blinds it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._attributes import Levels
from .._rows import LinearMap, Rows
from ..errors import warn_user
from ..moments import GroupMoments
from ._base import RowPeer
from ._one_attribute import (
    along_principal_axes,
    check_number_of_components,
    check_positive,
    directions_to_keep,
    the_levels,
)
from ._rlace_game import Game, Rules, play


class RLACE(RowPeer):
    r"""Remove the subspace that a game against a linear classifier settles on.

    Relaxed linear adversarial concept erasure: a logistic regression learns to tell the groups
    apart, a projection of rank d - k learns to raise its loss, by turns, in small stochastic steps.
    Every thousand turns fresh classifiers judge the projection; the one that blinded them most is
    returned, and the game ends once their accuracy is that of always naming the largest group.

    It is slow, random, and without a guarantee; and the game it plays has a solution in closed
    form. Where group means agree no linear classifier beats a constant one, so a projection wins if
    and only if it removes the differences of the means: `fairpca.FairPCA` does, and among all such
    projections it keeps the most variance, which the game ignores. Use this for comparisons with
    the literature. **Non-linear models still see the groups.**

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components k. None removes one direction less than there are groups.
    max_iter : int, default=10_000
        Most turns. The authors' code has 75,000; the fair PCA paper 10,000.
    learning_rate, weight_decay : float, default=0.005 and 1e-4
        Of the stochastic gradient steps of both players.
    batch_size : int, default=128
        Rows per step.
    evaluate_every : int, default=1000
        Turns between two judgements.
    tol : float, default=0.0015
        The game ends when the accuracy of the judges is this close to the largest group's share.
    random_state : int, RandomState or None, default=0
        Start, batches and judges.

    Attributes
    ----------
    components_ : array of shape (k, d)
        Orthonormal rows, most variance first.
    n_iter_ : int
        Number of turns.
    loss_ : float
        Log-loss of the judges on the rows as they are returned. At most the entropy of the groups,
        up to the judges' own errors.
    accuracy_, majority_ : float
        Accuracy of the judges, of all judgements the one nearest to the largest group's share; and
        that share. If it is exceeded by `tol`, a `ConvergenceWarning` says so.
    mean_, groups_, n_components_, n_features_in_, feature_names_in_, n_samples_seen_
        As in `fairpca.FairPCA`.

    See Also
    --------
    fairpca.FairPCA : The solution of the game in closed form, and the most variance.
    INLP : The same aim by one classifier after the other.

    Notes
    -----
    As in the authors' public code. The step sizes suit features in units of their standard
    deviation, so standardise first. Rows are centred. Several attributes are merged into their
    joint groups. With weights, rows are drawn in proportion to them.

    References
    ----------
    .. [1] Ravfogel, Twiton, Goldberg, Cotterell. "Linear adversarial concept erasure". ICML 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.peers import RLACE
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=300)
    >>> X = rng.normal(size=(300, 4)) + np.outer(sex == "m", [2, 1, 0, 0])
    >>> rlace = RLACE(n_components=2).fit(X, sensitive_features=sex)
    >>> bool(rlace.accuracy_ <= rlace.majority_ + 0.0015)
    True
    """

    intersectional: bool = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        max_iter: int = 10_000,
        learning_rate: float = 0.005,
        weight_decay: float = 1e-4,
        batch_size: int = 128,
        evaluate_every: int = 1000,
        tol: float = 0.0015,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.evaluate_every = evaluate_every
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number_of_components(self.n_components)
        for name in ("max_iter", "batch_size", "evaluate_every"):
            check_positive(name, getattr(self, name), whole=True)
        check_positive("learning_rate", self.learning_rate)
        check_positive("weight_decay", self.weight_decay, zero=True)
        check_positive("tol", self.tol, zero=True)

    def _linear_map(self, rows: Rows, moments: GroupMoments) -> LinearMap:
        groups = the_levels(Levels, rows.attributes, "RLACE")
        m = len(groups.labels)
        k = directions_to_keep(check_number_of_components(self.n_components), moments, m)
        weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
        game = Game.start(
            (rows.X - moments.mean) * moments.varies,
            groups.codes,
            weight / weight.sum(),
            kept=k,
            rng=np.random.default_rng(self._seed()),
        )
        rules = Rules(
            max_iter=self.max_iter,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            batch_size=self.batch_size,
            evaluate_every=self.evaluate_every,
            tol=self.tol,
        )
        best = play(game, rules)
        self.loss_, self.accuracy_, self.n_iter_ = best.loss, best.accuracy, best.n_iter
        self.majority_ = game.majority
        if self.accuracy_ - self.majority_ >= self.tol:
            warn_user(
                f"After {self.n_iter_} turns linear classifiers name the group of "
                f"{self.accuracy_:.2%} of the rows, and always naming the largest group would be "
                f"right for {self.majority_:.2%}. The projection that blinded them most is used. "
                f"Raise max_iter, remove more directions, or use FairPCA.",
                ConvergenceWarning,
            )
        return LinearMap(along_principal_axes(best.kept, moments, k), moments.mean)
