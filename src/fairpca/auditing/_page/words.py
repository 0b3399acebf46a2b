"""How the page writes the numbers of an audit: one way for each kind, with plain words beside it.

A number and its unit stay on one line.
"""

from __future__ import annotations

import shlex
from functools import partial

from ...metrics import PROBES
from .. import _phrases
from .._phrases import NOT_MEASURED, decimal, named, significant
from .._results import EXISTING, Estimate, Target

UNBROKEN = "\u00a0"

SPOKEN: dict[str | None, str] = {name: probe.one for name, probe in PROBES.items()}
"""What probes and downstream models are called in the middle of a sentence."""

percent = partial(_phrases.percent, space=UNBROKEN)


def level(value: float | None) -> str:
    """Write a level of confidence."""
    return NOT_MEASURED if value is None else f"{100 * value:g}{UNBROKEN}%"


def model_name(model: str | None) -> str:
    """Return what people call a probe or a downstream model, which are the same."""
    if model in PROBES:
        return PROBES[model].one.removeprefix("a ").capitalize()
    return "The model itself" if model == EXISTING else model or ""


def with_models(model: str) -> str:
    """Say which models a recommendation is for.

    >>> with_models("any"), with_models("linear")
    ('whatever model is used', 'with linear models')
    """
    if model == "any":
        return "whatever model is used"
    return f"with {PROBES[model].several}" if model in PROBES else model


def multiline(command: str) -> str:
    r"""Return a command with one option a line, so that it can be typed from paper.

    >>> print(multiline("fairpca audit loans.csv --sensitive race --quick"))
    fairpca audit loans.csv \
        --sensitive race \
        --quick
    >>> multiline("import fairpca\nfairpca.audit(frame)")
    'import fairpca\nfairpca.audit(frame)'
    """
    if not command.startswith("fairpca "):
        return command
    lines: list[list[str]] = [[]]
    for word in shlex.split(command):
        if word.startswith("-") and lines[-1]:
            lines.append([])
        lines[-1].append(shlex.quote(word))
    return " \\\n    ".join(" ".join(line) for line in lines)


def interval(estimate: Estimate | None, scale: float = 1, digits: int = 2) -> str:
    r"""Write the confidence interval of an estimate; empty if there is none.

    >>> interval(Estimate(0.77, 0.741, 0.80), scale=100, digits=1)
    '74.1\xa0to\xa080.0'
    """
    if estimate is None:
        return ""
    ends = (decimal(scale * end, digits) for end in (estimate.low, estimate.high))
    return f"{UNBROKEN}to{UNBROKEN}".join(ends)


class Units:
    """What gap and utility are in this audit, which depends on what is predicted.

    Gaps are multiplied by `scale` and written with `digits` decimals; `gap_name` is what they are
    gaps of, and `utility_name` what usefulness is measured by.
    """

    def __init__(self, target: Target | None) -> None:
        self.target, self.kind = target, target.kind if target else "none"
        number = self.kind == "number"
        self.scale, self.digits = (1.0, 2) if number else (100.0, 1)
        rates = {"number": "mean predictions", "classes": "shares of a class"}
        self.gap_name = f"Gap in {rates.get(self.kind, 'selection rates')}"
        unit = "standard deviations" if number else "percentage points"
        self.gap_axis = f"{self.gap_name.lower()}, {unit} (left is fairer)"
        names = {"number": "R²", "none": "Variance kept", "classes": "AUC, mean of the classes"}
        self.utility_name = names.get(self.kind, "AUC")
        self.accuracy_name = {
            "number": "Accuracy (R²)",
            "none": "Variance kept",
            "classes": "Accuracy (AUC, mean of the classes)",
        }.get(self.kind, "Accuracy (AUC)")

    def gap(self, value: float | None) -> str:
        """Write a gap with its unit."""
        if value is None:
            return NOT_MEASURED
        short = "sd" if self.kind == "number" else "points"
        return f"{self.bare_gap(value)}{UNBROKEN}{short}"

    def limit(self, value: float) -> str:
        """Write the limit of gaps without more digits than it has."""
        if self.kind == "number":
            return self.gap(value)
        most = f"{100 * value:g}"
        return f"{most}{UNBROKEN}{'point' if most == '1' else 'points'}"

    def short(self, value: float | None) -> str:
        """Write a gap in whole points, as headlines do, with its unit."""
        if value is None or self.kind == "number":
            return self.gap(value)
        digits = 0 if round(100 * value, 6) == round(100 * value) or value >= 0.01 else 1
        return f"{decimal(100 * value, digits)}{UNBROKEN}points"

    def short_ends(self, estimate: Estimate) -> str:
        """Write an interval of a gap in whole points."""
        return interval(estimate, self.scale, self.digits if self.kind == "number" else 0)

    def bare_gap(self, value: float | None) -> str:
        """Write a gap without its unit, which stands elsewhere."""
        return NOT_MEASURED if value is None else decimal(self.scale * value, self.digits)

    def in_target_units(self, value: float | None) -> str:
        """Write the gap of a number in the number's own unit; empty of other targets."""
        deviation = self.target.deviation if self.target else None
        if value is None or deviation is None or self.target is None:
            return ""
        return f"{significant(value * deviation)} in {named(self.target.name)}"

    def utility(self, value: float | None) -> str:
        """Write how useful something is."""
        return percent(value) if self.kind == "none" else decimal(value)
