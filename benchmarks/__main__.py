"""Print all tables; ten minutes on two cores. A word after the command runs a part of them."""

from argparse import ArgumentParser

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from . import (
    against_scikit_learn,
    against_the_paper,
    kernels,
    matched_covariances,
    memory_and_import,
    tradeoff_curve,
    transform_stream,
)
from .tables import BenchTable, how_it_was_measured, write_markdown

console = Console(width=100)


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="?", default="", help="part of the name of a step")
    parser.add_argument("--markdown", metavar="FILE", help="also write the tables for the docs")
    given = parser.parse_args()
    speed = BenchTable(
        "Fit time: the smaller the ratio, the faster fairpca",
        ("rows x features", "dtype", "against", "fairpca", "ratio"),
    )
    kernel = BenchTable(
        "Kernel methods: fit time of FairKernelPCA and FairPLS",
        ("rows x features", "how", "against", "fairpca", "ratio"),
    )
    memory = BenchTable("Extra peak memory of fit", ("rows x features", "one matrix", "extra peak"))
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
        ("fair PLS", kernel, kernels.predictive_rows),
        ("memory", memory, memory_and_import.memory_rows),
        ("memory of kernel methods", memory, kernels.memory_rows),
    ]
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None)
        for name, target, rows in (step for step in steps if given.only in step[0]):
            for row in rows():
                target.rows.append(row)
                progress.update(task, description=f"{name}: {row[0]}")
    tables = (speed, kernel, memory)
    measured = how_it_was_measured("numpy", "scipy", "scikit-learn")
    for made in (table for table in tables if table.rows):
        console.print(made.printed(), "", sep="\n")
    console.print(measured)
    if given.markdown:
        write_markdown(given.markdown, tables, measured)


if __name__ == "__main__":
    main()
