"""Rows that come in parts, from whatever engine, give the answer of rows in memory."""

import pickle
import random
from dataclasses import replace

import numpy as np
import pytest

from assertions import assert_same_subspace
from fairpca import FairKernelPCA, FairPCA, FairPLS
from fairpca._rows import Batch, LazyRows
from fairpca.errors import (
    MissingGroupError,
    MissingTargetError,
    UsageError,
)
from fairpca.moments import collect_moments
from optional_libraries import pandas as pd


class ListedParts(LazyRows):
    """The smallest engine: parts in a list, sent through pickle, added in random order."""

    def __init__(self, parts, seed=0):
        self.parts = parts
        self.seed = seed

    @property
    def head(self):
        first = self.parts[0]

        def nothing(value):
            return None if value is None else value[:0]

        return Batch(*(nothing(v) for v in (first.X, first.y, first.sensitive_features)))

    def fold(self, collect):
        collect = pickle.loads(pickle.dumps(collect))
        results = [r for r in map(collect, self.parts) if r is not None]
        random.Random(self.seed).shuffle(results)
        total = None
        for result in results:
            total = result if total is None else total + result
        return total


class RowsThatChange(ListedParts):
    """An engine whose rows are others, or fewer, or in other groups, when they are read again."""

    def __init__(self, parts, change):
        super().__init__(parts)
        self.change, self.passes = change, 0

    def fold(self, collect):
        self.passes += 1
        if self.passes == 3:
            self.parts = self.change(self.parts)
        return super().fold(collect)


CHANGES = {
    "rows are added": lambda parts: [*parts, parts[-1]],
    "rows are gone": lambda parts: parts[:-1],
    "rows change groups": lambda parts: [
        replace(p, sensitive_features=p.sensitive_features.assign(race="a")) for p in parts
    ],
    "weights change": lambda parts: (
        [replace(p, sample_weight=2.0 * p.sample_weight) for p in parts[:1]] + parts[1:]
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_rows_that_change_between_passes_are_noticed(change):
    X, s, y, w = people()
    source = RowsThatChange(parts_of(X, s[["race"]], y, w, [200, 400]), CHANGES[change])
    fair = FairPLS()
    with pytest.raises(UsageError, match=r"rows changed while they were read: .*'race'.*Read what"):
        fair.fit(source)
    assert not hasattr(fair, "components_")
    assert source.passes == 3


def rows_and_groups():
    X, s, _, _ = people()
    return X, s[["race"]]


def people(n=600, d=9, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"x{j}" for j in range(d)])
    attributes = pd.DataFrame(
        {"race": rng.choice(["a", "b", "c"], n), "age": rng.uniform(20, 60, n)}
    )
    attributes.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame["x0"] += attributes["race"] == "a"
    frame["x1"] += attributes["age"].fillna(40) / 10
    return frame, attributes, rng.integers(0, 2, n), rng.uniform(0, 3, n)


def parts_of(X, s, y, w, edges):
    """Cut rows at the edges; a repeated edge makes an empty part."""
    return [
        Batch(X[a:b], y[a:b], s[a:b], w[a:b], number=i)
        for i, (a, b) in enumerate(zip([0, *edges], [*edges, len(X)], strict=True))
    ]


EDGES = [1, 3, 3, 200, 599]


def test_columns_of_the_parts_may_hold_the_attributes():
    X, s = rows_and_groups()
    table = X.assign(race=s["race"])
    parts = [Batch(table[:100], number=0), Batch(table[100:], number=1)]
    apart = FairPCA(2, sensitive_columns=["race"]).fit(ListedParts(parts))
    whole = FairPCA(2, sensitive_columns=["race"]).fit(table)
    assert_same_subspace(apart.components_.T, whole.components_.T)


def test_moments_of_parts_are_moments_of_all_rows():
    X, s, y, w = people()
    options = {"with_scatters": True, "missing_sensitive": "ignore"}
    whole = collect_moments(X, s, sample_weight=w, **options)
    apart = collect_moments(ListedParts(parts_of(X, s, y, w, EDGES)), None, **options)
    np.testing.assert_allclose(apart.scatter.matrix, whole.scatter.matrix)
    np.testing.assert_allclose(
        apart.attributes[0].scatters[0].matrix, whole.attributes[0].scatters[0].matrix
    )


def test_a_sample_of_many_rows_does_not_depend_on_which_part_comes_first(monkeypatch):
    monkeypatch.setattr("fairpca.estimators._kernel_features.PILOT_ROWS", 50)
    X, s, y, w = people()
    parts = parts_of(X, s[["race"]], y, w, EDGES)
    drawn = [
        FairKernelPCA(2, approximation="nystroem", n_landmarks=40, random_state=0)
        .fit(ListedParts(parts, seed=seed))
        .landmarks_
        for seed in range(3)
    ]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    np.testing.assert_array_equal(drawn[0], drawn[2])
    assert len(np.unique(drawn[0], axis=0)) == 40
    parts_seen = [int((X.to_numpy()[:, None] == row).all(axis=2).argmax()) for row in drawn[0]]
    assert min(parts_seen) < 200 < max(parts_seen)


def test_exact_kernels_refuse_parts_and_say_what_to_do():
    X, s, y, w = people()
    parts = ListedParts(parts_of(X, s[["race"]], y, w, EDGES))
    with pytest.raises(ValueError, match="approximation='nystroem'"):
        FairKernelPCA(2).fit(parts)


def test_parts_without_attributes_are_refused():
    X, _ = rows_and_groups()
    with pytest.raises(MissingGroupError, match="plain PCA"):
        FairPCA(2).fit(ListedParts([Batch(X)]))


def test_parts_without_rows_are_refused():
    X, s = rows_and_groups()
    with pytest.raises(ValueError, match="0 rows"):
        FairPCA(2).fit(ListedParts([Batch(X[:0], sensitive_features=s[:0])]))


def test_other_columns_in_a_later_part_are_refused():
    X, s = rows_and_groups()
    other = Batch(X[300:].rename(columns={"x3": "y3"}), sensitive_features=s[300:], number=1)
    with pytest.raises(ValueError, match="y3"):
        FairPCA(2).fit(ListedParts([Batch(X[:300], sensitive_features=s[:300]), other]))


def test_attributes_beside_parts_are_refused():
    X, s, y, w = people()
    parts = ListedParts(parts_of(X, s[["race"]], y, w, EDGES))
    with pytest.raises(ValueError, match="sensitive_features came too"):
        FairPCA(2).fit(parts, sensitive_features=s)


def test_batches_can_be_added_to_parts():
    X, s = rows_and_groups()
    parts = [
        Batch(X[:100], sensitive_features=s[:100]),
        Batch(X[100:400], None, s[100:400], None, 1),
    ]
    fair = (
        FairPCA(2).partial_fit(ListedParts(parts)).partial_fit(X[400:], sensitive_features=s[400:])
    )
    whole = FairPCA(2).fit(X, sensitive_features=s)
    assert_same_subspace(fair.components_.T, whole.components_.T)


@pytest.mark.parametrize(
    "nothing",
    [
        np.array([None] * 50, dtype=object),
        pd.Series([None] * 50, dtype="string"),
        pd.Series([None] * 50, dtype="str"),
        pd.Series(pd.Categorical([None] * 50)),
    ],
    ids=["objects", "string", "str", "category"],
)
@pytest.mark.parametrize("first", [False, True])
def test_a_part_that_knows_nothing_of_an_attribute_adds_to_the_level_of_missing_values(
    nothing, first
):
    X, s = rows_and_groups()
    race = s["race"].to_numpy(dtype=object)
    race[:50] = None
    options = {
        "missing_sensitive": "group",
        "match": "covariances",
        "covariance_method": "spectral",
    }
    whole = FairPCA(2, **options).fit(X, sensitive_features={"race": race})
    batches = [(X[:50], nothing), (X[50:], race[50:])]
    apart = FairPCA(2, **options)
    for rows, groups in batches if first else batches[::-1]:
        apart.partial_fit(rows, sensitive_features={"race": groups})
    assert_same_subspace(apart.components_.T, whole.components_.T)
    assert set(apart.groups_["race"]) == set(whole.groups_["race"])


def test_joint_groups_in_a_part_that_knows_nothing_of_one_attribute():
    X, s = rows_and_groups()
    sex = np.where(np.arange(len(X)) % 2, "f", "m").astype(object)
    sex[:50] = None
    options = {"intersectional": True, "missing_sensitive": "ignore"}
    race = s["race"].to_numpy(dtype=object)
    whole = FairPCA(2, **options).fit(X, sensitive_features={"race": race, "sex": sex})
    apart = FairPCA(2, **options)
    for rows in (slice(0, 50), slice(50, None)):
        apart.partial_fit(X[rows], sensitive_features={"race": race[rows], "sex": sex[rows]})
    assert_same_subspace(apart.components_.T, whole.components_.T)


def test_labels_are_asked_for_where_rows_are_lazy():
    X, s = rows_and_groups()
    parts = ListedParts([Batch(X, sensitive_features=s)])
    with pytest.raises(MissingTargetError, match="target="):
        FairPCA(2, criterion="equalized_odds").fit(parts)
    labelled = ListedParts([Batch(X, np.array(["yes", "no"] * 300), s)])
    with pytest.raises(MissingTargetError, match="no row has y == 1"):
        FairPCA(2, criterion="equal_opportunity").fit(labelled)
