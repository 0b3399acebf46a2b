"""``fairpca audit``: from a table on disk to evidence on a page."""

from __future__ import annotations

import json
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
from .terminal import (
    LastStep,
    Refusal,
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
    "fairpca audit   # the built-in loan applications",
    "fairpca audit loans.csv --sensitive race --sensitive sex --target approved",
    "zcat loans.csv.gz | fairpca audit - --sensitive race",
    "fairpca audit people.parquet -s gender --quick --out quick.html --json quick.json",
    "fairpca audit loans.csv -s race -t repaid --score risk --decision approved",
    "fairpca audit wages.csv -s sex -t wage --person worker --weight w --model boosting",
]

_FEWEST_POINTS = 0.1  # less is a fraction that was meant as such

# Not from PROBES, whose libraries take a second to load; a test compares.
_Model = StrEnum("_Model", ["linear", "boosting", "kernel", "any"])


def audit(
    table: Annotated[
        str | None,
        Argument(
            metavar="DATA",
            help="A CSV (any delimiter, .gz too), Parquet or Feather file, - for standard input, "
            "or loanapp, the built-in loan applications. Without it: those.",
        ),
    ] = None,
    sensitive: options.Sensitive = None,
    target: options.Target = None,
    pos_label: options.PosLabel = None,
    above: Annotated[
        float | None,
        Option(metavar="VALUE", help="A number as target counts as yes where it exceeds this."),
    ] = None,
    score: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN",
            help="Column with the scores of a model of your own, larger where it would rather say "
            "yes: it is audited, too; may be repeated.",
        ),
    ] = None,
    decision: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN",
            help="Column with decisions that were made, a yes or no: they are audited, too; may be "
            "repeated.",
        ),
    ] = None,
    person: Annotated[
        str | None,
        Option(
            metavar="COLUMN",
            help="Column that tells whose row it is, where people have several: these stay on one "
            "side of every split, and each person is measured once.",
        ),
    ] = None,
    weight: options.Weight = None,
    missing: options.Missing = None,
    scale: options.Scaled = options.Scale.standard,
    ignore: options.Ignore = None,
    numeric: options.Numeric = None,
    categorical: options.Categorical = None,
    out: Annotated[Path, Option("--out", "-o", help="The report.")] = Path("report.html"),
    json_file: Annotated[
        Path | None,
        Option("--json", help="All numbers as JSON, too; '-' prints them, and nothing else."),
    ] = None,
    aim: Annotated[
        str | None,
        Option(
            help="What the advice is for. 'hide': nobody can tell the attributes; 'decide': "
            "decisions hardly depend on them (the default with a target); 'keep': all columns "
            "stay, and their correlation with the attributes goes."
        ),
    ] = None,
    max_gap: Annotated[
        float,
        Option(
            metavar="POINTS",
            help="Largest gap that 'decide' accepts, in percentage points; of a number, in "
            "hundredths of its standard deviation.",
        ),
    ] = 5.0,
    model: Annotated[
        _Model, Option(help="Kind of model that the advice has to hold for; 'any': all of them.")
    ] = _Model.any,
    confidence: Annotated[float, Option(help="Level of all intervals and certificates.")] = 0.95,
    n_components: options.Components = None,
    columns: options.Columns = None,
    header: options.Header = None,
    skip_lines: options.SkipLines = 0,
    encoding: options.Encoding = None,
    max_rows: Annotated[
        int | None,
        Option(min=100, help="Rows to draw of more.", show_default="100,000; quick 20,000"),
    ] = None,
    quick: Annotated[bool, Option("--quick", help="A first look: fewer rows and splits.")] = False,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
    verbose: Annotated[
        bool, Option("--verbose", "-v", help="Print all findings, not only the summary.")
    ] = False,
    title: Annotated[
        str, Option(metavar="TEXT", help="Title of the report: what the rows are, where and when.")
    ] = "",
    owner: Annotated[
        str, Option(metavar="TEXT", help="Who answers for the data or the model.")
    ] = "",
    note: Annotated[
        str, Option(metavar="TEXT", help="What readers should know: source, purpose.")
    ] = "",
    labels: Annotated[
        Path | None,
        Option(metavar="FILE", help="Readable names of columns: a CSV file with name and label."),
    ] = None,
) -> None:
    """Ask what a table gives away about people, and what it costs to stop that.

    Measures on held-out rows how well models recognise the sensitive attributes from the other
    columns, before and after fair PCA and its relatives, what happens to decisions, and writes one
    page that you can hand to anybody. Sensitive columns never become features.
    """
    with one_clear_line():
        printed = json_file == Path("-")
        json_file = None if printed else json_file
        check_outputs(out, json_file, force=force, inputs=[table])
        from ..auditing import audit as measure
        from ..tables import read_table

        given, last = table or "loanapp", LastStep()
        with shown_progress("Auditing", quiet=quiet) as report:
            if report is not None:
                report(0, None, "reading " + ("standard input" if given == "-" else given))
            how = options.reading(columns, header, skip_lines, encoding)
            with files_of([given]) as (file,):
                read = read_table(file, **how)
            if file != given:  # a pipe, whose copy is gone
                read = replace(read, source=given)
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
                missing=missing or (),
                scale=scale.value,
                ignore=ignore or (),
                sensitive_kinds=options.kinds(numeric, categorical),
                n_components=n_components,
                aim=aim,
                max_gap=_fraction(max_gap),
                model=model.value,
                confidence=confidence,
                max_rows=max_rows,
                quick=quick,
                seed=seed,
                n_jobs=n_jobs,
                progress=report and last.after(report),
                title=title,
                owner=owner,
                note=note,
                labels=_labels(labels),
            )
            page = found.to_html()
            last.is_done("page")
        write_whole(out, page)
        if json_file is not None:
            write_whole(json_file, found.to_json())
    if printed:
        echo(json.dumps(found.to_dict(), indent=1, allow_nan=False))  # ASCII on a terminal
    console = Console(quiet=quiet, stderr=printed)
    _print_audit(console, found, verbose=verbose)
    for what, said in {"Report": out, "Numbers": json_file, "Apply": found.advice.command}.items():
        if said:
            print_line(f"{what:8}{said}", quiet=quiet, stderr=printed)


def _labels(file: Path | None) -> dict[str, str] | None:
    """Return readable names of columns from a table with the columns name and label."""
    if file is None:
        return None
    from ..tables import read_table

    frame = read_table(file).frame
    if list(frame.columns) != ["name", "label"]:
        given = ", ".join(map(str, frame.columns[:5]))
        raise Refusal(
            f"--labels {file} has the columns {given}, but needs two: name and label. Write "
            f"'name,label' into its first line."
        )
    return dict(zip(frame["name"].astype(str), frame["label"].astype(str), strict=True))


def _fraction(points: float) -> float:
    """Return the largest gap as a fraction; what looks like one is refused."""
    if 0.0 < points < _FEWEST_POINTS:
        raise Refusal(
            f"--max-gap {points:g} is in percentage points, and less than an audit can tell; as a "
            f"fraction it is {100 * points:g} points. Write --max-gap {100 * points:g}."
        )
    if not 0.0 <= points < 100.0:
        raise Refusal(f"--max-gap {points:g} is no number of percentage points from 0 to 100.")
    return points / 100


def _print_audit(console: Console, audit: Audit, *, verbose: bool) -> None:
    """Print the verdict, what groups get, and what to do; if `verbose`, all findings, too."""
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
    people = overview.people()
    if people:
        console.print(Text(printable(f"In people: {people}.")))
    console.print(Text(printable(_recommended(overview)), style="bold"))
    for one in audit.representations:
        if one.failure is not None:
            said = f"! {one.name} could not be fitted: {one.failure}"
            console.print(Text(printable(said), style="yellow"))
    for attribute in audit.data.attributes:
        if attribute.note and attribute.kind != "intersection":
            console.print(Text(f"! {printable(attribute.note)}", style="yellow"))
    for whose, few, n_groups in overview.too_small():
        said = f"Not covered: {len(few)} of {n_groups} groups of {whose} (too few people)."
        console.print(Text(printable(said)))
    warnings = [notice.text for notice in audit.notices if notice.severity == "warning"]
    if verbose:
        _print_findings(console, audit)
        print_notices(console, warnings, "report")
    elif warnings:
        count = "1 data warning" if len(warnings) == 1 else f"{len(warnings)} data warnings"
        console.print(Text(f"{count} in the report; --verbose prints them here.", style="yellow"))


def _rates(overview: Overview) -> Table:
    """Return what groups get by each column, gaps and ratio, accuracy and recovery."""
    shown = overview.columns()
    rates = overview.rates(overview.attribute)
    number = overview.number
    what = "Mean prediction" if number else f"{overview.selected.capitalize()}, of 100"
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
    """Say what is recommended, and how stable that is; or why nothing is."""
    option, advice = overview.recommended, overview.advice
    if option is None:
        return {
            "no action needed": "No action needed.",
            "not settled": "Nothing is recommended: these data cannot settle whether the limit is "
            "met.",
            "limit not reached": "Nothing is recommended: no tested option reaches the limit.",
            "target leak": "Nothing is recommended: a column reveals the target; name or ignore "
            "it.",
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


def _not_reached(audit: Audit) -> Iterator[str]:
    """Yield what could not be fitted, or not with all components, and why."""
    for one in audit.representations:
        if one.failure is not None:
            yield f"{one.name} could not be fitted: {one.failure}"
        elif one.note:
            yield f"{one.name}: {one.note}"


def _options(audit: Audit) -> Iterator[Table | Text]:
    """Yield a caption, and the settings that one may take, beside models that exist."""
    from ..metrics import PROBES

    target = audit.data.target
    number = target is not None and target.kind == "number"
    models = [probe.briefly for probe in PROBES.values()]
    named = audit.settings.model
    asked = (
        f"{', '.join(models[:-1])} and {models[-1]}" if named == "any" else PROBES[named].briefly
    )
    measured = audit.advice.verdict == "only measured"
    caption = f"What there is to choose from, by the worst of {asked}"
    caption = "What there is, by what it means for the groups" if measured else caption
    if target is not None or audit.downstream:
        caption += f"; gaps in {'standard deviations' if number else 'points'}{_whose(audit)}"
    yield Text(printable(caption), style="italic")
    utility = "variance kept" if target is None else "R2" if number else "AUC"
    of_gap = (["gap"] if number else ["gap", "ratio"]) if audit.downstream else []
    heads = [*of_gap, utility, "recognised"] if target or not measured else [*of_gap, "recognised"]
    table = _headed(*heads) if measured else _headed("columns", *heads, "taken")
    own = {one.key for one in audit.representations if one.kind in ("score", "decision")}
    decided = {one.key for one in audit.representations if one.kind == "decision"}
    for option in audit.advice.options:
        points = not number or option.representation in decided  # whatever the target is
        gap = _gap(option.gap, in_deviations=not points)
        gap = f"{gap} points" if number and points else gap
        gaps = [gap, _number(option.ratio)][: len(of_gap)]
        taken = "" if option.representation in own else f"{100 * option.selection_frequency:.0f} %"
        useful = [_number(option.utility)] if utility in heads else []
        cells = [*gaps, *useful, _number(option.leak)]
        cells = cells if measured else [str(option.n_columns), *cells, taken]
        cells = [printable(option.name), *cells]
        style = "bold" if option is audit.advice.option else ""
        table.add_row(*(Text(cell, style=style) for cell in cells))
    yield table


def _fare(audit: Audit) -> Iterator[Table | Text]:
    """Yield what each group gets from what exists, and its errors where outcomes are known."""
    kinds = {
        **{"selection_rate": "selected", "true_positive_rate": "true pos."},
        **{"false_positive_rate": "false pos.", "precision": "precision"},
    }
    names = {one.key: one.name for one in audit.representations}
    for found, attribute in product(audit.downstream, audit.settings.sensitive):
        groups = [g for p in found.parities if p.attribute == attribute for g in p.groups]
        shown = [k for k in kinds if any(getattr(group, k) is not None for group in groups)]
        if not shown:
            continue
        title = f"What the groups of {attribute} get from {names[found.representation]}, in %"
        yield Text(f"\n{printable(title)}", style="italic")
        table = _headed("people", *(kinds[kind] for kind in shown))
        for group in groups:
            rates = [_gap(getattr(group, kind), in_deviations=False) for kind in shown]
            label = group.label if group.compared else f"{group.label} (not compared)"
            table.add_row(printable(label), f"{group.n_rows:,}", *rates)
        yield table


def _whose(audit: Audit) -> str:
    """Say between whose groups gaps are, where that is not the same for all options."""
    found: dict[str, list[str]] = {}
    for option in audit.advice.options:
        if option.gap_attribute is not None:
            found.setdefault(f"{option.gap_attribute}{_compared(option)}", []).append(option.name)
    if len(audit.settings.sensitive) == 1 and not any(map(_compared, audit.advice.options)):
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
    table.add_column(first, no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right")
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
    """Yield a table of what probes recognise, and what there is nothing to say about."""
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
