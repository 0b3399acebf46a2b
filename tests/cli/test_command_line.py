"""The command line itself: help, suggestions, exit codes; what it runs is tested elsewhere."""

import io
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from fairpca._cli import app, terminal
from fairpca._cli.terminal import one_clear_line
from systems import posix


def test_version_is_that_of_the_package():
    import fairpca

    assert fairpca.__version__ in CliRunner().invoke(app, ["--version"]).output


def test_without_its_libraries_the_command_line_names_the_extra():
    program = "import sys; sys.modules['typer'] = None; from fairpca.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", program, "audit"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "fairpca[audit]" in done.stderr
    assert "Traceback" not in done.stderr


def run(work):
    """Run a command that does some work, as ours are run."""
    app = typer.Typer()
    app.command()(terminal.one_clear_line()(work))
    return CliRunner().invoke(app)


@posix
@pytest.mark.parametrize("made_of_it", [KeyboardInterrupt, ImportError])
def test_a_signal_ends_a_command_with_its_code_whatever_libraries_make_of_it(made_of_it):
    def interrupted() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(10)
        except KeyboardInterrupt:
            raise made_of_it from None

    before = signal.getsignal(signal.SIGTERM)
    shown = run(interrupted)
    assert shown.exit_code == 143
    assert "nterrupted" in shown.output
    assert signal.getsignal(signal.SIGTERM) is before


@posix
def test_an_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as nohup has it
    try:
        shown = run(lambda: os.kill(os.getpid(), signal.SIGTERM))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert shown.exit_code == 0, shown.output


def test_an_interrupt_that_python_ignored_ends_the_command_all_the_same(monkeypatch, tmp_path):
    """As one does that comes while garbage is collected: nothing may be written after it."""
    monkeypatch.setattr(terminal, "_arrived", [signal.SIGINT])
    with pytest.raises(KeyboardInterrupt):
        terminal.write_whole(tmp_path / "page.html", "text")
    assert not list(tmp_path.iterdir())
    with (
        terminal.shown_progress("Auditing", quiet=False) as report,
        pytest.raises(KeyboardInterrupt),
    ):
        report(1, 2, "a split")


def test_a_bar_tells_how_long_the_rest_takes(monkeypatch):
    """Elsewhere a line for every tenth of the work has to do."""
    printed = io.StringIO()
    console = partial(Console, file=printed, force_terminal=True, width=120)
    monkeypatch.setattr(terminal, "Console", console)
    with terminal.shown_progress("Auditing", quiet=False) as report:
        for done in range(4):
            report(done, 10, "a split")
            time.sleep(0.02)
    assert re.search(r"3 of 10 .*\d s left", printed.getvalue())
    monkeypatch.setattr(terminal, "Console", partial(console, force_terminal=False))
    printed.truncate(0)
    with terminal.shown_progress("Auditing", quiet=False) as report:
        for done in range(100):
            report(done + 1, 100, "a split")
    assert len(printed.getvalue().splitlines()) == 10


def test_a_mistake_of_ours_keeps_its_traceback():
    with pytest.raises(ValueError, match="invalid literal"), one_clear_line():
        int("x")


def test_a_drive_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setattr(Path, "exists", lambda _: False)
    monkeypatch.setattr(Path, "is_dir", lambda _: False)
    with pytest.raises(terminal.CommandError, match="not a folder you may write to"):
        terminal.check_outputs(Path("Z:/report.html"), force=False)
