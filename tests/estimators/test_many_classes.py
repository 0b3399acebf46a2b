"""Equalized odds with hundreds of classes of y: templates, topics, clusters of texts."""

import warnings

import numpy as np
import pytest

from fairpca import FairKernelPCA, FairPCA, FairPLS
from fairpca._moments import design
from fairpca.errors import InfeasibleError, MissingTargetError, ResidualWarning, SingleGroupError
from fairpca.moments import collect_moments
from optional_libraries import pandas as pd
from optional_libraries import torch

ODDS = {"criterion": "equalized_odds"}


def rows_in_classes(n_classes, per_class=6, d=40, m=2, seed=0):
    rng = np.random.default_rng(seed)
    y, z = np.arange(n_classes * per_class) % n_classes, rng.integers(0, m, n_classes * per_class)
    z[: m * n_classes] = np.repeat(np.arange(m), n_classes)  # every class has all groups
    order = rng.permutation(len(y))
    return rng.normal(size=(len(y), d)) + 0.5 * z[:, None], y[order], z[order]


def differences(T, y, z):
    """Return how far means of groups are from that of their class, for all classes."""
    found = []
    for c in np.unique(y):
        for g in np.unique(z[y == c]):
            here = y == c
            found.append(np.abs(T[here & (z == g)].mean(axis=0) - T[here].mean(axis=0)).max())
    return np.array(found)


@pytest.mark.parametrize("name", ["texts", "integers", "whole floats", "categories", "objects"])
def test_hundreds_of_classes_of_any_kind(name):
    X, y, z = rows_in_classes(120, d=130)
    labels = {
        "texts": y.astype(str),
        "integers": y,
        "whole floats": y.astype(float),
        "categories": pd.Series(pd.Categorical(y.astype(str))),
        "objects": np.array([f"topic {c}" for c in y], dtype=object),
    }[name]
    fair = FairPCA(**ODDS).fit(X, labels, sensitive_features=z)
    assert differences(fair.transform(X), y, z).max() < 1e-9
    assert fair.constraint_rank_ == 120


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("m", [2, 3])
def test_sums_of_many_strata_are_those_of_products(m, weighted, monkeypatch):
    X, y, z = rows_in_classes(30, 12, d=70, m=m)
    w = np.random.default_rng(1).uniform(0.1, 2, len(X)) if weighted else None
    given = {"y": y, "sample_weight": w, **ODDS}
    found = collect_moments(X, {"z": z, "age": X[:, 0] ** 2}, **given)
    parts = sum(
        collect_moments(
            X[rows],
            {"z": z[rows], "age": X[rows, 0] ** 2},
            y=y[rows],
            **ODDS,
            sample_weight=w if w is None else w[rows],
        )
        for rows in np.array_split(np.arange(len(X)), 5)
    )
    monkeypatch.setattr(design, "MANY_LEVELS", 10**9)
    expected = collect_moments(X, {"z": z, "age": X[:, 0] ** 2}, **given)
    for a, b in zip(found.attributes, expected.attributes, strict=True):
        np.testing.assert_allclose(a.total, b.total, atol=1e-10)
        np.testing.assert_allclose(a.weight, b.weight)
    in_parts = {(a.name, a.stratum): a for a in parts.attributes}
    for b in expected.attributes:
        np.testing.assert_allclose(
            in_parts[b.name, b.stratum].contrasts()[0], b.contrasts()[0], atol=1e-9
        )


def test_levels_of_many_strata_take_a_byte_per_row():
    X, y, z = rows_in_classes(40)
    (a, *_) = FairPCA(**ODDS)._reader().rows(X, y, z, None, lambda X, **_: (X, None)).attributes
    assert a.codes.dtype == np.int8
    many = (np.arange(len(X)) % 130).astype(str)
    (b, *_) = FairPCA(**ODDS)._reader().rows(X, y, many, None, lambda X, **_: (X, None)).attributes
    assert b.codes.dtype == np.int16


def without(y, z, classes, group):
    return ~(np.isin(y, classes) & (z == group))


def test_classes_that_lack_a_group_are_left_out_with_one_warning():
    X, y, z = rows_in_classes(60, d=80)
    kept = without(y, z, [3, 7, 8], 1)
    X, y, z = X[kept], y[kept], z[kept]
    with pytest.warns(ResidualWarning) as told:
        fair = FairPCA(**ODDS).fit(X, y, sensitive_features={"sex": z})
    assert len(told) == 1
    assert "3 of the 60 classes of y lack groups of 'sex', 3 of them all but one" in str(
        told[0].message
    )
    T = fair.transform(X)
    whole = ~np.isin(y, [3, 7, 8])
    assert differences(T[whole], y[whole], z[whole]).max() < 1e-9
    assert fair.constraint_rank_ == 57
    only = FairPCA(**ODDS).fit(X[whole], y[whole], sensitive_features={"sex": z[whole]})
    removed = [np.eye(80) - one.components_.T @ one.components_ for one in (fair, only)]
    np.testing.assert_allclose(*removed, atol=1e-9)

    parts = FairPCA(**ODDS)
    for rows in np.array_split(np.arange(len(X)), 3):
        parts.partial_fit(X[rows], y[rows], sensitive_features={"sex": z[rows]})
    with pytest.warns(ResidualWarning, match="3 of the 60 classes"):
        np.testing.assert_allclose(np.abs(parts.components_), np.abs(fair.components_), atol=1e-7)


def test_of_three_groups_those_that_a_class_has_are_compared():
    X, y, z = rows_in_classes(20, 12, d=60, m=3)
    kept = without(y, z, [3, 7], 1) & without(y, z, [3], 2)
    X, y, z = X[kept], y[kept], z[kept]
    words = r"2 of the 20 classes of y lack groups of 'sensitive', 1 of them all but one"
    with pytest.warns(ResidualWarning, match=words):
        fair = FairPCA(**ODDS).fit(X, y, sensitive_features=z)
    assert differences(fair.transform(X), y, z).max() < 1e-9
    assert fair.constraint_rank_ == 18 * 2 + 1


def test_numbers_that_are_constant_in_a_class_remove_nothing_there():
    X, y, _ = rows_in_classes(20, 12, d=60)
    age = np.where(y == 4, 0.1 + 1e-17, np.random.default_rng(0).normal(40, 9, len(X)))
    with pytest.warns(ResidualWarning, match="1 of the 20 classes of y lack groups of 'sensitive'"):
        fair = FairPCA(**ODDS).fit(X, y, sensitive_features=age)
    assert fair.constraint_rank_ == 19
    assert fair.mean_gap_ < 1e-10


METHODS = {
    "covariances": FairPCA(2, match="covariances", covariance_method="spectral", **ODDS),
    "distributions": FairPCA(2, match="distributions", random_state=0, **ODDS),
    "kernel": FairKernelPCA(2, **ODDS),
    "nystroem": FairKernelPCA(2, approximation="nystroem", n_landmarks=80, **ODDS),
    "pls": FairPLS(1, match="means", **ODDS),
    "pls, distributions": FairPLS(1, **ODDS),
}


@pytest.mark.parametrize("name", METHODS)
def test_other_methods_leave_them_out_too(name):
    X, y, z = rows_in_classes(12, 40, d=40)
    kept = without(y, z, [3], 1)
    X, y, z, topic = X[kept], y[kept], z[kept], y[kept].astype(str)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fair = METHODS[name].fit(X, topic, sensitive_features=z)
    assert sum("1 of the 12 classes of y" in str(one.message) for one in told) == 1
    whole = y != 3
    assert differences(fair.transform(X)[whole], y[whole], z[whole]).max() < 1e-6


def test_few_classes_and_classes_without_anything_to_compare_are_errors():
    X, y, z = rows_in_classes(8)
    kept = without(y, z, [3], 1)
    with pytest.raises(MissingTargetError, match=r"group\(s\) \[1\].*y == 3"):
        FairPCA(**ODDS).fit(X[kept], y[kept], sensitive_features=z[kept])
    X, y, z = rows_in_classes(30)
    with pytest.raises(
        SingleGroupError, match="None of the 30 classes of y has rows of two groups"
    ):
        FairPCA(**ODDS).fit(X, y, sensitive_features=y % 2)
    X, y, z = rows_in_classes(60)
    with pytest.raises(InfeasibleError, match=r"Each of the 60 classes.*within_pairs"):
        FairPCA(**ODDS).fit(X, y, sensitive_features=z)


def test_numbers_with_fractions_and_identifiers_are_no_classes():
    rng = np.random.default_rng(0)
    X, z = rng.normal(size=(10_100, 2)), np.arange(10_100) % 2
    with pytest.raises(MissingTargetError, match="60 distinct values, which look like a contin"):
        FairPCA(**ODDS).fit(X[:60], X[:60, 0], sensitive_features=z[:60])
    with pytest.raises(MissingTargetError, match="10100 distinct values, which look like an ident"):
        FairPCA(**ODDS).fit(X, np.arange(10_100), sensitive_features=z)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_many_classes_of_tensors(dtype):
    X, y, z = rows_in_classes(60, d=80)
    expected = FairPCA(**ODDS).fit(X, y, sensitive_features=z)
    rows = torch.from_numpy(X).to(getattr(torch, dtype))
    found = FairPCA(**ODDS).fit(rows, y, sensitive_features=torch.from_numpy(z))
    assert found.constraint_rank_ == expected.constraint_rank_ == 60
    removed = [one.components_.T @ one.components_ for one in (expected, found)]
    np.testing.assert_allclose(removed[1].numpy(), removed[0], atol=1e-3)
