"""The same rows in memory and in the partitions of a Spark DataFrame."""

from optional_libraries import pyarrow as pa

FEATURES = [f"x{j}" for j in range(12)]
PARTITIONS = 3


def on_spark(spark, table):
    """Cut a table into partitions, in its order."""
    frame = spark.createDataFrame(pa.Table.from_pandas(table, preserve_index=False))
    return frame.repartitionByRange(PARTITIONS, "id").sortWithinPartitions("id").cache()


def in_memory(frame):
    """Return a small DataFrame as pandas, in the order of the ids."""
    return frame.toArrow().to_pandas().sort_values("id", ignore_index=True)
