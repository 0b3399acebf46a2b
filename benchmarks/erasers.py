"""LEACE beside concept-erasure's, as a Markdown table: ``python -m benchmarks.erasers --cores 2``.

float32 tensors, a binary concept, one process. Both are called in turns; the ratio is taken in
every round, and its median, lowest and highest are printed. Needs torch and concept-erasure. What
is printed is docs/benchmarks/erasers.md; a run on a GPU is added to it behind one on a processor.
"""

import argparse
import io
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from concept_erasure import LeaceEraser

import fairpca
from fairpca.erasers import LEACE
from fairpca.torch import as_module

from .gpu import versions, wait
from .results import Run, use_cores

SECONDS, LEAST, MOST = 2.0, 5, 200
"""How long a cell is measured, and how many rounds that may be."""

FITS = [(10_000, 768), (100_000, 768), (1_000_000, 384), (20_000, 2_048), (10_000, 4_096)]
APPLIED = [(1, 768), (100, 768), (10_000, 384), (3_000, 2_048), (100_000, 768), (50_000, 4_096)]
APPLIED += [(1_000_000, 384)]


def rows_there(n: int, d: int, device: str) -> tuple[Any, Any]:
    """Return correlated rows on a device, and their concept."""
    generator = torch.Generator(device=device).manual_seed(0)
    z = torch.randint(0, 2, (n,), device=device, generator=generator)
    X = torch.randn((n, d), device=device, generator=generator)
    X[:, 1:] += 0.5 * X[:, :-1]
    X += z[:, None] * torch.linspace(0.5, 0.0, d, device=device)
    return X, z


def ratios(
    ours: Callable[[], Any], theirs: Callable[[], Any], device: str
) -> tuple[list[float], list[float]]:
    """Return seconds of both, called in turns after a warm-up."""
    found: tuple[list[float], list[float]] = ([], [])
    for run in (ours, theirs, ours, theirs):
        run()
    ends = time.perf_counter() + SECONDS
    while len(found[0]) < LEAST or (time.perf_counter() < ends and len(found[0]) < MOST):
        for run, seconds in zip((ours, theirs), found, strict=True):
            wait(device)
            start = time.perf_counter()
            run()
            wait(device)
            seconds.append(time.perf_counter() - start)
    return found


def line(what: str, n: int, d: int, mine: list[float], other: list[float]) -> str:
    """Return a line of the table: medians, and the ratio in each round."""
    each = [m / o for m, o in zip(mine, other, strict=True)]
    low, high = min(each), max(each)
    medians = [f"{1_000 * statistics.median(s):,.2f} ms" for s in (other, mine)]
    middle = statistics.median(each)
    cells = [what, f"{n:,} x {d:,}", *medians, f"{middle:.2f} ({low:.2f} to {high:.2f})"]
    return f"| {' | '.join(cells)} |"


def lines_of_the_table(device: str, largest: int) -> Iterator[str]:
    """Yield the lines of times: fits, then rows changed."""
    for n, d in FITS:
        if n * d <= largest:
            X, z = rows_there(n, d, device)
            both = ratios(
                lambda X=X, z=z: LEACE().fit(X, sensitive_features=z),
                lambda X=X, z=z: LeaceEraser.fit(X, z),
                device,
            )
            yield line("`fit`", n, d, *both)
    for n, d in APPLIED:
        if n * d <= largest:
            X, z = rows_there(max(n, 4 * d), d, device)
            mine = LEACE().fit(X, sensitive_features=z)
            theirs = LeaceEraser.fit(X, z)
            X = X[:n]
            yield line(
                "`transform`",
                n,
                d,
                *ratios(lambda X=X, m=mine: m.transform(X), lambda X=X, t=theirs: t(X), device),
            )
            module = as_module(mine).to(device)
            yield line(
                "`as_module`",
                n,
                d,
                *ratios(lambda X=X, m=module: m(X), lambda X=X, t=theirs: t(X), device),
            )


def lines_of_sizes(device: str) -> Iterator[str]:
    """Yield the lines of sizes on disk."""
    for d in (384, 768, 2_048, 4_096):
        X, z = rows_there(4 * d, d, device)
        mine, theirs = LEACE().fit(X, sensitive_features=z), LeaceEraser.fit(X, z)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "eraser.fairpca"
            fairpca.save(mine, path)
            ours = path.stat().st_size
        buffer = io.BytesIO()
        torch.save(theirs, buffer)
        other = buffer.tell()
        sizes = [f"{size / 1_000:,.0f} kB" for size in (other, ours)]
        yield f"| {' | '.join(['file', f'{d:,} columns', *sizes, f'{ours / other:.3f}'])} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--cores", type=int, help="cores and threads; by default all")
    parser.add_argument("--largest", type=float, default=5e8, help="most numbers in an array")
    given = parser.parse_args()
    use_cores(given.cores)
    if given.cores:
        torch.set_num_threads(given.cores)
    here = Run.here()
    where = f"{here.machine}, {torch.get_num_threads()} threads"
    print(f"\n**{where if given.device == 'cpu' else torch.cuda.get_device_name()}**\n")
    print("| what | rows x features | concept-erasure | fairpca | ratio |")
    print("|---|---|--:|--:|--:|")
    for text in lines_of_the_table(given.device, int(given.largest)):
        print(text, flush=True)
    for text in lines_of_sizes(given.device):
        print(text, flush=True)
    libraries = f"concept-erasure {version('concept-erasure')}, {versions(given.device)}"
    print(f"\nMeasured {here.date[:10]}: {here.machine}, {here.cores} cores, {libraries}.")


if __name__ == "__main__":
    sys.exit(main())
