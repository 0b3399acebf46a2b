"""The paper's Figure 1: groups with equal means and unequal covariances, seen by two components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairpca import FairPCA
from fairpca.datasets import make_covariance_mixture
from fairpca.metrics import covariance_gap, explained_variance_ratio, leakage

from .experiment import Experiment, Result, Settings, Summary, Task, combinations, summarize_draws
from .panels import group_legend, headed, note, scatter_groups, write
from .style import paper_figure

K, DIRECTIONS = 2, 5
DATASET = "covariance mixture"
PROBES = ("linear", "boosting")
SPECTRAL = f"Fair PCA-S (l = {DIRECTIONS})"
METHODS: dict[str, dict[str, Any]] = {
    "Fair PCA": {},
    SPECTRAL: {
        "match": "covariances",
        "covariance_method": "spectral",
        "covariance_directions": DIRECTIONS,
    },
    "Fair PCA (exact)": {"match": "covariances"},
}
FINDINGS = {
    "Fair PCA": "equal means",
    SPECTRAL: "covariances nearly equal",
    "Fair PCA (exact)": "covariances equal",
}


def _fitted(method: str, draw: int) -> tuple[FairPCA, np.ndarray, np.ndarray]:
    """Fit a method to one sample; return it with the rows and groups of another sample."""
    X, z = make_covariance_mixture(random_state=2 * draw)
    X_new, z_new = make_covariance_mixture(random_state=2 * draw + 1)
    return FairPCA(K, **METHODS[method]).fit(X, sensitive_features=z), X_new, z_new


def _measure(method: str, draw: int) -> dict[str, float]:
    """Return what a representation of new rows keeps, and what it leaks."""
    fair, X_new, z_new = _fitted(method, draw)
    T = fair.transform(X_new)
    values = {
        "explained_variance_pct": 100 * explained_variance_ratio(X_new, fair.components_),
        "covariance_gap": covariance_gap(T, z_new),
    }
    for probe in PROBES:
        # Chance is known here, so that permutations would only cost time.
        result = leakage(T, z_new, probe=probe, n_permutations=1, random_state=draw)
        values[f"{probe}_probe_auc"] = result.auc
    return values


def _tasks(settings: Settings) -> list[Task]:
    chosen = combinations(draw=range(2 if settings.quick else 10), method=METHODS)
    return [Task({"dataset": DATASET, "k": K, **one}, _measure, one) for one in chosen]


def _draw(results: Sequence[Result], settings: Settings) -> Any:
    """Draw the first sample, and the means over all samples below it."""
    means = {(row.method, row.metric): row for row in summarize_draws(results)}
    n_draws = len({result.key["draw"] for result in results})
    with paper_figure(6.75, 3.6) as figure:
        panels = figure.subplots(1, len(METHODS))
        for axes, method in zip(panels, METHODS, strict=True):
            fair, X_new, z_new = _fitted(method, draw=0)
            scatter_groups(axes, fair.transform(X_new), z_new)
            headed(axes, method, FINDINGS[method])
            axes.set_xlabel("component 1")
            numbers = {
                "variance kept": _written(means.get((method, "explained_variance_pct")), "{:.0f} %")
            }
            for probe in PROBES:
                row = means.get((method, f"{probe}_probe_auc"))
                numbers[f"{probe} probe, AUC"] = _written(row, "{:.2f}", spread=True)
            _numbers_below(axes, numbers, label=axes is panels[0])
        panels[0].set_ylabel("component 2")
        group_legend(panels[0], {0: "group 0", 1: "group 1"})
        note(
            figure,
            f"Two Gaussians in ten dimensions, reduced to two. Fitted to 1,000 rows, drawn and "
            f"measured on 1,000 others:\nmeans and standard deviations over {n_draws} such samples;"
            f" AUC 0.5 is chance. Ellipses: two standard deviations.\nScales differ: what is "
            f"large here separates the groups, so hiding them leaves little variance.",
        )
    return figure


def _written(row: Summary | None, form: str, *, spread: bool = False) -> str:
    if row is None:
        return "–"
    return form.format(row.mean) + (f" ± {form.format(row.std)}" if spread else "")


EXPERIMENTS = (
    Experiment(
        "figure-covariance",
        "Figure 1: what equal covariances hide that equal means do not",
        *(_tasks, summarize_draws, _draw),
    ),
)


def _numbers_below(axes: Any, numbers: Mapping[str, str], *, label: bool) -> None:
    """Write numbers under a panel, one per line; with `label` what they are, to the left."""
    for line, (name, text) in enumerate(numbers.items()):
        write(axes, text, (0.5, 0), (0, -34 - 13 * line), ha="center", va="top")
        if label:
            write(axes, name, (0, 0), (-6, -34 - 13 * line), ha="right", va="top")
