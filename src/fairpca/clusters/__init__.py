"""Rows on a cluster: partitions become moments where they are, and only moments travel."""

from .recognize import rows_elsewhere

__all__ = ["rows_elsewhere"]
