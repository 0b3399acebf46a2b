"""Columns that are numbers already, for models that were fitted to numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import TableError
from ..tables import floats


class PlainColumns:
    """Stands for an encoder where there is nothing to encode.

    Parameters
    ----------
    names : sequence of d str
        The features, in the order of the model.
    """

    encoders_: tuple[Any, ...] = ()

    def __init__(self, names: Sequence[str]) -> None:
        self.needed_columns = list(names)

    def encode(self, arrays: Mapping[str, Any]) -> np.ndarray:
        """Return the columns as an array of shape (n, d); refuse what is no finite number."""
        n = len(arrays[self.needed_columns[0]])
        X = np.empty((n, len(self.needed_columns)))
        for j, name in enumerate(self.needed_columns):
            X[:, j] = floats(arrays[name], name)
            if not np.isfinite(X[:, j]).all():
                raise TableError(
                    f"Column '{name}' has missing or infinite values, and this model was fitted to "
                    f"plain numbers. Fill them in first, or fit with `fairpca fit`, which does."
                )
        return X
