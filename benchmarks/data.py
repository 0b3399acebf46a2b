"""Synthetic rows of two groups, with a flat spectrum or one that decays."""

from functools import lru_cache

import numpy as np
import scipy.fft

BLOCK = 4_000


@lru_cache(maxsize=1)
def made_rows(n: int, d: int, dtype: str = "f8", spectrum: str = "decaying") -> tuple:
    """Return X and z.

    Flat: independent standard normals, as in a standardised table of unrelated columns. Decaying:
    feature j has standard deviation j^-0.7 (steep: j^-1.5), then all are rotated, so that no
    feature is a direction. Group 1 is shifted by 1 in the first feature.
    """
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, n)
    X = np.empty((n, d), dtype)
    power = {"steep": 1.5}.get(spectrum, 0.7)
    scale = (np.sqrt(d) * np.arange(1, d + 1) ** -power).astype(dtype)
    for start in range(0, n, BLOCK):
        rows = slice(start, min(start + BLOCK, n))
        block = rng.standard_normal((rows.stop - start, d), dtype)
        if spectrum != "flat":
            block = scipy.fft.dct(block * scale, norm="ortho")
        block[:, 0] += z[rows]
        X[rows] = block
    return X, z


def unequal_rows(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return decaying rows whose groups have different covariances, and z."""
    X, z = made_rows(n, d)
    stretch = np.random.default_rng(1).uniform(0.7, 1.4, d)
    return np.where(z[:, None] == 1, X * stretch, X), z
