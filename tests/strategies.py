"""Data nobody chose: far from the origin, tiny groups, nested attributes, rank-deficient."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def grouped_rows(draw, min_features=3, max_features=7, weights=False):
    """Return X and a dict of columns: levels, a coarser copy of them, and numbers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(20, 60))
    d = draw(st.integers(min_features, max_features))
    m = draw(st.integers(2, 4))
    z = rng.integers(0, m, n)
    z[:m] = np.arange(m)
    if draw(st.booleans()):
        z[m:] = np.where(rng.random(n - m) < 0.9, 0, z[m:])  # small groups
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    X += rng.normal(size=(m, d))[z]
    shape = draw(st.sampled_from(["plain", "duplicated column", "constant column"]))
    if shape == "duplicated column":
        X[:, -1] = X[:, 0]
    elif shape == "constant column":
        X[:, -1] = 3.25
    X += draw(st.sampled_from([0.0, 1.0, 1e3, 1e6])) * rng.normal(size=d)
    columns = {"z": z}
    if draw(st.booleans()):
        columns["coarser"] = z // 2
        if len(np.unique(columns["coarser"])) < 2:
            columns.pop("coarser")
    if draw(st.booleans()) and d > m + 1:
        columns["v"] = rng.normal(size=n) + X[:, 0] - X[:, 0].mean()
    if not weights:
        return X, columns
    return X, columns, rng.uniform(0.1, 3.0, n)
