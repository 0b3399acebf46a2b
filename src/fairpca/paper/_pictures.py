"""Rows of small grey pictures with words beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._panels import write
from ._style import FAINT, paper_figure

GAP = 0.06
"""White space between two pictures, in widths of one."""
WIDTH, LEFT, RIGHT, ABOVE, BELOW_PER_LINE = 9.0, 1.5, 1.4, 0.42, 0.17
"""Of the page and its margins, in inches."""


@dataclass(frozen=True, eq=False)
class PictureRow:
    """One row of a figure of pictures.

    Parameters
    ----------
    pictures : array of shape (m, size, size)
        Grey values; 0 is black, 1 is white, and what is beyond is cut off.
    label, detail : str
        What the row is, to its left.
    remark : str
        To its right.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.paper import PictureRow
    >>> row = PictureRow(np.zeros((3, 20, 20)), "plain PCA", detail="k = 10", remark="AUC 0.9")
    >>> row.pictures.shape, row.label
    ((3, 20, 20), 'plain PCA')
    """

    pictures: np.ndarray
    label: str
    detail: str = ""
    remark: str = ""


def picture_page(rows: Sequence[PictureRow], names: Sequence[str], text: str) -> Any:
    """Draw rows of pictures below one another.

    Parameters
    ----------
    rows : sequence of PictureRow
        All with the same number of pictures.
    names : sequence of str
        A few words above each column.
    text : str
        What the reader must know, below.

    Returns
    -------
    matplotlib.figure.Figure
        To be saved with its `savefig`.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.paper import PictureRow, picture_page
    >>> faces = np.random.default_rng(0).random((3, 20, 20))
    >>> rows = [PictureRow(faces, "original"), PictureRow(1 - faces, "inverted")]
    >>> figure = picture_page(rows, names=["A", "B", "C"], text="Made up.")
    >>> len(figure.axes)
    2
    """
    columns = len(names)
    picture = (WIDTH - LEFT - RIGHT) / (columns + GAP * (columns - 1))
    step = (1 + GAP) * picture
    below = BELOW_PER_LINE * (text.count("\n") + 1)
    height = ABOVE + len(rows) * step + below
    with paper_figure(WIDTH, height) as figure:
        figure.set_layout_engine("none")  # all sizes are known
        for place, row in enumerate(rows):
            bottom = height - ABOVE - place * step - picture
            box = (LEFT, bottom, WIDTH - LEFT - RIGHT, picture)
            panel = figure.add_axes(tuple(np.divide(box, (WIDTH, height, WIDTH, height))))
            _fill(panel, row)
        _names_above(figure.axes[0], names)
        figure.text(0.1 / WIDTH, 0.06 / height, text, size=8, color=FAINT, linespacing=1.35)
    return figure


def _side_by_side(pictures: np.ndarray) -> np.ndarray:
    """Return one wide picture of several square ones, with white gaps."""
    size = pictures.shape[1]
    gap = np.ones((size, max(1, round(GAP * size))))
    parts = [part for picture in pictures for part in (gap, np.clip(picture, 0, 1))]
    return np.concatenate(parts[1:], axis=1)


def _fill(panel: Any, row: PictureRow) -> None:
    wide = _side_by_side(row.pictures)
    panel.imshow(wide, cmap="gray", vmin=0, vmax=1, interpolation="nearest", aspect="auto")
    panel.axis("off")
    write(panel, row.label, (0, 0.5), (-6, 1), ha="right", va="bottom", weight="bold")
    write(panel, row.detail, (0, 0.5), (-6, -1), ha="right", va="top", color=FAINT, size=8)
    write(panel, row.remark, (1, 0.5), (6, 0), ha="left", va="center", linespacing=1.4, size=8)


def _names_above(panel: Any, names: Sequence[str]) -> None:
    look = {"ha": "center", "va": "bottom", "size": 6.5, "color": FAINT, "linespacing": 1.15}
    for column, name in enumerate(names):
        middle = (column * (1 + GAP) + 0.5) / (len(names) + GAP * (len(names) - 1))
        write(panel, name, (middle, 1), (0, 3), **look)
