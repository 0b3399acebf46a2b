"""Draw the picture of the README: what a model sees of race in PCA, fair PCA and fair PLS.

Install ``fairpca[audit]`` and ``matplotlib``, then run
``python examples/behind_the_docs/before_after.py``. All numbers are those of the demo, from
``docs/data/demo.json``; the curves show the scores of a linear model on halves like those of its
audit.
"""

import json
from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from scipy.stats import gaussian_kde
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from fairpca import FairPCA, FairPLS
from fairpca.tables import TableEncoder, read_table

DOCS = Path(__file__).parents[2] / "docs"
PICTURE = DOCS / "images" / "before_after.png"
N_COMPONENTS = 15
METHODS = {
    "pca": ("Plain PCA", lambda: PCA(N_COMPONENTS)),
    "fair_pca": ("Fair PCA", lambda: FairPCA(N_COMPONENTS)),
    "fair_pls": ("Fair PLS", lambda: FairPLS(kernel="rbf", random_state=0)),
}
"""As the audit of the demo has them."""

# Colours of Okabe and Ito.
GROUPS = {"white": "#0072B2", "other": "#D55E00"}
INK, FAINT = "#222222", "#666666"
COLOURS = 128


def main():
    numbers = json.loads((DOCS / "data" / "demo.json").read_text(encoding="utf-8"))
    loans = read_table("loanapp").frame.dropna(subset=["race", "sex"])
    groups = np.where(loans["race"] == "white", "white", "other")
    halves = RepeatedStratifiedKFold(n_splits=2, n_repeats=numbers["splits"] // 2, random_state=0)
    halves = list(halves.split(loans, loans["race"]))
    scores = {name: scores_of_all(loans, groups, halves, name) for name in METHODS}
    draw(numbers, scores, np.concatenate([groups[new] for _, new in halves]))
    print(PICTURE)


def scores_of_all(loans, groups, halves, name):
    """The linear scores of all held-out rows, of every half."""
    attributes, columns = loans[["race", "sex"]], loans.drop(columns=["race", "sex", "approve"])
    found = []
    for fit, new in halves:
        encoder = TableEncoder().fit(columns.iloc[fit])
        X, X_new = (encoder.transform(columns.iloc[rows]) for rows in (fit, new))
        reduction = METHODS[name][1]()
        known = {} if name == "pca" else {"sensitive_features": attributes.iloc[fit]}
        reduction.fit(X, loans["approve"].iloc[fit], **known)
        found.append(linear_scores(reduction.transform(X_new), groups[new] == "other"))
    return np.concatenate(found)


def linear_scores(T, labels):
    """Score every row with a linear model fitted to the other folds, as `leakage` does.

    Each fold has its own model, so the scores of a fold are standardised before they are pooled.
    """
    scores = np.empty(len(T))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(T, labels):
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        fold = model.fit(T[train], labels[train]).decision_function(T[test])
        scores[test] = (fold - fold.mean()) / fold.std()
    return scores


def draw(numbers, scores, groups):
    mpl.rcParams.update({"font.size": 10, "text.color": INK})
    figure = Figure(figsize=(8, 4.9), dpi=200, facecolor="white")
    words, *panels = figure.subplots(1, 4, width_ratios=[1.18, 1, 1, 1])
    figure.subplots_adjust(left=0.02, right=0.985, bottom=0.36, top=0.735, wspace=0.1)
    headline = "Race is not among the features, yet plain PCA gives it away"
    source = (
        f"{numbers['people']:,} mortgage applications in Boston, {numbers['features']} features. "
        "Held-out applicants; an AUC of 0.50 is guessing."
    )
    figure.text(0.02, 0.97, headline, size=14, weight="bold", va="top")
    figure.text(0.02, 0.905, source, color=FAINT, va="top")
    explain(words)
    for panel, (name, (label, _)) in zip(panels, METHODS.items(), strict=True):
        one = numbers["representations"][name]
        curves(panel, scores[name], groups)
        columns = one["n_columns"]
        what = f"{columns} columns" if columns > 1 else "1 column, for this target"
        panel.text(0.5, 1.16, label, transform=panel.transAxes, size=12, weight="bold", ha="center")
        panel.text(0.5, 1.05, what, transform=panel.transAxes, color=FAINT, ha="center")
        for row, number in zip(ROWS.values(), measured(one), strict=True):
            panel.text(0.5, row, number, transform=panel.transAxes, size=12, ha="center", va="top")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    image.quantize(COLOURS).save(PICTURE, optimize=True)  # a fraction of the size in full colour


ROWS = {
    "Race recognised by\na linear model (AUC)": -0.07,
    "Race recognised by the\nbest of three (AUC)": -0.27,
    "Approval gap between\nraces (points)": -0.47,
    "Agreement with the\nlenders (AUC)": -0.67,
}
"""What is told of each method, and how far below the curves."""


def measured(one):
    """What the demo found of a method, in the order of `ROWS`: the worst gap, the best AUCs."""
    race = {model: auc for model, (auc, _, _) in one["predicted"]["race"].items()}
    gap = max(gaps["race"][0] for gaps in one["gap"].values())
    agreement = max(auc for auc, _, _ in one["utility"].values())
    return [
        f"{race['linear']:.2f}",
        f"{max(race.values()):.2f}",
        f"{100 * gap:.1f}",
        f"{agreement:.2f}",
    ]


def explain(axes):
    """Write beside the curves and the numbers what they are."""
    write = partial(axes.text, transform=axes.transAxes, linespacing=1.25, va="top")
    write(0, 0.97, "Where a linear model\nthat guesses race puts")
    write(0, 0.68, "White", color=GROUPS["white"], weight="bold")
    write(0, 0.55, "Black or Hispanic", color=GROUPS["other"], weight="bold")
    write(0, 0.42, "applicants")
    for words, row in ROWS.items():
        write(0, row, words, size=9)
    axes.set_axis_off()


def curves(axes, scores, groups):
    """Where a linear model puts the applicants of each group; every group has the same area."""
    grid = np.linspace(-3.5, 4.5, 300)
    for group, colour in GROUPS.items():
        density = gaussian_kde(scores[groups == group])(grid)
        axes.fill_between(grid, density, color=colour, alpha=0.25, linewidth=0)
        axes.plot(grid, density, color=colour, linewidth=2, clip_on=False)
    axes.set(xlim=(-3.5, 4.5), ylim=(0, 0.64), xticks=[], yticks=[])
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)


if __name__ == "__main__":
    with threadpool_limits(1):  # the fits are small: threads would only wait for each other
        main()
