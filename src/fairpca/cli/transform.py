"""``fairpca transform``: any number of rows through a saved model, in bounded memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from .failures import check_outputs, one_clear_line
from .waiting import shown_progress

EXAMPLES = """
[bold]Examples[/bold]

  fairpca transform model.fairpca new.parquet --out fair.parquet

  fairpca transform model.fairpca new.csv --out fair.csv --keep id
"""


def transform(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A model that `fairpca fit` wrote.")
    ],
    table: Annotated[str, typer.Argument(metavar="DATA", help="CSV, Parquet or Feather file.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Parquet, Feather or CSV, by its ending.")
    ],
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Column to copy to the output, such as an id; may be repeated."
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Names for the columns of a file without a header, comma-separated.",
        ),
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of the file has the names of the columns.",
            show_default="found out",
        ),
    ] = None,
    skip_lines: Annotated[
        int, typer.Option(min=0, help="Lines of the file before the table begins.")
    ] = 0,
    double: Annotated[
        bool, typer.Option("--double", help="Write float64 instead of float32.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Write the fair representation of the rows of a file.

    Sensitive columns are not needed. Rows are read, mapped and written in batches, so that files
    may be larger than memory; levels that the model has not seen are treated as unknown.
    """
    with one_clear_line():
        check_outputs(out, force=force, inputs=[model, table])
        from ..persistence import FairModel
        from ..tables import stream_transform

        fitted = FairModel.load(model)
        with shown_progress("Rows", quiet=quiet) as say:
            n = stream_transform(
                fitted,
                table,
                out,
                keep=keep or [],
                dtype="float64" if double else "float32",
                columns=columns.split(",") if columns else None,
                header=header,
                skip_lines=skip_lines,
                progress=None if say is None else lambda done, total: say(done, total, ""),
            )
    Console(quiet=quiet).print(
        f"{n:,} rows are in {out}", soft_wrap=True, markup=False, highlight=False
    )
