"""What every encoder of one column has in common, and where its outputs are centred."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

MISSING_SHARE = 0.02
"""From this share of missing values on, that a value is missing is an output of its own."""

Plain = dict[str, Any]
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Column:
    """What became of one column of the table.

    Parameters
    ----------
    name : str
        Its name.
    kind : {"numeric", "category", "text", "date", "constant", "empty"}
        How it is encoded; the last two are not.
    n_missing : int
        Rows in which the value is missing, or stands for "unknown".
    n_distinct : int
        Different values among the others.
    n_outputs : int
        Columns of the encoded table that come from it.
    note : str
        What a reader should know, or nothing.

    Examples
    --------
    >>> from fairpca.tables import Column
    >>> Column("age", "numeric", n_missing=0, n_distinct=74, n_outputs=1).kind
    'numeric'
    """

    name: str
    kind: str
    n_missing: int
    n_distinct: int
    n_outputs: int
    note: str = ""


class FrozenColumn(Protocol):
    """What was learned about one column: plain data, and how rows become numbers."""

    @property
    def name(self) -> str:
        """The column of the table."""

    @property
    def outputs(self) -> list[str]:
        """Names of the w numbers that each row becomes."""

    def rows(self, array: Any) -> tuple[np.ndarray | None, np.ndarray]:
        """Return the numbers of an Arrow array of length n.

        Returns
        -------
        codes : array of shape (n,), or None
            Which row of `values` each row has; None: row i has row i.
        values : array of shape (u, w)
            Finite numbers, before they are standardised.
        """

    def to_plain(self) -> tuple[Plain, Arrays]:
        """Return the learned data: what JSON can hold, and arrays."""


@dataclass(frozen=True, eq=False)
class Learned:
    """An encoder fresh from its column, with the means and deviations of its outputs."""

    encoder: FrozenColumn | None
    kind: str
    n_missing: int
    n_distinct: int
    mean: np.ndarray
    scale: np.ndarray
    note: str = ""


def moments(values: np.ndarray, counts: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations of columns; 0 where only rounding varies.

    Parameters
    ----------
    values : array of shape (u, w)
        Finite numbers.
    counts : array of shape (u,), optional
        How many rows have them; by default one each.

    Examples
    --------
    >>> moments(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([1, 1]))
    (array([2., 5.]), array([1., 0.]))
    """
    # About the first row, halved and in units of the spread: digits of values far from zero are
    # kept, and huge ones do not overflow.
    start = values[0]
    steps = 0.5 * values - 0.5 * start
    spread = np.max(np.abs(steps), axis=0)
    rounding = 4 * np.finfo(float).eps * np.max(np.abs(values), axis=0)
    steps /= np.where(spread > 0, spread, 1.0)
    if counts is None:
        mean, deviation = steps.mean(axis=0), steps.std(axis=0)
    else:
        weights = counts / counts.sum()
        mean = weights @ steps
        deviation = np.sqrt(weights @ (steps - mean) ** 2)
    deviation[(spread <= rounding) | (deviation < 1e-15)] = 0.0
    return start + 2 * (mean * spread), 2 * (deviation * spread)
