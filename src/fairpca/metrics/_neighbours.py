"""What retrieval sees of a representation: which rows are near, and how near."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.utils import check_random_state, gen_batches

from .._attributes import check_frames
from ..errors import UsageError
from ._inputs import finite_rows

_BLOCK_ENTRIES = 2**22
_ROUNDING = 1e-13  # similarities of rows of unit length that differ by less are the same


def neighbours_kept(
    X: ArrayLike, T: ArrayLike, *, n_neighbors: int = 10, metric: str = "cosine"
) -> float:
    """Share of each row's nearest neighbours that are still among its nearest in a representation.

    What search, clustering and nearest neighbours lose by it. Of unrelated rows about
    ``n_neighbors / (n_samples - 1)`` are still there by chance. Use held-out rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows before, such as embeddings.
    T : array-like of shape (n_samples, n_components)
        The same rows after, in any number of columns.
    n_neighbors : int, default=10
        How many neighbours of each row to look for, itself not counted.
    metric : {"cosine", "euclidean"}, default="cosine"
        By what rows are near, in both. A row of zeros has cosine 0 with all others.

    Returns
    -------
    share : float
        Mean over the rows: 1 where every row has the same neighbours.

    See Also
    --------
    similarity_correlation : Compares how similar rows are, near or far.

    Notes
    -----
    All pairs of rows are compared, block by block: the time grows with the square of their number,
    and 10,000 rows of 384 columns take some seconds. Of more, draw a sample, the same rows of both.

    Where several rows are equally near and not all of them are among the nearest, each counts for
    its share of the places. So the result does not depend on the order of the rows, and copies of
    a row do no harm.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.metrics import neighbours_kept
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 20))
    >>> neighbours_kept(X, X)
    1.0
    >>> round(neighbours_kept(X, X[:, 1:]), 2)
    0.79
    """
    return float(neighbours_kept_of_each(X, T, n_neighbors, metric).mean())


def neighbours_kept_of_each(
    X: ArrayLike, T: ArrayLike, n_neighbors: int, metric: str = "cosine"
) -> np.ndarray:
    """Return, for each row, the share of its nearest neighbours that are still among them."""
    before, after = _pair_of_rows(X, T, metric)
    n = len(before)
    if isinstance(n_neighbors, bool) or not 1 <= n_neighbors < n:
        raise UsageError(
            f"n_neighbors={n_neighbors!r} was given, but each of {n} rows has {n - 1} others. Use "
            f"a number from 1 to {n - 1}."
        )
    kept = np.empty(n)
    for block in gen_batches(n, max(1, _BLOCK_ENTRIES // n)):
        near = [_nearest(rows, block, int(n_neighbors), metric) for rows in (before, after)]
        kept[block] = np.minimum(*near).sum(axis=1)
    return kept / n_neighbors


def similarity_correlation(
    X: ArrayLike,
    T: ArrayLike,
    *,
    metric: str = "cosine",
    n_pairs: int = 100_000,
    random_state: int | np.random.RandomState | None = None,
) -> float:
    """Rank correlation between similarities of pairs of rows before and after.

    1 where pairs that are more similar than others still are. Benchmarks of sentence embeddings
    compare similarities with human judgements in this way; here they are compared with those of
    the embeddings that were changed. Use held-out rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows before, such as embeddings.
    T : array-like of shape (n_samples, n_components)
        The same rows after, in any number of columns.
    metric : {"cosine", "euclidean"}, default="cosine"
        How similarity is measured, in both. A row of zeros has cosine 0 with all others.
    n_pairs : int, default=100_000
        Number of pairs to draw where there are more. The standard error is then about
        ``1 / sqrt(n_pairs)`` at most, beside that of the rows.
    random_state : int, RandomState or None, default=None
        Seed of the pairs that are drawn.

    Returns
    -------
    correlation : float
        Spearman's, between -1 and 1.

    See Also
    --------
    neighbours_kept : Compares the nearest rows only, which retrieval returns.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.metrics import similarity_correlation
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 20))
    >>> round(similarity_correlation(X, 2 * X), 6)
    1.0
    >>> round(similarity_correlation(X, X[:, 1:], random_state=0), 2)
    0.97
    """
    before, after = _pair_of_rows(X, T, metric)
    n = len(before)
    if isinstance(n_pairs, bool) or n_pairs < 3 or n < 3:
        raise UsageError(
            f"n_pairs={n_pairs!r} and {n} rows were given, but a correlation needs 3 pairs at "
            f"least. Pass 3 rows or more; the default is 100,000 pairs."
        )
    total, drawn = n * (n - 1) // 2, np.arange(0)
    if total <= n_pairs:
        drawn = np.arange(total)
    else:
        seed = check_random_state(random_state).randint(2**31 - 1)
        drawn = np.random.default_rng(seed).choice(total, size=int(n_pairs), replace=False)
    i, j = _pair(drawn)
    ranks = []
    for name, rows in (("X", before), ("T", after)):
        similar = np.empty(len(i))
        for block in gen_batches(len(i), max(1, _BLOCK_ENTRIES // rows.shape[1])):
            a, b = rows[i[block]], rows[j[block]]
            if metric == "cosine":
                similar[block] = np.round(np.sum(a * b, axis=1) / _ROUNDING)
            else:
                similar[block] = -np.sum((a - b) ** 2, axis=1)
        rank = rankdata(similar)
        if np.ptp(rank) == 0:
            raise UsageError(
                f"All pairs of rows of {name} are equally similar, so that they have no order to "
                f"compare. Pass rows that differ, in more columns than one for the cosine."
            )
        ranks.append(rank)
    return float(np.corrcoef(*ranks)[0, 1])


def _pair_of_rows(X: ArrayLike, T: ArrayLike, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows before and after in double: of unit length, or about their mean."""
    if metric not in ("cosine", "euclidean"):
        raise UsageError(f"metric={metric!r} is not an option. Use one of 'cosine', 'euclidean'.")
    before, after = (finite_rows(rows, min_rows=2).astype(np.float64) for rows in (X, T))
    if len(before) != len(after):
        raise UsageError(
            f"X has {len(before)} rows and T has {len(after)}, so they cannot be paired. Pass the "
            f"same rows before and after, in the same order."
        )
    check_frames(X=X, T=T)
    if metric == "euclidean":
        return before - before.mean(axis=0), after - after.mean(axis=0)
    return _of_unit_length(before), _of_unit_length(after)


def _of_unit_length(rows: np.ndarray) -> np.ndarray:
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows = rows / np.where(largest > 0, largest, 1.0)  # whose squares are numbers
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1.0))


def _nearest(rows: np.ndarray, block: slice, k: int, metric: str) -> np.ndarray:
    """Return how much each row (n) counts as one of the k nearest of each row of a block (b, n)."""
    similar = rows[block] @ rows.T
    rounding: float | np.ndarray = _ROUNDING
    if metric == "euclidean":
        squares = np.sum(rows * rows, axis=1)
        sizes = squares[block, None] + squares
        similar, rounding = 2.0 * similar - sizes, _ROUNDING * sizes
    itself = np.arange(block.stop - block.start), np.arange(block.start, block.stop)
    similar[itself] = -np.inf
    last = np.partition(similar, len(rows) - k, axis=1)[:, len(rows) - k, None]
    nearer, as_near = similar > last + rounding, np.abs(similar - last) <= rounding
    as_near[itself] = False
    places = (k - nearer.sum(axis=1, keepdims=True)) / as_near.sum(axis=1, keepdims=True)
    return np.asarray(nearer + as_near * places)


def _pair(number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two different rows i > j of the pair of each number: 10, 20, 21, 30, 31, ..."""
    i = np.floor((1.0 + np.sqrt(1.0 + 8.0 * number)) / 2.0).astype(np.int64)
    i -= i * (i - 1) // 2 > number  # the root is rounded
    i += i * (i + 1) // 2 <= number
    return i, number - i * (i - 1) // 2
