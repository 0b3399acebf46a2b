"""One question, every way rows can arrive: the answer is the same."""

import importlib.util
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

from doors.doors import DOORS, FEATURES, NEEDS, K, N, rows
from doors.doors import people as made_people
from fairpca import FairKernelPCA, FairPCA, FairPLS
from fairpca.moments import collect_moments
from slow import slow


@pytest.fixture(scope="module")
def people():
    return made_people()


@pytest.fixture(params=DOORS)
def arrived(request, people, tmp_path):
    """The name of a door, and the arguments of `fit` as it has them."""
    engine = request.param
    library = NEEDS.get(engine)
    if library is not None and importlib.util.find_spec(library) is None:
        pytest.skip(f"needs the extra {library!r}")
    place = request.getfixturevalue("spark") if engine == "spark" else tmp_path
    return engine, *DOORS[engine](people, place)


GRAM = 1e-6
SINGLE = 2e-3
"""Products of blocks of 480 rows in single precision; float64 adds them up."""

QUESTIONS = {
    "means": FairPCA(K, missing_sensitive="ignore"),
    "equal opportunity": FairPCA(
        K, missing_sensitive="ignore", criterion="equal_opportunity", scale=True
    ),
    "equalized odds": FairPCA(K, missing_sensitive="ignore", criterion="equalized_odds"),
    "missing values as a group": FairPCA(K, missing_sensitive="group", scale=True),
    "distributions": FairPCA(2, missing_sensitive="ignore", match="distributions", scale=True),
    "landmarks": FairKernelPCA(
        2, missing_sensitive="ignore", approximation="nystroem", n_landmarks=60, random_state=3
    ),
    "random features": FairKernelPCA(
        2,
        missing_sensitive="ignore",
        approximation="random_features",
        n_landmarks=60,
        random_state=3,
    ),
}
"""All that is read of rows: criteria, missing values, scales, and samples of rows."""

NOT_ASKED = {
    *product(("array-api-strict", "torch"), ("landmarks", "random features")),
    ("spark", "landmarks"),
    ("spark", "distributions"),
}
"""Kernels take no arrays of other libraries; Spark has another order, so others are drawn."""

SEARCHED = 1e-2
"""Rounding in single precision, over hundreds of steps of a search."""


@pytest.mark.parametrize(
    ("arrived", "question"),
    [(door, q) for door in DOORS for q in QUESTIONS if (door, q) not in NOT_ASKED],
    indirect=["arrived"],
)
def test_the_answer_is_that_of_rows_in_memory(arrived, question, people):
    door, X, rest = arrived
    there = clone(QUESTIONS[question]).fit(X, **rest)
    X, rest = rows(people)
    here = clone(QUESTIONS[question]).fit(X, **rest)
    new = people[FEATURES].astype(float) if hasattr(there, "feature_names_in_") else X
    grams = [np.asarray(T) @ np.asarray(T).T for T in (there.transform(new), here.transform(X))]
    exact = SINGLE if door == "float32" else GRAM
    np.testing.assert_allclose(*grams, atol=SEARCHED if question == "distributions" else exact)
    assert there.groups_.keys() == here.groups_.keys()
    for attribute, groups in here.groups_.items():
        assert set(map(str, there.groups_[attribute])) == set(map(str, groups))
    if isinstance(here, FairPCA):
        assert there.n_samples_seen_ == here.n_samples_seen_
        assert there.constraint_rank_ == here.constraint_rank_
        assert there.mean_gap_ < (2e-5 if door == "float32" else 1e-8)


PLS = {
    "means": {"match": "means", "criterion": "equalized_odds", "scale": True},
    "covariances": {"match": "covariances", "missing_sensitive": "group"},
    "distributions": {"scale": True},
    "kernel": {"kernel": "rbf", "n_landmarks": N, "match": "covariances", "shrinkage": 0.1},
}
"""With as many landmarks as rows, everybody has the same ones."""


FAST = {"kernel": ["sparse", "parquet"], "means": set(DOORS) - {"spark", "csv"}}
FAST["covariances"] = FAST["means"] - {"dask dataframe"}
"""Engines that are tried in these forms by the fast tests."""


@pytest.mark.parametrize(
    ("arrived", "form"),
    [
        (pytest.param if engine in FAST.get(form, DOORS) else slow)(engine, form)
        for engine in DOORS
        for form in PLS
    ],
    indirect=["arrived"],
)
def test_fair_pls_is_that_of_rows_in_memory(arrived, form, people):
    engine, X, rest = arrived
    options = {"missing_sensitive": "ignore", **PLS[form]}
    there = FairPLS(**options).fit(X, **rest)
    X, rest = rows(people)
    here = FairPLS(**options).fit(X, **rest)
    assert_same_scores(there, here, people, 2e-3 if engine == "float32" else 1e-7)


@pytest.mark.parametrize("criterion", ["equal_opportunity", "equalized_odds"])
@pytest.mark.parametrize("engine", ["parquet", "dask dataframe"])
def test_fair_pls_sees_rows_through_the_same_landmarks(engine, criterion, people, tmp_path):
    """Drawn from all groups alike, where few of the rows are: whatever rows are compared."""
    X, rest = DOORS[engine](people, tmp_path)
    options = {"kernel": "rbf", "n_landmarks": 20, "random_state": 0, "criterion": criterion}
    options |= {"missing_sensitive": "ignore", "match": "means"}
    there = FairPLS(**options).fit(X, **rest)
    X, rest = rows(people)
    here = FairPLS(**options).fit(X, **rest)
    np.testing.assert_allclose(there.landmarks_, here.landmarks_)
    assert_same_scores(there, here, people, 1e-7)


PARTS = [slice(0, 1), slice(1, 130), slice(130, 420), slice(420, N)]


def by_batches(fair, arguments, parts):
    for part in parts:
        fair.partial_fit(**{name: value[part] for name, value in arguments.items()})
    return fair


def by_moments(fair, arguments, parts):
    how = ("criterion", "missing_sensitive")
    options = {name: getattr(fair, name) for name in how}
    options |= {"with_targets": True, "with_scatters": fair.match == "covariances"}
    return fair.fit_moments(
        sum(
            collect_moments(**{name: value[part] for name, value in arguments.items()}, **options)
            for part in parts
        )
    )


@pytest.mark.parametrize("by", [by_batches, by_moments])
@pytest.mark.parametrize("form", ["means", "covariances", "equal opportunity"])
@pytest.mark.parametrize("order", [1, -1], ids=["forwards", "backwards"])
def test_fair_pls_is_that_of_batches_that_saw_other_classes_and_levels(form, by, order, people):
    """Whichever class, level or fraction comes first."""
    sorted_people = people.sort_values("y", ascending=False, ignore_index=True)
    X, rest = rows(sorted_people)
    criterion = {"equal opportunity": {"match": "means", "criterion": "equal_opportunity"}}
    options = {"missing_sensitive": "ignore", **{**PLS, **criterion}[form]}
    here = FairPLS(**options).fit(X, **rest)
    there = by(FairPLS(**options), {"X": X, **rest}, PARTS[::order])
    assert_same_scores(there, here, sorted_people, 1e-9)


@pytest.mark.parametrize("form", ["means", "distributions"])
def test_fair_pls_takes_weights_as_repeated_rows(form, people):
    X, rest = rows(people)
    times = np.random.default_rng(0).integers(0, 4, N)
    # What depends on the number of rows: shrinkage, and covariances, divided by one less.
    fixed = {"shrinkage": 0.1, "covariance_penalty": 0.0}
    options = {"missing_sensitive": "ignore", **PLS[form], **fixed}
    rest["sample_weight"] = times.astype(float)
    weighted = FairPLS(**options).fit(X, **rest)
    again = np.repeat(np.arange(N), times)
    y, groups = rest["y"][again], rest["sensitive_features"].iloc[again].reset_index(drop=True)
    repeated = FairPLS(**options).fit(X[again], y, sensitive_features=groups)
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), rtol=0, atol=1e-9)


def assert_same_scores(there, here, people, atol):
    X, _ = rows(people)
    new = people[FEATURES].astype(float) if hasattr(there, "feature_names_in_") else X
    T, expected = np.asarray(there.transform(new)), here.transform(X)
    assert expected.std() == pytest.approx(1, abs=0.1)
    np.testing.assert_allclose(T, expected, rtol=0, atol=atol)
    np.testing.assert_allclose(
        np.asarray(there.explained_targets_), here.explained_targets_, atol=atol
    )
    assert there.targets_ == here.targets_ == {"y": [0, 1]}
    assert there.mean_gap_ < max(atol, 1e-9)
    if hasattr(here, "distribution_gap_"):
        assert there.distribution_gap_ == pytest.approx(here.distribution_gap_, abs=atol)
