"""Fair PCA by distributions: the subspace in which no reader of a large family sees the groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._attributes import Attribute, Levels
from .._moments import GroupMoments
from .._numerics import (
    Array,
    array_namespace,
    blas_threads,
    deterministic_signs,
    device,
    full_precision,
    is_numpy,
    like,
    limited_threads,
    pool_of,
    to_numpy,
)
from .._rows import Rows, row_blocks
from ._equalize_means import MeanConstraint, equalize_means, mean_constraint
from ._subspace import Subspace

WIDTHS = (0.35, 0.7, 1.4)
"""How wide waves are, in units of sqrt(k), the typical length of a whitened row."""

WAVES, CUTS, PRODUCTS, SQUARES = 32, 96, 64, 32
"""How many of each a reader has in one step: waves of each width, cuts, products of two, squares.

Chosen on held-out rows, as all numbers here: see docs/research/distributions.md.
"""

SOFTEST, SHARPEST = 0.3, 0.03
"""Over how many standard deviations a cut passes from 0 to 1."""

ENOUGH_ROWS, FEWEST_READERS = 4000, 1 / 8
"""Fewer rows meet fewer features, down to an eighth: many would explain them by chance."""

ENOUGH_FOR_LONGER = 6000
"""From so many rows on, the search takes more steps."""

RIDGE = 0.01
"""What is added to the covariance of the features, in units of their average variance."""

STEPS, BATCH, LONGER = 600, 2048, 2.0
"""Steps of the search, and rows that are looked at in each; how many times as long it is at most.

From more rows there is more to learn: with 24,000, seeds agree better after twice as many steps.
With 6,000, more steps only fit these rows.
"""

ANGLE = 0.1
"""By how much a direction turns in one of the first steps, in radians."""

MOMENTUM, SCALE_MOMENTUM, TREND = 0.9, 0.99, 0.98
"""How much of the steps before counts: for the way, its length, and what readers see."""

BLOCK = 512
"""Rows that one thread works on; sums over blocks are in order, whatever the number of threads."""

MOST_DIRECTIONS, MOST_NUMBERS = 1024, 2**27
"""The search is among so many directions of most variance, or fewer where groups are many."""

LEAST_VARIANCE = 1e-7
"""What is added to variances, in units of their sum, before directions are whitened."""

LOOKS = 8
"""How many readers say at the end what they see."""


Each = Callable[[Callable[..., Any], Iterable[Any]], Iterable[Any]]
"""What `map` does, perhaps in several threads."""


@dataclass(frozen=True)
class Separability:
    """What the best ridge reader explains of the groups, and what it explains of shuffled ones.

    Parameters
    ----------
    value : float
        Share of the variance of a group's indicator, or of a number, that a reader of random
        features of the whitened rows explains; a mean over groups, attributes and readers.
    null : float
        What the same readers explain on average if groups are shuffled.
    start : float
        The value of fair PCA, from which the search began.
    """

    value: float
    null: float
    start: float


def equalize_distributions(
    moments: GroupMoments,
    k: int | float | None,
    sample: Rows,
    project: Callable[[Array], Array],
    *,
    penalty: float,
    constraint: MeanConstraint | None = None,
    wanted: Array | None = None,
    least: float = 0.0,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> tuple[Subspace, Separability]:
    r"""Find the subspace that keeps the most of the rows while hardly any reader sees the groups.

    Group means are equal exactly, as in `equalize_means`. Among these subspaces this takes the one
    that reconstructs the rows best, less a penalty for what the best ridge regression on random
    features of the *whitened* representation explains of the groups. Features are drawn anew in
    every step: waves, soft cuts, products of two cuts, squares; so an invertible linear map of the
    representation changes nothing.

    Parameters
    ----------
    moments : GroupMoments
        Moments of all rows in d dimensions.
    k : int, float or None
        Dimension, as in `equalize_means`.
    sample : Rows
        Some of the rows, or all, with their weights and attributes.
    project : callable
        From directions (d, p) to the coordinates (n, p) of the rows of the sample along them.
    penalty : float
        How much a share of the groups' variance that readers explain counts against a share of
        what fair PCA of `k` dimensions keeps.
    constraint : MeanConstraint, optional
        The directions that separate group means, where they are known already.
    wanted : array of shape (d, t), optional
        Covariances of the features with t columns that are to be reconstructed instead of the
        features.
    least : float, default=0.0
        Directions along which rows vary by less than this share of the largest standard deviation
        are not looked at.
    seed : int, default=0
        Of features and batches; the same on every device and with any number of threads, but for
        rounding.
    progress : callable, optional
        Takes a line now and then.

    Returns
    -------
    subspace : Subspace
        Orthonormal columns, most variance first.
    separability : Separability
        What readers see of the sample.

    See Also
    --------
    fairpca.FairPCA : The same for rows, with ``match="distributions"``.

    Notes
    -----
    With Z the whitened fair coordinates of the rows, :math:`Z^\top Z = n I`, every k-dimensional
    subspace is the span of orthonormal A, and Z A is white. With R the covariances of Z with what
    is reconstructed, the share that a linear decoder recovers is :math:`|R^\top A|^2`. With F the
    features of Z A, C their covariance, and d the covariance of F with a standardised indicator,

    .. math:: S = d^\top (C + \varepsilon \tfrac{\mathrm{tr} C}{m} I)^{-1} d

    is the share of the indicator's variance that a ridge regression explains: the regularised
    kernel Fisher ratio of [1]_, in units of a share. Shuffled groups give
    :math:`\mathrm{tr}(C + ..)^{-1} C / n` on average; where S is no larger, the penalty rests. All
    squares of all directions together are in a second, closed form: half the squared difference of
    the groups' second moments, which counts less where rows are few.

    References
    ----------
    .. [1] Harchaoui, Bach, Moulines. "Testing for homogeneity with kernel Fisher discriminant
       analysis". NIPS 2007.
    """
    constraint = mean_constraint(moments) if constraint is None else constraint
    k = int(equalize_means(moments, k, constraint=constraint).basis.shape[1])
    fair, seen = equalize_means(moments, None, constraint=constraint), Compared.of(sample)
    varied = to_numpy(fair.scatter)
    p = min(most_directions(seen.H.shape[1]), int(np.sum(varied > least**2 * varied.max())))
    choice, fair = k < fair.basis.shape[1], fair.first(max(k, p))
    deviations = array_namespace(fair.scatter).sqrt(fair.scatter / moments.weight)
    Z = project(fair.basis / deviations)
    xp = array_namespace(Z)
    Z = xp.astype(Z, xp.float32)
    R = None if wanted is None else like((fair.basis / deviations).T @ wanted, Z)
    aim = _Variance(like(deviations, Z), R)
    A, told = _search(aim, Z, seen, k, penalty if choice else 0.0, seed, progress)
    V = xp.linalg.qr(like(A, fair.basis) / deviations[:, None])[0]
    along, U = array_namespace(V).linalg.eigh(V.T @ (fair.scatter[:, None] * V))
    flip = array_namespace(V).flip
    basis = deterministic_signs(constraint.polished(fair.basis @ (V @ flip(U, axis=1))))
    found = Subspace(basis, flip(along), fair.constraint_rank)
    return found, told


def most_directions(n_groups: int) -> int:
    """Return among how many directions is searched."""
    return min(MOST_DIRECTIONS, int(np.sqrt(MOST_NUMBERS / max(1, n_groups))))


def predict_unseen(
    Z: Array,
    sample: Rows,
    C: Array,
    T: Array,
    k: int,
    *,
    penalty: float,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> tuple[Array, Separability]:
    """Find the k directions that predict the most of targets while hardly any reader sees groups.

    Parameters
    ----------
    Z : array of shape (n, s)
        Rows of a sample, in coordinates in which noise is alike in all directions.
    sample : Rows
        Their weights and attributes.
    C : array of shape (s, s)
        The covariance of all rows in these coordinates.
    T : array of shape (s, q)
        Their covariances with the targets.
    k : int
        How many directions.
    penalty : float
        How much a share of the groups' variance that readers explain counts against a share of
        what the best k directions explain of the targets.
    seed, progress
        As in `equalize_distributions`.

    Returns
    -------
    b : array of shape (s, k)
        Orthonormal columns.
    separability : Separability
        What readers see of the sample.
    """
    xp = array_namespace(Z)
    Z = xp.astype(Z, xp.float32)
    aim = _Targets(like(C, Z), like(T, Z))
    b, seen = _search(aim, Z, Compared.of(sample), k, penalty, seed, progress)
    return like(b, T), seen


@dataclass(frozen=True)
class Compared:
    """What readers look for in the rows of a sample.

    `H` (n, c) has a column for each group, or two for a number: of unit variance, zero in rows
    that do not count; `share` (c,) is what each counts, adding up to 1 for each attribute;
    `weight` (n,) adds up to 1.
    """

    H: Array
    share: np.ndarray
    weight: Array

    @classmethod
    def of(cls, sample: Rows) -> Compared:
        """Return what tells the groups of a sample apart."""
        weight = sample.weights / sample.total_weight
        columns: list[np.ndarray] = []
        shares: list[float] = []
        for attribute in sample.attributes:
            if attribute.missing.all():  # none of a stratum was drawn
                continue
            found = [c for c in _indicators(attribute) if np.ptp(c[~np.isnan(c)]) > 0]
            columns += [_standardised(column, weight) for column in found]
            shares += [1.0 / max(1, len(found))] * len(found)
        H = np.stack(columns, axis=1) if columns else np.zeros((len(weight), 0))
        return cls(H, np.array(shares), weight)

    def at(self, Z: Array) -> Compared:
        """Return the same where the rows are, in their precision."""
        return Compared(like(self.H, Z), self.share, like(self.weight, Z))

    def take(self, rows: Array) -> Compared:
        """Return the same for some of the rows; their weights add up to 1 again."""
        xp = array_namespace(self.H)
        weight = xp.take(self.weight, rows, axis=0)
        return Compared(xp.take(self.H, rows, axis=0), self.share, weight / xp.sum(weight))


def _indicators(attribute: Attribute) -> list[np.ndarray]:
    """Return columns that indicate groups, NaN where a row does not count.

    The second level of two says it all; of a number, so do it and whether it is above the median,
    for readers who cut it there.
    """
    missing = attribute.missing
    if isinstance(attribute, Levels):
        m = len(attribute.labels)
        levels = [1] if m == 2 else list(range(m))
        return [np.where(missing, np.nan, attribute.codes == g) for g in levels]
    values = attribute.values
    return [values, np.where(missing, np.nan, values > np.nanmedian(values))]


def _standardised(column: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return a column of mean 0 and variance 1 where it counts, over the share of these rows."""
    known = ~np.isnan(column)
    v = np.where(known, weight, 0.0)
    centred = np.where(known, column - np.nansum(v * column) / v.sum(), 0.0)
    return centred / np.sqrt(v @ centred**2 / v.sum()) / v.sum()


@dataclass(frozen=True)
class RandomReader:
    """Features of whitened rows (n, k): themselves, waves, soft cuts, products of two, squares.

    All are functions of `projections` (k, w + c + s) of a row: cosine and sine of w of them; the
    next c less `thresholds` are cut at zero, the last 2 `n_products` of these in pairs; squares of
    the others, which grow no further where rows are far out.
    """

    projections: Array
    thresholds: Array
    n_waves: int
    n_products: int

    @classmethod
    def draw(
        cls, rng: np.random.Generator, T: np.ndarray, axes: np.ndarray, share: float
    ) -> RandomReader:
        """Draw features; cuts are at values of the few rows `T`, along `axes` or turned from them.

        Trees cut along columns, and nobody knows how these will be turned: half of the readers
        turn them.
        """
        k = T.shape[1]
        waves, cuts, products, squares = (
            max(1, round(share * size)) for size in (WAVES, CUTS, PRODUCTS, SQUARES)
        )
        widths = np.repeat(np.array(WIDTHS), waves) * np.sqrt(k)
        frequencies = rng.standard_normal((k, len(widths))) / widths
        turned = np.linalg.qr(rng.standard_normal((k, k)))[0] if rng.random() < 0.5 else axes
        n_cuts = cuts + 2 * products
        columns = rng.integers(k, size=n_cuts)
        softness = np.exp(rng.uniform(np.log(SHARPEST), np.log(SOFTEST), size=n_cuts))
        along = turned[:, columns] / softness
        at = np.sum(T[rng.integers(len(T), size=n_cuts)] * along.T, axis=1)
        directions = rng.standard_normal((k, squares))
        directions /= np.sqrt(np.sum(directions**2, axis=0))
        projections = np.concatenate([frequencies, along, directions], axis=1)
        return cls(projections, at, len(widths), products)

    def at(self, T: Array) -> RandomReader:
        """Return the same where rows are, in their precision."""
        projections, thresholds = like(self.projections, T), like(self.thresholds, T)
        return RandomReader(projections, thresholds, self.n_waves, self.n_products)

    def __call__(self, T: Array) -> tuple[Array, tuple[Array, ...]]:
        """Return the features (n, m) of rows, and what their slopes are made of."""
        xp, w, q = array_namespace(T), self.n_waves, self.n_products
        P = T @ self.projections
        c = w + self.thresholds.shape[0]
        cosines, sines = xp.cos(P[:, :w]), xp.sin(P[:, :w])
        cuts = 0.5 + 0.5 * xp.tanh(0.5 * (P[:, w:c] - self.thresholds))
        single = cuts.shape[1] - 2 * q
        first, second = cuts[:, single : single + q], cuts[:, single + q :]
        u = P[:, c:]
        F = xp.concat(
            [T, cosines, sines, cuts[:, :single], first * second, u * u / (1.0 + 0.1 * u * u)],
            axis=1,
        )
        return F, (cosines, sines, cuts, u)

    def pull(self, seen: tuple[Array, ...], G: Array) -> Array:
        """Return slopes (n, k) along the rows from slopes (n, m) along their features."""
        cosines, sines, cuts, u = seen
        xp, w, q = array_namespace(G), self.n_waves, self.n_products
        k, single = self.projections.shape[0], cuts.shape[1] - 2 * q
        ends = np.cumsum([k, w, w, single, q]).tolist()
        direct, by_cos, by_sin, by_cut, by_both, by_square = (
            G[:, a:b] for a, b in zip([0, *ends], [*ends, G.shape[1]], strict=True)
        )
        first, second = cuts[:, single : single + q], cuts[:, single + q :]
        by_cuts = xp.concat([by_cut, by_both * second, by_both * first], axis=1)
        squash = 1.0 + 0.1 * u * u
        slopes = xp.concat(
            [
                by_sin * cosines - by_cos * sines,
                by_cuts * cuts * (1.0 - cuts),
                by_square * 2.0 * u / (squash * squash),
            ],
            axis=1,
        )
        return direct + slopes @ self.projections.T


@contextmanager
def _side_by_side(Z: Array) -> Iterator[Each]:
    """Give a map over blocks of rows, a thread each; all else has one thread of BLAS.

    So the digits do not depend on the number of threads.
    """
    threads = blas_threads() if is_numpy(Z) else 1
    if threads < 2:
        yield map
        return
    with limited_threads(1), pool_of(threads) as pool:
        yield pool.map


def separability(
    T: Array,
    compared: Compared,
    reader: RandomReader,
    *,
    null: bool = False,
    slope: bool = False,
    each: Each = map,
) -> tuple[float, float, Array | None]:
    """Return what a ridge reader explains of the groups of rows; of shuffled ones; the slope.

    The slope (n, k) is that of the first number along the rows.
    """
    xp, v, H = array_namespace(T), compared.weight, compared.H
    roots = xp.sqrt(v)
    size = BLOCK if is_numpy(T) else max(1, int(T.shape[0]))
    blocks = list(row_blocks(int(T.shape[0]), size))

    def look(block: slice) -> tuple[Any, ...]:
        F, parts = reader(T[block, :])
        B = roots[block][:, None] * F
        return F, parts, B.T @ B, roots[block] @ B, B.T @ (roots[block][:, None] * H[block, :])

    seen = list(each(look, blocks))
    mean, products, sums = (_total([s[i] for s in seen]) for i in (3, 2, 4))
    C = products - mean[:, None] * mean
    m, level = C.shape[0], like(compared.share, T)
    average = v @ H
    D = sums - mean[:, None] * average
    trace = xp.linalg.trace(C)
    eye = xp.eye(m, dtype=C.dtype, device=device(C))
    ridged = C + RIDGE * trace / m * eye
    shuffled = 0.0
    if null:
        inverse = xp.linalg.inv(ridged)
        a = inverse @ D
        free = m - RIDGE * trace / m * xp.linalg.trace(inverse)
        shuffled = float(free * xp.sum(level * ((v * v) @ (H * H))))
    else:
        a = xp.linalg.solve(ridged, D)
    value = float(xp.sum(level * xp.sum(D * a, axis=0)))
    if not slope:
        return value, shuffled, None
    of_ridge = RIDGE / m * xp.sum(level * xp.sum(a * a, axis=0))

    def pulled(item: tuple[slice, tuple[Any, ...]]) -> Array:
        block, (F, parts, *_) = item
        centred = F - mean
        left = (H[block, :] - average - centred @ a) * level
        G = 2.0 * v[block][:, None] * (left @ a.T - of_ridge * centred)
        return reader.pull(parts, G)

    slopes = list(each(pulled, zip(blocks, seen, strict=True)))
    return value, shuffled, slopes[0] if len(slopes) == 1 else xp.concat(slopes, axis=0)


def _total(parts: Sequence[Array]) -> Array:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


class _Aim(Protocol):
    """What orthonormal directions A (p, k) of rows Z (n, p) are to keep."""

    def start(self, k: int) -> Array:
        """Return what keeps the most."""
        ...

    def kept(self, A: Array) -> tuple[float, Array]:
        """Return what a linear decoder recovers from Z A, and half of its slope along A."""
        ...

    def white(self, A: Array) -> Array:
        """Return directions V with the span of A along which rows are white."""
        ...

    def along(self, A: Array, V: Array, G: Array) -> Array:
        """Return slopes along A from slopes along V, but for parts along A itself."""
        ...

    def axes(self, A: Array) -> np.ndarray:
        """Return how columns of Z V are turned to be those of the representation."""
        ...


@dataclass(frozen=True)
class _Variance:
    """Rows are white; their variance is kept, or that of columns with covariances `R`."""

    deviations: Array
    R: Array | None

    def start(self, k: int) -> Array:
        xp, deviations = array_namespace(self.deviations), self.deviations
        if self.R is None:
            p = deviations.shape[0]
            return xp.eye(p, k, dtype=deviations.dtype, device=device(deviations))
        return xp.linalg.svd(self.R, full_matrices=True)[0][:, :k]

    def kept(self, A: Array) -> tuple[float, Array]:
        R = self.R
        half = self.deviations[:, None] ** 2 * A if R is None else R @ (R.T @ A)
        return float(array_namespace(A).sum(A * half)), half

    def white(self, A: Array) -> Array:
        return A

    def along(self, A: Array, V: Array, G: Array) -> Array:
        return G

    def axes(self, A: Array) -> np.ndarray:
        B = to_numpy(A / self.deviations[:, None]).astype(float)
        return np.asarray(np.linalg.eigh(B.T @ B)[1])


@dataclass(frozen=True)
class _Targets:
    """Rows have the covariance `C` (p, p), and covariances `T` (p, q) with targets."""

    C: Array
    T: Array

    def start(self, k: int) -> Array:
        return array_namespace(self.T).linalg.svd(self.T, full_matrices=False)[0][:, :k]

    def kept(self, A: Array) -> tuple[float, Array]:
        half = self.T @ (self.T.T @ A)
        return float(array_namespace(A).sum(A * half)), half

    def white(self, A: Array) -> Array:
        return A @ like(self._whitening(A), A)

    def along(self, A: Array, V: Array, G: Array) -> Array:
        # A linear map of Z A is undone by whitening, and changes nothing.
        return (G - self.C @ (V @ (V.T @ G))) @ like(self._whitening(A).T, A)

    def axes(self, A: Array) -> np.ndarray:
        U = np.linalg.svd(to_numpy(A.T @ self.T).astype(float), full_matrices=True)[0]
        axes = np.linalg.solve(self._whitening(A), U)
        return np.asarray(axes / np.sqrt(np.sum(axes**2, axis=0)))

    def _whitening(self, A: Array) -> np.ndarray:
        inner = to_numpy(A.T @ (self.C @ A)).astype(float)
        inner += LEAST_VARIANCE * np.trace(inner) * np.eye(len(inner))
        return np.asarray(np.linalg.inv(np.linalg.cholesky(inner)).T)


def _search(
    aim: _Aim,
    Z: Array,
    seen: Compared,
    k: int,
    penalty: float,
    seed: int,
    progress: Callable[[str], None] | None,
) -> tuple[Array, Separability]:
    with full_precision(Z), _side_by_side(Z) as each:
        search = _Search(Z, seen.at(Z), aim, k, penalty, seed, each)
        start = aim.start(k)
        A = search.run(start, progress) if penalty > 0 else start
        value, null = search.looked(A)
        began, _ = (value, null) if A is start else search.looked(start)
    return A, Separability(value, null, began)


@dataclass(frozen=True)
class _Search:
    """Orthonormal A (p, k) of rows Z (n, p): what is kept, and what readers see."""

    Z: Array
    compared: Compared
    aim: _Aim
    k: int
    penalty: float
    seed: int
    each: Each

    @property
    def share(self) -> float:
        """How many of all features there are."""
        return min(1.0, max(FEWEST_READERS, float(self.Z.shape[0]) / ENOUGH_ROWS))

    @property
    def length(self) -> float:
        """How many times the usual number of steps are taken."""
        return max(self.share**0.5, min(LONGER, float(self.Z.shape[0]) / ENOUGH_FOR_LONGER))

    def reader(self, rng: np.random.Generator, T: Array, A: Array) -> RandomReader:
        """Draw a reader of some rows."""
        rows = np.sort(rng.permutation(int(T.shape[0]))[: 4 * CUTS])
        few = to_numpy(array_namespace(T).take(T, like(rows, T, _integers(T)), axis=0))
        return RandomReader.draw(rng, few.astype(float), self.aim.axes(A), self.share).at(T)

    def batches(self, rng: np.random.Generator, size: int) -> Any:
        """Yield rows of the sample, each once before any comes again."""
        xp, n = array_namespace(self.Z), int(self.Z.shape[0])
        while size >= n:
            yield self.Z, self.compared
        while True:
            order = rng.permutation(n)
            for first in range(0, n - size + 1, size):
                rows = like(order[first : first + size], self.Z, _integers(self.Z))
                yield xp.take(self.Z, rows, axis=0), self.compared.take(rows)

    def looked(self, A: Array) -> tuple[float, float]:
        """Return what several readers see on average, and what they see of shuffled groups."""
        rng = np.random.default_rng([self.seed, 1])
        seen = []
        for _, (Z, compared) in zip(range(LOOKS), self.batches(rng, 2 * BATCH), strict=False):
            T = Z @ self.aim.white(A)
            seen.append(
                separability(T, compared, self.reader(rng, T, A), null=True, each=self.each)[:2]
            )
        value, null = np.mean(seen, axis=0) / max(1.0, float(self.compared.share.sum()))
        return float(value), float(null)

    def run(self, A: Array, progress: Callable[[str], None] | None) -> Array:
        """Return directions that keep the most of what readers do not see.

        Steps along the slope, turned by momentum and of decreasing length (Kingma & Ba 2015, with
        one scale for all directions).
        """
        xp = array_namespace(A)
        rng = np.random.default_rng([self.seed, 0])
        squares = _Squares.of(self.Z, self.compared)
        usual, _ = self.aim.kept(A)
        way, size, trend, null = xp.zeros_like(A), 0.0, 0.0, 0.0
        batches = self.batches(rng, BATCH)
        steps = round(STEPS * self.length)
        for step in range(steps):
            Z, compared = next(batches)
            V = self.aim.white(A)
            T = Z @ V
            reader, every_tenth = self.reader(rng, T, A), step % 10 == 0
            value, shuffled, slope = separability(
                T, compared, reader, null=every_tenth, slope=True, each=self.each
            )
            null = shuffled if every_tenth else null
            trend = value - null if step == 0 else TREND * trend + (1 - TREND) * (value - null)
            kept, half = self.aim.kept(A)
            told = self.share * squares.slope(V)
            if trend > 0:
                told = told + Z.T @ slope
            G = self.penalty * self.aim.along(A, V, told) - 2.0 * half / usual
            G = G - A @ (A.T @ G)
            way = MOMENTUM * way + (1 - MOMENTUM) * G
            square = float(xp.sum(G * G)) / self.k
            size = square if step == 0 else SCALE_MOMENTUM * size + (1 - SCALE_MOMENTUM) * square
            angle = 0.5 * ANGLE * (1.0 + math.cos(math.pi * step / steps))
            length = angle / (1 - MOMENTUM ** (step + 1)) / max(size**0.5, 1e-30)
            A = xp.linalg.qr(A - length * (way - A @ (A.T @ way)))[0]
            if progress is not None and (step + 1) % 100 == 0:
                progress(
                    f"distributions: step {step + 1} of {steps}; readers explain {value:.3f} of "
                    f"the groups in {Z.shape[0]:,} rows (of shuffled groups {null:.3f}); "
                    f"{100 * kept / usual:.0f} % of what the start keeps is kept"
                )
        return A


@dataclass(frozen=True)
class _Squares:
    """All quadratic readers at once: half the squared differences of groups' second moments.

    For normal rows this is what the best of them explains. `gaps` are matrices (p, p), one for
    each group.
    """

    gaps: tuple[Array, ...]
    share: np.ndarray

    @classmethod
    def of(cls, Z: Array, compared: Compared) -> _Squares:
        """Collect the differences over the rows of a sample."""
        v, H = compared.weight, compared.H
        gaps = tuple(Z.T @ ((v * H[:, g])[:, None] * Z) for g in range(H.shape[1]))
        return cls(gaps, compared.share)

    def slope(self, A: Array) -> Array:
        """Return the slope along A."""
        total = 0.0 * A
        for gap, share in zip(self.gaps, self.share, strict=True):
            along = gap @ A
            total = total + 2.0 * float(share) * (along @ (A.T @ along))
        return total


def _integers(X: Array) -> Any:
    return array_namespace(X).int64
