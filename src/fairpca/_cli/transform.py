"""``fairpca transform``: any number of rows through a saved model, in bounded memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from .failures import check_outputs, one_clear_line, printable
from .options import Columns, Force, Header, Model, Quiet, SkipLines, names_in
from .waiting import shown_progress

EXAMPLES = """
[bold]Examples[/bold]

  fairpca transform model.fairpca new.parquet --out fair.parquet

  fairpca transform model.fairpca new.csv --out fair.csv --keep id
"""


def transform(
    model: Model,
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
    columns: Columns = None,
    header: Header = None,
    skip_lines: SkipLines = 0,
    double: Annotated[
        bool, typer.Option("--double", help="Write float64 instead of float32.")
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write the fair representation of the rows of a file.

    Sensitive columns are not needed. Rows are read, mapped and written in batches, so that files
    may be larger than memory; levels that the model has not seen are treated as unknown.
    """
    with one_clear_line():
        check_outputs(out, force=force, inputs=[model, table])
        from ..models import FairModel, stream_transform

        fitted = FairModel.load(model)
        with shown_progress("Rows", quiet=quiet) as say:
            n = stream_transform(
                fitted,
                table,
                out,
                keep=keep or [],
                dtype="float64" if double else "float32",
                columns=names_in(columns),
                header=header,
                skip_lines=skip_lines,
                progress=None if say is None else lambda done, total: say(done, total, ""),
            )
    Console(quiet=quiet).print(
        printable(f"{n:,} rows are in {out}"), soft_wrap=True, markup=False, highlight=False
    )
