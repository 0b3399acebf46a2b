"""Text for plotly, which reads a few tags and entities in every label."""

from __future__ import annotations

import textwrap

from ..wording import shortened

MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def plot_text(text: str, *, length: int = 48, width: int | None = None) -> str:
    """Return text that plotly shows as it is, cut to a length and broken into lines of a width.

    Examples
    --------
    >>> plot_text("<b>R&D</b>")
    '&lt;b&gt;R&amp;D&lt;/b&gt;'
    >>> plot_text("Fair PCA, equal covariances", width=16)
    'Fair PCA, equal<br>covariances'
    """
    text = shortened(text, length)
    lines = [text] if width is None else textwrap.wrap(text, width) or [""]
    return "<br>".join(line.translate(MARKUP) for line in lines)


def hover_lines(*lines: str) -> str:
    """Return lines, which may hold data, as the text of a hover label."""
    return "<br>".join(plot_text(line, length=80) for line in lines if line)
