"""
When does a kernel help?
========================

When the task is not linear. On two nested rings, a linear model is at chance in the task after fair
PCA. After fair kernel PCA it reaches an AUC above 0.9, and does not find the group either.
**Boosted trees predict the group in both.** On real loan applications a kernel predicts approval
better, and leaks more of race to trees.
"""

# %%
# Two groups on nested rings
# --------------------------
# The group of a point is its ring. Only a third feature, higher on the outer ring, separates them
# linearly. The task: is a point in one of two opposite quarters? No linear model can answer.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.decomposition import PCA, KernelPCA
from sklearn.feature_selection import mutual_info_classif
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairpca import FairKernelPCA, FairPCA
from fairpca.datasets import load_loanapp
from fairpca.metrics import leakage

rng = np.random.default_rng(0)


def rings(n=1000):
    outer, angle = rng.integers(2, size=n), rng.uniform(0, 2 * np.pi, size=n)
    radius = 1 + outer + 0.3 * rng.normal(size=n)
    third = 0.5 * outer + 0.5 * rng.normal(size=n)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), third])
    return X, outer, np.sin(2 * angle) > 0


def predicted(T, values, probe="linear"):
    return leakage(T, values, probe=probe, random_state=0).auc


(X, ring, _), (X_new, ring_new, task_new) = rings(), rings()
REDUCTIONS = {
    "the data": PCA(),
    "fair PCA": FairPCA(),
    "kernel PCA": KernelPCA(10, kernel="rbf", gamma=1 / (3 * X.var())),
    "fair kernel PCA": FairKernelPCA(10),
}
rows, views = {}, {}
for name, reduction in REDUCTIONS.items():
    known = {"sensitive_features": ring} if "fair" in name else {}
    T = reduction.fit(X, **known).transform(X)
    T_new = reduction.transform(X_new)
    telling = np.argsort(mutual_info_classif(T, ring, random_state=0))[-2:]
    views[name] = T_new[:, np.sort(telling)] if T.shape[1] > 3 else T_new[:, :2]
    rows[name] = {
        "task, linear": predicted(T_new, task_new),
        "group, linear": predicted(T_new, ring_new),
        "group, trees": predicted(T_new, ring_new, "boosting"),
    }
table = pd.DataFrame(rows).T
print(table.round(2).to_string())
kernel = table.loc["fair kernel PCA"]
assert kernel["task, linear"] > 0.9 > 0.6 > table.loc["fair PCA", "task, linear"]
assert kernel["group, linear"] < 0.6 < table.loc["kernel PCA", "group, linear"]
assert kernel["group, trees"] > 0.9

# %%
# Kernel PCA makes the task linear, and the group as well. Fair kernel PCA keeps the task and hides
# the group from a linear model. After it one ring is a core inside the other: means are equal,
# shapes are not, and trees find that. (Of ten components, the two that reveal most.)
figure, panels = plt.subplots(1, 4, figsize=(8.6, 3.4), layout="constrained")
for panel, (name, view) in zip(panels, views.items(), strict=True):
    for group, label in enumerate(["inner ring", "outer ring"]):
        rows = view[ring_new == group]
        panel.scatter(
            *rows.T, s=5, alpha=0.5, linewidth=0, color=f"C{group}", label=label
        )
    linear, trees = table.loc[name, ["group, linear", "group, trees"]]
    panel.set_title(f"{name}\nlinear {linear:.2f}, trees {trees:.2f}", loc="left")
    panel.set(xticks=[], yticks=[], aspect="equal", adjustable="datalim", box_aspect=1)
dots = panels[0].get_legend_handles_labels()
figure.legend(*dots, loc="outside lower left", ncols=2, markerscale=3)
plt.show()

# %%
# Keep k small next to n
# ----------------------
# A flexible kernel has many directions in which groups differ by chance. In the training data the
# group means are equal for any number of components. In new data they differ, and more so with more
# components.
aucs = {}
for k in (5, 10, 30, 100):
    fair = FairKernelPCA(k).fit(X, sensitive_features=ring)
    aucs[k] = predicted(fair.transform(X_new), ring_new)
    print(f"{k:3d} components: a linear model predicts the group, AUC {aucs[k]:.2f}")
assert aucs[100] > aucs[10]

# %%
# On loan applications
# --------------------
# The fifteen components of :class:`fairpca.FairPCA`, and four kernels, on held-out applicants.
OPTIONS = {
    "FairPCA": FairPCA(15),
    "kernel, rbf": FairKernelPCA(15),
    "gamma=0.005": FairKernelPCA(15, gamma=0.005),
    "poly, degree 2": FairKernelPCA(15, kernel="poly", degree=2),
    "rbf, 40": FairKernelPCA(40),
}
train, test = load_loanapp(split=True)
race, race_new = train.sensitive["race"], test.sensitive["race"]
prepare = make_pipeline(SimpleImputer(), StandardScaler())
X, X_new = prepare.fit_transform(train.features), prepare.transform(test.features)
judge = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
measured = {}
for name, fair in OPTIONS.items():
    T = fair.fit(X, sensitive_features=race).transform(X)
    T_new = fair.transform(X_new)
    scores = judge.fit(T, train.target).decision_function(T_new)
    measured[name] = {
        "race, linear": predicted(T_new, race_new),
        "race, trees": predicted(T_new, race_new, "boosting"),
        "approval": roc_auc_score(test.target, scores),
    }
real = pd.DataFrame(measured).T
print(real.round(2).to_string())
assert real.loc["kernel, rbf", "approval"] > real.loc["FairPCA", "approval"] + 0.05

# %%
# The rbf kernel predicts approval better than linear fair PCA, and leaks more of race to trees. A
# wide kernel (small gamma) is in between. A polynomial kernel has heavy tails, so sample means say
# less about new data, and it leaks most to a linear model.
#
# What to take away
# -----------------
# - Use a kernel for tasks that no linear model can do on the data. Standardise first.
# - The guarantee covers linear models on the kernel's components; trees find the rest.
# - Use few components, and ``approximation="nystroem"`` beyond some ten thousand rows.
#
# More: :doc:`/explanation/kernels`. Next, more rows than memory:
# :ref:`sphx_glr_gallery_07_more_rows_than_memory.py`.
