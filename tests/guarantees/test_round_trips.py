"""Estimators survive copies of every kind, fitted or not, and journeys to other processes."""

import copy
import io
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from fairpca import FairPCA
from registry import ESTIMATORS, fitted_once, small_rows


def through_joblib(value):
    buffer = io.BytesIO()
    joblib.dump(value, buffer)
    buffer.seek(0)
    return joblib.load(buffer)


COPIES = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "the oldest pickle": lambda value: pickle.loads(pickle.dumps(value, protocol=2)),
    "joblib": through_joblib,
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


@pytest.fixture(params=ESTIMATORS)
def name(request):
    """Name of an estimator."""
    return request.param


def test_a_copy_of_a_fitted_estimator_gives_the_same_bits(name):
    X, _, _ = small_rows(30, seed=1)
    model = fitted_once(name)
    expected = model.transform(X)
    for how, copied in COPIES.items():
        again = copied(model)
        assert type(again) is type(model), how
        assert set(vars(again)) == set(vars(model)), how
        np.testing.assert_array_equal(again.transform(X), expected, err_msg=how)


def test_a_copy_of_an_unfitted_estimator_is_unfitted_with_the_same_parameters(name):
    for how, copied in {**COPIES, "clone": clone}.items():
        again = copied(ESTIMATORS[name].estimator)
        assert not [attribute for attribute in vars(again) if attribute.endswith("_")], how
        # A nested estimator is another object after a copy; what it says of itself is the same.
        assert repr(again.get_params()) == repr(ESTIMATORS[name].estimator.get_params()), how


def test_a_clone_of_a_fitted_estimator_forgets_what_it_learned(name):
    again = clone(fitted_once(name))
    assert vars(again).keys() == vars(ESTIMATORS[name].estimator).keys()


def test_a_copy_does_not_share_what_it_learns_later():
    X, sex, _ = small_rows(60, seed=2)
    model = copy.deepcopy(fitted_once("fair pca"))
    before = model.transform(X)
    other = copy.deepcopy(model)
    other.partial_fit(X**3, sensitive_features=sex)
    assert np.abs(other.transform(X) - before).max() > 1e-3
    np.testing.assert_array_equal(model.transform(X), before)


def test_a_copy_in_the_middle_of_a_stream_goes_on_alone():
    X, sex, _ = small_rows(90)
    stream = FairPCA(2)
    stream.partial_fit(X[:45], sensitive_features=sex[:45])  # nothing is solved yet
    for how, copied in COPIES.items():
        again = copied(stream).partial_fit(X[45:], sensitive_features=sex[45:])
        whole = clone(stream).fit(X, sensitive_features=sex)
        np.testing.assert_allclose(again.components_, whole.components_, atol=1e-12, err_msg=how)
    assert stream.n_samples_seen_ == 45


def fit_and_transform(estimator, X, sex, y):
    """Fit and transform in whichever process this is called."""
    estimator.fit(X, y, sensitive_features=sex)
    return estimator, estimator.transform(X)


SENT = ["fair pca", "matched covariances", "rbf kernel", "nystroem", "leace", "kernel sal"]


def test_estimators_travel_to_other_processes_and_back():
    X, sex, y = small_rows()
    with joblib.parallel_config("loky", n_jobs=1, inner_max_num_threads=1):
        jobs = [joblib.delayed(fit_and_transform)(ESTIMATORS[n].made(), X, sex, y) for n in SENT]
        results = joblib.Parallel(n_jobs=2)(jobs)
    for name, (model, there) in zip(SENT, results, strict=True):
        here = fitted_once(name).transform(X)
        np.testing.assert_allclose(np.abs(there), np.abs(here), atol=1e-8, err_msg=name)
        np.testing.assert_array_equal(model.transform(X), there, err_msg=name)
