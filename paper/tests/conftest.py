import json
import os
from pathlib import Path

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

from fairpca_paper.datasets import load_lee2022

EXAMPLES = int(os.environ.get("FAIRPCA_EXAMPLES", "0"))  # as in the tests of the library
settings.register_profile(
    "paper", deadline=None, max_examples=EXAMPLES or 30, derandomize=EXAMPLES <= 30
)
settings.load_profile("paper")

if "PYTEST_XDIST_WORKER" in os.environ:  # workers share the cores
    threadpool_limits(1, user_api="blas")

DATASETS = {"Adult Income": "adult", "German Credit": "german", "COMPAS": "compas"}


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder with the real data sets, from the environment variable FAIRPCA_DATA."""
    folder = os.environ.get("FAIRPCA_DATA")
    if not folder:
        pytest.skip("needs the real data: set FAIRPCA_DATA to the folder that holds lee2022/")
    return Path(folder)


@pytest.fixture(scope="session")
def published(data_folder):
    """The cells of the paper's tables by data set, k and method."""
    rows = json.loads(
        (data_folder.parent / "targets" / "paper_tables.json").read_text(encoding="utf-8")
    )
    return {(row["dataset"], row["k"], row["method"]): row for row in rows}


@pytest.fixture(scope="session")
def splits(data_folder):
    """The ten published splits of each data set."""
    return {
        dataset: load_lee2022(name, data=data_folder).splits for dataset, name in DATASETS.items()
    }
