"""Rows to fit on and rows to measure on: halves, both ways, several times, and samples of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import AuditError
from ..metrics import Strata
from ..models import FEWEST_ROWS
from ..tables import TableEncoder, equal_pairs
from ._representations import TrainingRows
from ._results import Setting

_LEAST_SHARE = 0.25  # of a group in each half: a fold of fewer rows may miss the group
_MOST_COPIES = 10  # rows of each kind, on average, that may still be copies
_MOST_DRAWS = 50  # of halves, for that; groups of one row can never be in both


@dataclass(frozen=True)
class Effort:
    """How much work goes into a measurement: rows, rounds of halves, folds, permutations.

    Decisions are always compared between joint groups; probes predict these if `joint`. Methods
    that are `searched` take seconds a fit; `common` components cost as much as all methods again.
    """

    max_rows: int = 100_000
    group_rows: int = 1_000  # that every group keeps of a larger table, if it has them
    joint: bool = True
    n_rounds: int = 2
    least_rounds: int = 3  # of decisions: fewer do not show what one more fit may change
    most_rounds: int = 8  # of decisions, in tables of few rows: the fewer, the more rounds
    many_rows: int = 12_000  # in all such rounds together
    probe_rows: int = 8_000
    train_rows: int = 20_000  # of downstream models
    judged_rows: int = 25_000  # held-out rows that decisions are made about
    picked_rows: int = 2_000  # held-out rows whose columns are shuffled
    searched: bool = True
    common: bool = True
    folds: int = 3
    permutations: int = 500


FULL = Effort()
QUICK = Effort(
    max_rows=20_000,
    group_rows=500,
    joint=False,
    n_rounds=1,
    most_rounds=3,
    many_rows=8_000,
    probe_rows=1_500,
    train_rows=10_000,  # a whole half: of fewer, models find less than the fit to all rows does
    judged_rows=6_000,
    picked_rows=1_000,
    searched=False,
    common=False,
    folds=2,
    permutations=300,
)


@dataclass(frozen=True, eq=False)
class ExistingModel:
    """A model that exists: its scores, or its decisions as 0 and 1, NaN where it has none."""

    setting: Setting
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Split:
    """One way to divide the rows; two splits that follow each other swap their halves."""

    index: int
    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The two halves of a split as numbers: `rows` to fit, and `X` of shape (n, d) to measure on.

    Codes are -1 where the group is unknown, or too rare for probes; `all_codes` have those, too,
    and `sizes` are the attributes' numbers of all groups. `rate`
    is the share of positive rows, or of each class, among the people that are fitted to. `places`
    are those of the held-out rows in the question's, and `people` whose they are; `people_train`
    whose rows are fitted to. `chances` are, for each attribute that is known in part, its groups'
    probabilities, NaN where nothing is known. `alike` are strata of equal legitimate factors,
    `kinds` those of the attributes.
    """

    index: int
    rows: TrainingRows
    X: np.ndarray
    codes_train: list[np.ndarray]
    codes: list[np.ndarray]
    sizes: list[int]
    y: np.ndarray | None
    rate: float | np.ndarray = float("nan")
    weights: np.ndarray | None = None
    places: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int))
    people: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int))
    encoder: TableEncoder | None = None
    all_codes: list[np.ndarray] = field(default_factory=list)
    people_train: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int))
    chances: list[np.ndarray | None] = field(default_factory=list)
    alike: Strata | None = None
    kinds: tuple[str, ...] = ()

    @property
    def n_single(self) -> int:
        """How many attributes are no intersections; they come first."""
        return sum(kind != "intersection" for kind in self.kinds)

    @property
    def groups(self) -> list[np.ndarray]:
        """The codes by which rates are counted."""
        return self.all_codes or self.codes

    @property
    def vectors(self) -> list[np.ndarray]:
        """Places in `X` of each column of vectors, such as embeddings."""
        if self.encoder is None:
            return []
        kinds = {column.name: column.kind for column in self.encoder.columns_}
        places = self.encoder.outputs_by_column
        return [where for name, where in places.items() if kinds[name] == "vector"]

    @property
    def n_levels(self) -> int:
        """Columns of scores: one of a binary target or a number, else one for each class."""
        return 1 if self.rows.target_kind != "classes" else len(np.atleast_1d(self.rate))

    def at(self, rows: np.ndarray) -> HeldOut:
        """Return the same with some of the held-out rows only."""
        return replace(
            self,
            X=self.X[rows],
            codes=[codes[rows] for codes in self.codes],
            all_codes=[codes[rows] for codes in self.all_codes],
            y=None if self.y is None else self.y[rows],
            weights=None if self.weights is None else self.weights[rows],
            places=self.places[rows],
            people=self.people[rows],
            chances=[None if of is None else of[rows] for of in self.chances],
            alike=None if self.alike is None else self.alike.at(rows),
        )

    def judged_rows(self, effort: Effort) -> np.ndarray:
        """Return the held-out rows that decisions are judged on, the same for every model."""
        rng = np.random.default_rng([self.rows.seed, self.index])
        return evenly_sampled(self.codes, effort.judged_rows, rng)


@dataclass(frozen=True, eq=False)
class Members:
    """Who counts in which group: `rows` with their group, and with what chance they are in it.

    Where rows count in `several` groups, the one that was `drawn` is in equal shares in all halves.
    """

    rows: np.ndarray
    codes: np.ndarray
    chances: np.ndarray
    drawn: np.ndarray
    several: bool = False

    def counts(self, m: int) -> np.ndarray:
        """Return the people of each of m groups, expected ones where these are probabilities."""
        return np.bincount(self.codes, self.chances, minlength=m)

    def among(self, known: np.ndarray) -> Members:
        """Return those whose rows are known."""
        kept = known[self.rows]
        if kept.all():
            return self
        of = (self.rows[kept], self.codes[kept], self.chances[kept], self.drawn[kept])
        return Members(*of, several=self.several)


def members(codes: np.ndarray, P: np.ndarray | None) -> Members:
    """Return the members of groups: rows are in theirs, or in each that they may be of."""
    if P is None:
        rows = np.flatnonzero(codes >= 0)
        return Members(rows, codes[rows], np.ones(len(rows)), codes[rows])
    rows, groups = np.nonzero(np.nan_to_num(P))
    several = bool((np.diff(rows) == 0).any())
    return Members(rows, groups, P[rows, groups], codes[rows], several)


def halves(
    strata: Sequence[np.ndarray],
    n_rounds: int,
    rng: np.random.Generator,
    people: np.ndarray | None = None,
) -> list[Split]:
    """Divide rows into halves in which every combination of the strata is equally frequent.

    Each round gives two splits, so that every row is held out once. Rows with the same number in
    `people` stay together; the first of them tells the strata.
    """
    people = np.arange(len(strata[0])) if people is None else people
    _, once, person = np.unique(people, return_index=True, return_inverse=True)
    of_people = [codes[once] for codes in strata]
    splits = []
    for turn in range(n_rounds):
        for _ in range(_MOST_DRAWS):
            order = np.lexsort((rng.random(len(once)), *of_people))
            if all(_in_both(codes, order[0::2], order[1::2]) for codes in of_people):
                break
        in_first = np.zeros(len(once), dtype=bool)
        in_first[order[0::2]] = True
        first, second = np.flatnonzero(in_first[person]), np.flatnonzero(~in_first[person])
        splits += [Split(2 * turn, first, second), Split(2 * turn + 1, second, first)]
    return splits


def bands(y: np.ndarray) -> np.ndarray:
    """Return outcomes as strata: the classes, or the quarters of numbers."""
    if y.dtype.kind != "f":
        return y.astype(int)
    return np.searchsorted(np.unique(np.quantile(y, [0.25, 0.5, 0.75])), y)


def one_row_each(people: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the position of one row of each person, drawn at random, ascending."""
    if (np.diff(people) > 0).all():
        return np.arange(len(people))
    order = rng.permutation(len(people))
    return np.sort(order[np.unique(people[order], return_index=True)[1]])


def copies(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, bool]:
    """Return a number for each row, equal ones alike, and whether these are copies, not people.

    `columns` are integers, one array a column. Different people may be alike where columns are few
    and coarse, and who agrees in half of the columns then differs in the others as anybody does.
    Copies agree in all. So the columns are halved, and equal rows are copies if agreeing in one
    half goes more than half of the way from chance to certainty of agreeing in the other. Nobody
    can tell where there are many equal rows of each kind: those are taken for people.
    """
    columns = sorted(columns, key=lambda codes: -int(codes.max()))
    row, one, other = (_joined(some) for some in (columns, columns[0::2], columns[1::2]))
    n, equal = len(row), equal_pairs(row)
    everybody = n * (n - 1) / 2
    if not equal or n > _MOST_COPIES * (row.max() + 1):
        return row, False

    def beyond_chance(agree: float, else_agree: float) -> float:
        by_chance = else_agree / everybody
        return (equal / agree - by_chance) / (1.0 - by_chance) if by_chance < 1 else 0.0

    agree, else_agree = equal_pairs(one), equal_pairs(other)
    return row, max(beyond_chance(agree, else_agree), beyond_chance(else_agree, agree)) > 0.5


def _joined(columns: Sequence[np.ndarray]) -> np.ndarray:
    joint = np.zeros(len(columns[0]), dtype=np.int64)
    for codes in columns:
        both = joint * (int(codes.max()) + 1) + codes
        _, first, joint = np.unique(both, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[joint]  # in the order in which they first occur


def _in_both(codes: np.ndarray, first: np.ndarray, second: np.ndarray) -> bool:
    """Whether either half has its share of a group, which may consist of many rare combinations."""
    m = int(codes.max()) + 1
    counts = [np.bincount(codes[half][codes[half] >= 0], minlength=m) for half in (first, second)]
    return bool(np.all(np.minimum(*counts) >= _LEAST_SHARE * np.add(*counts)))


def evenly_sampled(
    strata: Sequence[np.ndarray], n_rows: int, rng: np.random.Generator
) -> np.ndarray:
    """Return positions of at most `n_rows` rows, strata in proportion, ascending."""
    return drawn_rows(strata, n_rows, rng)[0]


def drawn_rows(
    strata: Sequence[np.ndarray],
    max_rows: int,
    rng: np.random.Generator,
    at_least: int = 0,
    n_all: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return positions of at most `max_rows` rows, ascending, and how many rows each stands for.

    Every group of the strata is given `at_least` rows, or all it has: fewer where that would take
    more than half of the sample, but about 20. All other rows have one chance, and rows are taken
    at equal steps along a line of these chances, strata side by side. A row that had the chance p
    stands for 1 / p rows: sums of rows with these weights are those of the table, in the mean over
    draws (Horvitz and Thompson, 1952). Where the strata are of people who have `n_all` rows in
    all, people are drawn instead, as many as have about `max_rows` rows.
    """
    n = len(strata[0])
    n_all = n_all or n
    n_rows = max_rows * n // n_all
    if n <= n_rows:
        return np.arange(n), np.ones(n)
    own = np.zeros(n)
    if at_least:
        at_least = max(min(at_least, n_rows // (2 * sum(c.max() + 1 for c in strata))), FEWEST_ROWS)
        for codes in strata:
            known = codes >= 0
            chances = np.minimum(1.0, at_least / np.maximum(np.bincount(codes[known]), 1))
            own[known] = np.maximum(own[known], chances[codes[known]])
        if own.sum() > n_rows:
            fewest = int(np.ceil(own.sum()))
            what = "rows" if n == n_all else "people"
            these = "" if n == n_all else f" of {fewest} people, who are drawn with all they have"
            raise AuditError(
                f"max_rows={max_rows} is too few to have {FEWEST_ROWS} {what} of every group, as "
                f"far as there are: these are {-(-fewest * n_all // n)} rows{these}. Take as many, "
                f"or fewer attributes."
            )
    chance = np.maximum(own, _common_chance(own, n_rows))
    order = np.lexsort((rng.random(n), *strata))
    line = np.cumsum(chance[order])
    steps = (rng.random() + np.arange(n_rows)) * (line[-1] / n_rows)
    chosen = np.sort(order[np.minimum(np.searchsorted(line, steps, side="right"), n - 1)])
    return chosen, 1.0 / chance[chosen]


def _common_chance(own: np.ndarray, n_rows: int) -> float:
    """Return the least chance of all rows with which chances come to `n_rows` in all."""
    ordered = np.sort(own)
    above = np.append(np.cumsum(ordered[::-1])[::-1][1:], 0.0)  # of the rows that have more
    fitting = (n_rows - above) / np.arange(1, len(own) + 1)
    return float(fitting[np.argmax(fitting <= np.append(ordered[1:], 1.0))])
