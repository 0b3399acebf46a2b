"""The page of the commands cannot go stale: it is what they declare, and what their help says."""

import re

import pytest

from cli.commands import command as commands
from cli.commands import invoke
from documentation.pages_from_code import DOCS, PAGES

OPTION = r"(?<![\w-])--?[a-z][a-z-]*"
PAGE = (DOCS / "reference/command_line.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_from_code_is_what_the_code_declares(name):
    assert (DOCS / name).read_text(encoding="utf-8").rstrip() == PAGES[name]()


def test_the_page_of_the_commands_has_every_option_of_their_help():
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    told = {section.splitlines()[0]: section for section in sections}
    for command in commands().commands:
        shown = invoke([command, "--help"])
        helped = set(re.findall(OPTION, shown.output.split("Examples")[0]))
        named = {
            option
            for title, section in told.items()
            if re.search(rf"\b{command}\b", title)
            for cell in re.findall(r"^\| ([^|]*) \|", section, flags=re.MULTILINE)
            for option in re.findall(r"`(--?[a-z][a-z-]*)", cell)
        }
        assert helped - named <= {"-h", "--help"}, command
        assert named <= helped, command
