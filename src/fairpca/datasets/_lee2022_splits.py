"""Data that come divided into training and test rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

DESCRIPTION = (
    "Ten random divisions into training rows (70 %) and test rows (30 %), as used by Lee et al. "
    "(2022) and in the experiments of the fair PCA paper."
)

CITATION = (
    'Lee, J., Kim, G., Olfat, M., Hasegawa-Johnson, M., & Yoo, C. D. (2022). "Fast and Efficient '
    'MMD-Based Fair PCA via Optimization over Stiefel Manifold". AAAI 2022, 7363-7371.'
)


class Split(NamedTuple):
    """Training and test rows: features, labels (0 or 1) and groups (0 or 1).

    Parameters
    ----------
    X_train, X_test : array of shape (n, d)
        Features.
    y_train, y_test : array of shape (n,)
        Labels.
    z_train, z_test : array of shape (n,)
        Groups.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.datasets import Split
    >>> rows, labels, groups = np.zeros((2, 3)), np.array([0, 1]), np.array([1, 0])
    >>> split = Split(rows, labels, groups, X_test=rows, y_test=labels, z_test=groups)
    >>> X_train, y_train, z_train, X_test, y_test, z_test = split
    >>> X_test.shape
    (2, 3)
    """

    X_train: np.ndarray
    y_train: np.ndarray
    z_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    z_test: np.ndarray


class LoadingKey(NamedTuple):
    """Which loading matrix: its width, the method, the method's parameter, and the split.

    Parameters
    ----------
    k : int
        Number of columns.
    method : {"fpca", "mbfpca"}
        Who made it.
    parameter : float
        Delta of FPCA, tau of MbF-PCA.
    split : int
        From 0 to 9.

    Examples
    --------
    >>> from fairpca.datasets import LoadingKey
    >>> LoadingKey(k=2, method="fpca", parameter=0.1, split=0) == (2, "fpca", 0.1, 0)
    True
    """

    k: int
    method: str
    parameter: float
    split: int


@dataclass(frozen=True, eq=False)
class Lee2022:
    """Data that come divided into training and test rows, ten times.

    Parameters
    ----------
    name : str
        Which data.
    splits : tuple of Split
        In the order of the published files; read-only arrays.
    loadings : mapping of LoadingKey to array of shape (d, k)
        Loading matrices that the authors computed on these splits, where they come in the same
        file; see `lee2022_loadings` for the others.
    description, citation, licence : str
        As in `Dataset`.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.datasets import Lee2022, Split
    >>> rows, labels, groups = np.zeros((2, 3)), np.array([0, 1]), np.array([1, 0])
    >>> Lee2022("mine", (Split(rows, labels, groups, rows, labels, groups),), loadings={})
    <Lee2022 mine: 1 splits, 2 + 2 rows, 3 features>
    """

    name: str
    splits: tuple[Split, ...]
    loadings: Mapping[LoadingKey, np.ndarray]
    description: str = DESCRIPTION
    citation: str = CITATION
    licence: str = "MIT"

    def __repr__(self) -> str:
        (n, d), (m, _) = self.splits[0].X_train.shape, self.splits[0].X_test.shape
        return f"<Lee2022 {self.name}: {len(self.splits)} splits, {n} + {m} rows, {d} features>"
