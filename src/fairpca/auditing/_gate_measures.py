"""What a gate judges: what models do to groups, measured of a table or found in an audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._attributes import Roles
from ..errors import AuditError, SingleGroupError
from ..models import as_table, numbers_of, roles_in
from ..tables import Table
from ._asking import ask
from ._audit_result import Audit
from ._evidence import Evidence
from ._findings import Findings
from ._overview import Overview
from ._phrases import joined, named
from ._policy import Policy
from ._question import all_rows
from ._results import EXISTING, Option, Parity
from ._splits import FULL

_USUAL_CONFIDENCE = 0.95
_EVERY_ROW = 2**62


@dataclass(frozen=True)
class Measured:
    """What a model does to the groups of an attribute: of several fitted models, one for each.

    `unit` is what gaps are in; where nothing could be measured, the `reason` says why.
    """

    model: str
    attribute: str
    parities: Sequence[Parity]
    unit: str = "points"
    reason: str = ""


@dataclass(frozen=True)
class Judgeable:
    """All that was measured, at which level of confidence, of what, and of how many people."""

    measured: list[Measured]
    confidence: float
    name: str
    n_people: int


def measured_of_table(data: Any, policy: Policy) -> Judgeable:
    """Measure decisions and scores of a table, all of its rows."""
    table = as_table(data)
    columns = {
        "person": policy.person,
        "weight": policy.weight,
        "score": policy.scores,
        "decision": policy.decisions,
    }
    roles = roles_in(table, policy.sensitive, policy.target, (), **columns)
    if not (roles.score or roles.decision):
        raise AuditError(
            "A gate judges decisions or scores, and none are named. Pass decisions=... "
            "(--decision COLUMN) or scores=... (--score COLUMN); or an audit, which has fitted "
            "models."
        )
    if policy.recommended:
        raise AuditError(
            "recommended=True is about an audit, but this is a table. Leave it out, or pass the "
            "JSON file of an audit."
        )
    if roles.target is None and set(policy.metrics) - {"selection_rate"}:
        without = [repr(m) for m in policy.metrics if m != "selection_rate"]
        raise AuditError(
            f"The metric {joined(without)} is about the true outcome, and no target is named. Pass "
            f"target=... (--target COLUMN)."
        )
    used = [name for name in table.frame if roles.of(name) != "feature"]
    table = replace(table, frame=table.frame[used])
    table, decisions, scores = _with_threshold(table, policy, roles)
    policy = replace(
        policy,
        sensitive=tuple(roles.sensitive),
        target=roles.target,
        decisions=decisions,
        scores=scores,
    )
    return _of_attributes(table, policy)


def _with_threshold(
    table: Table, policy: Policy, roles: Roles
) -> tuple[Table, tuple[str, ...], tuple[str, ...]]:
    """Return table, decisions and scores; with a threshold, scores become decisions."""
    if policy.threshold is None:
        return table, tuple(roles.decision), tuple(roles.score)
    selected = {}
    for name in roles.score:
        values = numbers_of(table.frame[name], "score")
        selected[name] = np.where(np.isnan(values), np.nan, values >= policy.threshold)
    table = replace(table, frame=table.frame.assign(**selected))
    return table, (*roles.decision, *roles.score), ()


def _of_attributes(table: Table, policy: Policy) -> Judgeable:
    """Measure all attributes together, or, where one has too few people, each by itself."""
    confidence = policy.confidence or _USUAL_CONFIDENCE
    groups = [policy.sensitive]
    found: list[Measured] = []
    n_people = len(table.frame)
    while groups:
        names = groups.pop(0)
        try:
            measured, n_people = _measured(table, replace(policy, sensitive=names), confidence)
            found += measured
        except (AuditError, SingleGroupError) as error:
            if isinstance(error, AuditError) and not error.too_few:
                raise
            if len(names) > 1:
                groups += [(name,) for name in names]
                continue
            models = (*policy.decisions, *policy.scores)
            found += [Measured(one, names[0], (), reason=str(error)) for one in models]
    return Judgeable(found, confidence, table.name, n_people)


def _measured(table: Table, policy: Policy, confidence: float) -> tuple[list[Measured], int]:
    """Measure what is decided about all people, as an audit does for models that exist."""
    question = ask(
        table,
        policy.sensitive,
        policy.target,
        pos_label=policy.pos_label,
        ignore=(),
        sensitive_kinds=dict(policy.sensitive_kinds) or None,
        scores=policy.scores,
        decisions=policy.decisions,
        person=policy.person,
        weight=policy.weight,
        n_components=None,
        effort=replace(FULL, max_rows=_EVERY_ROW),
        seed=0,
        may_be_constant=True,
    )
    everybody = question.everybody
    findings = Findings(
        [],
        [],
        [],
        everybody.attributes,
        confidence,
        question.target,
        everybody.existing,
        all_rows(question, 1),
    )
    found = []
    for model in everybody.existing:
        number = question.target is not None and question.target.kind == "number"
        unit = "deviations" if number and model.setting.method == "score" else "points"
        for attribute, parity in zip(
            everybody.attributes, findings.parities[model.setting, EXISTING], strict=True
        ):
            if attribute.kind != "intersection" or policy.joint:
                name = str(model.setting.column)
                found.append(Measured(name, attribute.name, [parity], unit))
    return found, len(np.unique(everybody.people))


def measured_of_audit(audit: Audit, policy: Policy) -> Judgeable:
    """Find what an audit measured of models that exist, or else of those fitted to all columns."""
    settings, target = audit.settings, audit.data.target
    for name, asked, has in (
        ("target", policy.target, settings.target),
        ("person", policy.person, settings.person),
        ("weight", policy.weight, settings.weight),
        ("confidence", policy.confidence, settings.confidence),
    ):
        if asked is not None and asked != has:
            raise AuditError(
                f"{name}={asked!r} is asked for, but the audit of {audit.data.name} has "
                f"{has!r}. Leave it out, or audit again with it."
            )
    if policy.threshold is not None:
        raise AuditError(
            "threshold is about the scores of a table, but this is an audit, which has none. "
            "Leave it out, or pass the table."
        )
    evidence = Evidence(audit)
    for name in policy.sensitive:
        if name not in evidence.singles:
            raise AuditError(
                f"The audit of {audit.data.name} is about "
                f"{joined(list(map(named, evidence.singles)))}, not about '{name}'. Name one of "
                f"these, or audit again with it."
            )
    singles = policy.sensitive or tuple(evidence.singles)
    columns = {c for one in audit.data.attributes if one.name in singles for c in one.columns}
    attributes = [
        one.name
        for one in audit.data.attributes
        if one.name in singles
        or (policy.joint and one.kind == "intersection" and columns.issuperset(one.columns))
    ]
    unit = "deviations" if target is not None and target.kind == "number" else "points"
    found = [
        Measured(
            name,
            attribute,
            evidence.parities(option, attribute),
            unit,
            "The audit has no such number.",
        )
        for name, option in _options(audit, evidence, policy)
        for attribute in attributes
    ]
    return Judgeable(found, settings.confidence, audit.data.name, audit.data.n_people)


def _options(audit: Audit, evidence: Evidence, policy: Policy) -> list[tuple[str, Option]]:
    """Return what is judged of an audit, with names."""
    own = {
        str(evidence.representations[one.representation].setting.column): one
        for one in audit.advice.options
        if any(model.model == EXISTING for model in one.models)
    }
    overview = Overview(audit)
    if policy.recommended:
        if overview.recommended is None:
            raise AuditError(
                f"The audit of {audit.data.name} recommends nothing ({audit.advice.verdict}). "
                f"Leave recommended=True (--recommended) out to judge how things are."
            )
        return [(evidence.spoken_option(overview.recommended), overview.recommended)]
    asked = (*policy.decisions, *policy.scores)
    for name in asked:
        if name not in own:
            has = f"has {joined(list(map(named, own)))}" if own else "has none"
            raise AuditError(
                f"The audit of {audit.data.name} is asked for the decisions or scores '{name}', "
                f"but it {has}. Name one of these, or audit again with it."
            )
    if own:
        return [(name, own[name]) for name in asked or own]
    if overview.today is None or not any(one.models for one in audit.advice.options):
        raise AuditError(
            f"The audit of {audit.data.name} is about leakage alone: it has no decisions, and so "
            f"no gap. Audit again with target=..., decisions=... or scores=...."
        )
    return [("models trained on all columns", overview.today)]
