"""Each refusal says what was given, why it cannot be, and what to do; nothing changes."""

import inspect
import re
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

import registry
from fairpca import FairKernelPCA, FairPCA, FairPLS
from fairpca.erasers import LEACE, KernelSAL
from fairpca.errors import (
    InfeasibleError,
    ManyLevelsWarning,
    MissingGroupError,
    MissingTargetError,
    SingleGroupError,
    UsageError,
)
from fairpca.estimators import PlainPCA
from fairpca.metrics import leakage
from fairpca.moments import collect_moments
from optional_libraries import pandas as pd

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
Z = np.arange(40) % 2
Y = np.arange(40) // 20


def with_entry(value):
    bad = X.copy()
    bad[3, 2] = value
    return bad


CASES = {
    "no sensitive features": ({}, {}, MissingGroupError, r"plain PCA.*sensitive_features="),
    "both sources": (
        {"sensitive_columns": [0]},
        {"sensitive_features": Z},
        ValueError,
        r"Both .* were given.*Use one",
    ),
    "lengths differ": (
        {},
        {"sensitive_features": Z[:-1]},
        ValueError,
        r"X has 40 rows.*39 entries.*one entry per row",
    ),
    "one level only": (
        {},
        {"sensitive_features": np.zeros(40, int)},
        SingleGroupError,
        r"only the level 0.*Leave the attribute out",
    ),
    "one level of several attributes": (
        {},
        {"sensitive_features": {"sex": Z, "race": ["w"] * 40}},
        SingleGroupError,
        r"'race' has only the level 'w'",
    ),
    "k too large": (
        {"n_components": 4},
        {"sensitive_features": {"sex": Z}},
        InfeasibleError,
        r"n_components=4.*\('sex'\).*1 of the 4.*Use n_components <= 3",
    ),
    "nothing left": (
        {},
        {"sensitive_features": {f"a{j}": X[:, j] for j in range(4)}},
        InfeasibleError,
        r"Nothing is left.*all 4 feature directions",
    ),
    "y missing": (
        {"criterion": "equal_opportunity"},
        {"sensitive_features": Z},
        MissingTargetError,
        r"'equal_opportunity'.*y is None.*Pass fit\(X, y",
    ),
    "y missing for equalized odds": (
        {"criterion": "equalized_odds"},
        {"sensitive_features": Z},
        MissingTargetError,
        r"'equalized_odds'.*y is None",
    ),
    "no positive row": (
        {"criterion": "equal_opportunity", "pos_label": "yes"},
        {"sensitive_features": Z, "y": Y},
        MissingTargetError,
        r"no row has y == 'yes'; the labels are \[0, 1\].*Set pos_label",
    ),
    "a group without a positive row": (
        {"criterion": "equal_opportunity"},
        {"sensitive_features": {"g": np.where(Y == 0, np.arange(40) % 3, Z)}, "y": Y},
        MissingTargetError,
        r"group\(s\) \[2\].*'g' have no row among the rows with y == 1",
    ),
    "a stratum without a group": (
        {"criterion": "equalized_odds"},
        {"sensitive_features": {"g": np.where(Y == 0, np.arange(40) % 3, Z)}, "y": Y},
        MissingTargetError,
        r"group\(s\) \[2\].*among the rows with y == 1",
    ),
    "continuous y": (
        {"criterion": "equalized_odds"},
        {
            "X": RNG.normal(size=(60, 3)),
            "sensitive_features": np.arange(60) % 2,
            "y": RNG.normal(size=60),
        },
        MissingTargetError,
        r"60 distinct values.*bands",
    ),
    "y of another length": (
        {"criterion": "equalized_odds"},
        {"sensitive_features": Z, "y": Y[:-1]},
        ValueError,
        r"y has shape \(39,\), but X has 40 rows",
    ),
    "negative weights": (
        {},
        {"sensitive_features": Z, "sample_weight": np.r_[-2.0, np.ones(39)]},
        ValueError,
        r"1 negative entries \(the smallest is -2\).*>= 0",
    ),
    "all-zero weights": (
        {},
        {"sensitive_features": Z, "sample_weight": np.zeros(40)},
        ValueError,
        r"All 40 entries of sample_weight are zero",
    ),
    "weights of another length": (
        {},
        {"sensitive_features": Z, "sample_weight": np.ones(3)},
        ValueError,
        r"shape \(3,\), but there are 40 rows",
    ),
    "NaN weights": (
        {},
        {"sensitive_features": Z, "sample_weight": np.full(40, np.nan)},
        ValueError,
        r"NaN or infinity",
    ),
    "tradeoff above 1": (
        {"tradeoff": 1.5},
        {"sensitive_features": Z},
        ValueError,
        r"tradeoff=1\.5 is outside \[0, 1\]",
    ),
    "tradeoff below 0": (
        {"tradeoff": -0.1},
        {"sensitive_features": Z},
        ValueError,
        r"outside \[0, 1\]",
    ),
    "zero components": (
        {"n_components": 0},
        {"sensitive_features": Z},
        ValueError,
        r"n_components=0 .*integer >= 1",
    ),
    "a share above 1": (
        {"n_components": 1.5},
        {"sensitive_features": Z},
        ValueError,
        r"n_components=1\.5 .*between 0 and 1",
    ),
    "no directions": (
        {"match": "covariances", "covariance_directions": 0.0},
        {"sensitive_features": Z},
        ValueError,
        r"covariance_directions=0\.0",
    ),
    "an unknown word": (
        {"match": "medians"},
        {"sensitive_features": Z},
        ValueError,
        r"match='medians'.*'means', 'covariances'",
    ),
    "an unknown solver": (
        {"solver": "magic"},
        {"sensitive_features": Z},
        ValueError,
        r"solver='magic'.*'dense'",
    ),
    "an unknown column": (
        {"sensitive_columns": ["sxe"]},
        {"X": pd.DataFrame({"sex": Z, "a": X[:, 0], "b": X[:, 1]})},
        ValueError,
        r"names \['sxe'\].*Did you mean \['sex'\]",
    ),
    "an unknown position": (
        {"sensitive_columns": [7]},
        {},
        ValueError,
        r"names \[7\], but X has the columns",
    ),
    "a missing attribute": (
        {},
        {"sensitive_features": {"sex": [None, *["f", "m"] * 19, "f"]}},
        MissingGroupError,
        r"'sex' is missing in 1 of 40 rows.*missing_sensitive='ignore'",
    ),
    "NaN in X": (
        {},
        {"X": with_entry(np.nan), "sensitive_features": Z},
        ValueError,
        r"Input X contains NaN",
    ),
    "infinity in X": (
        {},
        {"X": with_entry(np.inf), "sensitive_features": Z},
        ValueError,
        r"contains infinity",
    ),
    "squares that overflow": (
        {},
        {"X": with_entry(1e300), "sensitive_features": Z},
        ValueError,
        r"squares, times the weights, overflow.*Divide X",
    ),
    "a text column": (
        {},
        {"X": pd.DataFrame({"a": X[:, 0], "city": ["x"] * 40}), "sensitive_features": Z},
        ValueError,
        r"X has texts in 'city'.*OneHotEncoder.*fairpca.fit_table",
    ),
    "a name beside a text column": (
        {},
        {"X": pd.DataFrame({"a": X[:, 0], "city": ["x"] * 40}), "sensitive_features": "city"},
        ValueError,
        r"sensitive_features='city' is a name, not one entry per row",
    ),
}


LINEAR_ONLY = [
    "k too large",
    "nothing left",
    "no directions",
    "an unknown word",
    "squares that overflow",
]
ESTIMATORS = {
    "linear": FairPCA,
    "kernel": FairKernelPCA,
    "nystroem": partial(FairKernelPCA, approximation="nystroem", n_landmarks=20),
    "random features": partial(FairKernelPCA, approximation="random_features", n_landmarks=20),
}


@pytest.mark.parametrize(
    ("method", "case"),
    [(m, case) for m in ESTIMATORS for case in CASES if m == "linear" or case not in LINEAR_ONLY],
)
def test_bad_input_is_refused_in_words_and_changes_nothing(method, case):
    estimator = ESTIMATORS[method]
    parameters, arguments, error, message = CASES[case]
    fitted = estimator(n_components=2).fit(X, sensitive_features=Z)
    assert_refused_and_unchanged(
        estimator(), fitted, parameters, {"X": X, **arguments}, error, message
    )


def assert_refused_and_unchanged(fresh, fitted, parameters, arguments, error, message):
    known = vars(fresh).keys()
    with pytest.raises(error, match=f"(?s){message}"):
        fresh.set_params(**parameters).fit(**arguments)
    assert vars(fresh).keys() == known

    before = dict(vars(fitted))
    fitted.set_params(**parameters)
    with pytest.raises(error):
        fitted.fit(**arguments)
    learned = {name for name in before if name.endswith("_")}
    assert {name: vars(fitted)[name] is before[name] for name in learned} == dict.fromkeys(
        learned, True
    )


NAMED = {"sensitive_features": {"sex": Z}}
SCORE = X @ [1.0, -1.0, 0.5, 0.0]
PLS_CASES = {
    "no y": ({}, {"y": None}, MissingTargetError, r"requires y.*Pass fit\(X, y, \.\.\.\).*FairPCA"),
    "no column in y": ({}, {"y": {}}, ValueError, r"y has 0 columns.*Pass one or more"),
    "columns of one name": ({}, {"y": {1: Y, "1": SCORE}}, ValueError, r"\[1, '1'\].*same"),
    "y with too many dimensions": (
        {},
        {"y": np.ones((40, 1, 2))},
        ValueError,
        r"y has 3 dim.*Pass",
    ),
    "y of another length": ({}, {"y": Y[:-1]}, ValueError, r"40 rows.*'y' has 39.*Pass one entry"),
    "a missing class": (
        {},
        {"y": [None, *Y[1:].tolist()]},
        MissingTargetError,
        r"missing values, in 1 of 40 rows.*Fill them in",
    ),
    "a missing number": (
        {},
        {"y": np.where(Z == 0, np.nan, SCORE)},
        MissingTargetError,
        r"missing values, in 20 of 40 rows",
    ),
    "an infinite number": (
        {},
        {"y": np.where(Z, np.inf, SCORE)},
        ValueError,
        r"target 'y' .*infinite",
    ),
    "one class": ({}, {"y": np.ones(40, int)}, InfeasibleError, r"one class only, 1.*Pass rows"),
    "a constant": ({}, {"y": np.full(40, 0.5)}, InfeasibleError, r"is 0\.5 in every row.*leave it"),
    "numbers that underflow": ({}, {"y": 1e-200 * SCORE}, ValueError, r"target 'y'.*Multiply it"),
    "the attribute": ({}, {"y": Z}, InfeasibleError, r"'sex' share predicts the target 'y'.*Leave"),
    "a function of the attribute": (
        {},
        {"y": np.where(Z == 1, 2.5, -0.75)},
        InfeasibleError,
        r"function of the attribute",
    ),
    "the attribute beside another target": (
        {"match": "means"},
        {"y": {"hired": Y, "bonus": Z + 0.5}},
        InfeasibleError,
        r"predicts the target 'bonus': it is a function of the attribute",
    ),
    "more components than two classes need": (
        {"n_components": 2},
        {"y": Y},
        InfeasibleError,
        r"n_components=2 is too large: the target \('y'\).* by 1 direction.*<= 1",
    ),
    "more components than three classes need": (
        {"n_components": 3, "match": "means"},
        {"y": np.arange(40) // 14},
        InfeasibleError,
        r"by 2 direction\(s\) and no more. Use n_components <= 2",
    ),
    "many whole numbers": (
        {},
        {"y": np.arange(40) // 2},
        ValueError,
        r"'y' has 20 whole-number values.*target_kinds=\{'y': 'numeric'\}",
    ),
    "no kinds": (
        {"target_kinds": "numeric"},
        {"y": Y},
        ValueError,
        r"target_kinds='numeric'.*dict",
    ),
    "a kind of nothing": (
        {"target_kinds": {"income": "numeric"}},
        {"y": Y},
        ValueError,
        r"target_kinds names the column 'income'.*\['y'\]",
    ),
    "a kind that is none": (
        {"target_kinds": {"y": "count"}},
        {"y": Y},
        ValueError,
        r"is 'count'.*Use",
    ),
    "a text as a number": (
        {"target_kinds": {"y": "numeric"}},
        {"y": np.where(Y, "yes", "no")},
        ValueError,
        r"The target 'y' was declared 'numeric', but.*Declare it 'categorical'",
    ),
    "dates": (
        {},
        {"y": np.arange(40).astype("datetime64[D]")},
        ValueError,
        r"target column 'y' is a date.*target_kinds=\{'y': 'numeric'\}",
    ),
    "labels of rows that differ": (
        {},
        {"X": pd.DataFrame(X), "y": pd.Series(Y, index=np.arange(40)[::-1])},
        ValueError,
        r"row labels of X and y differ",
    ),
    **{
        f"{name}={value!r}": ({name: value}, {"y": Y}, ValueError, f"{name}=.*Use a finite number")
        for name in ("covariance_penalty", "distribution_penalty", "shrinkage")
        for value in (-1.0, "much", float("nan"), float("inf"), True)
    },
    "an unknown strength": (
        {"match": "medians"},
        {"y": Y},
        ValueError,
        r"'means', .*'distributions'",
    ),
    "a share of components": ({"n_components": 0.5}, {"y": Y}, ValueError, r"=0\.5 .*integer >= 1"),
    **{
        f"{criterion} of two targets": (
            {"criterion": criterion},
            {"y": y},
            ValueError,
            rf"'{criterion}' compares rows with the same label, but y has 2 columns. Pass one",
        )
        for criterion in ("equal_opportunity", "equalized_odds")
        for y in (pd.DataFrame({"a": Y, "b": SCORE}), {"a": Y, "b": SCORE})
    },
    "no positive row": (
        {"criterion": "equal_opportunity", "pos_label": "yes"},
        {"y": Y},
        MissingTargetError,
        r"no row has y == 'yes'; the labels are \[0, 1\]",
    ),
    "odds of numbers": (
        {"criterion": "equalized_odds"},
        {"X": np.tile(X, (2, 1)), "y": np.arange(80) + 0.5, "sensitive_features": np.tile(Z, 2)},
        MissingTargetError,
        r"80 distinct values.*bands",
    ),
    "a group of one row": (
        {},
        {"y": Y, "sensitive_features": np.r_[2, Z[1:]]},
        SingleGroupError,
        r"group 2 .* has 1 row\(s\).*match='means'",
    ),
    "numbers without groups": (
        {"match": "covariances"},
        {"y": Y, "sensitive_features": {"age": X[:, 0] + SCORE}},
        InfeasibleError,
        r"needs a categorical attribute.*bands",
    ),
    "no landmarks": (
        {"kernel": "rbf", "n_landmarks": 0},
        {"y": Y},
        ValueError,
        r"n_landmarks=0 is not a number of rows",
    ),
    "kernel values that overflow": (
        {"kernel": "poly", "gamma": 10.0, "scale": False},
        {"X": 1e100 * X, "y": Y},
        ValueError,
        r"X is finite, but kernel values.*overflow.*smaller gamma",
    ),
    "a kernel matrix": ({"kernel": "precomputed"}, {"y": Y}, ValueError, r"'precomputed' is not"),
}


@pytest.mark.parametrize("case", PLS_CASES)
def test_fair_pls_refuses_targets_in_words_and_changes_nothing(case):
    parameters, arguments, error, message = PLS_CASES[case]
    fitted = FairPLS().fit(X, Y, **NAMED)
    assert_refused_and_unchanged(
        FairPLS(), fitted, parameters, {"X": X, **NAMED, **arguments}, error, message
    )


NOT_OF_PLS = {*LINEAR_ONLY, "a share above 1", *(c for c in CASES if "y" in c.split())}
NOT_OF_PLS |= {c for c in CASES if {"tradeoff", "solver"} & CASES[c][0].keys()}


@pytest.mark.parametrize("case", [c for c in CASES if c not in NOT_OF_PLS])
def test_fair_pls_refuses_what_fair_pca_does(case):
    parameters, arguments, error, message = CASES[case]
    arguments = {"X": X, "y": Y, **arguments}
    assert_refused_and_unchanged(
        FairPLS(), FairPLS().fit(X, Y, **NAMED), parameters, arguments, error, message
    )


def test_fair_pls_says_what_it_cannot_do():
    moments = collect_moments(X, Z)
    with pytest.raises(AttributeError, match=r"partial_fit reads every row once.*Use fit"):
        FairPLS().partial_fit(X, Y, sensitive_features=Z)
    with pytest.raises(AttributeError, match=r"fit_moments needs match='means'.*Use fit"):
        FairPLS().fit_moments(moments)
    with pytest.raises(AttributeError, match="kernel=None only"):
        FairPLS(kernel="rbf", n_landmarks=5).fit(X, Y, sensitive_features=Z).coef_  # noqa: B018
    with pytest.raises(ValueError, match=r"know no target.*with_targets=True"):
        FairPLS(match="means").fit_moments(moments)
    known = collect_moments(X, Z, y=Y, with_targets=True)
    with pytest.raises(ValueError, match="with_scatters=True"):
        FairPLS(match="covariances").fit_moments(known)
    with pytest.raises(MissingTargetError, match="requires y"):
        collect_moments(X, Z, with_targets=True)
    changed = FairPLS(match="covariances").partial_fit(X, Y, **NAMED)
    with pytest.raises(ValueError, match=r"reads them several times. Use fit"):
        changed.set_params(match="distributions").transform(X)
    kernel = FairPLS(match="means", kernel="rbf", n_landmarks=5).partial_fit(X, Y, **NAMED)
    with pytest.raises(ValueError, match=r"\['scale'\] were changed after the first batch"):
        kernel.set_params(scale=False).partial_fit(X, Y, **NAMED)


def test_a_bad_batch_leaves_the_batches_before_it_alone():
    fair = FairPCA(2).partial_fit(X, sensitive_features=Z)
    moments = fair.moments_
    with pytest.raises(ValueError, match="Input X contains NaN"):
        fair.partial_fit(with_entry(np.nan), sensitive_features=Z)
    assert fair.moments_ is moments


def test_every_refusal_is_a_value_error():
    for error in (MissingGroupError, SingleGroupError, MissingTargetError, InfeasibleError):
        assert issubclass(error, ValueError)


def test_many_integer_levels_warn_and_name_the_remedy():
    age = np.arange(200) % 45
    wide = RNG.normal(size=(200, 60))
    with pytest.warns(ManyLevelsWarning, match=r"45 whole-number values.*'numeric'.*--numeric age"):
        FairPCA(2).fit(wide, sensitive_features={"age": age})


def test_transforming_before_fitting_is_an_error():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        FairPCA().transform(X)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n", [1, 1000])
def test_rows_that_are_not_finite_are_not_transformed(value, n):
    """However many rows there are, and wherever the value is; even where no weight reaches it."""
    rows = np.tile(X[:1], (n, 1))
    rows[-1, 2] = value
    fair = FairPCA(2).fit(X, sensitive_features=Z)
    kernel = FairKernelPCA(2).fit(X, sensitive_features=Z)
    blind = FairPCA(2).fit(X, sensitive_features=Z)
    blind._map.matrix[2] = 0.0
    for fitted in (fair, kernel, blind):
        with pytest.raises(ValueError, match="NaN" if np.isnan(value) else "infinity"):
            fitted.transform(rows)


def test_columns_of_another_number_or_name_are_not_transformed():
    frame = pd.DataFrame(X).add_prefix("c")
    fair = FairPCA(2).fit(frame, sensitive_features=Z)
    np.testing.assert_allclose(fair.transform(frame), fair._map(X), atol=1e-12)
    for wrong in (
        frame[frame.columns[::-1]],
        frame.rename(columns={"c0": "d0"}),
        frame.iloc[:, 1:],
    ):
        with pytest.raises(ValueError, match="feature names"):
            fair.transform(wrong)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        fair.transform(X)
    with pytest.raises(ValueError, match="features"):
        FairPCA(2).fit(X, sensitive_features=Z).transform(X[:, 1:])


def test_inverse_transform_of_the_wrong_width_is_an_error():
    fair = FairPCA(2).fit(X, sensitive_features=Z)
    with pytest.raises(ValueError, match="X has 3 columns, but this representation has 2"):
        fair.inverse_transform(X[:, :3])


def test_a_batch_cannot_be_added_to_a_fit_that_kept_no_moments():
    wide = RNG.normal(size=(10, 20))
    fair = FairPCA(2).fit(wide, sensitive_features=Z[:10])
    with pytest.raises(ValueError, match=r"has no moments.*partial_fit for all batches"):
        fair.partial_fit(wide, sensitive_features=Z[:10])


def test_too_few_batches_say_why_when_the_result_is_asked_for():
    fair = FairPCA(2).partial_fit(X[:1], sensitive_features=Z[:1])
    with pytest.raises(ValueError, match=r"Found 1 row\(s\)"):
        fair.transform(X)
    fair.partial_fit(X[2:3], sensitive_features=Z[2:3])
    with pytest.raises(SingleGroupError, match="only the level 0"):
        fair.transform(X)
    fair.partial_fit(X[3:], sensitive_features=Z[3:])
    assert fair.transform(X).shape == (40, 2)


@pytest.mark.parametrize("name", registry.ESTIMATORS)
def test_masks_are_not_dropped(name):
    """What is masked among the attributes is missing; masked features and weights are refused."""
    rows, sex, y = registry.small_rows()
    some = np.arange(len(rows)) == 5
    estimator = registry.ESTIMATORS[name].made()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        masked_X = np.ma.array(rows, mask=np.broadcast_to(some[:, None], rows.shape))
        with pytest.raises(ValueError, match="NaN"):
            clone(estimator).fit(masked_X, y, sensitive_features=sex)
        if hasattr(estimator, "inverse_transform") and "kernel" not in name:
            fitted = clone(estimator).fit(rows, y, sensitive_features=sex)
            T = np.ma.array(fitted.transform(rows))
            T[5] = np.ma.masked
            with pytest.raises(ValueError, match="NaN"):
                fitted.inverse_transform(T)
        masked = np.ma.array(sex, mask=some)
        if name == "plain pca":
            return  # it ignores attributes, weights too
        if getattr(estimator, "missing_sensitive", "error") == "error":
            with pytest.raises(MissingGroupError, match="missing in 1 of 120 rows"):
                clone(estimator).fit(rows, y, sensitive_features=masked)
        else:
            gone = clone(estimator).fit(rows, y, sensitive_features=masked)
            none = clone(estimator).fit(
                rows, y, sensitive_features=np.where(some, None, sex.astype(object))
            )
            np.testing.assert_array_equal(gone.transform(rows), none.transform(rows))
        if "sample_weight" in inspect.signature(estimator.fit).parameters:
            with pytest.raises(ValueError, match="sample_weight contains NaN"):
                clone(estimator).fit(
                    rows,
                    y,
                    sensitive_features=sex,
                    sample_weight=np.ma.array(some * 1.0, mask=some),
                )
        if getattr(estimator, "criterion", "demographic_parity") != "demographic_parity":
            with pytest.raises(MissingTargetError, match="y has missing values"):
                clone(estimator).fit(rows, np.ma.array(y, mask=some), sensitive_features=sex)


@pytest.mark.parametrize(
    "y",
    [
        pd.Series([0, 1, None] * 13 + [1], dtype="Int64"),
        pd.Series([True, False, None] * 13 + [True], dtype="boolean"),
        np.array(["2000", "NaT"] * 20, dtype="datetime64[ns]"),
        pd.Series(pd.to_datetime(["2000", None] * 20)),
        np.ma.array(Y, mask=Y == 0),
        [0, None] * 20,
    ],
)
def test_a_missing_label_is_no_class(y):
    for criterion in ("equal_opportunity", "equalized_odds"):
        with pytest.raises(MissingTargetError, match="y has missing values"):
            FairPCA(1, criterion=criterion).fit(X, y, sensitive_features=Z)


@pytest.mark.parametrize("kind", ["dates", "in a time zone", "durations", "objects"])
def test_dates_among_the_features_are_refused_in_words(kind):
    dates = pd.Series(pd.date_range("2024-01-01", periods=60))
    dates = dates.dt.tz_localize("Europe/Berlin") if kind == "in a time zone" else dates
    dates = dates - dates[0] if kind == "durations" else dates
    dates = dates.astype(object) if kind == "objects" else dates
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
    sex, told = np.arange(60) % 2, r"X has dates or durations in 'when'.*days.*FairTableTransf"
    for fair in (FairPCA(1), FairKernelPCA(1), LEACE()):
        with pytest.raises(UsageError, match=told):
            fair.fit(X.assign(when=dates), sensitive_features=sex)
    fair = FairPCA(1).fit(X.assign(when=np.arange(60.0)), sensitive_features=sex)
    with pytest.raises(UsageError, match=told):
        fair.transform(X.assign(when=dates))
    with pytest.raises(UsageError, match=told):
        leakage(X.assign(when=dates), sex)


def parameters_of(function):
    return {name for name in inspect.signature(function).parameters if name != "self"}


ONE_OF_EACH_CLASS = {
    type(known.estimator): known
    for known in reversed(registry.ESTIMATORS.values())
    if type(known.estimator) is not PlainPCA  # which looks at no attribute
}
ALL_PARAMETERS = set().union(*(parameters_of(cls) for cls in ONE_OF_EACH_CLASS))
IDENTIFIERS = [f"p{i}" for i in range(10_001)]
DAYS = np.arange(40).astype("datetime64[D]")

BAD_ATTRIBUTES = {
    "nothing": [None],
    "a name": ["sex"],
    "missing": [np.where(Z == 1, None, "f")],
    "missing numbers": [np.where(Z == 1, np.nan, 0.5 + np.arange(40))],
    "infinite": [np.where(Z == 1, np.inf, 0.5)],
    "dates": [DAYS],
    "large codes": [np.arange(40) * 2.0**60],
    "whole numbers": [np.arange(40) % 20],
    "identifiers": [IDENTIFIERS],
    "one level": [np.zeros(40)],
    "all directions": [X],
    "entries that are no levels": [[[i] if i % 2 else {i} for i in range(40)]],
    "spellings": [np.where(Z == 1, "Yes", np.where(Y == 1, "yes", "no"))],
    "numbers, then texts": [0.5 + np.arange(40), np.where(Z == 1, "f", "m")],
    "another name": [{"sex": Z}, {"gender": Z}],
    "many levels in batches": [np.arange(40) % 20, np.arange(40) % 21],
}


def told_by(learn, batches, **given):
    """Return what a fit to each of some batches raises or warns of."""
    told = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            for attributes in batches:
                n = 10_001 if attributes is IDENTIFIERS else 40
                rows = {"X": np.resize(X, (n, 4)), "y": np.resize(Y, n)}
                learn(**rows, sensitive_features=attributes, **given)
        except ValueError as error:
            told.append(str(error))
    return told + [str(warning.message) for warning in warned]


@pytest.mark.parametrize("case", BAD_ATTRIBUTES)
@pytest.mark.parametrize("cls", ONE_OF_EACH_CLASS, ids=lambda cls: cls.__name__)
def test_what_is_advised_is_a_parameter_of_the_class_at_hand(cls, case):
    estimator, batches = ONE_OF_EACH_CLASS[cls].made(), BAD_ATTRIBUTES[case]
    if len(batches) > 1 and not hasattr(estimator, "partial_fit"):
        return
    learn = estimator.fit if len(batches) == 1 else estimator.partial_fit
    told = told_by(learn, batches)
    if batches[0] is not IDENTIFIERS:
        told += told_by(clone(estimator).fit, batches[:1], given=Y)
    assert told or (case == "all directions" and issubclass(cls, FairKernelPCA | KernelSAL))
    for name in ALL_PARAMETERS - parameters_of(cls) - parameters_of(learn):
        word = rf"\b{name}\b" if "_" in name else rf"\b{name}="
        assert not [text for text in told if re.search(word, text)], (name, told)


@pytest.mark.parametrize("method", [LEACE(), FairPCA(), FairKernelPCA()], ids=str)
def test_an_attribute_passed_as_y_is_an_error_that_says_so(method):
    """As in concept-erasure: fit(x, z)."""
    message = r"You passed y, but the attribute is sensitive_features\. Pass fit\(X, .*sensitive_f"
    with pytest.raises(MissingGroupError, match=message):
        method.fit(X, Z)
    with pytest.raises(MissingGroupError, match=r"given, and [^.]*\. Pass fit"):
        method.fit(X)
