"""Holes in libraries that a person read about, and whether our oldest versions have them.

A list by hand is never complete: it is for those that matter to what the package does, and for
machines from which no source of advisories can be reached.
"""

from __future__ import annotations

from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from .licences import OURS, PROJECT


@dataclass(frozen=True)
class Hole:
    """A hole, the first version without it, and whether the package can be reached through it."""

    library: str
    fixed_in: str
    what: str
    reaches_us: bool


HOLES = (
    Hole("skops", "0.12", "CVE-2025-54412: functions that are called unseen on loading", True),
    Hole("pyarrow", "14.0.1", "CVE-2023-47248: code that is run on reading a table", True),
    Hole("jinja2", "3.1.6", "CVE-2025-27516 and older: the sandbox, xmlattr; not used", False),
    Hole("pillow", "10.3", "CVE-2024-28219 and older: images; ours are known by digest", False),
    Hole("onnx", "1.21", "CVE-2026-27489: reading external data; we only write", False),
)
"""As of 2026-11, from the advisories themselves."""


def oldest_versions() -> dict[str, Version]:
    """Return the oldest version that the project asks for, by library."""
    lines = list(PROJECT["dependencies"])
    for asked in PROJECT["optional-dependencies"].values():
        lines += asked
    found: dict[str, Version] = {}
    for requirement in map(Requirement, lines):
        name = canonicalize_name(requirement.name)
        for one in requirement.specifier:
            if one.operator == ">=" and name != OURS:
                version = Version(one.version)
                found[name] = min(version, found.get(name, version))
    return found


def let_in() -> list[Hole]:
    """Return the holes that the oldest versions still have."""
    oldest = oldest_versions()
    return [
        hole
        for hole in HOLES
        if hole.library in oldest and oldest[hole.library] < Version(hole.fixed_in)
    ]
