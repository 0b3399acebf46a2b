"""Shared fixtures: array libraries, and the folder with the paper's data."""

import os
from pathlib import Path

import array_api_strict
import numpy as np
import pytest
import scipy.linalg  # noqa: F401  (loads SciPy's BLAS, so that its threads are limited too)
from hypothesis import settings
from threadpoolctl import threadpool_limits

settings.register_profile("default", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("default")

if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers share the cores, and BLAS threads that wait for a core by spinning make products of
    # small matrices a hundred times slower. Tests of threads ask for them.
    threadpool_limits(1, user_api="blas")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder with the real data sets, from the environment variable FAIRPCA_DATA."""
    folder = os.environ.get("FAIRPCA_DATA")
    if not folder:
        pytest.skip("needs the real data: set FAIRPCA_DATA to the folder that holds lee2022/")
    return Path(folder)


def read_only(values):
    array = np.array(values)
    array.flags.writeable = False
    return array


@pytest.fixture(params=["numpy", "read-only numpy", "array-api-strict"])
def asarray(request):
    """Make an array of each library; writing into an input fails in two of the three."""
    return {
        "numpy": np.asarray,
        "read-only numpy": read_only,
        "array-api-strict": array_api_strict.asarray,
    }[request.param]
