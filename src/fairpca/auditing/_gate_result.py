"""A verdict on gaps, and the numbers that it rests on: in a line, in Markdown, as JUnit's XML."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any
from unicodedata import category
from xml.etree import ElementTree

from ..errors import ExitStatus
from ._phrases import decimal, in_markdown, joined, named

WITHIN, EXCEEDED, UNDECIDED = "within", "exceeded", "undecided"

RATIO = "selection_rate_ratio"


@dataclass(frozen=True)
class GateCheck:
    """One number against its limit."""

    model: str
    attribute: str
    metric: str
    unit: str
    limit: float
    verdict: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    groups: tuple[tuple[str, float], ...] = ()
    note: str = ""

    @property
    def spoken(self) -> str:
        """What is judged, in words."""
        number, what = "gap in", self.metric.replace("_", " ")
        if self.metric == RATIO:
            number, what = "ratio of", "selection rates"
        elif self.unit == "deviations":
            what = "mean prediction"
        return f"{number} {what} of {self.model} by {self.attribute}"

    def written(self, value: float | None) -> str:
        """Write a number in the unit of this one."""
        if self.unit == "points":
            return decimal(None if value is None else 100 * value, 1)
        return decimal(value)

    @property
    def numbers(self) -> str:
        """The number with its interval and its limit."""
        unit = {"points": " points", "deviations": " standard deviations"}.get(self.unit, "")
        bound = "at least" if self.unit == "ratio" else "limit"
        limit = f"{bound} {self.written(self.limit)}"
        if self.value is None:
            return f"not measured, {limit}{unit}"
        value, low, high = map(self.written, (self.value, self.low, self.high))
        return f"{value}{unit} (interval {low} to {high}), {limit}"

    @property
    def ends(self) -> str:
        """The groups with the highest and the lowest rate."""
        scale, digits = (1, 2) if self.unit == "deviations" else (100, 1)
        percent = "" if self.unit == "deviations" else " %"
        return ", ".join(
            f"{place} {named(label)} {decimal(scale * rate, digits)}{percent}"
            for place, (label, rate) in zip(("highest", "lowest"), self.groups, strict=False)
        )


@dataclass(frozen=True)
class Gate:
    """Result of `gate`: a verdict, and every number that it rests on.

    Attributes
    ----------
    verdict : {"within", "exceeded", "undecided"}
        "exceeded" if one number exceeds its limit with its whole interval, "within" if all are
        within it with their whole intervals. In between the people are too few to say, unless the
        policy says what becomes of these (`undecided`).
    status : ExitStatus
        The exit status of `fairpca gate`: 0 within, 1 exceeded, 3 undecided.
    name : str
        The table or audit.
    n_people : int
        People whose decisions were judged.
    checks : list of GateCheck
        One for each model, attribute and metric: its `value` with `low` and `high`, its `limit`,
        `verdict`, the two `groups` that differ most with their rates, and a `note` such as groups
        that are too small to be compared. Numbers are None where nothing could be measured.
    confidence : float
        Level of the intervals.
    policy : str
        File with the policy; empty where there is none.

    See Also
    --------
    gate : Returns it.
    assert_gate : Raises an error unless the verdict is "within".

    Examples
    --------
    >>> import pandas as pd
    >>> from fairpca import gate
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 500, "hired": [1, 1, 0, 1] * 250})
    >>> found = gate(people, "sex", decisions="hired", max_gap=0.05)
    >>> found.verdict, int(found.status), found.checks[0].value
    ('exceeded', 1, 0.5)
    """

    verdict: str
    status: ExitStatus
    name: str
    n_people: int
    checks: list[GateCheck]
    confidence: float
    policy: str = ""

    @property
    def worst(self) -> GateCheck:
        """The number that the verdict rests on."""

        def excess(one: GateCheck) -> float:
            if one.value is None:
                return 0.0
            return one.limit - one.value if one.unit == "ratio" else one.value - one.limit

        order = [EXCEEDED, UNDECIDED, WITHIN]
        return min(self.checks, key=lambda one: (order.index(one.verdict), -excess(one)))

    def __str__(self) -> str:
        """Return the verdict, the worst number, and how many others there are, in one line."""
        worst = self.worst
        ends = f"; {worst.ends}" if worst.ends else ""
        said = f"{self.headline}: {worst.spoken} is {worst.numbers}{ends}."
        return " ".join(filter(None, [said, worst.note, self._others(worst)]))

    def _others(self, worst: GateCheck) -> str:
        others = [one for one in self.checks if one is not worst]
        if not others:
            return ""
        counts = Counter(one.verdict for one in others)
        shown = [f"{counts[one]} {one}" for one in (EXCEEDED, UNDECIDED, WITHIN) if counts[one]]
        return f"Other numbers: {joined(shown)}."

    @property
    def headline(self) -> str:
        """The verdict in words, and of a number that was left to the policy what became of it."""
        if self.worst.verdict == UNDECIDED and self.verdict != UNDECIDED:
            became = "passes" if self.verdict == WITHIN else "fails"
            return f"Undecided, and {became} by the policy"
        said = {WITHIN: "Within the limit", EXCEEDED: "Limit exceeded"}
        return said.get(self.verdict, "Undecided, too few people to say")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON.

        Returns
        -------
        values : dict
            All fields; ``status`` is the exit status.
        """
        return {**asdict(self), "status": int(self.status)}

    def to_markdown(self) -> str:
        """Return a table of all numbers, such as for a pull request.

        Returns
        -------
        text : str
            Markdown; names of columns and groups are no markup in it.
        """
        lines = [
            f"**{in_markdown(str(self))}**",
            "",
            f"{in_markdown(self.name)}, {self.n_people:,} people, "
            f"{decimal(100 * self.confidence, 0)} % intervals.",
            "",
            "| Number | Measured | Groups | Verdict |",
            "|---|---|---|---|",
        ]
        for one in self.checks:
            cells = (one.spoken, one.numbers, one.ends, " ".join([one.verdict, one.note]).strip())
            lines.append(f"| {' | '.join(map(in_markdown, cells))} |")
        return "\n".join([*lines, ""])

    def to_junit(self) -> str:
        """Return JUnit's XML, one test case a number, for the test view of a pipeline.

        Returns
        -------
        text : str
            XML. A number that exceeds its limit has failed; one that is undecided was skipped,
            or has failed if that is the policy.
        """
        left = {WITHIN: "system-out", EXCEEDED: "failure", UNDECIDED: "skipped"}[self.verdict]
        kinds = {WITHIN: "system-out", EXCEEDED: "failure", UNDECIDED: left}
        cases = []
        for one in self.checks:
            case = ElementTree.Element("testcase", classname="fairpca.gate", name=_xml(one.spoken))
            told = ElementTree.SubElement(case, kinds[one.verdict])
            said = " ".join(filter(None, [f"{one.verdict}: {one.numbers}.", one.ends, one.note]))
            if told.tag == "system-out":
                told.text = _xml(said)
            else:
                told.set("message", _xml(said))
            cases.append(case)
        counts = Counter(case[0].tag for case in cases)
        suite = ElementTree.Element(
            "testsuite",
            name=_xml(f"fairpca gate {self.name}"),
            tests=str(len(cases)),
            failures=str(counts["failure"]),
            errors="0",
            skipped=str(counts["skipped"]),
        )
        suite.extend(cases)
        ElementTree.indent(suite)
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _xml(text: str) -> str:
    """Return a text without the characters that XML cannot have."""
    return "".join("\ufffd" if category(c) in ("Cc", "Cs", "Cn") else c for c in text)
