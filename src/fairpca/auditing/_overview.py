"""What an audit comes to, for the first screen of the page and for the terminal.

All of it is read from the numbers of the audit: is the limit met, what does each group get now and
with the recommended option, whom does that move, what does it cost, why, and who is not covered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ._audit_result import Audit
from ._evidence import Evidence, largest, parity_of, widest_gap
from ._phrases import decimal, in_words, joined, named, shortened
from ._representations import METHODS
from ._results import EXISTING, Bounds, Estimate, ExplainedGap, GroupRates, Leak, Option, Parity

MET, NOT_MET, NOT_SETTLED = "met", "not met", "not settled"

STATES = {
    MET: "Limit met",
    NOT_MET: "Limit not met",
    NOT_SETTLED: "Not settled by these data",
}
"""Of a gap against the limit, in words."""

FOUR_FIFTHS = 0.8

_MOST_NAMED = 3  # groups or columns that a sentence names
_FEW_PEOPLE = 0.5  # fewer are nobody
_FEW_ALONE = 0.01  # of a group: fewer without a counterpart, who change nothing, are not told
_SMALL = 0.01  # gaps below one point are written with a decimal
_ROUNDING = 1e-6


def status(gap: Estimate | None, limit: float) -> str:
    """Return whether a gap is within a limit: with its whole interval, or not settled.

    >>> status(Estimate(0.03, 0.01, 0.04), 0.05), status(Estimate(0.09, 0.02, 0.15), 0.05)
    ('met', 'not settled')
    """
    if gap is None or gap.low <= limit < gap.high:
        return NOT_SETTLED
    return MET if gap.high <= limit else NOT_MET


@dataclass(frozen=True)
class Shown:
    """A column of the table of rates: what it is, its option, and a word about its role."""

    head: str
    option: Option | None
    role: str


@dataclass(frozen=True)
class GroupLine:
    """A group with its people and what it gets by each column; None where that is unknown."""

    label: str
    n_people: int
    rates: list[Estimate | None]
    compared: bool
    more: float | None
    """People that the recommended option selects in addition to the model on all columns."""


@dataclass(frozen=True)
class Rates:
    """What the groups of one attribute get by each column, with gap and four-fifths ratio.

    Where the groups of some people are unknown, there are bounds of the gap; where there are
    legitimate factors, gaps are explained.
    """

    attribute: str
    groups: list[GroupLine]
    gaps: list[Estimate | None]
    ratios: list[Estimate | None]
    bounds: list[Bounds | None]
    explained: list[ExplainedGap | None]


@dataclass(frozen=True)
class GroupCost:
    """What the recommended option costs a group: before and after, and the outcome."""

    label: str
    precision: tuple[Estimate | None, Estimate | None]
    mean_score: tuple[Estimate | None, Estimate | None]
    mean_outcome: Estimate | None


class Overview:
    """The first screen, in parts; `today` is the option that stands for how things are."""

    def __init__(self, audit: Audit) -> None:
        self.evidence, self.audit = Evidence(audit), audit
        self.settings, self.target = self.audit.settings, self.audit.data.target
        self.advice = self.audit.advice
        self.number = self.target is not None and self.target.kind == "number"
        own = [one for one in self.advice.options if self._compares(one)]
        self.today = next(iter(own or self.advice.options), None)
        self.recommended = self.advice.option
        self.raw = next((one for one in self.advice.options if not _exists(one)), None)
        self.has_limit = bool(self.today and self.today.gap) and (
            self.settings.aim == "decide" or self.advice.verdict == "only measured"
        )

    def _compares(self, option: Option) -> bool:
        """Whether an option exists, and is of the target's unit: no decision beside numbers."""
        decided = self.evidence.representations[option.representation].kind == "decision"
        return _exists(option) and not (self.number and decided)

    def status(self, option: Option | None) -> str:
        """Return whether an option meets the limit; empty where there is none to meet."""
        if not self.has_limit or option is None:
            return ""
        return status(option.gap, self.settings.max_gap)

    def compared_to_limit(self, gap: Estimate | None) -> str:
        """Return whether a gap is within the limit; empty where there is none."""
        return status(gap, self.settings.max_gap) if self.has_limit else ""

    @property
    def state(self) -> str:
        """The verdict on how things are, in words; of leakage where there is no limit."""
        now = self.status(self.today)
        if now:
            assert self.today is not None
            beyond = now == MET and self.evidence.beyond_limit(self.today)
            where = " where groups are known" if beyond else ""
            when = " today" if self.recommended else ""
            assumed = self.evidence.assumed(self.today)
            return (
                STATES[now] + where + when + (", as far as probabilities tell" if assumed else "")
            )
        if self.advice.verdict == "no action needed":
            return "No action needed"
        found = self.today is not None and self.today.leak_above_chance
        return "Leakage found" if found else "No significant leakage"

    def spoken_gap(self, value: float) -> str:
        """Write a gap as headlines do: in whole points."""
        if self.number:
            return f"{decimal(value)} standard deviations"
        whole = abs(100 * value - round(100 * value)) < _ROUNDING or value >= _SMALL
        return f"{decimal(100 * value, 0 if whole else 1)} points"

    def spoken_bounds(self, bounds: Bounds) -> str:
        """Write what a gap may be, from the smallest to the largest."""
        return f"{self.spoken_gap(bounds.low).split()[0]} to {self.spoken_gap(bounds.high)}"

    def statement(self) -> str:
        """Say how things are today, against the limit; empty where there is none."""
        today, said = self.today, self._statement()
        bounds = self.evidence.bounds(today, self.attribute) if today and said else None
        if bounds is None or bounds.n_probable:
            return said
        return f"{said} {self.evidence.told_of_bounds(bounds, self.spoken_bounds(bounds))}"

    def assumption(self) -> str:
        """Say what numbers mean where groups are probabilities; empty where they are known."""
        bounds = self.evidence.bounds(self.today, self.attribute) if self.today else None
        if bounds is None or not bounds.n_probable:
            return self.evidence.assumption
        possible = self.evidence.told_of_bounds(bounds, self.spoken_bounds(bounds))
        return f"{self.evidence.assumption} {possible}"

    @property
    def factors(self) -> str:
        """The legitimate factors, as in a sentence; empty where none was named."""
        return joined([self.label(name) for name in self.settings.given or []])

    def explained(self, option: Option | None, attribute: str) -> str:
        """Say what of a gap the factors explain, and what they do not; empty where nobody can."""
        return "" if option is None else explained_in_words(self.evidence, option, attribute)

    def split(self, attribute: str) -> list[tuple[str, str]]:
        """Return what factors explain of the gap of each column, beside its head."""
        found = [(one.head, self.explained(one.option, attribute)) for one in self.columns()]
        return [(head, said) for head, said in found if said]

    def decided_by(self) -> str:
        """Say who decided that the factors are legitimate; empty without factors."""
        if not self.factors:
            return ""
        several = len(self.settings.given or []) > 1
        what = f"{self.factors} {'are legitimate factors' if several else 'is a legitimate factor'}"
        if self.settings.given_by:
            return f"That {what} was decided by {shortened(self.settings.given_by, 300)}."
        return f"Nobody is named who decided that {what}."

    def _statement(self) -> str:
        today = self.today
        if not self.has_limit or today is None or today.gap is None:
            return ""
        gap, limit = map(self.spoken_gap, (today.gap.value, self.settings.max_gap))
        who = f"{today.name}:" if _exists(today) else "Models trained on all columns:"
        gap = gap.replace("points", "percentage points")  # at first use
        label = self.label(self.attribute)
        ends = self._ends(today)
        if self.number or not ends:
            return f"{who} {self.what} differ by {gap} by {label}. The limit is {limit}."
        (most, high), (least, low) = ends
        return (
            f"{who} {high} of 100 {named(most)} and {low} of 100 {named(least)} people "
            f"{self.selected}, a gap of {gap} by {label}. The limit is {limit}."
        )

    def _ends(self, option: Option) -> list[tuple[str, str]]:
        """Return the groups of the highest and the lowest rate, with it; none if two are not known.

        Each is of 100, as the table of rates has it.
        """
        parity = self.evidence.worst_parity(option, self.attribute)
        rates = [
            (group.selection_rate.value, group.label)
            for group in (parity.groups if parity and parity.level is None else [])
            if group.compared and group.selection_rate is not None
        ]
        if len(rates) < 2:
            return []
        return [(label, decimal(100 * rate, 0)) for rate, label in (max(rates), min(rates))]

    @property
    def selected(self) -> str:
        """What is done to people who are selected, in a word: the target's, if it is one."""
        if self.target is None or self.target.pos_label not in ("1", "True", "true", "yes", "Yes"):
            return "selected"
        for text in ((self.audit.data.labels or {}).get(self.target.name, ""), self.target.name):
            word = text.replace("_", " ").split()[-1:] or [""]
            if word[0].endswith("ed"):
                return word[0].lower()
        return "selected"

    @property
    def what(self) -> str:
        """What differs between groups: approval rates, say, or mean predictions."""
        if self.number:
            return "mean predictions"
        if self.target is not None and self.target.kind == "classes":
            return "shares of a class"
        return "selection rates" if self.selected == "selected" else f"shares {self.selected}"

    def columns(self) -> list[Shown]:
        """Return the columns of rates: past, existing models, all columns, the recommendation."""
        found = []
        if self.target is not None and self.target.kind != "classes":
            found.append(Shown("Past data", None, "decisions or outcomes in the table"))
        own = filter(self._compares, self.advice.options)
        found += [Shown(shortened(one.name), one, "yours") for one in own]
        if self.raw is not None and self.target is not None:
            found.append(Shown("Model on all columns", self.raw, "no method applied"))
        if self.recommended is not None and self.target is not None:
            name = self.evidence.spoken_option(self.recommended)
            found.append(Shown(f"Model with {name}", self.recommended, "recommended"))
        return found

    def rates(self, attribute: str) -> Rates:
        """Return what each group of an attribute gets."""
        found = next(one for one in self.audit.data.attributes if one.name == attribute)
        shown = self.columns()
        parities = [
            self.evidence.worst_parity(one.option, attribute) if one.option else None
            for one in shown
        ]
        compared = {g.label for p in parities if p for g in p.groups if g.compared}
        lines = []
        for group in found.groups:
            rates = [
                self._rate(parity, group.label) if one.option else _exactly(group.outcome)
                for one, parity in zip(shown, parities, strict=True)
            ]
            kept = group.label in compared or not compared
            more = self._more(attribute, group.label, group.n_rows)
            label = shortened(group.label)
            lines.append(GroupLine(label, group.n_rows, rates, kept, more))
        past = [line.rates[0] for line in lines if line.compared and line.rates]
        gaps = [
            widest_gap([p.gap for p in self.evidence.parities(one.option, attribute)])
            if one.option
            else self._spread(past)
            for one in shown
        ]
        ratios = [parity.ratio if parity else None if one.option else self._ratio(past)
                  for one, parity in zip(shown, parities, strict=True)]  # fmt: skip
        bounds = [
            self.evidence.bounds(one.option, attribute) if one.option else None for one in shown
        ]
        explained = [
            self.evidence.explained(one.option, attribute) if one.option else None for one in shown
        ]
        return Rates(attribute, lines, gaps, ratios, bounds, explained)

    def _rate(self, parity: Parity | None, label: str) -> Estimate | None:
        group = _group(parity, label)
        if group is None:
            return None
        return group.mean_score if self.number else group.selection_rate

    def _more(self, attribute: str, label: str, n_people: int) -> float | None:
        """Return how many more people of a group the recommended option selects."""
        if self.number or self.settings.weight or self.raw is None or self.recommended is None:
            return None
        before, after = (
            self._rate(self.evidence.worst_parity(option, attribute), label)
            for option in (self.raw, self.recommended)
        )
        if before is None or after is None or self.recommended is self.raw:
            return None
        return n_people * (after.value - before.value)

    def _spread(self, rates: Sequence[Estimate | None]) -> Estimate | None:
        values = [one.value for one in rates if one is not None]
        if len(values) < 2:
            return None
        scale = self.target.deviation if self.number and self.target else 1.0
        return _exactly((max(values) - min(values)) / (scale or 1.0))

    def _ratio(self, rates: Sequence[Estimate | None]) -> Estimate | None:
        values = [one.value for one in rates if one is not None]
        if self.number or len(values) < 2 or max(values) <= 0:
            return None
        return _exactly(min(values) / max(values))

    @property
    def attribute(self) -> str:
        """The attribute that the first screen is about: the one of the largest gap, or leakage."""
        if self.today is not None and self.today.gap_attribute is not None:
            return self.today.gap_attribute
        if self.today is not None:
            return self.today.leak_attribute
        return self.evidence.singles[0]

    def people(self) -> str:
        """Say whom the recommended option moves, in people; empty where nobody can say."""
        moved = [one for one in self.rates(self.attribute).groups if one.more is not None]
        said = [
            f"{abs(one.more or 0.0):,.0f} {'more' if (one.more or 0.0) > 0 else 'fewer'} "
            f"{named(one.label)}"
            for one in moved
            if abs(one.more or 0.0) >= _FEW_PEOPLE
        ]
        if not said:
            return ""
        return f"about {joined(said)} {self.selected} than with all columns"

    def costs(self) -> list[GroupCost]:
        """Return precision and calibration of each group, before and with the recommendation."""
        if self.raw is None or self.recommended is None or self.target is None:
            return []
        model = str(self.recommended.gap_model or self.recommended.utility_model)
        found = [
            parity_of(self.evidence.decisions(option, model), self.attribute)
            for option in (self.raw, self.recommended)
        ]
        costs = []
        for label in (group.label for group in found[1].groups) if found[1] else ():
            before, after = (_group(parity, label) for parity in found)
            if before is None or after is None:
                continue
            costs.append(
                GroupCost(
                    label,
                    (before.precision, after.precision),
                    (before.mean_score, after.mean_score),
                    after.mean_outcome,
                )
            )
        return costs

    def dearest(self) -> GroupCost | None:
        """Return the group whose precision falls most."""
        known = [c for c in self.costs() if c.precision[0] and c.precision[1]]
        fall = {c.label: c.precision[0].value - c.precision[1].value  # type: ignore[union-attr]
                for c in known}  # fmt: skip
        worst = max(known, key=lambda c: fall[c.label], default=None)
        return worst if worst is not None and fall[worst.label] > 0 else None

    def leak(self, option: Option | None, attribute: str | None = None) -> Leak | None:
        """Return how well an attribute is recovered from an option, by the best probe."""
        if option is None:
            return None
        key = self.evidence.readable(option)
        leaks = self.evidence.leaks(key, attribute or self.attribute)
        return largest(leaks) if leaks else None

    def label(self, attribute: str) -> str:
        """Return the readable name of an attribute or a column."""
        return shortened(self.evidence.attribute_label(attribute))

    def proxies(self, attribute: str | None = None) -> list[str]:
        """Return the columns through which an attribute is predicted, readable, strongest first."""
        found = self.evidence.proxies(attribute or self.attribute)[:_MOST_NAMED]
        return [shortened(self.evidence.label(one), 60) for one in found]

    def spoken_proxies(self, attribute: str) -> list[str]:
        """Return the same by their labels alone, for people who do not know the codes."""
        labels, found = self.audit.data.labels or {}, self.evidence.proxies(attribute)
        return [shortened(labels.get(one, one), 60) for one in found[:_MOST_NAMED]]

    def in_short(self) -> str:
        """Say what a model sees with the recommended option; empty where there is none."""
        if self.recommended is None:
            return ""
        made = self.evidence.representations[self.recommended.representation].setting
        return METHODS[made.method].in_short if made.method in METHODS else ""

    def slips(self) -> list[str]:
        """Return the attributes whose gap meets the limit today, but not as recommended."""
        if not self.has_limit or self.raw is None or self.recommended is None:
            return []
        return [
            self.label(name)
            for name in self.evidence.singles
            if self._gap_status(self.raw, name) == MET
            and self._gap_status(self.recommended, name) != MET
        ]

    def _gap_status(self, option: Option, attribute: str) -> str:
        gaps = [parity.gap for parity in self.evidence.parities(option, attribute)]
        return status(widest_gap(gaps), self.settings.max_gap)

    def about_the_table(self) -> str:
        """Say what the columns of the table of rates are, and what stands in brackets."""
        shown = self.columns()
        said = []
        if shown and shown[0].option is None and self.target is not None:
            said.append(f"Past data: {self.label(self.target.name)}, as in the table")
        if any(one.option is not None and not _exists(one.option) for one in shown):
            said.append("models: trained for this audit, measured on held-out data")
        said.append(f"in brackets: {decimal(100 * self.settings.confidence, 0)} % intervals")
        if self.has_limit:
            said.append("not settled: the limit is inside the interval")
        if not self.number:
            said.append("gaps are computed before rounding")
        if self.attribute in self.evidence.probable:
            said.append(
                "everybody counts in each group by the probability, and people of a group are "
                "expected numbers"
            )
        text = "; ".join(said)
        return f"{text[0].upper()}{text[1:]}."

    def too_small(self) -> list[tuple[str, list[GroupRates], int]]:
        """Return attributes, the groups of each that no gap compares, and how many there are."""
        option = self.recommended or self.today
        if option is None:
            return []
        found = {
            option.gap_attribute: option.gap_groups,
            option.joint_attribute: option.joint_groups,
        }
        return [
            (name, sorted(of.left_out, key=_lowest), of.n_groups)
            for name, of in found.items()
            if name is not None and of is not None and of.left_out
        ]

    def not_covered(self) -> list[str]:
        """Say which groups no gap compares, which rows are left out, and what was not asked."""
        said = []
        option = self.recommended or self.today
        whose = f"rates of {self.evidence.spoken_option(option)}" if option else ""
        for attribute, small, n_groups in self.too_small():
            groups = "; ".join(map(self._named, small[:_MOST_NAMED]))
            rest = len(small) - _MOST_NAMED
            more = f"; and {in_words(rest)} more" if rest > 0 else ""
            said.append(
                f"{len(small)} of {n_groups} groups of {self.label(attribute)} have too few people "
                f"to compare ({whose}): {groups}{more}"
            )
        unknown = [
            f"{self.label(one.name)} ({one.n_missing:,} rows)"
            for one in self.audit.data.attributes
            if one.n_missing and one.kind != "intersection"
        ]
        if unknown:
            said.append(f"Rows in which an attribute is missing: {joined(unknown)}")
        others = joined([self.label(name) for name in self.evidence.singles])
        said.append(f"Attributes other than {others} were not measured")
        return said

    def _named(self, group: GroupRates) -> str:
        rate = group.mean_score if self.number else group.selection_rate
        people = "1 person" if group.n_rows == 1 else f"{group.n_rows:,} people"
        if rate is None:
            return f"{named(group.label)} ({people})"
        ends = [decimal(x if self.number else 100 * x, 2 if self.number else 0)
                for x in (rate.value, rate.low, rate.high)]  # fmt: skip
        unit = "mean prediction " if self.number else ""
        percent = "" if self.number else f" % {self.selected}"
        said = f"{unit}{ends[0]}{percent}, {ends[1]} to {ends[2]}"
        return f"{named(group.label)} ({people}, {said})"


def explained_in_words(evidence: Evidence, option: Option, attribute: str) -> str:
    """Say what of a gap legitimate factors explain, and what they do not; empty without any."""
    found = evidence.explained(option, attribute)
    if found is None:
        return ""
    target, kind = evidence.audit.data.target, evidence.representations[option.representation].kind
    number = target is not None and target.kind == "number" and kind != "decision"
    parts = [found.explained, found.unexplained, found.unmatched]
    scale, unit, digits = (1, "standard deviations", 2) if number else (100, "points", 1)
    if not number and _adds_up(found.difference, parts):
        digits = 0  # as headlines do
    whole, explained, left, alone = (
        decimal(scale * one.value, digits) for one in (found.difference, *parts)
    )
    low, high = (
        decimal(scale * x, digits) for x in (found.unexplained.low, found.unexplained.high)
    )
    are = "is" if explained == "1" else "are"
    unit = "point" if whole == "1" and not number else unit
    explained = f"none ({explained})" if explained.startswith("-") else explained
    few = found.most_alone < _FEW_ALONE and float(alone) == 0
    others = "" if few else f", and {alone} are of people without a counterpart"
    given = evidence.audit.settings.given or []
    factors = joined([shortened(evidence.attribute_label(name)) for name in given])
    ahead = f"; with equal {factors}, {named(found.lower)} is ahead"
    turned = ahead if found.unexplained.high < 0 else ""
    return (
        f"of {whole} {unit} between {named(found.higher)} and {named(found.lower)}, {explained} "
        f"{are} explained by {factors}, {left} ({low} to {high}) are not{others}"
        f"{turned}"
    )


def _adds_up(whole: Estimate, parts: Sequence[Estimate]) -> bool:
    """Whether parts in whole points add up to a whole of one point or more."""
    rounded = [round(100 * one.value) for one in parts]
    return whole.value >= _SMALL and sum(rounded) == round(100 * whole.value)


def _exists(option: Option) -> bool:
    return any(one.model == EXISTING for one in option.models)


def _exactly(value: float | None) -> Estimate | None:
    """Return a number of the table itself, which has no interval."""
    return None if value is None else Estimate(value, value, value)


def _group(parity: Parity | None, label: str) -> GroupRates | None:
    groups = parity.groups if parity else []
    return next((one for one in groups if one.label == label), None)


def _lowest(group: GroupRates) -> float:
    rate = group.selection_rate or group.mean_score
    return rate.value if rate else 1.0
