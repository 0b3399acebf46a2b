"""Area under the ROC curve from ranks: of many relabellings at once, and each row's part in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import rankdata

_BLOCK_ENTRIES = 2**22


def macro_auc(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """One-vs-rest AUC, averaged over the levels, of each labelling of the same rows.

    Parameters
    ----------
    scores : array of shape (n, s)
        Column l scores membership in level l. A single column is the score of level 1 of two.
    codes : array of shape (p, n)
        Integer levels of the rows; every labelling has the same number of rows of each level,
        and at least one.

    Returns
    -------
    auc : array of shape (p,)

    Notes
    -----
    Mann-Whitney: with R the sum of the ranks of the n1 rows of a level (ties share their mean
    rank), AUC = (R - n1 (n1 + 1) / 2) / (n1 (n - n1)).
    """
    n, n_scores = scores.shape
    auc = np.zeros(len(codes))
    for column, level in zip(scores.T, _scored_levels(scores), strict=True):
        n1 = int(np.count_nonzero(codes[0] == level))
        rank_sums = (codes == level) @ rankdata(column)
        auc += (rank_sums - n1 * (n1 + 1) / 2) / (n1 * (n - n1))
    mean: np.ndarray = auc / n_scores
    return mean


def placements(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Share of the rows on the other side that each row is ordered rightly with, level by level.

    Parameters
    ----------
    scores : array of shape (n, s)
        As in `macro_auc`.
    codes : array of shape (n,)
        Integer levels of the rows; every level has a row, and not all of them.

    Returns
    -------
    placed : array of shape (n, s)
        For a row of level l, column l is the share of the other rows that score lower; for
        another row, the share of the rows of level l that score higher. Ties count one half. The
        mean over either side is the AUC of the level.

    Notes
    -----
    The placement values of DeLong, DeLong and Clarke-Pearson (1988), whose variances on either
    side make up that of the AUC. The rank among all rows less the rank on one's own side counts
    the other side, so all of them cost one sort.

    Examples
    --------
    >>> placements(np.array([[0.1], [0.6], [0.3], [0.9]]), np.array([0, 0, 1, 1])).ravel()
    array([1. , 0.5, 0.5, 1. ])
    """
    placed = np.empty(scores.shape)
    for column, level in enumerate(_scored_levels(scores)):
        inside = codes == level
        ranks = rankdata(scores[:, column])
        for side in (inside, ~inside):
            lower = ranks[side] - rankdata(scores[side, column])
            placed[side, column] = lower / np.count_nonzero(~side)
        placed[~inside, column] = 1.0 - placed[~inside, column]
    return placed


def permuted_macro_auc(
    scores: np.ndarray, codes: np.ndarray, n_permutations: int, rng: np.random.Generator
) -> np.ndarray:
    """AUC of fixed scores under random permutations of the labels, shape (n_permutations,)."""
    blocks = _permutations(codes, n_permutations, rng)
    return np.concatenate([macro_auc(scores, block) for block in blocks])


def _permutations(
    codes: np.ndarray, n_permutations: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    block_size = max(1, _BLOCK_ENTRIES // len(codes))
    for start in range(0, n_permutations, block_size):
        size = min(block_size, n_permutations - start)
        yield rng.permuted(np.tile(codes, (size, 1)), axis=1)


def _scored_levels(scores: np.ndarray) -> Sequence[int]:
    return [1] if scores.shape[1] == 1 else range(scores.shape[1])
