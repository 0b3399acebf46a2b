"""The paper's Figure 2: what its text and caption say of it."""

import numpy as np
import pytest

from fairpca_paper.experiments.experiment import Result, Settings
from fairpca_paper.experiments.figure_synthetic import EXPERIMENTS, MADE, PUBLISHED
from fairpca_paper.experiments.figure_synthetic import _evaluate as evaluate
from fairpca_paper.experiments.figure_synthetic import _made_split as made_split

(FIGURE,) = EXPERIMENTS
FAIR = ["Fair PCA", "Fair PCA-S (0.85)"]


def test_a_made_split_holds_out_the_same_third_of_both_groups():
    split = made_split(20, draw=3)
    assert split.X_train.shape == (336, 20)
    assert split.X_test.shape == (144, 20)
    assert np.bincount(split.z_test.astype(int)).tolist() == [72, 72]
    rows = {tuple(row) for row in split.X_train}
    assert not any(tuple(row) in rows for row in split.X_test)


def test_splits_of_the_same_data_differ():
    one, other = made_split(20, draw=0), made_split(20, draw=1)
    assert not np.array_equal(one.X_test, other.X_test)
    everything = [np.vstack([s.X_train, s.X_test]) for s in (one, other)]
    np.testing.assert_allclose(*(np.sort(X, axis=0) for X in everything))


@pytest.fixture(scope="module")
def published(data_folder):
    """Means over the ten published splits, for two of the paper's dimensions."""
    return {
        (d, method): _means([evaluate(d, method, draw, data_folder) for draw in range(10)])
        for d in (60, 100)
        for method in ("PCA", *FAIR)
    }


def _means(values):
    return {metric: np.mean([v[metric] for v in values]) for metric in values[0]}


@pytest.mark.parametrize("d", [60, 100])
def test_plain_pca_keeps_half_of_the_variance_and_shows_the_groups(d, published):
    # "variance about 50%"; "MMD^2 > 0.5 and linear inseparability < 0.02"
    numbers = published[d, "PCA"]
    assert numbers["paper/explained_variance_pct"] == pytest.approx(50, abs=5)
    assert numbers["paper/mmd2"] > 0.5
    assert numbers["paper/linear_inseparability"] < 0.02


@pytest.mark.parametrize("d", [60, 100])
def test_fair_pca_keeps_above_30_percent_at_an_mmd_below_7_percent(d, published):
    # "variance above 30%"; "MMD^2 smaller than 0.07"
    assert published[d, "Fair PCA"]["paper/explained_variance_pct"] > 30
    assert published[d, "Fair PCA"]["paper/mmd2"] < 0.07


@pytest.mark.parametrize("d", [60, 100])
def test_a_linear_model_trained_on_fair_rows_guesses(d, published):
    # Means of the two equally large groups coincide on the training rows, so the best linear
    # model is a constant, and it errs on one of the two groups.
    for method in FAIR:
        assert published[d, method]["held-out/linear_inseparability"] == pytest.approx(
            0.5, abs=0.03
        )


def test_fair_pca_s_gives_variance_for_fairness(published):
    fair, stricter = (published[100, method] for method in FAIR)
    assert stricter["paper/explained_variance_pct"] < fair["paper/explained_variance_pct"]
    assert stricter["paper/mmd2"] < fair["paper/mmd2"]
    assert stricter["held-out/boosting_probe_auc"] < fair["held-out/boosting_probe_auc"]


def test_kernel_components_have_neither_variance_nor_mmd(monkeypatch):
    monkeypatch.delenv("FAIRPCA_DATA", raising=False)
    values = evaluate(20, "Fair Kernel PCA", 0, None)
    assert {name.split("/")[1] for name in values} == {
        "linear_inseparability",
        "linear_probe_auc",
        "boosting_probe_auc",
    }


def test_without_the_published_data_the_same_figure_is_made_from_new_ones(monkeypatch, tmp_path):
    monkeypatch.delenv("FAIRPCA_DATA", raising=False)
    for data in (None, tmp_path):
        assert {t.key["dataset"] for t in FIGURE.tasks(Settings(data=data))} == {MADE}


def test_the_published_data_are_used_where_they_are(data_folder):
    tasks = FIGURE.tasks(Settings(data=data_folder))
    assert {task.key["dataset"] for task in tasks} == {PUBLISHED}
    assert len({str(task.key) for task in tasks}) == len(tasks)


def some_results(methods, dimensions):
    values = {
        "paper/explained_variance_pct": 30.0,
        "paper/mmd2": 0.05,
        "paper/linear_inseparability": 0.4,
        "held-out/linear_inseparability": 0.5,
        "held-out/boosting_probe_auc": 0.7,
    }
    return [
        Result(
            {"dataset": MADE, "k": 5, "method": method, "parameter": d, "draw": draw},
            {name: value + 0.01 * draw for name, value in values.items()},
        )
        for method in methods
        for d in dimensions
        for draw in range(3)
    ]


def test_plain_pca_is_drawn_where_it_is_on_the_scale():
    figure = FIGURE.draw(some_results(["PCA", "Fair PCA"], [20, 60]), Settings())
    # a box per method and dimension, one method less in the two panels without PCA; the legend
    # adds an empty patch per method to the first panel
    assert [len(axes.patches) for axes in figure.axes] == [4 + 2, 2, 2, 4]
    assert "made anew" in figure._supxlabel.get_text()


def test_an_interrupted_run_gives_a_figure_of_what_there_is():
    results = some_results(["Fair PCA"], [40])[:1]
    figure = FIGURE.draw(results, Settings())
    assert "not known yet" in figure._supxlabel.get_text()
    rows = FIGURE.summarize(results)
    assert {(row.protocol, row.metric, row.parameter) for row in rows} >= {
        ("paper", "mmd2", 40),
        ("held-out", "linear_inseparability", 40),
    }
