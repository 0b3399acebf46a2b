"""The paper's experiments, and tables in, figures out: one look for every figure."""

from . import (
    _figure_covariance,
    _figure_faces,
    _figure_runtime,
    _figure_runtime_n,
    _figure_synthetic,
    _figure_tradeoff,
    _tables,
)
from ._experiment import Experiment, Key, Result, Settings, Summary, Task
from ._figure_faces import PictureRow, picture_page
from ._figure_runtime import TimedFits, Timing, timing_curves
from ._panels import (
    group_legend,
    grouped_boxes,
    headed,
    horizontal_grid,
    method_legend,
    note,
    numbers_below,
    scatter_groups,
)
from ._run import Failure, Reproduction, run_experiment
from ._style import MethodStyle, in_order, label_of, paper_figure, style_of

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

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for module in (
        _tables,
        _figure_covariance,
        _figure_synthetic,
        _figure_runtime,
        _figure_tradeoff,
        _figure_runtime_n,
        _figure_faces,
    )
    for experiment in module.EXPERIMENTS
}
"""What ``fairpca reproduce`` knows, in the paper's order; a new table is one module more above."""
