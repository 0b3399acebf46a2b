"""What became slower or faster? `make bench-compare`, ``python -m benchmarks.compare [OLD [NEW]]``.

Without names, the last kept run is compared with the one before it; with one, with that file.
Ratios are compared, as these say the same on a slow day; without another contestant seconds,
and only on the same machine.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path

from .results import KEPT, Row, Run
from .table import number, ratio

BEYOND = {True: 1.10, False: 1.25}
"""The least change of a ratio, or of seconds, that is told, and only where no rounds overlap."""


def compare(old: Run, new: Run) -> Iterator[tuple[float, str]]:
    """Yield how many times slower, and a sentence, for each row that changed beyond noise."""
    before = {row.key: row for row in old.rows}
    for row in new.rows:
        was = before.get(row.key)
        if was is None or (was.ours is None and row.ours is None):
            continue
        name = _named(row)
        if row.ours is None or was.ours is None:
            change = float("inf") if row.ours is None else 0.0
            yield change, f"{name}: {row.note or was.note} ({'now' if change else 'before'})"
            continue
        relative = row.ratio is not None and was.ratio is not None
        if not relative and (old.machine, old.cores) != (new.machine, new.cores):
            continue
        a, b = (was.ratio, row.ratio) if relative else (was.ours, row.ours)
        change = b / a
        apart = _lowest(row) > _highest(was) or _highest(row) < _lowest(was)
        if apart and not 1 / BEYOND[relative] < change < BEYOND[relative]:
            word = "slower" if row.unit == "s" else "more"
            word = word if change > 1 else {"slower": "faster", "more": "less"}[word]
            yield change, f"{name}: {_told(was, relative)} -> {_told(row, relative)}, {word}"


def _lowest(row: Row) -> float:
    return row.low if row.low is not None else row.ours


def _highest(row: Row) -> float:
    return row.high if row.high is not None else row.ours


def _told(row: Row, relative: bool) -> str:
    if not relative:
        return number(row.ours, row.unit)
    return f"{ratio(row.ratio)} ({ratio(row.low, row.ratio)}-{ratio(row.high, row.ratio)})"


def _named(row: Row) -> str:
    words = [row.what, row.shape, f"k {row.k}" * bool(row.k), row.dtype, row.spectrum, row.mode]
    return ", ".join(word for word in [*words, f"{row.cores} cores", row.rivals] if word)


def told(old: Run, new: Run) -> Iterator[str]:
    """Yield lines for people."""
    both = {row.key for row in old.rows} & {row.key for row in new.rows}
    yield f"{new.date} ({new.commit}) against {old.date} ({old.commit}): {len(both)} rows in both"
    if not both:
        yield "Nothing to compare: no row has the same shape, mode and number of cores."
        return
    changes = sorted(compare(old, new), key=lambda change: -change[0])
    slower = [text for change, text in changes if change > 1]
    faster = [text for change, text in changes if change <= 1]
    for title, texts in (("Slower", slower), ("Faster", faster)):
        yield f"{title} beyond noise: {len(texts)}"
        yield from (f"  {text}" for text in texts)


def main(arguments: list[str] | None = None) -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="the old run, the new")
    given = parser.parse_args(arguments).files
    kept = sorted(KEPT.glob("*.json"))
    if len(given) > 2 or len(given) + len(kept) < 2:
        sys.exit(f"Two runs are needed; kept in {KEPT}: {len(kept)}. `make bench` keeps one.")
    old, new = given if len(given) == 2 else [*given, *kept[len(given) - 2 :]]
    for line in told(Run.read(old), Run.read(new)):
        print(line)


if __name__ == "__main__":
    main()
