import pytest

from fairpca_paper.experiments.experiment import Result, Settings
from fairpca_paper.experiments.figure_covariance import EXPERIMENTS, METHODS
from fairpca_paper.experiments.figure_covariance import _measure as measure

PLAIN, SPECTRAL, EXACT = METHODS
(FIGURE,) = EXPERIMENTS


@pytest.fixture(scope="module")
def values():
    return {method: measure(method, draw=0) for method in METHODS}


def test_equal_means_do_not_hide_the_groups_from_trees(values):
    # The groups' means are equal to begin with; trees see that one group is 17 times as wide.
    assert values[PLAIN]["boosting_probe_auc"] > 0.95
    # 1,000 rows: an AUC of pure chance has a standard deviation of 0.018.
    assert values[PLAIN]["linear_probe_auc"] == pytest.approx(0.5, abs=4 * 0.018)


@pytest.mark.parametrize("method", [SPECTRAL, EXACT])
def test_equal_covariances_hide_them_from_both_probes(method, values):
    for probe in ("linear", "boosting"):
        assert values[method][f"{probe}_probe_auc"] == pytest.approx(0.5, abs=4 * 0.018)


@pytest.mark.parametrize("method", [SPECTRAL, EXACT])
def test_what_it_costs_is_in_the_table_too(method, values):
    # Nearly all variance is in two directions of group 1, which tell the groups apart.
    assert values[method]["explained_variance_pct"] < 5 < values[PLAIN]["explained_variance_pct"]


def test_the_figure_shows_means_over_the_samples_and_what_is_missing(values):
    results = [Result({"dataset": "x", "k": 2, "method": PLAIN, "draw": 0}, values[PLAIN])]
    figure = FIGURE.draw(results, Settings(quick=True))
    words = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert f"{values[PLAIN]['explained_variance_pct']:.0f} %" in words
    assert words.count("–") == 6  # three numbers of the two methods that have not run yet


def test_tasks_cover_every_method_and_the_quick_ones_are_a_part():
    every, quick = (FIGURE.tasks(Settings(quick=q)) for q in (False, True))
    assert {task.key["method"] for task in every} == set(METHODS)
    assert {str(task.key) for task in quick} < {str(task.key) for task in every}
