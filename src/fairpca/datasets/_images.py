"""Pictures become rows of grey values. The only file that imports PIL."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DamagedDataError, MissingExtraError, UsageError


def grey_rows(
    paths: Sequence[Path],
    size: int,
    *,
    crop: bool = False,
    sha256: Mapping[Path, str] | None = None,
) -> np.ndarray:
    """Return one row of grey values per picture.

    Parameters
    ----------
    paths : sequence of n Path
        Files of any size and format that PIL reads.
    size : int
        Pictures are made `size` pixels wide and high, by a filter that averages over the pixels
        it merges.
    crop : bool, default=False
        Whether to cut the largest centred square first, rather than to squeeze the longer side.
    sha256 : mapping, optional
        Checksums of some or all files; a file whose checksum differs is refused.

    Returns
    -------
    array of shape (n, size * size), float32
        From 0 (black) to 1 (white), row by row from the top left. The only copy: nothing else of
        this size is made on the way.

    Raises
    ------
    DamagedDataError
        If a file is not a readable picture, or not the published one.
    """
    if size < 1:
        raise UsageError(f"size={size}, but a picture has at least one pixel.")
    pil = _import_pil()
    rows = np.empty((len(paths), size * size), dtype=np.float32)
    for row, path in zip(rows, paths, strict=True):
        content = path.read_bytes()
        _check(path, content, sha256 or {})
        row[:] = _grey(pil, path, content, size, crop)
    rows /= 255
    return rows


def pixel_names(size: int) -> list[str]:
    """Return the names of the columns of `grey_rows`.

    Examples
    --------
    >>> pixel_names(2)
    ['pixel_0_0', 'pixel_0_1', 'pixel_1_0', 'pixel_1_1']
    """
    return [f"pixel_{row}_{column}" for row in range(size) for column in range(size)]


def chosen_rows(rows: int | Sequence[int] | None, n_rows: int) -> np.ndarray:
    """Return positions of rows: all, the first so many, or those named.

    Examples
    --------
    >>> chosen_rows(2, n_rows=5), chosen_rows(range(3, 5), n_rows=5)
    (array([0, 1]), array([3, 4]))
    """
    if rows is None:
        return np.arange(n_rows)
    if isinstance(rows, int | np.integer):
        if rows < 1:
            raise UsageError(f"rows={rows}, but at least one row is needed.")
        return np.arange(min(int(rows), n_rows))
    positions = np.asarray(rows, dtype=int)
    if positions.size == 0 or positions.min() < 0 or positions.max() >= n_rows:
        raise UsageError(
            f"rows must name at least one of the rows 0 to {n_rows - 1}, each by its position; "
            f"given were {positions.size} positions"
            + (f" from {positions.min()} to {positions.max()}." if positions.size else ".")
        )
    return positions


def _grey(pil: Any, path: Path, content: bytes, size: int, crop: bool) -> np.ndarray:
    try:
        with pil.open(io.BytesIO(content)) as picture:
            grey = picture.convert("L")
    except (OSError, SyntaxError, ValueError) as error:
        raise DamagedDataError(
            f"'{path}' is not a readable picture ({error}). Replace it, or remove it to do "
            f"without it."
        ) from error
    box = None
    if crop:
        side = min(grey.size)
        left, top = ((length - side) / 2 for length in grey.size)
        box = (left, top, left + side, top + side)
    return np.asarray(grey.resize((size, size), pil.Resampling.LANCZOS, box=box)).ravel()


def _check(path: Path, content: bytes, sha256: Mapping[Path, str]) -> None:
    expected = sha256.get(path)
    if expected is None:
        return
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise DamagedDataError(
            f"'{path}' is not the listed picture: its sha256 is {found}, expected {expected}. "
            f"Replace it, or remove it to do without it."
        )


def _import_pil() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError("PIL", "data", "Reading pictures") from error
    return Image
