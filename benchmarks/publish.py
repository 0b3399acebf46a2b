"""The tables of the documentation, from the runs kept there: ``python -m benchmarks.publish``.

Every ``docs/benchmarks/NAME.json`` becomes ``NAME.md``, which a page includes. No number is typed.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from . import growth
from .lines import ALONE, ALTERNATING, DECAYING, FLAT
from .results import ROOT, Row, Run
from .table import NAMES, cells, markdown_table, means, noise, ratio

PUBLISHED = ROOT / "docs" / "benchmarks"
PICTURE = ROOT / "docs" / "images" / "growth.png"
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


def tables(folder: Path = PUBLISHED) -> dict[Path, str]:
    """Return what the Markdown files should contain."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        grown = path.stem == "growth"
        text = growth.markdown(growth.Growth.read(path)) if grown else markdown(Run.read(path))
        found[path.with_suffix(".md")] = text
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
