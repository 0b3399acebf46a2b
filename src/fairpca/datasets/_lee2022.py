"""The ten splits of each data set behind the tables of the paper, and what others made of them."""

from __future__ import annotations

import os

import numpy as np

from ..errors import UsageError
from ._lee2022_files import SYNTHETIC, Arrays, open_loadings, open_splits
from ._lee2022_splits import Lee2022, LoadingKey, Split

N_SPLITS = 10

NAMES = ("adult", "german", "compas")

DIMENSIONS = tuple(int(name.removeprefix("synthetic2_d")) for name in SYNTHETIC)


def load_lee2022(name: str, *, data: str | os.PathLike[str] | None = None) -> Lee2022:
    """Load the ten train/test splits behind the paper's tables, already standardised.

    Parameters
    ----------
    name : {"adult", "german", "compas"}
        Which data: 2,261 rows and 97 features; 1,000 and 57; 2,468 and 11.
    data : path, optional
        Folder that holds ``lee2022/<name>.npz``, or a clone of the authors' repository
        ``fair-manifold-pca``. By default the folder in the environment variable `FAIRPCA_DATA`.
        Nothing is downloaded.

    Returns
    -------
    Lee2022
        Its `splits` are tuples (X_train, y_train, z_train, X_test, y_test, z_test).

    Raises
    ------
    MissingDataError
        If the file is not there; the message names the repository.
    DamagedDataError
        If these are not the published splits, number for number.

    Notes
    -----
    The groups z are sex (adult: 1 is male), age (german: 1 is 25 or older) and race (compas: 1
    is white). The label is 1 for an income over $50,000, a bad risk and a new arrest.

    The group itself is among the features, standardised: column 2 of adult, 4 of german and 1 of
    compas. Methods that hide it therefore begin with a feature that tells it outright. In each
    training part of adult, some columns are constant.

    References
    ----------
    .. [1] Lee, Kim, Olfat, Hasegawa-Johnson, Yoo. "Fast and Efficient MMD-Based Fair PCA via
       Optimization over Stiefel Manifold". AAAI 2022.
       https://github.com/nick-jhlee/fair-manifold-pca

    Examples
    --------
    >>> from fairpca.datasets import load_lee2022
    >>> german = load_lee2022("german")  # doctest: +SKIP
    >>> german  # doctest: +SKIP
    <Lee2022 german: 10 splits, 700 + 300 rows, 57 features>
    >>> X_train, y_train, z_train, X_test, y_test, z_test = german.splits[0]  # doctest: +SKIP
    >>> X_test.shape, z_test.shape  # doctest: +SKIP
    ((300, 57), (300,))
    """
    _check_choice("name", name, NAMES)
    return Lee2022(name, _splits(open_splits(name, data)), {})


def load_lee2022_synthetic(d: int, *, data: str | os.PathLike[str] | None = None) -> Lee2022:
    """Load the two Gaussians of the paper's Figures 2 and 3, with FPCA's loadings.

    Parameters
    ----------
    d : {20, 40, 60, 80, 100}
        Number of features.
    data : path, optional
        Folder that holds ``lee2022/synthetic2_d<d>.npz``, or a clone of the authors' repository
        ``fair-manifold-pca``. By default the folder in the environment variable `FAIRPCA_DATA`.

    Returns
    -------
    Lee2022
        336 training and 144 test rows per split; `loadings` has FPCA's d x 5 matrix of each.

    Raises
    ------
    MissingDataError, DamagedDataError
        As for `load_lee2022`.

    Examples
    --------
    >>> from fairpca.datasets import load_lee2022_synthetic
    >>> synthetic = load_lee2022_synthetic(20)  # doctest: +SKIP
    >>> synthetic.loadings[5, "fpca", 0.0, 9].shape  # doctest: +SKIP
    (20, 5)
    """
    _check_choice("d", d, DIMENSIONS)
    arrays = open_splits(f"synthetic2_d{d}", data)
    splits = _splits(arrays)
    loadings = {
        LoadingKey(matrix.shape[1], "fpca", 0.0, i): _read_only(matrix)
        for i, matrix in ((i, arrays[f"fpca_{i}"]) for i in range(N_SPLITS))
    }
    return Lee2022(f"synthetic2_d{d}", splits, loadings)


def lee2022_loadings(
    name: str, *, data: str | os.PathLike[str] | None = None
) -> dict[LoadingKey, np.ndarray]:
    """Load the matrices that the authors of FPCA and MbF-PCA computed on the ten splits.

    Parameters
    ----------
    name : {"adult", "german", "compas"}
        As for `load_lee2022`.
    data : path, optional
        Folder that holds ``lee2022/<name>_loadings.npz``, or a clone of the repository
        ``fair-manifold-pca``. By default the folder in the environment variable `FAIRPCA_DATA`.

    Returns
    -------
    dict of LoadingKey to array of shape (d, k)
        Keys are (k, method, parameter, split), such as ``(2, "fpca", 0.1, 0)`` and
        ``(10, "mbfpca", 1e-6, 9)``. The parameter is delta of FPCA (mu is 0.01), and tau of
        MbF-PCA. Which there are differs between the data.

    Raises
    ------
    MissingDataError
        If the file is not there; the message names the repository.

    Notes
    -----
    The authors' program for FPCA takes the first line of a file for a header, so FPCA's matrices
    do not know the first training row of their split.

    Examples
    --------
    >>> from fairpca.datasets import lee2022_loadings
    >>> loadings = lee2022_loadings("compas")  # doctest: +SKIP
    >>> loadings[2, "mbfpca", 1e-3, 0].shape  # doctest: +SKIP
    (11, 2)
    """
    _check_choice("name", name, NAMES)
    found = {}
    for stored, matrix in open_loadings(name, data).items():
        setting, split = stored.split("/")
        k, method, parameter = setting.split("_")
        value = float(parameter) if method == "fpca" else float(f"1e-{parameter}")
        found[LoadingKey(int(k), method, value, int(split))] = _read_only(matrix)
    return dict(sorted(found.items()))


def _splits(arrays: Arrays) -> tuple[Split, ...]:
    splits = []
    for i in range(N_SPLITS):
        rows = [_read_only(arrays[f"{part}_{i}"]) for part in ("train", "test")]
        splits.append(Split(*(part for r in rows for part in (r[:, :-2], r[:, -2], r[:, -1]))))
    return tuple(splits)


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _check_choice(argument: str, given: object, choices: tuple[object, ...]) -> None:
    if given not in choices:
        raise UsageError(f"{argument}={given!r}, but there are {', '.join(map(repr, choices))}.")
