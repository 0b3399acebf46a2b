"""R-LACE: a game between a linear classifier of the groups and the projection that blinds it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import accuracy_score, log_loss

from ._base import (
    GroupedRows,
    LinearMethod,
    check_components_or_removed,
    check_count,
    check_number,
    directions_to_keep,
    warn,
    warn_of_fewer,
)
from ._fpca_program import nearest_with_sum
from ._linalg import along_principal_axes

PROBES = 3
"""How many classifiers judge a projection; the best of them counts."""


@dataclass
class _Game:
    """Both players and the n rows they play on: at first in the d features, later in p coordinates.

    P (p, p) is, with the rest, in the fantope of rank d - kept: outside of the `basis` (d, p) it is
    diagonal, with the values `rest`. The classifier's logits are ``(X - X P) W^T + b``, for two
    groups one instead of two. `share` are the weights of the centred rows, with sum 1.
    """

    X: np.ndarray
    codes: np.ndarray
    share: np.ndarray
    kept: int
    rng: np.random.Generator
    P: np.ndarray
    W: np.ndarray
    b: np.ndarray
    basis: np.ndarray
    rest: np.ndarray

    @classmethod
    def start(
        cls,
        X: np.ndarray,
        codes: np.ndarray,
        share: np.ndarray,
        *,
        kept: int,
        rng: np.random.Generator,
    ) -> _Game:
        """Return the players as the authors' code starts them."""
        d, m = X.shape[1], int(codes.max()) + 1
        outputs = 1 if m == 2 else m
        W = rng.uniform(-1.0, 1.0, (outputs, d)) / np.sqrt(d)
        b = rng.uniform(-1.0, 1.0, outputs) / np.sqrt(d)
        A = 0.1 * rng.standard_normal((d, d))
        P = 0.5 * (A + A.T)
        return cls(X, codes, share, kept, rng, P, W, b, np.eye(d), np.empty(0))

    @cached_property
    def majority(self) -> float:
        """Share of the largest group."""
        return float(np.bincount(self.codes, weights=self.share).max())

    def blind(self, rules: RLACE) -> None:
        """Move the projection to where the classifier errs more."""
        X, R = self._batch(rules.batch_size)
        G, step = (X.T @ R) @ self.W, rules.learning_rate
        shrink = 1.0 - step * rules.weight_decay
        values, V = np.linalg.eigh(shrink * self.P - (0.5 * step) * (G + G.T))
        values = np.concatenate([values, shrink * self.rest])
        values = nearest_with_sum(values, len(values) - self.kept)  # nearest in the fantope
        self.P, self.rest = (V * values[: len(V)]) @ V.T, values[len(V) :]

    def classify(self, rules: RLACE) -> None:
        """Move the classifier to where it errs less."""
        X, R = self._batch(rules.batch_size)
        G, step = R.T @ X, rules.learning_rate
        self.W = self.W - step * (G - G @ self.P + rules.weight_decay * self.W)
        self.b = self.b - step * (R.sum(axis=0) + rules.weight_decay * self.b)

    def _batch(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Return some rows, and the derivative of their mean log-loss by the logits."""
        n = len(self.X)
        rows = self.rng.choice(n, min(size, n), replace=False, p=self._uneven, shuffle=False)
        X, codes = self.X[rows], self.codes[rows]
        logits = X @ (self.W - self.W @ self.P).T + self.b
        if logits.shape[1] == 1:
            R = expit(logits) - codes[:, None]
        else:
            R = softmax(logits, axis=1)
            R[np.arange(len(rows)), codes] -= 1.0
        return X, R / len(rows)

    @cached_property
    def _uneven(self) -> np.ndarray | None:
        return None if self.share.min() == self.share.max() else self.share

    def leave_out_the_rest(self) -> None:
        """Go on in fewer coordinates where rows are few, without a change of the game."""
        # All gradients lie in the span of the rows, the first classifier and the eigenvectors of P
        # with values below 1 after its first projection. Elsewhere P is a multiple of the identity.
        values, V = np.linalg.eigh(self.P)
        fractional = V[:, values < 1.0 - 1e-12].T
        touched = np.concatenate([self.X, self.W, fractional])
        if len(touched) >= len(values):
            return
        B = np.linalg.qr(touched.T)[0]
        self.basis, self.rest = B, np.ones(len(values) - B.shape[1])
        self.X, self.W, self.P = self.X @ B, self.W @ B, B.T @ self.P @ B

    def kept_directions(self) -> np.ndarray:
        """Return an orthonormal basis of what is left by the projection nearest to P."""
        return self.basis @ np.linalg.eigh(self.P)[1][:, : self.kept]

    def judge(self, kept: np.ndarray) -> tuple[float, float]:
        """Return the log-loss and accuracy of the best of a few fresh classifiers."""
        T, weight = self.X @ (self.basis.T @ kept), self.share * len(self.X)
        judgements = []
        for _ in range(PROBES):
            probe = SGDClassifier(
                loss="log_loss",
                max_iter=25_000,
                n_iter_no_change=15,
                tol=1e-4,
                random_state=int(self.rng.integers(2**31)),
            ).fit(T, self.codes, sample_weight=weight)
            loss = log_loss(self.codes, probe.predict_proba(T), sample_weight=weight)
            accuracy = accuracy_score(self.codes, probe.predict(T), sample_weight=weight)
            judgements.append((float(loss), float(accuracy)))
        return min(judgements)


class RLACE(LinearMethod):
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
    n_removed : int or None, default=None
        Number of directions to remove, as in [1]_, instead of ``n_components=d - n_removed``.
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
        that share. If it is exceeded by `tol`, there is a `ConvergenceWarning`.
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
    >>> from fairpca_paper.methods import RLACE
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=300)
    >>> X = rng.normal(size=(300, 4)) + np.outer(sex == "m", [2, 1, 0, 0])
    >>> rlace = RLACE(n_components=2).fit(X, sensitive_features=sex)
    >>> bool(rlace.accuracy_ <= rlace.majority_ + 0.0015)
    True
    >>> RLACE(n_removed=1).fit(X, sensitive_features=sex).transform(X).shape
    (300, 3)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_removed: int | None = None,
        max_iter: int = 10_000,
        learning_rate: float = 0.005,
        weight_decay: float = 1e-4,
        batch_size: int = 128,
        evaluate_every: int = 1000,
        tol: float = 0.0015,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.n_removed = n_removed
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.evaluate_every = evaluate_every
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_components_or_removed(self)
        for name in ("max_iter", "batch_size", "evaluate_every"):
            check_count(name, getattr(self, name))
        check_number("learning_rate", self.learning_rate)
        for name in ("weight_decay", "tol"):
            check_number(name, getattr(self, name), zero=True)

    def _learn(self, rows: GroupedRows) -> np.ndarray:
        game = _Game.start(
            rows.centred * rows.varies,
            rows.codes,
            rows.weight / rows.total_weight,
            kept=directions_to_keep(self, rows),
            rng=np.random.default_rng(self._seed()),
        )
        kept = self._play(game)
        if self.accuracy_ - self.majority_ >= self.tol:
            warn(
                f"After {self.n_iter_} turns linear classifiers name the group of "
                f"{self.accuracy_:.2%} of the rows, and always naming the largest group would be "
                f"right for {self.majority_:.2%}. The projection that blinded them most is used. "
                f"Raise max_iter, remove more directions, or use FairPCA.",
                ConvergenceWarning,
            )
        U = along_principal_axes(kept, rows)
        warn_of_fewer(U.shape[1], kept.shape[1])
        return U

    def _play(self, game: _Game) -> np.ndarray:
        """Let both players move by turns until the judges see nothing, or the turns are over."""
        best = game.kept_directions()
        self.loss_, self.accuracy_, self.majority_ = -1.0, 1.0, game.majority
        for turn in range(self.max_iter):
            self.n_iter_ = turn + 1
            game.blind(self)
            game.classify(self)
            if turn % self.evaluate_every == 0:
                kept = game.kept_directions()
                loss, accuracy = game.judge(kept)
                if loss > self.loss_:
                    best, self.loss_ = kept, loss
                if abs(accuracy - game.majority) < abs(self.accuracy_ - game.majority):
                    self.accuracy_ = accuracy
            if turn > 1 and abs(self.accuracy_ - game.majority) < self.tol:
                break
            if turn == 0:
                game.leave_out_the_rest()
        return best
