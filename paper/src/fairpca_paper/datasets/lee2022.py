"""The ten splits of each data set behind the tables of the paper, and what others made of them.

The files are packed here as npz, and published as CSV in a repository.
"""

from __future__ import annotations

import hashlib
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fairpca.errors import UsageError

from .errors import DamagedDataError
from .source import DataFolder, candidate_paths, require

Arrays = Mapping[str, np.ndarray]

N_SPLITS = 10

DESCRIPTION = (
    "Ten random divisions into training rows (70 %) and test rows (30 %), as used by Lee et al. "
    "(2022) and in the experiments of the fair PCA paper."
)

CITATION = (
    'Lee, J., Kim, G., Olfat, M., Hasegawa-Johnson, M., & Yoo, C. D. (2022). "Fast and Efficient '
    'MMD-Based Fair PCA via Optimization over Stiefel Manifold". AAAI 2022, 7363-7371.'
)

CLONE = "fair-manifold-pca"

HOW_TO_GET = (
    "These files are not downloaded. They are published as CSV at "
    "https://github.com/nick-jhlee/fair-manifold-pca (MIT licence): clone that repository as "
    f"FOLDER/{CLONE}."
)

# Folders of the repository, by our names.
FOLDERS = {"adult": "Adult", "german": "German", "compas": "COMPAS"}

DIMENSIONS = (20, 40, 60, 80, 100)

# sha256 of the numbers themselves (float64, little-endian; train_0, test_0, train_1, ...), so that
# it does not matter how they were packed.
SHA256 = {
    "adult": "528e0cb845771a0f32edc5ba3967d23be3b92ac1d10f6a94ad9f4e84e979da1c",
    "german": "8678369184cb808cd9137e2d73c9b36212eb34c688dc20f4230fab7870aef09b",
    "compas": "c5f1ff16722acb46e398d58980ffa522ddb74806897fde428bb55030a4d073b2",
    "synthetic2_d20": "27beeeec38fffb28c9c172cb5da34ba6bd02e9e138ef5589e9370e99374ad1fc",
    "synthetic2_d40": "f5ed37bf8f04a8f6451425680f317bd4507cfdcad2e25be4a9748d56ad8f2f15",
    "synthetic2_d60": "31d43abbff6a60513505a66c30720233e58e41895dc744009060fd4d6ad09d4b",
    "synthetic2_d80": "577719e58675e1f2a7cce5fea55f48880f7ee5435f243e8be2d9827b853824ff",
    "synthetic2_d100": "84ec0dfa1194b4e26be98c87fae6201ccd38edc8021a2a99eabe760409ee60a9",
}

# The repository calls MbF-PCA by an earlier name, too.
SETTING = re.compile(r"(?P<k>\d+)_(?P<method>fpca|mbfpca|stfpca)_(?P<parameter>[\d.]+)")


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
    >>> from fairpca_paper.datasets import Split
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
    >>> from fairpca_paper.datasets import LoadingKey
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
    >>> from fairpca_paper.datasets import Lee2022, Split
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


def load_lee2022(name: str, *, data: DataFolder = None) -> Lee2022:
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
    >>> from fairpca_paper.datasets import load_lee2022
    >>> german = load_lee2022("german")  # doctest: +SKIP
    >>> german  # doctest: +SKIP
    <Lee2022 german: 10 splits, 700 + 300 rows, 57 features>
    >>> X_train, y_train, z_train, X_test, y_test, z_test = german.splits[0]  # doctest: +SKIP
    >>> X_test.shape, z_test.shape  # doctest: +SKIP
    ((300, 57), (300,))
    """
    _check_choice("name", name, tuple(FOLDERS))
    return Lee2022(name, _splits(_open_splits(name, data)), {})


def load_lee2022_synthetic(d: int, *, data: DataFolder = None) -> Lee2022:
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
    >>> from fairpca_paper.datasets import load_lee2022_synthetic
    >>> synthetic = load_lee2022_synthetic(20)  # doctest: +SKIP
    >>> synthetic.loadings[5, "fpca", 0.0, 9].shape  # doctest: +SKIP
    (20, 5)
    """
    _check_choice("d", d, DIMENSIONS)
    arrays = _open_splits(f"synthetic2_d{d}", data)
    matrices = [_read_only(arrays[f"fpca_{i}"]) for i in range(N_SPLITS)]
    loadings = {LoadingKey(V.shape[1], "fpca", 0.0, i): V for i, V in enumerate(matrices)}
    return Lee2022(f"synthetic2_d{d}", _splits(arrays), loadings)


def lee2022_loadings(name: str, *, data: DataFolder = None) -> dict[LoadingKey, np.ndarray]:
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
    >>> from fairpca_paper.datasets import lee2022_loadings
    >>> loadings = lee2022_loadings("compas")  # doctest: +SKIP
    >>> loadings[2, "mbfpca", 1e-3, 0].shape  # doctest: +SKIP
    (11, 2)
    """
    _check_choice("name", name, tuple(FOLDERS))
    found = {}
    arrays, _ = _open(f"{name}_loadings.npz", data, lambda clone: _loadings_of_clone(clone, name))
    for stored, matrix in arrays.items():
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


def _open_splits(name: str, data: DataFolder) -> Arrays:
    """Return arrays train_i and test_i (and fpca_i for the synthetic data), checked."""
    arrays, origin = _open(f"{name}.npz", data, lambda clone: _splits_of_clone(clone, name))
    digest = hashlib.sha256()
    for i in range(N_SPLITS):
        for part in ("train", "test"):
            key = f"{part}_{i}"
            if key not in arrays:
                raise DamagedDataError(f"'{origin}' lacks '{key}'. {HOW_TO_GET}")
            digest.update(np.ascontiguousarray(arrays[key], dtype="<f8").tobytes())
    if digest.hexdigest() != SHA256[name]:
        raise DamagedDataError(
            f"'{origin}' does not hold the published splits of '{name}': the sha256 of the numbers "
            f"is {digest.hexdigest()}, expected {SHA256[name]}. {HOW_TO_GET}"
        )
    return arrays


def _open(packed: str, data: DataFolder, of_clone: Callable[[Path], Arrays]) -> tuple[Arrays, Path]:
    """Return the arrays of an npz file, or of a clone of the repository, and where it is."""
    places = candidate_paths(data, "lee2022", packed)
    clones = [path for path in candidate_paths(data, CLONE) if (path / "datasets").is_dir()]
    if clones and not any(path.exists() for path in places):
        return of_clone(clones[0]), clones[0]
    path = require(data, "lee2022", packed, how_to_get=HOW_TO_GET)
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            return dict(arrays), path
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DamagedDataError(f"'{path}' cannot be read ({error}). {HOW_TO_GET}") from error


def _splits_of_clone(clone: Path, name: str) -> Arrays:
    if name in FOLDERS:
        folder, first = clone / "datasets" / FOLDERS[name], 0
        kinds = {"train": "train", "test": "test"}
    else:  # numbered from 1, with FPCA's loadings beside the data
        folder, first = clone / "synthetic2" / name.removeprefix("synthetic2_d"), 1
        kinds = {"train": "train", "test": "test", "fpca": "FPCA_V"}
    return {
        f"{kind}_{i}": _numbers(folder / f"{stem}_{i + first}.csv")
        for i in range(N_SPLITS)
        for kind, stem in kinds.items()
    }


def _loadings_of_clone(clone: Path, name: str) -> Arrays:
    """Return arrays ``k_method_parameter/split``."""
    found = {}
    for path in sorted((clone / "uci" / FOLDERS[name]).glob("*/*_V_*.csv")):
        setting = SETTING.fullmatch(path.parent.name)
        if setting:
            method = "fpca" if setting["method"] == "fpca" else "mbfpca"
            split = path.stem.rsplit("_", 1)[1]
            key = f"{setting['k']}_{method}_{setting['parameter']}/{split}"
            found[key] = _numbers(path)
    if not found:
        raise DamagedDataError(
            f"'{clone}' has no loading matrices in 'uci/{FOLDERS[name]}'. {HOW_TO_GET}"
        )
    return found


def _numbers(path: Path) -> np.ndarray:
    """Read a file of numbers; some are divided by commas, some by blanks."""
    try:
        lines = path.read_text(encoding="utf-8").replace(",", " ").splitlines()
    except FileNotFoundError as error:
        raise DamagedDataError(f"The clone lacks '{path}'. {HOW_TO_GET}") from error
    return np.loadtxt(lines, ndmin=2)
