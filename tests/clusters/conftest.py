"""A Spark session, and rows on it; both are made when a test asks for them."""

import os
import shutil
import sys
import warnings

import numpy as np
import pytest

from clusters.spark_people import FEATURES, on_spark
from optional_libraries import pandas as pd


@pytest.fixture(scope="package")
def spark():
    """A session of two threads that tries everything twice, for the tests in this folder."""
    pytest.importorskip("pyspark", reason="needs the extra 'spark'")
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("needs Java, which Spark runs on")
    settings = {
        # Few rows: what is compiled is not worth it.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        # Spark's own tests of pandas; nothing here is handed to Spark as pandas.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support", FutureWarning)
        builder = SparkSession.builder.master("local[2, 2]").appName("fairpca")
        session = builder.config(map=settings).getOrCreate()
    gateway = session.sparkContext._gateway
    yield session
    session.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()  # Spark's Java process ends with it
    gateway.proc.wait(timeout=30)
    SparkContext._gateway = SparkContext._jvm = None


@pytest.fixture(scope="package")
def table():
    """One row per person: features, attributes, labels, weights and a number."""
    rng, n = np.random.default_rng(0), 400
    table = pd.DataFrame(rng.normal(size=(n, len(FEATURES))), columns=FEATURES)
    # "d" is at the end only: most partitions do not know of it.
    table["race"] = np.where(np.arange(n) < n - 20, rng.choice(["a", "b", "c"], n), "d")
    table["age"] = rng.uniform(20, 60, n)
    table["x0"] += table["race"] == "a"
    table["x1"] += table["age"] / 10
    table["income"] = rng.integers(0, 2, n)
    table["weight"] = rng.uniform(0, 3, n)
    table["id"] = np.arange(n)
    return table


@pytest.fixture(scope="package")
def frame(spark, table):
    return on_spark(spark, table)


@pytest.fixture(scope="package")
def incomplete(spark, table):
    """Attributes that are missing in some partitions, and partitions that are empty."""
    table = table[[*FEATURES, "race", "age", "id"]].copy()
    table.loc[table["id"] < 9, "race"] = None
    table.loc[table["id"] % 7 == 0, "age"] = np.nan
    table["code"] = pd.array(table["id"] % 3, dtype="Int64")
    table.loc[table["id"] == 1, "code"] = pd.NA
    return on_spark(spark, table).where("id < 200"), table[:200]
