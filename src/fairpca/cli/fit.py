"""``fairpca fit``: a table becomes a model on disk, with a card that says what it is."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from ..whole_files import whole_file
from .failures import check_outputs, one_clear_line
from .options import (
    Columns,
    Components,
    DataFolder,
    Force,
    Header,
    Ignore,
    Positive,
    Quiet,
    Seed,
    Sensitive,
    SkipLines,
    Target,
    names_in,
)


class Method(StrEnum):
    """What can be fitted."""

    fair_pca = "fair-pca"
    fair_kernel_pca = "fair-kernel-pca"
    leace = "leace"
    pca = "pca"


class Match(StrEnum):
    """What fair PCA makes equal."""

    means = "means"
    covariances = "covariances"


class Criterion(StrEnum):
    """Which rows are compared."""

    demographic_parity = "demographic-parity"
    equal_opportunity = "equal-opportunity"
    equalized_odds = "equalized-odds"


EXAMPLES = """
[bold]Examples[/bold]

  fairpca fit loans.csv --sensitive race --sensitive sex --target approved --out model.fairpca

  fairpca fit loans.csv -s race --match covariances --n-components 10 --out model.fairpca
"""


def fit(
    table: Annotated[
        str,
        typer.Argument(metavar="DATA", help="A CSV, Parquet or Feather file, or a built-in name."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model; its card goes beside it.")],
    sensitive: Sensitive = None,
    target: Target = None,
    positive: Positive = None,
    ignore: Ignore = None,
    method: Annotated[Method, typer.Option(help="What to fit.")] = Method.fair_pca,
    match: Annotated[Match, typer.Option(help="What fair PCA makes equal.")] = Match.means,
    n_components: Components = None,
    tradeoff: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="The paper's lambda; above 0 voids guarantees.")
    ] = 0.0,
    criterion: Annotated[Criterion, typer.Option(help="Which rows are compared.")] = (
        Criterion.demographic_parity
    ),
    covariance_tol: Annotated[
        float, typer.Option(min=0.0, help="Largest relative difference of covariances accepted.")
    ] = 0.05,
    intersectional: Annotated[
        bool, typer.Option("--intersectional", help="Compare joint groups.")
    ] = False,
    columns: Columns = None,
    header: Header = None,
    skip_lines: SkipLines = 0,
    seed: Seed = 0,
    data: DataFolder = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Fit a fair representation to a table and save it, preprocessing included.

    The file holds numbers and text, no code. It maps new files with `fairpca transform`, which
    needs the features only, not the sensitive columns.
    """
    card = out.with_suffix(".md")
    console = Console(quiet=quiet)
    with one_clear_line():
        check_outputs(out, card, force=force, inputs=[table])
        from ..auditing import fit_table
        from ..persistence import model_card
        from ..tables import read_table

        read = read_table(
            table,
            data=data,
            columns=names_in(columns),
            header=header,
            skip_lines=skip_lines,
        )
        options: dict[str, Any] = {}
        if match is Match.covariances:
            options["covariance_tol"] = covariance_tol
        model = fit_table(
            read,
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
            **options,
        )
        model.save(out)
        with whole_file(card) as draft:
            draft.write_text(model_card(model), encoding="utf-8")
    for line in _facts(model):
        console.print(Text(line))
    console.print(
        f"The model is in {out}, its card in {card}", soft_wrap=True, markup=False, highlight=False
    )


def _facts(model) -> list[str]:  # type: ignore[no-untyped-def]
    estimator = model.estimator
    n_columns = len(model.output_names)
    lines = [f"{type(estimator).__name__}: {n_columns} columns from {model.info['n_rows']:,} rows"]
    if hasattr(estimator, "explained_variance_ratio_"):
        kept = float(sum(estimator.explained_variance_ratio_))
        lines.append(f"variance kept: {kept:.1%}")
    if hasattr(estimator, "mean_gap_"):
        gap = estimator.mean_gap_
        lines.append(f"largest difference of group means left: {gap:.1e} standard deviations")
    if hasattr(estimator, "covariance_gap_"):
        lines.append(f"largest relative difference of covariances left: {gap_text(estimator)}")
    lines.append(
        "Equal means do not hide what a non-linear model can see: run fairpca audit on the table."
    )
    return lines


def gap_text(estimator) -> str:  # type: ignore[no-untyped-def]
    """Return the covariance gap in two digits."""
    return f"{estimator.covariance_gap_:.2g}"
