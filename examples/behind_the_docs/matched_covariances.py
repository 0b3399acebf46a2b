"""Draw what matching covariances hides and what it cannot: Gaussians, and the paper's circle.

Install ``fairpca`` and ``matplotlib``, then run
``python examples/behind_the_docs/matched_covariances.py``. Above, Figure 1 of the paper, which does
not print its covariances; here both groups have the same variances, each along random axes of its
own. Below, the circle of its appendix. No line gives these two groups the same covariance, so it
comes a second time with half of the centre moved out, where all do.
"""

from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from scipy.stats import ortho_group
from sklearn.decomposition import PCA
from sklearn.preprocessing import FunctionTransformer
from threadpoolctl import threadpool_limits

from fairpca import FairPCA
from fairpca.errors import InfeasibleError
from fairpca.metrics import leakage

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "matched_covariances.png"
N, D, K, DRAWS = 1000, 10, 2, 5
matched = partial(FairPCA, match="covariances")
SPECTRAL = {"covariance_method": "spectral", "covariance_directions": D // 2}  # as in the paper
MIXTURE = {
    "Plain PCA shows\nmean and shape": PCA(K),
    "Fair PCA leaves\nthe shape": FairPCA(K),
    "Fair PCA-S leaves\nsome of the shape": matched(K, **SPECTRAL),
    "Exact matching\nhides the group": matched(K),
}
DATA, LINE = FunctionTransformer(), FairPCA(1)  # the first returns what it is given
MATCHED_LINE = matched(1)
CIRCLE = {  # whether half of the centre is moved out, and the reduction
    "The paper's circle:\nequal means": (False, DATA),
    "Equal means do\nnot help": (False, LINE),
    "Half moved out:\nequal covariances": (True, DATA),
    "Equal covariances\ndo not help either": (True, MATCHED_LINE),
}
ROWS = {  # label, format and place of each number below a panel
    "variance": ("variance kept", "{:.0%}", -0.16),
    "fitted": ("gap, training", "{:.2f}", -0.29),
    "new": ("gap, held-out", "{:.2f}", -0.42),
    "auc": ("AUC of trees", "{:.2f}", -0.55),
}
SOURCES = (
    f"Two Gaussians in {D} dimensions, reduced to {K}: fitted to {N:,} rows, drawn and measured on "
    f"{N:,} held-out rows.\nMeans over {DRAWS} such mixtures. Ellipses: two standard deviations. "
    "Gap: relative difference of covariances.",
    "Two dimensions, reduced to one (dots jittered upwards). On the paper's circle no "
    "line has\nequal covariances; they are equal once half of the centre is moved, to radius √2.",
)
# Colours of Okabe and Ito for the groups.
GROUPS = np.array(["#0072B2", "#D55E00"])
INK, FAINT, COLOURS = "#222222", "#666666", 64


def main():
    draws = [mixture_panels(np.random.default_rng(seed)) for seed in range(DRAWS)]
    panels = {
        panel: (view, {row: np.mean([draw[panel][1][row] for draw in draws]) for row in ROWS})
        for panel, (view, _) in draws[0].items()
    }
    for panel, (moved, reduction) in CIRCLE.items():  # new points lie between those fitted
        panels[panel] = measure(reduction, circle(moved), circle(moved, turn=0.5))
    for panel, (_, numbers) in panels.items():
        print(panel.replace("\n", " "), *(f"{row}: {numbers[row]:.3f}" for row in ROWS), sep="; ")
    try:
        measure(MATCHED_LINE, circle(moved=False), circle(moved=False))
    except InfeasibleError as error:
        print("The paper's circle:", error)
    draw(panels)
    print(PICTURE)


def mixture_panels(rng):
    """Draw one mixture of two Gaussians, and rows from it; reduce these in every way."""
    spread = ortho_group.rvs(D, size=2, random_state=rng) * np.sqrt(np.geomspace(10, 0.1, D))
    shift = np.stack([np.zeros(D), rng.normal(size=D)])

    def sample():
        group = rng.integers(2, size=N)
        return np.einsum("nij,nj->ni", spread[group], rng.normal(size=(N, D))) + shift[group], group

    rows, new_rows = sample(), sample()
    return {panel: measure(reduction, rows, new_rows) for panel, reduction in MIXTURE.items()}


def circle(moved, turn=0.0, n=400):
    """Group 1 equidistant on a circle, group 0 at its centre, or half of it on a wider circle."""
    angle = 2 * np.pi * (np.arange(n) + turn) / n
    ring, centre = np.column_stack([np.cos(angle), np.sin(angle)]), np.zeros((n, 2))
    if moved:
        centre[::2] = np.sqrt(2) * ring[::2]  # now the covariance is that of the ring
    return np.vstack([centre, ring]), np.repeat([0, 1], n)


def measure(reduction, rows, new_rows):
    """Fit to some rows; return the representation of new ones with their groups, and numbers."""
    (X, group), (X_new, new_group) = rows, new_rows
    about = {"sensitive_features": group} if isinstance(reduction, FairPCA) else {}
    T, T_new = (reduction.fit(X, **about).transform(some) for some in (X, X_new))
    return (T_new, new_group), {
        "variance": T_new.var(axis=0).sum() / X_new.var(axis=0).sum(),
        "fitted": covariance_gap(T, group),
        "new": covariance_gap(T_new, new_group),
        "auc": leakage(T_new, new_group, probe="boosting", random_state=0).auc,
    }


def covariance_gap(T, group):
    """What `covariance_gap_` says of the fitted rows, for any rows and any reduction."""
    covariances = np.stack([np.atleast_2d(np.cov(T[group == g].T)) for g in (0, 1)])
    average = np.average(covariances, axis=0, weights=np.bincount(group))
    gaps = np.linalg.norm(covariances - average, axis=(1, 2))
    return gaps.max() / np.linalg.norm(np.atleast_2d(np.cov(T.T, ddof=0)))


def draw(panels):
    mpl.rcParams.update({"font.size": 9.5, "text.color": INK})
    figure = Figure(figsize=(8, 7.6), dpi=200, facecolor="white")
    figure.subplots(2, 4)
    figure.subplots_adjust(left=0.15, right=0.99, bottom=0.14, top=0.83, wspace=0.1, hspace=1.55)
    for axes, (title, ((T, group), numbers)) in zip(figure.axes, panels.items(), strict=True):
        scatter(axes, T, group, ellipses=title in MIXTURE)
        axes.set_title(title, loc="left", size=10, weight="bold", linespacing=1.3)
        for row, (_, form, y) in ROWS.items():
            axes.text(0.5, y, form.format(numbers[row]), transform=axes.transAxes, ha="center")
    explain(figure.axes[0], "Matching covariances hides Gaussian groups …", SOURCES[0], "AB")
    explain(figure.axes[4], "… but does not help on a circle", SOURCES[1], ("centre", "circle"))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    image.quantize(COLOURS).save(PICTURE, optimize=True)  # a fraction of the size in full colour


def scatter(axes, T, group, *, ellipses):
    rng = np.random.default_rng(0)
    if T.shape[1] == 1:  # a lane for each group
        T = np.column_stack([T, 1.2 * (group - 0.5) + rng.uniform(-0.4, 0.4, size=len(T))])
    order = rng.permutation(len(T))  # neither group on top of the other
    axes.scatter(*T[order].T, s=4, c=GROUPS[group[order]], alpha=0.6, linewidth=0)
    for g, colour in enumerate(GROUPS if ellipses else ()):
        C, angle = np.cov(T[group == g].T), np.linspace(0, 2 * np.pi, 200)
        outline = 2 * np.linalg.cholesky(C) @ [np.cos(angle), np.sin(angle)]
        axes.plot(*(outline.T + T[group == g].mean(axis=0)).T, color=colour, linewidth=2)
    axes.set(xticks=[], yticks=[], adjustable="datalim", aspect="equal")
    axes.spines[:].set_color("#BBBBBB")


def explain(axes, headline, source, names):
    """Write what belongs above and beside a row of panels, given its first."""
    left = partial(axes.text, -0.06, transform=axes.transAxes, ha="right", size=9)
    for label, _, y in ROWS.values():
        left(y, label)
    left(-0.66, "0.50 = chance", color=FAINT)
    for y, name, colour in zip((0.86, 0.73, 0.61), ("Group:", *names), (INK, *GROUPS), strict=True):
        left(y, name, color=colour)
    above = partial(axes.text, -0.74, transform=axes.transAxes, va="top")
    above(1.78, headline, size=13, weight="bold")
    above(1.62, source, size=9, color=FAINT, linespacing=1.3)


if __name__ == "__main__":
    with threadpool_limits(1):  # the fits are small: threads would only wait for each other
        main()
