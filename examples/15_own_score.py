"""
What does my own model reveal?
==============================

Add its score as a column, and the audit treats it like a representation: what it reveals about
race, whom it would approve, and how that compares with fair methods. Here a fictitious bank trains
boosted trees on real mortgage applications, without race. Its model would approve white applicants
more often than Black ones by 23 of 100, as the lenders did: it fails the four-fifths rule of
adverse impact. **A score is one column, and still reveals race**, with an AUC of 0.65.
"""

# %%
# A score for every applicant
# ---------------------------
# Use held-out scores: on its training data a model looks too good. Here cross-validation gives
# them; yours are a column of your table.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_predict

from fairpca import audit
from fairpca.metrics import select_top, selection_rate_difference, selection_rate_ratio
from fairpca.tables import read_table

loans = read_table("loanapp").frame
protected = ["race", "sex", "married", "old"]
columns = loans.drop(columns=[*protected, "approve"])
bank = HistGradientBoostingClassifier(learning_rate=0.05, max_iter=60, random_state=0)
scores = cross_val_predict(bank, columns, loans["approve"], method="predict_proba")
loans["score"] = scores[:, 1]
loans["decision"] = np.where(loans["score"] > 0.8, 1, 0)
print(loans[["race", "sex", "approve", "score", "decision"]].head(3).round(2))

# %%
# The audit
# ---------
# ``scores`` and ``decisions`` name columns of existing models; they are not features. A score
# selects as many people as were approved; a decision is used as it is. The audit is of race alone,
# and ``quick`` has fewer splits.
found = audit(
    loans,
    "race",
    "approve",
    ignore=["sex", "married", "old"],
    scores="score",
    decisions="decision",
    quick=True,
)
found

# %%
# Compare it with the alternatives
# --------------------------------
# The bank's score and decision, with the raw features and the best options: the gap in percentage
# points, the ratio of the smallest to the largest approval rate, and the AUCs for predicting
# approval and race. Gaps are the largest across three model families.
for one in found.advice.options:
    value, low, high = (100 * end for end in (one.gap.value, one.gap.low, one.gap.high))
    print(
        f"{one.name:31} {value:4.1f} ({low:4.1f} to {high:4.1f})  ratio {one.ratio.value:.2f}  "
        f"AUC {one.utility.value:.2f}  race {one.leak.value:.2f}"
    )

figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
axes.axvline(100 * found.settings.max_gap, color="0.55", linestyle=":")
for place, one in enumerate(found.advice.options):
    own = one.representation.startswith(("score", "decision"))
    colour = "C1" if own else "0.55" if one.representation == "raw" else "C0"
    value, *ends = (100 * end for end in (one.gap.value, one.gap.low, one.gap.high))
    axes.hlines(place, *ends, color=colour, linewidth=2)
    axes.plot(value, place, "o", color=colour)
    auc = f"AUC {one.utility.value:.2f}"
    axes.annotate(auc, (ends[1], place), (6, -3), textcoords="offset points")
axes.set_yticks(
    range(len(found.advice.options)), [o.name for o in found.advice.options]
)
axes.invert_yaxis()
axes.set(xlabel="largest gap of approval rates, percentage points", xlim=(0, 42))
plt.show()

# %%
# Rates by group
# --------------
# For every group: the share approved (selection rate); the share approved among those whom the
# lenders approved (true positive rate), and among those whom they did not (false positive rate);
# and the share of the approved whom the lenders approved as well (precision).
(score,) = (d for d in found.downstream if d.representation == "score:score")
by_race = next(p for p in score.parities if p.attribute == "race")
for label, rates in zip(found.data.attributes[0].groups, by_race.groups, strict=False):
    print(
        f"{label.label:9} {rates.n_rows:5,} people: approved {rates.selection_rate.value:.0%}, "
        f"true positive {rates.true_positive_rate.value:.0%}, "
        f"false positive {rates.false_positive_rate.value:.0%}, "
        f"precision {rates.precision.value:.0%}"
    )

# %%
# The same numbers by hand
# ------------------------
# Public functions compute everything that the audit says about a score, so whoever signs can check
# it.
approved = select_top(loans["score"], loans["approve"].mean()).astype(int)
gap = selection_rate_difference(None, approved, sensitive_features=loans["race"])
ratio = selection_rate_ratio(None, approved, sensitive_features=loans["race"])
lenders = selection_rate_difference(
    None, loans["approve"], sensitive_features=loans["race"]
)
print(
    f"{100 * gap:.1f} percentage points, ratio {ratio:.2f}; lenders: {100 * lenders:.1f}"
)
np.testing.assert_allclose(gap, by_race.gap.value, rtol=1e-9)
np.testing.assert_allclose(ratio, by_race.ratio.value, rtol=1e-9)
assert 0.2 < gap < 0.3
assert ratio < 0.8

# %%
# What to take away
# -----------------
# - Write ``audit(..., scores="score")``, or on the command line ``--score score --decision
#   decision``. Rows without a score are left out of its numbers.
# - Without a target a score is audited, too: what it reveals, and whom it would select.
# - The four-fifths rule does not say why a model fails it. The report names the proxies for race.
#
# Repeated measures: :ref:`sphx_glr_gallery_16_people_with_several_rows.py`. How an audit measures:
# :doc:`/explanation/measuring`.
