"""From a table and names to a question that can be measured: rows, target, columns, notices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

from .._attributes import Roles, as_columns, checked_kinds, factors_among, listed
from ..errors import AuditError, TableError, UsageError
from ..metrics import COARSER, Strata, strata_of, weight_below
from ..models import (
    FEWEST_ROWS,
    AttributePlan,
    Measured,
    about_the_yes,
    as_table,
    binary_target,
    numbers_of,
    one_decision,
    plan_factor,
    plan_target,
    roles_in,
    usual_components,
    weights_of,
)
from ..tables import Table, TableEncoder, check_columns, find_spellings
from ._phrases import percent
from ._probabilities import Probable, declared_probabilities
from ._question import (
    Everybody,
    Question,
    attributes_in,
    check_rows,
    copies_in,
    counted_groups,
    named_people,
    notice_of,
    numbered,
    parts_of_people,
)
from ._representations import name_of
from ._results import Column, Notice, Setting, Target
from ._splits import Effort, ExistingModel, bands, drawn_rows

if TYPE_CHECKING:
    from pandas import DataFrame, Series

_MANY_LEFT_OUT = 0.05  # of the rows: from here on it is a warning
_FEWEST_OUTCOMES = 20  # fewer of either teach a model nothing, and may all be in one half


def ask(
    table: Any,
    sensitive: str | Sequence[str] | None,
    target: str | None,
    *,
    pos_label: Any,
    above: float | None = None,
    ignore: Sequence[str],
    sensitive_kinds: Mapping[str, str] | None = None,
    probabilities: Any = None,
    scores: str | Sequence[str] = (),
    decisions: str | Sequence[str] = (),
    person: str | None = None,
    weight: str | None = None,
    given: str | Sequence[str] = (),
    encoder: TableEncoder | None = None,
    n_components: int | None,
    effort: Effort,
    seed: int,
    vectors: Any = None,
    may_be_constant: bool = False,
) -> Question:
    """Read the table, check the names, choose the rows and look at every column.

    A decision `may_be_constant` where its gaps are all that is asked: they are 0.
    """
    table = as_table(table, vectors)
    probable = Probable(declared_probabilities(probabilities, as_columns(sensitive)), seed)
    others = {"person": person, "weight": weight, "score": scores, "decision": decisions}
    others["probability"] = probable.columns
    roles = roles_in(table, sensitive, target, ignore, **others)
    check_rows(len(table.frame), "")
    factors = _checked_factors(table, roles, given)
    kinds_of = filter(None, [*roles.sensitive, roles.target, *factors])
    said = checked_kinds(sensitive_kinds, kinds_of)
    probable.check(table.frame, roles)
    frame, weights, notices = _weighed(table.frame, roles.weight)
    n_weighed = len(frame)
    frame, y, weights, plan = _with_target(frame, weights, roles.target, said, pos_label, above)
    if plan is not None and plan.told:
        notices.append(Notice("pos_label", "warning", plan.name, "", None, plan.told))
    n_dropped = len(table.frame) - len(frame)
    notices += _without_target(roles.target, n_weighed - len(frame), n_weighed)
    said.pop(roles.target or "", None)
    whole, people, told = _people_and_groups(frame, roles, said, probable)
    notices += told
    existing, unknown = _existing_models(frame, roles, plan, y, weights, may_be_constant)
    _check_groups(existing, whole, parts_of_people(people))
    n_people = len(np.unique(people))
    alike = _alike(frame, factors, said, n_people)
    everybody = Everybody(whole, people, y, weights, existing, alike)
    rng = np.random.default_rng(seed)
    chosen, stands_for = _drawn(everybody, effort, rng)
    attributes = whole
    if len(chosen) < len(frame):
        attributes = [a.at(chosen) for a in whole]
        notices.append(_told_of_draw(everybody, len(chosen), effort.group_rows))
        frame = frame.iloc[chosen].reset_index(drop=True)
        y, people = None if y is None else y[chosen], people[chosen]
        weights = stands_for if weights is None else weights[chosen] * stands_for
        existing = [replace(one, values=one.values[chosen]) for one in existing]
    if roles.person is None:
        people, repeated = copies_in(frame, roles)
        notices += repeated
        if len(np.unique(people)) < len(frame) == len(everybody.people):
            attributes = _by_people(frame, roles, said, whole, people, probable)
            everybody = replace(everybody, attributes=attributes, people=people)
            _check_groups(existing, attributes, parts_of_people(people))
    n_judged = min(len(np.unique(people)), 2 * effort.judged_rows)
    if n_judged < n_people:  # as few bands as those who are judged allow
        alike = _alike(frame, factors, said, n_judged)
    n_probed = min(n_judged // 2, effort.probe_rows)
    features = frame[list(roles.features)]
    encoder = TableEncoder() if encoder is None else encoder
    told_of = _noticed(table, frame, roles, attributes, y, encoder.missing)
    encoder = encoder.fit(features) if roles.features else None
    d = 0 if encoder is None else len(encoder.mean_)
    if n_components is not None and n_components > d:
        raise AuditError(
            f"n_components={n_components}, but the columns give {d} numbers per row. Use "
            f"{f'at most {d}' if d else 'none: there is no feature to make components from'}."
        )
    return Question(
        table=table,
        features=features,
        roles=roles,
        attributes=attributes,
        people=people,
        counted=[counted_groups(a, everybody) for a in attributes],
        y=y,
        target=None if plan is None else _target(plan, everybody.y, everybody.weights),
        weights=None if weights is None else weights / weights.mean(),
        existing=existing,
        everybody=everybody,
        n_dropped=n_dropped,
        notices=[*notices, *unknown, *told_of],
        columns=_columns(frame, roles, encoder),
        encoder=encoder,
        k=n_components or (usual_components(d) if d else 0),
        seed=seed,
        given=frame[list(factors)] if factors else None,
        alike=alike,
        probed_in=_alike(frame, factors, said, n_probed, COARSER),
        probabilities=probable.declared,
    )


def _checked_factors(table: Table, roles: Roles, given: str | Sequence[str]) -> tuple[str, ...]:
    """Return the columns of legitimate factors; there has to be a gap that they may explain."""
    factors = factors_among(list(table.frame.columns), roles, given)
    if factors and roles.target is None and not (roles.score or roles.decision):
        raise AuditError(
            f"given={list(factors)} splits gaps in decisions, but no target, score or decision was "
            f"named. Name one (--target, --score, --decision), or leave it out."
        )
    return factors


def _alike(
    frame: DataFrame,
    factors: Sequence[str],
    said: Mapping[str, str],
    n_people: int,
    coarser: float = 1.0,
) -> Strata | None:
    """Return the strata in which legitimate factors are equal, as fits read them."""
    if not factors:
        return None
    planned = [plan_factor(frame[name], said.get(name)) for name in factors]
    columns = {plan.name: values for plan, values in planned}
    return strata_of(columns, len(frame), coarser=coarser, n_people=n_people)


def _people_and_groups(
    frame: DataFrame, roles: Roles, said: Mapping[str, str], probable: Probable
) -> tuple[list[Measured], np.ndarray, list[Notice]]:
    """Return the attributes and the person of every row; without a column, each is a person."""
    everybody = np.arange(len(frame))
    whole = attributes_in(frame, roles, said, probable=probable.measured(frame, everybody))
    if roles.person is None:
        return whole, everybody, []
    people, told = named_people(frame[roles.person])
    if people.max() + 1 < len(frame):
        whole = _by_people(frame, roles, said, whole, people, probable)
    return whole, people, told


def _by_people(
    frame: DataFrame,
    roles: Roles,
    said: Mapping[str, str],
    found: Sequence[Measured],
    people: np.ndarray,
    probable: Probable,
) -> list[Measured]:
    """Return the attributes again, where what is rare is decided by different people."""
    kinds = {**said, **{a.name: "numeric" for a in found if a.kind == "numeric"}}
    measured = probable.measured(frame, people)
    return attributes_in(frame, roles, kinds, parts_of_people(people), measured)


def _drawn(
    everybody: Everybody, effort: Effort, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that are measured, with all rows of a person, and what each stands for."""
    strata = [a.all_codes for a in everybody.attributes]
    strata += [] if everybody.y is None else [bands(everybody.y)]
    _, once, person = np.unique(everybody.people, return_index=True, return_inverse=True)
    chosen, stands_for = drawn_rows(
        [c[once] for c in strata], effort.max_rows, rng, effort.group_rows, len(person)
    )
    if len(once) == len(person):
        return once[chosen], stands_for
    of_person = np.zeros(len(once))
    of_person[chosen] = stands_for
    rows = np.flatnonzero(of_person[person])
    return rows, of_person[person[rows]]


def _told_of_draw(everybody: Everybody, n: int, at_least: int) -> Notice:
    """Say how many rows were drawn, and that they are weighed back."""
    text = (
        f"{n:,} of {len(everybody.people):,} rows were drawn at random, with {at_least:,} of every "
        f"group where it has them (at most half of the sample), and are weighted to stand for the "
        f"whole table. Existing scores and decisions are judged on all rows."
    )
    return Notice("sampled", "info", "", "", float(n), text)


def _weighed(frame: DataFrame, weight: str | None) -> tuple[DataFrame, Any, list[Notice]]:
    """Return the rows of a positive weight, their weights, and how many have none."""
    if weight is None:
        return frame, None, []
    weights = weights_of(numbers_of(frame[weight], "weight"), weight)
    used = weights > 0
    n_zero = int(np.count_nonzero(~used))
    text = f"{n_zero:,} rows have the weight 0 in '{weight}' and are left out."
    told = [Notice("zero_weight", "info", weight, "", float(n_zero), text)] if n_zero else []
    check_rows(len(weights) - n_zero, f" of a positive '{weight}'")
    return frame[used], weights[used], told


def _with_target(
    frame: DataFrame,
    weights: np.ndarray | None,
    target: str | None,
    said: Mapping[str, str],
    pos_label: Any,
    above: float | None,
) -> tuple[DataFrame, np.ndarray | None, np.ndarray | None, AttributePlan | None]:
    """Return the rows whose target is known, renumbered, with its values, and its plan."""
    if target is None:
        if above is not None or pos_label is not None:
            name, value = ("pos_label", pos_label) if above is None else ("above", above)
            raise AuditError(
                f"{name}={value!r} is about the target, but no target was named. Name one "
                f"(--target), or leave it out."
            )
        return frame.reset_index(drop=True), None, weights, None
    if above is not None and pos_label is not None:
        raise AuditError(
            f"above={above!r} and pos_label={pos_label!r} both define the positive class. Pass "
            f"one of them."
        )
    try:
        plan, values = plan_target(
            frame[target], said.get(target), pos_label, above, kinds_in="sensitive_kinds"
        )
    except UsageError as error:
        raise TableError(str(error)) from None
    known = plan.known(values)
    check_rows(int(np.count_nonzero(known)), f" with a known '{target}'")
    frame, y = frame[known].reset_index(drop=True), values[known]
    _check_outcomes(plan, y)
    y = y.astype(bool) if plan.kind == "binary" else y
    return frame, y, None if weights is None else weights[known], plan


def _without_target(target: str | None, n_unknown: int, n: int) -> list[Notice]:
    """Say of how many rows the target is missing: whoever they are, no number is about them."""
    if not n_unknown:
        return []
    share = n_unknown / n
    text = f"{n_unknown:,} of {n:,} rows ({percent(share)}) have no '{target}' and are left out."
    if share >= _MANY_LEFT_OUT:
        text += " No number here covers them: find out who they are before you rely on the others."
    severity = "warning" if share >= _MANY_LEFT_OUT else "info"
    return [Notice("missing_target", severity, str(target), "", share, text)]


def _check_outcomes(plan: AttributePlan, y: np.ndarray) -> None:
    """Reject a target with too few rows of a class."""
    enough = f"at least {_FEWEST_OUTCOMES} are needed to measure"
    if plan.kind == "numeric":
        if len(np.unique(y)) < 2:
            raise AuditError(
                f"The target '{plan.name}' has the value {y[0]:g} only, and nothing can be learned "
                f"about it. Name another target, or none."
            )
        return
    counts = np.bincount(y, minlength=len(plan.labels))
    if plan.kind == "binary":
        name = plan.labels[-1]
        which = f"are '{name}'" if counts[1] < counts[0] else f"are not '{name}'"
        if counts.min() < _FEWEST_OUTCOMES:
            raise AuditError(
                f"Only {counts.min()} rows of the target '{plan.name}' {which}, but {enough} "
                f"decisions. Name another target, or none, or give more rows.",
                too_few=True,
            )
    rare = [f"'{plan.labels[c]}' ({counts[c]})" for c in np.flatnonzero(counts < _FEWEST_OUTCOMES)]
    if rare:
        raise AuditError(
            f"Of the target '{plan.name}', {len(rare)} of {len(counts)} classes have too few rows: "
            f"{', '.join(rare[:4])}{' and others' if len(rare) > 4 else ''}, but {enough} a class. "
            f"Merge them with others, leave these rows out, or name the positive class "
            f"(pos_label=..., on the command line --pos-label).",
            too_few=True,
        )


def _target(plan: AttributePlan, y: Any, weights: np.ndarray | None) -> Target:
    """Return what the audit shows of the target, over all rows."""
    kind = {"binary": "binary", "categorical": "classes", "numeric": "number"}[plan.kind]
    mean = float(np.average(y.astype(float), weights=weights))
    deviation = float(np.sqrt(np.average((y - mean) ** 2, weights=weights)))
    binary, number = kind == "binary", kind == "number"
    return Target(
        name=plan.name,
        kind=kind,
        pos_label=plan.labels[-1] if binary else None,
        rate=mean if binary else None,
        classes=list(plan.labels) if kind == "classes" else [],
        mean=mean if number else None,
        deviation=deviation if number else None,
    )


def _existing_models(
    frame: DataFrame,
    roles: Roles,
    plan: AttributePlan | None,
    y: np.ndarray | None,
    weights: np.ndarray | None,
    may_be_constant: bool,
) -> tuple[list[ExistingModel], list[Notice]]:
    """Return scores and decisions of models that exist, and of how many rows they are unknown."""
    yes = plan.labels[-1] if plan is not None and plan.kind == "binary" else None
    found = [("score", c, numbers_of(frame[c], "score")) for c in roles.score]
    found += [("decision", c, _decided(frame[c], yes)) for c in roles.decision]
    notices = [n for c in roles.decision for n in _guessed_yes(frame[c], yes)]
    for kind, name, values in found:
        unknown = int(np.count_nonzero(np.isnan(values)))
        check_rows(len(values) - unknown, f" with a {kind} in '{name}'")
        if np.nanmin(values) == np.nanmax(values) and not may_be_constant:
            raise AuditError(
                f"The {kind} '{name}' has one value only, so there is nothing to compare. Name "
                f"another column."
            )
        if unknown:
            text = f"{unknown:,} rows have no {kind} in '{name}' and are left out of its numbers."
            notices.append(Notice("unknown_values", "info", name, "", float(unknown), text))
    if plan is not None and plan.kind == "numeric" and y is not None:
        w = np.ones(len(y)) if weights is None else weights
        for place, (kind, name, values) in enumerate(found):
            if kind == "score" and _is_on_another_scale(values, y, w):
                notices.append(_by_rank(name, plan.name, values, y))
                found[place] = kind, name, _as_ranked(values, y, w)
    return [ExistingModel(Setting(kind, column=c), values) for kind, c, values in found], notices


def _is_on_another_scale(values: np.ndarray, y: np.ndarray, w: np.ndarray) -> bool:
    """Whether a score cannot be meant as a prediction of the number.

    It errs more than any score with the mean and the deviation of the number can, or what it goes
    with is ten times as large.
    """
    known = np.isfinite(values)
    s, y, w = values[known], y[known], w[known]
    (of_s, both), (_, of_y) = np.cov(s, y, aweights=w, ddof=0)
    if of_y == 0:
        return False
    if np.average((y - s) ** 2, weights=w) > 4 * of_y:
        return True
    clear = abs(both) > 3 * np.sqrt(of_s * of_y / len(s))
    return bool(clear and abs(both) > 10 * of_s)


def _as_ranked(values: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return, for each score, the number at its rank: the median number for the median score."""
    known = np.isfinite(values)
    found = np.full(len(values), np.nan)
    w = w[known]
    shares = [weight_below(of[known], w) / w.sum() for of in (values, y)]
    numbers, first = np.unique(y[known], return_index=True)
    found[known] = np.interp(shares[0], shares[1][first], numbers)
    return found


def _by_rank(name: str, target: str, values: np.ndarray, y: np.ndarray) -> Notice:
    """Say that a score is judged by its ranks, and whether it ranks the other way round."""
    known = np.isfinite(values)
    s = values[known]
    text = (
        f"The score '{name}' is not on the scale of '{target}' (mean {s.mean():.4g} and standard "
        f"deviation {s.std():.3g}, where {y.mean():.4g} and {y.std():.3g} are): it is judged by "
        f"rank: each row is taken to predict the '{target}' of the same rank."
    )
    falling = float(np.corrcoef(rankdata(s), rankdata(y[known]))[0, 1])
    if falling < -3 / np.sqrt(len(s)):
        text += f" It falls where '{target}' rises: reverse its sign unless that is meant."
    return Notice("scale", "warning", name, target, falling, text)


def _decided(column: Series, yes: str | None) -> np.ndarray:
    """Return decisions as 1 and 0, NaN where there is none, with the target's positive class."""
    for positive in dict.fromkeys([yes, None]):
        with suppress(TableError):
            is_yes, known, _ = binary_target(column, positive)
            return np.where(known, is_yes.astype(float), np.nan)
    if (alike := one_decision(column, yes)) is not None:
        return alike
    distinct = list(dict.fromkeys(map(str, column.dropna())))  # lists have no `unique`
    raise AuditError(
        f"The decision '{column.name}' has {len(distinct)} distinct value(s) "
        f"({listed(distinct, 4)}), but it must be binary. Make a column of two values; name "
        f"numbers that rank people as a score (--score)."
    )


def _guessed_yes(column: Series, yes: str | None) -> list[Notice]:
    """Warn where the positive class of a decision is auto-detected without a clear word for it."""
    with suppress(TableError):
        if yes is not None and binary_target(column, yes):
            return []
    told = about_the_yes(column, "If it is the other one, write 'yes' and 'no'.")
    return [Notice("pos_label", "warning", str(column.name), "", None, told)] if told else []


def _check_groups(
    existing: Sequence[ExistingModel], attributes: Sequence[Measured], parts: np.ndarray
) -> None:
    """Reject scores and decisions that are known of too few people of a group."""
    for model, attribute in product(existing, attributes):
        members = attribute.codes >= 0
        total, known = (
            np.bincount(attribute.codes[rows], parts[rows], len(attribute.labels)).round()
            for rows in (members, members & ~np.isnan(model.values))
        )
        for group in np.flatnonzero(known < np.minimum(total, FEWEST_ROWS)):
            raise AuditError(
                f"{name_of(model.setting)} is known for {known[group]:.0f} people with "
                f"{attribute.name} = '{attribute.labels[group]}', but {FEWEST_ROWS} of every group "
                f"are needed to compare them. Fill it in, or leave such rows out.",
                too_few=True,
            )


def _noticed(
    table: Table,
    frame: DataFrame,
    roles: Roles,
    attributes: Sequence[Measured],
    y: np.ndarray | None,
    missing_numbers: Sequence[float],
) -> list[Notice]:
    used = ("feature", "sensitive", "probability", "target")
    looked_at = [c for c in frame if roles.of(c) in used]
    shown = frame[looked_at]
    if y is not None and y.dtype == bool and frame[roles.target].nunique() > 2:
        shown = shown.assign(
            **{str(roles.target): y}
        )  # of several values, the positive class matters
    named = [*roles.sensitive, *roles.probability], roles.target
    found = check_columns(shown, *named, renamed=table.renamed, missing=missing_numbers)
    told = [notice_of(notice) for notice in found if notice.kind != "spelling"]
    written = [c for c in table.frame if c in looked_at or roles.of(c) == "decision"]
    spelled = find_spellings(table.frame[written], roles.features)  # in all rows, and as written
    told += [notice_of(notice) for notice in spelled]
    for attribute in attributes:
        if attribute.kind == "intersection":
            continue
        told += _without_group(attribute)
        if attribute.note:
            kinds = {"numeric": "numeric_attribute", "probabilities": "probabilities"}
            kind = kinds.get(attribute.kind, "small_group")
            unmeasured = float(np.count_nonzero(attribute.codes < 0))
            text = f"{attribute.name}: {attribute.note}"
            told.append(Notice(kind, "info", attribute.name, "", unmeasured, text))
    return told


def _without_group(attribute: Measured) -> list[Notice]:
    """Say of how many rows the group is unknown: they train models, and no gap is about them."""
    unknown, n = int(np.count_nonzero(attribute.all_codes < 0)), len(attribute.all_codes)
    if not unknown:
        return []
    text = (
        f"{attribute.name}: of {unknown:,} of {n:,} rows ({percent(unknown / n)}) the group is "
        f"unknown. Gaps and leakage leave them out."
    )
    severity = "warning" if unknown / n >= _MANY_LEFT_OUT else "info"
    return [Notice("unknown_group", severity, attribute.name, "", float(unknown), text)]


def _columns(frame: DataFrame, roles: Roles, encoder: TableEncoder | None) -> list[Column]:
    encoded = {column.name: column for column in encoder.columns_} if encoder else {}
    found = []
    for name in frame.columns:
        if c := encoded.get(name):
            made = Column(name, "feature", c.kind, c.n_missing, c.n_distinct, c.n_outputs, c.note)
        else:
            missing, distinct = int(frame[name].isna().sum()), int(numbered(frame[name]).max())
            made = Column(name, roles.of(name), "", missing, distinct, 0, "")
        found.append(made)
    return found
