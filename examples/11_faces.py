"""
What does a face without gender look like?
==========================================

Blurred where the average woman and the average man differ. Fair PCA moves every picture so that the
two averages become the same picture, and leaves the rest. On held-out faces, a linear probe is then
little better than chance; a non-linear probe finds more. You can remove race, age and gender at
once.

"Gender", "race" and "age" here are what strangers saw in a picture. This page makes the method
visible; it is no recommendation to process faces.
"""

# %%
# The pictures
# ------------
# FairFace (Kärkkäinen and Joo, 2021; CC BY 4.0): 2,000 faces in 32 x 32 grey pixels, from the
# folder in ``FAIRPCA_DATA``. Without it, the page shows drawings instead.
import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.decomposition import PCA

from fairpca import FairPCA
from fairpca.metrics import leakage
from fairpca_paper.datasets import MissingDataError, load_fairface

SIZE, ROWS, K = 32, 2000, 40


def drawings(rng):
    """Faces drawn with a hat, glasses and a smile, or without."""
    y, x = np.mgrid[-1 : 1 : SIZE * 1j, -1 : 1 : SIZE * 1j]
    hat, glasses, smile = rng.integers(2, size=(3, ROWS))
    pictures = np.empty((ROWS, SIZE, SIZE))
    for i in range(ROWS):
        u, v = x / rng.normal(1, 0.08) + rng.normal(0, 0.06), y + rng.normal(0, 0.06)
        picture = rng.uniform(0.1, 0.4) + rng.uniform(0.3, 0.5) * (
            u**2 / 0.4 + v**2 / 0.7 < 1
        )
        picture[(np.abs(np.abs(u) - 0.25) < 0.08) & (np.abs(v + 0.15) < 0.06)] = 0.1
        picture[np.abs(v - 0.4 + smile[i] * 0.8 * u**2) + (np.abs(u) > 0.3) < 0.05] = (
            0.1
        )
        if glasses[i]:
            picture[np.abs(np.hypot(np.abs(u) - 0.27, v + 0.15) - 0.2) < 0.05] = 0.15
        if hat[i]:
            picture[(v < -0.55) & (np.abs(u) < 0.6)] = rng.uniform(0, 0.9)
        pictures[i] = picture + rng.normal(0, 0.03, (SIZE, SIZE))
    levels = np.array(["no", "yes"])
    known = {"hat": levels[hat], "glasses": levels[glasses], "smile": levels[smile]}
    return pictures.reshape(ROWS, -1), pd.DataFrame(known)


try:
    faces = load_fairface(size=SIZE, rows=ROWS)
    X, known = faces.features.to_numpy(float), faces.sensitive.astype(str)
    known["age"] = np.where(
        known["age"].isin(["50-59", "60-69", "more than 70"]), "50+", "under 50"
    )
    print(f"Real faces: {len(X):,} rows, {X.shape[1]:,} pixels;", *known.columns)
except MissingDataError as error:
    X, known = drawings(np.random.default_rng(0))
    print("NO DATA: this page shows drawings, not faces.")
    print(textwrap.fill(str(error), 72))
fitted, new = np.arange(1000), np.arange(1000, ROWS)
first = known.columns[0]
print(known[first].value_counts().to_dict())


def show(axes, row, remark="", darkest=0.0, brightest=1.0):
    axes.imshow(row.reshape(SIZE, SIZE), cmap="gray", vmin=darkest, vmax=brightest)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.set_xlabel(remark, color="0.4")


# %%
# Average faces
# -------------
# Averages of the groups over held-out pictures; on the training pictures they are equal after fair
# PCA. ``inverse_transform`` turns components into pictures again. In the last column grey means no
# difference.
plain = PCA(K).fit(X[fitted])
fair = FairPCA(K).fit(X[fitted], sensitive_features=known[first][fitted])
in_all = FairPCA(K).fit(X[fitted], sensitive_features=known.iloc[fitted])
versions = {
    "as given": lambda rows: rows,
    f"PCA, {K}": lambda rows: plain.inverse_transform(plain.transform(rows)),
    f"fair PCA, {K}": lambda rows: fair.inverse_transform(fair.transform(rows)),
}
level_a, level_b = np.unique(known[first])[:2]
is_a = (known[first][new] == level_a).to_numpy()
figure, panels = plt.subplots(3, 3, figsize=(4.8, 5), layout="constrained")
for line, (name, version) in zip(panels, versions.items(), strict=True):
    pictures = version(X[new])
    a, b = pictures[is_a].mean(axis=0), pictures[~is_a].mean(axis=0)
    show(line[0], a, darkest=0.2, brightest=0.6)
    show(line[1], b, darkest=0.2, brightest=0.6)
    show(line[2], 0.5 + 5 * (a - b))
    line[0].set_ylabel(name)
for axes, title in zip(panels[0], (level_a, level_b, "difference x 5"), strict=True):
    axes.set_title(title)
plt.show()

# %%
# Eigenfaces
# ----------
# The directions in which pictures vary most. Those of plain PCA show light and pose, with gender
# mixed into several of them; the number is the correlation with gender on held-out faces. Fair PCA
# removes one direction for two groups, the difference in the first row above. Of several
# attributes, each costs one direction less than it has groups.
in_first = is_a.astype(float)
figure, panels = plt.subplots(2, 6, figsize=(9, 3.5), layout="constrained")
for line, (name, model) in zip(
    panels, {"PCA": plain, "fair PCA": fair}.items(), strict=True
):
    T = model.transform(X[new])
    for j, axes in enumerate(line):
        r = np.corrcoef(T[:, j], in_first)[0, 1]
        largest = np.abs(model.components_[j]).max()
        picture = 0.5 + model.components_[j] / largest / 2
        show(axes, picture, remark=f"|r| = {abs(r):.2f}")
    line[0].set_ylabel(name)
plt.show()
print("directions removed:", fair.constraint_rank_, "for", first, "alone,", end=" ")
print(in_all.constraint_rank_, "for", ", ".join(known.columns))

# %%
# What probes still find
# ----------------------
# A linear and a kernel probe, cross-validated on held-out faces for every attribute. One map
# removed the first attribute only, another removed all.
maps = {"PCA": plain, f"fair PCA, {first}": fair, "fair PCA, all three": in_all}
probes = [(attribute, probe) for attribute in known for probe in ("linear", "kernel")]
measured, chance = pd.DataFrame(index=pd.MultiIndex.from_tuples(probes)), {}
for name, model in maps.items():
    T = model.transform(X[new])
    for attribute, probe in probes:
        found = leakage(
            T, known[attribute][new], probe=probe, n_permutations=200, random_state=0
        )
        measured.loc[(attribute, probe), name] = found.auc
        chance[attribute, probe] = found.chance_interval[1]
print("AUC on held-out faces; 0.50 is chance, which alone reaches the last column")
print(measured.assign(chance=chance).round(2).to_string())

# %%
# Held-out faces, before and after
# --------------------------------
# "All" has lost light and shadow, too, where they were correlated with an attribute in the training
# pictures.
versions["fair, all"] = lambda rows: in_all.inverse_transform(in_all.transform(rows))
figure, panels = plt.subplots(4, 8, figsize=(9, 4.8), layout="constrained")
for line, (name, version) in zip(panels, versions.items(), strict=True):
    for axes, row in zip(line, version(X[new[:8]]), strict=True):
        show(axes, row)
    line[0].set_ylabel(name)
plt.show()

# %%
# What to take away
# -----------------
# - Fair PCA removes the difference of averages. A picture does not become that of another person;
#   it loses what the averages do not share.
# - With a thousand faces and many components, held-out faces keep some of it by sampling error.
#   Fewer components, or more faces, leave less.
# - Use a non-linear probe, too: it matters most for pictures.
#
# Eleven thousand faces in 80 x 80 pixels, as in the paper: :doc:`/research/reproduction`. Many
# groups and several attributes: :doc:`/howto/many_groups`.
