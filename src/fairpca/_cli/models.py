"""``fairpca fit``, ``transform``, ``inspect`` and ``export``: models on disk, and their use."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from warnings import catch_warnings, simplefilter

from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer import Argument, Option, echo

from ..errors import ManyLevelsWarning, ModelFileError, OutlierWarning
from . import options
from .help_pages import METHOD, OUTPUT
from .terminal import (
    CommandError,
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
    "fairpca fit loans.csv -s race -s sex --target approved --out model.fairpca",
    "fairpca fit loans.csv -s race --match covariances -o model.fairpca",
    "fairpca fit loans.csv -s race -t approved --method fair-pls -o model.fairpca",
    'fairpca fit "loans/*.parquet" -s race -j 4 -o model.fairpca',
    "fairpca fit people.csv --vectors embeddings.npy -s gender -o model.fairpca",
]
TRANSFORM_EXAMPLES = [
    "fairpca transform model.fairpca new.parquet --out fair.parquet",
    "fairpca transform model.fairpca new.csv --out fair.csv --keep id",
    "fairpca transform model.fairpca embeddings.npy --out fair.npy",
]

LONGEST, MOST = 200, 30
"""Longer texts and lists are cut on a terminal; --json has all of them."""


def fit(
    table: Annotated[
        list[str],
        Argument(
            metavar="DATA",
            help="CSV, Parquet or Feather file, - for standard input, or a built-in name such as "
            "loanapp; also several files of the same columns, a pattern in quotes, or a folder",
        ),
    ],
    out: Annotated[
        Path,
        Option(
            "--out", "-o", rich_help_panel=OUTPUT, help="Model file; its card is written beside it"
        ),
    ],
    sensitive: options.Sensitive = None,
    target: options.Target = None,
    pos_label: options.PosLabel = None,
    weight: options.Weight = None,
    given: options.Given = None,
    ignore: options.Ignore = None,
    numeric: options.Numeric = None,
    categorical: options.Categorical = None,
    method: Annotated[_Method, Option(rich_help_panel=METHOD, help="Method to fit")] = (
        _Method.fair_pca
    ),
    match: Annotated[
        _Match | None,
        Option(
            rich_help_panel=METHOD,
            help="What is equalized across groups; distributions as nearly as data allow",
            show_default="means; with fair-pls distributions",
        ),
    ] = None,
    n_components: options.Components = None,
    criterion: Annotated[
        _Criterion,
        Option(rich_help_panel=METHOD, help="Compare all rows, or rows of the same outcome"),
    ] = _Criterion.demographic_parity,
    intersectional: Annotated[
        bool,
        Option(
            "--intersectional", rich_help_panel=METHOD, help="Compare joint groups: race and sex"
        ),
    ] = False,
    scale: options.Scaled = options.Scale.standard,
    linear: Annotated[
        bool,
        Option(
            "--linear",
            rich_help_panel=METHOD,
            help="Fair PLS without a kernel: no training data in the model file",
        ),
    ] = False,
    covariance_tol: Annotated[
        float | None,
        Option(
            min=0.0,
            rich_help_panel=METHOD,
            help="Largest accepted relative difference of covariances",
            show_default="0.05",
        ),
    ] = None,
    tradeoff: Annotated[
        float,
        Option(
            min=0.0,
            max=1.0,
            rich_help_panel=METHOD,
            help="Weight of the unprotected components; any value above 0 removes the protection",
        ),
    ] = 0.0,
    columns: options.Columns = None,
    header: options.Header = None,
    skip_lines: options.SkipLines = 0,
    encoding: options.Encoding = None,
    vectors: options.Vectors = None,
    missing: options.Missing = None,
    moments: Annotated[
        bool,
        Option(
            "--moments",
            rich_help_panel=OUTPUT,
            help="Keep sums over each group in the file, so that partial_fit can continue",
        ),
    ] = False,
    force: options.Force = False,
    n_jobs: options.Jobs = None,
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
) -> None:
    """Fit a fair representation to a table and save it, preprocessing included.

    The file holds numbers and text, no code. `fairpca transform` applies it to new data, which
    need no sensitive columns.

    Several files, and files of more than a million rows or 500 MB, are read in batches, in bounded
    memory.
    """
    with one_clear_line(), files_of(table) as files:
        from ..models import fit_table, model_card

        card = beside(out, ".md")
        source = files[0] if len(files) == 1 else files
        check_outputs(out, card, force=force, inputs=[*_input_files(source), vectors])
        reading = options.reading(columns, header, skip_lines, encoding)
        more: dict[str, Any] = {}
        if covariance_tol is not None:
            if match is not _Match.covariances or method is not _Method.fair_pca:
                raise CommandError("--covariance-tol is for --method fair-pca --match covariances.")
            more["covariance_tol"] = covariance_tol
        if linear:
            if method is not _Method.fair_pls:
                raise CommandError("--linear is for --method fair-pls. Leave it out.")
            more["kernel"] = None
        kinds = options.kinds(numeric, categorical)
        of_target = {name: kinds.pop(name) for name in [target] if name in kinds}
        with shown_progress(quiet=quiet) as report, catch_warnings():
            for printed_below in (ManyLevelsWarning, OutlierWarning):
                simplefilter("ignore", printed_below)
            model = fit_table(
                source,
                sensitive or None,
                target,
                method=method.replace("-", "_"),
                n_components=n_components,
                match=None if match is None else match.value,
                tradeoff=tradeoff,
                criterion=criterion.replace("-", "_"),
                pos_label=pos_label,
                given=given or (),
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
                vectors=vectors,
                **more,
            )
        model.save(out, moments=moments, overwrite=force)
        write_whole(card, model_card(model))
    console = Console(quiet=quiet)
    for line in _facts(model):
        console.print(Text(line))
    if n_kept := _training_rows_in(model):
        which = " (none with --linear)" if method is _Method.fair_pls else ""
        line = f"! {n_kept:,} rows of the training data are in the model file{which}: protect it"
        print_line(line, quiet=quiet, style="yellow")
    print_notices(console, model.info_.get("notices", []), "card")
    print_line(f"The model is in {out}, its card in {card}", quiet=quiet)


def _facts(model: FairTableTransformer) -> list[str]:
    """Return what was fitted to which data, and what is left of the groups, a line each."""
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
        lines.append(
            f"columns and levels are learned from a sample of {sampled:,} of {n_rows:,} rows"
        )
    unknown = model.info_.get("unknown_levels", {})
    if unknown:
        listed = ", ".join(f"{name} ({rows:,} rows)" for name, rows in unknown.items())
        lines.append(f"categories not in the sample count as unknown: {printable(listed)}")
    lines += [printable(note) for note in model.info_.get("group_notes", [])]
    compared = vars(estimator).get("criterion", "demographic_parity")
    if compared != "demographic_parity":
        target, yes = (printable(str(model.info_[name])) for name in ("target", "pos_label"))
        others = ", and among all others" if compared == "equalized_odds" else " only"
        lines.append(f"groups are compared among the rows whose {target} is {yes}{others}")
    if factors := model.info_.get("given"):
        lines.append(f"groups are compared among people with equal {printable(', '.join(factors))}")
    if hasattr(estimator, "explained_variance_ratio_"):
        kept = float(sum(estimator.explained_variance_ratio_))
        lines.append(f"variance kept: {100 * kept:.1f} %")
    if hasattr(estimator, "mean_gap_"):
        gap, kinds = estimator.mean_gap_, list(estimator.groups_.values())
        if "numeric" in kinds:
            lines.append(f"largest correlation left with a numeric attribute: at most {gap:.1e}")
        if any(kind != "numeric" for kind in kinds):
            lines.append(f"largest difference of group means left: {gap:.1e} standard deviations")
    if "median_gap" in model.info_:
        gap = model.info_["median_gap"]
        lines.append(f"largest distance of a group's median: {gap:.2g} interquartile ranges")
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
        lines.append(f"largest gap at any threshold on the training data{among}: {gap:.2g}")
        left = "On new data the groups differ by more"
        if n_columns > 1:
            left = "Several columns together may still reveal the group"
    classes = [len(c) for c in vars(estimator).get("targets_", {}).values() if c != "numeric"]
    audited = "targets_" not in vars(estimator) or classes == [2]
    measure = (
        "run fairpca audit on the table" if audited else "measure with fairpca.metrics.leakage"
    )
    lines.append(f"{left}: {measure}.")
    return lines


def _training_rows_in(model: FairTableTransformer) -> int:
    """Return how many rows of the training data the file holds, for a kernel to compare with."""
    from .._kernels import KernelColumns

    features = getattr(model._map, "features", None)
    features = getattr(features, "columns", features)  # of rows beside kernel values
    return features.n_features if isinstance(features, KernelColumns) else 0


def transform(
    model: options.Model,
    table: Annotated[
        str,
        Argument(
            metavar="DATA",
            help="CSV, Parquet or Feather file, - for standard input, or a .npy file of vectors",
        ),
    ],
    out: Annotated[
        Path,
        Option(
            "--out",
            "-o",
            rich_help_panel=OUTPUT,
            help="File ending in .parquet, .feather, .csv or .npy",
        ),
    ],
    keep: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN",
            rich_help_panel=OUTPUT,
            help="Column to copy to the output, such as an id (repeatable)",
        ),
    ] = None,
    double: Annotated[
        bool, Option("--double", rich_help_panel=OUTPUT, help="Write float64 instead of float32")
    ] = False,
    force: options.Force = False,
    columns: options.Columns = None,
    header: options.Header = None,
    skip_lines: options.SkipLines = 0,
    encoding: options.Encoding = None,
    vectors: options.Vectors = None,
    quiet: options.Quiet = False,
) -> None:
    """Write the fair representation of the rows of a file.

    Sensitive columns are not needed. Files may be larger than memory. Unseen categories are treated
    as unknown.
    """
    with one_clear_line(), _of_the_command_line():
        check_outputs(out, force=force, inputs=[model, table, vectors])
        from ..models import FairTableTransformer, transform_file

        fitted = FairTableTransformer.load(model)
        with shown_progress(quiet=quiet) as report, files_of([table]) as (file,):
            n = transform_file(
                fitted,
                file,
                out,
                keep=keep or [],
                dtype="float64" if double else "float32",
                vectors=vectors,
                progress=report and (lambda done, total: report(done, total, "Rows")),
                **options.reading(columns, header, skip_lines, encoding),
            )
    print_line(f"{n:,} rows are in {out}", quiet=quiet)


def inspect(
    model: options.Model,
    everything: Annotated[
        bool,
        Option(
            "--all", rich_help_panel=OUTPUT, help="Print parameters, versions and fingerprints, too"
        ),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Show what a model file says about itself, after checking that it is intact.

    Nothing in the file is executed.
    """
    with one_clear_line(), _of_the_command_line():
        from ..models import inspect_model

        header = inspect_model(model)
    if as_json:
        echo(json.dumps(_plain(header), indent=1, default=str))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True, max_width=40)
    table.add_column(overflow="fold")
    for label, text in _everything(header) if everything else _in_brief(header):
        table.add_row(Text(printable(label)), Text(printable(text)))
    Console().print(table)


def export(
    model: options.Model,
    to: Annotated[_Form, Option("--to", rich_help_panel=OUTPUT, help="Format to write")],
    out: Annotated[
        Path | None,
        Option(
            "--out",
            "-o",
            rich_help_panel=OUTPUT,
            help="File to write",
            show_default="beside the model",
        ),
    ] = None,
    preprocessing: Annotated[
        bool,
        Option(
            "--preprocessing/--map-only",
            rich_help_panel=OUTPUT,
            help="ONNX: take columns of the table, or encoded numbers",
            show_default="--preprocessing",
        ),
    ] = True,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a model for another runtime: ONNX or PyTorch.

    ONNX takes the columns of the table (numbers and categories), or with --map-only encoded rows.
    PyTorch takes encoded rows; it gets a readable module and a file with its numbers.
    """
    with one_clear_line(), _of_the_command_line():
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


@contextmanager
def _of_the_command_line() -> Iterator[None]:
    """Name the command that writes model files where the library names its function."""
    try:
        yield
    except ModelFileError as error:
        error.args = (str(error).replace("fairpca.save", "`fairpca fit`"),)
        raise


def _in_brief(header: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what people ask first of a model: about ten lines."""
    info, parameters = header["info"], header["parameters"]
    said = [f"{name} {_short(parameters[name])}" for name in MAIN if parameters.get(name)]
    said = [one for one in said if one != "criterion demographic_parity"]  # the usual one
    yield "method", ", ".join([str(header["class"]), *said])
    n_rows, n_features = header["n_rows"], header["n_features"]
    rows = f", {n_rows:,} rows" if isinstance(n_rows, int) else ""
    yield "trained on", f"{_short(info.get('data', 'not recorded'))}{rows}, {n_features} features"
    counts = info.get("groups")
    for name, levels in header["groups"].items():
        counted = counts.get(name) if isinstance(counts, dict) else None
        yield f"sensitive {name}", _short(counted if isinstance(counted, dict) else levels)
    if info.get("target") is not None:
        positive = f" (positive class: {_short(info['pos_label'])})" if "pos_label" in info else ""
        yield "target", f"{_short(info['target'])}{positive}"
    if isinstance(factors := info.get("given"), dict) and factors:
        yield "given", _short(list(factors))
    notices = info.get("notices")
    if isinstance(notices, list) and notices:
        yield "data warnings", f"{len(notices)}, printed by --all"
    versions = header["versions"]
    by = f" by fairpca {_short(versions['fairpca'])}" if isinstance(versions, dict) else ""
    yield "written", f"{_short(header['created'])}{by}"
    yield "sha256", _short(header["sha256"])
    yield "", "intact; --all prints parameters, versions and fingerprints"


MAIN = ("match", "kernel", "criterion", "tradeoff")
"""Parameters that change what a model protects."""

UNUSED = {
    "linear": {"coef0", "degree", "gamma"},
    "cosine": {"coef0", "degree", "gamma"},
    "rbf": {"coef0", "degree"},
    "laplacian": {"coef0", "degree"},
    "sigmoid": {"degree"},
}
"""Parameters that a kernel does not have."""


def _everything(header: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield all that a model file says, each fact once."""
    shown, info = dict(header), header["info"]
    if info.get("fingerprint") == header["fingerprint"]:
        del shown["fingerprint"]
    if isinstance(info.get("groups"), dict) and info["groups"].keys() == header["groups"].keys():
        del shown["groups"]
    if info.get("n_rows") == header["n_rows"]:
        del shown["n_rows"]
    kernel = header["parameters"].get("kernel", ...)
    unused = UNUSED.get(kernel, set()) if isinstance(kernel, str) else set()
    unused = unused if kernel is not None else UNUSED["linear"] | {"n_landmarks"}
    shown["parameters"] = {k: v for k, v in header["parameters"].items() if k not in unused}
    for name, value in shown.items():
        if value not in (None, {}, []):
            yield from _lines(name, value)


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
