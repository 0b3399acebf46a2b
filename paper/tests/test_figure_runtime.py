import math
import multiprocessing
from time import perf_counter

import pytest

from fairpca_paper.experiments import figure_runtime
from fairpca_paper.experiments.experiment import Result, Settings
from fairpca_paper.experiments.figure_runtime import EXPERIMENTS, LARGE_D, SMALL_D
from fairpca_paper.experiments.figure_runtime import _Race as Race
from fairpca_paper.experiments.figure_runtime import _time_at_d as time_at_d
from fairpca_paper.experiments.figure_runtime import _time_at_k as time_at_k
from fairpca_paper.experiments.figure_runtime import _time_fits as time_fits
from fairpca_paper.experiments.figure_runtime import _Times as Times
from fairpca_paper.experiments.protocol import METHODS

OVER_D, OVER_K = EXPERIMENTS


def test_fits_are_timed_one_by_one_on_data_of_their_own():
    times = time_fits(Race("Fair PCA", d=20, k=5, repeats=3), limit=60, budget=60)
    assert len(times.seconds) == 3
    assert not times.stopped
    assert all(0 < seconds < 60 for seconds in times.seconds)


def test_no_fit_is_begun_when_the_budget_is_spent():
    times = time_fits(Race("Fair PCA", d=20, k=5, repeats=50), limit=60, budget=1e-9)
    assert len(times.seconds) == 1


def test_a_fit_that_takes_too_long_is_killed():
    start, others = perf_counter(), set(multiprocessing.active_children())
    times = time_fits(Race("Fair PCA (exact)", d=400, k=50, repeats=1), limit=0.2, budget=60)
    assert times.stopped
    assert times.seconds == ()
    # the fit alone takes several seconds; starting a process and its imports take some, too
    assert perf_counter() - start < 60
    assert not set(multiprocessing.active_children()) - others


def test_what_a_method_raises_is_told():
    with pytest.raises(RuntimeError, match="KeyError: 'no such method'"):
        time_fits(Race("no such method", d=20, k=5), limit=10, budget=10)


def test_a_method_without_an_answer_has_no_time():
    # Exactly equal covariances of two groups leave about half of the directions.
    assert time_fits(Race("Fair PCA (exact)", d=20, k=19), limit=60, budget=1) == Times(())


@pytest.fixture
def stopwatch(monkeypatch):
    """Methods take d / 100 seconds; what was timed is noted."""
    timed = []

    def fake(race, *, limit, budget):
        timed.append((race.method, race.d, race.k))
        seconds = race.d / 100
        return Times((), stopped=True) if seconds > limit else Times((seconds,) * race.repeats)

    monkeypatch.setattr(figure_runtime, "_time_fits", fake)
    monkeypatch.setattr(figure_runtime, "_stopped_at", {})
    return timed


def test_larger_dimensions_are_not_tried_once_a_method_was_stopped(stopwatch):
    patience = {"limit": 0.5, "budget": 9.0, "repeats": 2}
    values = [time_at_d("RLACE", d, **patience) for d in (20, 60, 100)]
    assert stopwatch == [("RLACE", 20, 5), ("RLACE", 60, 5)]
    assert values[0]["seconds"] == pytest.approx(0.2)
    assert (values[1]["stopped"], values[1]["limit"]) == (1, 0.5)
    assert math.isnan(values[1]["seconds"])
    assert values[2] == {"tried": 0.0}
    time_at_d("PCA", 60, **patience)  # another method is tried all the same
    time_at_d("RLACE", 100, **patience | {"limit": 5.0})  # and with more patience
    assert stopwatch[2:] == [("PCA", 60, 5), ("RLACE", 100, 5)]


def test_more_components_are_tried_although_fewer_took_too_long(stopwatch):
    for k in (2, 10):
        time_at_k("INLP", k, limit=0.5, budget=9.0, repeats=1)
    assert stopwatch == [("INLP", 100, 2), ("INLP", 100, 10)]


def results_of(experiment, settings):
    return [Result(task.key, task.run(**task.arguments)) for task in experiment.tasks(settings)]


def test_the_table_says_seconds_or_when_it_was_stopped(stopwatch):
    rows = OVER_D.summarize(results_of(OVER_D, Settings(quick=True)))
    rlace = {(row.parameter, row.metric): row.mean for row in rows if row.method == "RLACE"}
    assert rlace == {
        (20, "seconds"): pytest.approx(0.2),
        (60, "seconds"): pytest.approx(0.6),
        (100, "seconds"): pytest.approx(1.0),
        (300, "seconds_stopped_after"): 1.0,
    }


def test_what_the_paper_says_stands_beside_it(stopwatch):
    rows = OVER_D.summarize(results_of(OVER_D, Settings()))
    printed = {(row.method, row.parameter): row.paper_mean for row in rows if row.paper_mean}
    assert printed["RLACE", 800] == 260
    assert printed["MbF-PCA (10^-3)", 100] == 1.3
    assert not any(method.startswith("Fair") for method, _ in printed)


def test_figures_show_stops_in_the_panel_where_they_happened(stopwatch):
    figure = OVER_D.draw(results_of(OVER_D, Settings(quick=True)), Settings(quick=True))
    left, right = ([t.get_text() for t in axes.texts] for axes in figure.axes)
    assert "↑" not in left
    assert "↑" in right


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.name)
def test_an_interrupted_run_gives_a_figure_of_what_there_is(experiment, stopwatch):
    results = results_of(experiment, Settings(quick=True))
    for part in (results[:1], results[4:5], results[::3]):
        experiment.draw(part, Settings(quick=True)).canvas.draw()


def test_tasks_are_timed_alone_and_in_ascending_order():
    assert all(experiment.timed for experiment in EXPERIMENTS)
    tasks = [t for t in OVER_D.tasks(Settings()) if t.key["method"] == "INLP"]
    dimensions = [task.key["parameter"] for task in tasks]
    assert dimensions == sorted({*SMALL_D, *LARGE_D})


def test_both_figures_have_all_methods_in_quick_runs_too():
    for experiment in EXPERIMENTS:
        every, quick = (
            {task.key["method"] for task in experiment.tasks(Settings(quick=quick))}
            for quick in (False, True)
        )
        assert every == quick == {*METHODS, "Fair PCA (exact)"}
