"""The README's code runs, its links lead somewhere, its commands exist."""

import re
from pathlib import Path

import pytest

from documentation.page_code import run_page

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_code_of_the_readme_prints_what_the_readme_shows():
    (block,) = run_page(ROOT / "README.md")
    assert block.printed == block.shown


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_every_link_of_a_page_leads_to_a_file(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = {link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)}
    local = {target for target in targets if target and "://" not in target}
    assert not {target for target in local if not (ROOT / target).exists()}


def test_the_make_commands_of_the_readme_exist():
    commands = set(re.findall(r"(?:`|    )make ([a-z-]+)", README))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {"demo", "test", "docs"} <= commands
    assert not {name for name in commands if f"\n{name}:" not in makefile}
