"""Rows to fit: two hundred decaying factors plus noise, and a binary attribute."""

import numpy as np


def factor_rows(n: int, d: int, dtype: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return X with the spectrum of real tables (a few strong directions, a long tail), and z."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 2, n)
    rank = min(n, d, 200)
    loadings = rng.standard_normal((rank, d), dtype=np.float32)
    loadings /= np.sqrt(np.arange(1, rank + 1, dtype=np.float32))[:, None]
    X = np.empty((n, d), dtype=dtype)
    for start in range(0, n, 50_000):
        rows = slice(start, min(start + 50_000, n))
        size = rows.stop - rows.start
        X[rows] = rng.standard_normal((size, rank), dtype=np.float32) @ loadings
        X[rows] += rng.standard_normal((size, d), dtype=np.float32)
        X[rows, 0] += z[rows]
    return X, z
