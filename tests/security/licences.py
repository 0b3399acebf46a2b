"""Which installed packages each extra brings, and under which licences."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OURS = "fairpca"
PERMISSIVE = re.compile(
    r"\b(MIT|BSD|Apache|ISC|PSF|Python Software Foundation|MPL|Mozilla Public|Zlib|Unlicense|HPND|"
    r"CC0|0BSD|Public Domain|PIL|CNRI)",
    re.IGNORECASE,
)
COPYLEFT = re.compile(r"\b(A?GPL|GNU (Affero )?General Public)", re.IGNORECASE)
LONGEST = 60
PYPROJECT = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
PROJECT = tomllib.loads(PYPROJECT)["project"]


@dataclass(frozen=True)
class Package:
    """An installed package."""

    name: str
    version: str
    licence: str

    @property
    def verdict(self) -> str:
        """What its licence means for who uses it: "fine", or that a person should look."""
        if COPYLEFT.search(self.licence) and not PERMISSIVE.search(self.licence):
            return "copyleft: look"
        return "fine" if PERMISSIVE.search(self.licence) else "unknown: look"


def extras() -> list[str]:
    """Return the names of the extras; "" is the package alone."""
    return ["", *PROJECT["optional-dependencies"]]


def brought_by(extra: str) -> tuple[dict[str, Package], set[str]]:
    """Return the installed packages that an extra brings, by name, and those not installed."""
    found: dict[str, Package] = {}
    lacking: set[str] = set()
    waiting = list(_needed(OURS, [extra] if extra else []))
    seen = {(OURS, extra)}
    while waiting:
        name, asked = waiting.pop()
        key = canonicalize_name(name)
        if key != OURS and key not in installed():
            lacking.add(key)
            continue
        if key != OURS:
            found[key] = package(key)
        for one in asked or [""]:
            if (key, one) not in seen:
                seen.add((key, one))
                waiting += _needed(name, [one] if one else [])
    return found, lacking


def _needed(name: str, asked: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Return what a package needs with some of its extras, on this machine."""
    needed = []
    for requirement in _of_the_project(tuple(asked)) if name == OURS else _required(name):
        choices = [{"extra": extra} for extra in asked] or [{"extra": ""}]
        if requirement.marker is None or any(map(requirement.marker.evaluate, choices)):
            needed.append((requirement.name, sorted(requirement.extras)))
    return needed


@cache
def _of_the_project(asked: tuple[str, ...]) -> list[Requirement]:
    """Return what this project needs, from its own file: what is installed may be older."""
    lines = list(PROJECT["dependencies"])
    for extra in asked:
        lines += PROJECT["optional-dependencies"][extra]
    return [Requirement(line) for line in lines]


@cache
def _required(name: str) -> list[Requirement]:
    return [Requirement(line) for line in installed()[canonicalize_name(name)].requires or []]


@cache
def installed() -> dict[str, Distribution]:
    """Return what is installed, by name; looked for once, which takes the time."""
    return {canonicalize_name(there.name): there for there in distributions()}


@cache
def package(name: str) -> Package:
    """Return an installed package."""
    there = installed()[name]
    return Package(name, there.version, licence_of(there))


def licence_of(there: Distribution) -> str:
    """Return what a package says about its licence, the clearest statement first."""
    metadata = there.metadata
    stated = [metadata.get("License-Expression")]
    stated += [
        line.rpartition(" :: ")[2]
        for line in metadata.get_all("Classifier") or []
        if line.startswith("License ::") and not line.endswith("OSI Approved")
    ]
    stated += [_first_line(metadata.get("License"))]
    stated += [_first_line(_licence_file(there))]
    words = [line[:LONGEST] for line in stated if line]
    return next(
        (line for line in words if PERMISSIVE.search(line) or COPYLEFT.search(line)), ""
    ) or (words[0] if words else "not stated")


def _first_line(text: str | None) -> str | None:
    return text.strip().splitlines()[0] if text and text.strip() else None


def _licence_file(there: Distribution) -> str | None:
    found = [path for path in there.files or [] if path.name.upper().startswith("LICEN")]
    return found[0].read_text(encoding="utf-8") if found else None
