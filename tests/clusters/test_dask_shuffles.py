"""A shuffle leaves rows in any order: people keep their groups all the same, or are refused."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client

from fairpca import FairPCA
from fairpca.errors import UnpairedRowsError
from slow import first_fast

N, FEATURES, TIMES = 6000, ["x0", "x1", "x2"], 2


@pytest.fixture(params=first_fast(["disk", "tasks"]), autouse=True)
def method(request):
    with dask.config.set({"dataframe.shuffle.method": request.param}):
        yield request.param


def tables():
    """Features and groups of people, in different orders; a group differs in one feature."""
    rng = np.random.default_rng(0)
    k, sex = rng.permutation(N), rng.choice(["f", "m"], N)
    features = pd.DataFrame(rng.normal(size=(N, 3)), columns=FEATURES)
    features["x0"] += 2.0 * (sex == "m")
    attributes = pd.DataFrame({"k": k, "sex": sex, "w": rng.uniform(1, 2, N)})
    return features.assign(k=k), attributes.sample(frac=1, random_state=1)


def divided(frame, npartitions=6):
    return dd.from_pandas(frame, npartitions=npartitions, sort=False)


def whole():
    features, attributes = tables()
    return features.merge(attributes, on="k")


def merged():
    features, attributes = tables()
    return divided(features).merge(divided(attributes, 4), on="k")


def shuffled():
    return divided(whole()).shuffle("k")


def assert_right(fair, weight=None):
    table = whole()
    w = None if weight is None else table["w"]
    expected = FairPCA(1).fit(table[FEATURES], sensitive_features=table["sex"], sample_weight=w)
    np.testing.assert_allclose(abs(fair.components_), abs(expected.components_), atol=1e-8)
    T = table[FEATURES].to_numpy() @ fair.components_[0]
    is_m = table["sex"].to_numpy() == "m"
    if weight is None:
        assert abs(T[is_m].mean() - T[~is_m].mean()) < 1e-8


ORIGINS = {
    "merge": merged,
    "shuffle": shuffled,
    "shuffle and reset_index": lambda: shuffled().reset_index(drop=True),
    "merge and filter": lambda: merged().query("k >= 0"),
    "set_index with ties": lambda: divided(whole().assign(tie=lambda t: t["k"] % 50)).set_index(
        "tie"
    ),
}


@pytest.mark.parametrize("origin", ORIGINS)
def test_columns_of_a_shuffled_frame_stay_together(origin):
    for _ in range(TIMES):
        M = ORIGINS[origin]()
        assert_right(FairPCA(1).fit(M[FEATURES], sensitive_features=M["sex"]))
        assert_right(FairPCA(1).fit(M[FEATURES], sensitive_features=M[["sex"]]))
        lazily = {"sensitive_features": {"sex": M["sex"]}, "sample_weight": M["w"]}
        assert_right(FairPCA(1).fit(M[FEATURES], **lazily), weight="w")


def test_rows_that_a_groupby_gave_stay_together():
    features, attributes = tables()
    table = divided(features.merge(attributes, on="k").assign(g=lambda t: t["k"] % 20))
    rows = table.groupby("g")[[*FEATURES, "sex"]].apply(
        lambda t: t, meta=table._meta[[*FEATURES, "sex"]]
    )
    assert_right(FairPCA(1).fit(rows[FEATURES], sensitive_features=rows["sex"]))


@pytest.mark.parametrize("npartitions", first_fast([15, 3, 6]))
def test_partitions_may_be_made_anew_after_a_shuffle(npartitions):
    for _ in range(TIMES):
        M = merged()
        X = M[FEATURES].repartition(npartitions=npartitions)
        assert_right(FairPCA(1).fit(X, sensitive_features=M["sex"]))


def test_columns_of_one_array_stay_together_after_a_shuffle():
    M = merged()
    M["sex"] = (M["sex"] == "m").astype(float)
    array = M[[*FEATURES, "sex"]].to_dask_array()
    assert_right(FairPCA(1).fit(array[:, :3], sensitive_features=array[:, 3] > 0))


@pytest.mark.filterwarnings("ignore:Dask currently has limited support")  # of strings in arrays
@pytest.mark.parametrize("origin", first_fast(["merge", "shuffle", "shuffle and reset_index"]))
@pytest.mark.parametrize(
    "apart",
    [
        lambda X, s: (X.to_dask_array(), s.to_dask_array()),
        lambda X, s: (X.to_dask_array(), s),
        lambda X, s: (X, s.to_dask_array()),
        lambda X, s: dask.optimize(X.to_dask_array()) + dask.optimize(s.to_dask_array()),
        lambda X, s: (X, s.compute()),
        lambda X, s: (X, {"sex": s.compute().to_numpy()}),
        lambda X, s: (X.persist(), s),
        lambda X, s: (X.optimize(), s.optimize()),
    ],
    ids=["arrays", "X", "groups", "optimized", "memory", "array", "persisted", "tuned"],
)
def test_collections_that_are_shuffled_apart_are_refused(origin, apart):
    M = ORIGINS[origin]()
    X, s = apart(M[FEATURES], M["sex"])
    with pytest.raises(UnpairedRowsError, match=r"persist\(\) the collection"):
        FairPCA(1).fit(X, sensitive_features=s)


@pytest.mark.filterwarnings("ignore:Dask currently has limited support")  # of strings in arrays
def test_the_advice_helps():
    M = merged().persist()
    X, s = M[FEATURES].to_dask_array(), M["sex"].to_dask_array()
    assert_right(FairPCA(1).fit(X, sensitive_features=s))
    assert_right(FairPCA(1).fit(M[FEATURES], sensitive_features=M["sex"].compute()))
    table = merged()[[*FEATURES, "sex"]]
    fair = FairPCA(1, sensitive_columns=["sex"]).fit(table)
    known = FairPCA(1, sensitive_columns=["sex"]).fit(whole()[[*FEATURES, "sex"]])
    np.testing.assert_allclose(abs(fair.components_), abs(known.components_), atol=1e-8)


def test_frames_that_are_sorted_apart_are_paired_by_labels():
    features, attributes = tables()
    X = divided(features).set_index("k")
    s = divided(attributes, 4).set_index("k")["sex"]
    assert_right(FairPCA(1).fit(X, sensitive_features=s.repartition(divisions=X.divisions)))
    in_order = attributes.sort_values("k")["sex"].to_numpy()
    assert_right(FairPCA(1).fit(X, sensitive_features=in_order))


def test_frames_that_are_sorted_apart_by_labels_of_several_rows_are_refused():
    features, attributes = (t.assign(k=t["k"] // 2) for t in tables())
    X = divided(features).set_index("k")
    s = divided(attributes, 4).set_index("k", divisions=X.divisions)["sex"]
    with pytest.raises(UnpairedRowsError, match="different for every row"):
        FairPCA(1).fit(X, sensitive_features=s)


def test_a_shuffle_between_workers_keeps_people_together(method):
    if method == "tasks":
        pytest.skip("workers send rows to each other")
    options = {"processes": False, "n_workers": 1, "dashboard_address": None}
    with Client(**options), dask.config.set({"dataframe.shuffle.method": "p2p"}):
        M = merged()
        assert_right(FairPCA(1).fit(M[FEATURES], sensitive_features=M["sex"]))
        S = shuffled().reset_index(drop=True)
        assert_right(FairPCA(1).fit(S[FEATURES], sensitive_features=S["sex"]))
        with pytest.raises(UnpairedRowsError, match=r"persist\(\)"):
            FairPCA(1).fit(M[FEATURES].to_dask_array(), sensitive_features=M["sex"])
