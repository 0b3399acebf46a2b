"""Rows of a Spark DataFrame give the answer of rows in memory, and never come to the driver."""

import decimal
import os

import numpy as np
import pandas as pd
import pytest

from assertions import assert_equal_group_means, assert_orthonormal, assert_same_subspace
from clusters.spark_people import FEATURES, in_memory, on_spark
from fairpca import FairKernelPCA, FairPCA
from fairpca.errors import ManyLevelsWarning
from fairpca.moments import collect_moments

pytest.importorskip("pyspark", reason="needs the extra 'spark'")
from pyspark.sql import functions as F

from fairpca._rows import spark as engine
from fairpca._rows.spark import SparkRows

CASES = {
    "means": {"scale": True},
    "odds": {"criterion": "equalized_odds"},
    "opportunity": {"criterion": "equal_opportunity", "scale": True},
    "covariances": {"match": "covariances", "covariance_method": "spectral"},
}


@pytest.mark.parametrize("case", CASES)
def test_partitions_give_the_subspace_of_all_rows(frame, table, case):
    attributes = ["race"] if case == "covariances" else ["race", "age"]
    whole = FairPCA(2, **CASES[case]).fit(
        table[FEATURES],
        table["income"],
        sensitive_features=table[attributes],
        sample_weight=table["weight"],
    )
    fair = FairPCA(2, **CASES[case]).fit(
        frame.select(*FEATURES, *attributes, "income", "weight"),
        "income",
        sensitive_features=attributes,
        sample_weight="weight",
    )
    assert_same_subspace(fair.components_.T, whole.components_.T)
    np.testing.assert_allclose(fair.explained_variance_, whole.explained_variance_)
    np.testing.assert_allclose(fair.mean_, whole.mean_)
    assert fair.feature_names_in_.tolist() == FEATURES
    assert fair.groups_ == whole.groups_
    assert fair.n_samples_seen_ == whole.n_samples_seen_


@pytest.mark.parametrize("missing", ["ignore", "group"])
def test_missing_attributes_and_empty_partitions_change_nothing(incomplete, missing):
    frame, table = incomplete
    options = {"sensitive_columns": ["race", "age", "code"], "missing_sensitive": missing}
    fair = FairPCA(2, **options).fit(frame.drop("id"))
    whole = FairPCA(2, **options).fit(table.drop(columns="id"))
    assert_same_subspace(fair.components_.T, whole.components_.T)
    assert fair.groups_ == whole.groups_
    assert fair.mean_gap_ < 1e-10


def test_numbers_of_every_kind_are_features(spark, table):
    kinds = pd.DataFrame(
        {
            "single": table["x0"].astype("float32"),
            "whole": table["id"] % 5,
            "flag": table["x1"] > 4,
            "price": [decimal.Decimal(i % 11) / 4 for i in table["id"]],
            "id": table["id"],
        }
    )
    attribute = F.when(F.col("id") % 2 == 0, "even").otherwise("odd").alias("parity")
    moments = collect_moments(on_spark(spark, kinds), attribute)
    numbers = kinds.astype({"price": float})
    expected = collect_moments(numbers, np.where(table["id"] % 2 == 0, "even", "odd"))
    np.testing.assert_allclose(moments.scatter.matrix, expected.scatter.matrix)
    np.testing.assert_allclose(moments.mean, expected.mean)
    assert [a.name for a in moments.attributes] == ["parity"]


def test_single_precision_loses_nothing_in_the_moments(spark, table):
    single = table.astype(dict.fromkeys(FEATURES, "float32"))[[*FEATURES, "race", "id"]]
    frame = on_spark(spark, single)
    fair = FairPCA(2).fit(frame.drop("id"), sensitive_features="race")
    # In memory, single precision is also that of the products; here these are exact.
    whole = FairPCA(2).fit(single[FEATURES].astype(float), sensitive_features=single["race"])
    assert_same_subspace(fair.components_.T, whole.components_.T)
    made = fair.transform(frame)
    assert dict(made.dtypes)["fairpca1"] == "float"
    np.testing.assert_allclose(
        in_memory(made)[["fairpca0", "fairpca1"]], fair.transform(single[FEATURES]), atol=1e-5
    )


def test_features_may_be_arrays_in_one_column(spark, frame, table):
    arrays = frame.select("id", "race", F.array(*FEATURES).alias("embedding"))
    fair = FairPCA(2).fit(arrays.drop("id"), sensitive_features="race")
    whole = FairPCA(2).fit(table[FEATURES].to_numpy(), sensitive_features=table["race"])
    assert_same_subspace(fair.components_.T, whole.components_.T)
    made = fair.transform(arrays)
    assert made.columns == ["id", "race", "fairpca0", "fairpca1"]
    T = in_memory(made)[["fairpca0", "fairpca1"]].to_numpy()
    np.testing.assert_allclose(T, fair.transform(table[FEATURES].to_numpy()), atol=1e-10)


def test_landmarks_are_drawn_from_all_partitions(frame, table):
    options = {"approximation": "nystroem", "n_landmarks": 40, "random_state": 3}
    given = frame.select(*FEATURES, "race")
    fair = FairKernelPCA(2, **options).fit(given, sensitive_features=["race"])
    whole = FairKernelPCA(2, **options).fit(table[FEATURES], sensitive_features=table["race"])
    # All rows fit in the sample, and these partitions keep the order of the rows.
    np.testing.assert_array_equal(fair.landmarks_, whole.landmarks_)
    assert fair.gamma_ == pytest.approx(whole.gamma_, rel=1e-12)
    T = in_memory(fair.transform(frame))[["fairkernelpca0", "fairkernelpca1"]].to_numpy()
    assert_equal_group_means(T, table["race"].to_numpy(), rtol=1e-8)
    np.testing.assert_allclose(np.abs(T), np.abs(whole.transform(table[FEATURES])), atol=1e-8)


def test_rows_on_spark_can_be_added_to_rows_in_memory(frame, table):
    first = table[:100]
    fair = FairPCA(2).partial_fit(first[FEATURES], sensitive_features=first[["race"]])
    fair.partial_fit(frame.where("id >= 100").select(*FEATURES, "race"), sensitive_features="race")
    whole = FairPCA(2).fit(table[FEATURES], sensitive_features=table[["race"]])
    assert_same_subspace(fair.components_.T, whole.components_.T)
    assert_orthonormal(fair.components_.T)


def test_one_answer_comes_to_the_driver_however_deep_the_tree(spark, frame, table, monkeypatch):
    came, kind = [], type(frame)
    collect = kind.collect

    def counted(self):
        rows = collect(self)
        came.append(rows)
        return rows

    def refused(self, *args, **kwargs):
        raise AssertionError("rows were brought to the driver")

    cached = spark.sparkContext._jsc.getPersistentRDDs().size()
    monkeypatch.setattr(kind, "collect", counted)
    for name in ("toArrow", "toPandas", "toLocalIterator", "take", "head", "first", "tail"):
        monkeypatch.setattr(kind, name, refused)
    monkeypatch.setattr(engine, "FAN_IN", 2)
    moments = collect_moments(frame.select(*FEATURES, "race"), "race")
    assert [len(rows) for rows in came] == [1]
    assert came[0][0].asDict().keys() == {"answer"}
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == cached
    expected = collect_moments(table[FEATURES], table["race"])
    np.testing.assert_allclose(moments.scatter.matrix, expected.scatter.matrix)


def test_a_worker_that_dies_changes_nothing(frame, tmp_path):
    died = tmp_path / "died"

    def collect(part):
        if not died.exists():
            died.touch()
            os.kill(os.getpid(), 9)
        return part.n_rows

    assert SparkRows(frame.select("x0", "race"), sensitive_features="race").fold(collect) == 400
    assert died.exists()


def test_warnings_of_workers_are_seen(frame):
    with pytest.warns(ManyLevelsWarning, match="'years'"):
        collect_moments(frame.select("x0", F.col("age").cast("int").alias("years")), "years")


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        ("id % 3", "groups"),
        ("cast(id % 3 as double)", "groups"),
        ("cast(id % 3 as decimal(9, 2))", "groups"),
        ("cast(id % 3 / 2 as decimal(9, 2))", "numeric"),
        ("id % 3 / 2", "numeric"),
    ],
)
def test_a_column_is_groups_or_a_number_by_its_values(frame, made, kind):
    rows = frame.select(*FEATURES, F.expr(made).alias("code"))
    groups = FairPCA(1).fit(rows, sensitive_features="code").groups_["code"]
    assert groups == "numeric" if kind == "numeric" else len(groups) == 3
