"""Are the groups distributed alike? The squared MMD of every attribute, with its p-value."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.spatial.distance import pdist

from ..metrics import MMDKernel, MMDTest
from ._held_out import Effort, HeldOut
from ._splits import evenly_sampled, represents, sampled_with_rare_groups


def discrepancies(
    held_out: HeldOut, T: np.ndarray, effort: Effort, rng: np.random.Generator
) -> list[MMDTest]:
    """Test every attribute; those whose groups a common sample represents share one kernel matrix.

    Where groups are unknown or rare, the attribute gets rows of its own: what the common sample
    has of them may be next to nothing.
    """
    common = evenly_sampled(held_out.codes, effort.mmd_rows, rng)
    shared = MMDKernel(T[common], bandwidth=_bandwidth(T[common]))
    tests = []
    for codes in held_out.codes:
        rows, kernel = common, shared
        if not represents(common, codes):
            rows = sampled_with_rare_groups(codes, effort.mmd_rows, rng)
            kernel = MMDKernel(T[rows], bandwidth=_bandwidth(T[rows]))
        seed = int(rng.integers(2**31))
        tests.append(
            kernel.test(codes[rows], n_permutations=effort.mmd_permutations, random_state=seed)
        )
    return tests


def _bandwidth(T: np.ndarray) -> float | Literal["median"]:
    """Return the root of the mean squared distance where most rows are alike."""
    sample = T[: min(len(T), 400)]
    if np.median(pdist(sample, "sqeuclidean")) > 0 and len(np.unique(T, axis=0)) > len(T) / 2:
        return "median"
    spread = float(T.var(axis=0).sum())
    return float(np.sqrt(spread)) if spread > 0 else 1.0
