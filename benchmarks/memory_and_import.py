"""What does a fit of a gigabyte add to the process, and what does the import cost?"""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

PEAK_OF_A_FIT = r"""
import re, sys
import numpy as np
from fairpca import FairPCA

n, d, offset, dtype = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
rng = np.random.default_rng(0)
X = np.empty((n, d), dtype)
for start in range(0, n, 250):
    size = min(250, n - start)
    X[start : start + size] = rng.standard_normal((size, d), dtype=np.float32) + offset
z = np.arange(n) % 2
FairPCA(2).fit(X[:5000], sensitive_features=z[:5000])  # BLAS buffers, lazy imports

def megabytes(what):  # VmHWM is the peak since this program started; ru_maxrss inherits a parent's
    return int(re.search(what + r":\s+(\d+) kB", open("/proc/self/status").read())[1]) / 1024

now = megabytes("VmRSS")
FairPCA(10).fit(X, sensitive_features=z)
print(megabytes("VmHWM") - now)
"""


def extra_peak_megabytes(n: int, d: int, offset: float, dtype: str = "float64") -> float:
    arguments = [sys.executable, "-c", PEAK_OF_A_FIT, str(n), str(d), str(offset), dtype]
    return float(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)


def import_seconds(module: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    return time.perf_counter() - start


def memory_rows() -> Iterator[list[str]]:
    for n, d, offset in [(1_250_000, 100, 0), (1_250_000, 100, 1e6), (125_000, 1_000, 0)]:
        matrix = d * d * 8 / 2**20
        extra = extra_peak_megabytes(n, d, offset)
        where = f", rows near {offset:g}" if offset else ""
        yield [f"{n:,} x {d:,} float64{where}", f"{matrix:.1f} MB", f"{extra:.0f} MB"]


def import_row(repeats: int = 9) -> list[str]:
    modules = ["sklearn.decomposition", "fairpca"]
    seconds: dict[str, list[float]] = {m: [] for m in modules}
    for _ in range(repeats):
        for m in modules:
            seconds[m].append(import_seconds(m))
    theirs, ours = (statistics.median(seconds[m]) for m in modules)
    return [
        "import fairpca",
        "",
        f"import sklearn.decomposition {theirs:.2f} s",
        f"{ours:.2f} s",
        f"{ours / theirs:.2f}",
    ]
