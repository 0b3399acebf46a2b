"""Running time against the number of rows: what is timed, counted and drawn."""

import numpy as np
import pytest

from fairpca_paper.experiments import Result, Settings
from fairpca_paper.experiments.figure_runtime_n import EXPERIMENTS, METHODS, ROWS, TOGETHER
from fairpca_paper.experiments.figure_runtime_n import _seconds as seconds
from fairpca_paper.experiments.figure_runtime_n import _timings as timings
from fairpca_paper.experiments.tradeoff import BOUNDS, REDUCTIONS

(FIGURE,) = EXPERIMENTS


def made_up(tasks):
    """Results in which every parameter took its position, in seconds."""
    for task in tasks:
        parameters = task.arguments["parameters"]
        values = {f"at {p:.6g}": float(i + 1) for i, p in enumerate(parameters)}
        yield Result(task.key, values)


def test_reductions_have_fewer_draws_and_all_eleven_bounds():
    tasks = FIGURE.tasks(Settings())
    theirs = [t for t in tasks if t.key["method"] == REDUCTIONS]
    assert len(tasks) == 2 * len(ROWS) * (10 * (len(METHODS) - 1) + 3)
    assert len(theirs) == 2 * len(ROWS) * 3
    assert all(t.arguments["parameters"] == BOUNDS for t in theirs)
    assert FIGURE.timed


def test_means_are_over_parameters_and_draws():
    results = list(made_up(FIGURE.tasks(Settings())))
    timing = timings(results)["DP", "Fair PCA", 1000]
    assert timing.mean == pytest.approx(np.mean(range(1, 12)))
    assert timing.std == pytest.approx(np.std(range(1, 12)))


def test_the_table_has_the_papers_number_and_says_how_many_draws():
    rows = FIGURE.summarize(list(made_up(FIGURE.tasks(Settings()))))
    assert len(rows) == 2 * len(ROWS) * len(METHODS)
    (printed,) = [row for row in rows if row.paper_mean is not None]
    assert (printed.method, printed.parameter, printed.paper_mean) == (REDUCTIONS, 40_000, 32.0)
    assert printed.protocol == "DP, logistic regression, 3 draws"


@pytest.mark.parametrize("kept", [slice(None), slice(0, 3)], ids=["all results", "some results"])
def test_both_panels_are_drawn(kept):
    results = list(made_up(FIGURE.tasks(Settings(quick=True))))[kept]
    figure = FIGURE.draw(results, Settings(quick=True))
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "Adult Income, DP",
        "Adult Income, EO",
    ]
    assert all(axes.get_yscale() == "log" for axes in figure.axes)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_timed_on_real_rows(method, data_folder):
    values = seconds("equal_opportunity", method, 1000, 0, [0.1], data=str(data_folder))
    assert list(values) == (["mean_of_all"] if method == TOGETHER else ["at 0.1"])
    assert min(values.values()) > 0
