"""Legitimate factors as columns of a table: what is fitted, saved and said of them."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import fairpca
from assertions import assert_same_subspace
from fairpca import FairTableTransformer, fit_table
from fairpca._cli import app
from fairpca.errors import TableError, UsageError
from fairpca.models import inspect_model, model_card
from optional_libraries import pandas as pd


def people(n=600, seed=0):
    rng = np.random.default_rng(seed)
    education, income = rng.choice(["low", "middle", "high"], n), rng.normal(50, 10, n).round(1)
    chance = 0.3 + 0.3 * (education == "low") + 0.01 * (income - 50)
    sex = np.where(rng.random(n) < chance, "m", "f")
    table = pd.DataFrame({"sex": sex, "education": education, "income": income})
    table["a"] = rng.normal(size=n) + (sex == "m")
    table["b"] = rng.normal(size=n) + (education == "low") + income / 10
    table["c"] = rng.choice(["x", "y"], n)
    table["d"] = rng.normal(size=n)
    table["hired"] = table["a"] + table["b"] > table["b"].mean()
    return table


def left_over(model, table, strata, numbers):
    """The largest partial correlation of a column with the groups, stratum by stratum."""
    T, worst = model.transform(table), 0.0
    z = (table["sex"] == "m").to_numpy(dtype=float)
    for s in np.unique(strata):
        i = strata == s
        F = np.column_stack([np.ones(i.sum()), numbers[i]])
        V = np.column_stack([T[i], z[i]])
        left = V - F @ np.linalg.lstsq(F, V, rcond=None)[0]
        worst = max(worst, np.abs(left[:, :-1].T @ left[:, -1]).max() / len(T))
    return worst / T.std(axis=0).max()


@pytest.mark.parametrize("method", ["fair_pca", "leace", "fair_pls", "fair_kernel_pca"])
def test_columns_of_a_table_are_factors(method):
    table = people()
    given = ["education", "income"]
    model = fit_table(table, "sex", "hired", method=method, given=given)
    income = table[["income"]].to_numpy()
    assert left_over(model, table, table["education"].to_numpy(), income) < 1e-8
    without = fit_table(table, "sex", "hired", method=method)
    assert left_over(without, table, table["education"].to_numpy(), income) > 1e-4
    assert model.info_["given"] == {"education": "categorical", "income": "numeric"}
    assert {"education", "income"} < set(model.feature_names_in_)  # they may count: so they stay


def test_a_factor_that_is_ignored_is_no_feature():
    table = people()
    model = fit_table(table, "sex", "hired", given="education", ignore=["education"])
    assert "education" not in model.feature_names_in_
    strata = table["education"].to_numpy()
    assert left_over(model, table, strata, np.zeros((600, 0))) < 1e-9


def test_rows_that_lack_a_number_are_compared_with_each_other():
    table = people()
    lacks = np.arange(600) % 4 == 0
    table.loc[lacks, "income"] = np.nan
    model = fit_table(table, "sex", "hired", given=["income"], ignore=["income"])
    numbers = table[["income"]].fillna(0.0).to_numpy()
    assert left_over(model, table, lacks, numbers) < 1e-9
    assert "income is missing" not in model_card(model).split("## Numbers")[0]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_that_is_read_in_batches_gives_the_same(kind, tmp_path, monkeypatch):
    from fairpca.models import _large_tables

    monkeypatch.setattr(_large_tables, "BATCH_ROWS", 100)
    table = people().assign(few=np.arange(600) % 3)
    table.loc[::5, "income"] = np.nan
    table.loc[::7, "education"] = None
    path = tmp_path / f"people.{kind}"
    table.to_csv(path, index=False) if kind == "csv" else table.to_parquet(path)
    given, kinds = ["education", "income", "few"], {"few": "categorical"}
    options = {"given": given, "sensitive_kinds": kinds, "ignore": ["few"], "n_components": 3}
    memory = fit_table(table, "sex", "hired", **options)
    disk = fit_table(path, "sex", "hired", n_jobs=2, **options)
    assert disk.info_["given"] == memory.info_["given"]
    assert_same_subspace(disk.estimator_.components_.T, memory.estimator_.components_.T)


def test_a_model_remembers_its_factors(tmp_path):
    table = people()
    model = fit_table(table, "sex", "hired", given=["education", "income"], n_components=2)
    model.save(tmp_path / "m.fairpca")
    again = fairpca.load(tmp_path / "m.fairpca")
    np.testing.assert_array_equal(again.transform(table), model.transform(table))
    assert list(again.given) == ["education", "income"]
    refitted = again.fit(table)
    np.testing.assert_allclose(refitted.transform(table), model.transform(table))
    assert inspect_model(tmp_path / "m.fairpca")["info"]["given"] == model.info_["given"]
    card = model_card(again)
    assert "given which groups are compared: education (level by level), income (by a" in card
    assert "beyond what education, income say" in card
    assert "all groups have the same mean" not in card
    assert "**What education, income say of sex stays in the columns.**" in card


def test_cards_of_estimators_say_among_whom_means_are_equal():
    rng = np.random.default_rng(0)
    X, sex, place = rng.normal(size=(300, 8)), rng.choice([*"fm"], 300), rng.choice([*"uv"], 300)
    fair = fairpca.FairPCA(2).fit(X, sensitive_features={"sex": sex}, given={"place": place})
    card = model_card(fair)
    assert "among people with equal place, all groups have the same mean" in card
    unconditional = model_card(fair.fit(X, sensitive_features={"sex": sex}))
    assert "place" not in unconditional
    odds = fairpca.FairPCA(2, criterion="equalized_odds")
    odds.fit(X, rng.integers(2, size=300), sensitive_features={"sex": sex}, given={"place": place})
    assert "with equal place" in model_card(odds)
    assert "This holds within classes of the target" in model_card(odds)


def test_factors_that_a_table_does_not_have_or_that_are_something_else():
    table = people().assign(one="all", w=1.0)
    for given, words in (
        ("incom", "There is no column 'incom', which was given. Did you mean 'income'"),
        ("sex", "given names 'sex', which has the role 'sensitive' already"),
        ("w", "given names 'w', which has the role 'weight' already"),
        ("hired", "given names the target 'hired'. .* criterion='equalized_odds'"),
        ("one", "The factor 'one' has the single value 'all' in all 600 rows"),
    ):
        with pytest.raises(TableError, match=words):
            fit_table(table, "sex", "hired", weight="w", given=[given])
    with pytest.raises(UsageError, match=r"given=.* is for 'fair_pca' and .* would ignore it"):
        fit_table(table, "sex", "hired", method="pca", given=["income"])
    with pytest.raises(UsageError, match="only means can be compared given numbers"):
        fit_table(table, "sex", "hired", match="covariances", given=["income"])


def test_the_command_names_factors_and_says_so(tmp_path):
    path, out = tmp_path / "people.csv", tmp_path / "m.fairpca"
    people().to_csv(path, index=False)
    words = f"fit {path} -s sex -t hired --given education --given income -o {out}"
    done = CliRunner().invoke(app, words.split())
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "groups are compared among people with equal education, income" in said
    assert json.dumps(fairpca.load(out).info_["given"])
    wrong = CliRunner().invoke(app, f"fit {path} -s sex --given sex -o {out} --force".split())
    assert wrong.exit_code == 2
    assert "has the role 'sensitive' already" in wrong.output


def test_a_pipeline_can_clone_it():
    from sklearn.base import clone

    model = clone(FairTableTransformer("sex", "hired", given=["education"]))
    assert model.fit(people()).info_["given"] == {"education": "categorical"}
