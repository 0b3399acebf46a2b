"""What is paid often: the import, gaps, leakage; and the memory that a fit takes at its peak."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from . import kernels, plain_pca
from .data import made_rows
from .lines import OURS, Line
from .timing import Measured

TIMED = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"
FIRST = "import numpy; X = numpy.random.rand(100, 10); {}(2).fit(X{}).transform(X)"
STATEMENTS = {
    "import the package": ("import fairpca", "import sklearn.decomposition"),
    "import the class": ("from fairpca import FairPCA", "from sklearn.decomposition import PCA"),
    "import, fit, transform": (
        "from fairpca import FairPCA; "
        + FIRST.format("FairPCA", ", sensitive_features=numpy.arange(100) % 2"),
        "from sklearn.decomposition import PCA; " + FIRST.format("PCA", ""),
    ),
}
"""Of ours, and of theirs; each in a new process, which takes the time itself."""


def contestant(line: Line, name: str):
    if line.what in STATEMENTS:
        program = TIMED.format(STATEMENTS[line.what][name != OURS])
        return lambda: Measured(_printed(program))
    if line.what == "selection rate gap":
        return _gap(line.n, name)
    if line.what == "leakage":
        return _leakage(line, name)
    return _memory(line, name)


def _printed(program: str) -> str:
    # Who installs a package compiles it; without this, only ours would be compiled at every start.
    kept = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=kept
    ).stdout


def _gap(n: int, name: str):
    rng = np.random.default_rng(0)
    z, decisions = rng.integers(0, 3, n), rng.integers(0, 2, n)
    if name == OURS:
        from fairpca.metrics import selection_rate_difference

        return lambda: selection_rate_difference(None, decisions, sensitive_features=z)
    if name == "fairlearn":
        from fairlearn.metrics import demographic_parity_difference

        return lambda: demographic_parity_difference(decisions, decisions, sensitive_features=z)
    return lambda: np.ptp([decisions[z == group].mean() for group in range(3)])


def _leakage(line: Line, name: str):
    X, z = made_rows(line.n, line.d)
    if name == OURS:
        from fairpca.metrics import leakage

        return lambda: leakage(X, z, random_state=0)
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score

    return lambda: cross_val_score(LogisticRegression(), X, z, cv=5, scoring="roc_auc")


def _memory(line: Line, name: str):
    make = (kernels if "kernel" in line.what else plain_pca).contestant
    make(replace(line, what="fit", n=1_000), name)()  # buffers of BLAS, imports
    return extra_memory(make(replace(line, what="fit"), name))


def extra_memory(fit):
    """Return what measures the megabytes that a fit adds to the process at its peak."""

    def megabytes(what: str) -> float:
        found = re.search(
            what + r":\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8")
        )
        return int(found[1]) / 1024

    def extra() -> Measured:
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # the peak starts anew
        before = megabytes("VmRSS")
        fit()
        return Measured(megabytes("VmHWM") - before)

    return extra
