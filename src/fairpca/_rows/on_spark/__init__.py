"""Rows of Spark DataFrames; only this package knows pyspark."""

from ...errors import SparkColumnsError
from .columns import representation_columns
from .frames import SparkRows

__all__ = ["SparkColumnsError", "SparkRows", "representation_columns"]
