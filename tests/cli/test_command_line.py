"""The command line itself: help, suggestions, exit codes; what it runs is tested elsewhere."""

import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from fairpca._cli import app, terminal
from fairpca.errors import InfeasibleError
from fairpca.paper import Experiment, Task
from fairpca.paper._experiment import summarize_draws
from systems import posix


def half(value):
    return {"half": value / 2}


def refuse(value):
    raise InfeasibleError("no way")


def experiment(name, run):
    def tasks(settings):
        return [
            Task({"dataset": "numbers", "k": 1, "method": "halving", "draw": i}, run, {"value": i})
            for i in range(3)
        ]

    return Experiment(name, f"The title of {name}", tasks, summarize_draws)


@pytest.fixture
def fairpca(monkeypatch, tmp_path):
    """Run the command line on two made-up experiments, in an empty folder."""
    experiments = [experiment("table-halves", half), experiment("table-refused", refuse)]
    monkeypatch.setattr("fairpca.paper.EXPERIMENTS", {e.name: e for e in experiments})
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FAIRPCA_DATA", raising=False)
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


def test_list_shows_every_name_with_its_title(fairpca):
    shown = fairpca("reproduce", "--list")
    assert shown.exit_code == 0
    assert "table-halves" in shown.output
    assert "The title of table-refused" in shown.output


def test_a_table_is_printed_and_written(fairpca, tmp_path):
    shown = fairpca("reproduce", "table-halves", "--jobs", "1")
    assert shown.exit_code == 0, shown.output
    assert "halving" in shown.output
    assert "0.50" in shown.output
    assert "±" not in shown.output  # a narrow terminal has no room
    assert (tmp_path / "reproduction" / "table-halves.csv").exists()


def test_a_wide_terminal_shows_standard_deviations(fairpca, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    assert "0.50 ±0.41" in fairpca("reproduce", "table-halves", "--jobs", "1").output


def test_quiet_prints_nothing(fairpca):
    assert fairpca("reproduce", "table-halves", "--quiet", "--jobs", "1").output == ""


def test_a_misspelt_name_gets_a_suggestion(fairpca):
    shown = fairpca("reproduce", "table-halfs")
    assert shown.exit_code == 2
    assert "Did you mean 'table-halves'?" in " ".join(shown.output.replace("│", " ").split())


def test_no_name_is_a_usage_error(fairpca):
    assert fairpca("reproduce").exit_code == 2


def test_failures_are_told_on_standard_error_and_by_the_exit_code(fairpca):
    shown = fairpca("reproduce", "all", "--jobs", "1")
    assert shown.exit_code == 1
    assert "no way" in shown.stderr
    assert "halving" in shown.stdout  # the other table is made nevertheless
    assert "Traceback" not in shown.output


def test_a_data_folder_that_is_not_there_is_refused(fairpca):
    shown = fairpca("reproduce", "table-halves", "--data", "nowhere")
    assert shown.exit_code == 2
    assert "nowhere" in shown.output


def test_fresh_forgets_results_of_earlier_runs(fairpca, tmp_path):
    fairpca("reproduce", "table-halves", "--jobs", "1")
    stored = tmp_path / "reproduction" / "results" / "table-halves.jsonl"
    stored.write_text(
        stored.read_text(encoding="utf-8").replace('"half": 0.5', '"half": 10.5'), encoding="utf-8"
    )
    assert "3.83" in fairpca("reproduce", "table-halves", "--jobs", "1").output
    assert "0.50" in fairpca("reproduce", "table-halves", "--jobs", "1", "--fresh").output


def test_version_is_that_of_the_package():
    import fairpca

    assert fairpca.__version__ in CliRunner().invoke(app, ["--version"]).output


@pytest.mark.parametrize(("command", "extra"), [("audit", "audit"), ("reproduce", "reproduce")])
def test_without_its_libraries_the_command_line_names_the_extra(command, extra):
    program = "import sys; sys.modules['typer'] = None; from fairpca.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", program, command], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"fairpca[{extra}]" in done.stderr
    assert "Traceback" not in done.stderr


@posix
@pytest.mark.parametrize("made_of_it", [KeyboardInterrupt, ImportError])
def test_a_signal_ends_a_command_with_its_code_whatever_libraries_make_of_it(
    fairpca, monkeypatch, made_of_it
):
    def interrupted(value):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(10)
        except KeyboardInterrupt:
            raise made_of_it from None

    stopped = experiment("table-stopped", interrupted)
    monkeypatch.setattr("fairpca.paper.EXPERIMENTS", {stopped.name: stopped})
    before = signal.getsignal(signal.SIGTERM)
    shown = fairpca("reproduce", "table-stopped", "--jobs", "1")
    assert shown.exit_code == 143
    assert "nterrupted" in shown.output
    assert signal.getsignal(signal.SIGTERM) is before


@posix
def test_an_ignored_signal_stays_ignored(fairpca, monkeypatch):
    def hung_up(value):
        os.kill(os.getpid(), signal.SIGTERM)
        return half(value)

    unmoved = experiment("table-unmoved", hung_up)
    monkeypatch.setattr("fairpca.paper.EXPERIMENTS", {unmoved.name: unmoved})
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as nohup has it
    try:
        shown = fairpca("reproduce", "table-unmoved", "--jobs", "1")
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
