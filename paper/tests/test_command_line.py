"""The command ``fairpca-paper``: what it prints and writes, exit codes, suggestions."""

import io
import sys

import pytest
from typer.testing import CliRunner

from fairpca.errors import InfeasibleError
from fairpca_paper.__main__ import app, main
from fairpca_paper.experiments import Experiment, Task
from fairpca_paper.experiments.experiment import summarize_draws


def half(value):
    return {"half": value / 2}


def fail(value):
    raise InfeasibleError("no way")


def experiment(name, run):
    def tasks(settings):
        return [
            Task({"dataset": "numbers", "k": 1, "method": "halving", "draw": i}, run, {"value": i})
            for i in range(3)
        ]

    return Experiment(name, f"The title of {name}", tasks, summarize_draws)


@pytest.fixture
def reproduce(monkeypatch, tmp_path):
    """Run the command line on two small experiments, in an empty folder."""
    experiments = [experiment("table-halves", half), experiment("table-failed", fail)]
    monkeypatch.setattr("fairpca_paper.experiments.EXPERIMENTS", {e.name: e for e in experiments})
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FAIRPCA_DATA", raising=False)
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


def test_list_shows_every_name_with_its_title(reproduce):
    shown = reproduce("--list")
    assert shown.exit_code == 0
    assert "table-halves" in shown.output
    assert "The title of table-failed" in shown.output


def test_a_table_is_printed_and_written(reproduce, tmp_path):
    shown = reproduce("table-halves", "--jobs", "1")
    assert shown.exit_code == 0, shown.output
    assert "halving" in shown.output
    assert "0.50" in shown.output
    assert "±" not in shown.output  # a narrow terminal has no room
    assert (tmp_path / "reproduction" / "table-halves.csv").exists()


def test_a_wide_terminal_shows_standard_deviations(reproduce, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    assert "0.50 ±0.41" in reproduce("table-halves", "--jobs", "1").output


def test_quiet_prints_nothing(reproduce):
    assert reproduce("table-halves", "--quiet", "--jobs", "1").output == ""


def test_a_misspelt_name_gets_a_suggestion(reproduce):
    shown = reproduce("table-halfs")
    assert shown.exit_code == 2
    assert "Did you mean 'table-halves'?" in " ".join(shown.output.replace("│", " ").split())


def test_no_name_is_a_usage_error(reproduce):
    assert reproduce().exit_code == 2


def test_failures_are_told_on_standard_error_and_by_the_exit_code(reproduce):
    shown = reproduce("all", "--jobs", "1")
    assert shown.exit_code == 1
    assert "no way" in shown.stderr
    assert "halving" in shown.stdout  # the other table is made nevertheless
    assert "Traceback" not in shown.output


def test_a_data_folder_that_is_not_there_is_an_error(reproduce):
    shown = reproduce("table-halves", "--data", "nowhere")
    assert shown.exit_code == 2
    assert "nowhere" in shown.output


def test_fresh_forgets_results_of_earlier_runs(reproduce, tmp_path):
    reproduce("table-halves", "--jobs", "1")
    stored = tmp_path / "reproduction" / "results" / "table-halves.jsonl"
    stored.write_text(
        stored.read_text(encoding="utf-8").replace('"half": 0.5', '"half": 10.5'), encoding="utf-8"
    )
    assert "3.83" in reproduce("table-halves", "--jobs", "1").output
    assert "0.50" in reproduce("table-halves", "--jobs", "1", "--fresh").output


def test_who_interrupts_is_told_that_what_is_done_is_kept(reproduce, monkeypatch):
    def interrupted(value):
        raise KeyboardInterrupt

    stopped = experiment("table-stopped", interrupted)
    monkeypatch.setattr("fairpca_paper.experiments.EXPERIMENTS", {stopped.name: stopped})
    shown = reproduce("table-stopped", "--jobs", "1")
    assert shown.exit_code == 130
    assert "What is done is kept" in shown.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_consoles_that_lack_letters_are_written_to(monkeypatch, encoding):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    monkeypatch.setattr(sys, "argv", ["fairpca-paper", "--list"])
    with pytest.raises(SystemExit) as ended:
        main()
    sys.stdout.flush()
    assert not ended.value.code
    assert b"table-german" in written.getvalue()
