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
from ._run import Failure, Reproduction, run_experiment

__all__ = [
    "Experiment",
    "Failure",
    "Key",
    "Reproduction",
    "Result",
    "Settings",
    "Summary",
    "Task",
    "run_experiment",
]

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        *_tables.EXPERIMENTS,
        *_figure_covariance.EXPERIMENTS,
        *_figure_synthetic.EXPERIMENTS,
        *_figure_runtime.EXPERIMENTS,
        *_figure_tradeoff.EXPERIMENTS,
        *_figure_runtime_n.EXPERIMENTS,
        *_figure_faces.EXPERIMENTS,
    )
}
"""What ``fairpca reproduce`` knows, in the paper's order; a new table is one module more above."""
