"""Print all tables; ten minutes on two cores. A word after the command runs a part of them."""

import platform
import sys
from importlib.metadata import version

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from fairpca.parallel import blas_threads

from . import (
    against_scikit_learn,
    against_the_paper,
    kernels,
    matched_covariances,
    memory_and_import,
    tradeoff_curve,
    transform_stream,
)

console = Console(width=100)


def table(title: str, *columns: str) -> Table:
    made = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for i, column in enumerate(columns):
        made.add_column(column, justify="left" if i < 3 else "right", overflow="fold")
    return made


def main(only: str = "") -> None:
    """Print all tables, or the lines of the steps whose name contains a word."""
    speed = table(
        "Fit time: the smaller the ratio, the faster fairpca",
        "rows x features",
        "dtype",
        "against",
        "fairpca",
        "ratio",
    )
    kernel = table(
        "Kernel methods: fit time of FairKernelPCA",
        "rows x features",
        "how",
        "against",
        "fairpca",
        "ratio",
    )
    memory = table("Extra peak memory of fit", "rows x features", "one matrix", "extra peak")
    steps = [
        ("scikit-learn's PCA", speed, against_scikit_learn.rows_of_the_table),
        ("the paper's algorithm, covariances", speed, against_the_paper.rows_of_the_table),
        ("equal covariances", speed, matched_covariances.rows_of_the_table),
        ("trade-off curve", speed, tradeoff_curve.rows_of_the_table),
        ("transform", speed, transform_stream.rows_of_the_table),
        ("import time", speed, lambda: iter([memory_and_import.import_row()])),
        ("kernel PCA", kernel, kernels.exact_rows),
        ("the paper's Algorithm 3", kernel, lambda: iter([kernels.paper_row()])),
        ("Nystroem", kernel, kernels.streamed_rows),
        ("memory", memory, memory_and_import.memory_rows),
        ("memory of kernel methods", memory, kernels.memory_rows),
    ]
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None)
        for name, target, rows in (step for step in steps if only in step[0]):
            for row in rows():
                target.add_row(*row)
                progress.update(task, description=f"{name}: {row[0]}")
    versions = ", ".join(f"{p} {version(p)}" for p in ("numpy", "scipy", "scikit-learn"))
    console.print(speed, "", kernel, "", memory, "", sep="\n")
    console.print(
        f"Medians of alternating runs. {blas_threads()} BLAS threads, Python "
        f"{platform.python_version()}, {versions}."
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
