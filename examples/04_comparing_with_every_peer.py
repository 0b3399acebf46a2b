"""
Which method suits my data?
===========================

Try them all: every method of :mod:`fairpca.erasers`, and every one that comes with the reproduction
of the paper, has the same ``fit`` and ``transform`` as :class:`fairpca.FairPCA`, so a comparison is
a loop. On these loan applications the erasers, which keep all columns, reveal as much of race to
boosted trees as plain PCA does (an AUC of 0.7 and more). Fair subspaces reveal less, and none of
them does the task as well as plain PCA. **What is hidden from a linear model is not hidden from
trees**, and one method reveals race completely.
"""

# %%
# Seventeen methods, one data set
# -------------------------------
# There are three families. Some methods return fifteen columns. Erasers return all columns, changed
# as little as possible. Reductions return decisions and no representation. The first three methods
# promise nothing about leakage: they are here to compare with.
import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairpca import FairKernelPCA, FairPCA, erasers
from fairpca.datasets import load_loanapp
from fairpca.metrics import leakage, selection_rate_difference
from fairpca_paper import methods

K = 15
judge = LogisticRegression(class_weight="balanced", max_iter=1000)
METHODS = {
    "PCA": PCA(K),
    "Samadi's PCA": methods.SamadiPCA(K),
    "Balanced PCA": methods.BalancedPCA(K),
    "FairPCA": FairPCA(K),
    "FairPCA, covariances": FairPCA(K, match="covariances"),
    "FairKernelPCA": FairKernelPCA(K),
    "Kernel SAL": erasers.KernelSAL(n_components=K),
    "FPCA": methods.FPCA(K),
    "MbF-PCA": methods.MbFPCA(K, n_init=1),
    "INLP": methods.INLP(K),
    "R-LACE": methods.RLACE(K),
    "SAL": erasers.SAL(),
    "Mean projection": erasers.MeanProjection(),
    "LEACE": erasers.LEACE(),
    "SPLINCE": erasers.SPLINCE(),
    "Oracle LEACE": methods.OracleLEACE(),
    "Reductions": methods.Reductions(judge),
}

# %%
# What is measured
# ----------------
# A third of the applicants is held out, twice. On it we measure how well a linear model and boosted
# trees recognise race, how well a logistic regression predicts the lenders' decisions (balanced
# accuracy), and its approval gap; also the processor time of the fit. Put your own table in place
# of ``loans``, and nothing else has to change. (Some methods take two groups only, hence white or
# not; with that, and decisions by ``predict``, gaps are not those of the audit.)
loans = load_loanapp()
y = loans.target.to_numpy()
race = np.where(loans.sensitive["race"] == "white", "white", "other")


def decide(method, X, X_new, fit, hold):
    """Decisions about new rows, and the representation that they were made from."""
    if isinstance(method, methods.Reductions):
        return method.predict(X_new), None
    if isinstance(method, methods.OracleLEACE):  # needs the attribute of new rows, too
        T = method.transform(X, sensitive_features=race[fit])
        T_new = method.transform(X_new, sensitive_features=race[hold])
    else:
        T, T_new = method.transform(X), method.transform(X_new)
    return judge.fit(T, y[fit]).predict(T_new), T_new


def measure(method, X, X_new, fit, hold):
    plain = isinstance(method, PCA)  # knows nothing of groups
    known = {} if plain else {"sensitive_features": race[fit]}
    start = time.process_time()
    with warnings.catch_warnings():  # INLP says that it stops early, since it is done
        warnings.simplefilter("ignore", methods.NothingLeftToRemoveWarning)
        method.fit(X, y[fit], **known)
    seconds = time.process_time() - start
    decided, T_new = decide(method, X, X_new, fit, hold)
    for name in PROBES if T_new is not None else ():
        found = leakage(T_new, race[hold], probe=PROBES[name], cv=3, random_state=0)
        yield name, found.auc
        yield "luck", found.chance_interval[1]
    yield "task", balanced_accuracy_score(y[hold], decided)
    yield "gap", selection_rate_difference(None, decided, sensitive_features=race[hold])
    yield "seconds", seconds


PROBES = {"race, linear": "linear", "race, trees": "boosting"}
measured = []
thirds = StratifiedShuffleSplit(n_splits=2, test_size=1 / 3, random_state=0)
for fit, hold in thirds.split(y, np.char.add(y.astype(str), race)):
    prepare = make_pipeline(SimpleImputer(), StandardScaler())
    X = prepare.fit_transform(loans.features.iloc[fit])
    X_new = prepare.transform(loans.features.iloc[hold])
    for name, method in METHODS.items():
        measured.append({"method": name} | dict(measure(method, X, X_new, fit, hold)))
table = pd.DataFrame(measured).groupby("method", sort=False).mean().rename_axis(None)
luck = table.pop("luck").mean()
print(table.round(2).to_string(na_rep="-"))
print(
    f"\nOn one third, chance alone reaches {luck:.2f}: small differences mean little."
)

# %%
# The same as a picture
# ---------------------
# On the left, circles are linear models and triangles boosted trees. Dots in the grey band are no
# better than chance. A long line is a method that hides race from one kind of model and not from
# the other.
places = np.arange(len(table))
figure, panels = plt.subplots(
    1, 3, figsize=(8.5, 5.4), sharey=True, width_ratios=[3, 2, 2]
)
figure.set_layout_engine("constrained")
seen, task, cost = panels
seen.axvspan(1 - luck, luck, color="0.85", alpha=0.6, linewidth=0)
seen.hlines(places, table["race, linear"], table["race, trees"], color="0.4")
seen.plot(table["race, linear"], places, "o", color="0.13", label="linear model")
seen.plot(table["race, trees"], places, "^", color="C4", label="boosted trees")
seen.set_title("Race recognised (AUC)", loc="left")
seen.legend(loc="center right", frameon=True)
task.plot(table["task"], places, "D", color="C0")
task.set_title("Task (balanced accuracy)", loc="left")
cost.plot(table["seconds"].clip(lower=1e-3), places, "s", color="C2")
cost.set_xscale("log")
cost.set_title("Fit (seconds)", loc="left")
for axes in panels:
    axes.set_yticks(places, table.index)
    axes.grid(axis="y")
    axes.tick_params(axis="y", length=0)
seen.invert_yaxis()
plt.show()

# %%
# The picture shows four things, and the build of this page checks each. Equal means hide race from
# a linear model. After an eraser, trees still find it. One eraser reveals everything to trees. And
# every method that hides race costs some accuracy in the task.
trees, linear, task = table["race, trees"], table["race, linear"], table["task"]
erasers = ["SAL", "Mean projection", "LEACE", "SPLINCE"]
assert linear["FairPCA"] < luck < linear["PCA"]
assert trees[erasers].min() > trees["PCA"] - 0.05
assert trees["Oracle LEACE"] > 0.95
assert task.iloc[4:].max() < task.iloc[:4].max()

# %%
# Oracle LEACE moves each group by its own amount. If features are counts or zeros and ones, the
# digits after the decimal point then identify the group. So the eraser that changes least hides
# nothing from a tree.
#
# What to take away
# -----------------
# - For fewer dimensions and linear models, ``FairPCA`` is among the best here and the cheapest.
# - If all columns must stay, use LEACE, or SPLINCE where the target's signal matters; in front of
#   linear models only.
# - For non-linear models, use fewer components, and ``match="distributions"`` or ``"covariances"``.
#   Look at the triangles on *your* data.
# - If you need only decisions, use reductions, if a lottery among classifiers is acceptable.
#
# What each guarantees: :doc:`/research/baselines`. Next, when equal means are not enough:
# :ref:`sphx_glr_gallery_05_matched_covariances.py`.
