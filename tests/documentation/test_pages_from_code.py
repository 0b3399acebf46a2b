"""The page of the commands cannot go stale: it is what they declare, and what their help says."""

import re

import pytest

from cli.commands import command as commands
from cli.commands import invoke
from documentation.pages_from_code import DOCS, PAGES

PAGE = (DOCS / "reference/command_line.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_from_code_is_what_the_code_declares(name):
    assert (DOCS / name).read_text(encoding="utf-8").rstrip() == PAGES[name]()


def test_the_page_of_the_commands_has_every_option_of_their_help():
    sections = re.split(r"^## fairpca ", PAGE, flags=re.MULTILINE)
    assert len(sections) == 1 + len(commands().commands)
    for section in sections[1:]:
        command = section.split()[0]
        shown = invoke([command, "--help"])
        helped = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", shown.output.split("Examples")[0]))
        named = {
            option
            for cell in re.findall(r"^\| ([^|]*) \|", section, flags=re.MULTILINE)
            for option in re.findall(r"`(--?[a-z][a-z-]*)", cell)
        }
        assert helped - named <= {"--help"}, command
        assert named <= helped, command
