"""What the gallery promises and the build of the site, which runs it, does not check."""

import ast
import re
from pathlib import Path

import pytest

from public_imports import private_imports

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "examples").glob("[0-9][0-9]_*.py"))
PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "src" / "fairpca").rglob("*.py"),
]

each_script = pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)


def introduction(script):
    """The lines of a script's docstring: title, underline, text."""
    return ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))).splitlines()


def headings(script):
    """The section titles of the text between cells, in order."""
    found = re.findall(r"^# (\S.*)\n# -{3,}$", script.read_text(encoding="utf-8"), re.MULTILINE)
    return list(found)


def test_scripts_have_numbers_of_their_own():
    """They are in the addresses of the pages, so the number of one that has gone stays free."""
    assert len({path.name[:2] for path in SCRIPTS}) == len(SCRIPTS) > 10


@each_script
def test_the_title_is_a_question(script):
    title, underline, *_ = introduction(script)
    assert title.endswith("?")
    assert underline == "=" * len(title)


@each_script
def test_the_first_paragraph_answers_before_any_code(script):
    _, _, empty, answer, *_ = introduction(script)
    assert empty == ""
    assert len(answer.split()) > 5


@each_script
def test_a_script_ends_with_what_to_take_away(script):
    assert headings(script)[-1] == "What to take away"


@each_script
def test_a_script_draws_a_picture(script):
    assert "plt.show()" in script.read_text(encoding="utf-8")


@each_script
def test_a_script_ends_with_where_to_go_next(script):
    last_cell = script.read_text(encoding="utf-8").split("# What to take away")[-1]
    assert re.search(r":(ref|doc):`", last_cell)


def test_every_script_that_a_page_names_exists():
    named = {
        (page.relative_to(ROOT).as_posix(), name)
        for page in PAGES
        for name in re.findall(r"\bexamples/[\w/]+\.py\b", page.read_text(encoding="utf-8"))
    }
    assert named
    assert sorted(pair for pair in named if not (ROOT / pair[1]).is_file()) == []


@pytest.mark.parametrize("script", sorted((ROOT / "examples").rglob("*.py")), ids=lambda p: p.stem)
def test_a_script_uses_public_names_only(script):
    assert private_imports(script) == []
