"""Each refusal says what was given, why it cannot be, and what to do; nothing changes."""

import inspect
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

import registry
from fairpca import (
    FairKernelPCA,
    FairPCA,
    InfeasibleError,
    ManyLevelsWarning,
    MissingGroupError,
    MissingTargetError,
    SingleGroupError,
)
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
        r"shape \(3,\), but X has 40 rows",
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
        r"could not convert string to float",
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
    arguments = {"X": X, **arguments}
    fresh = estimator(**parameters)
    with pytest.raises(error, match=f"(?s){message}"):
        fresh.fit(**arguments)
    assert vars(fresh).keys() == vars(estimator()).keys()

    fitted = estimator(n_components=2).fit(X, sensitive_features=Z)
    before = dict(vars(fitted))
    fitted.set_params(**parameters)
    with pytest.raises(error):
        fitted.fit(**arguments)
    learned = {name for name in before if name.endswith("_")}
    assert {name: vars(fitted)[name] is before[name] for name in learned} == dict.fromkeys(
        learned, True
    )


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


def test_inverse_transform_of_the_wrong_width_is_an_error():
    fair = FairPCA(2).fit(X, sensitive_features=Z)
    with pytest.raises(ValueError, match="T has 3 columns, but this representation has 2"):
        fair.inverse_transform(X[:, :3])


def test_a_batch_cannot_be_added_to_a_fit_that_kept_no_moments():
    wide = RNG.normal(size=(10, 20))
    fair = FairPCA(2).fit(wide, sensitive_features=Z[:10])
    with pytest.raises(ValueError, match=r"kept no moments.*partial_fit for all batches"):
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
    registry.need(name)
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
        if name == "pca" or name == "kernel pca":
            return  # these ignore attributes, weights too
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
