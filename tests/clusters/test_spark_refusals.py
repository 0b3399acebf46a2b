"""What cannot be done with a Spark DataFrame is refused, with the reason and what to do."""

import datetime

import pytest

from clusters.spark_people import FEATURES
from fairpca import FairKernelPCA, FairPCA
from fairpca.errors import MissingGroupError, MissingTargetError, SingleGroupError

pytest.importorskip("pyspark", reason="needs the extra 'spark'")
from pyspark.sql import functions as F

from fairpca.errors import UsageError


def test_arrays_of_several_lengths_are_refused(frame):
    uneven = F.when(F.col("id") == 399, F.array("x0")).otherwise(F.array("x0", "x1"))
    arrays = frame.select("race", uneven.alias("embedding"))
    with pytest.raises(ValueError, match=r"'embedding' have 0 nulls and the lengths \[1, 2\]"):
        FairPCA(1).fit(arrays, sensitive_features="race")


def test_an_error_in_a_worker_is_raised_as_itself(frame):
    broken = frame.select("race", F.when(F.col("id") != 399, F.col("x0")).alias("x0"))
    with pytest.raises(ValueError, match="Input X contains NaN") as caught:
        FairPCA(1).fit(broken, sensitive_features="race")
    assert caught.value.__notes__ == ["Raised in partition 2 of the Spark DataFrame."]
    assert "Py4J" not in str(caught.value)


def test_errors_of_this_package_keep_their_class(frame, incomplete):
    with pytest.raises(MissingGroupError, match="missing_sensitive"):
        FairPCA(1).fit(incomplete[0].select("x0", "x1", "race"), sensitive_features="race")
    with pytest.raises(SingleGroupError):
        FairPCA(1).fit(frame.where("race = 'a'").select("x0", "race"), sensitive_features="race")
    with pytest.raises(MissingTargetError):
        FairPCA(1, criterion="equal_opportunity", sensitive_columns="race").fit(
            frame.select(*FEATURES, "race")
        )


def test_no_rows_are_refused(frame):
    with pytest.raises(ValueError, match="0 rows"):
        FairPCA(1, sensitive_columns=["race"]).fit(frame.select(*FEATURES, "race").limit(0))


def test_columns_that_are_not_numbers_are_refused_by_name(frame):
    worded = frame.select("x0", "race", F.lit(datetime.date(2020, 1, 1)).alias("born"))
    told = r"1 of the 2 columns .* not numbers: 'born' \(date\)"
    with pytest.raises(UsageError, match=told):
        FairPCA(1).fit(worded, sensitive_features="race")
    with pytest.raises(UsageError, match=told):
        FairPCA(1, sensitive_columns=["race"]).fit(worded)


def test_an_unknown_column_is_refused_with_those_that_are_near(frame):
    with pytest.raises(UsageError, match=r"names \['rase'\].*Did you mean \['race'\]"):
        FairPCA(1).fit(frame, sensitive_features=["age", "rase"])
    with pytest.raises(ValueError, match=r"\['rase'\].*Did you mean \['race'\]"):
        FairPCA(1, sensitive_columns=["rase"]).fit(frame)


def test_what_spark_cannot_pair_with_rows_is_refused(spark, frame, table):
    other = spark.createDataFrame([("f", 0)], "sex string, id long")
    fair = FairPCA(1)
    with pytest.raises(UsageError, match="Join them by a key"):
        fair.fit(frame, sensitive_features=other)
    with pytest.raises(UsageError, match="rows of another DataFrame"):
        fair.fit(frame, sensitive_features=other["sex"])
    with pytest.raises(UsageError, match="a Series, but X is a Spark DataFrame"):
        fair.fit(frame, sensitive_features=table["race"])
    with pytest.raises(UsageError, match="a list with a int"):
        fair.fit(frame, table["income"].tolist(), sensitive_features="race")
    with pytest.raises(UsageError, match="y names 2 columns"):
        fair.fit(frame, ["income", "id"], sensitive_features="race")
    with pytest.raises(ValueError, match="X is in memory"):
        fair.fit(table[FEATURES], sensitive_features=frame["race"])


def test_columns_of_one_name_are_refused(frame):
    with pytest.raises(UsageError, match=r"several columns named \['x0'\]"):
        FairPCA(1).fit(frame.select("x0", "x0", "race"), sensitive_features="race")


def test_what_is_no_frame_is_refused(frame):
    with pytest.raises(TypeError, match="not a Spark DataFrame"):
        FairPCA(1).fit(frame["x0"], sensitive_features="race")


def test_exact_kernels_need_rows_in_one_place(frame):
    with pytest.raises(ValueError, match="approximation='nystroem'"):
        FairKernelPCA(1).fit(frame.select("x0", "race"), sensitive_features="race")


def test_arrays_leave_no_room_for_columns_of_attributes(frame):
    arrays = frame.select("race", F.array("x0", "x1").alias("embedding"))
    with pytest.raises(UsageError, match=r"pass fit\(X, sensitive_features=\['race'\]\)"):
        FairPCA(1, sensitive_columns="race").fit(arrays)
    with pytest.raises(UsageError, match="the number of features is unknown"):
        FairPCA(1).fit(arrays.limit(0), sensitive_features="race")


def test_a_frame_of_attributes_only_is_refused(frame):
    with pytest.raises(UsageError, match="No column is left"):
        FairPCA(1).fit(frame.select("race"), sensitive_features="race")


def test_attributes_are_no_features_however_they_are_named(frame):
    given = frame.withColumnRenamed("age", "age.now")
    for age in ("age.now", given["`age.now`"], F.col("`AGE.now`")):
        fair = FairPCA(1).fit(given.select("x0", "x1", "`age.now`"), sensitive_features=age)
        assert fair.feature_names_in_.tolist() == ["x0", "x1"]
