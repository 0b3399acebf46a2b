"""All tables and figures by name, in the paper's order."""

from . import (
    _figure_covariance as figure_covariance,
)
from . import (
    _figure_faces as figure_faces,
)
from . import (
    _figure_runtime as figure_runtime,
)
from . import (
    _figure_runtime_n as figure_runtime_n,
)
from . import (
    _figure_synthetic as figure_synthetic,
)
from . import (
    _figure_tradeoff as figure_tradeoff,
)
from . import (
    _tables as tables,
)
from ._experiment import Experiment

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
