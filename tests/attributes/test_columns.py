"""Which columns are what, and whose rows they are: labels that disagree are refused everywhere."""

import inspect
import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from assertions import assert_same_subspace
from fairpca import FairPCA, metrics
from fairpca._attributes import assign_roles, check_frames, is_named, rows_named
from fairpca.errors import TableError, UsageError
from fairpca.moments import collect_moments
from fairpca.tradeoff import tradeoff_curve
from registry import ESTIMATORS, small_rows

pd = pytest.importorskip("pandas")
xps = pytest.importorskip("array_api_strict")

REFUSED = pytest.raises(UsageError, match=r"row labels of .* differ.*\.to_numpy\(\)")


def labelled(n=120):
    """Return rows, groups, labels and weights of people with names, in frames and Series."""
    X, sex, y = small_rows(n)
    people = [f"p{i}" for i in range(n)]
    weight = np.random.default_rng(1).uniform(1, 2, n)
    columns = (pd.Series(values, index=people) for values in (sex, y, weight))
    return pd.DataFrame(X, index=people).add_prefix("x"), *columns


def others(values):
    """Return what has as many rows, but not the same labels in one order: ways to get there."""
    yield values.iloc[::-1]
    yield values.sample(frac=1, random_state=0)
    yield values.reset_index(drop=True)
    yield values.set_axis([*values.index[:-1], "somebody else"])


@given(st.permutations(list(range(6))), st.sampled_from(["list", "Series", "frame", "dict"]))
def test_labels_agree_or_are_refused_whatever_they_are_on(order, kind):
    X = pd.DataFrame({"a": np.arange(6.0)}, index=[*"aabcde"])
    moved = pd.Series([*"ffmmfm"], index=X.index).iloc[order]
    make = {"list": list, "Series": pd.Series, "frame": pd.DataFrame, "dict": lambda s: {"sex": s}}
    given = {"X": X, "sensitive_features": make[kind](moved)}
    apart = [i for i in range(6) if moved.index[i] != X.index[i]]
    if kind == "list" or not apart:
        check_frames(**given)
        return
    labels = f"{X.index[apart[0]]!r} and {moved.index[apart[0]]!r}"
    with pytest.raises(UsageError, match=f"position {apart[0]} they are {labels}"):
        check_frames(**given)


def test_labels_of_several_types_that_say_the_same_agree():
    plain = pd.Series([1, 2, 3], index=[1, 2, 3])
    for index in (pd.RangeIndex(1, 4), pd.Index([1.0, 2, 3]), pd.Index([1, 2, 3], dtype="Int64")):
        check_frames(X=plain, y=plain.set_axis(index))
    with REFUSED:
        check_frames(X=plain, y=plain.set_axis(["1", "2", "3"]))


def test_columns_of_a_dict_must_agree_among_themselves():
    sex = pd.Series(["f", "m"], index=["a", "b"])
    with pytest.raises(UsageError, match=r"sensitive_features\['race'\].*'a' and 'b'"):
        check_frames(X=np.eye(2), sensitive_features={"sex": sex, "race": sex.iloc[::-1]})


def test_the_message_says_how_to_have_one_order_where_that_is_possible():
    X, sex, *_ = labelled()
    with pytest.raises(UsageError, match=r"sensitive_features\.loc\[X\.index\]"):
        FairPCA(1).fit(X, sensitive_features=sex.iloc[::-1])
    with pytest.raises(UsageError, match=r"Take the same rows of both"):
        FairPCA(1).fit(X.iloc[::2], sensitive_features=sex.iloc[1::2])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_refuses_labels_that_disagree(name):
    X, sex, y, weight = labelled()
    made = ESTIMATORS[name].made
    weighted = "sample_weight" in inspect.signature(made().fit).parameters
    methods = [m for m in ("fit", "partial_fit", "fit_transform") if hasattr(made(), m)]
    for method in methods:
        for moved in others(sex):
            for given_as in (moved, {"sex": moved}, moved.to_frame("sex")):
                with REFUSED:
                    getattr(made(), method)(X, y, sensitive_features=given_as)
        for moved in others(y):
            with REFUSED:
                getattr(made(), method)(X, moved, sensitive_features=sex)
        for moved in others(weight) if weighted else ():
            with REFUSED:
                getattr(made(), method)(X, y, sensitive_features=sex, sample_weight=moved)


@pytest.mark.parametrize("name", ["fair pca", "rbf kernel", "plain pca", "leace"])
def test_labels_that_agree_change_nothing(name):
    X, sex, y, _ = labelled()
    by_label, by_position = ESTIMATORS[name].made(), ESTIMATORS[name].made()
    by_label.fit(X, y, sensitive_features={"sex": sex})
    by_position.fit(X.to_numpy(), y.to_numpy(), sensitive_features={"sex": sex.to_numpy()})
    found, expected = by_label.transform(X), by_position.transform(X.to_numpy())
    np.testing.assert_array_equal(found, expected)


T, GROUPS, LABELS, _ = labelled()


def as_rows(groups):
    """Return indicators of the groups, with the row labels of the groups if they have any."""
    columns = pd.get_dummies(groups, dtype=float)
    return columns if hasattr(groups, "index") else columns.to_numpy()


METRICS = {
    "certified_gap": lambda T, g, y: metrics.certified_gap(T["x0"] > 3, g),
    "covariance_gap": lambda T, g, y: metrics.covariance_gap(T, g),
    "distribution_gap": lambda T, g, y: metrics.distribution_gap(
        None, T["x0"], sensitive_features=g
    ),
    "explained_difference": lambda T, g, y: metrics.explained_difference(
        None, y, sensitive_features=g, given=T["x1"] > T["x1"].median()
    ),
    "false_positive_rate_difference": lambda T, g, y: metrics.false_positive_rate_difference(
        y, y, sensitive_features=g
    ),
    "leakage": lambda T, g, y: metrics.leakage(T, g, n_permutations=2, random_state=0),
    "mean_gap": lambda T, g, y: metrics.mean_gap(T, g),
    "mean_prediction_difference": lambda T, g, y: metrics.mean_prediction_difference(
        None, T["x0"], sensitive_features=g
    ),
    "neighbours_kept": lambda T, g, y: metrics.neighbours_kept(T, as_rows(g), n_neighbors=2),
    "precision_difference": lambda T, g, y: metrics.precision_difference(
        y, y, sensitive_features=g
    ),
    "proxy_difference": lambda T, g, y: metrics.proxy_difference(
        None, y, sensitive_features=as_rows(g)
    ),
    "select_top": lambda T, g, y: metrics.select_top(
        T["x0"], 0.5, sample_weight=g == GROUPS.iloc[0]
    ),
    "selection_rate_difference": lambda T, g, y: metrics.selection_rate_difference(
        None, y, sensitive_features=g
    ),
    "selection_rate_ratio": lambda T, g, y: metrics.selection_rate_ratio(
        None, y, sensitive_features=g
    ),
    "similarity_correlation": lambda T, g, y: metrics.similarity_correlation(T, as_rows(g)),
    "true_positive_rate_difference": lambda T, g, y: metrics.true_positive_rate_difference(
        y, y, sensitive_features=g
    ),
}
PAIRS_NOTHING = {
    "Certificate",
    "ExplainedDifference",
    "Leakage",
    "Plan",
    "ProxyDifference",
    "explained_variance_ratio",
    "make_leakage_scorer",
    "plan",
}


def test_the_metrics_here_are_all_there_are():
    assert METRICS.keys() | PAIRS_NOTHING == set(metrics.__all__)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_refuses_groups_of_others(name):
    METRICS[name](T, GROUPS, LABELS)
    METRICS[name](T, GROUPS.sample(frac=1, random_state=0).to_numpy(), LABELS)  # by position
    for moved in others(GROUPS):
        with REFUSED:
            METRICS[name](T, moved, LABELS)


def test_metrics_refuse_labels_of_others():
    for moved in others(LABELS):
        with REFUSED:
            metrics.true_positive_rate_difference(moved, LABELS, sensitive_features=GROUPS)


def test_metrics_refuse_weights_of_others():
    weight = labelled()[3]
    for moved in others(weight):
        for name in ("selection_rate_difference", "precision_difference"):
            with REFUSED:
                getattr(metrics, name)(
                    LABELS, LABELS, sensitive_features=GROUPS, sample_weight=moved
                )
        with REFUSED:
            metrics.distribution_gap(None, T["x0"], sensitive_features=GROUPS, sample_weight=moved)
        with REFUSED:
            metrics.leakage(T, GROUPS, sample_weight=moved)


def test_moments_and_curves_refuse_rows_of_others():
    X, sex, y, weight = labelled()
    rows = {"X_train": X, "y_train": y, "X_test": X, "y_test": y}
    rows |= {"sensitive_features_train": sex, "sensitive_features_test": {"sex": sex}}

    def curve(**changed):
        given = {**rows, **changed}
        first = [given.pop(name) for name in ("X_train", "y_train", "X_test", "y_test")]
        return tradeoff_curve(FairPCA(2), LogisticRegression(), *first, **given, tradeoffs=[0.0])

    assert curve()[0].selection_rate_difference >= 0
    for name, values in rows.items():
        moved = {"sex": sex.iloc[::-1]} if name == "sensitive_features_test" else values.iloc[::-1]
        with REFUSED:
            curve(**{name: moved})
    for wrong in ({"y": y.iloc[::-1]}, {"sample_weight": weight.iloc[::-1]}):
        with REFUSED:
            collect_moments(X, sex, **wrong)


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_scikit_learn_pairs_rows_as_before(output):
    if output == "polars":
        pytest.importorskip("polars")
    X, sex, y, _ = labelled()
    with config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("error")
        fair = FairPCA(3).set_fit_request(sensitive_features=True)
        model = make_pipeline(StandardScaler(), fair, LogisticRegression())
        model.set_output(transform=output)
        scores = cross_val_score(model, X, y, params={"sensitive_features": sex}, cv=3)
        assert np.isfinite(scores).all()
        *parts, sex_train, sex_test = train_test_split(X, y, sex, random_state=0)
        model.fit(parts[0], parts[2], sensitive_features=sex_train)
        assert metrics.mean_gap(model[:-1].transform(parts[1]), sex_test) >= 0


@given(st.integers(-1000, 1000), st.booleans(), st.text("abz01 ", min_size=1).map(str.strip))
def test_a_value_is_named_however_it_is_written(number, truth, word):
    for name in (number, float(number), str(number), f" {number}.0 ", np.int64(number)):
        assert is_named(number, name)
        assert is_named(float(number), name)
        assert not is_named(number + 1, name)
    for name in (truth, str(truth), f" {str(truth).upper()}", np.bool_(truth)):
        assert is_named(truth, name)
        assert not is_named(not truth, name)
    assert is_named(f"  {word} ", word)
    assert is_named(word, f"{word} ")
    assert not is_named(f"{word}x", word)
    assert is_named("cafe\u0301", "caf\u00e9")  # an accent apart, or in the letter
    assert not is_named("Yes", "yes")


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (np.array([1, 0, 1]), "1"),
        (np.array([1.0, 0.0, 1.0]), 1),
        (np.array([True, False, True]), "true"),
        (np.array([" yes", "no", "yes"]), "yes"),
        (np.array(["1", 0, 1], dtype=object), 1),
        (np.array(["True", "False", "true"]), True),
        (np.array(["2020", "2021", "2020"], "M8[ns]"), np.datetime64("2020")),
    ],
)
def test_rows_of_every_type_are_found_by_name(values, name):
    np.testing.assert_array_equal(rows_named(values, name), [True, False, True])


def test_every_door_counts_the_same_rows_as_positive():
    X, sex, y = small_rows()
    messy = np.where(y == 1, np.where(np.arange(len(y)) % 2, "yes", " yes"), "no")
    options = {"criterion": "equal_opportunity"}
    expected = FairPCA(2, **options).fit(X, y, sensitive_features=sex)
    found = FairPCA(2, pos_label="yes", **options).fit(X, messy, sensitive_features=sex)
    np.testing.assert_array_equal(found.components_, expected.components_)
    odds = [
        FairPCA(2, criterion="equalized_odds").fit(X, labels, sensitive_features=sex)
        for labels in (y, messy)
    ]
    assert_same_subspace(*(fair.components_.T for fair in odds), atol=1e-10)
    stream = FairPCA(2, pos_label="yes", **options)
    for part in (messy == "yes", messy != "yes"):
        stream.partial_fit(X[part], messy[part], sensitive_features=sex[part])
    assert stream.n_samples_seen_ == (y == 1).sum()
    right = metrics.selection_rate_difference(None, y, sensitive_features=sex)
    assert (
        metrics.selection_rate_difference(None, messy, sensitive_features=sex, pos_label="yes")
        == right
    )
    found = metrics.true_positive_rate_difference(
        messy, np.roll(messy, 1), sensitive_features=sex, pos_label="yes"
    )
    assert found == metrics.true_positive_rate_difference(y, np.roll(y, 1), sensitive_features=sex)


@pytest.mark.parametrize("columns", [[0, -6], [0, 0], [-1, 2, 5], [np.int64(0), 0]])
@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array, xps.asarray])
def test_a_sensitive_column_that_is_named_twice_is_refused(columns, make):
    X = np.round(small_rows()[0])
    with pytest.raises(UsageError, match=r"names a column twice: .* are \["):
        FairPCA(1, sensitive_columns=columns).fit(make(X))


@pytest.mark.parametrize("wrong", [True, 0.0, "a", None, 6, -7])
def test_what_is_no_position_names_no_column_of_an_array(wrong):
    with pytest.raises(UsageError, match="sensitive_columns names"):
        FairPCA(1, sensitive_columns=[wrong]).fit(small_rows()[0])


def test_two_columns_of_one_name_are_refused_by_name_everywhere():
    X, sex, y, _ = labelled()
    twins = X.set_axis([*"abccef"], axis=1)
    refused = pytest.raises(UsageError, match=r"Two columns of \w+ are called 'c'")
    for name in ("fair pca", "plain pca", "rbf kernel", "leace"):
        with refused:
            ESTIMATORS[name].made().fit(twins, y, sensitive_features=sex)
    with refused:
        FairPCA(1).fit(X, sensitive_features=twins)
    with refused:
        FairPCA(1, sensitive_columns=["a"]).fit(twins)
    with refused:
        FairPCA(1).fit(X, sensitive_features=sex).transform(twins)
    with refused:
        metrics.mean_gap(twins, sex)
    with pytest.raises(UsageError, match="names a column twice"):
        FairPCA(1, sensitive_columns=["x0", "x0"]).fit(X)


@pytest.mark.parametrize("role", ["sensitive", "target", "ignore", "weight"])
def test_a_copy_of_a_named_column_is_no_feature_unasked(role):
    names, renamed = ["sex", "a", "b", "b (2)"], [(" b", "b (2)")]
    asked = {"sensitive": ["sex"], "renamed": renamed}
    assert assign_roles(names, **asked).features == ("a", "b", "b (2)")
    with pytest.raises(TableError, match=r"Two columns are called 'b'.*'b \(2\)', would be a fea"):
        assign_roles(names, **{**asked, role: {"sensitive": ["sex", "b"]}.get(role, "b")})
    assert assign_roles(names, **asked, target="b", ignore=["b (2)"]).features == ("a",)
