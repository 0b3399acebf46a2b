"""The README's code runs, its commands exist."""

import re
from pathlib import Path

from documentation.page_code import run_page

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_code_of_the_readme_prints_what_the_readme_shows():
    (block,) = run_page(ROOT / "README.md")
    assert block.printed == block.shown


def test_the_make_commands_of_the_readme_exist():
    commands = set(re.findall(r"(?:`|    )make ([a-z-]+)", README))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {"demo", "test", "docs"} <= commands
    assert not {name for name in commands if f"\n{name}:" not in makefile}
