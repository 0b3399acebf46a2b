"""Rows as text: one line each for the terminal, 100 columns at most."""

import statistics
import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence

from .results import Row

TEXTS = ("rows", "rows x features, k, type", "type", "spectrum", "mode", "against")
NAMES = ("rows", "k", "type", "spectrum", "cores", "mode", "against", "theirs", "ours", "ratio")
WIDTHS = (15, 3, 5, 9, 6, 12, 20, -7, -7, -6)
COLUMNS = 100


def number(value: float | None, unit: str = "s") -> str:
    """Return a number with its unit, in three digits."""
    if value is None:
        return ""
    if unit != "s":
        return f"{value:.0f}{unit}" if unit == "MB" else f"{value:.0e}"
    for factor, name in ((1e6, "µs"), (1e3, "ms")):
        if value * factor < 999.5:
            return f"{value * factor:.3g}{name}"
    return f"{value:.3g}s"


def ratio(value: float | None, of: float | None = None) -> str:
    """Return a ratio, with as many digits as one of the size of `of` needs."""
    if value is None:
        return ""
    return f"{value:.{2 if (of or value) >= 0.095 else 3}f}"


def cells(row: Row) -> list[str]:
    """Return what stands under NAMES."""
    used = f"{row.cores}" if row.threads in (0, row.cores) else f"{row.cores}/{row.threads}"
    numbers = [number(row.theirs, row.unit), number(row.ours, row.unit), ratio(row.ratio)]
    k = str(row.k or "")
    return [row.shape, k, row.dtype, row.spectrum, used, row.mode, row.against, *numbers]


def noise(row: Row) -> str:
    """Return the lowest and the highest ratio of all rounds."""
    if row.ratio is None or row.rounds < 2:
        return ""
    return f"{ratio(row.low, row.ratio)}-{ratio(row.high, row.ratio)}"


def aligned(texts: Sequence[str]) -> str:
    pairs = zip(texts, WIDTHS, strict=True)
    return "".join(t.rjust(-w) if w < 0 else t[: w - 1].ljust(w) for t, w in pairs)


HEADER = aligned(NAMES)


def printed(row: Row) -> str:
    line = f"{aligned(cells(row))} {noise(row)}".rstrip()
    if not row.note:
        return line
    return "\n".join([line, textwrap.fill(row.note, COLUMNS - 4, **_INDENTED)])


_INDENTED = {"initial_indent": "    ", "subsequent_indent": "    "}


def means(rows: Sequence[Row]) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the geometric mean and the largest ratio of the fits, by mode and spectrum."""
    groups: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row.what == "fit" and row.ratio is not None:
            groups.setdefault((row.mode, row.spectrum), []).append(row.ratio)
    return {key: (statistics.geometric_mean(r), max(r)) for key, r in groups.items()}


def summary(rows: Sequence[Row]) -> Iterator[str]:
    for (mode, spectrum), (mean, largest) in means(rows).items():
        yield f"fit, {mode}, {spectrum}: geometric mean {mean:.2f}, largest {largest:.2f}"


def markdown_table(
    names: Sequence[str], lines: Iterable[Sequence[str]], texts: Collection[str] = TEXTS
) -> Iterator[str]:
    """Yield the lines of a table, without columns that are empty; all but texts to the right."""
    lines = list(lines)
    kept = [i for i in range(len(names)) if any(line[i] for line in lines)]
    rules = ["---" if name in texts else "--:" for name in names]
    for line in (names, rules, *lines):
        yield "| " + " | ".join(line[i].replace("|", "/") for i in kept) + " |"
    yield ""
