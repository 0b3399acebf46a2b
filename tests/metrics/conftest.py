"""Settings of the metrics tests."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def _one_thread():
    """Keep the many small fits to one thread each: on busy cores, threads wait for each other."""
    with threadpool_limits(1):
        yield
