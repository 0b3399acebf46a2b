"""Fair kernel PCA in batches: the first decides what rows are seen through, then any order."""

import pickle
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from fairpca import FairKernelPCA, load, save
from robustness.certificates import assert_is_a_refusal
from robustness.effort import count, effort

SETTINGS = [
    {"approximation": "nystroem"},
    {"approximation": "random_features"},
    {"approximation": "nystroem", "kernel": "laplacian", "gamma": 0.5},
    {"approximation": "nystroem", "kernel": "poly", "degree": 2, "criterion": "equalized_odds"},
]
N_LANDMARKS = 12


def batch_of(n, seed):
    rng = np.random.default_rng(seed)
    X, z, y = rng.normal(size=(n, 3)), rng.integers(0, 2, n), rng.integers(0, 2, n)
    X[:, 0] += z
    return X, y, np.array(["f", "m"])[z]


def with_nan(X):
    return np.where(np.arange(len(X))[:, None] == 0, np.nan, X)


class KernelBatches(RuleBasedStateMachine):
    """A `FairKernelPCA` with an approximation; the model: the first batch, then all others."""

    @initialize(setting=st.sampled_from(SETTINGS), seed=st.integers(0, 2**16))
    def start(self, setting, seed):
        make = partial(FairKernelPCA, 2, n_landmarks=N_LANDMARKS, random_state=0, **setting)
        self.fair, self.model = make(), make()
        self.batches = [batch_of(30, seed)]
        X, y, groups = self.batches[0]
        self.fair.partial_fit(X, y, sensitive_features=groups)
        self.landmarks = self.fair._feature_map

    @rule(n=st.integers(1, 9), seed=st.integers(0, 2**16), sparse=st.booleans())
    def add_a_batch(self, n, seed, sparse):
        X, y, groups = batch_of(n, seed)
        given = scipy.sparse.csr_array(X) if sparse else X
        self.fair.partial_fit(given, y, sensitive_features=groups)
        self.batches.append((X, y, groups))
        count("kernel batch", "sparse" if sparse else "dense")

    @rule(n=st.integers(1, 9), seed=st.integers(0, 2**16), how=st.sampled_from(["nan", "width"]))
    def a_bad_batch_is_refused(self, n, seed, how):
        X, y, groups = batch_of(n, seed)
        X = with_nan(X) if how == "nan" else X[:, :2]
        before = dict(vars(self.fair))
        with pytest.raises(ValueError, match=r"NaN|features") as refusal:
            self.fair.partial_fit(X, y, sensitive_features=groups)
        assert_is_a_refusal(refusal.value)
        assert all(vars(self.fair)[name] is before[name] for name in before)
        count("kernel batch", "refused")

    @rule()
    def another_gamma_is_refused(self):
        X, y, groups = self.batches[-1]
        gamma = self.fair.gamma
        self.fair.set_params(gamma=0.123)
        with pytest.raises(ValueError, match=r"\['gamma'\] were changed"):
            self.fair.partial_fit(X, y, sensitive_features=groups)
        self.fair.set_params(gamma=gamma)

    @rule()
    def pickle_it(self):
        self.fair = pickle.loads(pickle.dumps(self.fair))

    @rule()
    def save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.fairpca"
            save(self.fair, path, moments=True)
            loaded = load(path)
        X = self.batches[0][0]
        np.testing.assert_array_equal(loaded.transform(X), self.fair.transform(X))
        self.fair = loaded
        count("kernel model", "saved and loaded")

    @precondition(lambda self: len(self.batches) > 1)
    @rule()
    def compare_with_one_large_batch(self):
        X, y, groups = self.batches[0]
        model = type(self.model)(**self.model.get_params())
        model.partial_fit(X, y, sensitive_features=groups)
        X, y, groups = (np.concatenate(parts) for parts in zip(*self.batches[1:], strict=True))
        model.partial_fit(X, y, sensitive_features=groups)
        assert self.fair.n_samples_seen_ == model.n_samples_seen_
        assert self.fair.constraint_rank_ == model.constraint_rank_
        np.testing.assert_allclose(self.fair.eigenvalues_, model.eigenvalues_, rtol=1e-7)
        gap = np.abs(self.fair.mean_gap_ - model.mean_gap_)
        assert gap <= 1e-7
        count("kernel model", "compared")


TestKernelBatches = KernelBatches.TestCase
TestKernelBatches.settings = effort(8, stateful_step_count=8)
