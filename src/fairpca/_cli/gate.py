"""``fairpca gate``: pass or fail, beyond chance, for pipelines."""

from __future__ import annotations

import json
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option, echo

from . import options
from .help_pages import COLUMNS, OUTPUT, POLICY
from .terminal import check_outputs, files_of, one_clear_line, print_line, printable, write_whole

if TYPE_CHECKING:
    from ..auditing import Gate

EXAMPLES = [
    "fairpca gate tonight.csv --sensitive race --decision approved --max-gap 5",
    "fairpca gate tonight.parquet -s race -s sex --joint -t repaid --decision approved "
    "--metric true-positive-rate --max-gap 5",
    "fairpca gate scores.csv -s sex --score risk --threshold 0.7 --min-ratio 0.8",
    "fairpca gate audit.json --max-gap 5 --undecided pass",
    'fairpca gate tonight.csv --policy fairness.toml --junit gate.xml --summary "summary.md"',
]

# Not from METRICS, whose libraries take a second to load; a test compares.
_Metric = StrEnum(
    "_Metric",
    ["selection-rate", "true-positive-rate", "false-positive-rate", "precision"],
)


def gate(
    data: Annotated[
        str,
        Argument(
            metavar="DATA",
            help="Table with decisions or scores, as for audit; or the JSON file of an audit",
        ),
    ],
    sensitive: options.Sensitive = None,
    target: options.Target = None,
    pos_label: options.PosLabel = None,
    decision: Annotated[
        list[str] | None,
        Option(metavar="COLUMN", rich_help_panel=COLUMNS, help="Binary decisions (repeatable)"),
    ] = None,
    score: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN",
            rich_help_panel=COLUMNS,
            help="Model scores: as many of the highest are selected as are positive, or half of "
            "all without a target (repeatable)",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        Option(
            metavar="VALUE",
            rich_help_panel=COLUMNS,
            help="Instead: scores of at least this are selected",
        ),
    ] = None,
    numeric: options.Numeric = None,
    categorical: options.Categorical = None,
    person: options.Person = None,
    weight: options.Weight = None,
    max_gap: Annotated[
        float | None,
        Option(
            metavar="POINTS",
            rich_help_panel=POLICY,
            help="Limit of the gap between groups, in percentage points",
        ),
    ] = None,
    min_ratio: Annotated[
        float | None,
        Option(
            metavar="RATIO",
            rich_help_panel=POLICY,
            help="Limit of the smallest over the largest selection rate, such as 0.8",
        ),
    ] = None,
    metric: Annotated[
        list[_Metric] | None,
        Option(
            rich_help_panel=POLICY,
            help="Rate whose gap is judged (repeatable)",
            show_default="selection-rate",
        ),
    ] = None,
    joint: Annotated[
        bool | None,
        Option("--joint", rich_help_panel=POLICY, help="Also judge groups of several attributes"),
    ] = None,
    confidence: Annotated[
        float | None,
        Option(rich_help_panel=POLICY, help="Level of intervals", show_default="0.95"),
    ] = None,
    undecided: Annotated[options.Undecided | None, options.if_undecided(POLICY)] = None,
    recommended: Annotated[
        bool | None,
        Option(
            "--recommended",
            rich_help_panel=POLICY,
            help="Of an audit: judge the recommended option, not how things are",
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            rich_help_panel=POLICY,
            help="TOML file with these options, which come first",
            show_default="[tool.fairpca] of the nearest pyproject.toml",
        ),
    ] = None,
    columns: options.Columns = None,
    header: options.Header = None,
    skip_lines: options.SkipLines = 0,
    encoding: options.Encoding = None,
    junit: Annotated[
        Path | None,
        Option(metavar="FILE", rich_help_panel=OUTPUT, help="JUnit XML to write"),
    ] = None,
    summary: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            rich_help_panel=OUTPUT,
            help="File to which a Markdown table is appended, such as $GITHUB_STEP_SUMMARY",
        ),
    ] = None,
    as_json: options.AsJson = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Judge whether gaps between groups are within a limit: one line, and an exit status.

    Exit status 0: within the limit with the whole interval; 1: exceeded with the whole interval;
    3: these people are too few to say. Nothing is fitted: decisions or scores are enough.
    """
    with one_clear_line():
        from ..auditing import fraction_of, gate, nearest_policy
        from ..tables import read_table

        policy = nearest_policy(Path.cwd()) if policy is None else policy
        check_outputs(junit, force=force, inputs=[data, policy], appended=summary)
        limit = None if max_gap is None else fraction_of(max_gap, "--max-gap")
        how = options.reading(columns, header, skip_lines, encoding)
        with files_of([data]) as (file,):
            found = gate(
                file if file.endswith(".json") else read_table(file, **how),
                sensitive or None,
                target,
                decisions=decision or None,
                scores=score or None,
                threshold=threshold,
                metrics=[one.value.replace("-", "_") for one in metric] if metric else None,
                max_gap=limit,
                min_ratio=min_ratio,
                joint=joint,
                confidence=confidence,
                undecided=None if undecided is None else undecided.value,
                recommended=recommended,
                pos_label=pos_label,
                sensitive_kinds=options.kinds(numeric, categorical) or None,
                person=person,
                weight=weight,
                policy=policy,
            )
        finish(found, junit=junit, summary=summary, as_json=as_json, quiet=quiet)


def finish(
    found: Gate,
    *,
    junit: Path | None = None,
    summary: Path | None = None,
    as_json: bool = False,
    quiet: bool = False,
    stderr: bool = False,
) -> None:
    """Write and print a verdict, and exit with its status."""
    if summary is not None:
        summary.parent.mkdir(parents=True, exist_ok=True)
    with nullcontext() if summary is None else summary.open("a", encoding="utf-8") as added_to:
        if junit is not None:
            write_whole(junit, found.to_junit())
        if added_to is not None:
            added_to.write("\n".join(map(printable, found.to_markdown().split("\n"))))
    if as_json:
        echo(json.dumps(found.to_dict(), indent=1, allow_nan=False))
    else:
        print_line(str(found), quiet=quiet, stderr=stderr)
    raise Exit(found.status)
