"""What scale costs: files larger than memory, Dask, the cost model (``make bench-scale``).

Twenty minutes and 6 GB of disk at full size; ``--quick`` takes a tenth of the rows, and a word runs
a part of it. The GPU has a script of its own, ``python -m benchmarks.gpu``.
"""

from argparse import ArgumentParser

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from . import cost_model, scale_dask, scale_files
from .__main__ import console
from .tables import BenchTable, how_it_was_measured, write_markdown


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="?", default="", help="part of the name of a step")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--markdown", metavar="FILE", help="also write the table for the docs")
    given = parser.parse_args()
    steps = [
        ("files", lambda: scale_files.rows_of_the_table(quick=given.quick)),
        ("dask", scale_dask.rows_of_the_table),
        ("cost model", cost_model.rows_of_the_table),
    ]
    scale = BenchTable("Scale", ("what", "rows x features", "against", "fairpca", "ratio"))
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None)
        for name, rows in (step for step in steps if given.only in step[0]):
            progress.update(task, description=name)
            for row in rows():
                scale.rows.append(row)
                progress.update(task, description=f"{name}: {row[0]}")
    measured = how_it_was_measured("numpy", "scipy", "scikit-learn", "pyarrow", "dask")
    console.print(scale.printed())
    console.print(measured)
    if given.markdown:
        write_markdown(given.markdown, [scale], measured)


if __name__ == "__main__":
    main()
