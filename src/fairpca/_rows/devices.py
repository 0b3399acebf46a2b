"""Rows on devices: those that live there, and blocks of host rows that are sent there in turn.

The only place in the package that asks torch for a device.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from .._numerics import (
    Array,
    array_namespace,
    device,
    float64,
    has_history,
    in_host_memory,
    is_foreign,
    is_numpy,
    like,
    placed,
    pool_of,
    quiet_overflow,
    without_history,
)
from ..errors import UsageError, needing
from .in_memory import MappedRows, Rows, row_blocks, rows_per_block

NUMBERS_PER_COPY = 2**24
"""64 MB of float32: page-locked memory is slow to get, and two such buffers are enough."""

COPYING_THREADS = 8
"""One thread copies at a fifth of the speed of the bus."""


class DeviceRows(Rows):
    """Rows of an array of another library; which of them count crosses to its device once."""

    @cached_property
    def _positions(self) -> Array:
        return array_namespace(self.X).asarray(self.chosen, device=device(self.X))

    def block(self, rows: slice) -> Array:
        """Return the features of some of the rows that count; a view where possible."""
        if self.chosen is None:
            return super().block(rows)
        block = array_namespace(self.X).take(self.X, self._positions[rows], axis=0)
        return float64(block) if self.double else block


def example_on(where: Any, dtype: str = "float64") -> Array:
    """Return an empty tensor on a device, such as "cuda", "cuda:1" or "cpu", if there is one."""
    torch = _torch(f"device={where!r}")
    try:
        torch.empty((0,), dtype=torch.float64, device=where)
        return torch.empty((0,), dtype=getattr(torch, dtype), device=where)
    except (RuntimeError, TypeError, AssertionError, NotImplementedError) as reason:
        there = ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
        raise UsageError(
            f"device={where!r} cannot be used here: {str(reason).splitlines()[0]} Pass one of "
            f"{there}, or None to compute where the rows are."
        ) from reason


def _torch(purpose: str) -> Any:
    with needing("torch", "torch", purpose):
        import torch
    return torch


def streamed(rows: Rows, where: Any) -> Rows:
    """Return rows in host memory so that their blocks arrive on a device; others as they are."""
    # Sparse rows, wide ones (which moments keep as rows) and features of kernels stay.
    if where is None or not is_numpy(rows.X) or isinstance(rows, MappedRows):
        return rows
    if rows.n_rows < rows.X.shape[1]:
        return rows
    example = example_on(where, "float64" if rows.double else rows.X.dtype.name)
    return rows.as_rows_of(StreamedRows, example=example)


@dataclass(frozen=True)
class StreamedRows(Rows):
    """Rows of a NumPy array; blocks arrive in the library, device and type of an example."""

    example: Array = field(kw_only=True)

    @property
    def rows_at_once(self) -> int:
        """How many rows are sent together."""
        return max(64, NUMBERS_PER_COPY // max(int(self.X.shape[1]), 16))

    def block(self, rows: slice) -> Array:
        """Return the features of some of the rows that count, on the device."""
        return like(super().block(rows), self.example)

    def in_double(self) -> StreamedRows:
        """Return the rows, and everyone, whose blocks arrive in double precision."""
        everyone = self.everyone and self.everyone.in_double()
        return replace(self, everyone=everyone, double=True, example=float64(self.example))

    def take(self, positions: np.ndarray) -> Array:
        """Return the features of the rows that count at the given positions, on the device."""
        return like(super().take(positions), self.example)

    def blocks(self, slices: Iterable[slice]) -> Iterator[Array]:
        """Yield the features of blocks of rows; each is valid until the next is asked for."""
        if in_host_memory(self.example):
            yield from map(self.block, slices)
            return
        torch = _torch("device=...")
        copies = torch.cuda.Stream(self.example.device)
        size = self.rows_at_once * self.X.shape[1]
        buffers = [_Buffer(self.example, size, copies) for _ in range(2)]
        with pool_of(COPYING_THREADS) as pool:
            try:
                for i, block in enumerate(slices):
                    yield buffers[i % 2].send(self, block, pool)
                    buffers[i % 2].release()
            finally:
                copies.synchronize()  # no copy outlives its buffers


class _Buffer:
    """A page-locked buffer and one on the device. With two, copying and computing overlap."""

    def __init__(self, example: Array, size: int, copies: Any) -> None:
        torch = self._torch = _torch("device=...")
        self._host = torch.empty(size, dtype=example.dtype, pin_memory=True)
        self._device = torch.empty(size, dtype=example.dtype, device=example.device)
        self._copies = copies
        self._arrived: Any = None
        self._released: Any = None

    def send(self, rows: StreamedRows, block: slice, pool: ThreadPoolExecutor) -> Array:
        """Return a block on the device; the work of the current stream waits for it."""
        n, d = block.stop - block.start, rows.X.shape[1]
        X = rows.X
        by_columns = rows.chosen is None and abs(X.strides[0]) < abs(X.strides[1])
        shape = (d, n) if by_columns else (n, d)
        if self._arrived is not None:
            self._arrived.synchronize()
        target = self._host.numpy()[: n * d].reshape(shape)
        edges = [round(i * shape[0] / COPYING_THREADS) for i in range(COPYING_THREADS + 1)]

        def copy(edge: tuple[int, int]) -> None:
            part = slice(*edge)
            if by_columns:
                target[part] = X[block, part].T
            else:
                inside = slice(block.start + part.start, block.start + part.stop)
                target[part] = Rows.block(rows, inside)

        list(pool.map(copy, pairwise(edges)))
        current = self._torch.cuda.current_stream(self._device.device)
        if self._released is not None:
            self._copies.wait_event(self._released)
        with self._torch.cuda.stream(self._copies):
            self._device[: n * d].copy_(self._host[: n * d], non_blocking=True)
            self._arrived = self._copies.record_event()
        current.wait_event(self._arrived)
        there = self._device[: n * d].reshape(shape)
        return there.T if by_columns else there

    def release(self) -> None:
        """Say that all work on the last block has been asked for."""
        self._released = self._torch.cuda.current_stream(self._device.device).record_event()


def checked_rows(X: Array, *, ensure_all_finite: bool = True, ensure_min_samples: int = 1) -> Array:
    """Return rows of another library as float32 or float64, where they are; as `check_array`."""
    xp = array_namespace(X)
    layout = str(getattr(X, "layout", "torch.strided"))
    if layout != "torch.strided":
        raise UsageError(
            f"X is a sparse torch tensor ({layout}), which has no products with itself here. "
            "Pass a SciPy sparse matrix, or X.to_dense()."
        )
    if str(device(X)).startswith("mps"):
        raise UsageError(
            f"X is on {device(X)}, which has no float64, and moments are summed in float64. "
            "Pass X.cpu()."
        )
    if X.ndim != 2:
        raise UsageError(
            f"Expected 2D array, got {X.ndim}D array instead: X has shape "
            f"{tuple(X.shape)}. Reshape your data: one row per sample, one column per feature."
        )
    if xp.isdtype(X.dtype, "complex floating"):
        raise UsageError(f"Complex data not supported: X has the type {X.dtype}.")
    X = in_working_precision(X)
    for length, least, what in [(0, ensure_min_samples, "sample"), (1, 1, "feature")]:
        if X.shape[length] < least:
            raise UsageError(
                f"Found array with {X.shape[length]} {what}(s) (shape={tuple(X.shape)}) while a "
                f"minimum of {least} is required."
            )
    if ensure_all_finite:
        check_all_finite(without_history(X))
    return X


def in_working_precision(X: Array) -> Array:
    """Return rows as float32 or float64: shorter floats as the one, all else as the other."""
    xp = array_namespace(X)
    if not xp.isdtype(X.dtype, "real floating"):
        return xp.astype(X, xp.float64)
    return X if X.dtype in (xp.float32, xp.float64) else xp.astype(X, xp.float32)


def is_plain_on_device(X: Array, n_columns: int) -> bool:
    """Tell whether X is some rows of floats of so many columns that `checked_rows` would pass."""
    if X.ndim != 2 or X.shape[0] == 0 or X.shape[1] != n_columns:
        return False
    dense = str(getattr(X, "layout", "torch.strided")) == "torch.strided"
    if not dense or has_history(X) or str(device(X)).startswith("mps"):
        return False
    return bool(array_namespace(X).isdtype(X.dtype, "real floating"))


def check_all_finite(X: Array) -> None:
    """Raise if a number is NaN or infinite; one number crosses to the host."""
    xp = array_namespace(X)
    blocks = [X[rows, :] for rows in row_blocks(X.shape[0], rows_per_block(X))]
    with quiet_overflow():
        # A sum is finite only if all its terms are; so one read of the rows is enough for most.
        if not blocks or bool(xp.isfinite(sum(xp.sum(B) for B in blocks))):
            return
    if any(bool(xp.any(xp.isnan(B))) for B in blocks):
        raise UsageError(
            "Input X contains NaN. Fill in or leave out missing values: fairpca, as most of "
            "scikit-learn, does not accept them."
        )
    if any(bool(xp.any(xp.isinf(B))) for B in blocks):
        raise UsageError(f"Input X contains infinity or a value too large for {X.dtype}.")


def in_place_of(T: Any, X: Any) -> Any:
    """Return what was computed from X in the library, on the device and in the precision of X."""
    if not is_foreign(X):
        return T
    floats = array_namespace(X).isdtype(X.dtype, "real floating")
    return like(T, X) if floats else placed(T, X)
