"""Refusals of FairKernelPCA beyond those it shares with FairPCA."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics.pairwise import rbf_kernel

from fairpca import FairKernelPCA
from fairpca.errors import InfeasibleError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
Z = np.arange(40) % 2
K = X @ X.T


def asymmetric():
    bad = K.copy()
    bad[3, 5] += 0.1
    return bad


def nan_kernel(a, b):
    return np.nan


def lopsided(a, b):
    return float(a @ b + a[0])


CASES = {
    "a function that is not symmetric": (
        {"kernel": lopsided},
        X,
        r"not symmetric: k\(a, b\) and k\(b, a\) differ by up to",
    ),
    "a lopsided function of landmarks": (
        {"kernel": lopsided, "approximation": "nystroem"},
        X,
        r"not symmetric",
    ),
    "a function of matrices": (
        {"kernel": rbf_kernel},
        X,
        r"takes two rows, .*returns one number.*kernel='precomputed'",
    ),
    "a function that returns a row": ({"kernel": np.multiply}, X, r"returns one number"),
    "a fractional degree": (
        {"kernel": "poly", "degree": 2.5, "coef0": 0.0},
        X,
        r"a whole one: fractional powers",
    ),
    "an unknown kernel": ({"kernel": "magic"}, X, r"kernel='magic'.*'rbf'.*function of two rows"),
    "gamma of zero": ({"gamma": 0.0}, X, r"gamma=0\.0 .*above 0, 'scale'"),
    "an unknown gamma": ({"gamma": "wide"}, X, r"gamma='wide'.*'auto'"),
    "no gamma": ({"gamma": None}, X, r"gamma=None"),
    "an infinite gamma": ({"gamma": np.inf}, X, r"gamma=inf"),
    "a negative degree": ({"degree": -1}, X, r"degree=-1 cannot be used.*number > 0"),
    "an infinite coef0": ({"coef0": np.inf}, X, r"coef0=inf .*finite"),
    "a negative tolerance": ({"tol": -1e-3}, X, r"tol=-0\.001 .*>= 0 and < 1"),
    "center is a word": ({"center": "yes"}, X, r"center='yes' is not a bool"),
    "an unknown approximation": ({"approximation": "some"}, X, r"'some'.*'nystroem'.*or None"),
    "no landmarks": ({"n_landmarks": 0}, X, r"n_landmarks=0 .*integer >= 1"),
    "zero jobs": ({"n_jobs": 0}, X, r"n_jobs=0 .*-1 for all"),
    "parameters of a name": ({"kernel_params": {"a": 1}}, X, r"would ignore them.*gamma"),
    "parameters without names": ({"kernel": min, "kernel_params": 3}, X, r"Pass a dict"),
    "random features of a polynomial": (
        {"kernel": "poly", "approximation": "random_features"},
        X,
        r"kernel of x - y, which kernel='poly' is not.*'nystroem'",
    ),
    "random features of a function": (
        {"kernel": nan_kernel, "approximation": "random_features"},
        X,
        r"which kernel='nan_kernel' is not",
    ),
    "an approximation of what is there": (
        {"kernel": "precomputed", "approximation": "nystroem"},
        K,
        r"it is there already.*approximation=None",
    ),
    "columns of a kernel matrix": (
        {"kernel": "precomputed", "sensitive_columns": [0]},
        K,
        r"these are rows compared with",
    ),
    "a kernel matrix that is not square": (
        {"kernel": "precomputed"},
        K[:, :30],
        r"square matrix, but X has shape \(40, 30\)",
    ),
    "a kernel matrix that is not symmetric": (
        {"kernel": "precomputed"},
        asymmetric(),
        r"differ from their mirror images by up to .* of the largest.*\(K \+ K\.T\) / 2",
    ),
    "a sparse kernel matrix": (
        {"kernel": "precomputed"},
        scipy.sparse.csr_array(K),
        r"X is sparse.*toarray",
    ),
    "values that overflow": (
        {"kernel": "poly", "degree": 60, "gamma": 1.0},
        1e9 * X,
        r"overflow.*smaller gamma",
    ),
    "values that overflow in a stream": (
        {"kernel": "poly", "degree": 60, "gamma": 1.0, "approximation": "nystroem"},
        1e9 * X,
        r"overflow.*smaller gamma",
    ),
    "a function that returns NaN": ({"kernel": nan_kernel}, X, r"NaN.*kernel function"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_refused_in_words_and_changes_nothing(case):
    parameters, rows, message = CASES[case]
    columns = parameters.get("sensitive_columns")
    groups = {} if columns else {"sensitive_features": Z}
    fresh = FairKernelPCA(2, **parameters)
    with pytest.raises((ValueError, TypeError), match=f"(?s){message}"):
        fresh.fit(rows, **groups)
    assert vars(fresh).keys() == vars(FairKernelPCA()).keys()


def test_exact_kernels_do_not_take_batches_and_say_why():
    fair = FairKernelPCA(2)
    assert not hasattr(fair, "partial_fit")
    with pytest.raises(AttributeError, match=r"approximation='nystroem'.*all of them at once"):
        _ = fair.partial_fit


@pytest.mark.parametrize("parameters", [{}, {"kernel": "linear", "approximation": "nystroem"}])
def test_only_the_exact_linear_kernel_has_an_inverse(parameters):
    fair = FairKernelPCA(2, **parameters).fit(X, sensitive_features=Z)
    assert not hasattr(fair, "inverse_transform")
    with pytest.raises(AttributeError, match=r"linear kernel only.*KernelRidge"):
        _ = fair.inverse_transform


def test_too_many_components_name_the_number_there_are():
    with pytest.raises(InfeasibleError, match=r"n_components=4 .*spans 3 direction"):
        FairKernelPCA(4, kernel="linear").fit(X, sensitive_features=Z)


def test_new_kernel_values_must_be_with_all_training_rows():
    fair = FairKernelPCA(2, kernel="precomputed").fit(K, sensitive_features=Z)
    with pytest.raises(ValueError, match="expecting 40 features"):
        fair.transform(K[:, :30])


def test_refitting_in_another_mode_forgets_the_old_one():
    fair = FairKernelPCA(2, approximation="nystroem", n_landmarks=10, tradeoff=0.5)
    fair.fit(X, sensitive_features=Z)
    fair.set_params(approximation=None, tradeoff=0.0).fit(X, sensitive_features=Z)
    assert vars(fair).keys() == vars(FairKernelPCA(2).fit(X, sensitive_features=Z)).keys()
    fair.set_params(approximation="random_features").fit(X, sensitive_features=Z)
    assert not hasattr(fair, "X_fit_")
    assert not hasattr(fair, "landmarks_")
