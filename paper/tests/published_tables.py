"""The paper's splits and cells, and how the paper measures a linear representation on them.

Projections are fitted on the training split; the share of variance and MMD2 are taken on the test
split; the bandwidth is the median distance of the training rows projected by plain PCA.
"""

import json

import numpy as np
from sklearn.decomposition import PCA

from fairpca.metrics import explained_variance_ratio
from fairpca_paper.metrics import median_bandwidth, squared_mmd

FILES = {"Adult Income": "adult", "German Credit": "german", "COMPAS": "compas"}


def published_cell(data_folder, dataset, k, method):
    rows = json.loads(
        (data_folder.parent / "targets" / "paper_tables.json").read_text(encoding="utf-8")
    )
    (row,) = (r for r in rows if (r["dataset"], r["k"], r["method"]) == (dataset, k, method))
    return row


def splits(data_folder, dataset):
    """Yield X, z of a training split and X, y, z of its test split."""
    with np.load(data_folder / "lee2022" / f"{FILES[dataset]}.npz") as arrays:
        for i in range(10):
            train, test = arrays[f"train_{i}"], arrays[f"test_{i}"]
            yield train[:, :-2], train[:, -1], test[:, :-2], test[:, -2], test[:, -1]


def variance_and_mmd(make, k, data_folder, dataset):
    """Percent of variance and MMD2 on ten test splits, of what `make()` learns."""
    measured = []
    for X, z, X_test, _, z_test in splits(data_folder, dataset):
        U = make().fit(X, sensitive_features=z).components_
        bandwidth = median_bandwidth(X @ PCA(k).fit(X).components_.T)
        measured.append(
            (
                100 * explained_variance_ratio(X_test, U),
                squared_mmd(X_test @ U.T, z_test, bandwidth=bandwidth),
            )
        )
    return np.array(measured).T


def assert_near(values, cell, digits):
    """The mean is within two of the published standard deviations, or of the printed digit."""
    mean, deviation = cell
    assert abs(np.mean(values) - mean) <= max(2 * deviation, 10.0**-digits), (
        f"{np.mean(values):.4f} +- {np.std(values):.4f}, published {mean} +- {deviation}"
    )
