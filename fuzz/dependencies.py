"""``python -m fuzz.dependencies``: what users install with us, its licences, known advisories.

Licences are read from the metadata of what is installed here. Advisories need `pip-audit` and a
source of advisories that can be reached; where either is missing, the last line says that they
were not checked, and the exit code is 3. It is 1 if something was found, or if our oldest versions
let in one of `HOLES` through which the package can be reached.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from rich.console import Console
from rich.table import Table

from .licences import OURS, PROJECT, Package, brought_by, extras

NOT_CHECKED, SECONDS = 3, 300


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
"""As of 2026-11, from the advisories themselves. A list by hand is never complete: it is for those
that matter to what the package does, and for machines that reach no source of advisories."""


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


def main() -> int:
    """Show a table of packages, then what is known against them."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.dependencies", description=__doc__)
    parser.add_argument("--markdown", type=Path, help="a file for the table")
    parser.add_argument("--offline", action="store_true", help="licences only")
    asked, console = parser.parse_args(), Console()
    packages, users, lacking = collected()
    lines = [(p.name, p.version, p.licence, p.verdict, ", ".join(users[p.name])) for p in packages]
    table = Table("package", "version", "licence", "verdict", "brought by", box=None)
    for line in lines:
        table.add_row(*line, style="" if line[3] == "fine" else "yellow")
    console.print(table)
    doubtful = [p.name for p in packages if p.verdict != "fine"]
    console.print(f"{len(packages)} packages; licences to look at: {', '.join(doubtful) or 'none'}")
    if lacking:
        console.print(f"Not installed here, so not looked at: {', '.join(sorted(lacking))}")
    if asked.markdown is not None:
        asked.markdown.write_text(_markdown(lines), encoding="utf-8")
    for hole in (holes := let_in()):
        told = f"{hole.library} < {hole.fixed_in} may be installed ({hole.what})"
        console.print(told, style="red" if hole.reaches_us else "", markup=False)
    reached = any(hole.reaches_us for hole in holes)
    if asked.offline:
        console.print("Advisories were NOT checked (--offline).")
        return 1 if reached else NOT_CHECKED
    found, checked, why = advisories(packages)
    for name, told in found.items():
        console.print(f"{name}: {told}", style="red", markup=False)
    if not checked:
        console.print(f"Advisories were NOT checked: {why}", style="yellow", markup=False)
        return 1 if reached else NOT_CHECKED
    console.print(f"Advisories were checked for {checked} of {len(packages)} packages. {why}")
    return int(bool(found) or reached)


def collected() -> tuple[list[Package], dict[str, list[str]], set[str]]:
    """Return all packages, which extras bring each, and which are not installed."""
    packages: dict[str, Package] = {}
    users: dict[str, list[str]] = {}
    lacking: set[str] = set()
    for extra in extras():
        found, absent = brought_by(extra)
        lacking |= absent
        for name, package in found.items():
            packages[name] = package
            users.setdefault(name, []).append(extra or "fairpca itself")
    # What the package itself brings, every extra brings.
    users = {name: (by[:1] if by[0] == "fairpca itself" else by) for name, by in users.items()}
    return [packages[name] for name in sorted(packages)], users, lacking


def advisories(packages: list[Package]) -> tuple[dict[str, str], int, str]:
    """Return what is known against packages, for how many somebody was asked, and why not all."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as listed:
        listed.write("".join(f"{p.name}=={p.version}\n" for p in packages))
        listed.flush()
        beside = shutil.which("pip-audit")  # it may have an environment of its own
        command = [beside] if beside else [sys.executable, "-m", "pip_audit"]
        command += [
            "--requirement",
            listed.name,
            "--no-deps",
            "--disable-pip",
            "--format",
            "json",
            "--progress-spinner",
            "off",
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return {}, 0, f"no answer in {SECONDS} seconds."
    if "No module named" in done.stderr:
        return {}, 0, "pip-audit is not installed. Install it beside: pip install pip-audit"
    return read_answer(done.stdout, done.stderr)


def read_answer(printed: str, complaints: str = "") -> tuple[dict[str, str], int, str]:
    """Read what pip-audit printed; packages that its source does not know were not checked.

    Without a source of advisories it calls every package unknown and reports no vulnerability,
    which is easily read as good news.
    """
    try:
        answers = json.loads(printed)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = complaints.strip().splitlines()[-1:] or ["pip-audit gave no answer"]
        return {}, 0, last[0][:200]
    asked = [one for one in answers if "vulns" in one]
    found = {
        f"{one['name']} {one['version']}": ", ".join(v["id"] for v in one["vulns"])
        for one in asked
        if one["vulns"]
    }
    skipped = len(answers) - len(asked)
    if not asked:
        return {}, 0, f"the source of advisories knows none of the {skipped} packages from here."
    return found, len(asked), f"{skipped} were not known to the source." if skipped else ""


def _markdown(lines: list[tuple[str, ...]]) -> str:
    head = "| package | version | licence | verdict | brought by |\n|---|---|---|---|---|\n"
    return head + "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
