"""The paper's experiments, and tables in, figures out: one look for every figure."""

from . import (
    figure_covariance,
    figure_faces,
    figure_runtime,
    figure_runtime_n,
    figure_synthetic,
    figure_tradeoff,
    tables,
)
from .experiment import Experiment, Key, Result, Settings, Summary, Task
from .run import Failure, Reproduction, run_experiment

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
        *tables.EXPERIMENTS,
        *figure_covariance.EXPERIMENTS,
        *figure_synthetic.EXPERIMENTS,
        *figure_runtime.EXPERIMENTS,
        *figure_tradeoff.EXPERIMENTS,
        *figure_runtime_n.EXPERIMENTS,
        *figure_faces.EXPERIMENTS,
    )
}
"""What ``fairpca-paper`` knows, in the paper's order; a new table is one module more above."""
