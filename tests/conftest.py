"""Shared fixtures, and what becomes of tests whose optional libraries are not installed."""

import doctest
import os
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  (loads SciPy's BLAS, so that its threads are limited too)
from hypothesis import settings
from threadpoolctl import threadpool_limits

from optional_libraries import MISSING, array_api_strict, why
from places import device, place  # noqa: F401  (fixtures for all folders)
from spark_session import spark  # noqa: F401  (another one)

ROOT = Path(__file__).parent.parent

EXAMPLES = int(os.environ.get("FAIRPCA_EXAMPLES", "0"))
"""How many examples of a property are tried, where not the usual number; more are new ones."""

settings.register_profile(
    "default", deadline=None, max_examples=EXAMPLES or 30, derandomize=EXAMPLES <= 30
)
settings.load_profile("default")

if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers share the cores, and BLAS threads that wait for a core by spinning make products of
    # small matrices a hundred times slower. Tests of threads ask for them. So it is with the
    # commands and processes that tests start.
    threadpool_limits(1, user_api="blas")
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
CORE = re.search(r"^CORE := (.*)$", MAKEFILE, re.MULTILINE)[1].split()
"""Folders of tests that may fail, but never be skipped, for want of a library."""


def pytest_configure(config):
    if MISSING:  # modules that are the only ones to know a library have doctests, too
        config.option.doctest_ignore_import_errors = True
        # A hook of this file would be called for the tests below it, but not for doctests.
        config.pluginmanager.register(SkipsWhatNeedsLibraries())


class NeedsLibraries(pytest.Module):
    """A file of tests that is skipped as a whole where a library that it imports is missing."""

    def collect(self):
        try:
            self.obj  # noqa: B018  (imports the file)
        except self.CollectError as error:
            library = missing_library(error.__cause__)
            if library is None:
                raise
            pytest.skip(why(library), allow_module_level=True)
        return super().collect()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Leave doctests of tests out: one that cannot be imported would hide the tests beside it."""
    collectors = yield
    return [found for found in collectors if type(found).__name__ != "DoctestModule"]


def pytest_pycollect_makemodule(module_path, parent):
    return NeedsLibraries.from_parent(parent, path=module_path) if MISSING else None


class SkipsWhatNeedsLibraries:
    """Makes a skip of a failure for want of an optional library."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        if report.failed and call.excinfo is not None and not is_core(item.path):
            library = missing_library(call.excinfo.value)
            if library is not None:
                report.outcome = "skipped"
                line = item.reportinfo()[1] or 0
                report.longrepr = (str(item.path), line, f"Skipped: {why(library)}")
        return report


def is_core(path):
    """Return whether a file holds tests of what needs no optional library."""
    return "tests" in path.parts and any(part in CORE for part in path.parts)


def missing_library(error):
    """Return the optional library whose absence raised this error, if that is what did."""
    while error is not None:
        if isinstance(error, doctest.UnexpectedException):
            error = error.exc_info[1]
        name = (error.name or "") if isinstance(error, ImportError) else ""
        if name.partition(".")[0] in MISSING:
            return name.partition(".")[0]
        error = error.__cause__
    return None


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
        "numpy": lambda: np.asarray,
        "read-only numpy": lambda: read_only,
        "array-api-strict": lambda: array_api_strict.asarray,
    }[request.param]()
