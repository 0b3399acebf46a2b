"""Draw the picture of the README: what a model sees of race, before and after fair PCA.

Install ``fairpca[demo]`` and matplotlib, then run ``python examples/readme_picture.py``. The
measurements are those of `first_steps`; the curves show the scores behind its linear model.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from first_steps import REDUCTIONS, SPLITS, encode, recognition
from matplotlib.figure import Figure
from scipy.stats import gaussian_kde
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from fairpca.datasets import load_loanapp
from fairpca.metrics import explained_variance_ratio

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "before_after.png"
PLAIN, FAIR, STRICT = REDUCTIONS
ROWS = {PLAIN: "plain PCA", FAIR: "fair PCA", STRICT: 'fair PCA,\nmatch="covariances"'}

# Two colours of Okabe and Ito for the groups, other ones for the models.
GROUPS = {"white": ("White", "#0072B2"), "other": ("Black or\nHispanic", "#D55E00")}
MODELS = {"linear": ("linear model", "#333333"), "boosting": ("boosted trees", "#9A9A9A")}
INK, FAINT = "#222222", "#666666"


def main():
    measured, scores, groups = measure()
    draw(measured, scores, groups)
    print(PICTURE)


def measure():
    """Means over the splits of `first_steps`, and the linear scores of all held-out rows."""
    loans = load_loanapp()
    X, sensitive = loans.features, loans.sensitive
    race = np.where(sensitive["race"] == "white", "white", "other")
    splits = StratifiedShuffleSplit(SPLITS, test_size=1 / 3, random_state=0)
    measured, scores, groups = {name: [] for name in REDUCTIONS}, {PLAIN: [], FAIR: []}, []
    for train, test in splits.split(X, loans.target.astype(str) + race):
        groups.append(race[test])
        for name, reduction in REDUCTIONS.items():
            encoder = encode(reduction, X.iloc[train], sensitive.iloc[train])
            T, X_test = encoder.transform(X.iloc[test]), encoder[:-1].transform(X.iloc[test])
            measured[name].append(
                recognition("race", T, race[test])
                | {"variance": explained_variance_ratio(X_test, encoder[-1].components_)}
            )
            if name in scores:
                scores[name].append(linear_scores(T, race[test] == "other"))
    means = {
        name: {what: np.mean([round_[what] for round_ in rounds]) for what in rounds[0]}
        for name, rounds in measured.items()
    }
    return means, {n: np.concatenate(s) for n, s in scores.items()}, np.concatenate(groups)


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


def draw(measured, scores, groups):
    mpl.rcParams.update({"font.size": 10, "text.color": INK, "axes.edgecolor": FAINT})
    figure = Figure(figsize=(8, 3.7), dpi=200, facecolor="white")
    left, middle, right = figure.subplots(1, 3, width_ratios=[1, 1, 1.05])
    figure.subplots_adjust(left=0.015, right=0.985, bottom=0.17, top=0.70, wspace=0.1)
    figure.text(
        0.015,
        0.985,
        "Can a model tell an applicant's race? It is not among the features.",
        size=13.5,
        weight="bold",
        va="top",
    )
    curves(left, scores[PLAIN], groups)
    curves(middle, scores[FAIR], groups)
    for axes, name, finding in (
        (left, PLAIN, "Plain PCA: it shows"),
        (middle, FAIR, "Fair PCA: groups overlap"),
    ):
        title(
            axes, finding, f"linear model right for {measured[name]['race, linear']:.0%} of pairs"
        )
    bars(right, measured)
    title(right, "Trees still see a little", "AUC on held-out applicants")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE)


def title(axes, finding, detail):
    axes.text(0, 1.15, finding, transform=axes.transAxes, size=12, weight="bold")
    axes.text(0, 1.05, detail, transform=axes.transAxes, size=9.5, color=FAINT)


def curves(axes, scores, groups):
    grid = np.linspace(-3, 4, 300)
    for group, (label, colour) in GROUPS.items():
        density = gaussian_kde(scores[groups == group])(grid)
        axes.fill_between(grid, density, color=colour, alpha=0.25, linewidth=0)
        axes.plot(grid, density, color=colour, linewidth=2)
    axes.set(xlim=(-3, 4), ylim=(0, 0.62), yticks=[], xticks=[])
    axes.spines[["left", "right", "top"]].set_visible(False)


def bars(axes, measured):
    for row, (name, label) in enumerate(ROWS.items()):
        for offset, (model, (_, colour)) in zip((-0.2, 0.2), MODELS.items(), strict=True):
            auc = measured[name][f"race, {model}"]
            axes.barh(row + offset, auc - 0.5, 0.36, left=0.5, color=colour)
            axes.text(auc + 0.005, row + offset, f"{auc:.2f}", va="center", size=9)
    axes.set(ylim=(2.6, -0.6), xlim=(0.5, 0.8), yticks=[])


if __name__ == "__main__":
    with threadpool_limits(1):  # as in first_steps
        main()
