"""A Spark session, made when a test asks for it, and stopped once."""

import os
import shutil
import sys
import warnings

import pytest


@pytest.fixture(scope="session")
def spark():
    """A session of two threads that tries everything twice, one for all folders."""
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
