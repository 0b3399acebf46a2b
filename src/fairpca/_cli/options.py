"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from .help_pages import COLUMNS, COMPUTE, FILES, METHOD, OUTPUT, TERMINAL
from .terminal import CommandError

Model = Annotated[Path, Argument(metavar="MODEL", help="Model file that `fairpca fit` wrote")]
Sensitive = Annotated[
    list[str] | None,
    Option(
        "--sensitive",
        "-s",
        metavar="COLUMN",
        rich_help_panel=COLUMNS,
        help="Sensitive attribute, never a feature (repeatable)",
    ),
]
Target = Annotated[
    str | None,
    Option(
        "--target",
        "-t",
        metavar="COLUMN",
        rich_help_panel=COLUMNS,
        help="Binary outcome; audits and fair PLS also take classes or a continuous target",
    ),
]
PosLabel = Annotated[
    str | None,
    Option(
        metavar="VALUE", rich_help_panel=COLUMNS, help="Value of the target: the positive class"
    ),
]
Person = Annotated[
    str | None,
    Option(
        metavar="COLUMN",
        rich_help_panel=COLUMNS,
        help="Column with the subject id, for repeated measures",
    ),
]
Weight = Annotated[
    str | None,
    Option(
        metavar="COLUMN", rich_help_panel=COLUMNS, help="Sample weights, 0 or more. Never a feature"
    ),
]
Given = Annotated[
    list[str] | None,
    Option(
        metavar="COLUMN",
        rich_help_panel=COLUMNS,
        help="Legitimate factor: compares people equal in it. Stays a feature unless ignored, too "
        "(repeatable)",
    ),
]
Ignore = Annotated[
    list[str] | None,
    Option(
        metavar="COLUMN",
        rich_help_panel=COLUMNS,
        help="Column to leave out, such as an id (repeatable)",
    ),
]
Numeric = Annotated[
    list[str] | None,
    Option(
        metavar="COLUMN",
        rich_help_panel=COLUMNS,
        help="Sensitive column, target or factor that is a quantity, such as age (repeatable)",
    ),
]
Categorical = Annotated[
    list[str] | None,
    Option(
        metavar="COLUMN",
        rich_help_panel=COLUMNS,
        help="Sensitive column, target or factor whose numbers are codes (repeatable)",
    ),
]
Vectors = Annotated[
    Path | None,
    Option(
        metavar="FILE",
        rich_help_panel=FILES,
        help="A vector per row, such as an embedding: a .npy file, with as many rows as DATA",
    ),
]
Missing = Annotated[
    list[float] | None,
    Option(
        metavar="NUMBER",
        rich_help_panel=FILES,
        help="Number that means a missing value, such as 99999 (repeatable)",
    ),
]
Scale = StrEnum("Scale", ["standard", "rank"])
Scaled = Annotated[
    Scale,
    Option(rich_help_panel=METHOD, help="Numbers standardised, or ranks (for skewed columns)"),
]
Components = Annotated[
    int | None,
    Option(min=1, rich_help_panel=METHOD, help="Number of components", show_default="at most 15"),
]
Columns = Annotated[
    str | None,
    Option(metavar="A,B,...", rich_help_panel=FILES, help="Column names of a file without header"),
]
Header = Annotated[
    bool | None,
    Option(
        "--header/--no-header",
        rich_help_panel=FILES,
        help="Whether the first line has the column names",
        show_default="auto-detected",
    ),
]
SkipLines = Annotated[
    int, Option(min=0, rich_help_panel=FILES, help="Lines to skip before the table begins")
]
Encoding = Annotated[
    str | None,
    Option(
        metavar="NAME",
        rich_help_panel=FILES,
        help="Encoding of a text file, such as cp1252 (Windows)",
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
        rich_help_panel=COMPUTE,
        help="Parallel threads or processes (also: --jobs)",
        show_default="one per core",
    ),
]
Seed = Annotated[
    int,
    Option(
        min=0, max=2**32 - 1, rich_help_panel=COMPUTE, help="The same seed gives the same numbers"
    ),
]
Out = Annotated[Path, Option("--out", "-o", rich_help_panel=OUTPUT, help="HTML report to write")]
Since = Annotated[
    Path | None,
    Option(
        metavar="FILE",
        rich_help_panel=OUTPUT,
        help="JSON file of an earlier audit: the report says what changed since, beyond chance",
    ),
]
Force = Annotated[
    bool, Option("--force", "-f", rich_help_panel=OUTPUT, help="Replace existing files")
]
AsJson = Annotated[bool, Option("--json", rich_help_panel=OUTPUT, help="Print everything as JSON")]
# Not from UNDECIDED, whose libraries take a second to load; a test compares.
Undecided = StrEnum("Undecided", {"pass_": "pass", "fail": "fail"})


def if_undecided(panel: str) -> Any:
    """Return the option for gaps of which the people are too few to say, in a panel of the help."""
    return Option(rich_help_panel=panel, help="Undecided gaps", show_default="status 3")


Quiet = Annotated[bool, Option("--quiet", "-q", rich_help_panel=TERMINAL, help="Print errors only")]


def kinds(numeric: list[str] | None, categorical: list[str] | None) -> dict[str, str]:
    """Return the declared kinds of sensitive columns and target, as they are passed on."""
    both = set(numeric or ()) & set(categorical or ())
    if both:
        raise CommandError(
            f"'{min(both)}' cannot be --numeric and --categorical. Pass one of them."
        )
    return dict.fromkeys(numeric or (), "numeric") | dict.fromkeys(categorical or (), "categorical")


def probabilities(given: list[str] | None) -> dict[str, dict[str, str]]:
    """Return columns of probabilities by attribute and group, as they are passed on."""
    found: dict[str, dict[str, str]] = {}
    for text in given or ():
        name, _, columns = text.partition("=")
        pairs = [column.partition(":") for column in columns.split(",")]
        named = [
            (group.strip(), (column if colon else group).strip()) for group, colon, column in pairs
        ]
        if not name.strip() or not all(group and column for group, column in named):
            raise CommandError(
                f"--probabilities {text} does not say which columns have the probabilities of "
                f"which attribute. Pass a name and a column for each group, such as "
                f"race=p_white,p_black or race=white:p_white,black:p_black."
            )
        if name.strip() in found or len(dict(named)) < len(named):
            raise CommandError(
                f"--probabilities {text} names an attribute or a group twice. Name each once."
            )
        found[name.strip()] = dict(named)
    return found


def reading(
    columns: str | None, header: bool | None, skip_lines: int, encoding: str | None
) -> dict[str, Any]:
    """Return how a text file is read, as it is passed on; names are separated by commas."""
    names = columns.split(",") if columns else None
    return {"columns": names, "header": header, "skip_lines": skip_lines, "encoding": encoding}
