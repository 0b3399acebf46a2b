"""The two players of R-LACE, their moves, and the judges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, softmax
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import accuracy_score, log_loss

from ._capped_simplex import nearest_with_sum

PROBES = 3
"""How many classifiers judge a projection; the best of them counts."""


@dataclass(frozen=True)
class Rules:
    """The parameters of `RLACE` that the players and judges go by."""

    max_iter: int
    learning_rate: float
    weight_decay: float
    batch_size: int
    evaluate_every: int
    tol: float


@dataclass
class Best:
    """The projection that blinded the judges most, and the accuracy nearest to the majority's."""

    kept: np.ndarray
    loss: float = -1.0
    accuracy: float = 1.0
    n_iter: int = 0


def play(game: Game, rules: Rules) -> Best:
    """Let both players move by turns until the judges see nothing, or `max_iter` turns are over."""
    best = Best(game.kept_directions())
    for turn in range(rules.max_iter):
        best.n_iter = turn + 1
        game.blind(rules)
        game.classify(rules)
        if turn % rules.evaluate_every == 0:
            kept = game.kept_directions()
            loss, accuracy = game.judge(kept)
            if loss > best.loss:
                best.kept, best.loss = kept, loss
            if abs(accuracy - game.majority) < abs(best.accuracy - game.majority):
                best.accuracy = accuracy
        if turn > 1 and abs(best.accuracy - game.majority) < rules.tol:
            break
        if turn == 0:
            game.leave_out_the_rest()
    return best


@dataclass
class Game:
    """Both players and the rows they play on.

    Parameters
    ----------
    X : array of shape (n, p)
        Centred rows, in p coordinates: at first the d features.
    codes : array of shape (n,)
        Groups.
    share : array of shape (n,)
        Weights of the rows, with sum 1.
    kept : int
        How many directions the projection leaves.
    rng : Generator
        All randomness.
    P : array of shape (p, p)
        What is projected out: with the rest, a matrix in the fantope of rank d - kept.
    W, b : array of shape (m, p) and (m,); for two groups one row instead of two
        The classifier: logits are ``(X - X P) W^T + b``.
    basis : array of shape (d, p)
        The coordinates.
    rest : array of shape (d - p,)
        In all other directions P is a multiple of the identity; these are its eigenvalues.
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
    ) -> Game:
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

    def blind(self, rules: Rules) -> None:
        """Move the projection to where the classifier errs more."""
        X, R = self._batch(rules.batch_size)
        G, step = (X.T @ R) @ self.W, rules.learning_rate
        shrink = 1.0 - step * rules.weight_decay
        values, V = np.linalg.eigh(shrink * self.P - (0.5 * step) * (G + G.T))
        values = np.concatenate([values, shrink * self.rest])
        values = nearest_with_sum(values, len(values) - self.kept)  # nearest in the fantope
        self.P, self.rest = (V * values[: len(V)]) @ V.T, values[len(V) :]

    def classify(self, rules: Rules) -> None:
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
        """Go on in fewer coordinates where rows are few, without a change of the game.

        All gradients lie in the span of the rows, the first classifier and the eigenvectors of P
        whose eigenvalue is not 1 after its first projection. Everywhere else P stays a multiple of
        the identity, and an eigenvalue decomposition need not look there.
        """
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
        basis: np.ndarray = self.basis @ np.linalg.eigh(self.P)[1][:, : self.kept]
        return basis

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
