"""What does fairness cost in kernel PCA, and how does it scale past the kernel matrix?"""

import subprocess
import sys
from collections.abc import Iterator
from functools import partial

import numpy as np
import scipy.linalg
from sklearn.decomposition import PCA, KernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel

from fairpca import FairKernelPCA, FairPCA, FairPLS, collect_moments

from .timing import alternate

SOLVERS = ["arpack", "randomized", "dense"]
FEATURES, K = 20, 10


def people(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, n)
    X = rng.standard_normal((n, FEATURES)) * np.linspace(2, 0.3, FEATURES)
    X[:, 0] += z
    return X, z


def algorithm_3(X: np.ndarray, z: np.ndarray, k: int) -> np.ndarray:
    """As printed: a null space of n - 1 vectors and a generalised eigenproblem."""
    K = rbf_kernel(X, gamma=1 / (X.shape[1] * X.var()))
    R = scipy.linalg.null_space(((z - z.mean()) @ K)[None, :])
    B = R.T @ K @ R + 1e-5 * np.eye(len(X) - 1)  # the authors' remedy for a singular kernel
    _, Lam = scipy.linalg.eigh(
        R.T @ K @ K @ R, B, subset_by_index=[len(X) - 1 - k, len(X) - 2], driver="gvx"
    )
    return K @ R @ Lam


def exact_rows() -> Iterator[list[str]]:
    for n in (2_000, 5_000, 10_000):
        X, z = people(n)
        gamma = 1 / (FEATURES * X.var())
        contestants = {
            s: lambda s=s, X=X, g=gamma: KernelPCA(
                K, kernel="rbf", gamma=g, eigen_solver=s, random_state=0
            ).fit(X)
            for s in (SOLVERS if n < 5_000 else SOLVERS[:2])
        }
        contestants["fairpca"] = lambda X=X, z=z: FairKernelPCA(K).fit(X, sensitive_features=z)
        seconds = alternate(contestants, repeats=9 if n < 10_000 else 5)
        ours = seconds.pop("fairpca")
        best = min(seconds, key=seconds.__getitem__)
        yield _row(n, f"KernelPCA ({best})", seconds[best], ours)


def paper_row() -> list[str]:
    n = 4_000
    X, z = people(n)
    seconds = alternate(
        {
            "paper": lambda: algorithm_3(X, z, K),
            "fairpca": lambda: FairKernelPCA(K).fit(X, sensitive_features=z),
        },
        repeats=1,
        warm_up=False,
    )
    return _row(n, "Algorithm 3 as printed", seconds["paper"], seconds["fairpca"])


def streamed_rows() -> Iterator[list[str]]:
    p = 500
    for n in (10_000, 100_000, 1_000_000):
        X, z = people(n)
        gamma = 1 / (FEATURES * X.var())
        fair = FairKernelPCA(K, approximation="nystroem", n_landmarks=p, random_state=0)
        contestants = {"fairpca": lambda X=X, z=z, f=fair: f.fit(X, sensitive_features=z)}
        if n <= 100_000:  # a million rows of 500 features, centred, would be 8 GB

            def by_hand(X: np.ndarray = X, gamma: float = gamma) -> object:
                features = Nystroem(gamma=gamma, n_components=p, random_state=0).fit_transform(X)
                return PCA(K, svd_solver="covariance_eigh").fit(features)

            contestants["Nystroem + PCA"] = by_hand
        seconds = alternate(contestants, repeats=5 if n < 1_000_000 else 1)
        ours = seconds.pop("fairpca")
        label = f"p {p}, {1e6 * ours / n:.1f} µs a row"
        yield _row(n, *(seconds.popitem() if seconds else ("", None)), ours, label=label)


def predictive_rows() -> Iterator[list[str]]:
    """Fair PLS of rows against a fit that is not fair; of moments against equal covariances."""
    n, p = 40_000, 400
    X, z = people(n)
    y = (X[:, 0] + X[:, 1] ** 2 > 2).astype(int)
    gamma = 1 / (FEATURES * X.var())

    def unfair() -> object:
        features = Nystroem(gamma=gamma, n_components=p, random_state=0).fit_transform(X)
        return Ridge().fit(features, y)

    fits = {
        match: FairPLS(match=match, kernel="rbf", n_landmarks=p, random_state=0)
        for match in ("covariances", "distributions")
    }
    contestants = {"Nystroem + Ridge": unfair} | {
        match: partial(fair.fit, X, y, sensitive_features=z) for match, fair in fits.items()
    }
    seconds = alternate(contestants, repeats=5)
    for match in fits:
        theirs = seconds["Nystroem + Ridge"]
        yield _row(n, "Nystroem + Ridge", theirs, seconds[match], f"fair PLS, p {p}, {match}")
    d = 400
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((10_000, d)) * np.linspace(2, 0.3, d)
    wide[:, 0] += z[:10_000]
    options = {"y": wide[:, 1] > 0, "with_targets": True, "with_scatters": True}
    moments = collect_moments(wide, z[:10_000], **options)
    spectral = FairPCA(K, match="covariances", covariance_method="spectral")
    ours = FairPLS(match="covariances")
    seconds = alternate(
        {
            "spectral": partial(spectral.fit_moments, moments),
            "fair PLS": partial(ours.fit_moments, moments),
        },
        repeats=9,
    )
    row = _row(d, "spectral covariances", *seconds.values(), "fair PLS, covariances")
    yield [f"moments of {d} features", *row[1:]]


def _row(n: int, against: str, theirs: float | None, ours: float, label: str = "") -> list[str]:
    return [
        f"{n:,} x {FEATURES}, k {K}",
        label or "exact",
        f"{against} {theirs:.2f} s" if theirs else "",
        f"{ours:.2f} s",
        f"{ours / theirs:.2f}" if theirs else "",
    ]


PEAK_OF_A_FIT = r"""
import re, sys
import numpy as np
from benchmarks.kernels import people
from fairpca import FairKernelPCA

n, options = int(sys.argv[1]), eval(sys.argv[2])
X, z = people(n)
FairKernelPCA(10, **options).fit(X[:1000], sensitive_features=z[:1000])  # buffers, lazy imports

def megabytes(what):
    return int(re.search(what + r":\s+(\d+) kB", open("/proc/self/status").read())[1]) / 1024

now = megabytes("VmRSS")
FairKernelPCA(10, **options).fit(X, sensitive_features=z)
print(megabytes("VmHWM") - now, megabytes("VmHWM"))
"""


def peak_megabytes(n: int, **options: object) -> tuple[float, float]:
    """Return what a fit adds to the process at its peak, and the whole process then."""
    arguments = [sys.executable, "-c", PEAK_OF_A_FIT, str(n), repr(options)]
    extra, whole = subprocess.run(
        arguments, check=True, capture_output=True, text=True
    ).stdout.split()
    return float(extra), float(whole)


def memory_rows() -> Iterator[list[str]]:
    n = 8_000
    extra, _ = peak_megabytes(n)
    matrix = n * n * 8 / 2**20
    yield [
        f"kernel, {n:,} rows",
        f"n x n {matrix:.0f} MB",
        f"{extra:.0f} MB, {extra / matrix:.2f} of it",
    ]
    n, p = 1_000_000, 500
    extra, whole = peak_megabytes(n, approximation="nystroem", n_landmarks=p)
    yield [
        f"kernel, {n:,} rows, nystroem",
        f"p x p {p * p * 8 / 2**20:.1f} MB",
        f"{extra:.0f} MB ({whole:.0f} MB in all)",
    ]
