"""Erasers on real loan applications: how much they change, and what still leaks.

Install ``fairpca[audit]`` and run ``python examples/behind_the_docs/erasers.py``. This is the table
of docs/erasers/leace.md: race removed, three groups; AUCs for white applicants and for approval on
held-out data, means over five splits into halves.
"""

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairpca import FairPCA
from fairpca.datasets import load_loanapp
from fairpca.erasers import LEACE, SPLINCE, MeanProjection
from fairpca_paper.methods import OracleLEACE

ERASERS = {
    "as given": PCA(),
    "MeanProjection": MeanProjection(),
    "LEACE": LEACE(),
    "SPLINCE": SPLINCE(),
    "OracleLEACE": OracleLEACE(),
    "FairPCA()": FairPCA(),
}
KEEP_THE_COLUMNS = (MeanProjection, LEACE, SPLINCE, OracleLEACE)


def auc(model, T, labels, T_new, labels_new):
    """AUC, on one half, of a model that was trained on the other."""
    return roc_auc_score(labels_new, model.fit(T, labels).predict_proba(T_new)[:, 1])


def measure(eraser, half, other):
    """Change in percent of the variance, and three AUCs on the other half."""
    (X, y, race), (X_new, y_new, race_new) = half, other
    eraser.fit(X, y, **({} if isinstance(eraser, PCA) else {"sensitive_features": race}))
    known = isinstance(eraser, OracleLEACE)  # the only one that needs the attribute of new rows
    T = eraser.transform(X, sensitive_features=race) if known else eraser.transform(X)
    T_new = (
        eraser.transform(X_new, sensitive_features=race_new) if known else eraser.transform(X_new)
    )
    white, white_new = race == "white", race_new == "white"
    linear, trees = (
        LogisticRegression(max_iter=5000),
        HistGradientBoostingClassifier(random_state=0),
    )
    change = np.nan
    if isinstance(eraser, KEEP_THE_COLUMNS):
        change = 100 * np.sum((T - X) ** 2) / np.sum((X - X.mean(axis=0)) ** 2)
    return (
        change,
        auc(linear, T, white, T_new, white_new),
        auc(trees, T, white, T_new, white_new),
        auc(linear, T, y, T_new, y_new),
    )


def halves(loans, seed):
    """Standardise by one half; return features, approvals and race of both."""
    race = loans.sensitive["race"].astype(str).to_numpy()
    X, X_new, y, y_new, z, z_new = train_test_split(
        loans.features, loans.target.to_numpy(), race, test_size=0.5, random_state=seed
    )
    prepare = make_pipeline(SimpleImputer(), StandardScaler()).fit(X)
    return (prepare.transform(X), y, z), (prepare.transform(X_new), y_new, z_new)


def main(splits=5):
    loans = load_loanapp(sensitive=["race"])
    measured = {name: [] for name in ERASERS}
    for seed in track(range(splits), "splits", transient=True):
        half, other = halves(loans, seed)
        for name, eraser in ERASERS.items():
            measured[name].append(measure(eraser, half, other))
    columns = ("", "change, % of variance", "white, linear", "white, trees", "approval, linear")
    table = Table(*columns, box=None, title="Held-out AUC, mean over splits", title_justify="left")
    for name, rounds in measured.items():
        change, *aucs = np.mean(rounds, axis=0)
        table.add_row(
            name, "" if np.isnan(change) else f"{change:.1f}", *(f"{a:.2f}" for a in aucs)
        )
    Console().print(table)


if __name__ == "__main__":
    main()
