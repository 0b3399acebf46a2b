"""The files of Lee et al. (2022): packed here as npz, published as CSV in a repository."""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from ..errors import DamagedDataError
from ._files import candidate_paths, require

Arrays = Mapping[str, np.ndarray]

CLONE = "fair-manifold-pca"

HOW_TO_GET = (
    "These files are not downloaded. They are published as CSV at "
    "https://github.com/nick-jhlee/fair-manifold-pca (MIT licence): clone that repository as "
    f"FOLDER/{CLONE}."
)

# Folders of the repository, by our names.
FOLDERS = {"adult": "Adult", "german": "German", "compas": "COMPAS"}

SYNTHETIC = tuple(f"synthetic2_d{d}" for d in (20, 40, 60, 80, 100))

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


def open_splits(name: str, data: str | os.PathLike[str] | None) -> Arrays:
    """Return arrays train_i and test_i (and fpca_i for the synthetic data), checked."""
    arrays, origin = _open(f"{name}.npz", data, lambda clone: _splits_of_clone(clone, name))
    digest = hashlib.sha256()
    for i in range(10):
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


def open_loadings(name: str, data: str | os.PathLike[str] | None) -> Arrays:
    """Return arrays ``k_method_parameter/split``."""
    return _open(f"{name}_loadings.npz", data, lambda clone: _loadings_of_clone(clone, name))[0]


def _open(
    packed: str, data: str | os.PathLike[str] | None, of_clone: Callable[[Path], Arrays]
) -> tuple[Arrays, Path]:
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
        for i in range(10)
        for kind, stem in kinds.items()
    }


def _loadings_of_clone(clone: Path, name: str) -> Arrays:
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
        lines = path.read_text().replace(",", " ").splitlines()
    except FileNotFoundError as error:
        raise DamagedDataError(f"The clone lacks '{path}'. {HOW_TO_GET}") from error
    return np.loadtxt(lines, ndmin=2)
