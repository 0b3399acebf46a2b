"""The data sets of the paper, each with its provenance and its traps removed.

Files come from a folder if you name one (`data=`, or the environment variable `FAIRPCA_DATA`);
otherwise they are downloaded and checked, where their licence allows it.
"""

from .errors import DamagedDataError, DownloadError, MissingDataError
from .faces import load_celeba, load_fairface
from .lee2022 import (
    Lee2022,
    LoadingKey,
    Split,
    lee2022_loadings,
    load_lee2022,
    load_lee2022_synthetic,
)
from .people import load_adult, load_bank, load_compas, load_german

__all__ = [
    "DamagedDataError",
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
]
