"""Real data to try things on, each with its provenance and its traps removed."""

from ..errors import DamagedDataError, DownloadError, MissingDataError
from ._dataset import Dataset
from ._faces import load_celeba, load_fairface
from ._lee2022 import (
    Lee2022,
    LoadingKey,
    Split,
    lee2022_loadings,
    load_lee2022,
    load_lee2022_synthetic,
)
from ._loanapp import load_loanapp
from ._people import load_adult, load_bank, load_compas, load_german
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
