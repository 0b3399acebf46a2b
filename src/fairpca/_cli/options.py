"""Options that several commands share, each said once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from .terminal import Refusal

Model = Annotated[Path, Argument(metavar="MODEL", help="A model that `fairpca fit` wrote.")]
Sensitive = Annotated[
    list[str] | None,
    Option(
        "--sensitive",
        "-s",
        metavar="COLUMN",
        help="Column with a sensitive attribute; may be repeated.",
    ),
]
Target = Annotated[
    str | None,
    Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="Column with the outcome: a yes or no; to audits and fair PLS also classes, or a "
        "number. It is no feature.",
    ),
]
PosLabel = Annotated[
    str | None, Option(metavar="VALUE", help="Value of the target that counts as yes.")
]
Weight = Annotated[
    str | None,
    Option(
        metavar="COLUMN", help="Column with how much each row counts: 0 or more. It is no feature."
    ),
]
Ignore = Annotated[
    list[str] | None,
    Option(metavar="COLUMN", help="Column to leave out, such as an identifier; may be repeated."),
]
Numeric = Annotated[
    list[str] | None,
    Option(
        metavar="COLUMN",
        help="Sensitive column, or target, that is a quantity, as ages; may be repeated.",
    ),
]
Categorical = Annotated[
    list[str] | None,
    Option(
        metavar="COLUMN",
        help="Sensitive column, or target, whose numbers are codes; may be repeated.",
    ),
]
Missing = Annotated[
    list[float] | None,
    Option(
        metavar="NUMBER",
        help="Number that stands for a missing value of a feature, such as 99999; may be repeated.",
    ),
]
Scale = StrEnum("Scale", ["standard", "rank"])
Scaled = Annotated[
    Scale, Option(help="Take numbers as they are, or by their ranks: for skewed columns.")
]
Components = Annotated[
    int | None, Option(min=1, help="Number of components.", show_default="15 or fewer")
]
Columns = Annotated[
    str | None,
    Option(
        metavar="A,B,...", help="Names for the columns of a file without a header, comma-separated."
    ),
]
Header = Annotated[
    bool | None,
    Option(
        "--header/--no-header",
        help="Whether the first line of the file has the names of the columns.",
        show_default="found out",
    ),
]
SkipLines = Annotated[int, Option(min=0, help="Lines of the file before the table begins.")]
Encoding = Annotated[
    str | None,
    Option(
        metavar="NAME",
        help="Encoding of a text file, such as cp1252 of Windows.",
        show_default="utf-8",
    ),
]
Jobs = Annotated[
    int | None,
    Option(
        "--n-jobs",
        "--jobs",
        "-j",
        min=1,
        help="How many threads or processes work side by side.",
        show_default="at most one per core",
    ),
]
Seed = Annotated[int, Option(min=0, max=2**32 - 1, help="The same seed gives the same numbers.")]
Force = Annotated[bool, Option("--force", help="Replace existing files.")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Print errors only.")]


def kinds(numeric: list[str] | None, categorical: list[str] | None) -> dict[str, str]:
    """Return what sensitive columns are said to be, as it is passed on."""
    both = set(numeric or ()) & set(categorical or ())
    if both:
        raise Refusal(f"'{min(both)}' cannot be --numeric and --categorical. Say one of them.")
    return dict.fromkeys(numeric or (), "numeric") | dict.fromkeys(categorical or (), "categorical")


def reading(
    columns: str | None, header: bool | None, skip_lines: int, encoding: str | None
) -> dict[str, Any]:
    """Return how a text file is read, as it is passed on; names are divided by commas."""
    names = columns.split(",") if columns else None
    return {"columns": names, "header": header, "skip_lines": skip_lines, "encoding": encoding}
