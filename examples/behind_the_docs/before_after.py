"""Draw the picture of the README: what a model sees of race, before and after fair PCA.

Install ``fairpca[audit,plots]``, then run ``python examples/behind_the_docs/before_after.py``. All
numbers are those of the demo, from ``docs/data/demo.json``; the curves show the scores of a linear
model on halves like those of its audit.
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
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from fairpca import FairPCA
from fairpca.peers import PCA
from fairpca.tables import TableEncoder, read_table

DOCS = Path(__file__).parents[2] / "docs"
PICTURE = DOCS / "images" / "before_after.png"
PLAIN, FAIR, STRICT = "pca", "fair_pca", "fair_pca_covariances"
ROWS = {PLAIN: "Plain PCA", FAIR: "Fair PCA", STRICT: "Fair PCA, covariances"}
N_COMPONENTS = 15

# Colours of Okabe and Ito for the groups, other ones for the models.
GROUPS = {"white": "#0072B2", "other": "#D55E00"}
MODELS = {"linear": ("linear model", "#333333"), "boosting": ("boosted trees", "#8E5BA8")}
INK, FAINT = "#222222", "#666666"
COLOURS = 128


def main():
    numbers = json.loads((DOCS / "data" / "demo.json").read_text(encoding="utf-8"))
    loans = read_table("loanapp").frame.dropna(subset=["race", "sex"])
    groups = np.where(loans["race"] == "white", "white", "other")
    halves = RepeatedStratifiedKFold(n_splits=2, n_repeats=numbers["splits"] // 2, random_state=0)
    halves = list(halves.split(loans, loans["race"]))
    scores = {name: scores_of_all(loans, groups, halves, name) for name in (PLAIN, FAIR)}
    draw(numbers, scores, np.concatenate([groups[new] for _, new in halves]))
    print(PICTURE)


def scores_of_all(loans, groups, halves, name):
    """The linear scores of all held-out rows, of every half."""
    attributes, columns = loans[["race", "sex"]], loans.drop(columns=["race", "sex", "approve"])
    found = []
    for fit, new in halves:
        encoder = TableEncoder().fit(columns.iloc[fit])
        X, X_new = (encoder.transform(columns.iloc[rows]) for rows in (fit, new))
        reduction = PCA(N_COMPONENTS) if name == PLAIN else FairPCA(N_COMPONENTS)
        reduction.fit(X, sensitive_features=attributes.iloc[fit])
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
    mpl.rcParams.update({"font.size": 9.5, "text.color": INK})
    figure = Figure(figsize=(8, 4.1), dpi=200, facecolor="white")
    left, middle, right = figure.subplots(1, 3, width_ratios=[1, 1, 1.28])
    figure.subplots_adjust(left=0.02, right=0.99, bottom=0.13, top=0.69, wspace=0.12)
    measured = numbers["representations"]
    headline = "Race is not among the features, yet plain PCA gives it away"
    source = (
        f"{numbers['people']:,} mortgage applications, Boston 1990: {numbers['features']} features "
        f"reduced to {N_COMPONENTS}. Held-out applicants, {numbers['splits']} random halves."
    )
    figure.text(0.02, 0.97, headline, size=14, weight="bold", va="top")
    figure.text(0.02, 0.895, source, size=9.5, color=FAINT, va="top")

    curves(left, scores[PLAIN], groups)
    title(left, "Plain PCA shows race", f"to a linear model: AUC {auc_of(measured[PLAIN]):.2f}")
    curves(middle, scores[FAIR], groups)
    title(middle, "Fair PCA hides most", f"of it from one: AUC {auc_of(measured[FAIR]):.2f}")
    bars(right, measured)
    title(right, "Boosted trees still see some", "how well race is recognised: AUC")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    image.quantize(COLOURS).save(PICTURE, optimize=True)  # a fraction of the size in full colour


def auc_of(one, model="linear"):
    """How well a model recognises race."""
    return one["recognised"]["race"][model][0]


def title(axes, finding, detail):
    axes.text(0, 1.13, finding, transform=axes.transAxes, size=12, weight="bold")
    axes.text(0, 1.045, detail, transform=axes.transAxes, color=FAINT)


def curves(axes, scores, groups):
    """Where a linear model puts the applicants of each group; every group has the same area."""
    grid = np.linspace(-3.5, 4.5, 300)
    for group, colour in GROUPS.items():
        density = gaussian_kde(scores[groups == group])(grid)
        axes.fill_between(grid, density, color=colour, alpha=0.25, linewidth=0)
        axes.plot(grid, density, color=colour, linewidth=2, clip_on=False)
    axes.set(xlim=(-3.5, 4.5), ylim=(0, 0.58), xticks=[], yticks=[])
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)

    write = partial(axes.text, transform=axes.transAxes, linespacing=1.15)
    white, other = GROUPS.values()
    write(0.25, 0.72, "White", color=white, weight="bold", ha="right")
    write(0.62, 0.62, "Black or\nHispanic", color=other, weight="bold")
    write(0, -0.03, "← guessed\n    White", color=white, size=9, va="top")
    write(1, -0.03, "guessed Black →\nor Hispanic    ", color=other, size=9, va="top", ha="right")


def bars(axes, measured):
    """How well each model recognises race; a bar starts at guessing, where it has no length."""
    for row, (name, label) in enumerate(ROWS.items()):
        kept = f"keeps {measured[name]['variance_kept'][0]:.0%}" + " of variance" * (row == 0)
        axes.text(0.5, row - 0.36, label, weight="bold", va="center")
        axes.text(0.8, row - 0.36, kept, size=9, color=FAINT, va="center", ha="right")
        for place, (model, (reader, colour)) in zip((-0.08, 0.22), MODELS.items(), strict=True):
            auc = auc_of(measured[name], model)
            axes.barh(row + place, auc - 0.5, 0.27, left=0.5, color=colour)
            number = axes.annotate(
                f"{auc:.2f}", (auc, row + place), (4, 0), textcoords="offset points", va="center"
            )
            if auc > 0.65:
                axes.text(0.51, row + place, reader, color="white", size=9, va="center")
            else:
                axes.annotate(
                    reader,
                    (1, 0.5),
                    (5, 0),
                    xycoords=number,
                    textcoords="offset points",
                    color=colour,
                    size=9,
                    va="center",
                )
        axes.plot([0.5, 0.5], [row - 0.25, row + 0.39], color=INK, linewidth=1.5)
    axes.text(0.5, 0, "0.50 = guessing", transform=axes.get_xaxis_transform(), size=9, va="top")
    axes.set(xlim=(0.5, 0.8), ylim=(2.45, -0.55), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


if __name__ == "__main__":
    with threadpool_limits(1):  # the fits are small: threads would only wait for each other
        main()
