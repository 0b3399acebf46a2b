"""Rows that this process does not hold as a whole: files, and the partitions of a cluster.

Moments add, so all that an engine must do is to call a function where each part of the rows lives,
and to add up what it returns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Part:
    """Some of the rows, as the arguments of `fit`.

    Parameters
    ----------
    X : array, sparse matrix or frame of shape (n, d)
        Features.
    y, sensitive_features, sample_weight
        Of the same rows, as `fit` takes them.
    number : int
        Position among the parts; no two parts have the same.
    """

    X: Any
    y: Any = None
    sensitive_features: Any = None
    sample_weight: Any = None
    number: int = 0

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])


Collect = Callable[[Part], Any]
"""From a part to something that can be added, or None where the part has no rows.

It travels to where the rows are, so it can be pickled.
"""


class RowsElsewhere(ABC):
    """Rows that come to the moments part by part."""

    @property
    @abstractmethod
    def head(self) -> Part:
        """A part without rows: it tells the names and types of the columns."""

    @abstractmethod
    def fold(self, collect: Collect) -> Any:
        """Return the sum of what `collect` returns for the parts; None if all parts are empty.

        A part may be collected twice (after a failure), but is added once.

        Parameters
        ----------
        collect : callable
            From a `Part` to something that can be added, or None where it has no rows.

        Returns
        -------
        object or None
            The sum.
        """

    def for_estimator(
        self, sensitive: Sequence[Any], fitted_to: Sequence[str] | None = None
    ) -> RowsElsewhere:
        """Return these rows with the columns that an estimator asks for as features.

        Most engines have nothing to do: the estimator checks the features it is given. An engine
        whose rows have no order must set aside what is no feature, without losing it.

        Parameters
        ----------
        sensitive : sequence
            Columns of X that the estimator takes as attributes.
        fitted_to : sequence of str, optional
            The names that were seen at `fit`, none if there were no names; None before `fit`.

        Returns
        -------
        RowsElsewhere
            These rows, or others like them.
        """
        return self

    def mapped(
        self, transform: Callable[[Any], np.ndarray], names: Sequence[str], dtype: np.dtype
    ) -> Any:
        """Return a lazy collection of what `transform` makes of the features of each part.

        Parameters
        ----------
        transform : callable
            From the features of n rows to an array of shape (n, k); n may be 0. Can be pickled.
        names : sequence of k str
            What the columns of the result are called.
        dtype : dtype
            Of the result.
        """
        raise TypeError(
            f"{type(self).__name__} can be fitted to, but not transformed: there is nowhere to put "
            f"the result. Use FairModel and `fairpca transform`, which write files."
        )


def plus(a: Any, b: Any) -> Any:
    """Return the sum of two values of which either may be None."""
    if a is None or b is None:
        return b if a is None else a
    return a + b
