"""The page "Benchmarks" names files that exist, and its tables are tables."""

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
