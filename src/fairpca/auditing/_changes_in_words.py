"""What changed since an earlier audit, as people read it: on pages, terminals and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import norm

from ..metrics import PROBES
from ._audit_result import Audit
from ._evidence import Evidence
from ._phrases import decimal, in_words, named, percent, whole
from ._results import Change, Estimate
from ._since import BETTER, CHANGED, NO_CHANGE, NOT_COMPARED, NOTHING_WORSE, WORSE, WORSE_IF

_NAMES = {
    "gap": "Gap",
    "ratio": "Four-fifths ratio",
    "true_positive_gap": "Gap in true positive rates",
    "false_positive_gap": "Gap in false positive rates",
    "precision_gap": "Gap in precision",
    "leakage": "AUC for predicting",
}
_GAP_KINDS = ("gap", "true_positive_gap", "false_positive_gap", "precision_gap")
_SHARES = ("selection_rate", "share", "missing")


@dataclass(frozen=True)
class ChangeLine:
    """A number before and now in words: what it is, of which option or decision, and the verdict.

    `difference` has a sign, and `interval` its ends.
    """

    what: str
    of: str
    before: str
    now: str
    difference: str
    interval: str
    z: str
    verdict: str
    reason: str


class ChangesInWords:
    """The changes of an audit in words; it has to have some."""

    def __init__(self, audit: Audit) -> None:
        assert audit.changes is not None
        self.audit, self.changes, self._evidence = audit, audit.changes, Evidence(audit)

    @property
    def significant(self) -> list[ChangeLine]:
        """What changed beyond chance, the worse first."""
        order = (WORSE, BETTER, CHANGED)
        found = [one for one in self.changes.numbers if one.verdict in order]
        return self._lines(sorted(found, key=lambda one: order.index(one.verdict)))

    @property
    def all_lines(self) -> list[ChangeLine]:
        """Every number of both audits."""
        return self._lines(self.changes.numbers)

    def not_compared(self) -> list[str]:
        """Say why numbers could not be compared: each reason, and of how many."""
        reasons = [one.reason for one in self.changes.numbers if one.verdict == NOT_COMPARED]
        said = (
            f"{_numbers(reasons.count(reason))} not compared: {reason}"
            for reason in dict.fromkeys(reasons)
        )
        return [one[0].upper() + one[1:] for one in said]

    def others(self) -> str:
        """Say how many numbers did not change; empty if there is none."""
        n = sum(one.verdict == NO_CHANGE for one in self.changes.numbers)
        other = " other" if self.significant else ""
        said = f"{n}{other} {'number' if n == 1 else 'numbers'} without a change beyond chance"
        return said if n else ""

    def headline(self) -> str:
        """Say in a sentence whether anything became worse."""
        since = f"since {self.changes.created[:10]}"
        worse = [one for one in self.changes.numbers if one.verdict == WORSE]
        if worse:
            first = self._line(max(worse, key=lambda one: abs(one.z or 0.0)))
            rest = f" (and {_numbers(len(worse) - 1, 'more')})" if len(worse) > 1 else ""
            what = first.what[0].lower() + first.what[1:] if first.what[1].islower() else first.what
            of = f" ({first.of})" if first.of else ""
            return f"Worse {since}: {what}{of}, {first.before} before and {first.now} now{rest}."
        if self.changes.verdict == NOTHING_WORSE:
            return f"Nothing became worse {since} beyond chance."
        why = next((one.reason for one in self.changes.numbers if one.reason), "")
        said = f"These audits cannot tell whether anything became worse {since}"
        return f"{said}: {why}." if why else f"{said}."

    def sizes(self) -> str:
        """Say how many rows either audit has."""
        before, now = map(whole, (self.changes.n_rows, self.audit.data.n_rows))
        return f"{before} rows before ({self.changes.name}), {now} now"

    def visible(self) -> str:
        """Say how large a change of the widest gap had to be; empty if no gap was compared."""
        gaps = [one for one in self.changes.numbers if one.kind == "gap" and one.z is not None]
        if not gaps or self.changes.verdict == WORSE:
            return ""
        widest = max(gaps, key=lambda one: one.now.value if one.now else 0.0)
        assert widest.difference is not None
        level = self.audit.settings.confidence
        n = sum(one.kind in WORSE_IF and one.z is not None for one in self.changes.numbers)
        reach = norm.ppf(0.5 + level / 2)
        error = (widest.difference.value - widest.difference.low) / reach
        least = float(norm.isf((1 - level) / 2 / n) * error)
        line = self._line(widest)
        of = f" ({line.of})" if line.of else ""
        what = line.what[0].lower() + line.what[1:]
        return f"A rise of the {what}{of} by less than {self._size(widest, least)} could be chance."

    def _lines(self, numbers: Sequence[Change]) -> list[ChangeLine]:
        return [self._line(one) for one in numbers]

    def _line(self, one: Change) -> ChangeLine:
        difference = one.difference
        return ChangeLine(
            what=self._what(one),
            of=self._of(one),
            before=self._value(one, one.before),
            now=self._value(one, one.now),
            difference="" if difference is None else self._size(one, difference.value, sign=True),
            interval="" if difference is None else self._ends(one, difference),
            z="" if one.z is None else decimal(one.z, 1),
            verdict=one.verdict,
            reason=one.reason,
        )

    def _what(self, one: Change) -> str:
        attribute = self._evidence.attribute_label(one.attribute) if one.attribute else ""
        part = named(one.part or "")
        if one.kind == "leakage":
            probe = PROBES[one.part].one if one.part in PROBES else part
            return f"AUC for predicting {attribute}, {probe}"
        if one.kind in _NAMES:
            return f"{_NAMES[one.kind]} by {attribute}"
        if one.kind == "utility":
            number = self._target_is_number
            return (
                "Accuracy (R²)" if number else "Accuracy (AUC)" if self._target else "Variance kept"
            )
        if one.kind == "missing":
            return f"Missing values of {self._evidence.label(one.part or '')}"
        said = {"selection_rate": "Selected", "mean_score": "Mean prediction", "share": "Share"}
        return f"{said.get(one.kind, one.kind)}, {attribute} {part}"

    def _of(self, one: Change) -> str:
        if one.representation is None:
            return ""
        if one.representation == "raw":
            return "model on all columns" if self._target else "all columns"
        shown = self._evidence.representations.get(one.representation)
        name = shown.name if shown else one.representation
        name = name[0].lower() + name[1:] if name[1:2].islower() else name
        return name if one.tradeoff is None else f"{name}, lambda = {one.tradeoff:g}"

    @property
    def _target(self) -> bool:
        return self.audit.data.target is not None

    @property
    def _target_is_number(self) -> bool:
        target = self.audit.data.target
        return target is not None and target.kind == "number"

    def _in_deviations(self, one: Change) -> bool:
        shown = self._evidence.representations.get(one.representation or "")
        return self._target_is_number and not (shown and shown.kind == "decision")

    def _value(self, one: Change, estimate: Estimate | None) -> str:
        if estimate is None:
            return "n/a"
        kept = one.kind == "utility" and not self._target
        if one.kind in _SHARES or kept:
            return percent(estimate.value)
        return self._size(one, estimate.value)

    def _size(self, one: Change, value: float, *, sign: bool = False) -> str:
        """Write a value or a difference with its unit."""
        plus = "+" if sign and value > 0 else ""
        scale, digits, unit = self._unit(one)
        return f"{plus}{decimal(scale * value, digits)}{unit}"

    def _ends(self, one: Change, difference: Estimate) -> str:
        scale, digits, _ = self._unit(one)
        low, high = (decimal(scale * end, digits) for end in (difference.low, difference.high))
        return f"{low} to {high}"

    def _unit(self, one: Change) -> tuple[float, int, str]:
        if one.kind == "gap" and self._in_deviations(one):
            return 1.0, 2, " sd"
        kept = one.kind == "utility" and not self._target
        if one.kind in _GAP_KINDS or one.kind in _SHARES or kept:
            return 100.0, 1, " points"
        return 1.0, 2, ""


def _numbers(count: int, more: str = "") -> str:
    """Write how many numbers: one, three more."""
    words = [in_words(count), more, "number" if count == 1 else "numbers"]
    return " ".join(filter(None, words))
