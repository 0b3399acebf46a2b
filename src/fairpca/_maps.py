"""What is left after fitting: frozen, callable maps from rows to representations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ._files import is_array, record
from ._numerics import (
    Array,
    array_namespace,
    device,
    each_item,
    full_precision,
    is_numpy,
    is_sparse,
    less_product,
    less_shift,
    like,
    on_the_host,
    placed,
    quiet_overflow,
    to_numpy,
)
from ._rows import StreamedRows, row_blocks, rows_per_block

FEATURES_AT_A_TIME = 2**20
"""How many features each thread computes at once: 8 MB, whatever the number of rows."""

FEW_ROWS = 256
"""So many rows are centred in the cache, which costs next to nothing."""

GLANCE = 32
"""From so many rows is seen how far from zero they lie."""

ONE_THREAD = 2**18
"""Of products of so many numbers, BLAS makes no work for several threads."""

NEAR = 16.0
"""Rounding errors of products about zero may be so many times those about the mean, not more."""

ROUNDING = 1e-12
"""What rounding leaves of the inner products of orthonormal columns, in double precision."""


class AffineMap:
    """Base of maps of rows that are a matrix of shape (d, k) and constants."""

    matrix: Array
    mean: Array
    scale: Array | None = None
    offset: Array | None = None

    def __call__(self, X: Array) -> Array:
        """Map rows where they are, in their precision."""
        raise NotImplementedError

    def converted(self, convert: Callable[[Array], Array]) -> Self:
        """Return the same map with every array converted, such as to another device."""
        raise NotImplementedError

    def unchecked(self, X: Array) -> Array | None:
        """Map rows of a device whose numbers nobody has looked at; None if they need a look first.

        Their products, which are fewer, show what is not finite, and whether digits were lost to
        the mean: one number each crosses to the host.
        """
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        """Return what is learned, without the copies that `unchecked` keeps on devices."""
        return {name: value for name, value in vars(self).items() if name != "_copy"}

    def _on_the_device_of(self, X: Array) -> _Factors:
        """Return what rows are multiplied with where they are: the last copy that was made."""
        copy: _Factors | None = vars(self).get("_copy")
        if copy is None or not copy.fits(X):
            copy = self._factors(X)
            vars(self)["_copy"] = copy  # maps are frozen: what is learned stays as it is
        return copy

    def _factors(self, X: Array) -> _Factors:
        raise NotImplementedError

    @property
    def n_inputs(self) -> int:
        """How many columns rows have."""
        return int(self.matrix.shape[0])

    @property
    def n_outputs(self) -> int:
        """How many columns the result has."""
        return int(self.matrix.shape[1])

    @property
    def scaled_matrix(self) -> Array:
        """What centred rows are multiplied with."""
        return self.matrix if self.scale is None else self.matrix / self.scale[:, None]

    def column_weights(self, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what weights of the outputs, of shape (..., k), are for rows, and the constant."""
        there = self.converted(to_numpy)
        weights = coef @ there.scaled_matrix.T
        shift = 0.0 if there.offset is None else coef @ there.offset
        return weights, shift - weights @ there.mean


class _Factors:
    """A matrix of shape (d, k) and a mean on a device, with which centred rows are multiplied."""

    def __init__(self, X: Array, matrix: Array, mean: Array, *more: Array) -> None:
        xp = self._xp = array_namespace(X)
        self._library, self._device, self._dtype = type(X), device(X), X.dtype
        self.matrix, self.mean, *self.more = (like(a, X) for a in (matrix, mean, *more))
        self._shift = self.mean @ self.matrix
        sizes = xp.abs(self.mean) @ xp.abs(self.matrix) / NEAR
        self._least = to_numpy(sizes).astype(float)
        # Factors that are exactly zero are skipped by some implementations of BLAS.
        skipped = np.flatnonzero(~to_numpy(xp.any(self.matrix != 0, axis=1)))
        self._skipped = xp.asarray(skipped, device=self._device) if len(skipped) else None
        self._far = False

    def fits(self, X: Array) -> bool:
        """Tell whether rows are of the same library, device and type."""
        same = type(X) is self._library and X.dtype == self._dtype
        return same and device(X) == self._device

    def products(self, X: Array) -> Array | None:
        """Return the products of centred rows, if all numbers are finite and no digits are lost."""
        few, xp = X.shape[0] <= FEW_ROWS, self._xp
        if self._far and not few:
            return None
        with full_precision(X), quiet_overflow():
            T = (X - self.mean) @ self.matrix if few else less_shift(X, self.matrix, self._shift)
        squares = xp.linalg.vector_norm(T, axis=0)
        if self._skipped is not None:
            rest = xp.sum(xp.take(X, self._skipped, axis=1))
            squares = xp.concat([squares, xp.reshape(rest, (1,))])
        squares = to_numpy(squares)
        if not np.isfinite(squares).all():
            return None
        self._far = not few and bool(
            (squares[: T.shape[1]] < self._least * X.shape[0] ** 0.5).any()
        )
        return None if self._far else T


@record()
@dataclass(frozen=True)
class LinearMap(AffineMap):
    """Rows to ``((x - mean) / scale) @ matrix + offset``, with a matrix of shape (d, k)."""

    matrix: Array
    mean: Array
    scale: Array | None = None
    offset: Array | None = None

    def _fits_together(self) -> bool:
        if not is_array(self.matrix, None, None):
            return False
        d, k = self.matrix.shape
        scaled = self.scale is None or (is_array(self.scale, d) and bool((self.scale != 0).all()))
        placed = self.offset is None or is_array(self.offset, k)
        return is_array(self.mean, d) and scaled and placed

    def __call__(self, X: Array) -> Array:
        """Map rows where they are, in their precision, never with a whole centred copy."""
        if is_sparse(X):
            there = self.converted(on_the_host)
            matrix = there.scaled_matrix
            shift = there.mean @ matrix - (0.0 if there.offset is None else there.offset)
            return np.asarray(X @ matrix - shift).astype(X.dtype, copy=False)
        n, matrix, mean = X.shape[0], like(self.scaled_matrix, X), like(self.mean, X)
        with full_precision(X):
            if n <= FEW_ROWS:
                T = (X - mean) @ matrix
            elif _near_zero(X[:: n // GLANCE, :], matrix, mean):
                T = X @ matrix
                T -= mean @ matrix
            else:
                T = _about(mean, X, matrix)
        return T if self.offset is None else T + like(self.offset, X)

    def unchecked(self, X: Array) -> Array | None:
        """Map rows of a device whose numbers nobody has looked at; None if they need a look."""
        return None if self.offset is not None else self._on_the_device_of(X).products(X)

    def _factors(self, X: Array) -> _Factors:
        return _Factors(X, self.scaled_matrix, self.mean)

    def streamed(self, rows: StreamedRows) -> np.ndarray:
        """Map rows in host memory on the device that their blocks are sent to."""
        T = np.empty((rows.n_rows, self.matrix.shape[1]), dtype=rows.X.dtype)
        there = self.converted(lambda a: placed(a, rows.example))
        blocks = list(row_blocks(rows.n_rows, rows.rows_at_once))
        for block, B in zip(blocks, rows.blocks(blocks), strict=True):
            T[block] = to_numpy(there(B))
        return T

    def converted(self, convert: Callable[[Array], Array]) -> LinearMap:
        """Return the same map with every array converted, such as to another device."""
        scale = None if self.scale is None else convert(self.scale)
        offset = None if self.offset is None else convert(self.offset)
        return LinearMap(convert(self.matrix), convert(self.mean), scale, offset)

    def inverse(self, T: Array) -> Array:
        """Return the rows nearest to the mean, in units of `scale`, that are mapped to `T`."""
        xp = array_namespace(self.matrix)
        back = self.matrix.T if _orthonormal(self.matrix) else xp.linalg.pinv(self.matrix)
        if self.scale is not None:
            back = back * self.scale
        if self.offset is not None:
            T = T - like(self.offset, T)
        with full_precision(T):
            return T @ like(back, T) + like(self.mean, T)


@record()
@dataclass(frozen=True)
class Removal(AffineMap):
    """Rows to ``x - ((x - mean) @ along) @ away.T``, of shapes (d, r); columns `gone` to `mean`.

    It is stored and applied as what it is, a change of rank r: never as a matrix of shape (d, d).
    """

    along: Array
    away: Array
    mean: Array
    gone: Array | None = None

    def _fits_together(self) -> bool:
        if not is_array(self.along, None, None):
            return False
        d, r = self.along.shape
        gone = np.zeros(d, dtype=bool) if self.gone is None else self.gone
        told = isinstance(gone, np.ndarray) and gone.dtype == bool and gone.shape == (d,)
        return told and is_array(self.away, d, r) and is_array(self.mean, d)

    @property
    def n_inputs(self) -> int:
        """How many columns rows have, before and after."""
        return int(self.mean.shape[0])

    n_outputs = n_inputs

    @property
    def offset(self) -> Array:  # type: ignore[override]
        """What is added to the products of centred rows."""
        return self.mean

    @property
    def matrix(self) -> Array:
        """The oblique projection, of shape (d, d), made when it is asked for."""
        xp = array_namespace(self.along)
        kept = xp.eye(self.n_inputs, dtype=self.along.dtype, device=device(self.along))
        kept = kept - self.along @ self.away.T
        return kept if self.gone is None else xp.where(self.gone[None, :], kept * 0.0, kept)

    def __call__(self, X: Array) -> Array:
        """Change rows where they are, in their precision, with one product of r columns."""
        if is_sparse(X):
            there = self.converted(on_the_host)
            along, away = there.along, there.away
            T = X.toarray() - (X @ along - there.mean @ along) @ away.T
            T = T if there.gone is None else np.where(there.gone, there.mean, T)
            return T.astype(X.dtype, copy=False)
        found = LinearMap(self.along, self.mean)(X)
        with full_precision(X):
            T = _less(X, found, like(self.away, X))
        if self.gone is None:
            return T
        return array_namespace(X).where(placed(self.gone, X)[None, :], like(self.mean, X), T)

    def unchecked(self, X: Array) -> Array | None:
        """Change rows of a device whose numbers nobody has looked at; None if they need a look."""
        factors = self._on_the_device_of(X)
        found = factors.products(X)
        if found is None:
            return None
        away, *gone = factors.more
        with full_precision(X):
            T = less_product(X, found, away)
        return array_namespace(X).where(gone[0], factors.mean, T) if gone else T

    def _factors(self, X: Array) -> _Factors:
        factors = _Factors(X, self.along, self.mean, self.away.T)
        if self.gone is not None:
            factors.more.append(placed(self.gone, X)[None, :])
        return factors

    def converted(self, convert: Callable[[Array], Array]) -> Removal:
        """Return the same map with every array converted, such as to another device."""
        parts = (self.along, self.away, self.mean, self.gone)
        return Removal(*(None if part is None else convert(part) for part in parts))


def _less(X: Array, found: Array, away: Array) -> Array:
    """Return rows less what was found of them along r directions."""
    if not is_numpy(X):
        return less_product(X, found, away.T)
    T = np.empty(X.shape, dtype=X.dtype)

    def subtract(rows: slice) -> None:
        np.matmul(found[rows], away.T, out=T[rows])
        np.subtract(X[rows], T[rows], out=T[rows])

    each_item(subtract, row_blocks(X.shape[0], rows_per_block(X)))
    return T


def _near_zero(X: Array, matrix: Array, mean: Array) -> bool:
    """Tell whether products of such rows lose no digits to the mean that is subtracted later."""
    xp = array_namespace(X)
    # Small products, of some features at a time: threads of BLAS wait for each other on busy cores.
    parts = row_blocks(X.shape[1], max(16, ONE_THREAD // (X.shape[0] * matrix.shape[1])))
    T = sum((X[:, part] - mean[part]) @ matrix[part, :] for part in parts)
    spread = xp.sqrt(xp.mean(T**2, axis=0))
    return bool(xp.all(xp.abs(mean) @ xp.abs(matrix) <= NEAR * spread))


def _about(mean: Array, X: Array, matrix: Array) -> Array:
    """Return the products of rows about a mean, in blocks; each thread has its own."""
    blocks = row_blocks(X.shape[0], rows_per_block(X))
    parts = (each_item if is_numpy(X) else map)(lambda rows: (X[rows, :] - mean) @ matrix, blocks)
    return array_namespace(X).concat(list(parts), axis=0)


def _orthonormal(matrix: Array) -> bool:
    """Tell whether columns are orthonormal up to rounding."""
    xp, k = array_namespace(matrix), matrix.shape[1]
    if k > matrix.shape[0]:
        return False
    defect = matrix.T @ matrix - xp.eye(k, dtype=matrix.dtype, device=device(matrix))
    return bool(xp.all(xp.abs(defect) < ROUNDING))


def side_by_side(maps: Sequence[LinearMap], factors: Sequence[float]) -> LinearMap:
    """Return the paper's trade-off, Section 3.1: outputs of maps of one mean, times factors."""
    xp = array_namespace(maps[0].matrix)
    matrices = [f * m.matrix for m, f in zip(maps, factors, strict=True)]
    return LinearMap(xp.concat(matrices, axis=1), maps[0].mean, maps[0].scale)


@record()
def in_double_precision(X: np.ndarray) -> np.ndarray:
    """Return rows that are features already, such as given kernel values, as doubles."""
    return X.astype(float, copy=False)


@record()
@dataclass(frozen=True)
class FeatureMap:
    """Rows to features, such as kernel values, then to a linear map of them; all threads work."""

    features: Callable[[Any], np.ndarray]
    linear: LinearMap

    def _fits_together(self) -> bool:
        if not isinstance(self.linear, LinearMap):
            return False
        if self.features is in_double_precision:
            return True
        features: Any = self.features
        return callable(features) and bool(features.n_features == self.linear.matrix.shape[0])

    @property
    def matrix(self) -> Array:
        """What the centred features are multiplied with."""
        return self.linear.matrix

    @property
    def n_outputs(self) -> int:
        """How many columns the result has."""
        return self.linear.n_outputs

    def __call__(self, X: Any) -> np.ndarray:
        """Map rows; a large X never builds the features of all its rows."""
        p, k = self.linear.matrix.shape
        T = np.empty((X.shape[0], k), dtype=X.dtype)

        def fill(block: slice) -> None:
            T[block] = self.linear(self.features(X[block]))

        each_item(fill, row_blocks(X.shape[0], max(16, FEATURES_AT_A_TIME // p)))
        return T
