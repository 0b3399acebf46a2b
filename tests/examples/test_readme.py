"""The README's code runs, its commands exist."""

import re
from pathlib import Path

from documentation.page_code import run_page

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_code_of_the_readme_finds_race_at_chance_as_its_picture_shows():
    (block,) = run_page(ROOT / "README.md")
    found = re.findall(r"AUC (\S+) .*chance \S+ to ([^,]+),", block.printed)
    assert len(found) == 2
    assert all(float(auc) < float(chance) for auc, chance in found)
    assert block.shown in (None, block.printed)


def test_the_make_commands_of_the_readme_exist():
    commands = set(re.findall(r"(?:`|    )make ([a-z-]+)", README))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {"demo", "test"} <= commands
    assert not {name for name in commands if f"\n{name}:" not in makefile}
