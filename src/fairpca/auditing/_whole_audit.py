"""The audit itself: read, divide, measure, tell."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from threading import Thread
from time import perf_counter, sleep
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from joblib import cpu_count

from .._numerics import allowed_jobs, each_in_processes, library_versions
from ..errors import AuditError, ManyLevelsWarning
from ._advice import advise, summarise
from ._asking import ask
from ._audit_result import Audit
from ._decision import Decision, decide
from ._evidence import Evidence
from ._findings import Findings
from ._judging import Round
from ._measures import (
    CURVE_MODELS,
    Measures,
    carried,
    decided_by,
    measure,
    measure_curve,
    measure_own,
)
from ._question import Question, prepare
from ._representations import PROJECTIONS, at_components, method_of, methods_for
from ._results import SCHEMA_VERSION, Advice, Carrier, Decider, Notice, Settings, Summary
from ._splits import FULL, QUICK, Effort, HeldOut, Split, halves

LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "fairlearn")

Progress = Callable[[int, int, str], None]
"""Called with the number of jobs done, the number of all, and what was done last."""

_Job = tuple[str, Split, Callable[..., Any], tuple[Any, ...]]
"""What is done, in words for people who wait; on which split; and with what else."""


AIMS = ("hide", "decide", "keep")
MODELS = ("linear", "boosting", "kernel", "any")


def audit(
    table: Any,
    sensitive: str | Sequence[str] | None = None,
    target: str | None = None,
    *,
    positive: Any = None,
    above: float | None = None,
    ignore: Sequence[str] = (),
    sensitive_kinds: Mapping[str, str] | None = None,
    scores: str | Sequence[str] = (),
    decisions: str | Sequence[str] = (),
    person: str | None = None,
    weight: str | None = None,
    n_components: int | None = None,
    aim: str | None = None,
    max_gap: float = 0.05,
    model: str = "any",
    confidence: float = 0.95,
    quick: bool = False,
    max_rows: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    data: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Measure what a table reveals about sensitive attributes, and what it costs to remove it.

    It compares the raw features, PCA, fair PCA, equal covariances, fair kernel PCA and LEACE (with
    a target, also fair PLS) on held-out rows, with confidence intervals: how well three kinds of
    probes recognise each attribute, how differently groups are distributed, and, with a target,
    how good and how unequal the decisions of models are.

    Parameters
    ----------
    table : frame, path or str
        A pandas, polars or pyarrow table; the path of a CSV, Parquet or Feather file; or the name
        of a built-in data set such as "loanapp". Columns may be messy:
        see `fairpca.tables.TableEncoder`.
    sensitive : str or sequence of str
        Columns with the sensitive attributes. They are never features. Built-in data sets know
        theirs.
    target : str, optional
        Column to be predicted: a yes or no, several classes, or a number. Without one, nothing is
        predicted.
    positive : object, optional
        The value of the target that counts as yes, and all others as no; of two values by default a
        word such as "yes", or the larger value. Blanks around it do not count; 1, "1" and 1.0 are
        one value, and so are True and "true".
    above : float, optional
        Of a target of numbers: it counts as yes where it exceeds this.
    ignore : sequence of str
        Columns to leave out, such as identifiers.
    sensitive_kinds : dict, optional
        Says of sensitive columns and of the target, by name, that they are "categorical" or
        "numeric". By default fractions are a number, which of a sensitive column is measured in two
        bands; all else are groups. Where whole numbers are many, as ages in years are, it has to be
        said: ``{"age": "numeric"}``.
    scores, decisions : str or sequence of str
        Columns with what a model that exists says of the rows: numbers that are larger where it
        would rather say yes, or a yes or no. They are audited like predictions from a
        representation, and are no features. A decision's yes is the target's where it has it, else
        as of a target.
    person : str, optional
        Column that tells whose row it is. Rows of one person are on one side of every split, and
        one of them, drawn at random, is measured. Without it, every row is a person, but for rows
        that are copies.
    weight : str, optional
        Column of numbers, 0 or more: how much each row counts, such as those of a survey.
    n_components : int, optional
        Components of all projections; by default 15, or fewer if there are fewer columns. Fair PLS
        has one, whatever is said.
    aim : {"hide", "decide", "keep"}, optional
        What the advice is for: that nobody can tell the attributes; that decisions hardly depend on
        them (the default with a target); or that all columns are kept.
    max_gap : float
        Largest difference of selection rates that "decide" accepts: below 1 a share, from 1 on in
        points, so that 0.05 and 5 are the same. Of a number it is that of mean predictions, in
        standard deviations of the target, or in hundredths of one.
    model : {"linear", "boosting", "kernel", "any"}
        The kind of model that will be fitted to the representation, which the advice is for; "any"
        asks that it holds for all three.
    confidence : float
        Level of all intervals and certificates.
    quick : bool
        Whether to use fewer rows and splits, and leave out what is recognised of intersections: a
        first look.
    max_rows : int, optional
        Of more rows, as many are drawn: 100,000, or 20,000 of a quick audit, if nothing is said.
    seed : int
        The same seed gives the same numbers.
    n_jobs : int, optional
        Number of processes; by default, and at most, one per core.
    data : path, optional
        Folder of the built-in data sets.
    progress : callable, optional
        Called with jobs done, jobs in all, and a description.

    Returns
    -------
    Audit
        Plain and JSON-able, with `Audit.to_html`, `Audit.to_json` and a view in notebooks.

    Raises
    ------
    AuditError, TableError, SingleGroupError
        If the question cannot be asked of this table; the message says what to change.

    See Also
    --------
    Audit : What it returns.
    fairpca.auditing.render_page : The page of an audit that was kept as JSON.

    Notes
    -----
    Equal means do not hide what a non-linear model can see, which is why three probes are asked.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from fairpca import audit
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"sex": rng.choice(["f", "m"], size=400)})
    >>> people["height"] = rng.normal(170, 7, size=400) + 13 * (people["sex"] == "m")
    >>> people["shoe"] = people["height"] / 4 + rng.normal(size=400)
    >>> people["age"] = rng.integers(18, 80, size=400)
    >>> found = audit(people, "sex", quick=True, n_jobs=1)
    >>> found.leakage[0].representation, found.leakage[0].probe
    ('raw', 'linear')
    >>> found.leakage[0].auc.value > 0.85
    True
    """
    start = perf_counter()
    _check_numbers(confidence, n_components, max_rows)
    max_gap, model = _as_share(max_gap), _checked_model(model)
    effort = QUICK if quick else FULL
    effort = effort if max_rows is None else replace(effort, max_rows=max_rows)
    workers = _Workers(n_jobs, progress)
    question: Question = workers.meanwhile(
        ask,
        table,
        sensitive,
        target,
        positive=positive,
        above=above,
        ignore=ignore,
        sensitive_kinds=sensitive_kinds,
        scores=scores,
        decisions=decisions,
        person=person,
        weight=weight,
        n_components=n_components,
        effort=effort,
        seed=seed,
        data=data,
    )
    effort = replace(effort, most_rounds=effort.decision_rounds(len(question.features)))
    aim = _checked_aim(aim, question.y is not None)
    findings, splits, common = _measured(question, effort, confidence, model, workers)
    settings = Settings(
        sensitive=list(question.roles.sensitive),
        target=question.roles.target,
        above=above,
        aim=aim,
        max_gap=max_gap,
        model=model,
        n_components=question.k,
        common_components=common,
        n_splits=2 * effort.n_rounds,
        n_decision_splits=2 * effort.most_rounds if question.y is not None else 0,
        n_probe_rows=effort.probe_rows,
        confidence=confidence,
        seed=seed,
        quick=quick,
        sensitive_kinds=dict(sensitive_kinds) if sensitive_kinds else None,
        scores=list(question.roles.score),
        decisions=list(question.roles.decision),
        person=person,
        weight=weight,
    )
    decision = decide(findings, settings, range(len(question.roles.sensitive)))
    versions = library_versions(LIBRARIES)
    found = Audit(
        schema_version=SCHEMA_VERSION,
        fairpca_version=versions["fairpca"],
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=0.0,
        versions=versions,
        settings=settings,
        data=question.described(),
        notices=[*question.notices, *findings.notices(), *workers.notices()],
        summary=Summary("", []),
        advice=Advice(settings.aim, decision.verdict, None, None, [], [], [], "", "", []),
        representations=findings.representations(),
        leakage=findings.leaks,
        downstream=findings.downstream(),
        curves=findings.curves(),
        certificates=findings.certificates(),
        carriers=_carriers(findings, question, splits, effort, workers),
        deciders=_deciders(findings, decision, question, splits, effort, workers),
    )
    found = replace(found, advice=advise(Evidence(found), decision))
    found = replace(found, summary=summarise(Evidence(found), decision))
    return replace(found, seconds=perf_counter() - start)


def _measured(
    question: Question, effort: Effort, confidence: float, model: str, workers: _Workers
) -> tuple[Findings, list[Split], int | None]:
    """Measure every representation on every split.

    Projections that reach more components than others are compared at the common number, too. The
    trade-off is that of a linear model, and of a kernel model if the advice is for one.
    """
    n_rounds = effort.n_rounds if question.y is None else effort.most_rounds
    splits = halves(
        question.strata, n_rounds, np.random.default_rng(question.seed), question.people
    )
    models = [m for m in CURVE_MODELS if m in ("linear", model)] if question.y is not None else []
    keys = methods_for(question.y is not None)
    workers.n_expected = len(splits) * (len(keys) + len(question.own) + len(models))

    def measured(keys: Sequence[str], splits: Sequence[Split]) -> list[Measures]:
        jobs: list[_Job] = [
            (method_of(key)[0].name, split, measure, (key, effort, confidence))
            for split in splits  # a process encodes its halves once for what follows
            for key in keys  # the raw features take longest, so they come first
        ]
        return workers.measure(question, jobs)

    first, *rest = splits
    found = measured(keys, [first])  # tells what can be fitted, with how many components
    missed = {m.key: at_components(m.key, m.n_columns) for m in found if m.missed}
    keys = [missed.get(m.key, m.key) for m in found if m.failure is None]
    workers.n_expected -= len(rest) * (len(found) - len(keys))
    found += _as_asked(measured(keys, rest), missed, question.k)
    found += workers.measure(
        question,
        [
            (one.name, split, measure_own, (one, effort, confidence))
            for split in splits
            for one in question.own
        ],
    )
    uneven = {
        key: at_components(key, fewest)
        for key in PROJECTIONS
        if len(sizes := {m.n_columns for m in found if m.key == key}) > 1 and (fewest := min(sizes))
    }
    workers.n_expected += len(uneven) * len(splits)
    found = [m for m in found if m.key not in uneven]
    found += _as_asked(measured(list(uneven.values()), splits), uneven, question.k)
    reached = {
        key: min(m.n_columns for m in found if m.key == key)
        for key in PROJECTIONS
        if not any(m.failure for m in found if m.key == key)
    }
    common = min(reached.values(), default=0)
    more = [at_components(key, common) for key, k in reached.items() if k > common]
    workers.n_expected += len(more) * len(splits)
    found += measured(more, splits)
    asked = [(split, model) for split in splits for model in models if "fair_pca" in reached]
    curves = workers.measure(
        question,
        [(f"trade-off, {model}", split, measure_curve, (model, effort)) for split, model in asked],
    )
    along = [(model, m) for (_, model), points in zip(asked, curves, strict=True) for m in points]
    people = [prepare(question, split, encoded=False) for split in splits]
    rounds = [Round(pair, effort) for pair in zip(people[0::2], people[1::2], strict=True)]
    findings = Findings(
        found,
        along,
        rounds,
        question.attributes,
        confidence,
        question.target,
        question.own,
        len(question.encoder.mean_),
    )
    return findings, splits[: effort.n_rounds], common if more else None


def _as_asked(found: Sequence[Measures], instead: Mapping[str, str], k: int) -> list[Measures]:
    """Call what was fitted with fewer components than `k` by the key that asks for all."""
    asked = {fewer: key for key, fewer in instead.items()}
    return [replace(m, key=asked[m.key], missed=k) if m.key in asked else m for m in found]


def _carriers(
    findings: Findings,
    question: Question,
    splits: Sequence[Split],
    effort: Effort,
    workers: _Workers,
) -> list[Carrier]:
    """Ask which columns carry each single attribute."""
    asked = [(split, i) for split in splits for i in range(len(question.roles.sensitive))]
    workers.n_expected += len(asked)
    jobs: list[_Job] = [("columns", split, carried, (i, effort)) for split, i in asked]
    found: dict[int, list[Any]] = {}
    for (_, i), one in zip(asked, workers.measure(question, jobs), strict=True):
        found.setdefault(i, []).append(one)
    return findings.carriers(found)


def _deciders(
    findings: Findings,
    decision: Decision,
    question: Question,
    splits: Sequence[Split],
    effort: Effort,
    workers: _Workers,
) -> list[Decider]:
    """Ask which columns decide, with the setting that is recommended, or else the raw features."""
    option = decision.chosen or decision.raw
    if option.utility_model is None:
        return []
    how = (option.representation, option.tradeoff, option.utility_model, effort)
    workers.n_expected += len(splits)
    jobs: list[_Job] = [("columns", split, decided_by, how) for split in splits]
    return findings.deciders(workers.measure(question, jobs))


def _as_share(max_gap: float) -> float:
    """Return the largest gap as a share: from 1 on it is said in points."""
    if not 0.0 <= max_gap <= 100.0:
        raise AuditError(
            f"max_gap={max_gap} is no difference of shares. Say it in points (5), or below 1 as a "
            f"share (0.05)."
        )
    return max_gap / 100 if max_gap >= 1 else max_gap


def _checked_model(model: str) -> str:
    if model not in MODELS:
        raise AuditError(f"model='{model}' is none of {', '.join(map(repr, MODELS))}.")
    return model


def _check_numbers(confidence: float, n_components: int | None, max_rows: int | None) -> None:
    if not 0.5 <= confidence < 1.0:
        raise AuditError(f"confidence={confidence} is no level; 0.95 is usual.")
    if n_components is not None and n_components < 1:
        raise AuditError(f"n_components={n_components}, but at least 1 is needed.")
    if max_rows is not None and max_rows < 100:
        raise AuditError(f"max_rows={max_rows} is too few to measure anything; take 100 or more.")


class _Workers:
    """Runs jobs in as many processes as are allowed, one per core by default.

    They start at once and import what they need while the caller reads the table.
    """

    def __init__(self, n_jobs: int | None, progress: Progress | None = None) -> None:
        self._asked, self.n_jobs = n_jobs, allowed_jobs(n_jobs, usual=cpu_count())
        self._progress = progress
        self._done, self.n_expected = 0, 0
        self._starting = Thread(target=self._start, daemon=True)
        if self.n_jobs > 1:
            self._starting.start()

    def notices(self) -> list[Notice]:
        """Return whether more processes were asked for than there are cores."""
        if self._asked is None or self._asked <= self.n_jobs:
            return []
        text = f"{self._asked:,} processes were asked for, and {self.n_jobs} started: one per core."
        return [Notice("jobs", "info", "", "", float(self.n_jobs), text)]

    def _start(self) -> None:
        list(each_in_processes(_ready, range(self.n_jobs), self.n_jobs))

    def meanwhile(self, work: Callable[..., Any], *given: Any, **options: Any) -> Any:
        """Return the result of work that is done while they start; if it fails, wait for them.

        A process whose parent ends before it has begun complains of that at length.
        """
        try:
            return work(*given, **options)
        except BaseException:
            if self.n_jobs > 1:
                self._starting.join()
            raise

    def measure(self, question: Question, jobs: Sequence[_Job]) -> list[Any]:
        """Return the results in the order of the jobs."""
        results: list[Any] = [None] * len(jobs)
        if self.n_jobs > 1:
            self._starting.join()
        given = question.without_table()
        items = ((given, *job[1:]) for job in jobs)
        for i, result in each_in_processes(_run, items, self.n_jobs):
            results[i] = result
            self._done += 1
            if self._progress is not None:
                now = f"{jobs[i][0]}, split {jobs[i][1].index + 1}"
                self._progress(self._done, self.n_expected, now)
        _encoded.clear()  # without other processes, the halves are here
        return results


def _ready(i: int) -> int:
    sleep(0.05)  # so that every process takes one of these, and imports this package for it
    return i


_encoded: dict[tuple[str, int], HeldOut] = {}  # halves that this process has measured last
_MOST_BYTES = 10**8  # of these


def _run(item: tuple[Question, Split, Callable[..., Any], tuple[Any, ...]]) -> Any:
    question, split, function, arguments = item
    key = (question.token, split.index)
    with catch_warnings():
        simplefilter("ignore", ManyLevelsWarning)  # codes of groups are meant as such
        if key not in _encoded:  # others make room first; all are about as large
            while _encoded and sum(2 * one.n_bytes for one in _encoded.values()) > _MOST_BYTES:
                del _encoded[next(iter(_encoded))]
            _encoded[key] = prepare(question, split)
        return function(_encoded[key], *arguments)


def _checked_aim(aim: str | None, has_target: bool) -> str:
    """Return the aim, or the usual one: decisions where there are some, else hiding."""
    if aim is None:
        return "decide" if has_target else "hide"
    if aim not in AIMS:
        raise AuditError(f"aim='{aim}' is none of {', '.join(map(repr, AIMS))}.")
    if aim == "decide" and not has_target:
        raise AuditError(
            "The aim 'decide' is about decisions, and no target was named. Name one, or take the "
            "aim 'hide' or 'keep'."
        )
    return aim
