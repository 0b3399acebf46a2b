"""How much of what linear probes still predict is the price of few people, by the planner's law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import UsageError
from ..metrics import plan
from ..models import Measured
from ._results import Estimate, FewPeople, Leak, Notice
from ._splits import Effort, HeldOut

EQUAL_MEANS = ("fair_pca", "fair_pca_covariances", "fair_pca_distributions", "leace")
"""Linear maps that equalise the means of the rows they are fitted to: the law is about these."""

_MORE = 4  # times as many people are what else is told
_MOST_CERTAIN = 0.9999  # AUC that stands for 1, of groups that never overlap
_WORTH_A_WARNING = 0.6  # AUC expected of all people, of the best linear model: they are few
_WANTED = 0.55


@dataclass(frozen=True)
class _Asked:
    """Of an attribute: people per group in a half, and whom a linear probe learns from in it."""

    people: np.ndarray
    probed: np.ndarray
    columns: int

    @property
    def most(self) -> int:
        """Directions that are left when the groups' means are equal."""
        return self.columns - len(self.people) + 1

    def expected(self, auc: float, k: int, times: float = 1.0) -> float:
        """Return the AUC that the same probe finds afterwards, on average over the groups."""
        if auc <= 0.5:
            return 0.5
        return float(
            np.mean(
                [
                    plan(
                        _and_the_rest(times * self.people, g),
                        columns=self.columns,
                        n_components=min(k, self.most),
                        auc=min(auc, _MOST_CERTAIN),
                        trained_on=_and_the_rest(self.probed, g),
                    ).auc_left
                    for g in range(len(self.people))
                ]
            )
        )


def _and_the_rest(people: np.ndarray, g: int) -> list[float]:
    return [max(1.0, float(people[g])), max(1.0, float(people.sum() - people[g]))]


def price_of_few_people(
    leaks: Sequence[Leak],
    halves: Sequence[HeldOut],
    attributes: Sequence[Measured],
    columns: int,
    n_columns: dict[str, int],
    effort: Effort,
) -> tuple[list[Leak], list[Notice]]:
    """Add to leaks of linear probes what is expected of so few people, where the law applies.

    `columns` is the number of directions in which the raw features vary, `n_columns` what each
    representation has. The notices are of attributes with so few people that much will be left.
    """
    raw = {leak.attribute: leak for leak in leaks if _is(leak, "raw")}
    asked = {
        one.name: found
        for i, one in enumerate(attributes)
        if one.kind == "levels" and one.name in raw
        if (found := _asked(halves, i, columns, effort)).most > 0
    }

    def priced(leak: Leak) -> Leak:
        of, k = asked.get(leak.attribute), n_columns.get(leak.representation, 0)
        if of is None or not any(_is(leak, method) for method in EQUAL_MEANS):
            return leak
        before = raw[leak.attribute].auc
        try:
            value, low, high = (of.expected(x, k) for x in (before.value, before.low, before.high))
            more = of.expected(before.value, k, _MORE)
        except UsageError:  # so few rows were held out that the AUC before says nothing
            return leak
        smallest = max(1, int(of.people.min()))
        price = FewPeople(smallest, Estimate(value, low, high), _MORE * smallest, more)
        return replace(leak, few_people=price)

    notices = [_warned(name, of, raw[name]) for name, of in asked.items()]
    return [priced(leak) for leak in leaks], [one for one in notices if one is not None]


def _warned(name: str, of: _Asked, before: Leak) -> Notice | None:
    """Warn where even all people are so few that linear erasers leave much."""
    if not before.above_chance:
        return None
    auc, smallest = min(before.auc.value, _MOST_CERTAIN), int(np.argmin(of.people))
    everybody = [2 * n for n in of.people]
    probed = _and_the_rest(of.probed, smallest)
    try:
        planned = plan([1, 1], columns=of.columns, auc=auc, trained_on=probed)
        planned = plan(everybody, columns=of.columns, separation=planned.separation)
    except UsageError:
        return None
    if planned.auc_left < _WORTH_A_WARNING:
        return None
    groups = " ".join(f"--people {n:.0f}" for n in everybody)
    text = (
        f"{name}: the smallest group has {min(everybody):,.0f} people for {of.columns} columns. "
        f"Erasers such as LEACE are expected to leave AUC {planned.auc_left:.2f} to linear models "
        f"among new people, of {planned.auc:.3f}; few components (FairPCA) leave less. What it "
        f"takes: fairpca plan {groups} --columns {of.columns} --auc {min(planned.auc, 0.999):.3f} "
        f"--target-auc {_WANTED}"
    )
    return Notice("few_people", "warning", name, "", planned.auc_left, text)


def _is(leak: Leak, method: str) -> bool:
    return leak.probe == "linear" and leak.representation.partition("@")[0] == method


def _asked(halves: Sequence[HeldOut], i: int, columns: int, effort: Effort) -> _Asked:
    """Count people in a half: weights make them fewer, as they say less about the others."""
    people = np.mean([_people(half.codes[i], half.weights) for half in halves], axis=0)
    drawn = min(1.0, effort.probe_rows / max(1.0, people.sum()))
    return _Asked(people, people * drawn * (1 - 1 / effort.folds), columns)


def _people(codes: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    known = codes >= 0
    if weights is None:
        return np.bincount(codes[known]).astype(float)
    sums, squares = (np.bincount(codes[known], weights[known] ** power) for power in (1, 2))
    return np.divide(sums**2, squares, out=np.zeros_like(sums), where=squares > 0)
