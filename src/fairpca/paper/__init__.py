"""Tables in, figures out: one look for every figure of the package."""

from ._boxes import grouped_boxes
from ._canvas import paper_figure
from ._curves import TimedFits, Timing, timing_curves
from ._experiment import Experiment, Key, Result, Settings, Summary, Task
from ._groups import group_legend, numbers_below, scatter_groups
from ._panels import headed, horizontal_grid, method_legend, note
from ._pictures import PictureRow, picture_page
from ._registry import EXPERIMENTS
from ._run import Failure, Reproduction, run_experiment
from ._style import MethodStyle, in_order, label_of, style_of

__all__ = [
    "Experiment",
    "Failure",
    "Key",
    "MethodStyle",
    "PictureRow",
    "Reproduction",
    "Result",
    "Settings",
    "Summary",
    "Task",
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
    "run_experiment",
    "scatter_groups",
    "style_of",
    "timing_curves",
]
