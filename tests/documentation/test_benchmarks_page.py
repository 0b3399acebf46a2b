"""The page "Benchmarks" names files that exist, and tables are what was measured."""

import importlib
import re
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
INCLUDED = re.findall(r"\{include\} (\S+)", TEXT)


def test_every_benchmark_it_names_exists():
    named = re.findall(r"`(benchmarks/\w+\.py)`", TEXT)
    assert len(named) > 8
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("path", INCLUDED)
def test_tables_are_whole_and_say_when_and_where_they_were_measured(path):
    lines = (ROOT / "docs" / path).read_text(encoding="utf-8").splitlines()
    for above, line in pairwise(lines):
        if above.startswith("|") and line.startswith("|"):
            assert line.count("|") == above.count("|"), line
    assert re.search(r"\d{4}-\d\d-\d\d.* cores.*Python", lines[-1])


def test_the_tables_of_fair_pls_are_those_of_its_numbers(monkeypatch):
    for library in ("matplotlib", "PIL", "rich"):
        pytest.importorskip(library)
    pandas = pytest.importorskip("pandas")
    monkeypatch.syspath_prepend(ROOT)
    benchmark = importlib.import_module("benchmarks.fair_pls")
    page = (ROOT / "docs" / "research" / "fair_pls.md").read_text(encoding="utf-8")
    tables = benchmark.tables(pandas.read_csv(ROOT / "docs" / "data" / "fair_pls.csv"))
    assert [name for name, table in tables.items() if table not in page] == []
