"""The command ``fairpca-paper``: every table and figure of the paper by name."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text
from typer import Argument, BadParameter, Exit, Option

from fairpca.errors import FairPCAError

from . import experiments
from .experiments import Experiment, Key, Settings, Summary, run_experiment

ALL = "all"

LABELS = {
    "explained_variance_pct": "%Var",
    "mmd2": "MMD²",
    "kernel_svm_acc_pct": "kernel SVM %acc",
    "kernel_svm_dp": "ΔDP",
    "linear_svm_acc_pct": "linear SVM %acc",
    "linear_svm_dp": "ΔDP",
    "mlp_acc_pct": "MLP %acc",
    "mlp_dp": "ΔDP",
    "linear_probe_auc": "linear probe AUC",
    "boosting_probe_auc": "boosting AUC",
}
SECONDS = "seconds"
WIDE = 140
"""Columns of a terminal from which standard deviations find room."""

MANY = 60
"""Tables of more rows than this are for the CSV, not for the terminal."""

EPILOG = """
[bold]Examples[/bold]

  fairpca-paper --list

  fairpca-paper table-german --data DIR

  fairpca-paper --quick all --out reproduction
"""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.command(epilog=EPILOG)
def reproduce(
    names: Annotated[
        list[str] | None, Argument(help="What to reproduce; see --list. 'all' is everything.")
    ] = None,
    show: Annotated[bool, Option("--list", help="List what can be reproduced.")] = False,
    data: Annotated[
        Path | None,
        Option(
            help="Folder with the data; by default that of FAIRPCA_DATA. What is not there is "
            "downloaded where that is possible; the splits of the tables are not.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    out: Annotated[Path, Option(help="Folder for tables and figures.", file_okay=False)] = (
        Path("reproduction")
    ),
    quick: Annotated[
        bool, Option("--quick", help="A small part of everything, to see that it works.")
    ] = False,
    jobs: Annotated[
        int, Option(min=1, help="Number of processes.", show_default="all cores")
    ] = os.cpu_count() or 1,
    fresh: Annotated[
        bool, Option("--fresh", help="Forget results of earlier runs in the same folder.")
    ] = False,
    quiet: Annotated[bool, Option("--quiet", help="Print failures only.")] = False,
) -> None:
    """Reproduce tables and figures of the paper, beside what it prints.

    Each writes a tidy CSV, figures also PNG and PDF. A run that was interrupted goes on where
    it was when it is started again with the same folder.
    """
    known = experiments.EXPERIMENTS
    console = Console(quiet=quiet)
    if show:
        table = Table("name", "what", box=None, header_style="bold")
        for experiment in known.values():
            table.add_row(experiment.name, experiment.title)
        table.add_row(ALL, "all of them")
        console.print(table)
        return
    chosen = _chosen(names or [], known)
    settings = Settings(data=_data_folder(data), quick=quick)
    failed = False
    for experiment in chosen:
        if fresh:
            name = f"{experiment.name}-quick" if quick else experiment.name
            (out / "results" / f"{name}.jsonl").unlink(missing_ok=True)
        try:
            with _progress(experiment.name, quiet=quiet) as report:
                made = run_experiment(experiment, settings, out, jobs=jobs, progress=report)
        except (FairPCAError, OSError) as error:
            _complain(f"{experiment.name}: {error}")
            failed = True
            continue
        except KeyboardInterrupt:
            _complain(
                f"{experiment.name} was interrupted. What is done is kept in {out / 'results'}; "
                f"the same command goes on from there."
            )
            raise Exit(130) from None
        _print_rows(console, experiment, made.rows)
        for failure in made.failures:
            which = ", ".join(f"{name} {value}" for name, value in failure.key.items())
            _complain(f"{experiment.name} ({which}) failed: {failure.reason}")
            failed = True
        for path in made.files:
            console.print(f"[dim]wrote[/dim] {path}")
        console.print()
    if failed:
        raise Exit(1)


def _complain(text: str) -> None:
    """Print a line on standard error, in red."""
    console = Console(stderr=True, soft_wrap=True)
    console.print(" ".join(text.split()), style="red", markup=False, highlight=False)


@contextmanager
def _progress(title: str, *, quiet: bool) -> Iterator[Callable[[int, int, Key | None], None]]:
    """Give a function that shows how much is done: a bar on a terminal, lines elsewhere."""
    console = Console(stderr=True, quiet=quiet)
    bar = Progress(
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[now]}", style="dim", markup=False),
        console=console,
        transient=True,
    )
    task = bar.add_task(title, now="")
    tenths = 0

    def report(done: int, total: int, key: Key | None) -> None:
        nonlocal tenths
        if console.is_terminal:
            bar.update(task, completed=done, total=total, now=_words(key))
        elif 10 * done // max(total, 1) > tenths:
            tenths = 10 * done // total
            console.print(f"{title}: {done} of {total}, {_words(key)}", soft_wrap=True)

    with bar if console.is_terminal else nullcontext():
        yield report


def _words(key: Key | None) -> str:
    """Return the key of a task in a few words, as in 'adult k=2 PCA draw=3'."""
    return " ".join(
        str(value) if name in ("dataset", "method", "protocol") else f"{name}={value}"
        for name, value in (key or {}).items()
    )


def _data_folder(given: Path | None) -> Path | None:
    """Return an absolute folder: tasks run in processes of their own."""
    folder = given or os.environ.get("FAIRPCA_DATA")
    return Path(folder).resolve() if folder else None


def _chosen(names: list[str], known: dict[str, Experiment]) -> list[Experiment]:
    if not names:
        raise BadParameter("Name a table or figure, or 'all'; --list shows the names.")
    if ALL in names:
        return list(known.values())
    for name in names:
        if name not in known:
            near = "".join(f" Did you mean '{n}'?" for n in get_close_matches(name, known, 1))
            raise BadParameter(f"There is no '{name}'.{near} --list shows the names.")
    return [known[name] for name in dict.fromkeys(names)]


def _print_rows(console: Console, experiment: Experiment, rows: Sequence[Summary]) -> None:
    """Print one table for each data set, k and protocol: methods down, metrics across."""
    blocks: dict[tuple[str, int | None, str], list[Summary]] = {}
    for row in rows:
        blocks.setdefault((row.dataset, row.k, row.protocol), []).append(row)
    for (dataset, k, protocol), block in blocks.items():
        parts = [experiment.name, dataset, f"k = {k}" if k is not None else "", protocol]
        spread = console.width >= WIDE
        console.print(_block(" · ".join(filter(None, parts)), block, spread=spread))
    if any(row.paper_mean is not None and row.metric != SECONDS for row in rows):
        console.print(
            "[dim]Means; standard deviations are in the CSV. Against the paper: "
            "[green]=[/green] to the printed digit, [yellow]~[/yellow] within one of its "
            "standard deviations, [red]![/red] beyond (its number in brackets).[/dim]"
        )


def _block(title: str, rows: Sequence[Summary], *, spread: bool) -> Table:
    metrics = list(dict.fromkeys(row.metric for row in rows))
    places = list(dict.fromkeys((row.method, row.parameter) for row in rows))
    cells = {(row.method, row.parameter, row.metric): row for row in rows}
    with_parameter = any(parameter is not None for _, parameter in places)
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    table.add_column("method", no_wrap=True)
    if with_parameter:
        table.add_column("at", justify="right")
    for metric in metrics:
        table.add_column(LABELS.get(metric, metric.replace("_", " ")), justify="right")
    for method, parameter in places[:MANY]:
        first = [method, f"{parameter:g}" if parameter is not None else ""]
        found = [cells.get((method, parameter, metric)) for metric in metrics]
        table.add_row(*first[: 1 + with_parameter], *(_cell(row, spread=spread) for row in found))
    if len(places) > MANY:
        table.caption = f"and {len(places) - MANY} more rows in the CSV"
    return table


def _cell(row: Summary | None, *, spread: bool = True) -> Text:
    """Return the mean, and the deviation if asked, marked by how near the paper's number is."""
    if row is None:
        return Text("–", style="dim")
    digits = 3 if row.metric == "mmd2" else 2
    how = ".2g" if row.metric == SECONDS else f".{digits}f"
    text = Text(f"{row.mean:{how}}")
    if spread and row.std > 0:
        text.append(f" ±{row.std:{how}}", style="dim")
    if row.paper_mean is not None and row.metric == SECONDS:
        text.append(f" ({row.paper_mean:g})", style="dim")  # of another machine
    elif row.paper_mean is not None:
        if round(row.mean, digits) == round(row.paper_mean, digits):
            mark, style = "=", "green"
        elif abs(row.mean - row.paper_mean) <= (row.paper_std or 0.0):
            mark, style = "~", "yellow"
        else:
            mark, style = "!", "red"
        text.append(f" {mark}", style=style)
        if mark == "!":
            text.append(f" ({row.paper_mean:g})", style="dim")
    return text


def main() -> None:
    """Run the command line."""
    if hasattr(sys.stdout, "reconfigure"):  # not every console, nor every log, knows every letter
        sys.stdout.reconfigure(errors="replace")
    app()


if __name__ == "__main__":
    main()
