"""The tests in environments of their own: oldest versions, newest, without extras, with all.

Run from the root of the repository::

    python tests/matrix.py                       # all environments, all tests (half an hour)
    python tests/matrix.py bare oldest --core    # the core, a minute each
    python tests/matrix.py --markdown out/matrix.md
    python tests/matrix.py --python python3.11 --python python3.12 --python python3.13

The first Python makes every environment, the others those of the newest versions: the oldest ones
of libraries know no newer Python. An environment is made anew when what it is made of has changed,
and kept otherwise.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
OLDEST = ROOT / "tests" / "oldest.txt"
CORE = (
    *(
        f"tests/{folder}"
        for folder in ("numerics", "attributes", "moments", "solvers", "kernels", "metrics")
    ),
    "tests/estimators/test_fair_pca.py",
    "tests/estimators/test_fair_kernel_pca.py",
    "tests/estimators/test_bad_input.py",
    "tests/estimators/test_rows_in_parts.py",
    "tests/guarantees/test_round_trips.py",
)
"""Tests of what everything else stands on; most need no optional library."""

PROGRAMS = "Scripts" if os.name == "nt" else "bin"
"""Folder of an environment's programs."""

SHOWN = ("numpy", "scipy", "scikit-learn", "pandas")
"""Libraries whose versions are in the table."""


@dataclass(frozen=True)
class Environment:
    """What is installed beside the package: pip's arguments, for all tests and for the core."""

    what: str
    arguments: tuple[str, ...]
    for_core: tuple[str, ...] | None = None


TOOLS = ("pytest>=8", "pytest-xdist>=3.6", "hypothesis>=6.100")
LIMITED = ("--constraint", str(OLDEST))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
EXTRAS = re.search("^EXTRAS := (.*)$", MAKEFILE, re.MULTILINE)[1]
ALL = ("-e", f".[{EXTRAS}]", "-e", "./paper", "--group", "test")
ENVIRONMENTS = {
    "bare": Environment("newest versions, no optional library", ("-e", ".", *TOOLS)),
    "oldest": Environment(
        "oldest supported versions, all extras",
        (*LIMITED, *ALL),
        (*LIMITED, "-e", ".", *TOOLS, "pandas", "array-api-strict"),
    ),
    "newest": Environment(
        "newest versions, all extras",
        ("--upgrade", *ALL),
        ("--upgrade", "-e", ".", *TOOLS, "pandas", "polars", "array-api-strict"),
    ),
}


@dataclass
class Outcome:
    """How the tests went in one environment."""

    name: str
    python: str
    versions: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    returncode: int = 1

    @property
    def ok(self) -> bool:
        return self.returncode == 0


def main(arguments: list[str] | None = None) -> int:
    """Make the environments, run the tests in each, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(ENVIRONMENTS)}; default all")
    parser.add_argument("--core", action="store_true", help="only the core, in small environments")
    parser.add_argument("--folder", type=Path, default=ROOT / ".venv-matrix", help="for them")
    parser.add_argument("--markdown", type=Path, help="also write the table to this file")
    parser.add_argument(
        "--python", action="append", help="interpreter to make them with; may be repeated"
    )
    parser.add_argument("--processes", default="2", help="test processes in an environment")
    given = parser.parse_args(arguments)
    names = given.names or list(ENVIRONMENTS)
    if unknown := set(names) - set(ENVIRONMENTS):
        parser.error(f"no environment {', '.join(sorted(unknown))}: {', '.join(ENVIRONMENTS)}")
    first, *others = given.python or [sys.executable]
    pairs = [(name, first) for name in names]
    pairs += [(name, python) for python in others for name in names if name == "newest"]
    outcomes = [run(name, python, given) for name, python in pairs]
    table = as_markdown(outcomes)
    sys.stdout.write(f"\n{table}\n")
    if given.markdown is not None:
        pythons = list(dict.fromkeys(one.python.rpartition(".")[0] for one in outcomes))
        given.markdown.parent.mkdir(parents=True, exist_ok=True)
        given.markdown.write_text(page(table, given.core, pythons), encoding="utf-8")
    return 0 if all(outcome.ok for outcome in outcomes) else 1


def run(name: str, interpreter: str, given: argparse.Namespace) -> Outcome:
    """Return how the tests go in one environment."""
    start = time.monotonic()
    python = made(name, interpreter, given)
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["--numprocesses", given.processes, "--dist", "worksteal"]
    sys.stdout.write(f"{python.parents[1].name}: testing\n")
    done = subprocess.run(
        command + (list(CORE) if given.core else ["tests", "src"]),
        cwd=ROOT,
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        sys.stdout.write(done.stdout)
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""
    counts = {
        word: int(n) for n, word in re.findall(r"(\d+) (passed|skipped|failed|errors?)", last)
    }
    return Outcome(
        name,
        *installed(python),
        counts=counts,
        seconds=time.monotonic() - start,
        returncode=done.returncode,
    )


def made(name: str, interpreter: str, given: argparse.Namespace) -> Path:
    """Return the interpreter of an environment, which is made if it is not there or outdated."""
    chosen = ENVIRONMENTS[name]
    arguments = chosen.arguments
    if given.core and chosen.for_core is not None:
        arguments = chosen.for_core
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "pyproject.toml", OLDEST)]
    version = installed(Path(interpreter))[0]
    described = "\n".join([*arguments, *texts, version])
    digest = hashlib.sha256(described.encode()).hexdigest()
    minor = version.rpartition(".")[0]
    folder = given.folder / f"{name}-{minor}{'-core' if given.core else ''}"
    stamp, python = folder / "made-of", folder / PROGRAMS / "python"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != digest:
        sys.stdout.write(f"{folder.name}: installing {chosen.what}\n")
        subprocess.run([interpreter, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--upgrade", "pip"], check=True)  # an old one knows no groups
        subprocess.run([*pip, *arguments], cwd=ROOT, check=True)
        stamp.write_text(digest, encoding="utf-8")
    return python


def installed(python: Path) -> tuple[str, dict[str, str]]:
    """Return the versions of Python and of the libraries that the table shows."""
    program = (
        "import platform, sys\nfrom importlib.metadata import version, PackageNotFoundError\n"
        "print(platform.python_version())\n"
        "for name in sys.argv[1:]:\n"
        "    try: print(version(name))\n"
        "    except PackageNotFoundError: print('none')\n"
    )
    told = subprocess.run([str(python), "-c", program, *SHOWN], capture_output=True, text=True)
    first, *versions = told.stdout.splitlines()
    return first, dict(zip(SHOWN, versions, strict=True))


def as_markdown(outcomes: list[Outcome]) -> str:
    """Return one line per environment."""
    heads = ["environment", "what", "Python", *SHOWN, "passed", "skipped", "failed", "seconds"]
    lines = [heads, ["---"] * len(heads)]
    for one in outcomes:
        failed = sum(one.counts.get(word, 0) for word in ("failed", "error", "errors"))
        numbers = [one.counts.get("passed", 0), one.counts.get("skipped", 0), failed]
        cells = [one.name, ENVIRONMENTS[one.name].what, one.python, *one.versions.values()]
        lines.append([*cells, *map(str, numbers), f"{one.seconds:.0f}"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page(table: str, core: bool, pythons: list[str]) -> str:
    """Return the table, and where it comes from."""
    command = "python tests/matrix.py" + (" --core" if core else "")
    if len(pythons) > 1:
        command += "".join(f" --python python{version}" for version in pythons)
    return (
        f"`{command}` on {time.strftime('%Y-%m-%d', time.gmtime())}. Tests that need a library "
        "which is not\ninstalled are skipped and say so; seconds include the installation where "
        f"one was needed.\n\n{table}\n"
    )


if __name__ == "__main__":
    sys.exit(main())
