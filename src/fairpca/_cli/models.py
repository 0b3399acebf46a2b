"""``fairpca fit``, ``transform``, ``inspect`` and ``export``: models on disk, and their use."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from warnings import catch_warnings, simplefilter

from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer import Argument, Option, echo

from ..errors import ManyLevelsWarning, OutlierWarning
from . import options
from .terminal import (
    Refusal,
    beside,
    check_outputs,
    files_of,
    one_clear_line,
    print_line,
    print_notices,
    printable,
    shown_progress,
    write_whole,
)

if TYPE_CHECKING:
    from ..models import FairTableTransformer


class _Method(StrEnum):
    fair_pca = "fair-pca"
    fair_pls = "fair-pls"
    fair_kernel_pca = "fair-kernel-pca"
    leace = "leace"
    pca = "pca"


class _Criterion(StrEnum):
    demographic_parity = "demographic-parity"
    equal_opportunity = "equal-opportunity"
    equalized_odds = "equalized-odds"


_Match = StrEnum("_Match", ["means", "covariances", "distributions"])
_Form = StrEnum("_Form", ["onnx", "torch"])

FIT_EXAMPLES = [
    "fairpca fit loans.csv --sensitive race --sensitive sex --target approved --out model.fairpca",
    "fairpca fit loans.csv -s race --match covariances --n-components 10 --out model.fairpca",
    "fairpca fit loans.csv -s race --target approved --method fair-pls --out model.fairpca",
    'fairpca fit "loans/*.parquet" -s race --jobs 4 --out model.fairpca',
]
TRANSFORM_EXAMPLES = [
    "fairpca transform model.fairpca new.parquet --out fair.parquet",
    "fairpca transform model.fairpca new.csv --out fair.csv --keep id",
]

LONGEST, MOST = 200, 30
"""Longer texts, and lists of more, are cut where people read them; --json has all of them."""


def fit(
    table: Annotated[
        list[str],
        Argument(
            metavar="DATA",
            help="A CSV, Parquet or Feather file, - for standard input, or a built-in name; or "
            "several files of the same columns, a pattern in quotes, or a folder.",
        ),
    ],
    out: Annotated[Path, Option("--out", "-o", help="The model; its card goes beside it.")],
    sensitive: options.Sensitive = None,
    target: options.Target = None,
    pos_label: options.PosLabel = None,
    weight: options.Weight = None,
    ignore: options.Ignore = None,
    numeric: options.Numeric = None,
    categorical: options.Categorical = None,
    method: Annotated[_Method, Option(help="What to fit.")] = _Method.fair_pca,
    match: Annotated[
        _Match | None,
        Option(
            help="What is made equal between groups: each hides from more models, and costs more.",
            show_default="means; distributions of fair-pls",
        ),
    ] = None,
    linear: Annotated[
        bool, Option("--linear", help="Fair PLS without a kernel: the model holds no rows.")
    ] = False,
    n_components: options.Components = None,
    tradeoff: Annotated[
        float, Option(min=0.0, max=1.0, help="The paper's lambda; above 0 all can be read again.")
    ] = 0.0,
    criterion: Annotated[_Criterion, Option(help="Which rows are compared.")] = (
        _Criterion.demographic_parity
    ),
    covariance_tol: Annotated[
        float | None,
        Option(
            min=0.0,
            help="Largest relative difference of covariances accepted.",
            show_default="0.05",
        ),
    ] = None,
    intersectional: Annotated[
        bool, Option("--intersectional", help="Compare joint groups.")
    ] = False,
    scale: options.Scaled = options.Scale.standard,
    missing: options.Missing = None,
    columns: options.Columns = None,
    header: options.Header = None,
    skip_lines: options.SkipLines = 0,
    encoding: options.Encoding = None,
    n_jobs: options.Jobs = None,
    seed: options.Seed = 0,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Fit a fair representation to a table and save it, preprocessing included.

    The file holds numbers and text, no code. It maps new files with `fairpca transform`, which
    needs the features only, not the sensitive columns.

    Several files, and files of more than a million rows or 500 MB, are read in batches, twice, or
    for fair PLS several times: in bounded memory, whatever their size.
    """
    with one_clear_line(), files_of(table) as files:
        from ..models import fit_table, model_card

        card = beside(out, ".md")
        given = files[0] if len(files) == 1 else files
        check_outputs(out, card, force=force, inputs=_input_files(given))
        reading = options.reading(columns, header, skip_lines, encoding)
        more: dict[str, Any] = {}
        if covariance_tol is not None:
            if match is not _Match.covariances or method is not _Method.fair_pca:
                raise Refusal("--covariance-tol is for --method fair-pca --match covariances.")
            more["covariance_tol"] = covariance_tol
        if linear:
            if method is not _Method.fair_pls:
                raise Refusal("--linear is for --method fair-pls. Leave it out.")
            more["kernel"] = None
        kinds = options.kinds(numeric, categorical)
        of_target = {name: kinds.pop(name) for name in [target] if name in kinds}
        with shown_progress(quiet=quiet) as report, catch_warnings():
            for printed_below in (ManyLevelsWarning, OutlierWarning):
                simplefilter("ignore", printed_below)
            model = fit_table(
                given,
                sensitive or None,
                target,
                method=method.replace("-", "_"),
                n_components=n_components,
                match=None if match is None else match.value,
                tradeoff=tradeoff,
                criterion=criterion.replace("-", "_"),
                pos_label=pos_label,
                ignore=ignore or (),
                weight=weight,
                sensitive_kinds=kinds,
                target_kinds=of_target,
                intersectional=intersectional,
                scale=scale.value,
                missing=missing or (),
                seed=seed,
                n_jobs=n_jobs,
                progress=report,
                reading=reading,
                **more,
            )
        model.save(out, overwrite=force)
        write_whole(card, model_card(model))
    console = Console(quiet=quiet)
    for line in _facts(model):
        console.print(Text(line))
    print_notices(console, model.info_.get("notices", []), "card")
    print_line(f"The model is in {out}, its card in {card}", quiet=quiet)


def _facts(model: FairTableTransformer) -> list[str]:
    """Return what was fitted to what, and what is left to see, a line each."""
    from ..models import who_may_see

    estimator = model.estimator_
    n_columns = len(model.get_feature_names_out())
    files = f" of {model.info_['n_files']:,} files" if model.info_.get("n_files", 1) > 1 else ""
    n_rows = model.info_["n_rows"]
    made = f"{n_columns} column{'s' if n_columns != 1 else ''}"
    lines = [f"{type(estimator).__name__}: {made} from {n_rows:,} rows{files}"]
    if dropped := model.info_.get("n_rows_dropped"):
        share = 100 * dropped / (dropped + n_rows)
        target = printable(str(model.info_["target"]))
        lines.append(f"{dropped:,} rows ({share:.1f} %) have no '{target}' and are left out")
    sampled = model.info_.get("sample_rows", n_rows)
    if sampled < n_rows:
        lines.append(f"the columns were learned from a sample of {sampled:,} of {n_rows:,} rows")
    unknown = model.info_.get("unknown_levels", {})
    if unknown:
        listed = ", ".join(f"{name} ({rows:,} rows)" for name, rows in unknown.items())
        lines.append(f"levels that were not in the sample count as unknown: {printable(listed)}")
    lines += [printable(note) for note in model.info_.get("group_notes", [])]
    compared = vars(estimator).get("criterion", "demographic_parity")
    if compared != "demographic_parity":
        target, yes = (printable(str(model.info_[name])) for name in ("target", "pos_label"))
        others = ", and among all others" if compared == "equalized_odds" else " only"
        lines.append(f"groups are compared among the rows whose {target} is {yes}{others}")
    if hasattr(estimator, "explained_variance_ratio_"):
        kept = float(sum(estimator.explained_variance_ratio_))
        lines.append(f"variance kept: {100 * kept:.1f} %")
    if hasattr(estimator, "mean_gap_"):
        gap, kinds = estimator.mean_gap_, list(estimator.groups_.values())
        if "numeric" in kinds:
            lines.append(f"largest correlation with a number left: at most {gap:.1e}")
        if any(kind != "numeric" for kind in kinds):
            lines.append(f"largest difference of group means left: {gap:.1e} standard deviations")
    if "median_gap" in model.info_:
        gap = model.info_["median_gap"]
        lines.append(f"largest distance of a group's median: {gap:.2g} of the middle half's range")
    if hasattr(estimator, "covariance_gap_"):
        gap = estimator.covariance_gap_
        lines.append(f"largest relative difference of covariances left: {gap:.2g}")
    for j, name in enumerate(vars(estimator).get("targets_", ())):
        explained = estimator.explained_targets_[:, j].tolist()
        shares = ", ".join(f"{100 * share:.1f} %" for share in explained)
        lines.append(f"share of {printable(name)} that each column explains: {shares}")
    left = who_may_see(estimator)
    if "distribution_gap_" in vars(estimator):
        gap = estimator.distribution_gap_
        among = "" if estimator.criterion == "demographic_parity" else " within classes"
        lines.append(
            f"largest difference of a group's share below a threshold left{among}: {gap:.2g}"
        )
        left = "On new rows the groups differ by more"
        if n_columns > 1:
            left = "Several columns together may still tell the groups apart"
    classes = [len(c) for c in vars(estimator).get("targets_", {}).values() if c != "numeric"]
    audited = "targets_" not in vars(estimator) or classes == [2]
    measure = (
        "run fairpca audit on the table" if audited else "measure with fairpca.metrics.leakage"
    )
    lines.append(f"{left}: {measure}.")
    return lines


def transform(
    model: options.Model,
    table: Annotated[
        str, Argument(metavar="DATA", help="CSV, Parquet or Feather file, or - for standard input.")
    ],
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
    encoding: options.Encoding = None,
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
        from ..models import FairTableTransformer, transform_file

        fitted = FairTableTransformer.load(model)
        with shown_progress(quiet=quiet) as report, files_of([table]) as (file,):
            n = transform_file(
                fitted,
                file,
                out,
                keep=keep or [],
                dtype="float64" if double else "float32",
                progress=report and (lambda done, total: report(done, total, "Rows")),
                **options.reading(columns, header, skip_lines, encoding),
            )
    print_line(f"{n:,} rows are in {out}", quiet=quiet)


def inspect(
    model: options.Model, as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False
) -> None:
    """Show what a model file says about itself, after checking that it is whole.

    Nothing in the file is executed.
    """
    with one_clear_line():
        from ..models import inspect_model

        header = inspect_model(model)
    if as_json:
        echo(json.dumps(_plain(header), indent=1, default=str))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True, max_width=40)
    table.add_column(overflow="fold")
    for name, value in header.items():
        if value not in (None, {}, []):
            for label, text in _lines(name, value):
                table.add_row(Text(printable(label)), Text(printable(text)))
    Console().print(table)


def export(
    model: options.Model,
    to: Annotated[_Form, Option("--to", help="The form.")],
    out: Annotated[
        Path | None, Option("--out", "-o", help="Where to.", show_default="beside the model")
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
        from ..models import FairTableTransformer, export_onnx, export_torch, torch_files

        path = out if out is not None else beside(model, ".onnx" if to is _Form.onnx else ".py")
        files = [path] if to is _Form.onnx else [Path(name) for name in torch_files(path)]
        check_outputs(*files, force=force, inputs=[model])
        fitted = FairTableTransformer.load(model)
        if to is _Form.onnx:
            export_onnx(fitted, path, preprocessing=preprocessing, overwrite=force)
        else:
            export_torch(fitted, path, overwrite=force)
    print_line(f"The model is in {' and '.join(map(str, files))}", quiet=quiet)


def _plain(value: Any) -> Any:
    """Return a value whose keys are texts and whose numbers are JSON's."""
    if isinstance(value, dict):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _lines(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Return what is called how, a line each; entries of a dictionary stand below it, indented."""
    if not isinstance(value, dict) or not value:
        yield name, _short(value)
        return
    yield name, "" if len(value) <= MOST else f"{len(value)} in all, the first {MOST}:"
    for key, entry in islice(value.items(), MOST):
        yield from ((f"  {label}", text) for label, text in _lines(_short(key), entry))


def _short(value: Any) -> str:
    if isinstance(value, dict):
        value = [f"{name}: {_short(entry)}" for name, entry in value.items()]
    if isinstance(value, list | tuple):
        shown = ", ".join(map(_short, value[:MOST])) or "none"
        return shown if len(value) <= MOST else f"{shown}, ... ({len(value)} in all)"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _input_files(table: Any) -> list[Path]:
    """Return the files that a table is read from; none if there is no such file."""
    from ..tables import are_many, find_files, is_on_disk

    if are_many(table):
        return find_files(table)
    return [Path(table)] if is_on_disk(table) and Path(table).is_file() else []
