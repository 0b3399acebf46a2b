"""The only place that imports matplotlib, and only when a figure is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import MissingExtraError
from ._style import RC

DPI = 200
"""Dots per inch of bitmaps."""


@contextmanager
def paper_figure(width: float, height: float) -> Iterator[Any]:
    """Open an empty figure in the package's style; fill it inside the ``with`` block.

    No window is opened and no global setting of matplotlib stays changed.

    Parameters
    ----------
    width, height : float
        Size in inches. A page of the paper is 6.75 inches wide.

    Yields
    ------
    matplotlib.figure.Figure
        Lays itself out; remembers the style when it is saved.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> from fairpca.paper import paper_figure
    >>> with paper_figure(3, 2) as figure:
    ...     axes = figure.subplots()
    ...     _ = axes.plot([1, 2], [3, 4])
    >>> figure.get_size_inches().tolist()
    [3.0, 2.0]
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plots", "Drawing a figure") from error

    class StyledFigure(Figure):
        """A figure that is saved in the style it was drawn in, as some settings act then."""

        def savefig(self, *arguments: Any, **options: Any) -> None:
            with mpl.rc_context(RC):
                super().savefig(*arguments, **options)

    with mpl.rc_context(RC):
        yield StyledFigure(
            figsize=(width, height), dpi=DPI, facecolor="white", layout="constrained"
        )
