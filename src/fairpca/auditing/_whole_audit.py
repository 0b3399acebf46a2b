"""The audit itself: read, divide, measure, tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from joblib import cpu_count

from .._files import library_versions
from .._numerics import allowed_jobs, each_in_processes
from ..errors import AuditError, ManyLevelsWarning, OutlierWarning
from ..metrics import PROBES
from ..tables import TableEncoder
from ._advice import advise, summarise
from ._alternatives import ALTERNATIVES, measure_alternative, settings_of, told_alternatives
from ._asking import ask
from ._audit_result import Audit
from ._decision import Decision, decide, withheld
from ._evidence import Evidence, telling_columns
from ._few_people import price_of_few_people
from ._findings import Findings
from ._judging import Round
from ._measures import (
    CURVE_MODELS,
    Measures,
    carried,
    decided_by,
    measure,
    measure_curve,
    measure_existing,
    measure_factors,
    measure_given,
)
from ._phrases import joined
from ._policy import check_fraction
from ._question import Question, all_rows, prepare
from ._representations import METHODS, PROJECTIONS, name_of
from ._results import (
    EXISTING,
    SCHEMA_VERSION,
    Advice,
    Alternative,
    Data,
    DecisionImportance,
    Leak,
    Notice,
    ProxyImportance,
    Setting,
    Settings,
    Summary,
    Target,
)
from ._splits import FULL, QUICK, Effort, HeldOut, Split, halves

LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas")

Progress = Callable[[int, int, str], None]
"""Called with the number of jobs done, the number of all, and what was done last."""

_Job = tuple[str, Split, Callable[..., Any], tuple[Any, ...]]
"""What is done, in words for people who wait; on which split; and with what else."""


AIMS = ("hide", "decide", "keep")
MODELS = (*PROBES, "any")


def audit(
    table: Any,
    sensitive: str | Sequence[str] | None = None,
    target: str | None = None,
    *,
    pos_label: Any = None,
    above: float | None = None,
    ignore: Sequence[str] = (),
    sensitive_kinds: Mapping[str, str] | None = None,
    probabilities: Mapping[str, Sequence[str] | Mapping[str, str]] | None = None,
    scores: str | Sequence[str] = (),
    decisions: str | Sequence[str] = (),
    person: str | None = None,
    weight: str | None = None,
    given: str | Sequence[str] = (),
    given_by: str = "",
    missing: Sequence[float] = (),
    scale: str = "standard",
    n_components: int | None = None,
    aim: str | None = None,
    max_gap: float = 0.05,
    model: str = "any",
    confidence: float = 0.95,
    alternatives: bool = False,
    quick: bool = False,
    max_rows: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    title: str = "",
    owner: str = "",
    note: str = "",
    labels: Mapping[str, str] | None = None,
    vectors: Any = None,
) -> Audit:
    """Measure what a table reveals about sensitive attributes, and what it costs to remove it.

    It compares the raw features, PCA, fair PCA (with equal means, covariances or distributions),
    fair kernel PCA, LEACE and, with a target, fair PLS on held-out data, with confidence intervals:
    how well three probes predict each attribute and, with a target, how accurate and how unequal
    the decisions of downstream models are.

    Parameters
    ----------
    table : frame, result of a query, path or str
        A pandas, polars or pyarrow table; a relation of DuckDB, a lazy frame of polars, or a reader
        or data set of Arrow, whose rows are collected; the path of a CSV, Parquet or Feather file;
        or the name "loanapp" of the built-in loan applications. Columns may be messy:
        see `fairpca.tables.TableEncoder`.
    sensitive : str or sequence of str
        Columns with the sensitive attributes. They are never features. Built-in data sets know
        theirs.
    target : str, optional
        Column to predict: binary, several classes, or continuous. Without one, only leakage is
        measured.
    pos_label : object, default=None
        Positive class of the target. By default, of two values, one such as "yes" or "hired", else
        the larger one, with a warning. Case, surrounding blanks and a final dot do not matter; 1,
        "1" and 1.0 are equal, as are True and "true".
    above : float, optional
        Makes a numeric target binary: positive where it exceeds this.
    ignore : sequence of str
        Columns to leave out, such as identifiers.
    sensitive_kinds : dict, optional
        "categorical" or "numeric", by name of a sensitive column, the target or a factor. By
        default floats
        are numeric (a numeric sensitive column is split into two bands), and all else is
        categorical. Integers with many values, such as ages, need it: ``{"age": "numeric"}``.
    probabilities : dict, optional
        Columns with the probability of each group, by the name of an attribute of which nobody's
        group is known, such as ``{"race": ["p_white", "p_black"]}``, or with names of the groups
        ``{"race": {"white": "p_white", "black": "p_black"}}``. They are never features; those of a
        row add up to 1, or are all missing. Everybody counts in every group by the probability, as
        in `fairpca.metrics.proxy_difference`, and gaps come with bounds.
        :doc:`/howto/missing_attributes`
    scores, decisions : str or sequence of str
        Columns with the scores (larger means more likely positive) or the binary decisions of an
        existing model. They are audited like predictions, and are not features: a table with them
        needs no other column. A decision's positive class is the target's if it has that value,
        else found as for a target. Of a score without a binary target, the higher half counts as
        selected.
    person : str, optional
        Column with subject ids (repeated measures). All rows of a person stay on one side of every
        split, and one of them, drawn at random, is measured. Without it, every row is a person,
        except for duplicates.
    weight : str, optional
        Column of non-negative sample weights, such as those of a survey.
    given : str or sequence of str
        Columns of legitimate factors, such as a degree: every gap by a sensitive attribute is split
        into what they explain and what they do not (conditional demographic parity). They stay
        features unless they are ignored, too. The limit is about the whole gap.
    given_by : str, default=""
        Who decided that these factors are legitimate, and why. Without it, the report says that
        nobody is named.
    missing : sequence of float
        Numbers of features that stand for missing values, such as 99999.
    scale : {"standard", "rank"}
        "rank" replaces numeric features by their ranks: for skewed columns.
    n_components : int, optional
        Components of all projections; by default 15, or fewer if there are fewer columns. Fair PLS
        always has one.
    aim : {"hide", "decide", "keep"}, optional
        Goal of the recommendation: hide the attributes; make decisions hardly depend on them (the
        default with a target); or keep all columns.
    max_gap : float
        Limit of "decide": the largest difference of selection rates, as a fraction (0.05 is five
        percentage points); of a continuous target, of mean predictions in its standard deviations.
    model : {"linear", "boosting", "kernel", "any"}
        Model family that will be fitted to the representation; with "any", the recommendation
        holds for all of them.
    confidence : float
        Level of all intervals and certificates.
    alternatives : bool
        Also measure plain alternatives, each with whether it needs the attribute to decide: the
        features without proxies, thresholds per group and, with the extra ``parity``, fairlearn's
        `CorrelationRemover` and `ExponentiatedGradient`. None of them is recommended.
    quick : bool
        A first look in seconds, with wide intervals: fewer rows and splits, no matched covariances
        or distributions, no comparison at equal numbers of components, and no leakage of
        intersections.
    max_rows : int, optional
        Of more rows, this many are drawn; by default 100,000, or 20,000 with `quick`.
    seed : int
        The same seed gives the same numbers.
    n_jobs : int, optional
        Number of processes; by default, and at most, one per core.
    progress : callable, optional
        Called with jobs done, jobs in all, and a description.
    title : str, default=""
        What the rows are, where and when they were collected: the title of the report.
    owner : str, default=""
        Who answers for the data or the model.
    note : str, default=""
        What readers of the report should know: source, purpose, who is missing.
    labels : dict of str to str, optional
        Readable names of columns, by name: ``{"loanprc": "loan-to-price ratio"}``.
    vectors : path or array-like of shape (n_samples, n_dimensions), default=None
        A vector for each row of the table, such as an embedding, beside its other features: a file
        that `numpy.save` wrote, or an array. A column of vectors in the table needs no option.

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
    Audit.from_json : An audit that was kept as JSON.

    Notes
    -----
    A representation may be at chance for a linear model and not for others, so three probes are
    used; `fairpca.metrics.leakage` with ``probe="strong"`` uses more.

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
    _check_arguments(confidence, n_components, max_rows, max_gap, model)
    effort = QUICK if quick else FULL
    effort = effort if max_rows is None else replace(effort, max_rows=max_rows)
    n_started = allowed_jobs(n_jobs, usual=cpu_count())
    question = ask(
        table,
        sensitive,
        target,
        pos_label=pos_label,
        above=above,
        ignore=ignore,
        sensitive_kinds=sensitive_kinds,
        probabilities=probabilities,
        scores=scores,
        decisions=decisions,
        person=person,
        weight=weight,
        given=given,
        encoder=TableEncoder(scale=scale, missing=missing),
        n_components=n_components,
        effort=effort,
        seed=seed,
        vectors=vectors,
    )
    if given_by and question.given is None:
        raise AuditError(
            f"given_by={given_by!r} says who decided on legitimate factors, but none was named. "
            f"Name them (given=..., on the command line --given), or leave it out."
        )
    data = _described(question, title, owner, note, labels)
    by_rows = max(effort.least_rounds, effort.many_rows // len(question.features))
    effort = replace(effort, most_rounds=min(effort.most_rounds, by_rows))
    if not question.roles.features:  # nothing is fitted, so one round says all
        effort = replace(effort, n_rounds=1, most_rounds=1)
    if alternatives and not question.roles.features:
        raise AuditError(
            "alternatives=True, but there is no feature to train other models on. Leave it out, or "
            "give a table with features."
        )
    aim = _checked_aim(aim, question.y is not None or not question.roles.features)
    plain = settings_of(question.target) if alternatives else []
    work = _Work(question, effort, confidence, n_started, progress, plain)
    findings, common = _measured(work, model)
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
        missing=list(missing),
        scale=scale,
        alternatives=alternatives,
        given=None if question.given is None else list(question.given),
        given_by=given_by,
        probabilities=question.probabilities or None,
    )
    decision = decide(findings, settings, range(len(question.singles)))
    notices = [
        *question.notices,
        *findings.notices(),
        *findings.few_people,
        *_too_many_jobs(n_jobs, n_started),
    ]
    if telling_columns(notices, settings.target):
        decision = withheld(decision) if aim == "decide" and decision.n_settings else decision
    else:
        notices += _told_together(decision, question.target)
    versions = library_versions((*LIBRARIES, "fairlearn") if alternatives else LIBRARIES)
    found = Audit(
        schema_version=SCHEMA_VERSION,
        fairpca_version=versions["fairpca"],
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=0.0,
        versions=versions,
        settings=settings,
        data=data,
        notices=notices,
        summary=Summary("", []),
        advice=Advice(settings.aim, decision.verdict, None, None, [], [], [], "", "", []),
        representations=findings.representations,
        leakage=findings.leaks,
        downstream=findings.downstream(),
        curves=findings.curves(),
        certificates=findings.certificates(),
        proxy_importance=_proxy_importance(findings, work),
        decision_importance=_decision_importance(findings, decision, work),
        alternatives=_alternatives(work, findings, settings) if alternatives else None,
        factors=_proxies_among_factors(work, findings),
        leakage_given=_leakage_given(work, findings, decision),
    )
    found = replace(found, advice=advise(Evidence(found), decision))
    found = replace(found, summary=summarise(Evidence(found), decision))
    work.finish("summary")
    return replace(found, seconds=perf_counter() - start)


def _described(
    question: Question, title: str, owner: str, note: str, labels: Mapping[str, str] | None
) -> Data:
    """Return the table with what its people say about it; labels of no column are rejected."""
    data = question.described()
    known = {*question.table.frame, *question.probabilities}
    unknown = [name for name in labels or {} if name not in known]
    if unknown:
        raise AuditError(
            f"labels names {joined(list(map(repr, unknown[:5])))}, but the table has no such "
            f"column. It has: {', '.join(map(repr, question.table.frame.columns[:20]))}."
        )
    named = {**(data.labels or {}), **(labels or {})}
    return replace(data, title=title or data.title, owner=owner, note=note, labels=named or None)


class _Work:
    """What is done on the halves of a question: jobs in processes, and how many there will be.

    Steps that are sure to come are counted before they begin.
    """

    def __init__(
        self,
        question: Question,
        effort: Effort,
        confidence: float,
        n_jobs: int,
        progress: Progress | None,
        plain: Sequence[Setting] = (),
    ) -> None:
        self.question, self.effort, self.confidence = question, effort, confidence
        self._n_jobs, self._progress, self.plain = n_jobs, progress, plain
        has_target = question.y is not None
        n_rounds = effort.most_rounds if has_target else effort.n_rounds
        rng = np.random.default_rng(question.seed)
        self.splits = halves(question.strata, n_rounds, rng, question.people)
        possible = [
            Setting(name)
            for name, method in METHODS.items()
            if (has_target or not method.for_target) and (effort.searched or not method.searched)
        ]
        self.settings = possible if question.roles.features else []
        n, further = len(self.settings), len(self.splits) - 1
        self._n_done = 0
        self._n_expected = {"first split": n, "other splits": n * further}
        self._n_expected["existing models"] = 2 * effort.n_rounds * len(question.existing)
        self._n_expected["trade-off"] = len(self.splits) * has_target
        self._n_expected["alternatives"] = len(self.splits) * len(plain)
        factors = question.given is not None
        n_probed = min(2 * effort.n_rounds, len(self.splits))
        self._n_expected["factors"] = n_probed * factors
        within = factors and effort.joint and bool(question.roles.features)
        self._n_expected["given"] = n_probed * within
        if question.roles.features:
            n_rounds = min(effort.n_rounds, len(self.splits))
            self._n_expected["proxies"] = n_rounds * len(question.singles)
            self._n_expected["decisions"] = n_rounds * has_target
        self._n_expected["summary"] = 1

    def run(self, step: str, jobs: Sequence[_Job]) -> list[Any]:
        """Return the results of a step in the order of its jobs, and tell who waits."""
        self._n_expected[step] = len(jobs)
        results: list[Any] = [None] * len(jobs)
        given = self.question.without_table()
        items = ((given, *job[1:]) for job in jobs)
        for i, result in each_in_processes(_run, items, self._n_jobs):
            results[i] = result
            self._n_done += 1
            if self._progress is not None:
                now = f"{jobs[i][0]}, split {jobs[i][1].index + 1}"
                self._progress(self._n_done, sum(self._n_expected.values()), now)
        _encoded.clear()  # without other processes, the halves are here
        return results

    def finish(self, step: str) -> None:
        """Tell that the last step is done, and with it all."""
        self._n_done += 1
        if self._progress is not None:
            self._progress(self._n_done, self._n_done, step)

    def measure(
        self, step: str, settings: Sequence[Setting], splits: Sequence[Split]
    ) -> list[Measures]:
        """Return what settings show on splits."""
        how = self.effort, self.confidence
        jobs: list[_Job] = [
            (name_of(one), split, measure, (one, *how))
            for split in splits  # a process encodes its halves once for what follows
            for one in settings  # the raw features take longest, so they come first
        ]
        return self.run(step, jobs)


def _measured(work: _Work, model: str) -> tuple[Findings, int | None]:
    """Measure every representation on every split, and what exists.

    Projections that reach more components than others are compared at the common number, too: it
    is returned where there are any.
    """
    found = [*_on_every_split(work), *_existing(work)]
    smaller, common = _at_common_components(work, found)
    along = _along_the_tradeoff(work, found, model)
    question, people = (
        work.question,
        [prepare(work.question, s, encoded=False) for s in work.splits],
    )
    findings = Findings(
        [*found, *smaller],
        along,
        [Round(pair, work.effort) for pair in zip(people[0::2], people[1::2], strict=True)],
        question.attributes,
        work.confidence,
        question.target,
        question.everybody.existing,
        all_rows(question, len(people) // 2) if question.existing else [],
        question.n_encoded,
    )
    findings.leaks, findings.few_people = price_of_few_people(
        findings.leaks,
        people[:2],
        question.attributes,
        max((m.rank for m in found), default=0),
        {one.key: one.n_columns or 0 for one in findings.representations},
        work.effort,
    )
    return findings, common


def _on_every_split(work: _Work) -> list[Measures]:
    """Measure all methods: the first split tells which can be fitted, with how many components."""
    found = work.measure("first split", work.settings, work.splits[:1])
    fewer = {m.setting: replace(m.setting, n_components=m.n_columns) for m in found if m.missed}
    settings = [fewer.get(m.setting, m.setting) for m in found if m.failure is None]
    others = work.measure("other splits", settings, work.splits[1:])
    found += _as_asked(others, fewer, work.question.k)
    uneven = {
        one: replace(one, n_components=min(sizes))
        for one in map(Setting, PROJECTIONS)
        if len(sizes := {m.n_columns for m in found if m.setting == one}) > 1 and min(sizes)
    }
    again = work.measure("fewer components", list(uneven.values()), work.splits)
    even = [m for m in found if m.setting not in uneven]
    return [*even, *_as_asked(again, uneven, work.question.k)]


def _as_asked(
    found: Sequence[Measures], instead: Mapping[Setting, Setting], k: int
) -> list[Measures]:
    """Call what was fitted with fewer components than `k` by the setting that asks for all."""
    asked = {fewer: one for one, fewer in instead.items()}
    return [
        replace(m, setting=asked[m.setting], missed=k) if m.setting in asked else m for m in found
    ]


def _existing(work: _Work) -> list[Measures]:
    """Measure scores and decisions that exist."""
    jobs: list[_Job] = [
        (name_of(one.setting), split, measure_existing, (one, work.effort))
        for split in work.splits[: 2 * work.effort.n_rounds]
        for one in work.question.existing
    ]
    return work.run("existing models", jobs)


def _at_common_components(
    work: _Work, found: Sequence[Measures]
) -> tuple[list[Measures], int | None]:
    """Measure projections at the number of components that all reach, where some reach more."""
    reached = _reached(found) if work.effort.common else {}
    common = min(reached.values(), default=0)
    more = [replace(one, n_components=common) for one, k in reached.items() if k > common]
    return work.measure("common components", more, work.splits), common if more else None


def _reached(found: Sequence[Measures]) -> dict[Setting, int]:
    """Return how many components each projection has on every split, without those that failed."""
    return {
        one: min(m.n_columns for m in found if m.setting == one)
        for one in map(Setting, PROJECTIONS)
        if (of := [m for m in found if m.setting == one]) and not any(m.failure for m in of)
    }


def _along_the_tradeoff(
    work: _Work, found: Sequence[Measures], model: str
) -> list[tuple[str, Measures]]:
    """Predict at every lambda, with a linear model, and a kernel model if that is asked for."""
    possible = work.question.y is not None and Setting("fair_pca") in _reached(found)
    models = [m for m in CURVE_MODELS if m in ("linear", model)] if possible else []
    asked = [(split, m) for split in work.splits for m in models]
    curves = work.run(
        "trade-off",
        [(f"trade-off, {m}", split, measure_curve, (m, work.effort)) for split, m in asked],
    )
    return [(m, one) for (_, m), points in zip(asked, curves, strict=True) for one in points]


def _alternatives(work: _Work, findings: Findings, settings: Settings) -> list[Alternative]:
    """Measure plain alternatives on the same splits, and judge them on the same people."""
    question, how = work.question, (work.effort, work.confidence)
    jobs: list[_Job] = [
        (ALTERNATIVES[one.method].name, split, measure_alternative, (one, *how))
        for split in work.splits
        for one in work.plain
    ]
    found = Findings(
        work.run("alternatives", jobs),
        [],
        findings.rounds,
        question.attributes,
        work.confidence,
        question.target,
        [],
    )
    return told_alternatives(found, settings, [one.name for one in question.singles])


def _proxies_among_factors(work: _Work, findings: Findings) -> list[Leak] | None:
    """Measure what legitimate factors alone tell of each attribute, as of a representation."""
    question = work.question
    if question.given is None:
        return None
    factors = TableEncoder().fit(question.given).transform(question.given)
    jobs: list[_Job] = [
        ("factors", split, measure_factors, (factors, work.effort))
        for split in work.splits[: 2 * work.effort.n_rounds]
    ]
    measured = work.run("factors", jobs)
    attributes, target = question.attributes, question.target
    return Findings(measured, [], findings.rounds, attributes, work.confidence, target, []).leaks


def _leakage_given(work: _Work, findings: Findings, decision: Decision) -> list[Leak] | None:
    """Measure what is left among people of equal factors: with what is recommended, if anything."""
    question, strata = work.question, work.question.probed_in
    if strata is None or not work.effort.joint or not question.roles.features:
        return None
    option = decision.chosen or decision.raw
    key = "pca" if option.tradeoff else option.representation
    (setting,) = [one for one in findings.all if str(one) == key]
    jobs: list[_Job] = [
        ("given factors", split, measure_given, (setting, strata, work.effort))
        for split in work.splits[: 2 * work.effort.n_rounds]
    ]
    measured = work.run("given", jobs)
    attributes, target = question.attributes, question.target
    return Findings(measured, [], findings.rounds, attributes, work.confidence, target, []).leaks


def _proxy_importance(findings: Findings, work: _Work) -> list[ProxyImportance]:
    """Measure the proxies for each single attribute."""
    if not work.question.roles.features:
        return []
    splits = work.splits[: work.effort.n_rounds]
    asked = [(split, i) for split in splits for i in range(len(work.question.singles))]
    jobs: list[_Job] = [("columns", split, carried, (i, work.effort)) for split, i in asked]
    found: dict[int, list[Any]] = {}
    for (_, i), one in zip(asked, work.run("proxies", jobs), strict=True):
        found.setdefault(i, []).append(one)
    return [
        ProxyImportance(work.question.attributes[i].name, column, lost)
        for i, of_splits in found.items()
        for column, lost in findings.ranked(of_splits, (-1.0, 1.0))
    ]


def _decision_importance(
    findings: Findings, decision: Decision, work: _Work
) -> list[DecisionImportance]:
    """Measure the most influential features of the recommended option, or of the raw features."""
    option = decision.chosen or decision.raw
    if option.utility_model is None or not work.question.roles.features:
        return []
    (setting,) = [one for one in findings.all if str(one) == option.representation]
    how = (replace(setting, tradeoff=option.tradeoff), option.utility_model, work.effort)
    splits = work.splits[: work.effort.n_rounds]
    found = work.run("decisions", [("columns", split, decided_by, how) for split in splits])
    weights = found[0][1] if found else {}
    return [
        DecisionImportance(column, changed, weights.get(column, []))
        for column, changed in findings.ranked([changes for changes, _ in found], (0.0, np.inf))
    ]


def _check_arguments(
    confidence: float, n_components: int | None, max_rows: int | None, max_gap: float, model: str
) -> None:
    """Reject what no audit can mean; a gap in points, as the command line has it, too."""
    if not 0.5 <= confidence < 1.0:
        raise AuditError(f"confidence={confidence} must be from 0.5 to below 1; 0.95 is usual.")
    if n_components is not None and n_components < 1:
        raise AuditError(f"n_components={n_components}, but at least 1 is needed.")
    if max_rows is not None and max_rows < 100:
        raise AuditError(f"max_rows={max_rows} is too few to measure anything; take 100 or more.")
    check_fraction(max_gap, "max_gap")
    if model not in MODELS:
        raise AuditError(f"model='{model}' is none of {', '.join(map(repr, MODELS))}.")


def _told_together(decision: Decision, target: Target | None) -> list[Notice]:
    """Warn if the raw features predict the target nearly perfectly, though none does alone."""
    utility = decision.raw.utility
    features = decision.raw.utility_model != EXISTING
    if target is None or utility is None or utility.value < _NEARLY_KNOWN or not features:
        return []
    unit = "R2" if target.kind == "number" else "AUC"
    text = (
        f"The columns together predict '{target.name}' nearly perfectly ({unit} "
        f"{utility.value:.2f}): are all of them known before it?"
    )
    return [Notice("leak", "warning", "", target.name, utility.value, text)]


_NEARLY_KNOWN = 0.995  # AUC or R2 of the raw features


def _too_many_jobs(asked: int | None, started: int) -> list[Notice]:
    """Return whether more processes were asked for than there are cores."""
    if asked is None or asked <= started:
        return []
    text = f"{asked:,} processes were asked for, and {started} started: one per core."
    return [Notice("jobs", "info", "", "", float(started), text)]


_encoded: dict[tuple[str, int], HeldOut] = {}  # halves that this process has measured last
_MOST_BYTES = 10**8  # of these


def _run(item: tuple[Question, Split, Callable[..., Any], tuple[Any, ...]]) -> Any:
    question, split, function, arguments = item
    key = (question.token, split.index)
    with catch_warnings():
        simplefilter("ignore", ManyLevelsWarning)  # codes of groups are meant as such
        simplefilter("ignore", OutlierWarning)  # notices tell of them by name
        if key not in _encoded:  # others make room first; all are about as large
            while 2 * sum(h.X.nbytes + h.rows.X.nbytes for h in _encoded.values()) > _MOST_BYTES:
                del _encoded[next(iter(_encoded))]
            _encoded[key] = prepare(question, split)
        return function(_encoded[key], *arguments)


def _checked_aim(aim: str | None, decides: bool) -> str:
    """Return the aim, or the usual one: decisions where there are some, else hiding."""
    if aim is None:
        return "decide" if decides else "hide"
    if aim not in AIMS:
        raise AuditError(f"aim='{aim}' is none of {', '.join(map(repr, AIMS))}.")
    if aim == "decide" and not decides:
        raise AuditError(
            "The aim 'decide' is about decisions, and no target was named. Name one, or take the "
            "aim 'hide' or 'keep'."
        )
    return aim
