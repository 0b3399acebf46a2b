"""Draw the picture of the README: what a model sees of race in PCA, fair PCA and fair PLS.

Install ``fairpca[audit]`` and ``matplotlib``, then run
``python examples/behind_the_docs/before_after.py``. Data, split and fits are those of the README's
code, ``load_loanapp(split=True)``; so are its AUCs.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from scipy.stats import gaussian_kde
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from fairpca import FairPCA, FairPLS
from fairpca.datasets import load_loanapp
from fairpca.metrics import leakage

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "before_after.png"
METHODS = {
    "PCA": ("15 columns", make_pipeline(StandardScaler(), PCA(15))),
    "FairPCA": ("15 columns", FairPCA(n_components=15, scale=True)),
    "FairPLS": ("1 column", FairPLS()),
}
PROBES = {"linear": "linear model", "boosting": "boosted trees"}

# Colours of Okabe and Ito.
GROUPS = {"white": "#0072B2", "other": "#D55E00"}
INK, FAINT = "#222222", "#555555"
COLOURS = 128


def main():
    train, test = load_loanapp(split=True)
    imputer = SimpleImputer().fit(train.features)
    X, X_new = (imputer.transform(part.features) for part in (train, test))
    race, race_new = train.sensitive["race"], test.sensitive["race"]
    other = (race_new != "white").to_numpy()
    panels = {}
    for name, (_, method) in METHODS.items():
        known = {} if name == "PCA" else {"sensitive_features": race}
        T_new = method.fit(X, train.target, **known).transform(X_new)
        aucs = [leakage(T_new, race_new, probe=probe, random_state=0) for probe in PROBES]
        panels[name] = linear_scores(T_new, other), aucs
        print(name, *aucs, sep="\n  ")
    draw(panels, other)
    print(PICTURE)


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


def draw(panels, other):
    """Draw for a phone: five inches wide, and no text below ten points."""
    mpl.rcParams.update({"font.size": 11, "text.color": INK})
    figure = Figure(figsize=(5.2, 4.1), dpi=240, facecolor="white")
    canvas = FigureCanvasAgg(figure)
    row = figure.subplots(1, len(panels))
    figure.subplots_adjust(left=0.02, right=0.98, bottom=0.39, top=0.66, wspace=0.12)
    headline = "PCA leaks race, even without the race column"
    figure.text(0.02, 0.975, headline, size=13, weight="bold", va="top")
    left = 0.02
    for words, colour in (
        ("Linear scores of ", INK),
        ("white", GROUPS["white"]),
        (" and ", INK),
        ("Black or Hispanic", GROUPS["other"]),
        (" people", INK),
    ):
        text = figure.text(left, 0.885, words, color=colour, va="top")
        left = text.get_window_extent(canvas.get_renderer()).x1 / figure.bbox.width
    for axes, (name, (scores, aucs)) in zip(row, panels.items(), strict=True):
        columns, _ = METHODS[name]
        curves(axes, scores, other)
        middle = axes.get_position().x0 + axes.get_position().width / 2
        figure.text(middle, 0.755, name, size=13, weight="bold", ha="center")
        figure.text(middle, 0.695, columns, size=10, color=FAINT, ha="center")
        for y, auc in zip((0.283, 0.138), aucs, strict=True):
            weight = "bold" if auc.auc > auc.chance_interval[1] else "normal"
            figure.text(middle, y, f"{auc.auc:.2f}", size=16, weight=weight, ha="center", va="top")
    for y, model in zip((0.35, 0.205), PROBES.values(), strict=True):
        figure.text(0.02, y, f"AUC for predicting race, {model}", color=FAINT, va="top")
    n = len(other)
    note = f"One split: {n} held-out applicants. Bold: significantly above 0.50."
    figure.text(0.02, 0.012, note, size=10, color=FAINT)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    image.quantize(COLOURS).save(PICTURE, optimize=True)  # a fraction of the size in full colour


def curves(axes, scores, other):
    """Where a linear model puts the applicants of each group; every group has the same area."""
    grid = np.linspace(-3.5, 4.5, 300)
    for group, colour in zip((~other, other), GROUPS.values(), strict=True):
        density = gaussian_kde(scores[group])(grid)
        axes.fill_between(grid, density, color=colour, alpha=0.25, linewidth=0)
        axes.plot(grid, density, color=colour, linewidth=2, clip_on=False)
    axes.set(xlim=(-3.5, 4.5), ylim=(0, None), xticks=[], yticks=[])
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)


if __name__ == "__main__":
    with threadpool_limits(1):  # the fits are small: threads would only wait for each other
        main()
