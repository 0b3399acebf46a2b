"""One look for all figures: a method has the same colour and marker wherever it appears.

The only place that imports matplotlib, and only when a figure is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

# Colours of Okabe and Ito (2008), told apart by colour-blind readers.
BLACK, GREY = "#222222", "#8C8C8C"
BLUE, SKY, GREEN = "#0072B2", "#56B4E9", "#009E73"
ORANGE, VERMILLION, PURPLE = "#E69F00", "#D55E00", "#CC79A7"
INDIGO = "#44318D"

INK, FAINT, HAIR = "#222222", "#666666", "#D9D9D9"
"""Text, secondary text, and lines that should not be seen first."""

GROUPS = (BLUE, VERMILLION)
"""Colours of two groups of people; these figures show no methods by colour."""

DPI = 200
"""Dots per inch of bitmaps."""

RC: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.labelsize": 9.0,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": HAIR,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "mathtext.default": "regular",
    "pdf.fonttype": 42,  # text in PDF files stays text
}


@dataclass(frozen=True)
class MethodStyle:
    """How a method is drawn: a colour per family, solid lines and in front where it is ours."""

    colour: str
    marker: str
    line: str = "--"
    filled: bool = True
    ours: bool = False

    @property
    def face(self) -> str:
        """Colour of the inside of boxes, light enough to see the median on it."""
        return _tint(self.colour, (0.55 if self.ours else 0.35) if self.filled else 0.0)

    @property
    def width(self) -> float:
        """Width of the line in points."""
        return 2.0 if self.ours else 1.2

    @property
    def order(self) -> int:
        """Drawing order: higher is in front."""
        return 3 if self.ours else 2


def _tint(colour: str, share: float) -> str:
    """Mix a colour with white."""
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(share * part + (1 - share) * 255):02x}" for part in parts)


STYLES = {
    "PCA": MethodStyle(BLACK, "o", line=":"),
    "FPCA (0.1, 0.01)": MethodStyle(ORANGE, "s", filled=False, line="-."),
    "FPCA (0, 0.01)": MethodStyle(ORANGE, "s"),
    "MbF-PCA (10^-3)": MethodStyle(SKY, "^"),
    "MbF-PCA (10^-6)": MethodStyle(SKY, "^", filled=False, line="-."),
    "INLP": MethodStyle(GREY, "v"),
    "RLACE": MethodStyle(PURPLE, "D"),
    "Fair PCA": MethodStyle(BLUE, "o", "-", ours=True),
    "Fair Kernel PCA": MethodStyle(GREEN, "P", "-", ours=True),
    "Fair PCA-S (0.5)": MethodStyle(VERMILLION, "X", "-", ours=True, filled=False),
    "Fair PCA-S (0.85)": MethodStyle(VERMILLION, "X", "-", ours=True),
    "Fair PCA (exact)": MethodStyle(INDIGO, "*", "-", ours=True),
    "Reductions": MethodStyle(ORANGE, "h"),
}
"""The order is that of legends and of boxes side by side."""

OTHER = MethodStyle(GREY, "d", line=":")
"""Methods that nobody has given a colour yet."""


def style_of(method: str) -> MethodStyle:
    """Return the style of a method, or of its family where only that is known."""
    if method in STYLES:
        return STYLES[method]
    family = {name.split(" (")[0]: style for name, style in STYLES.items()}
    return family.get(method.split(" (")[0], OTHER)


def label_of(method: str) -> str:
    """Return the name with powers set as powers."""
    return re.sub(r"10\^(-?\d+)", r"$10^{\1}$", method)


def in_order(methods: set[str]) -> list[str]:
    """Sort methods as in every figure: those with a style in its order, then by name."""
    places = {name: place for place, name in enumerate(STYLES)}
    return sorted(methods, key=lambda name: (places.get(name, len(places)), name))


@contextmanager
def paper_figure(width: float, height: float) -> Iterator[Any]:
    """Open an empty figure in the package's style for a ``with`` block; settings are restored."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    class StyledFigure(Figure):
        """A figure that is saved in the style it was drawn in, as some settings act then."""

        def savefig(self, *arguments: Any, **options: Any) -> None:
            with mpl.rc_context(RC):
                super().savefig(*arguments, **options)

    with mpl.rc_context(RC):
        yield StyledFigure(
            figsize=(width, height), dpi=DPI, facecolor="white", layout="constrained"
        )
