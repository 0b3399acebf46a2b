"""
How many components, and how much of the trade-off?
===================================================

Take as few components as the task needs, because each one adds leakage: on these applicants,
fifteen do the task as well as thirty. Use no trade-off, unless a fair model is not good enough.
Then use as little as the gap that you can defend allows, because **with any lambda above zero the
attribute is in the data again**: a model that rescales its inputs finds it as if nothing had been
removed.
"""

# %%
# The number of components
# ------------------------
# One half of the applicants is for fitting, the other is held out, four times. For every k, we
# measure how well a linear model and boosted trees recognise race, the variance kept, and how well
# the lenders' decisions can be predicted. `leakage` has a 95 % interval.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairpca import FairPCA
from fairpca.datasets import load_loanapp
from fairpca.metrics import leakage
from fairpca.tradeoff import tradeoff_curve

loans = load_loanapp()
y = loans.target.to_numpy()
race = np.where(loans.sensitive["race"] == "white", "white", "other")
judge = LogisticRegression(class_weight="balanced", C=0.1)


def halves(n_splits=4):
    splits = StratifiedShuffleSplit(n_splits, test_size=0.5, random_state=0)
    for fit, hold in splits.split(y, np.char.add(y.astype(str), race)):
        prepare = make_pipeline(SimpleImputer(), StandardScaler()).fit(
            loans.features.iloc[fit]
        )
        X, X_new = (
            prepare.transform(loans.features.iloc[rows]) for rows in (fit, hold)
        )
        yield X, y[fit], race[fit], X_new, y[hold], race[hold]


measured = []
for X, approved, z, X_new, approved_new, z_new in halves():
    for k in (5, 10, 15, 20, 30, 40):
        fair = FairPCA(k).fit(X, sensitive_features=z)
        T, T_new = fair.transform(X), fair.transform(X_new)
        linear = leakage(T_new, z_new, random_state=0)
        trees = leakage(T_new, z_new, probe="boosting", random_state=0)
        scores = judge.fit(T, approved).decision_function(T_new)
        kept = fair.explained_variance_ratio_.sum()
        task = roc_auc_score(approved_new, scores)
        read = linear.auc, *linear.interval, trees.auc, *trees.interval
        measured.append([k, kept, task, *read])
names = ["k", "variance", "task", "linear", "from", "to", "trees", "from ", "to "]
by_k = pd.DataFrame(measured, columns=names).groupby("k")
table = by_k.mean()
print(table.round(2).to_string())

# %%
# A rule
# ------
# Take the smallest k that does the task as well as the best k, up to one standard error of the
# best. Leakage only grows with k: on the training rows group means are equal for any k, but each
# further component adds its own sampling error.
task, error = table["task"], by_k["task"].sem()
best = task.idxmax()
limit = task[best] - error[best]
k = task.index[task >= limit][0]
print(f"best: {best} components, {task[best]:.3f}, standard error {error[best]:.3f}")
print(f"take: {k} components, {task[k]:.3f}")
assert k < best

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
left.errorbar(task.index, task, error, color="C0", marker="o", capsize=2)
left.axhline(limit, color="0.4", linestyle=":", label="best less one standard error")
left.legend(loc="lower right")
left.set_title("How well the task is done (AUC)", loc="left")
for column, name, colour in (2, "a linear model", "0.13"), (5, "boosted trees", "C4"):
    right.plot(table.iloc[:, column], color=colour, marker="o", label=name)
    ends = table.iloc[:, column + 1], table.iloc[:, column + 2]
    right.fill_between(table.index, *ends, color=colour, alpha=0.12, linewidth=0)
right.axhline(0.5, color="0.4", linestyle=":")
right.set_ylim(0.4, 0.75)
right.set_title("How well race is recognised (AUC)", loc="left")
right.legend(loc="lower right")
for axes in (left, right):
    axes.axvline(k, color="C1", linewidth=6, alpha=0.25, zorder=0)
    axes.set(xlabel="components", xticks=table.index)
plt.show()

# %%
# The trade-off
# -------------
# ``tradeoff`` adds the standard components beside the fair ones, multiplied by lambda.
# :func:`fairpca.tradeoff.tradeoff_curve` fits once and returns accuracy and gaps for every lambda.
# (Decisions are the model's own, about white and other applicants: these gaps are not those of the
# audit.) Two probes see the same columns: a regularised model, which cannot use what is small, and
# one that standardises its columns first.
LAMBDAS = [0, 0.02, 0.05, 0.1, 0.2, 0.5, 1]
curves = []
for X, approved, z, X_new, approved_new, z_new in halves():
    groups = {
        "sensitive_features_train": z,
        "sensitive_features_test": z_new,
        "tradeoffs": LAMBDAS,
    }
    data = X, approved, X_new, approved_new
    for point in tradeoff_curve(FairPCA(k), judge, *data, **groups):
        fair = FairPCA(k, tradeoff=point.tradeoff).fit(X, sensitive_features=z)
        T_new = fair.transform(X_new)
        as_is = leakage(T_new, z_new, probe=judge, random_state=0).auc
        rescaled = leakage(T_new, z_new, random_state=0).auc
        row = point.tradeoff, point.auc, point.selection_rate_difference
        curves.append([*row, as_is, rescaled])
names = ["lambda", "task", "gap", "race, as it is", "race, rescaled"]
tradeoffs = pd.DataFrame(curves, columns=names).groupby("lambda").mean()
print(tradeoffs.round(2).to_string())

# %%
# Set a bound on the gap, and take the largest lambda that stays below it. The second probe shows
# what the bound does not: from the first lambda on, nothing is hidden from a model that rescales.
bound = 0.15
taken = tradeoffs.index[tradeoffs["gap"] <= bound][-1]
print(f"a gap of {bound} allows lambda = {taken}: AUC {tradeoffs['task'][taken]:.2f}")
rescaled, as_is = tradeoffs["race, rescaled"], tradeoffs["race, as it is"]
assert rescaled.iloc[1] > rescaled.iloc[-1] - 0.03

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
left.axvspan(0, bound, color="0.85", alpha=0.5, linewidth=0)
left.plot(tradeoffs["gap"], tradeoffs["task"], color="C0", marker="o")
for value, point in tradeoffs.loc[:0.2].iterrows():
    place = point[["gap", "task"]]
    left.annotate(f"{value:g}", place, (8, -4), textcoords="offset points")
left.set(xlabel="approval gap", xlim=(0, None), ymargin=0.1)
left.set_title("The task (AUC), by lambda", loc="left")
right.plot(rescaled, color="0.13", marker="s", label="columns standardised")
right.plot(as_is, color="C0", marker="o", label="as they are")
right.set_xscale("symlog", linthresh=0.02)
right.set_xticks(LAMBDAS, [f"{value:g}" for value in LAMBDAS])
right.minorticks_off()
right.set(xlabel="lambda")
right.set_title("Race recognised by a linear model (AUC)", loc="left")
right.legend(loc="lower right")
plt.show()

# %%
# What to take away
# -----------------
# - Take few components; the rule of one standard error needs two lines. If the attribute must stay
#   hidden, look at the upper end of the interval, not at its middle.
# - A trade-off is about outcomes, not about what is hidden. Use it in front of a model that you
#   control, never for a representation that you hand on.
# - The held-out half has now been used to choose. For numbers to publish, hold out a third part, as
#   in :ref:`sphx_glr_gallery_02_pipeline_and_grid_search.py`.
#
# Next: :ref:`sphx_glr_gallery_04_comparing_with_every_peer.py`. More about the cost:
# :doc:`/howto/tradeoff`.
