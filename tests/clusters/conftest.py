"""Rows on a Spark session, made when a test asks for them."""

import numpy as np
import pytest

from clusters.spark_people import FEATURES, on_spark
from optional_libraries import pandas as pd


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
