"""Rows of a run, what machine they are of, and where runs are kept: a JSON file each."""

import json
import os
import platform
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .lines import Line

ROOT = Path(__file__).parents[1]
KEPT = ROOT / ".benchmarks"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "fairlearn", "pymanopt", "pyarrow", "dask")


@dataclass(frozen=True)
class Spread:
    """Median, lowest and highest of the rounds' medians, and the number of runs in all."""

    median: float
    low: float
    high: float
    runs: int

    @classmethod
    def of(cls, values: Sequence[float], runs: int) -> "Spread":
        return cls(statistics.median(values), min(values), max(values), runs)


@dataclass
class Row:
    """One line in one mode.

    `ratio` is ours by theirs, a median over rounds of which `low` and `high` are the extremes;
    without another contestant these are of our own number. Without `ours`, `note` says why.
    Of all `rivals`, `against` is the best. `threads` are those of BLAS.
    """

    question: str
    what: str
    n: int
    d: int
    k: int
    dtype: str
    spectrum: str
    mode: str
    unit: str
    rivals: str
    cores: int
    threads: int = 0
    against: str = ""
    theirs: float | None = None
    ours: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    rounds: int = 0
    note: str = ""
    contestants: dict[str, Spread] = field(default_factory=dict)

    @classmethod
    def of(cls, line: Line, mode: str) -> "Row":
        shared = {f: getattr(line, f) for f in ("question", "what", "n", "d", "k", "dtype")}
        rivals = " or ".join(line.against)
        more = {"spectrum": line.spectrum, "unit": line.unit, "rivals": rivals, "against": rivals}
        return cls(**shared, **more, mode=mode, cores=cores())

    def without_numbers(self, why: str) -> "Row":
        self.note = why
        return self

    @property
    def shape(self) -> str:
        return " x ".join(f"{size:,}" for size in (self.n, self.d) if size)

    @property
    def key(self) -> tuple:
        """Say which rows of two runs are the same."""
        asked = (self.what, self.shape, self.k, self.dtype, self.spectrum, self.mode, self.cores)
        return *asked, self.rivals


@dataclass
class Run:
    """Rows, and what they belong to."""

    date: str
    machine: str
    cores: int
    commit: str
    versions: dict[str, str]
    quick: bool
    seconds: float = 0.0
    rows: list[Row] = field(default_factory=list)

    @classmethod
    def here(cls, *, quick: bool = False) -> "Run":
        now = datetime.now().isoformat(timespec="seconds")
        return cls(now, _processor(), cores(), _commit(), _versions(), quick)

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(path.name + ".part")
        draft.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        draft.replace(path)

    @classmethod
    def read(cls, path: Path) -> "Run":
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            for row in content["rows"]:
                row["contestants"] = {n: Spread(**s) for n, s in row["contestants"].items()}
            return cls(**content | {"rows": [Row(**row) for row in content["rows"]]})
        except (KeyError, TypeError, ValueError) as error:
            raise SystemExit(f"{path} is not a run that this version keeps: {error}") from error

    @property
    def described(self) -> str:
        libraries = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return f"{self.date[:10]}: {self.machine}, {self.cores} cores, {libraries}."


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def use_cores(n: int | None) -> None:
    """Let this process and those it starts use n cores and threads; all, by default."""
    if n is None:
        return
    if n > cores():
        raise SystemExit(f"--cores {n}: this process may use {cores()}. Ask for as many or fewer.")
    for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR"):
        os.environ[f"{name}_NUM_THREADS"] = str(n)
    os.environ["VECLIB_MAXIMUM_THREADS"] = str(n)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:n])


def _versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _commit() -> str:
    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", str(ROOT), *words], check=True, capture_output=True, text=True
        ).stdout.strip()

    try:
        changed = " and changes" if git("status", "--porcelain", "--untracked-files=no") else ""
        return git("rev-parse", "--short", "HEAD") + changed
    except (OSError, subprocess.CalledProcessError):
        return ""
