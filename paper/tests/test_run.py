"""Running tasks: in parallel, resumed, with failures told and files whole."""

import csv
import math

import numpy as np
import pytest

from fairpca.errors import InfeasibleError
from fairpca_paper.experiments import Experiment, Result, Settings, Task, run_experiment
from fairpca_paper.experiments.experiment import summarize_draws
from fairpca_paper.experiments.run import _ResultsFile as ResultsFile


def square(value, log=None):
    if log is not None:
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"{value}\n")
    return {"square": value**2}


def fail(value):
    raise InfeasibleError(f"{value} cannot be")


def lack(value):
    raise ModuleNotFoundError("nothing is nowhere")


def squares(run=square, **more):
    def tasks(settings):
        return [
            Task({"dataset": "numbers", "k": 1, "method": m, "draw": i}, run, {"value": i, **more})
            for m in ("a", "b")
            for i in range(2 if settings.quick else 4)
        ]

    return Experiment("squares", "Squares", tasks, summarize_draws)


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_draw_is_averaged_into_a_tidy_table(jobs, tmp_path):
    made = run_experiment(squares(), Settings(), tmp_path, jobs=jobs)
    with (tmp_path / "squares.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = "dataset k method metric mean std paper_mean paper_std protocol"
    assert list(rows[0]) == columns.split()
    assert [row["method"] for row in rows] == ["a", "b"]
    assert {float(row["mean"]) for row in rows} == {3.5}
    assert float(rows[0]["std"]) == pytest.approx(np.std([0, 1, 4, 9]), rel=1e-5)
    assert made.files == [tmp_path / "squares.csv"]
    assert not made.failures


def test_a_second_run_computes_only_what_is_missing(tmp_path):
    log = tmp_path / "log"
    run_experiment(squares(log=str(log)), Settings(), tmp_path)
    stored = tmp_path / "results" / "squares.jsonl"
    lines = stored.read_text(encoding="utf-8").splitlines(keepends=True)
    stored.write_text(
        "".join(lines[:4]) + lines[4][:20], encoding="utf-8"
    )  # killed while writing the fourth
    log.unlink()
    made = run_experiment(squares(log=str(log)), Settings(), tmp_path)
    assert len(log.read_text(encoding="utf-8").splitlines()) == 5
    assert [row.mean for row in made.rows] == [3.5, 3.5]
    log.unlink()
    run_experiment(squares(log=str(log)), Settings(), tmp_path)
    assert not log.exists()


def test_quick_results_never_pass_for_full_ones(tmp_path):
    run_experiment(squares(), Settings(quick=True), tmp_path)
    assert (tmp_path / "squares-quick.csv").exists()
    assert not (tmp_path / "squares.csv").exists()


def test_progress_counts_what_was_done_before(tmp_path):
    told = []
    run_experiment(squares(), Settings(quick=True), tmp_path)
    run_experiment(
        squares(), Settings(quick=True), tmp_path, progress=lambda *what: told.append(what)
    )
    assert told == [(4, 4, None)]


def test_a_task_that_fails_is_told_and_tried_again(tmp_path):
    made = run_experiment(squares(fail), Settings(quick=True), tmp_path)
    assert [f.reason for f in made.failures[:2]] == [
        "InfeasibleError: 0 cannot be",
        "InfeasibleError: 1 cannot be",
    ]
    assert made.rows == []
    again = run_experiment(squares(), Settings(quick=True), tmp_path)
    assert not again.failures
    assert len(again.rows) == 2


def test_a_missing_library_stops_the_run(tmp_path):
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        run_experiment(squares(lack), Settings(), tmp_path)


def test_results_of_another_version_are_set_aside(tmp_path):
    path = tmp_path / "results.jsonl"
    ResultsFile(path, "one").add(Result({"k": 1}, {"m": math.nan}))
    assert math.isnan(ResultsFile(path, "one").find({"k": 1}).values["m"])
    assert ResultsFile(path, "two").find({"k": 1}) is None
    assert path.with_suffix(".old").exists()


def test_a_file_of_something_else_is_set_aside(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text("not json\n", encoding="utf-8")
    assert ResultsFile(path, "one").find({"k": 1}) is None


def test_a_figure_that_fails_leaves_no_half_file(tmp_path):
    class Broken:
        def savefig(self, path, **options):
            path.write_bytes(b"half")
            raise RuntimeError("out of ink")

    experiment = Experiment("x", "X", squares().tasks, summarize_draws, lambda *_: Broken())
    with pytest.raises(RuntimeError, match="ink"):
        run_experiment(experiment, Settings(quick=True), tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["results", "x-quick.csv"]
