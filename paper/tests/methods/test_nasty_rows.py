"""Each method, on rows that are hard to compute with: a finite answer, or an error of ours."""

import warnings

import numpy as np
import pytest

from fairpca.errors import FairPCAError
from fairpca_paper import methods

METHODS = {
    "PCA": methods.PCA(1),
    "INLP": methods.INLP(1),
    "RLACE": methods.RLACE(1, max_iter=20, evaluate_every=10),
    "FPCA": methods.FPCA(1, max_iter=200),
    "MbFPCA": methods.MbFPCA(1, max_iter=5, n_init=1),
    "BalancedPCA": methods.BalancedPCA(1),
    "SamadiPCA": methods.SamadiPCA(1),
    "OracleLEACE": methods.OracleLEACE(),
}


def plain(rng):
    return rng.normal(size=(40, 4))


NASTY = {
    "far from the origin": lambda rng: plain(rng) + 1e9,
    "mixed units": lambda rng: plain(rng) * [1e-6, 1.0, 1e6, 1e12],
    "a constant feature": lambda rng: plain(rng) * [1.0, 1.0, 0.0, 1.0] + 3.25,
    "copies": lambda rng: np.repeat(rng.normal(size=(40, 1)), 4, axis=1),
    "two rows": lambda rng: rng.normal(size=(2, 4)),
    "one feature": lambda rng: rng.normal(size=(40, 1)),
    "more features than rows": lambda rng: rng.normal(size=(8, 30)),
    "equal rows": lambda rng: np.ones((40, 4)),
    "large numbers": lambda rng: plain(rng) * 1e60,
    "small numbers": lambda rng: plain(rng) * 1e-60,
    "in single precision": lambda rng: plain(rng).astype(np.float32) + 100,
}


@pytest.mark.parametrize("shape", NASTY)
@pytest.mark.parametrize("name", METHODS)
def test_the_answer_is_finite_or_refused(name, shape):
    X = NASTY[shape](np.random.default_rng(0))
    groups, before = np.arange(len(X)) % 2, X.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few steps
        try:
            T = METHODS[name].fit_transform(X, sensitive_features=groups)
        except FairPCAError:
            return
        finally:
            np.testing.assert_array_equal(X, before)
    assert np.isfinite(T).all()
    assert T.dtype == X.dtype


def test_every_method_is_tried():
    assert {type(method).__name__ for method in METHODS.values()} == {
        name for name in methods.__all__ if hasattr(getattr(methods, name), "transform")
    }
