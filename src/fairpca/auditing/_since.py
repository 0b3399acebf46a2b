"""What changed between two audits of different people, and what of it is beyond chance."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.stats import norm

from ..errors import AuditError
from ..models import FEWEST_ROWS
from ._audit_result import Audit
from ._evidence import Evidence, parity_of
from ._findings import studentised_range
from ._judging import share_error
from ._overview import Overview
from ._phrases import joined, named, whole
from ._results import (
    EXISTING,
    GAPS,
    Change,
    Changes,
    Estimate,
    GroupRates,
    Option,
    Parity,
)
from ._splits import FULL, QUICK

WORSE, BETTER, CHANGED = "worse", "better", "changed"
NO_CHANGE, NOT_COMPARED = "no change", "not compared"
NOTHING_WORSE, CANNOT_TELL = "nothing worse", "cannot tell"

WORSE_IF = {**dict.fromkeys([*GAPS, "leakage"], 1), "ratio": -1, "utility": -1}
"""Whether a number is worse where it is larger or where it is smaller; of all others, neither."""

_MOST_AS_MANY = 2
"""A model that learns from more than twice the people predicts better for that reason alone."""

_FEW_MODELS = "no model family was measured in both"
_SAME_TABLE = (
    "both audits are of the same table, so differences come from options or versions, not from "
    "people"
)


def changes_since(before: Audit, now: Audit) -> Changes:
    """Return what changed between two audits, number by number.

    The difference of two estimates is divided by its standard error, that of different people in
    either audit. Each interval counts with the side that faces the other value. All numbers that
    can be worse are one family, all others another: Holm's correction keeps the chance of any
    wrong finding in a family below one minus the confidence of the audit.
    """
    both = _Both(_Side(before), _Side(now))
    found = both.numbers()
    if before.data.fingerprint == now.data.fingerprint:
        found = [replace(one, z=None, reason=one.reason or _SAME_TABLE) for one in found]
    judged = [one.kind in WORSE_IF for one in found]
    level = 1.0 - now.settings.confidence
    for family in (True, False):
        places = [i for i, one in enumerate(found) if one.z is not None and judged[i] is family]
        adjusted = _holm([float(2 * norm.sf(abs(found[i].z or 0.0))) for i in places])
        for i, p in zip(places, adjusted, strict=True):
            found[i] = replace(found[i], p_value=p, verdict=_verdict(found[i], p <= level))
    singles = {None, *both.before.evidence.singles}
    unknown = [
        one
        for one, can_be_worse in zip(found, judged, strict=True)
        if can_be_worse and one.z is None and one.attribute in singles
    ]
    verdict = NOTHING_WORSE if found and not unknown else CANNOT_TELL
    return Changes(
        name=before.data.title or before.data.name,
        created=before.created,
        fingerprint=before.data.fingerprint,
        n_rows=before.data.n_rows,
        verdict=WORSE if any(one.verdict == WORSE for one in found) else verdict,
        numbers=found,
        notes=list(both.notes()),
    )


def check_attributes(before: Sequence[str], now: Sequence[str]) -> None:
    """Reject audits that have no sensitive attribute in common."""
    if not set(before) & set(now):
        asked = [joined([named(one) for one in names]) for names in (before, now)]
        raise AuditError(
            f"The earlier audit is about {asked[0]} and this one about {asked[1]}: no sensitive "
            f"attribute is in both, so there is nothing to compare. Audit both tables with the "
            f"same attribute."
        )


def _verdict(change: Change, significant: bool) -> str:
    if not significant:
        return NO_CHANGE
    if change.kind not in WORSE_IF:
        return CHANGED
    return WORSE if WORSE_IF[change.kind] * (change.z or 0.0) > 0 else BETTER


def _holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values so that the chance of any wrong one below a level is at most this level.

    They may depend on each other in any way (Holm, 1979).

    >>> _holm([0.04, 0.01, 0.03])
    [0.06, 0.03, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    stretched = np.asarray(p_values)[order] * np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(stretched), 1.0)
    return adjusted.tolist()


@dataclass(frozen=True)
class _Number:
    """An estimate and its standard errors, downwards and upwards."""

    estimate: Estimate
    below: float
    above: float


class _Side:
    """One of two audits, and how its numbers are read."""

    def __init__(self, audit: Audit) -> None:
        self.audit, self.evidence = audit, Evidence(audit)
        self.attributes = {one.name: one for one in audit.data.attributes}
        self._reach = float(norm.ppf(0.5 + audit.settings.confidence / 2))
        self._halves = [
            (re.compile(rf"(?:^|(?<= & )){re.escape(name)} {sign} \S+(?=$| & )"), f"{name} {half}")
            for name, one in self.attributes.items()
            if one.kind == "numeric"
            for sign, half in (("≤", "up to its median"), (">", "above its median"))
        ]

    def label(self, label: str) -> str:
        """Return the name of a group in both audits: each cuts a number at its own median."""
        for pattern, half in self._halves:
            label = pattern.sub(lambda _, half=half: half, label)  # type: ignore[misc]
        return label

    def number(self, estimate: Estimate | None, n_groups: int = 2) -> _Number | None:
        """Return the standard errors of an estimate from its interval.

        Where an interval was cut, at 0 or 1, its other side is no wider, and stands for both. That
        of the largest difference of several groups is wider below: see `largest_difference`.
        """
        if estimate is None:
            return None
        below, above = estimate.value - estimate.low, estimate.high - estimate.value
        if estimate.low <= 0:
            below = max(below, above * self.stretch(n_groups))
        if estimate.high >= 1:
            above = max(above, below)
        return _Number(estimate, below / self._reach, above / self._reach)

    def stretch(self, n_groups: int) -> float:
        """Return how much wider the lower side is of the largest difference of several groups."""
        found = studentised_range(n_groups, self.audit.settings.confidence) / np.sqrt(2)
        return max(1.0, found / self._reach)

    def share(self, count: int, n: int) -> _Number:
        """Return a share of rows; of repeated rows no more is known than of as many people."""
        value, data = count / n, self.audit.data
        error = float(share_error(value, n * min(1.0, data.n_people / max(data.n_rows, 1))))
        ends = (value - self._reach * error, value + self._reach * error)
        return _Number(Estimate(value, max(0.0, ends[0]), min(1.0, ends[1])), error, error)

    def learned_from(self, kind: str) -> float:
        """Return how many people a probe or a downstream model has learned from."""
        settings = self.audit.settings
        most = (QUICK if settings.quick else FULL).train_rows
        half = self.audit.data.n_people / 2
        return max(1.0, min(half, settings.n_probe_rows if kind == "leakage" else most))

    def compared(self, parity: Parity) -> set[str]:
        """Return the groups that a gap compares, without those too small for a z score."""
        left_out = {one.label for one in parity.groups if not one.compared}
        people = {g.label: g.n_rows for g in self.attributes[parity.attribute].groups}
        people |= {one.label: one.n_rows for one in parity.groups}
        return {
            self.label(name)
            for name, n in people.items()
            if name not in left_out and n >= FEWEST_ROWS
        }


class _Both:
    """Two audits side by side."""

    def __init__(self, before: _Side, now: _Side) -> None:
        self.before, self.now = before, now
        self._sides = before, now
        check_attributes(before.evidence.singles, now.evidence.singles)

    def _asked(self, what: Callable[[Audit], object]) -> bool:
        """Whether both audits have the same of something."""
        return what(self.before.audit) == what(self.now.audit)

    @cached_property
    def _same_outcome(self) -> bool:
        return self._asked(
            lambda audit: (
                audit.settings.above,
                audit.data.target
                and (audit.data.target.name, audit.data.target.kind, audit.data.target.pos_label),
            )
        )

    @cached_property
    def options(self) -> list[Option]:
        """What is compared: models that exist, all columns, and what was recommended before."""
        advice = self.before.audit.advice
        own = [one for one in advice.options if any(m.model == EXISTING for m in one.models)]
        raw = [one for one in advice.options if one.representation == "raw"]
        chosen = [advice.option] if advice.option and advice.option not in raw + own else []
        return [*own, *raw, *chosen]

    def numbers(self) -> list[Change]:
        """Return every number of both audits, not judged yet."""
        found = [*self._shares(), *self._missing()]
        for option in self.options:
            found += self._of_option(option)
        order = [*WORSE_IF, "selection_rate", "mean_score", "share", "missing"]
        return sorted(found, key=lambda one: order.index(one.kind))

    def _of_option(self, option: Option) -> Iterator[Change]:
        asked = [side.audit.settings.model for side in self._sides]
        families = [
            one.model
            for one in option.models
            if one.model == EXISTING or all(name in ("any", one.model) for name in asked)
        ]
        learned = EXISTING not in families
        utilities = [self._utility(side, option, families) for side in self._sides]
        if any(utilities):
            yield self._change("utility", option, utilities, learned=learned)
        for name in self.before.attributes:
            if option.models:
                yield from self._decided(option, name, families)
            yield from self._leaks(option, name, learned=learned)

    def _utility(self, side: _Side, option: Option, families: Sequence[str]) -> _Number | None:
        """Return that of the best model; without a target, the variance that is kept."""
        if not option.models:
            shown = side.evidence.representations.get(option.representation)
            varies = shown is not None and option.representation != "raw"
            return side.number(shown.variance_kept if shown and varies else None)
        found = [side.evidence.decisions(option, model) for model in families]
        known = [one.utility for one in found if one is not None and one.utility is not None]
        return side.number(max(known, key=lambda one: one.value, default=None))

    def _decided(self, option: Option, attribute: str, families: Sequence[str]) -> Iterator[Change]:
        """Yield gaps and ratios, of the model family where they are widest, and rates."""
        learned = EXISTING not in families
        pairs = [
            tuple(parity_of(side.evidence.decisions(option, m), attribute) for side in self._sides)
            for m in families
        ]
        for name in (*GAPS, "ratio"):
            if all(one is None or getattr(one, name) is None for pair in pairs for one in pair):
                continue
            read = [self._compared_alike(old, new, name) for old, new in pairs]
            why = next((reason for _, _, reason in read if reason), "" if read else _FEW_MODELS)
            pick = min if name == "ratio" else max
            numbers: list[_Number | None] = [None, None]
            if not why:
                found = [[old for old, _, _ in read if old], [new for _, new, _ in read if new]]
                numbers = [pick(of, key=lambda one: one.estimate.value) for of in found]
            yield self._change(name, option, numbers, attribute, why=why, learned=learned)
        for old, new in pairs[:1]:
            yield from self._rates(option, old, new, families[0])

    def _compared_alike(
        self, old: Parity | None, new: Parity | None, name: str
    ) -> tuple[_Number | None, _Number | None, str]:
        """Return a gap or ratio between the groups that both audits compare, or why there is none.

        Where one of them compares more groups, both are computed again from the rates.
        """
        if old is None or new is None:
            return None, None, "only one of the audits measured it"
        labels = self.before.compared(old), self.now.compared(new)
        common = labels[0] & labels[1]
        if not common and all(labels):
            return None, None, "no group is in both audits: spell them alike if they are the same"
        if len(common) < 2:
            why = "fewer than two groups have people enough in both audits"
            return None, None, f"{why} ({FEWEST_ROWS} to be counted, 100 to be compared)"
        found = []
        for side, parity, of in zip(self._sides, (old, new), labels, strict=True):
            estimate = getattr(parity, name)
            if of != common:
                groups = [one for one in parity.groups if side.label(one.label) in common]
                estimate = _again(groups, name, side)
            found.append(side.number(estimate, len(common)))
        return found[0], found[1], "" if all(found) else "only one of the audits measured it"

    def _rates(
        self, option: Option, old: Parity | None, new: Parity | None, model: str
    ) -> Iterator[Change]:
        if old is None or new is None or old.level != new.level:
            return
        if old.attribute not in self.before.evidence.singles:
            return
        later = {self.now.label(one.label): one for one in new.groups}
        for one in old.groups:
            label = self.before.label(one.label)
            if label not in later or min(one.n_rows, later[label].n_rows) < FEWEST_ROWS:
                continue
            kind = "selection_rate" if one.selection_rate else "mean_score"
            pair = [
                side.number(getattr(group, kind))
                for side, group in zip(self._sides, (one, later[label]), strict=True)
            ]
            if all(pair):
                learned = model != EXISTING
                yield self._change(kind, option, pair, old.attribute, label, learned=learned)

    def _leaks(self, option: Option, attribute: str, *, learned: bool) -> Iterator[Change]:
        key = self.before.evidence.readable(option)
        found = [
            {leak.probe: leak.auc for leak in side.evidence.leaks(key, attribute)}
            for side in self._sides
        ]
        for probe in found[0]:
            pair = [side.number(of.get(probe)) for side, of in zip(self._sides, found, strict=True)]
            yield self._change("leakage", option, pair, attribute, probe, learned=learned)

    def _shares(self) -> Iterator[Change]:
        """Yield what share of the people each group is; weights hide how well that is known."""
        if any(side.audit.settings.weight for side in self._sides):
            return
        for name in self.before.evidence.singles:
            if name not in self.now.attributes or self.before.attributes[name].kind == "numeric":
                continue
            counts = [
                {group.label: group.n_rows for group in side.attributes[name].groups}
                for side in self._sides
            ]
            for label in (one for one in counts[0] if one in counts[1]):
                pair: list[_Number | None] = [
                    side.share(of[label], sum(of.values()))
                    for side, of in zip(self._sides, counts, strict=True)
                ]
                yield self._change("share", None, pair, name, label)

    def _missing(self) -> Iterator[Change]:
        columns = [
            {one.name: one.n_missing for one in side.audit.data.columns if one.role != "ignored"}
            for side in self._sides
        ]
        for name in columns[0]:
            counts = [of.get(name) for of in columns]
            if None in counts or not any(counts):
                continue
            pair: list[_Number | None] = [
                side.share(min(count or 0, side.audit.data.n_rows), side.audit.data.n_rows)
                for side, count in zip(self._sides, counts, strict=True)
            ]
            yield self._change("missing", None, pair, None, name)

    def _change(
        self,
        kind: str,
        option: Option | None,
        numbers: Sequence[_Number | None],
        attribute: str | None = None,
        part: str | None = None,
        *,
        why: str = "",
        learned: bool = False,
    ) -> Change:
        """Return a number before and now, with its z score unless it means something else now."""
        old, new = numbers
        why = self._known_otherwise(attribute) or why or self._incomparable(kind, option, learned)
        if not why and (old is None or new is None):
            why = "only one of the audits measured it"
        change = Change(
            kind=kind,
            representation=None if option is None else option.representation,
            tradeoff=None if option is None else option.tradeoff,
            attribute=attribute,
            part=part,
            before=None if old is None else old.estimate,
            now=None if new is None else new.estimate,
            difference=None,
            z=None,
            p_value=None,
            verdict=NOT_COMPARED,
            reason=why,
        )
        if old is None or new is None:
            return change
        value = new.estimate.value - old.estimate.value
        down, up = np.hypot(new.below, old.above), np.hypot(new.above, old.below)
        reach = float(norm.ppf(0.5 + self.now.audit.settings.confidence / 2))
        ends = float(value - reach * down), float(value + reach * up)
        error = float(down if value > 0 else up)
        z = 0.0 if value == 0 else value / error if error > 0 else None
        if z is None:
            why = why or "one of the audits does not say how certain it is"
        return replace(
            change,
            difference=Estimate(value, *ends),
            z=None if why else z,
            reason=why,
        )

    def _known_otherwise(self, attribute: str | None) -> str:
        """Say that groups are known in one of the audits only; empty if they are in both."""
        of = [side.attributes.get(attribute or "") for side in self._sides]
        if len({one.kind == "probabilities" for one in of if one is not None}) > 1:
            return "only one of the audits has groups, the other probabilities of groups"
        return ""

    def _incomparable(self, kind: str, option: Option | None, learned: bool) -> str:
        """Say why a number does not mean the same in both audits; empty if it does."""
        if kind in ("share", "missing"):
            return ""
        if not self._asked(lambda audit: audit.settings.weight):
            return "only one of the audits has these weights"
        outcome = learned or kind in ("utility", "true_positive_gap", "false_positive_gap")
        if (outcome or kind == "precision_gap") and kind != "leakage" and not self._same_outcome:
            return "the audits have different targets"
        scored = option is not None and option.representation.startswith("score:")
        if scored and kind != "leakage" and not self._same_outcome:
            return "the audits have different targets"
        people = [side.learned_from(kind) for side in self._sides]
        if learned and max(people) > _MOST_AS_MANY * min(people):
            few, many = (whole(n) for n in sorted(people))
            return (
                f"models that learn from {many} people predict better than those that learn from "
                f"{few}: audit as many (--max-rows)"
            )
        return ""

    def notes(self) -> Iterator[str]:
        """Say what differs and is no number: settings, groups, columns, options and versions."""
        old, new = self.before.audit, self.now.audit
        if old.created > new.created:
            later, earlier = (one.created[:16].replace("T", " ") for one in (old, new))
            yield (
                f"The earlier audit was made later ({later}) than this one ({earlier}): perhaps "
                f"they are swapped"
            )
        yield from self._settings()
        states = [Overview(side.audit).state for side in self._sides]
        if states[0] != states[1]:
            yield f"Verdict before: {states[0]}; now: {states[1]}"
        chosen = [
            side.evidence.spoken_option(side.audit.advice.option)
            if side.audit.advice.option
            else "nothing"
            for side in self._sides
        ]
        if chosen[0] != chosen[1]:
            yield f"Recommended before: {chosen[0]}; now: {chosen[1]}"
        for name in dict.fromkeys([*self.before.evidence.singles, *self.now.evidence.singles]):
            yield from self._groups(name)
        yield from self._columns()
        versions = {"fairpca": (old.fairpca_version, new.fairpca_version)}
        versions |= {
            name: (version, new.versions[name])
            for name, version in old.versions.items()
            if name in new.versions
        }
        told = [f"{name} {a} and {b}" for name, (a, b) in versions.items() if a != b]
        if told:
            yield f"Made by different versions: {', '.join(told)}"

    def _settings(self) -> Iterator[str]:
        asked = (
            *("target", "above", "aim", "max_gap", "model", "n_components", "confidence", "quick"),
            *("person", "weight", "missing", "scale", "given"),
        )
        pairs = {name: [getattr(s.audit.settings, name) for s in self._sides] for name in asked}
        pairs["pos_label"] = [t.pos_label if (t := s.audit.data.target) else None
                              for s in self._sides]  # fmt: skip
        for name, (old, new) in pairs.items():
            if old != new:
                yield f"Option {name} before: {_spoken(old)}; now: {_spoken(new)}"

    def _groups(self, name: str) -> Iterator[str]:
        old, new = (side.attributes.get(name) for side in self._sides)
        label = (self.now if new else self.before).evidence.attribute_label(name)
        if old is None or new is None:
            yield f"{label} is audited {'now, and was not before' if new else 'no more'}"
            return
        yield from self._left_out(name, label)
        was, are = (
            {side.label(group.label): group.n_rows for group in side.attributes[name].groups}
            for side in self._sides
        )
        for what, there, missing in (("new", are, was), ("gone", was, are)):
            found = [f"{named(g)} ({whole(n)} rows)" for g, n in there.items() if g not in missing]
            if found:
                yield f"Groups of {label} that are {what}: {', '.join(found)}"

    def _left_out(self, name: str, spoken: str) -> Iterator[str]:
        """Say which groups only one of the audits compares, in the first model of both."""
        option = next((one for one in self.options if one.models), None)
        if option is None:
            return
        old, new = (
            parity_of(side.evidence.decisions(option, option.models[0].model), name)
            for side in self._sides
        )
        if old is not None and new is not None:
            there = [
                {side.label(group.label) for group in side.attributes[name].groups}
                for side in self._sides
            ]
            both = there[0] & there[1]  # of others, the notes say that they are new or gone
            alone = sorted((self.before.compared(old) ^ self.now.compared(new)) & both)
            if alone:
                said = joined([named(label) for label in alone])
                yield f"Gaps by {spoken} leave out {said}: too few people in one of the audits"

    def _columns(self) -> Iterator[str]:
        old, new = (
            {one.name: (one.role, one.kind) for one in side.audit.data.columns}
            for side in self._sides
        )
        for what, there, others in (("new", new, old), ("gone", old, new)):
            found = [named(name) for name in there if name not in others]
            if found:
                more = f" and {len(found) - 8} more" if len(found) > 8 else ""
                yield f"Columns that are {what}: {', '.join(found[:8])}{more}"
        for name in (one for one in old if one in new and old[one] != new[one]):
            was, now = (" ".join(filter(None, one)) for one in (old[name], new[name]))
            yield f"{named(name)} was a {was} column, and is a {now} column"


def _spoken(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _again(groups: Sequence[GroupRates], name: str, side: _Side) -> Estimate | None:
    """Return a gap or ratio of some of the groups from their rates; they are independent."""
    deviation = 1.0
    rates = [getattr(one, GAPS.get(name, "selection_rate")) for one in groups]
    if name == "gap" and not any(rates):
        rates = [one.mean_score for one in groups]
        target = side.audit.data.target
        deviation = (target and target.deviation) or 1.0
    known = [one for one in rates if one is not None]
    if len(known) < 2:
        return None
    low, high = (pick(known, key=lambda one: one.value) for pick in (min, max))
    reach = float(np.hypot(high.high - high.low, low.high - low.low)) / 2
    if name == "ratio":
        if low.value <= 0:
            return None
        ratio = low.value / high.value
        halves = [(one.high - one.low) / 2 / one.value for one in (low, high)]
        factor = float(np.exp(np.hypot(*halves)))
        return Estimate(ratio, ratio / factor, min(1.0, ratio * factor))
    value, reach = (high.value - low.value) / deviation, reach / deviation
    below = reach * side.stretch(len(known))
    return Estimate(value, max(0.0, value - below), value + reach)
