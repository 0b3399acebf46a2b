"""Rows become moments in one pass over blocks that stay in cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from .._attributes import Levels
from .._numerics import (
    ACCUMULATORS,
    WIDEST,
    Array,
    array_namespace,
    blas_shares,
    device,
    each_item,
    float64,
    full_precision,
    is_numpy,
    is_single,
    is_sparse,
    like,
    machine_epsilon,
    quiet_overflow,
    take_rows,
)
from .._rows import BLOCK_ROWS, Rows, StreamedRows, block_rows, row_blocks, rows_per_block
from .design import Design
from .group_moments import Everyone, GroupMoments
from .products import CrossProduct
from .scatter import DenseScatter, RowScatter, Scatter, sparse_mean_and_sums

PILOT_ROWS = 256

CENTRE_ROWS = 32

RUN = 2**19
"""Numbers in the rows of a run: they stay in the cache while they are multiplied twice."""

MOST_RUNS = 64
"""Threads wait for Python at the beginning of every run."""

LITTLE = 2**31
"""Products, n d^2, that one thread takes some fifty milliseconds for: of less, threads of ours lose
more to those of BLAS than they gain, which spin for a while after each call."""

LARGEST_BLOCK = 2**26
"""Most numbers of rows that are multiplied at once without a copy."""


def accumulate(
    rows: Rows, *, with_scatters: bool = False, provisional: bool = False
) -> GroupMoments:
    """Return the moments of rows held in memory, with a scatter per level if asked for.

    Products of float32 rows in single precision take half the time, and are all that most fits
    need. Those of a `provisional` result are in it: whoever solves says whether they reach. Others
    are only if no direction of the rows is small enough to be lost.

    X^T X - n mu mu^T loses all digits when rows lie far from the origin. A pilot sample tells
    whether they do; if so, every block is shifted by the pilot mean before its products are
    taken, else the shift (a copy of the block) is saved and the small correction is made at the
    end. Should the sample have misjudged the data, the pass is repeated about the true mean. On a
    GPU a copy of a block costs next to nothing, so blocks are always shifted there.

    Wide rows, and sparse ones that take less memory than a d x d matrix, are kept as they are.
    Where attributes are regressed on numbers, digits cancel, and sums are in double.
    """
    if any(a.numbers is not None for a in rows.attributes):
        rows = rows.in_double()
    if not rows.single:
        return _summed(rows, with_scatters)
    wide = rows.n_rows < rows.empty.shape[1]
    moments = None if wide and not provisional else _summed(rows, with_scatters)
    if moments is not None and provisional:
        return replace(moments, provisional=True)
    if moments is None or not _all_directions_are_known(moments):
        moments = _summed(rows.in_double(), with_scatters)
    return moments


def _summed(rows: Rows, with_scatters: bool) -> GroupMoments:
    (_, d), n, everyone = rows.empty.shape, rows.n_rows, rows.everyone
    resolution = machine_epsilon(rows.X) if rows.double else 0.0
    with quiet_overflow(), full_precision(rows.empty):
        if is_sparse(rows.empty) or n < d:
            rows = rows.materialized()
            moments = _keep_rows(rows, with_scatters, dense=rows.entries >= d * d)
        else:
            moments = _take_products(rows, with_scatters)
        mean = None if everyone is None else _mean_of(everyone)
    return replace(moments, everyone=mean, resolution=resolution)


def _all_directions_are_known(moments: GroupMoments) -> bool:
    """Tell whether rows vary, along any direction, by more than `noise_along` calls rounding.

    In units of spread that is at most 2 `rounding` times the square of the sum of a unit vector's
    entries, so 2 d `rounding`.
    """
    d, spread = moments.n_features, moments.spread
    xp = array_namespace(spread)
    matrix = moments.scatter.dense().matrix
    if not bool(xp.all(xp.isfinite(matrix))):
        return False
    varies = xp.astype(moments.varies, matrix.dtype)
    ones = xp.eye(d, dtype=matrix.dtype, device=device(matrix))
    least = 1.0 - varies - 2.0 * d * moments.rounding
    try:
        root = xp.linalg.cholesky(matrix / spread / spread[:, None] + ones * least)
    except (np.linalg.LinAlgError, RuntimeError):  # the second is torch's
        return False
    return bool(xp.all(xp.isfinite(root)))  # CuPy does not raise


def _mean_of(rows: Rows) -> Everyone:
    """Return where rows are, and how far they spread, in one pass."""
    if is_sparse(rows.empty):
        held = _keep_rows(rows.materialized(), False, dense=False)
        weight, mean = held.weight, held.mean
        variance = held.scatter.diagonal / (weight or 1.0)
    else:
        weight, shift = rows.total_weight, _pilot(rows)[0]
        sums, products = one_pass(rows, Design.of(rows), shift, _Squares)
        assert products is not None
        offset = sums[0, :] / (weight or 1.0)
        mean = shift + offset
        variance = products.total(sums)[0, :] / (weight or 1.0) - offset * offset
    xp = array_namespace(mean)
    return Everyone(weight, mean, xp.sqrt(xp.where(variance > 0, variance, 0.0 * variance)))


def _take_products(rows: Rows, with_scatters: bool) -> GroupMoments:
    """Tall data: means and d x d products in one pass."""
    weight, precision = rows.total_weight, machine_epsilon(rows.empty)
    xp = array_namespace(rows.empty)
    design = Design.of(rows)
    pilot_mean, pilot_variance = _pilot(rows)
    far = not is_numpy(rows.empty) or _harmful(pilot_mean, pilot_variance, precision)
    shift = pilot_mean if far else None
    kind = _LevelProducts if with_scatters else TotalProducts
    for attempt in range(2):
        sums, products = one_pass(rows, design, shift, kind)
        assert products is not None
        level_scatter = products.scatters_by_level(sums) if with_scatters else None
        offset = sums[0, :] / weight
        scatter = _less(products.total(sums), sums[0, :], offset)
        variance = xp.linalg.diagonal(scatter) / weight
        if attempt == 1 or not _harmful(offset, variance, precision):
            break
        shift = offset if shift is None else shift + offset

    return GroupMoments(
        n_rows=rows.n_rows,
        weight=weight,
        mean=offset if shift is None else shift + offset,
        scatter=DenseScatter(scatter),
        precision=precision,
        **design.read(sums - like(design.totals, sums)[:, None] * offset, level_scatter),
    )


def _less(total: Array, a: Array, b: Array) -> Array:
    """Return a matrix of products, which nobody else needs, less ``a b^T``."""
    if not is_numpy(total):
        return total - a[:, None] * b
    for rows in row_blocks(total.shape[0], 256):  # in the cache
        total[rows] -= a[rows, None] * b
    return total


def _keep_rows(rows: Rows, with_scatters: bool, *, dense: bool) -> GroupMoments:
    """Wide or sparse data: means now, the scatter as the rows themselves unless `dense`."""
    X, weight, precision = rows.X, rows.total_weight, machine_epsilon(rows.empty)
    design = Design.of(rows)
    if is_sparse(X):
        precision = float(np.finfo(np.float64).eps)  # sums of few entries, in float64
        shift, sums = sparse_mean_and_sums(rows, design.block(slice(0, X.shape[0])))
    else:
        shift = _pilot(rows)[0]
        sums, _ = one_pass(rows, design, shift, None)
    offset = sums[0, :] / weight if weight > 0 else sums[0, :]
    mean = shift + offset
    sums = sums - like(design.totals, sums)[:, None] * offset

    def level_scatter(i: int, g: int) -> Scatter:
        chosen = np.flatnonzero(rows.attributes[i].codes == g)  # type: ignore[union-attr]
        weight = None if rows.weight is None else rows.weight[chosen]
        group = Rows(take_rows(X, chosen), weight, double=rows.double)
        centre = mean + sums[design.columns[i].start + g, :] / float(design.level_weights(i)[g])
        return _form(RowScatter((group,), centre), dense)

    held = (Rows(X, rows.weight, double=rows.double),) if rows.n_rows else ()
    return GroupMoments(
        n_rows=X.shape[0],
        weight=weight,
        mean=mean,
        scatter=_form(RowScatter(held, mean), dense),
        precision=precision,
        **design.read(sums, level_scatter if with_scatters else None),
    )


def _form(scatter: RowScatter, dense: bool) -> Scatter:
    return scatter.dense() if dense else scatter


def one_pass(
    rows: Rows,
    design: Design,
    shift: Array | None,
    kind: Callable[[Array, Design, Array | None], TotalProducts] | None,
) -> tuple[Array, TotalProducts | None]:
    """Return ``H.T @ (X - shift)``, and the products of the shifted rows that `kind` collects."""
    X = rows.empty
    xp = array_namespace(X)
    centre = None if shift is None else like(shift, X)

    def work(blocks: Sequence[slice]) -> tuple[Array, TotalProducts | None]:
        sums = xp.zeros((design.width, X.shape[1]), dtype=xp.float64, device=device(X))
        products = None if kind is None else kind(X, design, shift)
        with quiet_overflow():
            for block, B in zip(blocks, rows.blocks(blocks), strict=True):
                if centre is not None:
                    B = B - centre
                roots = design.roots(block)
                if roots is not None:
                    B = B * like(roots, X)
                sums += design.sums(block, B)
                if products is not None:
                    products.add(B, block)
        return sums, products

    runs = _runs(rows, kind, shifted=shift is not None)
    first, *others = each_item(work, runs) if len(runs) > 1 else [work(runs[0])]
    sums, products = first
    for more_sums, more_products in others:
        sums += more_sums
        if products is not None:
            products.merge(more_products)
    return sums, products


def _runs(rows: Rows, kind: Any, *, shifted: bool) -> list[list[slice]]:
    """Cut rows into runs of blocks: a run is what a thread takes at a time.

    Runs are short, so that a thread whose core is busy with something else takes fewer of them,
    and do not depend on the number of threads. Rows that are multiplied as they are make one block.
    """
    X, n = rows.empty, rows.n_rows
    d = int(X.shape[1])
    if isinstance(rows, StreamedRows):
        return [list(row_blocks(n, rows.rows_at_once))]
    # Adding a product to a d x d matrix costs as much as some d rows of a copy.
    least = min(BLOCK_ROWS, 4 * d) if kind is not None else 0
    if not is_numpy(X):
        return [list(row_blocks(n, max(rows_per_block(X), least)))]
    few = kind in (None, TotalProducts)
    as_they_are = few and not shifted and type(rows) is Rows and rows.weight is None
    as_they_are = as_they_are and not rows.double
    at_once = d > WIDEST or (as_they_are and (n * d * d < LITTLE or blas_shares(d)))
    if as_they_are and rows.chosen is None:
        size = max(1, LARGEST_BLOCK // d)
    else:
        size = block_rows(d) if d <= WIDEST else max(block_rows(d), least)
    room = ACCUMULATORS // d**2 // (1 if few else 8)
    count = 1 if at_once else min(n * d // (RUN if few else 8 * RUN), room, MOST_RUNS)
    count = 2 ** max(count.bit_length() - 1, 0)  # as many for each thread
    edges = [n * i // count for i in range(count + 1)]
    return [
        [slice(a + block.start, a + block.stop) for block in row_blocks(b - a, size)]
        for a, b in pairwise(edges)
    ]


def _pilot(rows: Rows) -> tuple[Array, Array]:
    """Return the mean and variance of a sample of rows spread over the data."""
    xp = array_namespace(rows.empty)
    if rows.n_rows == 0:
        nothing = xp.zeros(rows.empty.shape[1], dtype=xp.float64, device=device(rows.empty))
        return nothing, nothing
    sample = float64(rows.block(slice(0, rows.n_rows, max(1, rows.n_rows // PILOT_ROWS))))
    return xp.mean(sample, axis=0), xp.var(sample, axis=0)


def _harmful(shift: Array, variance: Array, precision: float) -> bool:
    """Tell whether subtracting the mean afterwards would cost more than about two digits."""
    limit = 1.0 if is_single(precision) else 100.0
    return bool(array_namespace(shift).any(shift * shift > limit * variance))


class TotalProducts:
    """Products of all rows; `sums` is ``H.T @ (X - shift)`` throughout."""

    def __init__(self, X: Array, design: Design, shift: Array | None) -> None:
        self._total = CrossProduct((X.shape[1], X.shape[1]), X)

    def add(self, B: Array, block: slice) -> None:
        """Add the products of a block of shifted, weighted rows."""
        self._total.add(B, B)

    def merge(self, other: Any) -> None:
        """Add the products of other rows."""
        self._total.merge(other._total)

    def total(self, sums: Array) -> Array:
        """Return the sum of ``(x - shift)(x - shift)^T`` over all rows."""
        return self._total.total

    def scatters_by_level(self, sums: Array) -> Callable[[int, int], DenseScatter] | None:
        """Return a function of i and g: the scatter of level g of attribute i about its mean."""
        return None


class _Squares(TotalProducts):
    """Squares of all rows, feature by feature."""

    def __init__(self, X: Array, design: Design, shift: Array | None) -> None:
        self._total = CrossProduct((1, X.shape[1]), X)

    def add(self, B: Array, block: slice) -> None:
        self._total.add(array_namespace(B).ones_like(B[:, :1]), B * B)


class _LevelProducts(TotalProducts):
    """Products of the rows of each level of each categorical attribute, and so of all rows.

    The levels of an attribute that no row lacks add up to the total, so matching covariances of
    one attribute costs no more products than plain fair PCA. The rows of a level are shifted by
    the mean of a few of them: levels may lie far apart and still be narrow.
    """

    def __init__(self, X: Array, design: Design, shift: Array | None) -> None:
        self.design, self.shift, d = design, shift, X.shape[1]
        attributes = enumerate(design.rows.attributes)
        self._levels = {i: a for i, a in attributes if isinstance(a, Levels)}
        self._parts = {
            (i, g): CrossProduct((d, d), X)
            for i, a in self._levels.items()
            for g in range(len(a.labels))
        }
        self._centres = {key: self._centre(*key) for key in self._parts}
        complete = (i for i, a in self._levels.items() if not a.missing.any())
        self._complete = next(complete, None)
        self._rest = TotalProducts(X, design, shift) if self._complete is None else None

    def _centre(self, i: int, g: int) -> Array:
        """Return the mean of a few rows of a level, measured from the shift of all rows."""
        few = np.flatnonzero(self._levels[i].codes == g)[:CENTRE_ROWS]
        some = float64(self.design.rows.take(few))
        xp = array_namespace(some)
        if len(few) == 0:
            return xp.sum(some, axis=0)
        mean = xp.mean(some, axis=0)
        return mean if self.shift is None else mean - self.shift

    def add(self, B: Array, block: slice) -> None:
        if self._rest is not None:
            self._rest.add(B, block)
        roots = self.design.roots(block)
        for (i, g), part in self._parts.items():
            chosen = self.design.rows_of_level(i, g, block)
            if chosen.shape[0]:
                centre = like(self._centres[i, g], B)
                if roots is not None:
                    centre = like(take_rows(roots, chosen), B) * centre
                rows = take_rows(B, chosen) - centre
                part.add(rows, rows)

    def merge(self, other: Any) -> None:
        for key, part in self._parts.items():
            part.merge(other._parts[key])
        if self._rest is not None:
            self._rest.merge(other._rest)

    def total(self, sums: Array) -> Array:
        if self._complete is None:
            assert self._rest is not None
            return self._rest.total(sums)
        total = None
        level_scatter = self.scatters_by_level(sums)
        for g in range(len(self._levels[self._complete].labels)):
            weight = float(self.design.level_weights(self._complete)[g])
            if weight > 0:
                s = sums[self.design.columns[self._complete].start + g, :]
                part = level_scatter(self._complete, g).matrix + s[:, None] * s / weight
                total = part if total is None else total + part
        return total

    def scatters_by_level(self, sums: Array) -> Callable[[int, int], DenseScatter]:
        def level_scatter(i: int, g: int) -> DenseScatter:
            weight = float(self.design.level_weights(i)[g])
            s = sums[self.design.columns[i].start + g, :] - weight * self._centres[i, g]
            return DenseScatter(self._parts[i, g].total - s[:, None] * s / weight)

        return level_scatter
