"""Exactly matched covariances on the paper's splits: no gap, and nearly all of the variance."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from fairpca import FairPCA
from fairpca.errors import InfeasibleError
from fairpca.metrics import explained_variance_ratio
from fairpca_paper.metrics import median_bandwidth, squared_mmd
from slow import slow

# What a prototype reached, less a little: variance kept in percent, MMD2 on the test split.
GOALS = {
    ("Adult Income", 2): (6.0, 0.007),
    ("Adult Income", 10): (18.6, 0.008),
    ("German Credit", 2): (10.1, 0.021),
    ("German Credit", 10): (33.9, 0.020),
    ("COMPAS", 2): (35.0, 0.008),
}


@pytest.mark.parametrize(
    ("dataset", "k"), [("COMPAS", 2), *(slow(*which) for which in GOALS if which != ("COMPAS", 2))]
)
def test_the_gap_is_closed_at_little_cost(dataset, k, splits):
    variance, mmd2 = [], []
    for X, _, z, X_test, _, z_test in splits[dataset]:
        fair = FairPCA(k, match="covariances", covariance_directions=1.0)
        U = fair.fit(X, sensitive_features=z).components_
        assert fair.covariance_gap_ < 1e-6
        assert fair.mean_gap_ < 1e-9
        bandwidth = median_bandwidth(X @ PCA(k).fit(X).components_.T)
        variance.append(100 * explained_variance_ratio(X_test, U))
        mmd2.append(squared_mmd(X_test @ U.T, z_test, bandwidth=bandwidth))
    least, most = GOALS[dataset, k]
    assert np.mean(variance) >= least
    assert round(np.mean(mmd2), 3) <= most


def test_ten_of_the_eleven_directions_of_compas_are_told_to_be_too_many(splits):
    for X, _, z, *_ in splits["COMPAS"]:
        with pytest.raises(InfeasibleError, match=r"n_components=10 is too large: .* only \d fair"):
            FairPCA(10, match="covariances").fit(X, sensitive_features=z)
