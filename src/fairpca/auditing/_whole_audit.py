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
from ._audit_result import Audit
from ._evidence import Evidence
from ._findings import Findings
from ._measures import CURVE_MODELS, measure, measure_curve
from ._question import Question, ask, prepare
from ._representations import METHODS, methods_for
from ._results import SCHEMA_VERSION, Advice, Notice, Settings, Summary
from ._splits import FULL, QUICK, Effort, HeldOut, Split, halves

LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "fairlearn")

Progress = Callable[[int, int, str], None]
"""Called with the number of jobs done, the number of all, and what was done last."""

_Job = tuple[str, Callable[..., Any], tuple[Any, ...]]
"""What is done, in words for people who wait; the function, and what it is given."""


AIMS = ("hide", "decide", "keep")


def audit(
    table: Any,
    sensitive: str | Sequence[str] | None = None,
    target: str | None = None,
    *,
    positive: Any = None,
    ignore: Sequence[str] = (),
    sensitive_kinds: Mapping[str, str] | None = None,
    n_components: int | None = None,
    aim: str | None = None,
    max_gap: float = 0.05,
    confidence: float = 0.95,
    quick: bool = False,
    max_rows: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    data: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Measure what a table gives away about people, and what it costs to stop that.

    On held-out rows and with confidence intervals, for the raw features, PCA, fair PCA, equal
    covariances, fair kernel PCA and LEACE: how well three kinds of models recognise each sensitive
    attribute, how differently groups are distributed, and, with a target, the same of fair PLS, and
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
        Column to be predicted, a yes or no. Without one, decisions are not measured.
    positive : object, optional
        The value of the target that counts as yes; by default a word such as "yes", or the larger
        value. Blanks around it do not count; 1, "1" and 1.0 are one value, and so are True and
        "true".
    ignore : sequence of str
        Columns to leave out, such as identifiers.
    sensitive_kinds : dict, optional
        Says of sensitive columns, by name, that they are "categorical" or "numeric". By default
        fractions are a number, which is measured in two bands; all else are groups, and so are
        whole numbers, however many: say ``{"age": "numeric"}`` of an age in years.
    n_components : int, optional
        Components of all projections; by default 15, or fewer if there are fewer columns. Fair PLS
        has one, whatever is said.
    aim : {"hide", "decide", "keep"}, optional
        What the advice is for: that nobody can tell the attributes; that decisions hardly depend on
        them (the default with a target); or that all columns are kept.
    max_gap : float
        Largest difference of selection rates that "decide" accepts.
    confidence : float
        Level of all intervals and certificates.
    quick : bool
        Whether to use fewer rows and splits, and leave out intersections: a first look.
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
    _check_numbers(confidence, max_gap, n_components, max_rows)
    effort = QUICK if quick else FULL
    effort = effort if max_rows is None else replace(effort, max_rows=max_rows)
    workers = _Workers(n_jobs, progress)
    question = ask(
        table,
        sensitive,
        target,
        positive=positive,
        ignore=ignore,
        sensitive_kinds=sensitive_kinds,
        n_components=n_components,
        effort=effort,
        seed=seed,
        data=data,
    )
    settings = Settings(
        sensitive=list(question.roles.sensitive),
        target=question.roles.target,
        aim=_checked_aim(aim, question.y is not None),
        max_gap=max_gap,
        n_components=question.k,
        n_splits=2 * effort.n_rounds,
        n_probe_rows=effort.probe_rows,
        confidence=confidence,
        seed=seed,
        quick=quick,
        sensitive_kinds=dict(sensitive_kinds) if sensitive_kinds else None,
    )
    findings, first = _measured(question, effort, confidence, workers)
    rows, versions = first.picture_rows(effort), library_versions(LIBRARIES)
    found = Audit(
        schema_version=SCHEMA_VERSION,
        fairpca_version=versions["fairpca"],
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=perf_counter() - start,
        versions=versions,
        settings=settings,
        data=question.described(first.rows.X.shape[1]),
        notices=[*question.notices, *findings.notices(), *workers.notices()],
        summary=Summary("", []),
        advice=Advice(settings.aim, None, None, [], "", "", []),
        representations=findings.representations(),
        leakage=findings.leakage(),
        gaps=findings.gaps(),
        downstream=findings.downstream(),
        curves=findings.curves(),
        certificates=findings.certificates(),
        spectra=findings.spectra(),
        pictures=findings.pictures([codes[rows] for codes in first.codes]),
    )
    found = replace(found, advice=advise(Evidence(found)))
    return replace(found, summary=summarise(Evidence(found)))


def _measured(
    question: Question, effort: Effort, confidence: float, workers: _Workers
) -> tuple[Findings, HeldOut]:
    """Encode each half once, then measure every representation on every split."""
    splits = halves(
        question.strata, effort.n_rounds, np.random.default_rng(question.seed), question.people
    )
    models = CURVE_MODELS if question.y is not None else ()
    keys = methods_for(question.y is not None)
    workers.n_expected = len(splits) * (1 + len(keys) + len(models))
    encoded = workers.run(
        [(f"encoding, {_named(split)}", prepare, (question, split)) for split in splits]
    )
    found = workers.run(
        [
            (f"{METHODS[key].name}, {_named(e)}", measure, (e, key, effort, confidence))
            for key in keys  # the raw features take longest, so they come first
            for e in encoded
        ]
    )
    if any(m.failure is not None for m in found if m.key == "fair_pca"):
        models = ()
    curves = workers.run(
        [
            (f"trade-off, {model}, {_named(e)}", measure_curve, (e, model, effort))
            for model in models
            for e in encoded
        ]
    )
    return Findings(found, curves, question.attributes, confidence), encoded[0]


def _named(split: Split | HeldOut) -> str:
    return f"split {split.index + 1}"


def _check_numbers(
    confidence: float, max_gap: float, n_components: int | None, max_rows: int | None
) -> None:
    if not 0.5 <= confidence < 1.0:
        raise AuditError(f"confidence={confidence} is no level; 0.95 is usual.")
    if not 0.0 <= max_gap <= 1.0:
        raise AuditError(f"max_gap={max_gap} is no difference of shares; 0.05 is 5 points.")
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

    def run(self, jobs: Sequence[_Job]) -> list[Any]:
        """Return the results in the order of the jobs."""
        results: list[Any] = [None] * len(jobs)
        if self.n_jobs > 1:
            self._starting.join()
        for i, result in each_in_processes(_run, jobs, self.n_jobs):
            results[i] = result
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, self.n_expected, jobs[i][0])
        return results


def _ready(i: int) -> int:
    sleep(0.05)  # so that every process takes one of these, and imports this package for it
    return i


def _run(job: _Job) -> Any:
    _, function, arguments = job
    with catch_warnings():
        simplefilter("ignore", ManyLevelsWarning)  # codes of groups are meant as such
        return function(*arguments)


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
