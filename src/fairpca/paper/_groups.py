"""Two columns of a representation, coloured by group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._style import FAINT, GROUPS, HAIR


def scatter_groups(
    axes: Any, T: np.ndarray, group: np.ndarray, *, ellipses: bool = True, most: int = 1200
) -> None:
    """Draw rows as dots, neither group on top, with an ellipse of two standard deviations each.

    Parameters
    ----------
    axes : matplotlib axes
        Panel to draw into.
    T : array of shape (n, 2)
        Two columns of a representation.
    group : array of shape (n,)
        Groups, 0 or 1.
    ellipses : bool
        Whether to draw the groups' means and covariances as ellipses.
    most : int
        Number of rows to draw at most; of more, a fixed sample is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.paper import paper_figure, scatter_groups
    >>> rng = np.random.default_rng(0)
    >>> group = np.arange(200) % 2
    >>> with paper_figure(3, 3) as figure:
    ...     axes = figure.subplots()
    ...     scatter_groups(axes, rng.normal(size=(200, 2)) + group[:, None], group)
    >>> len(axes.lines)  # an ellipse each
    2
    """
    order = np.random.default_rng(0).permutation(len(T))[:most]
    colours = np.array(GROUPS)[group[order]]
    axes.scatter(*T[order].T, s=5, c=colours, alpha=0.55, linewidth=0, rasterized=True)
    if ellipses:
        for g, colour in enumerate(GROUPS):
            axes.plot(*_ellipse(T[group == g]), color=colour, linewidth=1.8)
    axes.set(aspect="equal", adjustable="datalim", box_aspect=1)
    axes.locator_params(nbins=4)
    axes.tick_params(length=2, labelsize=7.5, labelcolor=FAINT)
    axes.spines[:].set(visible=True, color=HAIR)


def _ellipse(T: np.ndarray) -> np.ndarray:
    angle = np.linspace(0, 2 * np.pi, 200)
    values, vectors = np.linalg.eigh(np.cov(T.T))
    axes_of_it = vectors * np.sqrt(np.maximum(values, 0))
    circle = np.stack([np.cos(angle), np.sin(angle)])
    outline: np.ndarray = 2 * axes_of_it @ circle + T.mean(axis=0)[:, None]
    return outline


def group_legend(axes: Any, names: Mapping[int, str]) -> None:
    """Name the groups in their colours inside a panel.

    Parameters
    ----------
    axes : matplotlib axes
        Panel to write into.
    names : mapping of int to str
        What to call each group.

    Examples
    --------
    >>> from fairpca.paper import group_legend, paper_figure
    >>> with paper_figure(3, 3) as figure:
    ...     axes = figure.subplots()
    ...     group_legend(axes, {0: "women", 1: "men"})
    >>> [text.get_text() for text in axes.texts]
    ['women', 'men']
    """
    for place, (g, name) in enumerate(names.items()):
        axes.annotate(
            name,
            (0, 1),
            (5, -5 - 12 * place),
            xycoords="axes fraction",
            textcoords="offset points",
            va="top",
            color=GROUPS[g],
            weight="bold",
            size=8.5,
        )


def numbers_below(axes: Any, numbers: Mapping[str, str], *, label: bool) -> None:
    """Write numbers under a panel, one per line.

    Parameters
    ----------
    axes : matplotlib axes
        Panel to write below.
    numbers : mapping of str to str
        What they are, and the numbers as they are to be shown.
    label : bool
        Whether to write what they are, to the left.

    Examples
    --------
    >>> from fairpca.paper import numbers_below, paper_figure
    >>> with paper_figure(3, 3) as figure:
    ...     axes = figure.subplots()
    ...     numbers_below(axes, {"AUC": "0.52"}, label=True)
    >>> [text.get_text() for text in axes.texts]
    ['0.52', 'AUC']
    """
    for line, (name, text) in enumerate(numbers.items()):
        place = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "top"}
        axes.annotate(text, (0.5, 0), (0, -34 - 13 * line), ha="center", **place)
        if label:
            axes.annotate(name, (0, 0), (-6, -34 - 13 * line), ha="right", **place)
