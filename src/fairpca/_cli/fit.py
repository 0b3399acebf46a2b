"""``fairpca fit``: a table becomes a model on disk, with a card that says what it is."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Console
from rich.text import Text
from typer import Argument, Exit, Option

from .._numerics import whole_file
from ..metrics import percent
from . import options
from .failures import (
    INTERRUPTED,
    Refusal,
    beside,
    check_outputs,
    complain,
    one_clear_line,
    print_line,
    printable,
)
from .progress import shown_progress

if TYPE_CHECKING:
    from ..models import FairModel


class _Method(StrEnum):
    fair_pca = "fair-pca"
    fair_kernel_pca = "fair-kernel-pca"
    leace = "leace"
    pca = "pca"


class _Criterion(StrEnum):
    demographic_parity = "demographic-parity"
    equal_opportunity = "equal-opportunity"
    equalized_odds = "equalized-odds"


_Match = StrEnum("_Match", ["means", "covariances"])

EXAMPLES = [
    "fairpca fit loans.csv --sensitive race --sensitive sex --target approved --out model.fairpca",
    "fairpca fit loans.csv -s race --match covariances --n-components 10 --out model.fairpca",
    "fairpca fit 'loans/*.parquet' -s race --checkpoint loans.checkpoint --out model.fairpca",
]


def fit(
    table: Annotated[
        list[str],
        Argument(
            metavar="DATA",
            help="A CSV, Parquet or Feather file, or a built-in name; or several files of the same "
            "columns, a pattern in quotes, or a folder.",
        ),
    ],
    out: Annotated[Path, Option("--out", "-o", help="The model; its card goes beside it.")],
    sensitive: options.Sensitive = None,
    target: options.Target = None,
    positive: options.Positive = None,
    ignore: options.Ignore = None,
    method: Annotated[_Method, Option(help="What to fit.")] = _Method.fair_pca,
    match: Annotated[_Match, Option(help="What fair PCA makes equal.")] = _Match.means,
    n_components: options.Components = None,
    tradeoff: Annotated[
        float, Option(min=0.0, max=1.0, help="The paper's lambda; above 0 voids guarantees.")
    ] = 0.0,
    criterion: Annotated[_Criterion, Option(help="Which rows are compared.")] = (
        _Criterion.demographic_parity
    ),
    covariance_tol: Annotated[
        float, Option(min=0.0, help="Largest relative difference of covariances accepted.")
    ] = 0.05,
    intersectional: Annotated[
        bool, Option("--intersectional", help="Compare joint groups.")
    ] = False,
    columns: options.Columns = None,
    header: options.Header = None,
    skip_lines: options.SkipLines = 0,
    checkpoint: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Where to keep how far the work is; after an interruption the same command "
            "continues from there. Reads in batches.",
        ),
    ] = None,
    n_jobs: Annotated[
        int | None,
        Option(
            "--n-jobs",
            "--jobs",
            "-j",
            min=1,
            help="Threads that read and encode. Reads in batches.",
            show_default="one per core",
        ),
    ] = None,
    seed: options.Seed = 0,
    data: options.DataFolder = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Fit a fair representation to a table and save it, preprocessing included.

    The file holds numbers and text, no code. It maps new files with `fairpca transform`, which
    needs the features only, not the sensitive columns.

    Several files, and files of more than a million rows or 500 MB, are read in batches, twice: in
    bounded memory, whatever their size.
    """
    given = table[0] if len(table) == 1 else table
    with one_clear_line(), _can_be_continued(checkpoint):
        from ..models import fit_table, model_card
        from ..tables import input_files

        card = beside(out, ".md")
        inputs = input_files(given)
        check_outputs(out, card, force=force, inputs=inputs)
        _check_checkpoint(checkpoint, [out, card, *inputs])
        if checkpoint is not None and checkpoint.exists() and not quiet:
            print_line(f"Continuing from {checkpoint}", stderr=True)
        of_covariances = {"covariance_tol": covariance_tol} if match is _Match.covariances else {}
        with shown_progress(quiet=quiet) as report:
            model = fit_table(
                given,
                sensitive or None,
                target,
                method=method.replace("-", "_"),
                n_components=n_components,
                match=match.value,
                tradeoff=tradeoff,
                criterion=criterion.replace("-", "_"),
                positive=positive,
                ignore=ignore or (),
                intersectional=intersectional,
                seed=seed,
                data=data,
                columns=options.names_in(columns),
                header=header,
                skip_lines=skip_lines,
                checkpoint=checkpoint,
                n_jobs=n_jobs,
                progress=report,
                **of_covariances,
            )
        model.save(out)
        with whole_file(card) as draft:
            draft.write_text(model_card(model), encoding="utf-8")
    for line in _facts(model):
        Console(quiet=quiet).print(Text(line))
    print_line(f"The model is in {out}, its card in {card}", quiet=quiet)


@contextmanager
def _can_be_continued(checkpoint: Path | None) -> Iterator[None]:
    """Say that nothing is lost where an interrupted command left a checkpoint.

    A polite kill (SIGTERM, as schedulers send it) is an interruption then, too.
    """
    if checkpoint is None:
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        if not checkpoint.exists():
            raise
        complain(
            f"Interrupted; no model was written. The same command continues from {checkpoint}."
        )
        raise Exit(INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _check_checkpoint(checkpoint: Path | None, others: list[Path]) -> None:
    if checkpoint is None:
        return
    if checkpoint.is_dir():
        raise Refusal(f"{checkpoint} is a folder, but the checkpoint is a file. Add a file name.")
    if checkpoint.absolute() in [other.absolute() for other in others]:
        raise Refusal(f"{checkpoint} is also read or written. Give the checkpoint its own name.")


def _facts(model: FairModel) -> list[str]:
    """Return what was fitted to what, and what is left to see, a line each."""
    estimator = model.estimator
    n_columns = len(model.output_names)
    files = f" of {model.info['n_files']:,} files" if model.info.get("n_files", 1) > 1 else ""
    n_rows = model.info["n_rows"]
    lines = [f"{type(estimator).__name__}: {n_columns} columns from {n_rows:,} rows{files}"]
    sampled = model.info.get("sample_rows", n_rows)
    if sampled < n_rows:
        lines.append(f"the columns were learned from a sample of {sampled:,} of {n_rows:,} rows")
    unknown = model.info.get("unknown_levels", {})
    if unknown:
        listed = ", ".join(f"{name} ({rows:,} rows)" for name, rows in unknown.items())
        lines.append(f"levels that were not in the sample count as unknown: {printable(listed)}")
    lines += [printable(note) for note in model.info.get("group_notes", [])]
    if hasattr(estimator, "explained_variance_ratio_"):
        kept = float(sum(estimator.explained_variance_ratio_))
        lines.append(f"variance kept: {percent(kept)}")
    if hasattr(estimator, "mean_gap_"):
        gap = estimator.mean_gap_
        lines.append(f"largest difference of group means left: {gap:.1e} standard deviations")
    if hasattr(estimator, "covariance_gap_"):
        gap = estimator.covariance_gap_
        lines.append(f"largest relative difference of covariances left: {gap:.2g}")
    lines.append(
        "Equal means do not hide what a non-linear model can see: run fairpca audit on the table."
    )
    return lines
