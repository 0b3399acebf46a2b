import json

import numpy as np
import pytest

DATASETS = {"Adult Income": "adult", "German Credit": "german", "COMPAS": "compas"}


@pytest.fixture(scope="session")
def published(data_folder):
    """The cells of the paper's tables by data set, k and method."""
    rows = json.loads((data_folder.parent / "targets" / "paper_tables.json").read_text())
    return {(row["dataset"], row["k"], row["method"]): row for row in rows}


@pytest.fixture(scope="session")
def splits(data_folder):
    """Ten pairs of training and test rows for each data set; the last columns are y and z."""

    def load(name):
        with np.load(data_folder / "lee2022" / f"{name}.npz") as arrays:
            return [(arrays[f"train_{i}"], arrays[f"test_{i}"]) for i in range(10)]

    return {dataset: load(name) for dataset, name in DATASETS.items()}
