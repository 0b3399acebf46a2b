"""Real data to try things on, each with its provenance and its traps removed."""

from ..errors import DamagedDataError, DownloadError, MissingDataError
from ._adult import load_adult
from ._bank import load_bank
from ._celeba import load_celeba
from ._compas import load_compas
from ._dataset import Dataset
from ._fairface import load_fairface
from ._german import load_german
from ._lee2022 import lee2022_loadings, load_lee2022, load_lee2022_synthetic
from ._lee2022_splits import Lee2022, LoadingKey, Split
from ._loanapp import load_loanapp
from ._synthetic import make_circle, make_covariance_mixture, make_two_gaussians

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
