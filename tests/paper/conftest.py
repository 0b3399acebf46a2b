import json

import pytest

from fairpca.datasets import load_lee2022

DATASETS = {"Adult Income": "adult", "German Credit": "german", "COMPAS": "compas"}


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
