"""Seconds on a GPU, as a Markdown table: ``python -m benchmarks.gpu``.

CelebA's size by default: 202,599 pictures of 80 x 80 pixels. Medians of five runs after a warm-up,
the device synchronised before and after each. Needs torch; CuPy takes part where it is installed.
"""

import argparse
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import torch
from sklearn.decomposition import PCA

from fairpca import FairPCA

N, D, K = 202_599, 6_400, 400
REPEATS = 5
FACTORS = 200


def factor_rows_there(n: int, d: int, device: str, seed: int = 0) -> tuple[Any, np.ndarray]:
    """Return float32 rows on a device, as `rows.factor_rows` makes them, and their groups."""
    generator = torch.Generator(device=device).manual_seed(seed)

    def normal(*shape: int) -> Any:
        return torch.randn(shape, device=device, generator=generator)

    z = np.random.default_rng(seed).integers(0, 2, n)
    strength = torch.arange(1, FACTORS + 1, device=device) ** -0.5
    loadings = normal(FACTORS, d) * strength[:, None]
    apart = 0.5 * normal(d)
    X = torch.empty((n, d), device=device)
    for start in range(0, n, 20_000):
        rows = slice(start, min(start + 20_000, n))
        group = torch.asarray(z[rows], device=device, dtype=torch.float32)
        X[rows] = normal(len(group), FACTORS) @ loadings + normal(len(group), d)
        X[rows] += 3.0 + group[:, None] * apart
    return X, z


def wait(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()


def median_seconds(run: Callable[[], object], device: str, repeats: int = REPEATS) -> float:
    run()
    seconds = []
    for _ in range(repeats):
        wait(device)
        start = time.perf_counter()
        run()
        wait(device)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def residual(fair: FairPCA, X: Any, z: np.ndarray) -> float:
    """Return the largest difference of group means in standard deviations, measured on the rows."""
    T = fair.transform(X).double()
    group = torch.asarray(z, device=T.device) == 1
    gap = T[group].mean(dim=0) - T[~group].mean(dim=0)
    return float((gap.abs() / T.std(dim=0)).max())


def lines_of_the_table(n: int, d: int, k: int, device: str) -> Iterator[tuple[str, ...]]:
    """Yield the lines: what, rows, type, seconds, residual in moments, residual on rows."""
    X, z = factor_rows_there(n, d, device)
    S = (X.T @ X).double()

    def fit(k: int, rows: Any, **parameters: Any) -> FairPCA:
        return FairPCA(k, **parameters).fit(rows, sensitive_features=z)

    def timed(what: str, run: Callable[[], Any], kind: str) -> tuple[str, ...]:
        return what, f"{n:,}", kind, f"{median_seconds(run, device):.3f}", "", ""

    def fitted(what: str, run: Callable[[], FairPCA], kind: str, rows: Any) -> tuple[str, ...]:
        seconds, fair = median_seconds(run, device), run()
        gaps = f"{fair.mean_gap_:.0e}", f"{residual(fair, rows, z):.0e}"
        return what, f"{n:,}", kind, f"{seconds:.3f}", *gaps

    yield timed("Gram matrix alone", lambda: X.T @ X, "float32")
    yield timed("`eigh` alone", lambda: torch.linalg.eigh(S.float()), "float32")
    yield timed("`eigh` alone", lambda: torch.linalg.eigh(S), "float64")
    yield fitted(f"`fit`, k = {k}", lambda: fit(k, X), "float32", X)
    yield fitted(f"`fit`, k = {d - 1}", lambda: fit(d - 1, X), "float32", X)
    fair = fit(k, X)
    yield timed(f"`transform`, k = {k}", lambda: fair.transform(X), "float32")
    if cupy_version() != "-" and device != "cpu":
        yield fitted(f"`fit`, k = {k}, CuPy", lambda: fit(k, as_cupy(X)), "float32", X)
    X = X.double()
    yield fitted(f"`fit`, k = {k}", lambda: fit(k, X), "float64", X)
    yield fitted(f"`fit`, k = {d - 1}", lambda: fit(d - 1, X), "float64", X)
    X = X.float()
    H = X.cpu().numpy()
    there = {"device": device}
    yield fitted(f"`fit` from host memory, k = {k}", lambda: fit(k, H, **there), "float32", X)
    sent = fit(k, H, **there)
    yield timed(f"`transform` from host memory, k = {k}", lambda: sent.transform(H), "float32")
    few = H[: min(n, 50_000)]
    for name, run in {
        "`fit` on the processor": lambda: FairPCA(k).fit(few, sensitive_features=z[: len(few)]),
        "scikit-learn's PCA (covariance_eigh), processor": lambda: PCA(
            k, svd_solver="covariance_eigh"
        ).fit(few),
    }.items():
        start = time.perf_counter()
        run()
        seconds = time.perf_counter() - start
        yield f"{name}, k = {k}, one run", f"{len(few):,}", "float32", f"{seconds:.3f}", "", ""


def as_cupy(X: Any) -> Any:
    import cupy

    return cupy.from_dlpack(X)


def cupy_version() -> str:
    try:
        import cupy
    except ImportError:
        return "-"
    return cupy.__version__


def versions(device: str) -> str:
    names = ["numpy", "scipy", "scikit-learn"]
    found = [f"{name} {_version(name)}" for name in names]
    if device != "cpu":
        major, minor = torch.cuda.get_device_capability()
        driver = getattr(torch.cuda, "driver_version", lambda: "")() or _driver()
        found += [torch.cuda.get_device_name(), f"capability {major}.{minor}", f"driver {driver}"]
        found += [f"CUDA {torch.version.cuda}"]
    python = f"Python {platform.python_version()}"
    return ", ".join([f"torch {torch.__version__}", f"CuPy {cupy_version()}", *found, python])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "?"


def _driver() -> str:
    try:
        with open("/proc/driver/nvidia/version", encoding="utf-8") as file:
            return file.readline().split("  ")[1].strip()
    except (OSError, IndexError):
        return "?"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=N)
    parser.add_argument("--features", type=int, default=D)
    parser.add_argument("--components", type=int, default=K)
    parser.add_argument("--device", default="cuda")
    given = parser.parse_args()
    if given.device != "cpu" and not torch.cuda.is_available():
        sys.exit("This machine has no GPU that torch can use. Try --device cpu --rows 5000 ...")
    print(f"{given.features:,} features. {versions(given.device)}\n")
    print("| what | rows | type | seconds | gap in moments | gap on rows |")
    print("|---|---:|---|---:|---:|---:|")
    for line in lines_of_the_table(given.rows, given.features, given.components, given.device):
        print("|", " | ".join(line), "|", flush=True)


if __name__ == "__main__":
    main()
