"""Rows of Spark DataFrames; only this package knows pyspark."""

from .columns import representation_columns
from .frames import SparkRows
from .refusals import SparkColumnsError

__all__ = ["SparkColumnsError", "SparkRows", "representation_columns"]
