"""
When are equal means not enough?
================================

When the downstream model is not linear. Below, two Gaussian groups have equal means after fair PCA,
and boosted trees still predict the group from its variances, with an AUC of 0.67 on held-out data.
With ``match="covariances"`` the covariances of the training data are equal, too, and trees reach
0.54. On real loan applications they go from 0.60 to 0.57, which is at chance. **But equal
covariances are not equal distributions**, as a circle shows.
"""

# %%
# Two groups that differ in mean and in shape
# -------------------------------------------
# Each group is Gaussian in ten dimensions, with its own axes. Every method reduces 1,000 training
# rows to two dimensions, and is measured on 1,000 others. Fair PCA-S is the paper's way to match
# covariances approximately.
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import ortho_group
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairpca import FairPCA
from fairpca.datasets import load_loanapp, make_circle
from fairpca.errors import InfeasibleError
from fairpca.metrics import covariance_gap, explained_variance_ratio, leakage

N, D = 1000, 10
rng = np.random.default_rng(0)
axes_of = ortho_group.rvs(D, size=2, random_state=rng) * np.sqrt(
    np.geomspace(10, 0.1, D)
)
mean_of = np.stack([np.zeros(D), rng.normal(size=D)])


def sample():
    z = rng.integers(2, size=N)
    return np.einsum("nij,nj->ni", axes_of[z], rng.normal(size=(N, D))) + mean_of[z], z


def fitted(reduction, X, z):
    """Plain PCA knows nothing of groups."""
    known = {} if isinstance(reduction, PCA) else {"sensitive_features": z}
    return reduction.fit(X, **known)


def predicted(T, z):
    probes = {"linear": "linear", "trees": "boosting"}
    return {
        name: leakage(T, z, probe=probe, random_state=0).auc
        for name, probe in probes.items()
    }


(X, z), (X_new, z_new) = sample(), sample()
REDUCTIONS = {
    "plain PCA": PCA(2),
    "fair PCA": FairPCA(2),
    "Fair PCA-S": FairPCA(2, match="covariances", covariance_method="spectral"),
    "equal covariances": FairPCA(2, match="covariances"),
}
rows, views = {}, {}
for name, reduction in REDUCTIONS.items():
    T = fitted(reduction, X, z).transform(X)
    views[name] = T_new = reduction.transform(X_new)
    rows[name] = {
        "variance": explained_variance_ratio(X_new, reduction.components_),
        "gap, training": covariance_gap(T, z),
        "gap, held-out": covariance_gap(T_new, z_new),
    } | predicted(T_new, z_new)
table = pd.DataFrame(rows).T
print(table.round(2).to_string())

# %%
# The gap is the relative difference of the groups' covariances; 0 means equal. Ellipses show two
# standard deviations. After fair PCA, a linear model finds almost no shift. Trees find the regions
# that are in one ellipse and not in the other.
angle = np.linspace(0, 2 * np.pi, 100)
circle = np.stack([np.cos(angle), np.sin(angle)])
figure, panels = plt.subplots(1, 4, figsize=(8.6, 3.2), layout="constrained")
for panel, (name, T_new) in zip(panels, views.items(), strict=True):
    for group, label in enumerate("AB"):
        of_group = T_new[z_new == group]
        root = np.linalg.cholesky(np.cov(of_group.T))
        ellipse = 2 * root @ circle + of_group.mean(axis=0)[:, None]
        panel.scatter(*of_group.T, s=4, alpha=0.4, linewidth=0, color=f"C{group}")
        panel.plot(*ellipse, color=f"C{group}", linewidth=1.8, label=label)
    linear, trees = table.loc[name, ["linear", "trees"]]
    panel.set_title(f"{name}\nlinear {linear:.2f}, trees {trees:.2f}", loc="left")
    panel.set(xticks=[], yticks=[], aspect="equal", adjustable="datalim", box_aspect=1)
panels[0].legend(loc="upper left")
plt.show()

# %%
# What it cannot do
# -----------------
# One group is on a circle, the other in its centre. Means are equal in every direction. Covariances
# are equal in none, so the fit raises an error:
X, z = make_circle(300)
try:
    FairPCA(1, match="covariances").fit(X, sensitive_features=z)
except InfeasibleError as error:
    print(fill(f"{type(error).__name__}: {error}", 76))

# %%
# Now half of the centre moves out, far enough for equal covariances. They are equal on every line,
# the fit succeeds, and trees predict the group as before.
middle = np.flatnonzero(z == 0)
X[middle[::2]] = np.sqrt(2) * X[z == 1][::2]
line = FairPCA(1, match="covariances").fit(X, sensitive_features=z)
seen = predicted(line.transform(X), z)
print(
    f"gap {line.covariance_gap_:.0e}; trees predict the group, AUC {seen['trees']:.2f}"
)
assert seen["trees"] > 0.75

# %%
# On loan applications
# --------------------
# Held-out applicants again. Race has two values, white and other: with three races, no fifteen
# directions have exactly equal covariances. ``covariance_penalty`` says how much more variance to
# sacrifice where the groups differ in it.
loans, loans_new = load_loanapp(split=True)
race, race_new = (
    np.where(part.sensitive["race"] == "white", "white", "other")
    for part in (loans, loans_new)
)
prepare = make_pipeline(SimpleImputer(), StandardScaler())
X, X_new = prepare.fit_transform(loans.features), prepare.transform(loans_new.features)
OPTIONS = {"plain PCA": PCA(15), "equal means": FairPCA(15)}
for penalty in (0.0, 0.5, 1.0):
    fair = FairPCA(15, match="covariances", covariance_penalty=penalty)
    OPTIONS[f"penalty {penalty}"] = fair
measured = {}
for name, reduction in OPTIONS.items():
    T_new = fitted(reduction, X, race).transform(X_new)
    kept = explained_variance_ratio(X_new, reduction.components_)
    measured[name] = {"variance kept": kept} | predicted(T_new, race_new)
real = pd.DataFrame(measured).T
print(real.round(2).to_string())
# The AUCs of the first paragraph:
said = table["trees"].iloc[[1, 3]], real["trees"].iloc[[1, 3]]
np.testing.assert_allclose(said, [[0.67, 0.54], [0.60, 0.57]], atol=0.03)

# %%
# From right to left there is less variance. Equal covariances without a penalty bring trees down to
# chance; a penalty does not help here. With equal means, the linear model is at chance already.
figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
for probe, name, style, colour in (
    ("trees", "boosted trees", "^-", "C4"),
    ("linear", "linear model", "o-", "0.13"),
):
    axes.plot(real["variance kept"], real[probe], style, color=colour, label=name)
for name, row in real.iterrows():
    highest = (row["variance kept"], max(row["linear"], row["trees"]))
    axes.annotate(name, highest, (-6, 6), textcoords="offset points", ha="right")
axes.axhline(0.5, color="0.4", linestyle=":")
axes.text(0.68, 0.503, "chance", color="0.4", ha="right")
axes.set(xlabel="variance kept", ylabel="AUC for predicting race")
axes.set(xlim=(0.4, 0.68), ylim=(0.47, 0.8))
axes.legend(loc="upper left")
plt.show()

# %%
# What to take away
# -----------------
# - Equal covariances hide groups from linear and quadratic models, and leave less to others. For
#   trees, networks or nearest neighbours downstream, ``match="distributions"`` hides more.
# - Covariances are exactly equal on the training data where that is possible. Elsewhere the fit
#   raises an error, and ``covariance_tol=0.05`` accepts a small gap instead.
# - Measure on held-out data with ``probe="strong"``. For groups far from Gaussian, equal means and
#   covariances may hide little.
#
# Six data sets, and the reason for the default penalty: :doc:`/explanation/covariances`. Next, when
# the signal itself is not linear: :ref:`sphx_glr_gallery_06_kernels.py`.
