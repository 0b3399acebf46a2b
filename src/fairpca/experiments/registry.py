"""All tables and figures by name, in the paper's order."""

from . import (
    figure_covariance,
    figure_faces,
    figure_runtime,
    figure_runtime_n,
    figure_synthetic,
    figure_tradeoff,
    tables,
)
from .experiment import Experiment

MODULES = (
    tables,
    figure_covariance,
    figure_synthetic,
    figure_runtime,
    figure_tradeoff,
    figure_runtime_n,
    figure_faces,
)

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for module in MODULES for experiment in module.EXPERIMENTS
}
"""What ``fairpca reproduce`` knows; a new table or figure is one module more above."""
