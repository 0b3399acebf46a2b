"""One bad row does not switch a method off in silence, and ordinary columns raise no alarm."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from fairpca import FairKernelPCA, FairPCA, FairPLS
from fairpca.erasers import LEACE, SAL, SPLINCE, KernelSAL, MeanProjection
from fairpca.errors import OutlierWarning
from fairpca.moments import collect_moments

ESTIMATORS = [
    FairPCA(2, scale=True),
    FairPLS(match="means"),
    FairPLS(kernel="rbf", n_landmarks=20, random_state=0),
    FairKernelPCA(2),
    FairKernelPCA(2, approximation="nystroem", n_landmarks=20, random_state=0),
    LEACE(),
    MeanProjection(),
    SAL(),
    SPLINCE(),
]


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 4)) + 0.5 * np.outer(sex, [1, 1, 0, 0])
    return X, (X.sum(axis=1) + rng.normal(size=n) > 0).astype(int), sex


def with_one(value):
    X, y, sex = people()
    X[17, 1] = value
    return X, y, sex


def named(estimator):
    return f"{type(estimator).__name__} {getattr(estimator, 'kernel', '')}"


@pytest.mark.parametrize("value", [99999.0, -999.0])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=named)
def test_every_method_names_the_row_that_decides_what_it_does(estimator, value):
    X, y, sex = with_one(value)
    frame = pd.DataFrame(X, columns=["age", "income", "debt", "rent"])
    with pytest.warns(OutlierWarning, match=f"'income' has {value:g} in row 17 "):
        estimator.fit(frame, y, sensitive_features=sex)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=named)
def test_ordinary_rows_raise_no_alarm(estimator):
    X, y, sex = people()
    estimator.fit(X, y, sensitive_features=sex)  # warnings are errors


def test_the_kernel_eraser_names_it_too():
    X, _, sex = with_one(-999.0)
    with pytest.warns(OutlierWarning, match="column 1 has -999 in row 17"):
        KernelSAL(1).fit(X, sensitive_features=sex)


def test_the_group_is_read_from_clean_rows_after_one_bad_one():
    """What the warning is about: equal on the rows of the fit, and 0.5 deviations apart beside."""
    X, _, sex = with_one(99999.0)
    with pytest.warns(OutlierWarning):
        fair = LEACE().fit(X, sensitive_features=sex)
    new, _, of_new = people(4000, seed=1)
    T = fair.transform(new)
    gap = np.abs(T[of_new == 1].mean(axis=0) - T[of_new == 0].mean(axis=0))
    assert gap.max() > 0.4


def test_rows_in_batches_and_elsewhere_are_looked_at():
    X, _, sex = with_one(99999.0)
    fair = FairPCA(2, scale=True)
    for half in (slice(0, 200), slice(200, 400)):
        fair.partial_fit(X[half], sensitive_features=sex[half])
    with pytest.warns(OutlierWarning, match="column 1 has 99999 \\("):
        fair.transform(X)
    frames = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X, columns=["age", "income", "debt", "rent"]).assign(sex=sex)
    with pytest.warns(OutlierWarning, match="'income' has 99999 \\("):
        LEACE().fit(frames.from_pandas(frame, npartitions=2), sensitive_features="sex")
    moments = collect_moments(X, sex)
    with pytest.warns(OutlierWarning, match="column 1 has 99999 in row 17"):
        LEACE().fit_moments(moments)
    assert (moments + moments).far_values[0].n_rows == 2


def test_sparse_and_weighted_rows_and_those_that_do_not_count():
    X, y, sex = with_one(99999.0)
    weight = np.ones(len(X))
    for given in (X, scipy.sparse.csr_array(X)):
        with pytest.warns(OutlierWarning, match="in row 17"):
            LEACE().fit(given, sensitive_features=sex, sample_weight=weight)
    weight[17] = 0.0
    LEACE().fit(X, sensitive_features=sex, sample_weight=weight)
    y[17] = 0
    fair = FairPCA(2, scale=True, criterion="equal_opportunity")
    fair.fit(np.delete(X, 17, axis=0), np.delete(y, 17), sensitive_features=np.delete(sex, 17))


def test_many_columns_are_shortened_and_repeated_sentinels_counted():
    X, _, sex = people()
    X[::20] = -9999.0
    with pytest.warns(OutlierWarning, match="and 19 more .* and 1 more columns"):
        LEACE().fit(X, sensitive_features=sex)


COLUMNS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "t(5)": lambda rng, shape: rng.standard_t(5, size=shape),
    "lognormal": lambda rng, shape: rng.lognormal(0.0, 1.0, size=shape),
    "half zeros": lambda rng, shape: rng.normal(size=shape) * (rng.random(shape) < 0.5),
    "indicators of 1 %": lambda rng, shape: (rng.random(shape) < 0.01).astype(float),
    "indicators of one row": lambda rng, shape: (
        np.arange(shape[0])[:, None] == rng.integers(0, shape[0], shape[1])
    ).astype(float),
    "counts, mean 0.1": lambda rng, shape: rng.poisson(0.1, shape).astype(float),
    "counts, mean 0.01": lambda rng, shape: rng.poisson(0.01, shape).astype(float),
    "counts, overdispersed": lambda rng, shape: rng.negative_binomial(0.2, 1 / 6, shape) * 1.0,
    "one in ten an amount": lambda rng, shape: (
        (rng.random(shape) < 0.1) * rng.lognormal(0.0, 1.0, shape)
    ),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_as_people_have_them_raise_no_alarm(kind):
    """A few here; of as many as were simulated, the share with an alarm, in per cent:

    =====================  =======  =======  =========  ==========
    rows                       100      500      5,000      50,000
    columns simulated        8,000    8,000      1,600         160
    =====================  =======  =======  =========  ==========
    normal, t(5)                 0        0          0           0
    exponential                  0        0          0           0
    lognormal, sd 0.5            0        0          0           0
    lognormal, sd 1           0.38     0.01          0           0
    lognormal, sd 1.5          4.8      2.4        1.0           0
    half zeros, normal           0        0          0           0
    indicators (50 % to one row) 0        0          0           0
    counts, mean 0.1, 0.01       0        0          0           0
    counts, overdispersed        0        0          0           0
    one in ten an amount      0.03     0.11          0           0
    one in 100 an amount         0     0.01       0.06           0
    Cauchy                      32       60         99         100
    =====================  =======  =======  =========  ==========

    Amounts are lognormal with a standard deviation of logarithms of 1. Of a Cauchy variable, which
    has no mean, the alarm is true.
    """
    for n, d in ((500, 200), (5000, 40)):
        X = COLUMNS[kind](np.random.default_rng(n), (n, d))
        moments = collect_moments(X, np.arange(n) % 2)
        assert moments.far_values == ()


def test_a_warning_is_given_once_for_a_fit():
    X, y, sex = with_one(99999.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        FairPLS().fit(X, y, sensitive_features=sex)
    assert [w.category for w in caught] == [OutlierWarning]
