import numpy as np
import pytest

from fairpca import FairPCA
from fairpca.metrics import covariance_gap


def test_on_training_rows_it_is_what_the_estimator_reports():
    rng = np.random.default_rng(0)
    X, z = rng.normal(size=(300, 5)), rng.choice(list("abc"), 300)
    X[z == "b", :2] *= 2
    fair = FairPCA(2, match="covariances", covariance_method="spectral")
    T = fair.fit(X, sensitive_features=z).transform(X)
    assert covariance_gap(T, z) == pytest.approx(fair.covariance_gap_)


def test_one_column_and_equal_groups():
    T = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    assert covariance_gap(T, [0, 0, 1, 1]) == 0.0
    assert covariance_gap(np.zeros((4, 2)), [0, 0, 1, 1]) == 0.0


def test_a_group_of_one_row_is_refused():
    with pytest.raises(ValueError, match=r"\['b'\] have one row"):
        covariance_gap(np.eye(3), ["a", "a", "b"])
