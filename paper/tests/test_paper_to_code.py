"""Every file, name and command on the page "Paper to code" exists, and nothing is left out."""

import importlib
import importlib.util
import inspect
import re
from pathlib import Path

import pytest

from documentation.names_in_files import names_defined_in
from fairpca_paper.experiments import EXPERIMENTS
from reproduced_pages import page, text_page

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "research" / "paper_to_code.md").read_text(encoding="utf-8")
REPRODUCED = ROOT / "docs" / "reproduced"

SPANS = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", TEXT)
FOLDERS = ("src/", "paper/", "tests/", "docs/", "benchmarks/")
FILES = sorted({span for span in SPANS if span.startswith(FOLDERS) and "::" not in span})
PLACES = sorted({span for span in SPANS if span.startswith(FOLDERS) and "::" in span})
ROLE = r"\{py:\w+\}`~(fairpca[\w.]*)`"
ROLES = sorted(set(re.findall(ROLE, TEXT)))
ROWS_WITH_ROLES = [line for line in TEXT.splitlines() if "{py:" in line and "src/" in line]


def public(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


@pytest.mark.parametrize("path", FILES)
def test_every_file_exists(path):
    assert (ROOT / path).exists()


def test_code_and_results_of_experiments_are_in_their_folders():
    code = {span for span in SPANS if re.fullmatch(r"figure_\w+\.py", span)}
    assert code
    results = {span for span in SPANS if re.fullmatch(r"(figure|table)-[\w-]+\.(png|csv)", span)}
    assert {Path(name).stem for name in results} == set(EXPERIMENTS)
    assert all((ROOT / "paper/src/fairpca_paper/experiments" / name).exists() for name in code)
    assert all((REPRODUCED / name).exists() for name in results)


@pytest.mark.parametrize("place", PLACES)
def test_every_function_is_in_the_file_that_the_page_names(place):
    path, _, name = place.partition("::")
    assert name in names_defined_in(path)


@pytest.mark.parametrize("name", ROLES)
def test_every_public_name_can_be_imported(name):
    assert callable(public(name))


@pytest.mark.parametrize("row", ROWS_WITH_ROLES, ids=range(len(ROWS_WITH_ROLES)))
def test_public_names_are_defined_in_a_file_beside_them(row):
    beside = {
        (ROOT / path).resolve() for path in re.findall(r"`((?:paper/)?src/[\w/]+\.py)[`:]", row)
    }
    for name in re.findall(ROLE, row):
        assert Path(inspect.getsourcefile(public(name))).resolve() in beside, name


def test_every_command_names_experiments_that_exist_and_all_are_named():
    commands = re.findall(r"fairpca-paper (?:--quick )?([\w-]+)", TEXT)
    named = {name for name in commands if not name.startswith("--")} - {"all"}
    assert named == set(EXPERIMENTS)


def test_every_script_that_is_run_exists():
    scripts = set(re.findall(r"python ([\w./]+\.py)", TEXT))
    assert scripts
    assert all((ROOT / script).exists() for script in scripts)


NUMBERED = {"Algorithm": 3, "Equation": 10, "Proposition": 1, "Table": 4, "Figure": 16}


@pytest.mark.parametrize("kind", NUMBERED)
def test_nothing_that_the_paper_numbers_is_left_out(kind):
    rows = [line for line in TEXT.splitlines() if line.startswith(f"| {kind}")]
    found = set()
    for row in rows:
        first, last = re.match(rf"\| {kind}s? (\d+)(?: to (\d+))?", row).groups()
        found |= set(range(int(first), int(last or first) + 1))
    assert found == set(range(1, NUMBERED[kind] + 1))


def test_every_extension_of_section_3_is_there():
    assert all(f"| Section 3.{i}," in TEXT for i in range(1, 7))


def test_the_tables_are_what_their_command_prints():
    printed = page(sorted(REPRODUCED.glob("table-*.csv")))
    assert (REPRODUCED / "tables.md").read_text(encoding="utf-8") == printed


def test_the_numbers_of_the_text_are_what_their_command_prints():
    assert (REPRODUCED / "text.md").read_text(encoding="utf-8") == text_page(REPRODUCED)
