"""The page "Methods with proofs" quotes files as they are, and names tests that exist."""

import re
from pathlib import Path

import pytest

from documentation.names_in_files import names_defined_in

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "research" / "method.md").read_text(encoding="utf-8")
SPANS = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL))
FOLDERS = ("src/", "tests/", "docs/")
FILES = sorted({span for span in SPANS if span.startswith(FOLDERS)})


def places():
    """Return the names of tests and assertions, each with the last file of tests before it."""
    found, path = [], ""
    for span in SPANS:
        if re.fullmatch(r"tests/[\w/]+\.py", span):
            path = span
        elif re.fullmatch(r"(test|assert)_\w+", span):
            found.append((path, span))
    return found


def test_many_tests_are_named():
    assert len(places()) > 25


@pytest.mark.parametrize("pattern", FILES)
def test_every_file_that_it_names_exists(pattern):
    assert list(ROOT.glob(pattern))


@pytest.mark.parametrize(("path", "name"), places())
def test_every_test_that_it_names_is_in_its_file(path, name):
    assert name in names_defined_in(path)


def test_every_section_names_its_tests():
    sections = re.split(r"^## (\d+)\. ", TEXT, flags=re.MULTILINE)[1:]
    texts = dict(zip(map(int, sections[::2]), sections[1::2], strict=True))
    checked = {number for number, text in texts.items() if "*Checked by*" in text}
    assert checked == {1, 2, 3, 4, 5, 6, 7, 8}


def test_its_tables_are_those_of_the_measured_files():
    pytest.importorskip("pandas")
    from documentation.method_tables import TABLES, place_of, placed

    for name in TABLES:
        (shown,) = place_of(name).findall(TEXT)
        assert shown == placed(name), "python tests/documentation/method_tables.py"


def test_every_section_that_it_links_to_exists():
    anchors = {
        re.sub(r"[^\w\s-]", "", title).strip().lower().replace(" ", "-")
        for title in re.findall(r"^#+ (.+)$", TEXT, flags=re.MULTILINE)
    }
    linked = re.findall(r"\]\(#([\w-]+)\)", TEXT)
    assert len(linked) > 8
    assert set(linked) <= anchors


def test_the_citation_is_that_of_the_paper_and_of_this_page():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    software, _, paper = citation.partition("preferred-citation:")
    title = re.search(r"- type: report\n +title: (.+)\n", software)[1]
    assert f"*{title}*, technical note" in TEXT
    assert "filename: docs/research/method.md\n" in software
    assert "Efficient fair PCA for fair representation learning" in paper
