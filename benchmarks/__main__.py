"""Measure and print row by row: ``python -m benchmarks``. A word runs the lines that contain it.

Every row is kept as soon as it is there, in a JSON file: an interrupt loses nothing.
"""

import sys
import time
from argparse import ArgumentParser
from pathlib import Path

from .lines import lines
from .results import KEPT, Row, Run, cores, use_cores
from .table import HEADER, printed, summary
from .timing import FULL, QUICK, measured

SECONDS = {"all": 460.0, "quick": 55.0, "scale": 1_800.0}
"""What a run may take."""


def main(arguments: list[str] | None = None) -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="?", default="", help="part of the name of a line")
    parser.add_argument("--quick", action="store_true", help="some lines, in a minute")
    parser.add_argument("--scale", action="store_true", help="files larger than memory, Dask")
    parser.add_argument("--cores", type=int, help="cores and threads; by default all")
    parser.add_argument("--seconds", type=float, help="most seconds of the whole run")
    parser.add_argument("--out", type=Path, help="where the rows are kept; else .benchmarks/")
    given = parser.parse_args(arguments)
    use_cores(given.cores)
    if given.scale:
        from .scale import scale_lines

        every, quick = scale_lines(quick=given.quick), False
    else:
        every, quick = lines(cores()), given.quick
    chosen = [
        (line, mode)
        for line in every
        for mode in (line.quick if quick else line.modes)
        if given.only in line.what
    ]
    if not chosen:
        raise SystemExit(f"No line has {given.only!r} in its name.")
    usual = "scale" if given.scale else "quick" if given.quick else "all"
    seconds = given.seconds or SECONDS[usual]
    run = Run.here(quick=given.quick)
    path = given.out or KEPT / f"{run.date.replace(':', '-')}.json"
    finish(run, chosen, path, seconds)


def finish(run: Run, chosen: list, path: Path, seconds: float) -> None:
    """Measure what was chosen, print and keep each row; an interrupt ends it."""
    started = time.monotonic()
    pace, section = QUICK if run.quick else FULL, ""
    print(f"{run.machine}, {run.cores} cores. Seconds; ratio: ours by theirs (lowest, highest)")
    try:
        for line, mode in chosen:
            left = seconds - (time.monotonic() - started)
            if left > 5.0:
                row = measured(line, mode, pace, left)
            else:
                row = Row.of(line, mode).without_numbers(f"left out: the {seconds:.0f} s are over")
            run.rows.append(row)
            run.seconds = round(time.monotonic() - started, 1)
            run.write(path)
            if row.what != section:
                section = row.what
                print(f"\n{section}\n{HEADER}")
            print(printed(row), flush=True)
    except KeyboardInterrupt:
        print("\nInterrupted: what was measured is kept.")
    for line in summary(run.rows):
        print(line)
    print(f"\n{len(run.rows)} rows in {run.seconds:.0f} s, kept in {path}")


if __name__ == "__main__":
    sys.exit(main())
