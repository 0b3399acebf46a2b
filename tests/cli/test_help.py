"""Help of the commands: it fits a screen, and the same option has the same name everywhere."""

import re
from inspect import signature

import pytest

from cli.commands import invoke
from fairpca._cli import COMMANDS
from fairpca._cli.help_pages import ORDER, described

NAMES = [command.__name__ for command in COMMANDS]
SCREEN = 24


def lines_of_help(monkeypatch, *arguments, width):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = invoke([*arguments])
    assert shown.exit_code == 0, shown.output
    return shown.output.splitlines()


def panels(lines):
    """Return the lines of each panel by its title."""
    found, title = {}, None
    for line in lines:
        if line.startswith("╭"):
            title = line.strip("╭─╮ ")
            found[title] = []
        if title:
            found[title].append(line)
        if line.startswith("╰"):
            title = None
    return found


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("name", NAMES)
def test_a_panel_of_options_fits_a_screen(monkeypatch, name, width):
    found = panels(lines_of_help(monkeypatch, name, "--help", width=width))
    assert [title for title in ORDER if title in found] == list(found)
    for title, lines in found.items():
        assert len(lines) <= SCREEN, title
        assert {len(line) for line in lines} == {width}


@pytest.mark.parametrize("name", NAMES)
def test_help_is_wide_and_shows_no_types(monkeypatch, name):
    lines = lines_of_help(monkeypatch, name, "--help", width=80)
    assert not re.search(r"<\w|\{|\(found out\)|x>=|list\[", "\n".join(lines))
    assert len(lines) <= 110
    begun = {f"  {one.text[:20]}" for one in described(called(name))}
    starts = [line.index(text) for line in lines for text in begun if text in line]
    assert len(starts) >= len(begun)
    assert max(starts) <= 32  # where descriptions begin


def called(name):
    return next(command for command in COMMANDS if command.__name__ == name)


@pytest.mark.parametrize("arguments", [(), *((name,) for name in NAMES)])
def test_a_short_option_shows_the_same_help(monkeypatch, arguments):
    short = lines_of_help(monkeypatch, *arguments, "-h", width=100)
    assert short == lines_of_help(monkeypatch, *arguments, "--help", width=100)
    assert any("Usage: " in line for line in short)


def test_an_option_has_the_same_names_and_words_in_all_commands():
    named, told = {}, {}
    for command in COMMANDS:
        for one in described(command):
            short = [name for name in one.names if not name.startswith("--")]
            for long in (name for name in one.names if name not in short):
                assert named.setdefault(long, short) == short, long
            for name in short:
                assert told.setdefault(name, one.names) == one.names, name
    assert named["--n-jobs"] == named["--jobs"] == ["-j"]
    shorts = {
        "--quiet": "-q",
        "--out": "-o",
        "--sensitive": "-s",
        "--target": "-t",
        "--force": "-f",
    }
    assert {name: named[name] for name in shorts} == {n: [s] for n, s in shorts.items()}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_describes_every_parameter_in_a_short_text(command):
    options = described(command)
    assert len(options) == len(signature(command).parameters)
    for one in options:
        assert one.panel in ORDER
        assert 0 < len(one.text) <= 160
        assert not one.text.endswith(".")
        assert one.value == one.value.upper()


def test_a_choice_that_there_is_not_is_told_with_all_there_are(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    shown = invoke(["audit", "--aim", "win"])
    assert shown.exit_code == 2
    for told in ("audit [OPTIONS] [DATA]", "'hide'", "'decide'", "'keep'", "-h"):
        assert told in shown.output
