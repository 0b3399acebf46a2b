"""The page of the commands cannot go stale: it is what they declare, and what their help says."""

import re
from pathlib import Path

from typer.testing import CliRunner

from fairpca._cli.app import app
from fairpca._cli.reference_page import command_line_page

PAGE = (Path(__file__).parents[2] / "docs/reference/command_line.md").read_text(encoding="utf-8")


def test_the_page_of_the_commands_is_what_they_declare():
    assert PAGE.rstrip() == command_line_page()


def test_the_page_of_the_commands_has_every_option_of_their_help():
    sections = re.split(r"^## fairpca ", PAGE, flags=re.MULTILINE)
    assert len(sections) == 1 + len(app.registered_commands)
    for section in sections[1:]:
        command = section.split()[0]
        shown = CliRunner().invoke(app, [command, "--help"])
        helped = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", shown.output.split("Examples")[0]))
        named = {
            option
            for cell in re.findall(r"^\| ([^|]*) \|", section, flags=re.MULTILINE)
            for option in re.findall(r"`(--?[a-z][a-z-]*)", cell)
        }
        assert helped - named <= {"--help"}, command
        assert named <= helped, command
