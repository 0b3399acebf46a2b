"""Whether gaps are within a limit, exceed it, or people are too few to say: for pipelines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from ..errors import ExitStatus
from ._audit_result import Audit
from ._evidence import told_of_bounds, widest_bounds, widest_gap
from ._findings import studentised_range
from ._gate_measures import Judgeable, Measured, measured_of_audit, measured_of_table
from ._gate_result import EXCEEDED, RATIO, UNDECIDED, WITHIN, Gate, GateCheck
from ._judging import share_error
from ._overview import MET, NOT_MET, status
from ._phrases import joined, named
from ._policy import Policy, policy_of
from ._results import GAPS, Estimate, Parity
from ._schema import audit_from_file

_VERDICTS = {MET: WITHIN, NOT_MET: EXCEEDED}
_STATUS = {
    WITHIN: ExitStatus.WITHIN,
    EXCEEDED: ExitStatus.EXCEEDED,
    UNDECIDED: ExitStatus.UNDECIDED,
}
_GAPS = {rate: gap for gap, rate in GAPS.items()}
"""Metrics of a policy, and the gaps of a `Parity` that compare them."""

_ENDS = ("value", "low", "high")
_MOST_NAMED = 3  # groups that are too small
_UNCORRECTED = 2  # numbers: with more, each has to exceed its limit more clearly


def gate(
    data: Any,
    sensitive: str | Sequence[str] | None = None,
    target: str | None = None,
    *,
    decisions: str | Sequence[str] | None = None,
    scores: str | Sequence[str] | None = None,
    threshold: float | None = None,
    metrics: str | Sequence[str] | None = None,
    max_gap: float | None = None,
    min_ratio: float | None = None,
    joint: bool | None = None,
    confidence: float | None = None,
    undecided: str | None = None,
    recommended: bool | None = None,
    pos_label: Any = None,
    sensitive_kinds: Mapping[str, str] | None = None,
    person: str | None = None,
    weight: str | None = None,
    policy: str | Path | None = None,
) -> Gate:
    """Judge whether gaps between groups are within a limit, beyond chance.

    For decisions or scores that a model has made, or for an audit. Nothing is fitted. The command
    `fairpca gate`, `assert_gate` in tests and ``audit --fail-above`` call this function.

    Parameters
    ----------
    data : frame, result of a query, path, str or Audit
        A table as in `fairpca.audit`, with decisions or scores and the sensitive attributes; or an
        audit, or the path of its JSON file. Other columns do not count.
    sensitive : str or sequence of str, optional
        Sensitive columns. Of an audit, those to judge: by default all that it has.
    target : str, optional
        Column with the true outcome, which all metrics but the selection rate need.
    decisions, scores : str or sequence of str, optional
        Columns with binary decisions or with scores. Of an audit, those to judge: by default all
        that it has; where it has none, the models that it fitted to all columns.
    threshold : float, optional
        Scores of at least this select. By default as many of the highest are selected as have a
        positive outcome, or half of all without a binary target, as in `fairpca.audit`.
    metrics : str or sequence of str, optional
        Rates to compare: "selection_rate" (the default; of a continuous target, mean predictions),
        "true_positive_rate", "false_positive_rate" or "precision".
    max_gap : float, optional
        Limit of the largest difference of a rate between two groups, as a fraction; of mean
        predictions in standard deviations of the target.
    min_ratio : float, optional
        Limit of the smallest over the largest selection rate, such as 0.8. One of both is needed.
    joint : bool, optional
        Whether groups of several attributes together are judged, too, such as black women.
    confidence : float, optional
        Level of the intervals, by default 0.95. An audit has its own.
    undecided : {"pass", "fail"}, optional
        What a number that could be on either side of its limit counts as. By default the verdict is
        "undecided".
    recommended : bool, optional
        Of an audit, judge the recommended option instead of how things are.
    pos_label : value, optional
        As in `fairpca.audit`, and so the next three.
    sensitive_kinds : dict, optional
        Whether sensitive columns are "numeric" or "categorical", by their names.
    person : str, optional
        Column with the subject id, for repeated measures.
    weight : str, optional
        Column with survey weights.
    policy : path, optional
        A TOML file with these options, or a pyproject.toml with the table ``[tool.fairpca]``; keys
        are the options of the command, such as ``max-gap = 5`` in percentage points. Arguments come
        first.

    Returns
    -------
    found : Gate
        The verdict, and every number.

    Raises
    ------
    AuditError, TableError
        If the policy cannot be read or does not fit the table; the message says what to change.

    See Also
    --------
    assert_gate : For tests.
    fairpca.audit : Measures what could be done about it.

    Notes
    -----
    Values and intervals are those of `fairpca.audit`, with two ends that are safer. Of rare
    outcomes the upper end is Newcombe's for gaps, and that of Donner and Zou for ratios. Of more
    than two numbers, the end that faces the limit is farther from the value (Bonferroni). So the
    chance of a wrong "within" is about half of ``1 - confidence`` at most: all numbers have to be
    within. That of a wrong "exceeded" is about ``1 - confidence`` at most.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from fairpca import gate
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"sex": rng.choice(["f", "m"], size=4000)})
    >>> people["hired"] = rng.random(4000) < np.where(people["sex"] == "m", 0.41, 0.40)
    >>> print(gate(people, "sex", decisions="hired", max_gap=0.1))
    Within the limit: gap in selection rate of hired by sex is 3.0 points (interval 0.0 to 6.0),
    limit 10.0; highest m 41.8 %, lowest f 38.9 %.
    """
    asked = {
        "sensitive": sensitive,
        "target": target,
        "decisions": decisions,
        "scores": scores,
        "threshold": threshold,
        "metrics": metrics,
        "max_gap": max_gap,
        "min_ratio": min_ratio,
        "joint": joint,
        "confidence": confidence,
        "undecided": undecided,
        "recommended": recommended,
        "pos_label": pos_label,
        "sensitive_kinds": sensitive_kinds,
        "person": person,
        "weight": weight,
    }
    limits = policy_of(asked, policy)
    if isinstance(data, str | Path) and str(data).endswith(".json"):
        data = audit_from_file(data)
    measured = measured_of_audit if isinstance(data, Audit) else measured_of_table
    return _judged(measured(data, limits), limits, "" if policy is None else str(policy))


def assert_gate(data: Any, *arguments: Any, **options: Any) -> Gate:
    """Raise an AssertionError unless all gaps are within the limit: for tests in pytest.

    Parameters
    ----------
    data : frame, path, str or Audit
        As in `gate`.
    *arguments, **options
        Those of `gate`, such as ``policy="pyproject.toml"``.

    Returns
    -------
    found : Gate
        What `gate` returns.

    Raises
    ------
    AssertionError
        If the verdict is "exceeded", or "undecided" and the policy does not say "pass".

    See Also
    --------
    gate : Returns the verdict and does not raise.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairpca import assert_gate
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 500, "hired": [1, 1, 0, 1] * 250})
    >>> assert_gate(people, "sex", decisions="hired", max_gap=0.05)
    Traceback (most recent call last):
    AssertionError: Limit exceeded: gap in selection rate of hired by sex is 50.0 points (interval
    45.6 to 54.4), limit 5.0; highest m 100.0 %, lowest f 50.0 %.
    """
    __tracebackhide__ = True
    found = gate(data, *arguments, **options)
    if found.verdict != WITHIN:
        raise AssertionError(str(found))
    return found


def _judged(what: Judgeable, policy: Policy, file: str) -> Gate:
    """Compare all numbers that a policy asks for with their limits."""
    found = [one for of in what.measured for one in _numbers(of, policy, what.confidence)]
    family = sum(estimate is not None for _, estimate, _ in found)
    checks = []
    for check, estimate, n_groups in found:
        if estimate is not None:
            sure = _surely(estimate, n_groups, what.confidence, family, ratio=check.unit == "ratio")
            check = replace(check, verdict=_verdict(sure, check), **asdict(sure))
        checks.append(check)
    verdicts = {one.verdict for one in checks}
    whole = next(one for one in (EXCEEDED, UNDECIDED, WITHIN) if one in verdicts)
    if whole == UNDECIDED and policy.undecided is not None:
        whole = WITHIN if policy.undecided == "pass" else EXCEEDED
    return Gate(whole, _STATUS[whole], what.name, what.n_people, checks, what.confidence, file)


def _verdict(estimate: Estimate, check: GateCheck) -> str:
    if check.unit == "ratio":  # at least as much is wanted: how far it is below
        estimate = Estimate(-estimate.value, -estimate.high, -estimate.low)
        return _VERDICTS.get(status(estimate, -check.limit), UNDECIDED)
    return _VERDICTS.get(status(estimate, check.limit), UNDECIDED)


def _surely(
    estimate: Estimate, n_groups: int, confidence: float, family: int, *, ratio: bool
) -> Estimate:
    """Return an estimate whose end that faces the limit is corrected for a family of numbers.

    Of two numbers, 95 % intervals exceed their limits by chance in 5 % at most. Of more, each
    interval is as much wider at this end as its quantile is. The value may be of another pair of
    groups than the end, which makes the result the safer.
    """
    if family <= _UNCORRECTED:
        return estimate
    stricter = 1.0 - (1.0 - confidence) * _UNCORRECTED / family
    n_groups = max(n_groups, 2)
    wider = studentised_range(n_groups, stricter) / studentised_range(n_groups, confidence)
    value, low, high = (getattr(estimate, end) for end in _ENDS)
    if not ratio:
        return Estimate(value, max(0.0, value - wider * (value - low)), high)
    if value == 0:
        return Estimate(value, low, min(1.0, wider * high))
    above = np.log(value) + wider * (np.log(high) - np.log(value))
    return Estimate(value, low, max(high, float(np.exp(min(0.0, above)))))


def _numbers(
    of: Measured, policy: Policy, confidence: float
) -> Iterator[tuple[GateCheck, Estimate | None, int]]:
    """Yield what is asked of an attribute, and how many groups each number compares."""
    metrics = policy.metrics if policy.max_gap is not None else ()
    for metric in (*metrics, *([RATIO] if policy.min_ratio is not None else [])):
        is_ratio = metric == RATIO
        name, sign = ("ratio", -1) if is_ratio else (_GAPS[metric], 1)
        unit = "ratio" if is_ratio else of.unit if metric == "selection_rate" else "points"
        limit = policy.min_ratio if is_ratio else policy.max_gap
        assert limit is not None
        known = [(one, parity) for parity in of.parities if (one := getattr(parity, name))]
        check = GateCheck(of.model, of.attribute, metric, unit, limit, UNDECIDED)
        if not known:
            reason = of.reason or "Fewer than two groups have people enough to be compared."
            yield replace(check, note=reason), None, 0
            continue
        estimates = [Estimate(*(sign * getattr(one, end) for end in _ENDS)) for one, _ in known]
        widest = widest_gap(estimates)
        assert widest is not None
        worst = max(known, key=lambda pair: sign * pair[0].value)[1]
        check = replace(check, groups=_ends(worst, metric), note=_note(worst, check, of.parities))
        found = Estimate(*(sign * getattr(widest, end) for end in _ENDS))
        if is_ratio:
            highest = min(_highest_ratio(parity, confidence) for _, parity in known)
        else:
            highest = max(_highest_gap(parity, metric, confidence) for _, parity in known)
        yield check, replace(found, high=max(found.high, highest)), worst.n_compared


_Share = tuple[float, float, float]
"""A share with the ends of its interval."""


def _highest_gap(parity: Parity, metric: str, confidence: float) -> float:
    """Return the upper end of the largest gap of shares by Newcombe's method 10; 0 of others.

    Of a rare outcome a normal interval is too short above: one approval in 75 people is no surprise
    where 7 % are approved. Wilson's interval of each group knows that.
    """
    shares = _shares(parity, metric, confidence, float(norm.ppf(0.5 + confidence / 2)))
    ends = [
        p - q + np.hypot(p_high - p, q - q_low)
        for (p, _, p_high), (q, q_low, _) in permutations(shares, 2)
    ]
    return float(max(ends, default=0.0))


def _highest_ratio(parity: Parity, confidence: float) -> float:
    """Return the upper end of the smallest ratio of rates, by the method of Donner and Zou (2012).

    Where three people are selected, all three are of one of two equal groups in a quarter of
    samples; Wilson's intervals know that. Of several groups, any ratio may be small by chance.
    """
    reach = studentised_range(max(parity.n_compared, 2), confidence) / np.sqrt(2)
    shares = _shares(parity, "selection_rate", confidence, float(reach))
    return min((_ratio_end(*pair) for pair in permutations(shares, 2)), default=0.0)


def _ratio_end(smaller: _Share, larger: _Share) -> float:
    """Return the upper end of the ratio of two shares, at most 1."""
    (p, _, p_high), (q, q_low, _) = smaller, larger
    below = q_low * (2 * q - q_low)
    if p >= q or below <= 0:
        return 1.0
    root = np.sqrt(max(0.0, (p * q) ** 2 - p_high * (2 * p - p_high) * below))
    return min(1.0, float((p * q + root) / below))


def _shares(parity: Parity, metric: str, confidence: float, reach: float) -> list[_Share]:
    """Return the rates of the groups that are compared, with Wilson's intervals."""
    return [
        (rate.value, *_wilson(rate, group.n_rows, confidence, reach))
        for group in parity.groups
        if group.compared and (rate := getattr(group, metric))
    ]


def _wilson(share: Estimate, n_rows: int, confidence: float, reach: float) -> tuple[float, float]:
    """Return Wilson's interval, so many errors wide, of as many rows as have that of the share."""
    half = max(share.high - share.value, share.value - share.low)  # one end may be cut
    error = half / float(norm.ppf(0.5 + confidence / 2))
    if error == 0.0:
        return share.low, share.high
    too_certain, too_rough = (float(share_error(share.value, n)) for n in (n_rows, 1))
    n = float(n_rows)
    if too_certain < error < too_rough:
        n = brentq(lambda some: float(share_error(share.value, some)) - error, 1.0, n_rows)
    shrunk = 1.0 + reach**2 / n
    centre = (share.value + reach**2 / (2 * n)) / shrunk
    half = reach / shrunk * np.sqrt(share.value * (1 - share.value) / n + reach**2 / (4 * n**2))
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


def _ends(parity: Parity, metric: str) -> tuple[tuple[str, float], ...]:
    """Return the groups with the highest and the lowest rate among those that are compared."""
    name = "selection_rate" if metric == RATIO else metric
    rates = [
        (rate.value, group.label)
        for group in parity.groups
        if group.compared
        and (rate := getattr(group, name) or (group.mean_score if name in _GAPS else None))
    ]
    if parity.level is not None or len(rates) < 2:
        return ()
    (most, high), (least, low) = max(rates), min(rates)
    return (high, most), (low, least)


def _note(parity: Parity, check: GateCheck, parities: Sequence[Parity]) -> str:
    """Say which groups are not compared, and what people of unknown group could change."""
    said = []
    rates = {one.selection_rate.value for one in parity.groups if one.selection_rate is not None}
    if check.metric in ("selection_rate", RATIO) and rates in ({0.0}, {1.0}):
        said.append("Nobody is selected." if rates == {0.0} else "Everybody is selected.")
    left_out = [one for one in parity.groups if not one.compared]
    if left_out:
        shown = [f"{named(one.label)} ({one.n_rows:,})" for one in left_out[:_MOST_NAMED]]
        more = len(left_out) - _MOST_NAMED
        shown += [f"{more} more"] if more > 0 else []
        said.append(f"Not compared, too few people: {joined(shown)}.")
    bounds = widest_bounds(parities) if check.metric == "selection_rate" else None
    if bounds is not None and bounds.high > check.limit:
        ends = f"{check.written(bounds.low)} to {check.written(bounds.high)}"
        said.append(told_of_bounds(bounds, ends, "decisions"))
    return " ".join(said)
