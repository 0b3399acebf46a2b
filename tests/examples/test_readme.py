"""The README's code runs, its links lead somewhere, its commands exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_code_of_the_readme_runs_and_measures_little_linear_leakage(capsys):
    code = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)[0]
    exec(compile(code, "README.md", "exec"), {})
    linear, boosting = capsys.readouterr().out.splitlines()
    assert re.match(r"linear probe: AUC 0\.[456]", linear), linear
    assert boosting.startswith("boosting probe: AUC")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_every_link_of_a_page_leads_to_a_file(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = {link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)}
    local = {target for target in targets if target and "://" not in target}
    assert not {target for target in local if not (ROOT / target).exists()}


def test_the_make_commands_of_the_readme_exist():
    commands = set(re.findall(r"\bmake ([a-z-]+)", README))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {"demo", "test", "docs"} <= commands
    assert not {name for name in commands if f"\n{name}:" not in makefile}
