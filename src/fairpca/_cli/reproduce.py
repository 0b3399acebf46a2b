"""``fairpca reproduce``: every table and figure of the paper by name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from .._attributes import did_you_mean
from ..errors import FairPCAError
from ..paper import EXPERIMENTS, Experiment, Reproduction, Settings, run_experiment
from .progress import progress_bar
from .tables import print_rows

ALL = "all"
EXAMPLES = """
[bold]Examples[/bold]

  fairpca reproduce --list

  fairpca reproduce table-german --data DIR

  fairpca reproduce --quick all --out reproduction
"""


def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(help="What to reproduce; see --list. 'all' is everything.")
    ] = None,
    show: Annotated[bool, typer.Option("--list", help="List what can be reproduced.")] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder with the data; by default that of FAIRPCA_DATA. What is not there is "
            "downloaded where that is possible; the splits of the tables are not.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for tables and figures.", file_okay=False)] = (
        Path("reproduction")
    ),
    quick: Annotated[
        bool, typer.Option("--quick", help="A small part of everything, to see that it works.")
    ] = False,
    jobs: Annotated[
        int, typer.Option(min=1, help="Number of processes.", show_default="all cores")
    ] = os.cpu_count() or 1,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Forget results of earlier runs in the same folder.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print failures only.")] = False,
) -> None:
    """Reproduce tables and figures of the paper, beside what it prints.

    Each writes a tidy CSV, figures also PNG and PDF. A run that was interrupted goes on where
    it was when it is started again with the same folder.
    """
    console = Console(quiet=quiet)
    if show:
        _print_list(console)
        return
    chosen = _chosen(names or [])
    settings = Settings(data=_data_folder(data), quick=quick)
    failed = False
    for experiment in chosen:
        if fresh:
            _forget(experiment, out, quick)
        try:
            with progress_bar(console, experiment) as progress:
                made = run_experiment(experiment, settings, out, jobs=jobs, progress=progress)
        except (FairPCAError, OSError) as error:
            _complain(f"{experiment.name}: {error}")
            failed = True
            continue
        except KeyboardInterrupt:
            _complain(
                f"{experiment.name} was interrupted. What is done is kept in {out / 'results'}; "
                f"the same command goes on from there."
            )
            raise typer.Exit(130) from None
        _report(console, experiment, made)
        failed = failed or bool(made.failures)
    if failed:
        raise typer.Exit(1)


def _data_folder(given: Path | None) -> Path | None:
    """Return an absolute folder: tasks run in processes of their own."""
    named = os.environ.get("FAIRPCA_DATA")
    folder = given if given is not None else Path(named) if named else None
    return None if folder is None else folder.resolve()


def _chosen(names: list[str]) -> list[Experiment]:
    if not names:
        raise typer.BadParameter("Name a table or figure, or 'all'; --list shows the names.")
    if ALL in names:
        return list(EXPERIMENTS.values())
    for name in names:
        if name not in EXPERIMENTS:
            raise typer.BadParameter(
                f"There is no '{name}'.{did_you_mean(name, EXPERIMENTS)} --list shows the names."
            )
    return [EXPERIMENTS[name] for name in dict.fromkeys(names)]


def _forget(experiment: Experiment, out: Path, quick: bool) -> None:
    name = f"{experiment.name}-quick" if quick else experiment.name
    (out / "results" / f"{name}.jsonl").unlink(missing_ok=True)


def _print_list(console: Console) -> None:
    table = Table("name", "what", box=None, header_style="bold")
    for experiment in EXPERIMENTS.values():
        table.add_row(experiment.name, experiment.title)
    table.add_row(ALL, "all of them")
    console.print(table)


def _report(console: Console, experiment: Experiment, made: Reproduction) -> None:
    print_rows(console, experiment, made.rows)
    for failure in made.failures:
        which = ", ".join(f"{name} {value}" for name, value in failure.key.items())
        _complain(f"{experiment.name} ({which}) failed: {failure.reason}")
    for path in made.files:
        console.print(f"[dim]wrote[/dim] {path}")
    console.print()


def _complain(text: str) -> None:
    Console(stderr=True).print(text, style="red", markup=False, highlight=False)
