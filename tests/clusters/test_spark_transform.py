"""Representations on Spark: lazy, beside the columns that tell whose they are."""

import decimal

import numpy as np
import pytest

from clusters.spark_people import FEATURES, in_memory
from fairpca import FairPCA

pytest.importorskip("pyspark", reason="needs the extra 'spark'")
from pyspark.sql import functions as F

from fairpca.errors import UsageError


@pytest.fixture(scope="module")
def fair(table):
    """Fitted in memory: with columns of its own, scaled, and traded off."""
    options = {"sensitive_columns": ["race", "age"], "scale": True, "tradeoff": 0.5}
    return FairPCA(2, **options).fit(table[[*FEATURES, "race", "age"]])


def test_transform_is_lazy_and_every_row_keeps_its_other_columns(spark, frame, table, fair):
    spark.sparkContext.setJobGroup("transform", "should not start any job")
    try:
        made = fair.transform(frame)
        assert spark.sparkContext.statusTracker().getJobIdsForGroup("transform") == []
    finally:
        spark.sparkContext.setJobGroup("tests", "")
    names = fair.get_feature_names_out().tolist()
    assert made.columns == ["race", "age", "income", "weight", "id", *names]
    rows = in_memory(made)
    expected = fair.transform(table[[*FEATURES, "race", "age"]])
    np.testing.assert_allclose(rows[names].to_numpy(), expected, atol=1e-10)
    assert rows["race"].tolist() == table["race"].tolist()
    np.testing.assert_array_equal(rows["age"], table["age"])


def test_columns_of_any_kind_stay_with_their_rows(frame, fair):
    stamped = frame.where("id < 3").select(
        *FEATURES,
        "id",
        F.expr("timestamp'2024-01-02 03:04:05' + make_interval(0, 0, 0, id)").alias("seen"),
        F.struct(F.array("id"), F.lit(None).cast("string")).alias("notes.raw"),
        F.lit(decimal.Decimal("1.50")).alias("fee"),
    )
    made = fair.transform(stamped).drop(*fair.get_feature_names_out().tolist())
    given = stamped.drop(*FEATURES)
    assert made.dtypes == given.dtypes
    assert sorted(map(str, made.collect())) == sorted(map(str, given.collect()))


def test_names_that_collide_are_refused(frame, fair):
    with pytest.raises(UsageError, match=r"\['FairPCA1'\], as the representation"):
        fair.transform(frame.withColumn("FairPCA1", F.lit(1)))


def test_a_frame_without_some_features_is_refused(frame, fair):
    with pytest.raises(UsageError, match=r"lacks 1 of the 12 features .* \['x3'\]"):
        fair.transform(frame.drop("x3"))


def test_fit_and_transform_in_one_call(frame, table):
    given = frame.select(*FEATURES, "race", "id")
    made = FairPCA(1).fit_transform(given.drop("id"), sensitive_features="race")
    assert made.columns == ["race", "fairpca0"]
    whole = FairPCA(1).fit_transform(table[FEATURES], sensitive_features=table["race"])
    T = np.array([row.fairpca0 for row in made.collect()])
    np.testing.assert_allclose(np.sort(np.abs(T)), np.sort(np.abs(whole[:, 0])), atol=1e-8)
