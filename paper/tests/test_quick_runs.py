"""Every table and figure, in its quick form, from data to files."""

import csv
import math

import pytest

from fairpca_paper.experiments import EXPERIMENTS, Settings, run_experiment
from slow import first_fast

FAST = ("figure-synthetic",)
"""A figure with few methods; the others take a minute each."""


@pytest.mark.parametrize(
    "name",
    first_fast(sorted(EXPERIMENTS, key=lambda name: (name not in FAST, name)), len(FAST)),
)
def test_a_quick_run_writes_whole_tables_and_figures(name, data_folder, tmp_path):
    experiment = EXPERIMENTS[name]
    made = run_experiment(experiment, Settings(data_folder, quick=True), tmp_path)
    assert not made.failures
    with (tmp_path / f"{name}-quick.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert rows
    assert all(row["method"] and row["metric"] for row in rows)
    assert any(math.isfinite(float(row["mean"])) for row in rows)
    if name.startswith("figure"):
        assert (tmp_path / f"{name}-quick.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / f"{name}-quick.pdf").read_bytes().startswith(b"%PDF")


def test_every_table_and_figure_of_the_paper_has_a_name():
    assert list(EXPERIMENTS) == [
        "table-adult",
        "table-german",
        "table-compas",
        "table-samadi",
        "figure-covariance",
        "figure-synthetic",
        "figure-runtime-d",
        "figure-runtime-k",
        "figure-tradeoff",
        "figure-runtime-n",
        "figure-faces",
    ]
