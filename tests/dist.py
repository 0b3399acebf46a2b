"""What a release hands out: built, looked into, installed in fresh environments, and used there.

Run from the root of a checkout; nothing but Python is needed::

    python tests/dist.py                     # everything (a quarter of an hour)
    python tests/dist.py --only bare audit   # build, then these environments only

``dist/`` holds one sdist and one wheel afterwards: what is published. The environments are in
``.venv-dist``; those in which something failed are kept.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from email.parser import Parser
from pathlib import Path, PurePosixPath

from installed import CALLS, ENGINES, LIBRARIES

ROOT = Path(__file__).resolve().parents[1]
DIST, ENVIRONMENTS = ROOT / "dist", ROOT / ".venv-dist"

PROGRAMS = "Scripts" if os.name == "nt" else "bin"
TORCH = "torch==2.13.0"  # by version: the newest may bring gigabytes for graphics cards
LONGEST = 900  # seconds for one command
FOREIGN = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "FAIRPCA_DATA", "SCIPY_ARRAY_API"}
"""Settings of a developer's terminal; a stranger has none of them."""

KINDS = {".py", ".pyi", ".css", ".html", ".js", ".csv", ".toml", ".txt", ".typed"}
"""Files of the package, all of them our own. Another kind may be somebody else's work: then its
licence belongs beside it and into `license-files` of pyproject.toml."""

IN_THE_SDIST = {"CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md", "SECURITY.md"}
IN_THE_SDIST |= {"Makefile", "pyproject.toml", "tests/conftest.py", "tests/dist.py"}


class Failed(Exception):
    """What went wrong, in the words of the command that failed."""


def run(command: list[str], cwd: Path = ROOT, fails: bool = False) -> str:
    """Return what a command prints; of one that must fail, what it complains."""
    here = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    here |= {"PYTHONNOUSERSITE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "NO_COLOR": "1"}
    try:
        done = subprocess.run(
            command, cwd=cwd, env=here, capture_output=True, text=True, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{shlex.join(command)[:200]}: no end in {LONGEST} seconds") from None
    if fails is (done.returncode == 0):
        wrong = "did not fail" if fails else f"ended with {done.returncode}"
        raise Failed(f"{shlex.join(command)} {wrong}:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stderr if fails else done.stdout


def need(holds: object, otherwise: str) -> None:
    """Fail with a sentence unless something holds."""
    if not holds:
        raise Failed(otherwise)


class Environment:
    """A fresh virtual environment, with an empty folder to work in."""

    def __init__(self, name: str, base: str) -> None:
        self.folder = ENVIRONMENTS / name
        self.work = self.folder / "work"
        run([base, "-m", "venv", "--clear", str(self.folder)])
        self.work.mkdir()

    def program(self, name: str, *arguments: str, cwd: Path | None = None, fails=False) -> str:
        """Run a program of the environment."""
        return run([str(self.folder / PROGRAMS / name), *arguments], cwd or self.work, fails)

    def call(self, name: str, *arguments: str, fails: bool = False) -> str:
        """Run a call of `installed.py`, out of reach of the checkout."""
        copy = shutil.copy(ROOT / "tests" / "installed.py", self.work)
        return self.program("python", str(copy), name, *arguments, fails=fails)

    def packages(self) -> int:
        """Return how many packages were installed beside our own."""
        lines = self.program("pip", "list", "--format=freeze").splitlines()
        return len(
            {re.split("[= @]", line)[0] for line in lines} - {"pip", "setuptools", "fairpca"}
        )


# ---------------------------------------------------------------------------------------- building


def built(base: str) -> Path:
    """Fill ``dist/``, look into it, and return the wheel."""
    tools = Environment("tools", base)
    tools.program("pip", "install", "--quiet", "build", "twine")
    shutil.rmtree(DIST, ignore_errors=True)
    tools.program("python", "-m", "build", "--outdir", str(DIST), cwd=ROOT)
    files = sorted(DIST.iterdir(), key=lambda file: file.suffix)
    need([file.suffix for file in files] == [".gz", ".whl"], f"dist/ holds {files}")
    sdist, wheel = files
    with tempfile.TemporaryDirectory() as beside:
        tools.program("python", "-m", "build", "--wheel", "--outdir", beside, cwd=ROOT)
        (checkout,) = Path(beside).iterdir()
        same = checkout.name == wheel.name and checkout.read_bytes() == wheel.read_bytes()
        need(same, "the wheel of the sdist is not the wheel of the checkout")
    tools.program("twine", "check", "--strict", str(sdist), str(wheel))
    line = re.compile('^__version__ = "(.+)"', re.MULTILINE)
    (version,) = line.findall((ROOT / "src/fairpca/__init__.py").read_text("utf-8"))
    look_into(sdist, wheel, version)
    return wheel


def look_into(sdist: Path, wheel: Path, version: str) -> None:
    """Fail unless both hold what is in git and nothing else; the wheel the package alone."""
    tracked = set(run(["git", "ls-files", "-z"]).split("\0")) - {""}
    package = {name.removeprefix("src/") for name in tracked if name.startswith("src/")}
    odd = sorted(name for name in package if PurePosixPath(name).suffix not in KINDS)
    need(not odd, f"whose are these, and under which licence: {odd}")
    information = f"fairpca-{version}.dist-info/"
    about = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
    with zipfile.ZipFile(wheel) as opened:
        same_names("wheel", set(opened.namelist()), package | {information + n for n in about})
        told = Parser().parsestr(opened.read(f"{information}METADATA").decode("utf-8"))
    need(told["Version"] == version, f"the wheel says that it is {told['Version']}")
    need(told["License-Expression"] == "Apache-2.0", "the wheel names no licence")
    with tarfile.open(sdist) as opened:
        names = {m.name.partition("/")[2] for m in opened.getmembers() if m.isfile()}
    wanted = IN_THE_SDIST | {f"src/{name}" for name in package} | {"PKG-INFO"}
    same_names("sdist", names, wanted | (names & tracked))


def same_names(of: str, found: set[str], wanted: set[str]) -> None:
    """Fail with the files that lack, and with those that do not belong."""
    lacking, foreign = sorted(wanted - found)[:9], sorted(found - wanted)[:9]
    need(not lacking and not foreign, f"the {of} lacks {lacking}; it should not hold {foreign}")


# ------------------------------------------------------------------------------------------- using


def bare(env: Environment, wheel: Path) -> str:
    """Use the package alone; then install what it says."""
    env.call("package", wheel.name)
    for call in LIBRARIES:
        last = env.call(call.__name__, str(ROOT), fails=True).rpartition("fairpca.errors.")[2]
        wanted = f'Install it with: pip install "fairpca[{call.__name__}]"\n'
        need(last.endswith(wanted), f"without {call.__name__} it says: {last}")
    for words in ("audit people.csv", ""):
        said = env.program("fairpca", *words.split(), fails=True)
        command = said.partition("Install it with: ")[2].strip()
        one = said.count("\n") == 1 and command == 'pip install "fairpca[audit]"'
        need(one, f"fairpca {words} says: {said}")
    env.program(*shlex.split(command))
    env.call("package", wheel.name)  # still that of the wheel
    said = env.program("fairpca", "--version").split()
    need(said == wheel.name.split("-")[:2], f"fairpca --version says {said}")
    return f"{CALLS['package'].__doc__}, all messages without extras, then {command}"


def audit(env: Environment, wheel: Path) -> str:
    """Run the README's Python, then what `make demo` runs."""
    env.call("readme", str(ROOT))
    (command,) = re.findall(r"\$\(BIN\)/(fairpca audit .+)", (ROOT / "Makefile").read_text("utf-8"))
    env.program(*shlex.split(command))
    told = json.loads((env.work / "demo" / "audit.json").read_text("utf-8"))
    known = json.loads((ROOT / "docs" / "data" / "demo.json").read_text("utf-8"))
    advised = told["advice"]["representation"]
    need(advised == known["recommended"], f"the demo advises {advised}")
    page = (env.work / "demo" / "report.html").read_text("utf-8")
    need(told["summary"]["headline"] in page, "the page has another headline")
    return f"{CALLS['readme'].__doc__}, {command}"


def parity(env: Environment, wheel: Path) -> str:
    """Run an audit that measures all alternatives."""
    command = "fairpca audit -s race -t approve --pos-label 1 --quick --alternatives --json a.json"
    env.program(*shlex.split(command))
    told = json.loads((env.work / "a.json").read_text("utf-8"))["alternatives"]
    failed = [one["failure"] for one in told if one["failure"]]
    need(len(told) == 4 and not failed, f"of {len(told)} alternatives failed: {failed}")
    return command


BY_COMMANDS = {use.__name__: use for use in (bare, audit, parity)}
NAMES = [*BY_COMMANDS, *(call.__name__ for call in LIBRARIES + ENGINES)]


def row(name: str, base: str, wheel: Path) -> list[str]:
    """Install the wheel with an extra, as the README says, and use it; return what happened."""
    start, packages, ran, outcome = time.monotonic(), "", "pip install", "FAILED"
    sys.stdout.write(f"{name}\n")
    sys.stdout.flush()
    try:
        env = Environment(name, base)
        wanted = [wheel.name if name == "bare" else f"{wheel.name}[{name}]"]
        env.program("pip", "install", "--quiet", *wanted, *[TORCH][: name == "torch"], cwd=DIST)
        packages = str(env.packages())
        if name in BY_COMMANDS:
            ran = BY_COMMANDS[name](env, wheel)
        else:
            ran = CALLS[name].__doc__
            env.call(name, str(ROOT))
        outcome = "fine"
        shutil.rmtree(env.folder)
    except (Failed, OSError, ValueError, LookupError) as problem:
        sys.stdout.write(f"{name}: {problem}\n")
    return [name, f"{time.monotonic() - start:.0f}", packages, ran, outcome]


def main() -> int:
    """Build, look, install and use; print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=NAMES, default=NAMES, metavar="EXTRA")
    parser.add_argument("--python", default=sys.executable, help="interpreter to use it with")
    given = parser.parse_args()
    start = time.monotonic()
    try:
        wheel = built(given.python)
    except Failed as problem:
        sys.stdout.write(f"{problem}\n")
        return 1
    rows = [["build", f"{time.monotonic() - start:.0f}", "", "twine check, contents", "fine"]]
    rows += [row(name, given.python, wheel) for name in given.only]
    program = "import sys, ensurepip; print(sys.version.split()[0], ensurepip.version())"
    python, pip = run([given.python, "-c", program]).split()
    sys.stdout.write(f"\n{wheel.name}; Python {python}, pip {pip}\n\n")
    lines = [["extra", "seconds", "packages", "what ran", "outcome"], ["---"] * 5, *rows]
    sys.stdout.write("".join(f"| {' | '.join(line)} |\n" for line in lines))
    return int(any(line[-1] != "fine" for line in rows))


if __name__ == "__main__":
    sys.exit(main())
