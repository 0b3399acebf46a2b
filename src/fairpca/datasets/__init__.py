"""Real data to try things on, each with its provenance and its traps removed."""

from .dataset import Dataset
from .loanapp import load_loanapp

__all__ = ["Dataset", "load_loanapp"]
