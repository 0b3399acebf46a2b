"""From scores of held-out people to rates, gaps and utility, with errors and resamples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix
from scipy.stats import rankdata

from ..metrics import (
    Cells,
    Parts,
    Strata,
    between_groups,
    group_shares,
    mean_auc,
    select_top,
    shares_up_to,
    weight_below,
)
from ..models import FEWEST_ROWS
from ._splits import Effort, HeldOut, Members, bands, members

N_RESAMPLES = 200
"""So many times people are resampled to see how often a setting would be recommended."""

ENOUGH_ROWS = 100
"""Gaps leave out groups of fewer people, unless no two have as many: see `compared_groups`."""

Number = tuple[float, float]
"""A value and its standard error."""


@dataclass(frozen=True, eq=False)
class Rates:
    """A share or mean of every group, of shape (levels, m), with errors, and resamples of it.

    `swings` are half of what the first half has more than the second, and `swing_errors` what they
    vary by from round to round, as halves are drawn: alike in outcomes. Where people count in
    several groups, of which only probabilities are known, errors go together: `shared` and
    `swings_shared` are the covariances of groups, of shape (levels, m, m).
    """

    values: np.ndarray
    errors: np.ndarray
    swings: np.ndarray | None = None
    swing_errors: np.ndarray | None = None
    draws: np.ndarray | None = None
    shared: np.ndarray | None = None
    swings_shared: np.ndarray | None = None

    def at(self, level: int, groups: np.ndarray) -> Rates:
        """Return one level, of some groups."""
        parts = (self.values, self.errors, self.swings, self.swing_errors, self.draws)
        pairs = (self.shared, self.swings_shared)
        return Rates(
            *(None if of is None else of[level][groups] for of in parts),  # type: ignore[arg-type]
            *(None if of is None else of[level][groups][:, groups] for of in pairs),
        )


@dataclass(frozen=True, eq=False)
class Judged:
    """What the scores of one model come to in one round.

    `groups` has, for each attribute, rates by name; `apart` the largest difference of the
    distributions of numbers, and the rows it is known from; `ranked` how one score ranks each group
    against the others, as AUCs, with errors; `between` what is possible where groups are unknown;
    `compared` what gaps compare, where there are legitimate factors.
    """

    utility: Number | None
    utility_draws: np.ndarray
    rank: Number | None
    accuracy: Number | None
    groups: list[dict[str, Rates]]
    counts: list[np.ndarray]
    apart: list[tuple[float, float] | None]
    ranked: list[tuple[np.ndarray, np.ndarray] | None]
    between: list[Between | None]
    compared: Compared | None = None


@dataclass(frozen=True, eq=False)
class Between:
    """What differences of groups may be of an attribute that is known in part.

    `most` and `errors` have shape (levels, m, m): by how much each group's rate may exceed each
    other's, whoever the `n_unknown` people are, and those of whom probabilities are known.
    """

    most: np.ndarray
    errors: np.ndarray
    n_unknown: int
    n_probable: int


@dataclass(frozen=True, eq=False)
class Compared:
    """Decisions, or predictions of a number, of shape (levels, n), beside groups and factors.

    `members` are those of each attribute's groups that a model knows. `signs` are those of
    resamples, None of what exists.
    """

    values: np.ndarray
    members: list[Members]
    alike: Strata
    weights: np.ndarray
    signs: np.ndarray | None

    def split(
        self, position: int, level: int, a: int, b: int
    ) -> tuple[Parts, np.ndarray | None] | None:
        """Split the rate of group a minus that of b, of an attribute and a level, by the factors.

        With the parts come resamples of them, of shape (4, N_RESAMPLES). None where no stratum has
        people of both groups.
        """
        of = self.members[position]
        at = np.flatnonzero(np.isin(of.codes, (a, b)))
        rows, groups = of.rows[at], (of.codes[at] == b).astype(int)
        z, w = self.values[level, rows], self.weights[rows] * of.chances[at]
        cells = Cells.of(z, groups, self.alike.at(rows), w, m=2, flags=z.dtype == bool)
        parts = cells.split(0, 1)
        if parts is None:
            return None
        if self.signs is None:
            return parts, None
        influences, n = cells.influences(z.astype(float), groups, w), len(self.weights)
        moved = np.stack([np.bincount(rows, one, minlength=n) for one in influences])
        return parts, moved.astype(np.float32) @ self.signs


class Round:
    """The people that the two splits of a round hold out, the rows of one after the other's.

    Without an `effort`, all rows are judged, not a sample of them.
    """

    def __init__(self, halves: Sequence[HeldOut], effort: Effort | None = None) -> None:
        parts = [half.at(half.judged_rows(effort)) if effort else half for half in halves]
        self.half = np.repeat(np.arange(len(parts)), [len(part.places) for part in parts])
        self.kind = halves[0].rows.target_kind if halves[0].rows.y is not None else None
        self.rates = [np.atleast_1d(part.rate) for part in parts]
        self.sizes = halves[0].sizes
        self.codes = [np.concatenate(c) for c in zip(*(p.groups for p in parts), strict=True)]
        self.places = np.concatenate([part.places for part in parts])
        self.people = np.concatenate([part.people for part in parts])
        self.y = None if self.kind is None else np.concatenate([part.y for part in parts])
        self.weights = np.concatenate(
            [np.ones(len(p.places)) if p.weights is None else p.weights for p in parts]
        )
        self.seed = halves[0].rows.seed
        self.alike = _joined([part.alike for part in parts])
        self.chances = [
            None if of[0] is None else np.concatenate(of)
            for of in zip(
                *(part.chances or [None] * len(self.sizes) for part in parts), strict=True
            )
        ]

    @cached_property
    def members(self) -> list[Members]:
        """Who counts in which group of each attribute."""
        return [members(c, P) for c, P in zip(self.codes, self.chances, strict=True)]

    @cached_property
    def signs(self) -> np.ndarray:
        """Signs of shape (n, N_RESAMPLES), those of a person the same in every round.

        Influences times random signs vary as a number does from sample to sample (Wu, 1986).
        """
        n = int(self.people.max()) + 1
        drawn = np.random.default_rng(self.seed).bytes(n * N_RESAMPLES // 8)
        packed = np.frombuffer(drawn, dtype=np.uint8).reshape(n, -1)[self.people]
        signs = np.unpackbits(packed, axis=1).astype(np.float32)
        signs *= 2
        signs -= 1
        return signs

    def judged(
        self,
        scores: np.ndarray,
        *,
        existing: str | None = None,
        decided: np.ndarray | None = None,
    ) -> Judged:
        """Return what scores of shape (n, levels) come to.

        Of what a model that exists says, `existing` is its kind: one model made it for both
        halves, and decisions are as they were made. Of a model that chooses by itself whom it
        selects, `decided` are its decisions.
        """
        known = np.isfinite(scores).all(axis=1)
        decisions = self._decided(scores, known, existing) if decided is None else decided
        utility, influence = self._utility(scores, known, existing)
        draws = np.zeros(N_RESAMPLES)
        if utility is not None and not existing:  # what exists does not compete
            draws = influence.astype(np.float32) @ self.signs
        scored = [of.among(known) for of in self.members]
        counts = [of.counts(m) for of, m in zip(scored, self.sizes, strict=True)]
        number = self.kind == "number" and existing != "decision"
        return Judged(
            utility=utility,
            utility_draws=draws,
            rank=self._rank(scores[:, 0], self._models(known, existing)) if number else None,
            accuracy=self._accuracy(decisions, known),
            groups=[
                self._by_group(scores, decisions, of, m, not existing)
                for of, m in zip(scored, self.sizes, strict=True)
            ],
            counts=counts,
            apart=[
                self._apart(scores[:, 0], of, n) if number or existing == "score" else None
                for of, n in zip(scored, counts, strict=True)
            ],
            ranked=[
                self._ranked(scores[:, 0], of, m, self._models(known, existing))
                if scores.shape[1] == 1 and existing != "decision"
                else None
                for of, m in zip(scored, self.sizes, strict=True)
            ],
            between=[
                None if P is None else self._between(P, scores, decisions, known)
                for P in self.chances
            ],
            compared=self._compared(scores, decisions, scored, existing),
        )

    def _compared(
        self,
        scores: np.ndarray,
        decisions: np.ndarray | None,
        scored: list[Members],
        existing: str | None,
    ) -> Compared | None:
        """Return what gaps compare, where there are factors that may explain them."""
        if self.alike is None or (decisions is None and self.kind != "number"):
            return None
        values = scores[:, :1].astype(float) if decisions is None else decisions
        signs = None if existing else self.signs
        return Compared(values.T, scored, self.alike, self.weights, signs)

    def _between(
        self, P: np.ndarray, scores: np.ndarray, decisions: np.ndarray | None, known: np.ndarray
    ) -> Between | None:
        """Return what differences may be in what gaps compare, among rows that are scored."""
        if decisions is None and self.kind != "number":
            return None
        P, w = P[known], self.weights[known]
        unknown = np.isnan(P).any(axis=1)
        P = np.where(unknown[:, None], 0.0, P)
        there = np.flatnonzero(w @ P > 0)
        m, levels = P.shape[1], (scores[:, :1] if decisions is None else decisions).T
        found = np.full((2, len(levels), m, m), np.nan)
        for level, values in enumerate(levels):
            of = between_groups(values[known].astype(float), P[:, there], w, unknown)
            found[0, level][np.ix_(there, there)] = of.most
            found[1, level][np.ix_(there, there)] = of.most_errors
        probable = ((P > 0) & (P < 1)).any(axis=1)
        return Between(found[0], found[1], int(unknown.sum()), int(probable.sum()))

    def _models(self, known: np.ndarray, existing: str | None) -> list[np.ndarray]:
        """Return the rows that each model has scored: all of one that exists, else the halves."""
        return [known] if existing else [known & (self.half == h) for h in range(len(self.rates))]

    def _decided(
        self, scores: np.ndarray, known: np.ndarray, existing: str | None
    ) -> np.ndarray | None:
        """Return who is selected, of shape (n, levels); of a number nobody is.

        Each half selects a share of its rows, those with the highest scores: that of the positive
        rows among its training rows. At a threshold of one half, a model of a rare outcome selects
        nobody, and no gap can be seen. The threshold is a quantile of the held-out scores, without
        their outcomes. One of the training scores would not do: trees are surer of the rows they
        have learned than of others, and would select a third of the share, with gaps as small.
        """
        if existing == "decision":
            return scores > 0.5
        if self.kind == "number" or (self.kind is None and existing is None):
            return None
        chosen = np.zeros(scores.shape, dtype=bool)
        for rows, shares in zip(self._models(known, existing), self.rates, strict=False):
            w = self.weights[rows]
            if existing:  # one model: as many as are positive, or half without a binary target
                yes = self.y if self.kind == "binary" else None
                shares = np.array([0.5 if yes is None else np.average(yes[rows], weights=w)])
            for level, share in enumerate(shares):
                chosen[rows, level] = select_top(scores[rows, level], share, sample_weight=w)
        return chosen

    def _by_group(
        self,
        scores: np.ndarray,
        decisions: np.ndarray | None,
        of: Members,
        m: int,
        competes: bool,
    ) -> dict[str, Rates]:
        """Return what is counted of each group, among its members."""
        everybody = np.ones(len(scores), dtype=bool)
        found: dict[str, Rates] = {}
        if decisions is not None:
            levels, yes = list(decisions.T), self._positive(decisions.shape[1])
            found["selection_rate"] = self._rates(
                levels, [everybody] * len(levels), of, m, competes
            )
            if yes is not None:
                for name, flags, among in (
                    ("true_positive_rate", levels, yes),
                    ("false_positive_rate", levels, [~y for y in yes]),
                    ("precision", yes, levels),
                ):
                    found[name] = self._rates(flags, among, of, m)
        values = scores[:, 0].astype(float)
        shares = self.kind == "binary" and np.nanmin(values) >= 0 and np.nanmax(values) <= 1
        number = self.kind == "number" and decisions is None
        if number or (shares and scores.shape[1] == 1):
            assert self.y is not None
            found["mean_score"] = self._rates([values], [everybody], of, m, number and competes)
            found["mean_outcome"] = self._rates([self.y.astype(float)], [everybody], of, m)
        return found

    def _positive(self, n_levels: int) -> list[np.ndarray] | None:
        """Return which rows are positive, level by level."""
        if self.y is None or self.kind == "number":
            return None
        if n_levels == 1:
            return [self.y.astype(bool)] if self.kind == "binary" else None
        return [self.y == level for level in range(n_levels)]

    def _rates(
        self,
        flags: Sequence[np.ndarray],
        among: Sequence[np.ndarray],
        of: Members,
        m: int,
        with_draws: bool = False,
    ) -> Rates:
        found = [self._rate(*one, of, m, with_draws) for one in zip(flags, among, strict=True)]
        fields = zip(*found, strict=True)
        return Rates(*(np.stack(part) if part[0] is not None else None for part in fields))  # type: ignore[arg-type]

    def _rate(
        self, z: np.ndarray, among: np.ndarray, of: Members, m: int, with_draws: bool
    ) -> tuple[np.ndarray | None, ...]:
        """Return the fields of `Rates` of one level: of shape (m,), (m, N_RESAMPLES) or (m, m)."""
        at, codes, rows = of.rows, of.codes, among[of.rows]
        w = self.weights[at] * of.chances * rows
        z = np.where(rows, z[at], z.dtype.type(0))  # a flag stays one
        mean = group_shares(z, codes, among=w, m=m)
        total = np.bincount(codes, w, minlength=m)
        influence = w * (z - np.nan_to_num(mean)[codes])
        influence /= np.where(total > 0, total, 1.0)[codes]
        if z.dtype == bool:
            error = _weighted_share_error(mean, z, codes, w)
        else:
            squares = np.bincount(codes, w**2, minlength=m)
            seen = np.divide(total**2, squares, out=np.zeros(m), where=squares > 0)
            seen = np.maximum(seen, 2)
            error = np.sqrt(np.bincount(codes, influence**2, minlength=m) * seen / (seen - 1))
        error = np.where(total > 0, error, np.nan)

        def by_row(of_members: np.ndarray) -> csr_matrix:
            return csr_matrix((of_members, (codes, at)), shape=(m, len(self.half)))

        shared = None
        if of.several:
            shared = _covariances(by_row(influence))
        if not with_draws:
            return mean, error, None, None, None, shared, None
        half = self.half[at]
        first, second = (group_shares(z, codes, among=w * (half == h), m=m) for h in (0, 1))
        # Halves have equal shares of groups, as they are drawn, and of outcomes.
        band = 0 if self.y is None else bands(self.y)[at]
        alike = codes + m * (of.drawn + m * band)
        own_mean = group_shares(
            influence, alike, among=rows * 1.0, m=int(np.max(alike, initial=0)) + 1
        )
        apart = np.where(rows, influence - own_mean[alike], 0.0)
        swing_error = np.sqrt(np.bincount(codes, apart**2, minlength=m))
        draws = by_row(influence.astype(np.float32)) @ self.signs
        swings = (first - second) / 2
        swings_shared = _covariances(by_row(apart)) if of.several else None
        return mean, error, swings, swing_error, draws, shared, swings_shared

    def _utility(
        self, scores: np.ndarray, known: np.ndarray, existing: str | None
    ) -> tuple[Number | None, np.ndarray]:
        """Return AUC or R2 with its error, and the influence of each row.

        Scores of the two halves are of two models, and compared within each half only.
        """
        no_prediction = {"classes": scores.shape[1] == 1, "number": existing == "decision"}
        if self.y is None or no_prediction.get(str(self.kind)):
            return None, np.zeros(len(known))
        influence = np.zeros(len(known))
        halves, found = self._models(known, existing), []
        for rows in halves:
            y, w, s = self.y[rows], self.weights[rows], scores[rows]
            if self.kind == "number":
                value, own_influence = _explained(y, s[:, 0].astype(float), w)
            else:
                codes = y.astype(int)
                if min(np.bincount(codes, minlength=max(2, s.shape[1]))) == 0:
                    return None, influence
                value, own_influence = mean_auc(s, codes, w)
            influence[rows] = own_influence / len(halves)
            found.append(value)
        value, error = float(np.mean(found)), float(np.linalg.norm(influence))
        if self.kind != "number" and value in (0.0, 1.0):  # no spread to estimate an error from
            rarest = min(np.bincount(self.y[known].astype(int)))
            error = float(share_error(value, rarest))
        return (value, error), influence

    def _rank(self, predicted: np.ndarray, models: Sequence[np.ndarray]) -> Number:
        """Return the rank correlation with the true numbers, the mean of that of the models."""
        assert self.y is not None
        w = self.weights * np.any(models, axis=0)
        found, n = [], float(w.sum() ** 2 / (w @ w))
        for rows in models:
            if np.ptp(predicted[rows]) == 0 or np.ptp(self.y[rows]) == 0:
                return 0.0, 1.0 / np.sqrt(max(n, 1))
            ranks = [rankdata(values[rows]) for values in (predicted, self.y)]
            found.append(np.cov(ranks[0], ranks[1], aweights=self.weights[rows]))
        value = float(np.mean([c[0, 1] / np.sqrt(c[0, 0] * c[1, 1]) for c in found]))
        return value, float((1 - value**2) * 1.03 / np.sqrt(max(n - 3, 1)))

    def _accuracy(self, decisions: np.ndarray | None, known: np.ndarray) -> Number | None:
        if decisions is None or self.kind != "binary":
            return None
        w, right = self.weights * known, decisions[:, 0] == self.y
        share = np.array([w @ right / w.sum()])
        error = _weighted_share_error(share, right, np.zeros(len(w), dtype=int), w)
        return float(share[0]), float(error[0])

    def _ranked(
        self, values: np.ndarray, of: Members, m: int, models: Sequence[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the AUC of each group against the others, the mean of that of the models.

        Within a group, the weight below a row comes to half of the group's in the mean. The error
        is that of equal distributions.
        """
        aucs = []
        for rows in models:
            inside = of.among(rows)
            c, w = inside.codes, self.weights[inside.rows] * inside.chances
            below = weight_below(values[inside.rows], w)
            own, sums = np.bincount(c, w, minlength=m), np.bincount(c, w * below, minlength=m)
            pairs = own * (own.sum() - own)
            aucs.append(
                np.divide(sums - own**2 / 2, pairs, out=np.full(m, np.nan), where=pairs > 0)
            )
        inside = of.among(np.any(models, axis=0))
        c, p, w = inside.codes, inside.chances, self.weights[inside.rows]
        own = np.bincount(c, w * p, minlength=m)
        # Whoever may be of a group may be of the others: with certain groups, both are the same.
        squares, all_of = (np.bincount(c, w**2 * by, minlength=m) for by in (p**2, p))
        both = all_of - squares
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = own.sum() - own
            rough = squares / own**2 + (all_of.sum() - all_of - both) / rest**2
            rough -= 2 * both / (own * rest)
        return np.mean(aucs, axis=0), np.sqrt(rough / 12)

    def _apart(
        self, values: np.ndarray, of: Members, counts: np.ndarray
    ) -> tuple[float, float] | None:
        """Return the largest difference of shares above a threshold, and how certain one group is.

        Groups are those that gaps compare. The second number is the largest 1 / n1 + 1 / n2 of two
        of them, for the bound of Dvoretzky, Kiefer, Wolfowitz and Massart.
        """
        c, w, m = of.codes, self.weights[of.rows] * of.chances, len(counts)
        total, squares = np.bincount(c, w, minlength=m), np.bincount(c, w**2, minlength=m)
        large = compared_groups(counts) & (total > 0)
        if large.sum() < 2:
            return None
        places = np.unique(values[of.rows], return_inverse=True)[1]
        shares = shares_up_to(places, c, among=w, m=m)[large]
        rough = np.sort(squares[large] / total[large] ** 2)[-2:]
        return float(np.ptp(shares, axis=0).max()), float(rough.sum())


def _joined(parts: Sequence[Strata | None]) -> Strata | None:
    """Return the strata of the rows of all parts, which are of one table."""
    known = [part for part in parts if part is not None]
    if not known:
        return None
    codes, numbers = (
        np.concatenate([getattr(p, of) for p in known]) for of in ("codes", "numbers")
    )
    return replace(known[0], codes=codes, numbers=numbers)


def _covariances(influences: csr_matrix) -> np.ndarray:
    """Return the covariances of numbers from the influence of each row on each, (m, rows)."""
    return np.asarray((influences @ influences.T).toarray())


def compared_groups(counts: np.ndarray) -> np.ndarray:
    """Return which groups have people enough to be compared.

    They need 100; where no two groups have as many, 20; and where no two have that, one.
    """
    for least in (ENOUGH_ROWS, FEWEST_ROWS, 1):
        large = counts >= least
        if large.sum() >= 2:
            break
    return large


def _explained(y: np.ndarray, predicted: np.ndarray, w: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the share of the variance of y that is predicted, and the influence of each row."""
    centred = (y - np.average(y, weights=w)) ** 2
    wrong, whole = (y - predicted) ** 2, float(w @ centred)
    if whole == 0:
        return 0.0, np.zeros(len(y))
    lost = float(w @ wrong) / whole
    return 1.0 - lost, w * (lost * centred - wrong) / whole


def _weighted_share_error(
    shares: np.ndarray, flags: np.ndarray, codes: np.ndarray, w: np.ndarray
) -> np.ndarray:
    """Return the standard errors of the groups' weighted shares of rows with a flag.

    Where weights and flags go together, as where a rare outcome was drawn more often, a number of
    rows that count alike does not exist: the error is that of a ratio of two sums. As in
    `share_error`, one row of the mean weight is added on either side.
    """
    m = len(shares)
    total, squares = np.bincount(codes, w, minlength=m), np.bincount(codes, w**2, minlength=m)
    n = np.bincount(codes[w > 0], minlength=m)
    mean = np.divide(total, n, out=np.zeros(m), where=n > 0)
    effective = np.divide(total**2, squares, out=np.zeros(m), where=squares > 0)
    if np.allclose(squares, total * mean):  # rows of a group count alike
        return share_error(shares, effective)
    softened = (np.nan_to_num(shares) * total + mean) / np.where(n > 0, total + 2 * mean, 1.0)
    spread = np.bincount(codes, (w * (flags - softened[codes])) ** 2, minlength=m)
    spread += mean**2 * ((1 - softened) ** 2 + softened**2)
    return np.asarray(np.sqrt(spread) / np.where(n > 0, total + 2 * mean, 1.0))


def share_error(share: float | np.ndarray, n: float | np.ndarray) -> np.ndarray:
    """Return the standard error of a share of n rows.

    One row is added on either side, so that a share of 0 or 1 in a few rows is not called certain.
    """
    n = np.asarray(n, dtype=float)
    softened = (np.asarray(share) * n + 1.0) / (n + 2.0)
    return np.sqrt(softened * (1.0 - softened) / np.maximum(n, 1.0))
