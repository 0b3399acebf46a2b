"""What scale costs: files larger than memory, Dask, the cost model (``make bench-scale``).

Twenty minutes and 6 GB of disk at full size; ``--quick`` takes a tenth of the rows, and a word runs
a part of it. The GPU has a script of its own, ``python -m benchmarks.gpu``.
"""

import platform
from argparse import ArgumentParser
from importlib.metadata import version

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from . import cost_model, scale_dask, scale_files
from .__main__ import console, table


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="?", default="", help="part of the name of a step")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--markdown", action="store_true", help="rows for the docs")
    given = parser.parse_args()
    steps = [
        ("files", lambda: scale_files.rows_of_the_table(quick=given.quick)),
        ("dask", scale_dask.rows_of_the_table),
        ("cost model", cost_model.rows_of_the_table),
    ]
    scale = table("Scale", "what", "rows x features", "against", "fairpca", "ratio")
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=None)
        for name, rows in (step for step in steps if given.only in step[0]):
            progress.update(task, description=name)
            for row in rows():
                scale.add_row(*row)
                if given.markdown:
                    print(f"| {' | '.join(row)} |", flush=True)
                progress.update(task, description=f"{name}: {row[0]}")
    libraries = ("numpy", "scipy", "scikit-learn", "pyarrow", "dask")
    versions = ", ".join(f"{p} {version(p)}" for p in libraries)
    console.print(scale)
    console.print(f"Medians of alternating runs. Python {platform.python_version()}, {versions}.")


if __name__ == "__main__":
    main()
