"""``python -m fuzz``: every target for some time, then a table of what came of it.

The exit code is 1 if anything failed. Inputs that fail are kept, one of each kind of failure, in
files that ``python -m fuzz --replay FILE`` tries again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.text import Text

from .cases import Case
from .results import Tally, as_markdown, as_plain, as_table
from .supervising import run_target
from .targets import TARGETS
from .watching import learning
from .worker import tried

NO_LIMIT = 10**9


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"some of: {', '.join(TARGETS)}; default: all")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target")
    parser.add_argument("--inputs", type=int, default=NO_LIMIT, help="at most, for each target")
    parser.add_argument("--seed", type=int, default=0, help="the same seed tries the same inputs")
    parser.add_argument("--jobs", type=int, default=1, help="targets side by side")
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"), help="a folder")
    parser.add_argument("--markdown", type=Path, help="a file for the table")
    parser.add_argument("--json", type=Path, help="a file for the counts")
    parser.add_argument("--replay", type=Path, nargs="+", help="files of inputs to try again")
    asked = parser.parse_args(given)
    unknown = [name for name in asked.targets if name not in TARGETS]
    if unknown:
        parser.error(f"there is no target {unknown[0]!r}; there are {', '.join(TARGETS)}")
    return asked


def main() -> int:
    """Run, show, record."""
    asked, console = arguments(), Console()
    if asked.replay:
        return max(_replayed(path, console) for path in asked.replay)
    names = [name for name in TARGETS if not asked.targets or name in asked.targets]
    lock, shown = threading.Lock(), dict[str, int]()

    def say(tally: Tally) -> None:
        """Show a line for every so many inputs."""
        step = tally.tried // 500
        if step > shown.get(tally.target, -1):
            with lock:
                shown[tally.target] = step
                console.print(
                    Text(f"{tally.target}: {tally.tried:,} inputs, {tally.failed} failures"),
                    soft_wrap=True,
                )

    def run(name: str) -> Tally:
        return run_target(
            name,
            seconds=asked.seconds,
            inputs=asked.inputs,
            seed=asked.seed,
            failures=asked.failures,
            say=say,
        )

    with ThreadPoolExecutor(asked.jobs) as pool:
        tallies = list(pool.map(run, names))
    console.print()
    console.print(as_table(tallies))
    for tally in tallies:
        for which, kept in tally.failures.items():
            console.print(Text(f"{tally.target}: {which}\n  {kept.path}", style="red"))
    if asked.markdown is not None:
        asked.markdown.write_text(as_markdown(tallies, asked.seed), encoding="utf-8")
    if asked.json is not None:
        asked.json.write_text(
            json.dumps(as_plain(tallies, asked.seed), indent=1) + "\n", encoding="utf-8"
        )
    return int(any(tally.failed for tally in tallies))


def _replayed(path: Path, console: Console) -> int:
    case = Case.kept(path)
    target = TARGETS[case.target]()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as temporary:
        folder = Path(temporary).resolve()
        for name in ("seeds", "warm"):
            (folder / name).mkdir()
        target.prepare(folder / "seeds")
        target.load_seeds(folder / "seeds")
        with learning():
            target.warm_up(folder / "warm")
        outcome, which, story = tried(target, case, folder)
    console.print(Text(f"{path.name} ({case.how}): {outcome} {which}"), soft_wrap=True)
    if story:
        console.print(Text(story), soft_wrap=True)
    return int(outcome == "failed")


if __name__ == "__main__":
    sys.exit(main())
