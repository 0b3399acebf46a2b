"""A random sample of rows that come in parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._numerics import fingerprint_of
from .._rows import Part, Rows, RowsElsewhere, Sample
from ..errors import UsageError
from ._reader import NO_ROWS, Reader, check_finite

SAMPLE_ROWS, SAMPLE_NUMBERS = 20_000, 2**24
"""A sample that comes to one place has at most so many rows, and numbers."""


def sampled_rows(reader: Reader, source: RowsElsewhere, *, fewest: int, seed: int) -> Rows:
    """Return rows drawn at random, in their order; all rows that count where these are few.

    The reader is one `for_batches`; at least `fewest` rows are needed.
    """
    assert reader.columns is not None
    n = max(fewest, min(SAMPLE_ROWS, SAMPLE_NUMBERS // max(1, reader.columns[0])))
    drawn: Sample | None = source.fold(DrawRows(reader, n, seed))
    if drawn is None:
        raise UsageError(NO_ROWS.format(type(source).__name__))
    X, weight = drawn.rows
    return Rows(X, None if (weight == 1).all() else weight)


@dataclass(frozen=True)
class DrawRows:
    """Give every row a random key and keep the rows with the smallest: a sample that adds up.

    The draw depends on the seed and on how rows are divided into parts, not on which part is read
    first.
    """

    reader: Reader
    n: int
    seed: int

    def __call__(self, part: Part) -> Sample | None:
        """Return the rows of a part that count and may be in the sample."""
        if part.n_rows == 0:
            return None
        rows = self.reader.of_batch(part)
        check_finite(rows)  # here it is known where the rows are
        keys = np.random.default_rng([self.seed, part.number]).random(rows.n_rows)
        weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
        return Sample.of(self.n, keys, part.number, lambda i: (rows.take(i), weight[i]))

    @property
    def asked_later(self) -> str:
        """Fingerprint of what the sample is for: who cannot have one is told before the draw."""
        return fingerprint_of(self.reader, self.reader.name)
