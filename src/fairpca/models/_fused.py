"""Encoder and linear map in one step: levels are looked up, nothing is D columns wide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._rows import LinearMap
from ..tables import LevelColumn, NumberColumn, TableEncoder

ROWS_AT_A_TIME = 8192
"""So that the sums of a block stay in the cache while the tables are added."""

LARGEST_TABLE = 4096
"""Categories are looked up together while their combinations are no more than this."""


def fuse(encoder: Any, map: Any) -> Callable[[Mapping[str, Any]], np.ndarray]:
    """Return a function from Arrow arrays by column to the representation, shape (n, k)."""
    if isinstance(map, LinearMap) and isinstance(encoder, TableEncoder):
        return _FusedMap(encoder, map)
    return lambda arrays: np.asarray(map(encoder.encode(arrays)))


class _FusedMap:
    """The sum of a constant, of numbers times a matrix, and of rows of tables.

    With one-hot columns, encoding and multiplying is looking up: each level has its row of k
    numbers. They are made once, and those of several small categories for all their combinations.
    """

    def __init__(self, encoder: TableEncoder, map: LinearMap) -> None:
        matrix = np.asarray(map.matrix, dtype=float)
        if map.scale is not None:
            matrix = matrix / np.asarray(map.scale, dtype=float)[:, None]
        offset = 0.0 if map.offset is None else np.asarray(map.offset, dtype=float)
        self.encoder = encoder
        self.constant = offset - np.asarray(map.mean, dtype=float) @ matrix
        self.numbers, self.others, levels = [], [], []
        number_rows: list[np.ndarray] = []
        for column, span, kept in encoder.spans():
            if isinstance(column, LevelColumn):
                table = encoder.standardized(column.table[:, kept], span) @ matrix[span]
                levels.append(([column], table))
            elif isinstance(column, NumberColumn):
                self.numbers.append((column, span, kept))
                number_rows.append(matrix[span])
            else:
                self.others.append((column, span, kept, matrix[span]))
        self.number_matrix = np.concatenate([np.empty((0, matrix.shape[1])), *number_rows])
        self.tables = _combined(levels)

    def __call__(self, arrays: Mapping[str, Any]) -> np.ndarray:
        """Return the representation of n rows, shape (n, k), float64."""
        n, k = len(arrays[self.encoder.encoders_[0].name]), len(self.constant)
        numbers = self._numbers(arrays, n)
        lookups = [(self._codes(columns, arrays), table) for columns, table in self.tables]
        for column, span, kept, matrix in self.others:
            codes, values = column.rows(arrays[column.name])
            table = self.encoder.standardized(values[:, kept], span) @ matrix
            lookups.append((np.arange(n) if codes is None else codes, table))
        T = np.empty((n, k))
        added = np.empty((min(n, ROWS_AT_A_TIME), k))
        for start in range(0, n, ROWS_AT_A_TIME):
            rows = slice(start, min(n, start + ROWS_AT_A_TIME))
            sums = T[rows]
            np.matmul(numbers[:, rows].T, self.number_matrix, out=sums)
            sums += self.constant
            for codes, table in lookups:
                found = added[: len(sums)]
                # All codes are in the table; "clip" only spares numpy a copy.
                np.take(table, codes[rows], axis=0, out=found, mode="clip")
                sums += found
        return T

    def _numbers(self, arrays: Mapping[str, Any], n: int) -> np.ndarray:
        """Return the standardised numbers, one row per output."""
        numbers = np.empty((len(self.number_matrix), n))
        start = 0
        for column, span, kept in self.numbers:
            _, values = column.rows(arrays[column.name])
            numbers[start : start + len(kept)] = self.encoder.standardized(values[:, kept], span).T
            start += len(kept)
        return numbers

    def _codes(self, columns: list[LevelColumn], arrays: Mapping[str, Any]) -> np.ndarray:
        """Return which row of a table of combinations each row has."""
        first, *others = columns
        codes = first.codes(arrays[first.name])
        for column in others:
            codes = codes * len(column.table) + column.codes(arrays[column.name])
        return codes


def _combined(
    levels: list[tuple[list[LevelColumn], np.ndarray]],
) -> list[tuple[list[LevelColumn], np.ndarray]]:
    """Return tables of combinations of levels: fewer sums per row, as long as they are small."""
    tables: list[tuple[list[LevelColumn], np.ndarray]] = []
    for columns, table in sorted(levels, key=lambda pair: len(pair[1])):
        if tables and len(tables[-1][1]) * len(table) <= LARGEST_TABLE:
            before, other = tables[-1]
            both = (other[:, None, :] + table[None, :, :]).reshape(-1, table.shape[1])
            tables[-1] = ([*before, *columns], both)
        else:
            tables.append((columns, table))
    return tables
