"""%Var and MMD2 of the paper's Tables 1 to 3: to the printed digit, and as they are committed.

The recipe of the published experiments (those of Lee et al. 2022): projections are fitted on the
training split; the share of variance and MMD2 are taken on the test split; the bandwidth is the
median distance of the training rows projected by plain PCA.
"""

import csv
from pathlib import Path

import numpy as np
import pytest

from fairpca.metrics import explained_variance_ratio
from fairpca_paper.experiments.protocol import fitted_as_published, make_method, plain_bandwidth
from fairpca_paper.metrics import squared_mmd
from slow import slow

REPRODUCED = Path(__file__).parents[2] / "docs" / "reproduced"
METHODS = ("PCA", "Fair PCA", "Fair PCA-S (0.5)", "Fair PCA-S (0.85)")
NAMES = {"German Credit": "german", "Adult Income": "adult", "COMPAS": "compas"}


def committed(dataset, k, method, metric):
    with (REPRODUCED / f"table-{NAMES[dataset]}.csv").open(encoding="utf-8") as file:
        (row,) = (
            row
            for row in csv.DictReader(file)
            if (row["k"], row["method"], row["metric"], row["protocol"])
            == (str(k), method, metric, "paper")
        )
    return float(row["mean"]), float(row["std"])


@pytest.mark.parametrize(
    ("dataset", "k"),
    [
        ("German Credit", 2),
        ("German Credit", 10),
        ("COMPAS", 10),  # whose rows span nine directions
        slow("COMPAS", 2),
        slow("Adult Income", 2),
        slow("Adult Income", 10),
    ],
)
def test_the_published_variance_and_mmd_come_out_to_the_printed_digit(
    dataset, k, published, splits
):
    measured = {method: [] for method in METHODS}
    for X, _, z, X_test, _, z_test in splits[dataset]:
        bandwidth = plain_bandwidth(X, k)
        for method in METHODS:
            unfitted = make_method(method, X.shape[1], k)
            U = fitted_as_published(unfitted, k, X, z).components_
            measured[method].append(
                (
                    100 * explained_variance_ratio(X_test, U),
                    squared_mmd(X_test @ U.T, z_test, bandwidth=bandwidth),
                )
            )
    for method, values in measured.items():
        for metric, digits, numbers in zip(
            ("explained_variance_pct", "mmd2"), (2, 3), np.array(values).T, strict=True
        ):
            found = numbers.mean(), numbers.std()
            printed = published[dataset, k, method][metric]
            # Six digits are committed, so those printed may round the other way in a rare case.
            assert found == pytest.approx(printed, abs=0.5 * 10.0**-digits * (1 + 1e-3)), method
            assert found == pytest.approx(committed(dataset, k, method, metric), rel=1e-5), method
