"""What each column of one person adds, in columns of every kind."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from fairpca import FairKernelPCA, FairPCA, FairTableTransformer, fit_table
from fairpca.erasers import LEACE
from fairpca.errors import TableError, UsageError
from optional_libraries import pandas as pd
from optional_libraries import polars as pl
from optional_libraries import pyarrow as pa

FEATURES = ["income", "job", "since", "remark", "paid", "shift"]


def people_of_every_kind(n=300, seed=0):
    """Numbers, categories, dates, texts and truths, each sometimes missing but for the shift."""
    rng = np.random.default_rng(seed)
    words = ["loan", "late", "again", "never", "house", "boat", "garden", "school"]
    table = pd.DataFrame({"sex": rng.choice(["f", "m"], n)})
    table["income"] = rng.lognormal(8, 1, n) + 500 * (table["sex"] == "m")
    table["job"] = rng.choice(["nurse", "cook", "smith", "clerk"], n)
    table["since"] = pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 3000, n), "D")
    table["remark"] = [f"{' '.join(rng.choice(words, 3))} {i % 97}" for i in range(n)]
    table["paid"] = (rng.random(n) < 0.5).astype(object)
    table["shift"] = rng.choice(["day", "night"], n)
    for name in ("income", "job", "since", "remark", "paid"):
        table.loc[rng.random(n) < 0.1, name] = None
    return table


MODELS = {
    "fair_pca": {"n_components": 4},
    "trade-off": {"n_components": 2, "tradeoff": 0.3},
    "leace": {"method": "leace"},
    "ranks": {"scale": "rank", "n_components": 3},
    "kernel": {"method": "fair_kernel_pca", "n_components": 3},
    "fair_pls": {"method": "fair_pls", "target": "y"},
    "weighted": {"weight": "w", "n_components": 3},
}
FITTED = {}


def model_of(name):
    if name not in FITTED:
        table, rng = people_of_every_kind(), np.random.default_rng(1)
        more = {"y": rng.random(len(table)) < 0.5, "w": rng.uniform(0.1, 3, len(table))}
        options = dict(MODELS[name])
        used = [role for role, key in (("target", "y"), ("weight", "w")) if role in options]
        table = table.assign(**{options[role]: more[options[role]] for role in used})
        FITTED[name] = fit_table(table, "sex", options.pop("target", None), **options)
    return FITTED[name]


VALUES = {
    "income": st.none() | st.floats(0, 1e6),
    "job": st.sampled_from([None, "nurse", "COOK", "astronaut", ""]),
    "since": st.none() | st.dates(pd.Timestamp("1990-01-01").date()),
    "remark": st.none() | st.text(max_size=20),
    "paid": st.sampled_from([None, True, False]),
    "shift": st.sampled_from([None, "day", "night", "evening"]),
}


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=15, deadline=None)
@given(st.fixed_dictionaries(VALUES))
def test_contributions_add_up_to_the_representation(name, person):
    model = model_of(name)
    told = model.explain(person)
    T = model.transform(pd.DataFrame([person]))
    size = max(1.0, np.abs(T).max())
    np.testing.assert_allclose(told.iloc[:, 1:].sum().to_numpy()[None], T, rtol=0, atol=1e-9 * size)
    assert list(told.columns) == ["value", *model.get_feature_names_out()]
    last = ["(average)", "(jointly)"] if name in ("kernel", "fair_pls") else ["(average)"]
    assert [*told.index] == FEATURES + last


@pytest.mark.parametrize("name", ["fair_pca", "trade-off", "leace", "ranks"])
def test_a_column_adds_its_weight_times_the_distance_from_the_average(name):
    model, table = model_of(name), people_of_every_kind()
    coef = np.random.default_rng(0).normal(size=len(model.get_feature_names_out()))
    row = table.loc[table[FEATURES].notna().all(axis=1)].iloc[3]
    added = model.explain(row).iloc[:, 1:] @ coef
    of_job = {w.what: w.weight for w in model.column_weights(coef) if w.column == "job"}
    assert added["job"] == pytest.approx(of_job[row["job"]], abs=1e-10)
    of_shift = {w.what: w.weight for w in model.column_weights(coef[None]) if w.column == "shift"}
    assert added["shift"] == pytest.approx(of_shift[row["shift"]], abs=1e-10)
    more = model.explain({**row, "income": row["income"] + 10.0}).iloc[:, 1:] @ coef
    (unit,) = [w for w in model.column_weights(coef) if (w.column, w.kind) == ("income", "number")]
    if name != "ranks":
        assert more["income"] - added["income"] == pytest.approx(10 * unit.weight, abs=1e-10)
    rest = added.index != "income"
    np.testing.assert_allclose(more[rest], added[rest], atol=1e-12)


def test_a_kernel_is_explained_by_what_changes_at_the_average():
    model, row = model_of("kernel"), people_of_every_kind().iloc[[5]]
    told = model.explain(row)
    place = model.encoder_.outputs_by_column["income"]
    x = model.encoder_.transform(row)
    x[:, place] = 0.0
    without = model.estimator_.transform(x)
    np.testing.assert_allclose(
        told.loc["income"].iloc[1:].astype(float), (model.transform(row) - without)[0], atol=1e-12
    )
    assert np.abs(told.loc["(jointly)"].iloc[1:].astype(float)).max() > 1e-3


def test_what_columns_add_to_the_score_of_a_model():
    table = people_of_every_kind()
    model = model_of("fair_pca")
    y = table["income"].fillna(0) > 3000
    score = LogisticRegression().fit(model.transform(table), y)
    row = table.iloc[[7]]
    added = model.explain(row).iloc[:, 1:] @ score.coef_[0]
    assert added.sum() + score.intercept_[0] == pytest.approx(
        score.decision_function(model.transform(row))[0], abs=1e-9
    )


def test_a_row_may_come_from_any_library():
    model, table = model_of("fair_pca"), people_of_every_kind()
    row = table.loc[table.notna().all(axis=1)].iloc[[0]]
    told = model.explain(row)
    others = [
        row.iloc[0],
        row.iloc[0].to_dict(),
        pa.Table.from_pandas(row),
        pl.from_pandas(row),
        row.drop(columns="sex"),
    ]
    for other in others:
        again = model.explain(other)
        np.testing.assert_array_equal(again.iloc[:, 1:], told.iloc[:, 1:])
        assert (
            again["value"].tolist()[:2] == told["value"].tolist()[:2] == row.iloc[0, 1:3].tolist()
        )


def test_a_model_without_encoder_is_explained_by_its_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(5, 2, size=(100, 3)), columns=list("abc"))
    sex = rng.choice(["f", "m"], 100)
    for estimator in (FairPCA(2, scale=True), LEACE()):
        model = FairTableTransformer.of(None, estimator.fit(X, sensitive_features=sex))
        told = model.explain(X.iloc[[4]])
        assert [*told.index] == ["a", "b", "c", "(average)"]
        np.testing.assert_allclose(told.iloc[:, 1:].sum(), model.transform(X.iloc[[4]])[0])
        assert told["value"].tolist() == [*X.iloc[4], None]
    of_arrays = FairTableTransformer.of(None, FairPCA(2).fit(X.to_numpy(), sensitive_features=sex))
    told = of_arrays.explain(X.to_numpy()[4])
    assert [*told.index] == ["x0", "x1", "x2", "(average)"]
    with pytest.raises(UsageError, match=r"estimator_\.column_weights"):
        of_arrays.column_weights([1.0, 2.0])
    kernel = FairKernelPCA(2).fit(X.to_numpy(), sensitive_features=sex)
    with pytest.raises(UsageError, match=r"kernel and no encoder.*fit_table"):
        FairTableTransformer.of(None, kernel).explain(X.to_numpy()[4])


def test_what_cannot_be_explained_is_said():
    model, table = model_of("fair_pca"), people_of_every_kind()
    with pytest.raises(UsageError, match=r"one person, but a DataFrame of 300 rows.*iloc\[\[3\]\]"):
        model.explain(table)
    with pytest.raises(UsageError, match=r"one person, but a str was given"):
        model.explain("people.csv")
    with pytest.raises(TableError, match=r"lacks 1 of the 6 columns.*'income'"):
        model.explain(table.iloc[[0]].drop(columns="income"))
    with pytest.raises(UsageError, match="not a linear function of the columns"):
        model_of("kernel").column_weights([1.0, 2.0, 3.0])
