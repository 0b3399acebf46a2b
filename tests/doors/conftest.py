"""A Spark session of this folder's own, made when a test asks for it."""

from clusters.conftest import spark  # noqa: F401  (a fixture)
