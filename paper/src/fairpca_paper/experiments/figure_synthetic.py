"""The paper's Figure 2: variance kept and fairness reached as the dimension grows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fairpca.datasets import make_two_gaussians
from fairpca.metrics import explained_variance_ratio

from ..datasets import MissingDataError, Split, load_lee2022_synthetic
from ..metrics import linear_inseparability, squared_mmd
from .experiment import BETWEEN, Experiment, Result, Settings, Task, by_protocol, summarize_draws
from .panels import headed, horizontal_grid, method_legend, note
from .protocol import (
    HELD_OUT,
    PAPER,
    SHOWN,
    Projected,
    attribute_auc,
    make_method,
    plain_bandwidth,
)
from .style import FAINT, HAIR, in_order, paper_figure, style_of

K, N_PER_GROUP, HELD_OUT_SHARE = 5, 240, 0.3
DIMENSIONS = (20, 40, 60, 80, 100)
PLAIN, KERNEL = "PCA", "Fair Kernel PCA"
VARIANCE, MMD2 = "explained_variance_pct", "mmd2"
INSEPARABILITY, TREES = "linear_inseparability", "boosting_probe_auc"

Boxes = dict[Any, dict[str, dict[float, list[float]]]]
"""Values by panel, method and dimension."""

PUBLISHED, MADE = "lee2022 two gaussians", "two gaussians"

TOO_SLOW_FOR_QUICK = ("MbF-PCA (10^-3)", "MbF-PCA (10^-6)", "RLACE")


SHARE = 0.86
"""Part of the distance between two positions that the boxes fill."""


@cache
def _published_splits(d: int, data: Path | None) -> tuple[Split, ...] | None:
    """Return the splits of Lee et al. (2022), or None where the user does not have them."""
    try:
        return load_lee2022_synthetic(d, data=data).splits
    except MissingDataError:
        return None


def _made_split(d: int, draw: int) -> Split:
    """Return a random split of made data, of the same distribution and sizes as the published."""
    X, z = make_two_gaussians(d, n_per_group=N_PER_GROUP, random_state=d)
    order = np.random.default_rng([d, draw]).permutation(N_PER_GROUP)
    held_out = np.isin(np.arange(N_PER_GROUP), order[: round(HELD_OUT_SHARE * N_PER_GROUP)])
    test = np.tile(held_out, 2)  # the same positions in both groups, as in the published splits
    return Split(X[~test], z[~test], z[~test], X[test], z[test], z[test])


def _evaluate(d: int, method: str, draw: int, data: Path | None) -> dict[str, float]:
    """Fit one method to one training split and measure its representation of the test rows."""
    published = _published_splits(d, data)
    split = _made_split(d, draw) if published is None else published[draw]
    X, z, X_test, z_test = split.X_train, split.z_train, split.X_test, split.z_test
    estimator = make_method(method, d, K).fit(X, sensitive_features=z)
    T, T_test = estimator.transform(X), estimator.transform(X_test)
    train, test = Projected(T, z, z), Projected(T_test, z_test, z_test)
    held_out = linear_inseparability(T, z, X_test=T_test, sensitive_features_test=z_test)
    values = {
        PAPER + BETWEEN + INSEPARABILITY: linear_inseparability(T_test, z_test),
        HELD_OUT + BETWEEN + INSEPARABILITY: held_out,
    }
    with threadpool_limits(1):  # for so few rows, threads would only wait for one another
        for probe, auc in attribute_auc(train, test).items():
            values[HELD_OUT + BETWEEN + probe] = auc
    if method == KERNEL:  # its components are not directions of the data
        return values
    bandwidth = plain_bandwidth(X, K)
    variance = 100 * explained_variance_ratio(X_test, estimator.components_)
    return values | {
        PAPER + BETWEEN + VARIANCE: variance,
        PAPER + BETWEEN + MMD2: squared_mmd(T_test, z_test, bandwidth=bandwidth),
    }


def _tasks(settings: Settings) -> list[Task]:
    dataset = MADE if _published_splits(DIMENSIONS[0], settings.data) is None else PUBLISHED
    return [
        Task(
            {"dataset": dataset, "k": K, "method": method, "parameter": d, "draw": i},
            _evaluate,
            {"d": d, "method": method, "draw": i, "data": settings.data},
        )
        for d in (DIMENSIONS[::2] if settings.quick else DIMENSIONS)
        for method in SHOWN
        for i in range(2 if settings.quick else 10)
        if not (settings.quick and method in TOO_SLOW_FOR_QUICK)
    ]


PANELS = {
    (PAPER, VARIANCE): ("Variance explained", "of the test rows, in %; higher is better"),
    (PAPER, MMD2): ("MMD²", "between the groups' test rows; lower is better"),
    (PAPER, INSEPARABILITY): (
        "Linear inseparability",
        "error rate, trained and scored on test rows; higher is better",
    ),
    (HELD_OUT, TREES): (
        "What boosted trees see",
        "AUC for the group, held-out rows; lower is better",
    ),
}
"""The paper's three, and a fourth of ours."""


def _draw(results: Sequence[Result], settings: Settings) -> Any:
    """Draw box plots over the splits; plain PCA is off the scale of two panels."""
    boxes = _by_panel(results)
    methods = in_order({str(result.key["method"]) for result in results})
    dimensions = sorted({int(result.key["parameter"]) for result in results})
    with paper_figure(9.0, 5.6) as figure:
        panels = dict(zip(PANELS, figure.subplots(2, 2, sharex=True).flat, strict=True))
        for panel, axes in panels.items():
            hidden = {PLAIN} if panel[1] in (MMD2, INSEPARABILITY) else set()
            shown = {name: at for name, at in boxes[panel].items() if name not in hidden}
            _grouped_boxes(axes, shown, methods, dimensions)
            headed(axes, *PANELS[panel])
            if panel[1] in (VARIANCE, MMD2):
                axes.set_ylim(bottom=0)
            else:
                axes.axhline(0.5, color=FAINT, linewidth=0.9, linestyle=":", zorder=1)
                axes.set_xlabel("dimension d")
        method_legend(figure, methods, boxes=True)
        note(figure, _caption(results, boxes))
    return figure


def _by_panel(results: Iterable[Result]) -> Boxes:
    boxes: Boxes = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for result in by_protocol(results):
        method, dimension = str(result.key["method"]), float(result.key["parameter"])
        for metric, value in result.values.items():
            boxes[result.key["protocol"], metric][method][dimension].append(value)
    return boxes


def _caption(results: Sequence[Result], boxes: Boxes) -> str:
    n_splits = len({result.key["draw"] for result in results})
    published = any(result.key["dataset"] == PUBLISHED for result in results)
    origin = "data of Lee et al. 2022" if published else "made anew"

    def of_plain(metric: str) -> str:
        medians = [float(np.median(v)) for v in boxes[PAPER, metric][PLAIN].values()]
        return f"{min(medians):.2f} to {max(medians):.2f}" if medians else "not known yet"

    return (
        f"Two Gaussians of 240 rows each ({origin}), reduced to k = {K}; boxes over {n_splits} "
        f"random splits, 70 % for training; dotted: chance.\nPCA is off the scale of two panels: "
        f"MMD² {of_plain(MMD2)}, inseparability {of_plain(INSEPARABILITY)} (medians, by d). Fair "
        f"kernel PCA has no directions in the\ndata, so neither variance nor MMD². The last panel "
        f"shows what a non-linear model still finds."
    )


EXPERIMENTS = (
    Experiment(
        "figure-synthetic",
        "Figure 2: variance, MMD² and linear inseparability as the dimension grows",
        *(_tasks, lambda results: summarize_draws(by_protocol(results)), _draw),
    ),
)


def _grouped_boxes(
    axes: Any,
    values: Mapping[str, Mapping[float, Sequence[float]]],
    methods: Sequence[str],
    positions: Sequence[float],
) -> None:
    """Draw a box per method and position, in slots that are the same in every panel."""
    slot = SHARE / max(1, len(methods))
    for place in range(len(positions) - 1):
        axes.axvline(place + 0.5, color=HAIR, linewidth=0.6, zorder=0)
    for rank, method in enumerate(methods):
        offset = (rank - (len(methods) - 1) / 2) * slot
        drawn = [
            (place + offset, finite)
            for place, position in enumerate(positions)
            if (finite := [v for v in values.get(method, {}).get(position, ()) if np.isfinite(v)])
        ]
        if drawn:
            style = style_of(method)
            line = {"color": style.colour, "linewidth": 0.9}
            box = {"facecolor": style.face, "edgecolor": style.colour, "linewidth": 0.9}
            axes.boxplot(
                [numbers for _, numbers in drawn],
                positions=[x for x, _ in drawn],
                widths=0.82 * slot,
                manage_ticks=False,
                patch_artist=True,
                zorder=style.order,
                boxprops=box,
                medianprops={"color": style.colour, "linewidth": 1.8},
                whiskerprops=line,
                capprops=line,
                flierprops={"marker": "o", "markersize": 2, "markeredgecolor": style.colour},
            )
    axes.set(xlim=(-0.5, max(1, len(positions)) - 0.5))
    axes.set_xticks(range(len(positions)), [f"{position:g}" for position in positions])
    axes.tick_params(axis="x", length=0)
    horizontal_grid(axes)
