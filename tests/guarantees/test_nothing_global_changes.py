"""No call leaves a trace in the process: neither settings nor random states, files or threads."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from guarantees.global_state import changed, snapshot
from guarantees.public_calls import CALLS
from registry import ESTIMATORS, fitted_anew, small_rows

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("name", CALLS)
def test_a_call_changes_nothing(name, tmp_path):
    call, libraries = CALLS[name]
    for library in libraries:
        pytest.importorskip(library, reason=f"{name} needs {library}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(tmp_path)  # libraries that are imported now may set themselves up
        before = snapshot()
        call(tmp_path)
        after = snapshot()
    assert changed(before, after) == []


def test_no_estimator_changes_anything():
    rows, _, _ = small_rows(30, seed=1)
    names = [name for name in ESTIMATORS if "held-out" not in name]
    before, guilty = snapshot(), {}
    for name in names:
        fitted_anew(name).transform(rows)
        after = snapshot()
        if changed(before, after):
            guilty[name] = changed(before, after)
        before = after
    assert guilty == {}


@pytest.mark.parametrize("name", ["fair pca", "rbf kernel", "iterative solver"])
def test_without_a_seed_nothing_is_drawn_where_nothing_is_random(name):
    X, sex, y = small_rows()
    before = snapshot()["numpy"]
    model = ESTIMATORS[name].made().set_params(random_state=None)
    first = model.fit(X, y, sensitive_features=sex).transform(X)
    assert snapshot()["numpy"] == before
    np.testing.assert_array_equal(model.fit(X, y, sensitive_features=sex).transform(X), first)


def test_the_snapshot_sees_what_is_changed(monkeypatch, tmp_path):
    before = snapshot()
    with np.errstate(over="raise"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        monkeypatch.setenv("FAIRPCA_MADE_UP", "1")
        monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
        monkeypatch.chdir(tmp_path)
        with open(tmp_path / "left open", "w", encoding="utf-8"):
            found = changed(before, snapshot())
    assert found == [
        "numpy: errors",
        "warnings: filters",
        "files: working directory",
        "files: open files",
        "interpreter: environment",
        "interpreter: path",
    ]


IMPORT = """
import sys
import array_api_compat, joblib, narwhals, numpy, scipy.linalg, scipy.sparse.linalg, sklearn
import sklearn.decomposition, sklearn.ensemble, sklearn.linear_model, sklearn.pipeline
from guarantees.global_state import changed, snapshot
before = snapshot()
import fairpca
found = changed(before, snapshot())
assert not found, found
import importlib, pathlib
folder = pathlib.Path(fairpca.__file__).parent
for path in sorted(folder.rglob("*.py")):
    # All but the last import the library that they are the only ones to know.
    if not {"_cli", "dask.py", "spark.py", "_modules.py", "__main__.py"} & set(path.parts):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        importlib.import_module(".".join(parts))
found = changed(before, snapshot())
assert not found, found
"""


def test_importing_the_package_and_all_its_modules_changes_nothing_and_says_nothing():
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", IMPORT],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr[-2000:]) == (0, "", "")
