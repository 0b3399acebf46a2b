"""How many rows of each group lie below thresholds on scores, and how that changes with the scores.

Counts are soft, so they have slopes; both are sums over rows, so they add as moments do. To an
attribute they are more features of the rows: that is how its groups are matched by label, and
how numbers, missing values and strata keep their meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .._numerics import (
    Array,
    array_namespace,
    full_precision,
    is_sparse,
    like,
    quiet_overflow,
    to_numpy,
)
from .._rows import MappedRows, Rows
from ..errors import UsageError
from .accumulate import TotalProducts, one_pass
from .attribute_moments import AttributeMoments, LevelMoments
from .design import Design
from .group_moments import merge_attributes
from .products import CrossProduct


@dataclass(frozen=True)
class Scores:
    """Scores ``(x - centre) @ W`` with W (d, k), to be compared with J thresholds each.

    A row counts as below a threshold t with ``1 / (1 + exp((score - t) / width))``.
    """

    W: Array
    centre: Array
    thresholds: np.ndarray
    width: float


@dataclass(frozen=True)
class SharesBelow:
    """Sums over the rows of each group: k J soft counts, then the d slopes of each of them.

    `attributes` are moments whose features are these numbers, J thresholds of the first score
    first; slopes are those of ``-width`` times the count with respect to W.
    """

    attributes: tuple[AttributeMoments, ...]
    n_counts: int

    def __add__(self, other: SharesBelow) -> SharesBelow:
        both = merge_attributes(self.attributes, other.attributes, None)
        return replace(self, attributes=both)

    def check_same_rows(self, attributes: Sequence[AttributeMoments]) -> None:
        """Raise if other rows were counted than those whose moments are given."""
        now, before = _weights(self.attributes), _weights(attributes)
        for key in now | before:
            a, b = before.get(key, 0.0), now.get(key, 0.0)
            if abs(a - b) > 1e-6 * max(a, b):
                raise UsageError(
                    f"The rows changed while they were read: of the attribute {key[0]!r}, those "
                    f"with {key[2]!r} weighed {a:g} in the first pass and {b:g} now. Read what "
                    f"stays as it is: a copy, or a collection that is kept in memory."
                )

    def contrasts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return how far groups differ from the rest: shares (c, kJ), slopes (c, kJ, d), weights.

        For a level, its share below a threshold minus that of all other rows. For a numeric
        attribute, twice its covariance, in standard deviations, with being below: of numbers that
        are 0 for one half of the rows and 1 for the other, the same difference. The weights (c,) of
        two groups add up to 1. A small group has a small one: its shares are known badly.
        """
        rows, weights = [], []
        size: Any
        for a in self.attributes:
            sums, _ = a.contrasts()
            if isinstance(a, LevelMoments):
                share = a.weight / max(a.weight.sum(), 1e-300)
                # W_g (mean_g - mean), and mean_g - mean is (1 - p_g) (mean_g - mean_rest)
                size = a.weight * (1.0 - share)
                size = np.where(size > 0, size, np.inf)
                spread = float(np.sum(share * (1.0 - share))) or 1.0
                weights.append(2.0 * share * (1.0 - share) ** 2 / spread)
            else:
                size = 0.5 * np.sqrt(a.value_scatter * a.weight) or np.inf
                weights.append(np.ones(1))
            rows.append(to_numpy(sums) / np.reshape(size, (-1, 1)))
        found, n = np.concatenate(rows), self.n_counts
        slopes = found[:, n:].reshape(len(found), n, -1)
        return found[:, :n], slopes, np.concatenate(weights)


def _weights(attributes: Sequence[AttributeMoments]) -> dict[Any, float]:
    found: dict[Any, float] = {}
    for a in attributes:
        if isinstance(a, LevelMoments):
            weights = a.weight.tolist()
            found |= {(a.name, a.stratum, g): w for g, w in zip(a.labels, weights, strict=True)}
        else:
            found[a.name, a.stratum, "a number"] = a.weight
    return found


def shares_below(rows: Rows, scores: Scores) -> SharesBelow:
    """Return how many rows of each group lie below the thresholds, in one pass."""
    if is_sparse(rows.empty):
        rows = rows.as_rows_of(MappedRows, features=_as_dense)
    rows = replace(rows, targets=())
    with quiet_overflow(), full_precision(rows.empty):
        design = Design.of(rows)
        _, counts = one_pass(rows, design, scores.centre, partial(_Counts, scores))
        assert isinstance(counts, _Counts)
        found = design.read(counts.sums, None)["attributes"]
    n_counts = scores.W.shape[1] * len(scores.thresholds)
    return SharesBelow(found, n_counts)


def _as_dense(X: Any) -> np.ndarray:
    return X.toarray()


class _Counts(TotalProducts):
    """Soft counts and slopes of the rows of each column of the design."""

    def __init__(self, scores: Scores, X: Array, design: Design, shift: Array | None) -> None:
        xp = array_namespace(X)
        self._design, self._xp = design, xp
        self._W, self._width = like(scores.W, X), scores.width
        self._at = like(np.asarray(scores.thresholds), X)
        self._n = scores.W.shape[1] * len(scores.thresholds)
        self._counts = CrossProduct((design.width, self._n), X)
        self._slopes = CrossProduct((self._n * (design.width - 1), X.shape[1]), X)

    def add(self, B: Array, block: slice) -> None:
        xp, n = self._xp, B.shape[0]
        roots = self._design.roots(block)
        score = B @ self._W
        if roots is not None:
            roots = like(roots, B)
            score = score / roots
        # tanh, not exp: it does not overflow
        t = xp.tanh(0.5 * (self._at - score[:, :, None]) / self._width)
        t = xp.reshape(t, (n, self._n))
        below, slope = 0.5 * (1.0 + t), 0.25 * (1.0 - t * t)
        H = like(self._design.block(block), B)
        self._counts.add(H, below if roots is None else below * roots)
        H = H[:, 1:]  # nobody asks for the slopes of all rows together
        each = xp.reshape(slope[:, :, None] * H[:, None, :], (n, self._n * H.shape[1]))
        self._slopes.add(each, B)

    def merge(self, other: Any) -> None:
        self._counts.merge(other._counts)
        self._slopes.merge(other._slopes)

    @property
    def sums(self) -> Array:
        """One row per column of the design: the counts, then the slopes of each."""
        xp, groups = self._xp, self._design.width - 1
        slopes = xp.reshape(self._slopes.total, (self._n, groups, -1))
        slopes = xp.reshape(xp.permute_dims(slopes, (1, 0, 2)), (groups, -1))
        slopes = xp.concat([0.0 * slopes[:1, :], slopes], axis=0)
        return xp.concat([self._counts.total, slopes], axis=1)
