"""``fairpca transform``, ``inspect`` and ``export``: what can be done with a saved model."""

from __future__ import annotations

import json
import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer import Argument, Option, echo

from . import options
from .failures import beside, check_outputs, one_clear_line, print_line, printable
from .progress import shown_progress

TRANSFORM_EXAMPLES = [
    "fairpca transform model.fairpca new.parquet --out fair.parquet",
    "fairpca transform model.fairpca new.csv --out fair.csv --keep id",
]

LONGEST = 200
"""Longer texts are cut where people read them; --json has all of them."""

_Form = StrEnum("_Form", ["onnx", "torch"])


def transform(
    model: options.Model,
    table: Annotated[str, Argument(metavar="DATA", help="CSV, Parquet or Feather file.")],
    out: Annotated[Path, Option("--out", "-o", help="Parquet, Feather or CSV, by its ending.")],
    keep: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN", help="Column to copy to the output, such as an id; may be repeated."
        ),
    ] = None,
    columns: options.Columns = None,
    header: options.Header = None,
    skip_lines: options.SkipLines = 0,
    double: Annotated[bool, Option("--double", help="Write float64 instead of float32.")] = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Write the fair representation of the rows of a file.

    Sensitive columns are not needed. Rows are read, mapped and written in batches, so that files
    may be larger than memory; levels that the model has not seen are treated as unknown.
    """
    with one_clear_line():
        check_outputs(out, force=force, inputs=[model, table])
        from ..models import FairModel, stream_transform

        fitted = FairModel.load(model)
        with shown_progress(quiet=quiet) as report:
            n = stream_transform(
                fitted,
                table,
                out,
                keep=keep or [],
                dtype="float64" if double else "float32",
                columns=options.names_in(columns),
                header=header,
                skip_lines=skip_lines,
                progress=report and (lambda done, total: report(done, total, "Rows")),
            )
    print_line(f"{n:,} rows are in {out}", quiet=quiet)


def inspect(
    model: options.Model,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a model file says about itself, after checking that it is whole.

    Nothing in the file is executed.
    """
    with one_clear_line():
        from ..models import read_header

        header = read_header(model)
    if as_json:
        echo(json.dumps(_plain(header), indent=1, default=str))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in header.items():
        if value not in (None, {}, []):
            table.add_row(name, Text(printable(_short(value))))
    Console().print(table)


def export(
    model: options.Model,
    to: Annotated[_Form, Option("--to", help="The form.")],
    out: Annotated[
        Path | None,
        Option("--out", "-o", help="Where to.", show_default="beside the model"),
    ] = None,
    preprocessing: Annotated[
        bool,
        Option(
            "--preprocessing/--map-only",
            help="ONNX: take the columns of the table, or numbers that are encoded already.",
        ),
    ] = True,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a model for another runtime.

    ONNX takes the columns of the table as they are (numbers and categories), or with --map-only
    encoded rows. PyTorch gets a module in a readable file and its numbers in another; it takes
    encoded rows.
    """
    with one_clear_line():
        from ..models import FairModel, export_onnx, export_torch, torch_files

        path = out if out is not None else beside(model, ".onnx" if to is _Form.onnx else ".py")
        files = [path] if to is _Form.onnx else [Path(name) for name in torch_files(path)]
        check_outputs(*files, force=force, inputs=[model])
        fitted = FairModel.load(model)
        if to is _Form.onnx:
            export_onnx(fitted, path, preprocessing=preprocessing)
        else:
            export_torch(fitted, path)
    print_line(f"The model is in {' and '.join(map(str, files))}", quiet=quiet)


def _plain(value: Any) -> Any:
    """Return a value whose keys are texts and whose numbers are JSON's."""
    if isinstance(value, dict):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_short(entry)}" for name, entry in value.items())
    if isinstance(value, list | tuple):
        shown = ", ".join(_short(entry) for entry in value[:12])
        return shown if len(value) <= 12 else f"{shown}, ... ({len(value)} in all)"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
