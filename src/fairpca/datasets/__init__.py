"""Real data to try things on, each with its provenance and its traps removed."""

from .adult import load_adult
from .bank import load_bank
from .celeba import load_celeba
from .compas import load_compas
from .dataset import Dataset
from .errors import DamagedDataError, DownloadError, MissingDataError
from .fairface import load_fairface
from .german import load_german
from .lee2022 import lee2022_loadings, load_lee2022, load_lee2022_synthetic
from .lee2022_splits import Lee2022, LoadingKey, Split
from .loanapp import load_loanapp
from .synthetic import make_circle, make_covariance_mixture, make_two_gaussians

__all__ = [
    "DamagedDataError",
    "Dataset",
    "DownloadError",
    "Lee2022",
    "LoadingKey",
    "MissingDataError",
    "Split",
    "lee2022_loadings",
    "load_adult",
    "load_bank",
    "load_celeba",
    "load_compas",
    "load_fairface",
    "load_german",
    "load_lee2022",
    "load_lee2022_synthetic",
    "load_loanapp",
    "make_circle",
    "make_covariance_mixture",
    "make_two_gaussians",
]
