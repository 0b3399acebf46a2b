"""``python -m mutation``: run the mutants of the numerical core and report the survivors."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

PARTS = ("_moments", "_numerics/linalg", "solvers", "_attributes")

TESTS = (
    "tests/moments",
    "tests/numerics",
    "tests/solvers",
    "tests/attributes",
    "tests/devices",
    "tests/estimators",
    "src/fairpca/_moments",
    "src/fairpca/_numerics/linalg.py",
    "src/fairpca/solvers",
    "src/fairpca/_attributes",
)
"""The tests next to the code, those of the estimators that use it, and its doctests."""

QUIET = ("-q", "-s", "--tb=native", "-p", "no:cacheprovider", "-p", "no:faulthandler")


def say(text: str) -> None:
    """Write a line at once: a run takes minutes."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def files_of(part: str) -> list[Path]:
    """Return the files of a part such as "_moments" or "_moments/scatter.py"."""
    place = Path("src/fairpca", part)
    if place.is_dir():
        return sorted(place.glob("*.py"))
    return [place if place.suffix else place.with_suffix(".py")]


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m mutation", description=__doc__)
    parser.add_argument("parts", nargs="*", default=PARTS, help=f"default: {' '.join(PARTS)}")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument(
        "--test-seconds", type=float, default=12.0, help="of tests per mutant, at most"
    )
    parser.add_argument("--outcomes", type=Path, help="write what became of each mutant here")
    parser.add_argument("--again", type=Path, help="outcomes of a run: its dead are not run again")
    parser.add_argument("--markdown", type=Path, help="write the report here")
    parser.add_argument(
        "--of", type=Path, nargs="+", help="report these outcomes instead of running anything"
    )
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = arguments(given)
    # Before NumPy is imported: forks that share the cores must not start threads each.
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", SCIPY_ARRAY_API="1")
    sys.path.insert(0, str(Path("src").resolve()))
    from . import report
    from .outcomes import DEAD, Outcome, Run

    runs = [Run.read(file) for file in options.of] if options.of else [_run(options)]
    # Of a mutant that was run more than once, a death is the last word.
    by_place: dict[object, Outcome] = {}
    for outcome in (outcome for run in runs for outcome in run.outcomes):
        place = outcome.key, outcome.line
        if place not in by_place or by_place[place].outcome not in DEAD:
            by_place[place] = outcome
    outcomes = list(by_place.values())
    if options.markdown:
        page = report.page(outcomes, options.parts, [run.circumstances for run in runs])
        options.markdown.write_text(page, encoding="utf-8")
    say(report.table(outcomes, options.parts))
    return 0


def _run(options: argparse.Namespace):  # type: ignore[no-untyped-def]
    import pytest

    from .mutants import Mutant, mutants_of, unchanged
    from .outcomes import DEAD, Outcome, Run, circumstances
    from .running import MutationRun

    began = time.monotonic()
    files = [file for part in options.parts for file in files_of(part)]
    mutants = [mutant for file in files for mutant in mutants_of(file)]
    controls = [unchanged(file) for file in files if file.name != "__init__.py"]
    earlier = Run.read(options.again).outcomes if options.again else []
    dead = {o.key for o in earlier if o.outcome in DEAD}
    dead -= {o.key for o in earlier if o.outcome not in DEAD}
    waiting = [mutant for mutant in mutants if mutant.key not in dead]
    run = Run("", [Outcome.of(mutant, "killed") for mutant in mutants if mutant.key in dead])
    say(f"{len(mutants)} mutants, {len(waiting)} to run")
    count: Counter[str] = Counter()

    def done(mutant: Mutant, outcome: str) -> None:
        if mutant in controls:
            if outcome in DEAD:
                raise RuntimeError(f"Tests fail by themselves: {mutant.module} was not changed.")
            return
        run.outcomes.append(Outcome.of(mutant, outcome))
        count[outcome] += 1
        if outcome not in DEAD:
            place = f"{mutant.module}:{mutant.lines[0]} {mutant.function}"
            say(f"{outcome} {place}\n  - {mutant.before}\n  + {mutant.after}")
        if sum(count.values()) % 100 == 0:
            say(f"  {time.monotonic() - began:.0f} s: {dict(count)}")

    plugin = MutationRun(
        [*controls, *waiting],
        processes=options.processes,
        test_seconds=options.test_seconds,
        done=done,
    )
    tests = [place for place in TESTS if Path(place).exists()]
    pytest.main([*QUIET, *tests], plugins=[plugin])
    if len(run.outcomes) < len(mutants):
        sys.exit("The tests could not be run; see above.")
    seconds = time.monotonic() - began
    tested = len(plugin.baseline.seconds)
    parts = ", ".join(f"`{part}`" for part in options.parts)
    if options.again:
        parts = f"survivors of an earlier run in {parts}"
    run.circumstances = circumstances(parts, options.processes, tested, seconds)
    if options.outcomes:
        run.write(options.outcomes)
    return run


if __name__ == "__main__":
    sys.exit(main())
