"""Area under the ROC curve from ranks, for many relabellings of the same scores at once."""

from __future__ import annotations

from collections.abc import Iterator

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
    levels = [1] if n_scores == 1 else range(n_scores)
    auc = np.zeros(len(codes))
    for column, level in zip(scores.T, levels, strict=True):
        n1 = int(np.count_nonzero(codes[0] == level))
        rank_sums = (codes == level) @ rankdata(column)
        auc += (rank_sums - n1 * (n1 + 1) / 2) / (n1 * (n - n1))
    return auc / n_scores


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
