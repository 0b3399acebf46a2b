"""What a gate accepts: limits, of which numbers, between which groups; as options or in TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any

from ..errors import AuditError
from ._phrases import shortened
from ._results import GAPS

METRICS = tuple(GAPS.values())
"""Rates that a gate compares between groups."""

UNDECIDED = ("pass", "fail")
"""What may become of a number of which the people are too few to say."""

_TABLE = "fairpca"  # [tool.fairpca]
_FEWEST_POINTS = 0.1  # less is a fraction that was meant as such
_LARGE = 1e300  # integers of TOML have any size


@dataclass(frozen=True)
class Policy:
    """What a gate accepts; the fields are the arguments of `gate`, and fractions are fractions."""

    sensitive: tuple[str, ...] = ()
    target: str | None = None
    decisions: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    threshold: float | None = None
    metrics: tuple[str, ...] = METRICS[:1]
    max_gap: float | None = None
    min_ratio: float | None = None
    joint: bool = False
    confidence: float | None = None
    undecided: str | None = None
    recommended: bool = False
    pos_label: Any = None
    sensitive_kinds: tuple[tuple[str, str], ...] = ()
    person: str | None = None
    weight: str | None = None

    def checked(self) -> Policy:
        """Return itself; raise where nothing could be judged by it."""
        for name in ("max_gap", "min_ratio", "confidence", "threshold"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, Real)):
                raise AuditError(f"{name}={value!r} must be a number.")
        if self.max_gap is None and self.min_ratio is None:
            raise AuditError(
                "A gate needs a limit, and none is given. Pass max_gap=0.05 (--max-gap 5, in "
                "percentage points), min_ratio=0.8 (--min-ratio 0.8), or a policy that has one."
            )
        check_fraction(self.max_gap, "max_gap")
        if self.min_ratio is not None and not 0.0 < self.min_ratio <= 1.0:
            raise AuditError(
                f"min_ratio={self.min_ratio:g} must be above 0 and at most 1; 0.8 is the "
                f"four-fifths rule."
            )
        if self.min_ratio is not None and "selection_rate" not in self.metrics:
            raise AuditError(
                "min_ratio is about selection rates, which are not among the metrics. Add "
                "'selection_rate', or leave min_ratio out."
            )
        others = [repr(one) for one in self.metrics if one != "selection_rate"]
        if self.max_gap is None and others:
            raise AuditError(
                f"{', '.join(others)} has no limit: min_ratio is about selection rates. Pass "
                f"max_gap, too, or leave it out."
            )
        if self.confidence is not None and not 0.5 <= self.confidence < 1.0:
            raise AuditError(
                f"confidence={self.confidence:g} must be from 0.5 to below 1; 0.95 is usual."
            )
        for name, value, known in (
            ("undecided", (self.undecided,) if self.undecided else (), UNDECIDED),
            ("metrics", self.metrics, METRICS),
        ):
            for one in value:
                if one not in known:
                    raise AuditError(
                        f"{name}={one!r} is none of {', '.join(map(repr, known))}."
                        f"{_meant(str(one).replace('-', '_'), known)}"
                    )
        if not self.metrics:
            raise AuditError(f"metrics is empty. Name one of {', '.join(map(repr, METRICS))}.")
        if self.threshold is not None and not isfinite(self.threshold):
            raise AuditError(
                f"threshold={self.threshold:g} selects nobody, or everybody. Pass a number."
            )
        if self.threshold is not None and not self.scores:
            raise AuditError(
                f"threshold={self.threshold:g} makes decisions of a score, but no score is named. "
                f"Pass scores=... (--score), or leave it out."
            )
        return self


def check_fraction(max_gap: float | None, name: str) -> None:
    """Reject a largest gap in points, as the command line has it, and what no gap can be."""
    if max_gap is None:
        return
    if 1.0 <= max_gap < 100.0:
        raise AuditError(
            f"{name}={max_gap:g} must be a fraction; {max_gap:g} percentage points are "
            f"{max_gap / 100:g}. Pass {name}={max_gap / 100:g}."
        )
    if not 0.0 <= max_gap < 1.0:
        raise AuditError(
            f"{name}={max_gap:g} must be a fraction from 0 to 1; 5 percentage points are 0.05."
        )


def fraction_of(points: float, name: str) -> float:
    """Return a largest gap in percentage points as a fraction; what looks like one is rejected."""
    if 0.0 < points < _FEWEST_POINTS:
        raise AuditError(
            f"{name} {points:g} means {points:g} percentage points, too little to measure. As a "
            f"fraction it is {100 * points:g} points: pass {name} {100 * points:g}."
        )
    if not 0.0 <= points < 100.0:
        raise AuditError(f"{name} {points:g} has to be from 0 to below 100 percentage points.")
    return points / 100


def policy_of(options: Mapping[str, Any], file: str | Path | None) -> Policy:
    """Return the policy of a file with the options that are given, which come first.

    Options are arguments of `gate`; one that is None is not given.
    """
    found = Policy() if file is None else _read(Path(file).expanduser())
    given = {name: value for name, value in options.items() if value is not None}
    for name in ("sensitive", "decisions", "scores", "metrics"):
        if name in given:
            one = given[name]
            given[name] = tuple(dict.fromkeys((one,) if isinstance(one, str) else one))
    if isinstance(given.get("sensitive_kinds"), Mapping):
        given["sensitive_kinds"] = tuple(given["sensitive_kinds"].items())
    return replace(found, **given).checked()


def nearest_policy(folder: Path) -> Path | None:
    """Return the nearest pyproject.toml, of the folder or one above it, if it has a policy."""
    for place in (folder, *folder.parents):
        file = place / "pyproject.toml"
        if file.is_file():
            return file if _tables(_parsed(file)) is not None else None
    return None


def _parsed(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))  # some editors add the mark
    except UnicodeDecodeError:
        raise AuditError(f"{file} is no text in UTF-8, and so no TOML.") from None
    except (ValueError, RecursionError) as error:  # such as a number of 5,000 digits
        raise AuditError(f"{file} is no TOML: {error}.") from None


def _tables(whole: Mapping[str, Any]) -> Any:
    tool = whole.get("tool")
    return tool.get(_TABLE) if isinstance(tool, dict) else None


def _read(file: Path) -> Policy:
    """Read [tool.fairpca], or a file that has nothing else; keys are options of `fairpca gate`."""
    if not file.is_file():
        raise AuditError(f"There is no file '{file}' with a policy.")
    whole = _parsed(file)
    found = _tables(whole)
    if found is None and (file.name == "pyproject.toml" or "tool" in whole):
        raise AuditError(f"{file} has no table [tool.{_TABLE}]. Write the policy there.")
    found = whole if found is None else found
    if not isinstance(found, dict):
        raise AuditError(f"tool.{_TABLE} in {file} must be a table: write [tool.{_TABLE}].")
    given: dict[str, Any] = {}
    for key, value in found.items():
        if key not in _KEYS:
            raise AuditError(
                f"'{key}' in {file} is no key of a policy.{_meant(key, _KEYS)} The keys are "
                f"{', '.join(_KEYS)}."
            )
        name, kind = _KEYS[key]
        given[name] = given.get(name, ()) + _value(kind, value, key, file)
    single = {name: value[0] for name, value in given.items() if name not in _SEVERAL}
    several: dict[str, Any] = {
        name: tuple(dict.fromkeys(value)) for name, value in given.items() if name in _SEVERAL
    }
    return Policy(**single, **several)


def _value(kind: str, value: Any, key: str, file: Path) -> tuple[Any, ...]:
    """Return what a key has as values of the field that it sets, one unless it takes several."""
    several = kind.startswith("list of ")
    values = value if several and isinstance(value, list) else [value]
    single = kind.removeprefix("list of ")
    for one in values:
        number = isinstance(one, int | float) and not isinstance(one, bool) and abs(one) < _LARGE
        right = {
            "texts": isinstance(one, str),
            "text": isinstance(one, str),
            "number": number,
            "number of percentage points": number,
            "true or false": isinstance(one, bool),
            "value": not isinstance(one, dict | list),
        }[single]
        if not right:
            what = {"texts": "a text, or a list of texts", "true or false": single}.get(
                single, f"a {single}"
            )
            raise AuditError(f"{key} = {shortened(repr(one))} in {file} must be {what}.")
    if key in ("numeric", "categorical"):
        return tuple((one, key) for one in values)
    if key == "max-gap":
        return (fraction_of(float(value), f"max-gap in {file}:"),)
    if key == "metric":
        return tuple(one.replace("-", "_") for one in values)
    return tuple(values)


def _meant(key: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    near = get_close_matches(key, list(known), 1)
    return f" Did you mean '{near[0]}'?" if near else ""


_KEYS = {
    "sensitive": ("sensitive", "list of texts"),
    "target": ("target", "text"),
    "pos-label": ("pos_label", "value"),
    "decision": ("decisions", "list of texts"),
    "score": ("scores", "list of texts"),
    "threshold": ("threshold", "number"),
    "metric": ("metrics", "list of texts"),
    "max-gap": ("max_gap", "number of percentage points"),
    "min-ratio": ("min_ratio", "number"),
    "joint": ("joint", "true or false"),
    "confidence": ("confidence", "number"),
    "undecided": ("undecided", "text"),
    "recommended": ("recommended", "true or false"),
    "numeric": ("sensitive_kinds", "list of texts"),
    "categorical": ("sensitive_kinds", "list of texts"),
    "person": ("person", "text"),
    "weight": ("weight", "text"),
}
"""Keys of a policy, the options of `fairpca gate`, with the arguments of `gate` that they set."""

_SEVERAL = {f.name for f in fields(Policy) if isinstance(f.default, tuple)}
