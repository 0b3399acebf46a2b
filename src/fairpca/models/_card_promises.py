"""What a model promises and what it does not, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..metrics import MOST_LISTED, markdown
from ._estimator_state import group_counts
from ._fair_model import FairModel

SMALL_GROUP = 100
"""Groups with fewer rows than this are pointed out."""

EQUAL_MEANS = frozenset({"FairPCA", "FairKernelPCA", "LEACE", "MeanProjection", "SPLINCE"})
NO_PROMISE = frozenset({"PCA", "KernelPCA"})


def counts_of(model: FairModel) -> Mapping[str, Mapping[Any, int]]:
    """Return how many rows each group had: from the moments, or as somebody counted them."""
    told = model.info.get("groups")
    counted = isinstance(told, Mapping) and all(
        isinstance(levels, Mapping) and all(isinstance(n, int) for n in levels.values())
        for levels in told.values()
    )
    mine: Mapping[str, Mapping[Any, int]] = group_counts(model.estimator)
    return mine or (dict(told or {}) if counted else {})


def promises(model: FairModel) -> Iterator[str]:
    """Say what holds for the rows that the model was trained on."""
    name, estimator = type(model.estimator).__name__, model.estimator
    if name in NO_PROMISE:
        yield "Nothing: this method ignores the sensitive attributes. It is a yardstick."
        return
    if getattr(estimator, "tradeoff", 0.0) > 0:
        yield (
            f"Nothing for the representation as a whole: with tradeoff = {estimator.tradeoff:g} "
            f"columns of the standard method were appended on purpose. The first "
            f"{estimator.n_components_} columns alone have equal group means."
        )
        return
    if name in EQUAL_MEANS:
        gap = "`mean_gap_` standard deviations" if "mean_gap_" in vars(estimator) else "rounding"
        yield (
            f"- On the rows it was trained on, all groups have the same mean in every column, up "
            f"to {gap}, so no linear model fitted to them can tell the groups apart better than a "
            f"constant."
        )
        if getattr(estimator, "criterion", "demographic_parity") != "demographic_parity":
            yield f"- This holds within classes of the target: {markdown(estimator.criterion)}."
        if getattr(estimator, "match", "means") == "covariances":
            yield "- Group covariances were matched as well, up to `covariance_gap_`."
    else:
        yield f"- What {name} promises is described in the documentation of the class."
    yield "- The same row always gives the same numbers; nothing is drawn at random afterwards."


def caveats(model: FairModel) -> Iterator[str]:
    """Say what nobody should rely on."""
    yield "- **Equal means do not hide what a non-linear model can see.** Measure the leakage."
    yield "- On new rows means are equal up to sampling error; more columns, more of it."
    small = [
        f"{markdown(label)} of {markdown(name)} ({count} rows)"
        for name, levels in counts_of(model).items()
        for label, count in levels.items()
        if count < SMALL_GROUP
    ]
    known = f" Small here: {', '.join(small[:MOST_LISTED])}." if small else ""
    yield f"- Means of small groups are uncertain, and so is what was removed for them.{known}"
    yield "- If people, columns or their meaning drift, the promise fades: audit again on new data."
    joint = getattr(model.estimator, "intersectional", False)
    others = "" if joint else ", nor are combinations of those that were"
    yield f"- Attributes that were not named are not protected{others}."
    yield "- A fair representation does not make a decision based on other columns fair."
