"""Draw what fair kernel PCA is for, and what it does not do: two groups on nested rings.

Install ``fairpca`` and ``matplotlib``, then run
``python examples/behind_the_docs/kernel_rings.py``. The rings have the same centre, so nothing
linear is left to remove once the group's shift in the third feature is gone; the group is in the
distance from the centre, the task in the direction seen from there.
"""

from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image
from sklearn.decomposition import KernelPCA
from sklearn.feature_selection import mutual_info_classif
from threadpoolctl import threadpool_limits

from fairpca import FairKernelPCA, FairPCA
from fairpca.metrics import leakage

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "kernel_rings.png"
N, K, DRAWS = 1000, 10, 5

PANELS = {
    "The data": "two of its features; the\nthird is higher outside",
    "Fair PCA": "removes the third one;\nthe rings stay visible",
    "Kernel PCA": "shows the group\neven to a linear model",
    "Fair kernel PCA": "hides it from a linear\nmodel, not from trees",
}
ROWS = {  # what is predicted, by which probe, in which words and colour
    ("group", "linear"): ("linear model", "#333333"),
    ("group", "boosting"): ("boosted trees", "#8E5BA8"),
    ("task", "linear"): ("linear model", "#333333"),
}
# Colours of Okabe and Ito for the groups.
GROUPS = {"inner": "#0072B2", "outer": "#D55E00"}
INK, FAINT, SHADE = "#222222", "#666666", "#EEEEEE"
COLOURS = 64


def main():
    draws = [measure(seed) for seed in range(DRAWS)]
    means = {
        panel: {row: np.mean([measured[panel][row] for _, _, measured in draws]) for row in ROWS}
        for panel in PANELS
    }
    for panel, aucs in means.items():
        print(panel, *(f"{what} by {probe}: {auc:.2f}" for (what, probe), auc in aucs.items()))
    views, people, _ = draws[0]
    draw(views, people["group"], means)
    print(PICTURE)


def rings(n, rng):
    """Three features of n people, their group (which ring), and a task that is not linear."""
    group = rng.choice(list(GROUPS), size=n)
    outer, angle = group == "outer", rng.uniform(0, 2 * np.pi, size=n)
    radius = 1 + outer + 0.3 * rng.normal(size=n)
    third = 0.5 * outer + 0.5 * rng.normal(size=n)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), third])
    return X, {"group": group, "task": np.sin(2 * angle) > 0}


def measure(seed):
    """Fit on one sample; return two columns to draw and the AUCs, both of another sample."""
    rng = np.random.default_rng(seed)
    (X, people), (X_new, new_people) = rings(N, rng), rings(N, rng)
    fair_kernel = FairKernelPCA(K).fit(X, sensitive_features=people["group"])
    encoders = {
        "Fair PCA": FairPCA().fit(X, sensitive_features=people["group"]),
        "Kernel PCA": KernelPCA(K, kernel="rbf", gamma=fair_kernel.gamma_).fit(X),
        "Fair kernel PCA": fair_kernel,
    }
    T_new = {"The data": X_new} | {name: e.transform(X_new) for name, e in encoders.items()}
    views = {panel: T_new[panel][:, :2] for panel in PANELS}
    for panel in ("Kernel PCA", "Fair kernel PCA"):
        columns = telling(encoders[panel].transform(X), people["group"])
        views[panel] = T_new[panel][:, columns]
    measured = {
        panel: {
            (what, probe): leakage(T_new[panel], new_people[what], probe=probe, random_state=0).auc
            for what, probe in ROWS
        }
        for panel in PANELS
    }
    return views, new_people, measured


def telling(T, group):
    """The two columns that, each on its own, share most information with the group."""
    return np.sort(np.argsort(mutual_info_classif(T, group, random_state=0))[-2:])


def draw(views, group, means):
    mpl.rcParams.update({"font.size": 9.5, "text.color": INK})
    figure = Figure(figsize=(8, 4.4), dpi=200, facecolor="white")
    above, below = figure.subplots(2, len(PANELS), height_ratios=[1.6, 1])
    figure.subplots_adjust(left=0.14, right=0.99, bottom=0.06, top=0.68, wspace=0.1, hspace=0.1)
    headline = "Fair kernel PCA hides the rings from a linear model, not from boosted trees"
    source = (
        f"Simulated: fitted to {N:,} people, drawn and measured on {N:,} held-out ones (means over "
        f"{DRAWS} samples).\nKernel PCA with {K} components; drawn are the two that reveal most "
        "about the group."
    )
    figure.text(0.01, 0.98, headline, size=13, weight="bold", va="top")
    figure.text(0.01, 0.92, source, size=9, color=FAINT, va="top", linespacing=1.3)
    for axes, (panel, finding) in zip(above, PANELS.items(), strict=True):
        scatter(axes, views[panel], group)
        axes.set_title(panel, loc="left", size=11, weight="bold", pad=32)
        axes.text(0, 1.04, finding, transform=axes.transAxes, size=9, color=FAINT)
    explain(above[0], np.abs(views["The data"]).max())
    for axes, panel in zip(below, PANELS, strict=True):
        bars(axes, means[panel], first=axes is below[0])
    save(figure)


def scatter(axes, view, group):
    order = np.random.default_rng(0).permutation(len(view))  # neither group on top of the other
    colours = np.array([GROUPS[g] for g in group])
    axes.scatter(*view[order].T, s=3, c=colours[order], alpha=0.7, linewidth=0)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_color("#BBBBBB")


def explain(axes, reach):
    """Name the groups and the task beside the data, and shade the quarters of the task."""
    reach *= 1.05
    for side in (0, -reach):
        axes.add_patch(Rectangle((side, side), reach, reach, color=SHADE, zorder=0, linewidth=0))
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach))
    write = partial(axes.text, -0.04, transform=axes.transAxes, size=9, ha="right")
    write(0.92, "Group", weight="bold")
    write(0.81, "outer ring", color=GROUPS["outer"])
    write(0.71, "inner ring", color=GROUPS["inner"])
    write(0.52, "Task", weight="bold")
    write(0.47, "in a shaded\nquarter or not", va="top", linespacing=1.3)


def bars(axes, aucs, *, first):
    """The AUC of each model for group and task; a bar starts at chance, where it has no length."""
    for place, (row, auc) in zip((1, 2, 4.3), aucs.items(), strict=True):
        label, colour = ROWS[row]
        axes.barh(place, max(auc - 0.5, 0), 0.8, left=0.5, color=colour)
        axes.text(max(auc, 0.5) + 0.015, place, f"{auc:.2f}", va="center")
        axes.plot([0.5, 0.5], [place - 0.5, place + 0.5], color=INK, linewidth=1.5, clip_on=False)
        if first:
            axes.text(0.48, place, label, ha="right", va="center", size=9)
    if first:
        for place, heading in {0: "Predict group", 3.3: "Predict task"}.items():
            axes.text(0.48, place, heading, ha="right", va="center", weight="bold", size=9)
        axes.text(0.5, 4.9, "AUC; 0.50 = chance", size=9, color=FAINT, va="top")
    axes.set(xlim=(0.5, 1.14), ylim=(4.8, -0.5), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def save(figure):
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    image.quantize(COLOURS).save(PICTURE, optimize=True)  # a fraction of the size in full colour


if __name__ == "__main__":
    with threadpool_limits(1):  # the fits are small: threads would only wait for each other
        main()
