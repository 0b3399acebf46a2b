"""How the page writes the numbers of an audit: one way for each kind, with plain words beside it.

A number and its unit stay on one line.
"""

from __future__ import annotations

from functools import partial

from ...metrics import PROBES
from .. import _phrases
from .._phrases import NOT_MEASURED, decimal, named, significant
from .._results import EXISTING, Estimate, Target

UNBROKEN = "\u00a0"

SPOKEN: dict[str | None, str] = {name: probe.one for name, probe in PROBES.items()}
"""What probes and downstream models are called in the middle of a sentence."""

FOUR_FIFTHS = 0.8

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
    """Say which models an advice is for.

    >>> with_models("any"), with_models("linear")
    ('whatever model is used', 'with linear models')
    """
    if model == "any":
        return "whatever model is used"
    return f"with {PROBES[model].several}" if model in PROBES else model


def interval(estimate: Estimate | None, scale: float = 1, digits: int = 2) -> str:
    r"""Write the confidence interval of an estimate; empty if there is none.

    >>> interval(Estimate(0.77, 0.741, 0.80), scale=100, digits=1)
    '74.1\xa0to\xa080.0'
    """
    if estimate is None:
        return ""
    ends = (decimal(scale * end, digits) for end in (estimate.low, estimate.high))
    return f"{UNBROKEN}to{UNBROKEN}".join(ends)


def of_a_hundred(auc: float | None) -> str:
    r"""Write an AUC as how many of a hundred pairs are told apart rightly.

    >>> of_a_hundred(0.838)
    '84\xa0of\xa0100'
    """
    return NOT_MEASURED if auc is None else f"{100 * auc:.0f} of 100".replace(" ", UNBROKEN)


def pairs(attribute: str, *, several: bool) -> str:
    """Say of which pairs of people an AUC of an attribute is; of several groups it is a mean.

    >>> pairs("sex", several=False)
    'two people of different sex'
    """
    if several:
        return f"a person of one group of {named(attribute)} and one of the others"
    return f"two people of different {named(attribute)}"


def recognised(attribute: str, auc: float | None, *, several: bool) -> str:
    """Say what an AUC of recognising an attribute means."""
    return (
        f"given {pairs(attribute, several=several)}, such a model says which is which rightly in "
        f"{of_a_hundred(auc)} cases{', on average over the groups' if several else ''}"
    )


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
        self.gap_name = f"Gap of {rates.get(self.kind, 'selection rates')}"
        unit = "standard deviations" if number else "points"
        self.gap_axis = f"{self.gap_name.lower()}, {unit} (left is fairer)"
        names = {"number": "R²", "none": "Variance kept", "classes": "AUC, mean of the classes"}
        self.utility_name = names.get(self.kind, "AUC")

    def gap(self, value: float | None) -> str:
        """Write a gap with its unit."""
        if value is None:
            return NOT_MEASURED
        short = "sd" if self.kind == "number" else "points"
        return f"{self.bare_gap(value)}{UNBROKEN}{short}"

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

    def useful(self, value: float | None) -> str:
        """Write the same as a share of all differences, of a hundred pairs, or of the variance."""
        if self.kind in ("number", "none") or value is None:
            return percent(None if value is None else max(value, 0.0), 0)
        return of_a_hundred(value)

    def usefulness(self, value: float | None) -> str:
        """Say what it means, as the end of a sentence."""
        target = self.target
        if target is None:
            return f"{self.useful(value)} of the variance of the columns can be recovered"
        if self.kind == "number":
            return (
                f"such a model explains {self.useful(value)} of the differences in "
                f"{named(target.name)} between people"
            )
        if target.pos_label is None:
            whom, over = (
                f"a person of one class of {named(target.name)} and one of the others",
                (", on average over the classes"),
            )
        else:
            yes = f"{named(target.name)} = {named(target.pos_label)}"
            whom, over = f"one person with {yes} and one without", ""
        return f"given {whom}, such a model ranks them rightly in {self.useful(value)} cases{over}"
