"""The tables of the documentation, from the runs kept there: ``python -m benchmarks.publish``.

Every ``docs/benchmarks/NAME.json`` becomes ``NAME.md``, and some rows of two of them the main table
of the page, ``main.md``. No number is typed.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from . import growth
from .lines import ALONE, ALTERNATING, DECAYING, FLAT
from .results import ROOT, Row, Run
from .table import NAMES, cells, markdown_table, means, noise, number, ratio

PUBLISHED = ROOT / "docs" / "benchmarks"
PICTURE = ROOT / "docs" / "images" / "growth.png"
TWO_MACHINES = ("two-cores", "sixteen-cores")
MAIN = {
    "fit": ("40,000 x 100", "60,000 x 500", "500,000 x 64", "2,000 x 10,000"),
    "transform": ("1 x 20", "40,000 x 100"),
    "exact kernel fit": ("1,000 x 20", "10,000 x 20"),
    "kernel fit, 500 landmarks": ("100,000 x 20",),
    "fair PLS of covariances": ("40,000 x 20",),
    "fair PLS of distributions": ("40,000 x 20",),
    "equal covariances": ("20,000 x 100",),
    "a point of a curve": ("40,000 x 99",),
    "selection rate gap": ("100,000",),
    "leakage": ("2,000 x 10",),
    "import the class": ("",),
    "memory of a kernel fit": ("6,000 x 20",),
}
"""What the main table has, by name and rows."""
CROSSED = [(mode, spectrum) for mode in (ALONE, ALTERNATING) for spectrum in (FLAT, DECAYING)]


def markdown(run: Run) -> str:
    """Return the tables of a run: an overview of the fits, then all rows, then where and when."""
    tables = [*_overview(run.rows)] if any(row.what == "fit" for row in run.rows) else []
    for what in dict.fromkeys(row.what for row in run.rows):
        tables += [*_section(what, [row for row in run.rows if row.what == what])]
    return "\n".join([*tables, f"Measured {run.described}", ""])


def _overview(rows: Sequence[Row]) -> Iterator[str]:
    yield from ("**`FairPCA.fit` by scikit-learn's best `PCA.fit`**", "")
    names = [f"{mode}, {spectrum}" for mode, spectrum in CROSSED]
    found = {(r.shape, r.k, r.dtype, r.mode, r.spectrum): r for r in rows if r.what == "fit"}
    found = {key: ratio(row.ratio) for key, row in found.items()}
    lines = [
        [", ".join(map(str, shape)), *(found.get((*shape, *key), "") for key in CROSSED)]
        for shape in dict.fromkeys(key[:3] for key in found)
    ]
    of = means(rows)
    for i, name in enumerate(("geometric mean", "largest")):
        lines.append([name, *(ratio(of[key][i]) if key in of else "" for key in CROSSED)])
    yield from markdown_table(["rows x features, k, type", *names], lines)


def _section(what: str, rows: Sequence[Row]) -> Iterator[str]:
    yield from (f"**{what[0].upper()}{what[1:]}**", "")
    lines = ([*cells(row), noise(row) if row.ours is not None else row.note] for row in rows)
    yield from markdown_table([*NAMES, "lowest-highest"], lines)
    for row in rows:
        if row.note and row.ours is not None:
            yield from (f"{row.note}.", "")


def main_table(few: Run, many: Run) -> str:
    """Return one row for each question of `MAIN`, of a run on few cores and one on many."""
    names = ["what", "rows x features", "against", "ours", "ratio"]
    names = [*names[:4], *(f"ratio, {run.cores} cores" for run in (few, many))]
    there = {_asked(row): row for row in reversed(many.rows)}
    lines, seen = [], set()
    for row in few.rows:
        if row.shape in MAIN.get(row.what, ()) and row.spectrum != FLAT and row.ratio is not None:
            if _asked(row) in seen:
                continue
            seen.add(_asked(row))
            other = there.get(_asked(row))
            ours = number(row.ours, row.unit)
            ratios = [ratio(row.ratio), ratio(other.ratio) if other else ""]
            lines.append([row.what, row.shape, row.against, ours, *ratios])
    table = markdown_table(names, lines, texts=names[:3])
    return "\n".join([*table, f"Measured {few.described}", f"Measured {many.described}", ""])


def _asked(row: Row) -> tuple:
    """Return what tells a question, but for modes: the first of them counts."""
    return row.what, row.n, row.d, row.k, row.dtype, row.spectrum, row.rivals


def tables(folder: Path = PUBLISHED) -> dict[Path, str]:
    """Return what the Markdown files should contain."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        grown = path.stem == "growth"
        text = growth.markdown(growth.Growth.read(path)) if grown else markdown(Run.read(path))
        found[path.with_suffix(".md")] = text
    files = [folder / f"{name}.json" for name in TWO_MACHINES]
    if all(path.exists() for path in files):
        found[folder / "main.md"] = main_table(*map(Run.read, files))
    return found


def main(folder: Path = PUBLISHED) -> None:
    for path, text in tables(folder).items():
        path.write_text(text, encoding="utf-8")
        print(path)
    if (folder / "growth.json").exists():
        growth.draw(growth.Growth.read(folder / "growth.json"), PICTURE)
        print(PICTURE)


if __name__ == "__main__":
    main()
