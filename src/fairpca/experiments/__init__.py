"""Each file regenerates one table or figure of the paper and knows its published numbers."""

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
