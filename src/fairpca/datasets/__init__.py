"""Data to try things on: real loan applications, and synthetic groups."""

from ._dataset import Dataset
from ._loanapp import load_loanapp
from ._synthetic import make_circle, make_covariance_mixture, make_two_gaussians

__all__ = [
    "Dataset",
    "load_loanapp",
    "make_circle",
    "make_covariance_mixture",
    "make_two_gaussians",
]
