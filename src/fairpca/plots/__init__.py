"""Tables in, figures out: one look for every figure of the package."""

from .boxes import grouped_boxes
from .canvas import paper_figure
from .curves import TimedFits, Timing, timing_curves
from .groups import group_legend, numbers_below, scatter_groups
from .panels import headed, horizontal_grid, method_legend, note
from .pictures import PictureRow, picture_page
from .style import MethodStyle, in_order, label_of, style_of

__all__ = [
    "MethodStyle",
    "PictureRow",
    "TimedFits",
    "Timing",
    "group_legend",
    "grouped_boxes",
    "headed",
    "horizontal_grid",
    "in_order",
    "label_of",
    "method_legend",
    "note",
    "numbers_below",
    "paper_figure",
    "picture_page",
    "scatter_groups",
    "style_of",
    "timing_curves",
]
