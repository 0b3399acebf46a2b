"""The rows of the comparison with reductions: two data sets, drawn, split and standardised."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from sklearn.preprocessing import StandardScaler

from ..datasets import load_adult, load_bank
from ..errors import UsageError

SEED = 1111
"""Draw r permutes the rows with the seed SEED * r."""


@dataclass(frozen=True)
class Draw:
    """Training and test rows, standardised by the training rows.

    Parameters
    ----------
    X, X_test : array of shape (n, d)
        Features.
    y, y_test : array of shape (n,)
        Labels, 0 or 1.
    z, z_test : array of shape (n,)
        Groups, 0 or 1.
    """

    X: np.ndarray
    y: np.ndarray
    z: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    z_test: np.ndarray


def draw_rows(dataset: str, draw: int, n_train: int, n_test: int, data: str | None = None) -> Draw:
    """Return one draw of a data set.

    Parameters
    ----------
    dataset : {"adult", "bank"}
        Adult Income with the attribute sex; Bank Marketing with the attribute older than 40, whose
        features have no age.
    draw : int
        Number of the draw.
    n_train, n_test : int
        Numbers of rows; the first of the permuted rows train, the next ones test.
    data : str, optional
        Folder with the data.

    Returns
    -------
    Draw
    """
    X, y, z = _table(dataset, data)
    order = np.random.default_rng(SEED * draw).permutation(len(X))
    train, test = order[:n_train], order[n_train : n_train + n_test]
    scaler = StandardScaler().fit(X[train])
    return Draw(
        scaler.transform(X[train]), y[train], z[train], scaler.transform(X[test]), y[test], z[test]
    )


@lru_cache(maxsize=2)
def _table(dataset: str, data: str | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if dataset == "adult":
        table, group = load_adult(data=data, sensitive=["sex"]), "Male"
    elif dataset == "bank":
        # The paper counts 20 features, so the duration of the call is one of them.
        table, group = load_bank(data=data, duration=True), "older than 40"
    else:
        raise UsageError(f"There is no data set {dataset!r} here. Use 'adult' or 'bank'.")
    assert table.target is not None
    z = (table.sensitive.iloc[:, 0] == group).to_numpy().astype(int)
    return table.numeric_features().to_numpy(dtype=float), table.target.to_numpy(), z
