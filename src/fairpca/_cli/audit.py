"""``fairpca audit``: from a table on disk to evidence on a page."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer import Argument, Option, echo

from . import options
from .gate import finish
from .help_pages import COLUMNS, COMPUTE, OUTPUT, RECOMMENDATION, TERMINAL
from .terminal import (
    CommandError,
    LastStep,
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
    from ..auditing import Audit, Estimate, Leak, Overview
    from ..auditing import Option as Choice

EXAMPLES = [
    "fairpca audit   # the built-in mortgage applications",
    "fairpca audit loans.csv --sensitive race --sensitive sex --target approved",
    "fairpca audit loans.csv -s race --score risk --decision approved --fail-above 5",
    "fairpca audit wages.csv -s sex -t wage --person worker --weight w",
    "fairpca audit people.parquet -s gender --quick -o quick.html --json quick.json",
    "fairpca audit people.csv --vectors embeddings.npy -s gender -t topic",
    "fairpca audit loans.csv --probabilities race=p_white,p_black --decision approved",
    "zcat loans.csv.gz | fairpca audit - --sensitive race",
]

# Not from AIMS and PROBES, whose libraries take a second to load; tests compare.
_Aim = StrEnum("_Aim", ["hide", "decide", "keep"])
_Model = StrEnum("_Model", ["linear", "boosting", "kernel", "any"])


def audit(
    table: Annotated[
        str | None,
        Argument(
            metavar="DATA",
            help="CSV (any delimiter, also .gz), Parquet or Feather file, - for standard input, or "
            "loanapp, the built-in mortgage data",
            show_default="loanapp",
        ),
    ] = None,
    sensitive: options.Sensitive = None,
    probabilities: Annotated[
        list[str] | None,
        Option(
            metavar="A=P,Q",
            rich_help_panel=COLUMNS,
            help="Attribute of which only probabilities of groups are known, a column for each "
            "(repeatable)",
        ),
    ] = None,
    target: options.Target = None,
    pos_label: options.PosLabel = None,
    above: Annotated[
        float | None,
        Option(
            metavar="VALUE",
            rich_help_panel=COLUMNS,
            help="Continuous target: larger values are positive",
        ),
    ] = None,
    score: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN",
            rich_help_panel=COLUMNS,
            help="Scores to audit: higher is positive (repeatable)",
        ),
    ] = None,
    decision: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN",
            rich_help_panel=COLUMNS,
            help="Binary decisions to audit (repeatable)",
        ),
    ] = None,
    person: options.Person = None,
    weight: options.Weight = None,
    given: options.Given = None,
    given_by: Annotated[
        str,
        Option(
            metavar="TEXT",
            rich_help_panel=COLUMNS,
            help="Who decided that factors are legitimate, and why",
        ),
    ] = "",
    ignore: options.Ignore = None,
    numeric: options.Numeric = None,
    categorical: options.Categorical = None,
    aim: Annotated[
        _Aim | None,
        Option(
            rich_help_panel=RECOMMENDATION,
            help="What to achieve. hide: models cannot predict the attributes; decide: decisions "
            "hardly depend on them; keep: all columns stay, uncorrelated with them",
            show_default="decide with a target, else hide",
        ),
    ] = None,
    max_gap: Annotated[
        float | None,
        Option(
            metavar="POINTS",
            rich_help_panel=RECOMMENDATION,
            help="Largest accepted gap, in percentage points (continuous target: hundredths of its "
            "standard deviation)",
            show_default="--fail-above or 5",
        ),
    ] = None,
    model: Annotated[
        _Model,
        Option(
            rich_help_panel=RECOMMENDATION,
            help="Downstream model family that the recommendation is for",
        ),
    ] = _Model.any,
    confidence: Annotated[
        float,
        Option(rich_help_panel=RECOMMENDATION, help="Level of intervals and certified bounds"),
    ] = 0.95,
    fail_above: Annotated[
        float | None,
        Option(
            metavar="POINTS",
            rich_help_panel=RECOMMENDATION,
            help="Limit of gaps, and exit status as fairpca gate",
        ),
    ] = None,
    undecided: Annotated[options.Undecided | None, options.if_undecided(RECOMMENDATION)] = None,
    n_components: options.Components = None,
    scale: options.Scaled = options.Scale.standard,
    columns: options.Columns = None,
    header: options.Header = None,
    skip_lines: options.SkipLines = 0,
    encoding: options.Encoding = None,
    vectors: options.Vectors = None,
    missing: options.Missing = None,
    out: options.Out = Path("report.html"),
    json_file: Annotated[
        Path | None,
        Option(
            "--json",
            rich_help_panel=OUTPUT,
            help="All numbers as JSON; - prints nothing else",
        ),
    ] = None,
    since: options.Since = None,
    force: options.Force = False,
    title: Annotated[
        str,
        Option(
            metavar="TEXT",
            rich_help_panel=OUTPUT,
            help="Title of the report: what, where and when",
        ),
    ] = "",
    owner: Annotated[
        str,
        Option(
            metavar="TEXT",
            rich_help_panel=OUTPUT,
            help="Who is responsible for the data or the model",
        ),
    ] = "",
    note: Annotated[
        str,
        Option(
            metavar="TEXT",
            rich_help_panel=OUTPUT,
            help="Note to readers, such as source and purpose",
        ),
    ] = "",
    labels: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            rich_help_panel=OUTPUT,
            help="Readable names: a CSV of columns name and label",
        ),
    ] = None,
    alternatives: Annotated[
        bool,
        Option(
            "--alternatives",
            rich_help_panel=COMPUTE,
            help="Also measure plain alternatives, marked by whether they need the attribute to "
            "decide: no proxies, thresholds per group, fairlearn's methods",
        ),
    ] = False,
    quick: Annotated[
        bool,
        Option(
            "--quick",
            rich_help_panel=COMPUTE,
            help="A first look in seconds: fewer splits and methods, wider intervals",
        ),
    ] = False,
    max_rows: Annotated[
        int | None,
        Option(
            min=100,
            rich_help_panel=COMPUTE,
            help="Most rows",
            show_default="100,000; --quick: 20,000",
        ),
    ] = None,
    n_jobs: options.Jobs = None,
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
    verbose: Annotated[
        bool,
        Option("--verbose", "-v", rich_help_panel=TERMINAL, help="Print all findings"),
    ] = False,
) -> None:
    """Audit a table or a model: one HTML report with leakage, rates by group and a recommendation.

    Measures on held-out data how well models predict the sensitive attributes and how decisions
    differ between groups, before and after fair PCA, fair PLS and others.
    """
    with one_clear_line():
        printed = json_file == Path("-")
        json_file = None if printed else json_file
        check_outputs(out, json_file, force=force, inputs=[table, vectors, since])
        from ..auditing import ChangesInWords, audit_from_file, check_attributes, fraction_of, gate
        from ..auditing import audit as measure
        from ..tables import read_table

        earlier = None if since is None else audit_from_file(since)
        probable = options.probabilities(probabilities)
        named = [*(sensitive or ()), *probable]
        if earlier is not None and named:
            check_attributes(earlier.settings.attributes, named)  # before the work
        if undecided is not None and fail_above is None:
            raise CommandError("--undecided is about --fail-above, which is not given. Add it.")
        most = None if fail_above is None else fraction_of(fail_above, "--fail-above")
        limit = (
            (0.05 if most is None else most)
            if max_gap is None
            else fraction_of(max_gap, "--max-gap")
        )
        source, last = table or "loanapp", LastStep()
        with shown_progress("Auditing", quiet=quiet) as report:
            if report is not None:
                report(0, None, "reading " + ("standard input" if source == "-" else source))
            how = {**options.reading(columns, header, skip_lines, encoding), "vectors": vectors}
            with files_of([source]) as (file,):
                read = read_table(file, **how)
            if file != source:  # a pipe, whose copy is gone
                read = replace(read, source=source)
            found = measure(
                read,
                sensitive or None,
                target,
                pos_label=pos_label,
                above=above,
                scores=score or (),
                decisions=decision or (),
                person=person,
                weight=weight,
                given=given or (),
                given_by=given_by,
                missing=missing or (),
                scale=scale.value,
                ignore=ignore or (),
                sensitive_kinds=options.kinds(numeric, categorical),
                probabilities=probable,
                n_components=n_components,
                aim=None if aim is None else aim.value,
                max_gap=limit,
                model=model.value,
                confidence=confidence,
                max_rows=max_rows,
                alternatives=alternatives,
                quick=quick,
                seed=seed,
                n_jobs=n_jobs,
                progress=report and last.after(report),
                title=title,
                owner=owner,
                note=note,
                labels=_labels(labels),
            )
            found = found if earlier is None else found.since(earlier)
            page = found.to_html()
            last.is_done("page")
        write_whole(out, page)
        if json_file is not None:
            write_whole(json_file, found.to_json())
    if printed:
        echo(json.dumps(found.to_dict(), indent=1, allow_nan=False))  # ASCII on a terminal
    console = Console(quiet=quiet, stderr=printed)
    _print_audit(console, found, verbose=verbose)
    if found.changes is not None:
        console.print(Text(printable(ChangesInWords(found).headline()), style="bold"))
    for what, said in {"Report": out, "Numbers": json_file, "Apply": found.advice.command}.items():
        if said:
            print_line(f"{what:8}{said}", quiet=quiet, stderr=printed)
    if most is not None:
        with one_clear_line():
            judged = gate(found, max_gap=most, undecided=undecided and undecided.value)
        finish(judged, quiet=quiet, stderr=printed)


def _labels(file: Path | None) -> dict[str, str] | None:
    """Return readable names of columns from a table with the columns name and label."""
    if file is None:
        return None
    from ..tables import read_table

    frame = read_table(file).frame
    if list(frame.columns) != ["name", "label"]:
        given = ", ".join(map(str, frame.columns[:5]))
        raise CommandError(
            f"--labels {file} has the columns {given}, but needs two: name and label. Write "
            f"'name,label' into its first line."
        )
    return dict(zip(frame["name"].astype(str), frame["label"].astype(str), strict=True))


def _print_audit(console: Console, audit: Audit, *, verbose: bool) -> None:
    """Print the verdict, rates by group and the recommendation; if `verbose`, all findings, too."""
    from ..auditing import Overview

    overview = Overview(audit)
    name, state = audit.data.title or audit.data.name, overview.state
    console.print(Text(printable(f"{name}: {state[0].lower()}{state[1:]}"), style="bold"))
    console.print()
    if overview.columns():
        console.print(_rates(overview))
    else:
        console.print(_recovered(overview))
    console.print()
    if audit.settings.quick:
        said = "First look: intervals are wide. Run it without --quick before you decide."
        console.print(Text(said, style="yellow"))
    warnings = [notice.text for notice in audit.notices if notice.severity == "warning"]
    if warnings and not verbose:
        count = "1 data warning" if len(warnings) == 1 else f"{len(warnings)} data warnings"
        first = textwrap.shorten(printable(warnings[0]), 100, placeholder=" ...")
        said = f"{count} (--verbose prints them here): {first}"
        console.print(Text(said, style="yellow"))
    console.print(Text(printable(_recommended(overview)), style="bold"))
    if people := overview.people():
        console.print(Text(printable(f"Effect: {people}.")))
    if split := overview.explained(overview.today, overview.attribute):
        said = f"{split[0].upper()}{split[1:]}. {overview.decided_by()}"
        console.print(Text(printable(said)))
    for part in _alternatives(audit):
        console.print(part)
    for one in audit.representations:
        if one.failure is not None:
            said = f"! {one.name} could not be fitted: {one.failure}"
            console.print(Text(printable(said), style="yellow"))
    for attribute in audit.data.attributes:
        if attribute.note and attribute.kind != "intersection":
            console.print(Text(f"! {printable(attribute.note)}", style="yellow"))
    for whose, few, n_groups in overview.too_small():
        of = f"{len(few)} of {n_groups} groups of {overview.label(whose)}"
        said = f"Not covered: {of} (too few people)."
        console.print(Text(printable(said)))
    if verbose:
        _print_findings(console, audit)
        print_notices(console, warnings, "report")


def _rates(overview: Overview) -> Table:
    """Return rates of groups by column, gaps and ratios, accuracy and leakage."""
    shown = overview.columns()
    rates = overview.rates(overview.attribute)
    number = overview.number
    what = "Mean prediction" if number else f"{overview.selected.capitalize()} in %"
    what = f"{what} ({100 * overview.settings.confidence:g} % CI)"
    heads = [one.head.removeprefix("Model on ").removeprefix("Model with ") for one in shown]
    table = _headed(*map(printable, heads), first=what)

    def add(name: str, cells: Iterable[str], style: str = "") -> None:
        table.add_row(Text(printable(name), style=style), *(Text(c, style=style) for c in cells))

    for line in rates.groups:
        if line.compared:
            values = (_rate(rate, number=number) for rate in line.rates)
            add(f"  {line.label} ({line.n_people:,})", values)
    label = overview.label(rates.attribute)
    add(f"Largest gap by {label}", _gaps(overview, rates.gaps), "bold")
    if overview.has_limit:
        limit = f"Limit of {overview.spoken_gap(overview.settings.max_gap)}"
        add(limit, _against_limit(overview, rates.gaps), "bold")
    if any(rates.bounds):
        n_unknown = max(one.n_unknown for one in rates.bounds if one)
        probable = any(one.n_probable for one in rates.bounds if one)
        with_them = f" with {n_unknown:,} of unknown group" if n_unknown else ""
        what = f"Gap{' possible' if probable else ''}{with_them}"
        bounds = ("-" if one is None else overview.spoken_bounds(one) for one in rates.bounds)
        add(what, bounds)
    if any(rates.ratios):
        add("Four-fifths ratio", (_ratio(one) for one in rates.ratios))
    for name in overview.evidence.singles:
        if name != rates.attribute:
            gaps = _gaps(overview, overview.rates(name).gaps)
            add(f"Gap by {overview.label(name)}", gaps)
    options = [one.option for one in shown]
    if any(one is not None and one.utility for one in options):
        add(
            f"Accuracy ({'R2' if number else 'AUC'})",
            ("-" if one is None else _number(one.utility) or "-" for one in options),
        )
    leaks = [overview.leak(one) for one in options]
    if any(leaks):
        add(f"AUC for predicting {label}", ("-" if k is None else _leak(k) for k in leaks))
    return table


def _recovered(overview: Overview) -> Table:
    """Return how well each attribute is predicted, where there is no target."""
    options = [one for one in (overview.raw, overview.recommended) if one is not None]
    names = ["all columns", *(overview.evidence.spoken_option(one) for one in options[1:])]
    table = _headed(*map(printable, names), first="AUC for predicting (0.50: chance)")
    for name in overview.evidence.singles:
        leaks = [overview.leak(one, name) for one in options]
        cells = ["-" if leak is None else _leak(leak) for leak in leaks]
        table.add_row(printable(f"  {overview.label(name)}"), *cells)
    kept = [f"{100 * one.utility.value:.0f} %" if one.utility else "-" for one in options]
    table.add_row("Variance kept", *kept)
    return table


def _rate(rate: Estimate | None, *, number: bool) -> str:
    if rate is None:
        return "-"
    return f"{rate.value:.3g}" if number else f"{100 * rate.value:.0f}"


def _ratio(ratio: Estimate | None) -> str:
    return "-" if ratio is None else f"{ratio.value:.2f}{' fails' if ratio.value < 0.8 else ''}"


def _against_limit(overview: Overview, gaps: Sequence[Estimate | None]) -> Iterator[str]:
    for one, gap in zip(overview.columns(), gaps, strict=True):
        yield "-" if gap is None or one.option is None else overview.compared_to_limit(gap)


def _gaps(overview: Overview, gaps: Sequence[Estimate | None]) -> Iterator[str]:
    """Yield gaps with their intervals."""
    scale, digits = (1, 2) if overview.number else (100, 0)
    for one, gap in zip(overview.columns(), gaps, strict=True):
        if gap is None:
            yield "-"
            continue
        value, low, high = (f"{scale * x:.{digits}f}" for x in (gap.value, gap.low, gap.high))
        if one.option is None:
            yield value
        else:
            yield f"{value} ({low} to {high})"


def _leak(leak: Leak) -> str:
    return f"{leak.auc.value:.2f}{'' if leak.above_chance else ' (at chance)'}"


def _recommended(overview: Overview) -> str:
    """Return what is recommended, and how stable that is; or why nothing is."""
    option, advice = overview.recommended, overview.advice
    if option is None:
        return {
            "no action needed": "No action needed.",
            "not settled": "Nothing is recommended: these data cannot settle whether the limit is "
            "met.",
            "limit not reached": "Nothing is recommended: no tested option reaches the limit.",
            "target leak": "Nothing is recommended: a column reveals the target. Leave it out with "
            "--ignore.",
            "only measured": "Only measured: there are no features to train other models on.",
        }.get(advice.verdict, "Nothing is recommended: no tested method helps.")
    ties = f"; not significantly different: {', '.join(advice.ties)}" if advice.ties else ""
    name = overview.evidence.spoken_option(option)
    share = f"selected in {100 * option.selection_frequency:.0f} % of resamples"
    return f"Recommended: {name} ({share}{ties})."


def _print_findings(console: Console, audit: Audit) -> None:
    """Print all findings: sentences, options, leakage of every representation, reasons."""
    console.print()
    for line in _not_reached(audit):
        console.print(Text(f"! {printable(line)}", style="yellow"))
    for sentence in [audit.summary.headline, *audit.summary.sentences]:
        console.print(Text(f"• {printable(sentence)}"))
    console.print()
    for part in _options(audit):
        console.print(part)
    if audit.advice.verdict == "only measured":
        for part in _fare(audit):
            console.print(part)
    for attribute in audit.data.attributes:
        if not audit.leakage_of(attribute.name):
            continue
        console.print()
        title = f"AUC for predicting {attribute.name} on held-out data (0.50 is chance)"
        console.print(Text(printable(title), style="italic"))
        if attribute.note:
            console.print(Text(printable(attribute.note), style="yellow"))
        for part in _leakage(audit, attribute.name):
            console.print(part)
    console.print()
    for reason in audit.advice.reasons:
        console.print(Text(f"→ {printable(reason)}"))
    for caveat in audit.advice.caveats:
        console.print(Text(printable(caveat), style="italic"))


def _alternatives(audit: Audit) -> Iterator[Table | Text]:
    """Yield a table of plain alternatives, where they were asked for, and what was left out."""
    if audit.alternatives is None:
        return
    number = audit.data.target is not None and audit.data.target.kind == "number"
    measured = [one for one in audit.alternatives if one.failure is None]
    utility = "variance kept" if audit.data.target is None else "R2" if number else "AUC"
    of_gap = ["gap"] if any(one.gap for one in measured) else []
    table = _headed("needs the attribute", *of_gap, utility, "leakage", first="Alternatives")
    for one in measured:
        gap = [_gap(one.gap, in_deviations=number)][: len(of_gap)]
        needs = "yes" if one.needs_attribute else "no"
        cells = [needs, *gap, _number(one.utility), _number(one.leak)]
        table.add_row(*(Text(printable(cell)) for cell in [f"  {one.name}", *cells]))
    yield table
    reasons = {one.failure: "" for one in audit.alternatives if one.failure is not None}
    for reason in reasons:
        names = ", ".join(one.name for one in audit.alternatives if one.failure == reason)
        yield Text(printable(f"! Not measured: {names}. {reason}"), style="yellow")


def _not_reached(audit: Audit) -> Iterator[str]:
    """Yield what could not be fitted, or not with all components, and why."""
    for one in audit.representations:
        if one.failure is not None:
            yield f"{one.name} could not be fitted: {one.failure}"
        elif one.note:
            yield f"{one.name}: {one.note}"


def _options(audit: Audit) -> Iterator[Table | Text]:
    """Yield a caption, and a table of the options and of models that exist."""
    from ..metrics import PROBES

    target = audit.data.target
    number = target is not None and target.kind == "number"
    models = [probe.briefly for probe in PROBES.values()]
    named = audit.settings.model
    asked = (
        f"{', '.join(models[:-1])} and {models[-1]}" if named == "any" else PROBES[named].briefly
    )
    measured = audit.advice.verdict == "only measured"
    largest = "largest gap and leakage" if audit.downstream else "largest leakage"
    caption = f"Options: {largest} (AUC) across {asked}"
    caption = "Models and decisions in the table" if measured else caption
    if target is not None or audit.downstream:
        caption += (
            f"; gaps in {'standard deviations' if number else 'percentage points'}{_whose(audit)}"
        )
    yield Text(printable(caption), style="italic")
    utility = "variance kept" if target is None else "R2" if number else "AUC"
    leakage = "leakage"
    of_gap = (["gap"] if number else ["gap", "ratio"]) if audit.downstream else []
    heads = [*of_gap, utility, leakage] if target or not measured else [*of_gap, leakage]
    table = _headed(*heads) if measured else _headed("columns", *heads, "selected")
    own = {one.key for one in audit.representations if one.kind in ("score", "decision")}
    decided = {one.key for one in audit.representations if one.kind == "decision"}
    for option in audit.advice.options:
        points = not number or option.representation in decided  # whatever the target is
        gap = _gap(option.gap, in_deviations=not points)
        gap = f"{gap} points" if number and points else gap
        gaps = [gap, _number(option.ratio)][: len(of_gap)]
        selected = (
            "" if option.representation in own else f"{100 * option.selection_frequency:.0f} %"
        )
        useful = [_number(option.utility)] if utility in heads else []
        cells = [*gaps, *useful, _number(option.leak)]
        cells = cells if measured else [str(option.n_columns), *cells, selected]
        cells = [printable(option.name), *cells]
        style = "bold" if option is audit.advice.option else ""
        table.add_row(*(Text(cell, style=style) for cell in cells))
    yield table


def _fare(audit: Audit) -> Iterator[Table | Text]:
    """Yield rates of each group by existing models, and error rates where outcomes are known."""
    kinds = {
        **{"selection_rate": "selected", "true_positive_rate": "true pos."},
        **{"false_positive_rate": "false pos.", "precision": "precision"},
    }
    names = {one.key: one.name for one in audit.representations}
    for found, attribute in product(audit.downstream, audit.settings.attributes):
        groups = [g for p in found.parities if p.attribute == attribute for g in p.groups]
        shown = [k for k in kinds if any(getattr(group, k) is not None for group in groups)]
        if not shown:
            continue
        title = f"Rates by {attribute}, in %: {names[found.representation]}"
        yield Text(f"\n{printable(title)}", style="italic")
        table = _headed("people", *(kinds[kind] for kind in shown))
        for group in groups:
            rates = [_gap(getattr(group, kind), in_deviations=False) for kind in shown]
            label = group.label if group.compared else f"{group.label} (not compared)"
            table.add_row(printable(label), f"{group.n_rows:,}", *rates)
        yield table


def _whose(audit: Audit) -> str:
    """Return the attribute of the gaps, where that is not the same for all options."""
    found: dict[str, list[str]] = {}
    for option in audit.advice.options:
        if option.gap_attribute is not None:
            found.setdefault(f"{option.gap_attribute}{_compared(option)}", []).append(option.name)
    if len(audit.settings.attributes) == 1 and not any(map(_compared, audit.advice.options)):
        return ""
    said = [f"between the groups of {whose}" for whose in found]
    if len(found) > 1:
        said = [
            f"{', '.join(names)}: {one}" for one, names in zip(said, found.values(), strict=True)
        ]
    return f" ({'; '.join(said)})" if said else ""


def _compared(option: Choice) -> str:
    """Return how many groups the gap compares, where it leaves out some."""
    of = option.gap_groups
    if of is None or of.n_compared == of.n_groups:
        return ""
    return f", {of.n_compared} of {of.n_groups} compared"


def _headed(*heads: str, first: str = "") -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, overflow="fold")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    return table


def _gap(gap: Estimate | None, in_deviations: bool) -> str:
    if gap is None:
        return ""
    scale, digits = (1, 2) if in_deviations else (100, 1)
    value, low, high = (f"{scale * x:.{digits}f}" for x in (gap.value, gap.low, gap.high))
    return f"{value} ({low} to {high})"


def _number(number: Estimate | None) -> str:
    return "" if number is None else f"{number.value:.2f}"


def _leakage(audit: Audit, attribute: str) -> Iterator[Table | Text]:
    """Yield a table of the AUCs of probes, and what could not be fitted."""
    from ..metrics import PROBES

    heads = [probe.briefly.removesuffix(" models") for probe in PROBES.values()]
    table = _headed("columns", *heads)
    leaks = {(leak.representation, leak.probe): leak for leak in audit.leakage_of(attribute)}
    for one in audit.representations:
        cells = [_cell(leaks.get((one.key, probe))) for probe in PROBES]
        if any(cells):
            table.add_row(printable(one.name), Text(str(one.n_columns), style="dim"), *cells)
    yield table
    failed = [one.name for one in audit.representations if one.failure is not None]
    if failed:
        yield Text(f"{', '.join(failed)}: could not be fitted, for the reason above", style="dim")


def _cell(leak: Leak | None) -> Text:
    if leak is None:
        return Text("")
    text = Text(f"{leak.auc.value:.2f}", style="" if leak.above_chance else "green")
    text.append(f" ±{(leak.auc.high - leak.auc.low) / 2:.2f}", style="dim")
    return text
