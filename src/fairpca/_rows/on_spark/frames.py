"""Rows of a Spark DataFrame: partitions become moments in Python workers, moments are added there.

Needs Spark 4. Only data frame operations are used, no RDDs, and no rows come to the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import MissingExtraError, warn_user
from ..elsewhere import Collect, Part, RowsElsewhere

try:
    import pandas  # noqa: F401  (what pyarrow makes frames with)
    import pyarrow  # noqa: F401
except ImportError as error:
    raise MissingExtraError(str(error.name), "spark", "A Spark DataFrame") from error
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DoubleType, FloatType, StructField, StructType

from ...errors import SparkColumnsError
from .answers import SCHEMA, added_up, map_in_arrow
from .partitions import Layout, answer_of_partition, representation_of_partition
from .refusals import (
    refuse_attributes_beside_arrays,
    refuse_collisions,
    refuse_missing,
    refuse_words,
)
from .roles import column, read_roles
from .types import as_numbers, empty_table, is_vector


class SparkRows(RowsElsewhere):
    """Rows of a Spark DataFrame, with everything that is known of them in its columns.

    On a cluster, fairpca must be installed where the Python workers run.

    Parameters
    ----------
    X : pyspark.sql.DataFrame
        Features: columns of numbers, or a single column of arrays of one length. Cache it, or
        read it from files, where it would be computed anew each time: kernels need two passes.
    y, sample_weight : str or Column, optional
        Name of a column of X, or an expression of its columns.
    sensitive_features : str, Column, or list of these, optional
        The attributes. Columns of X with the names of attributes, labels or weights are not
        features; every other column is.

    Notes
    -----
    The computation is divided as X is: an answer of d x d numbers for each partition, added up in
    a tree where the workers are; the driver receives one.
    """

    def __init__(
        self, X: Any, y: Any = None, sensitive_features: Any = None, sample_weight: Any = None
    ) -> None:
        self.frame: DataFrame = X
        self.roles = read_roles(X, y, sensitive_features, sample_weight)
        self.features = self.roles.features
        self._widened = True
        if sensitive_features is not None:
            refuse_words(X, self.features)

    def for_estimator(
        self, sensitive: Sequence[Any], fitted_to: Sequence[str] | None = None
    ) -> SparkRows:
        """Return the rows with the features that an estimator asks for; see `RowsElsewhere`."""
        seen = copy(self)
        seen.__dict__.pop("_width", None)
        if fitted_to is None:
            columns = self.frame.columns
            seen.features = tuple(c for c in columns if c in self.features or c in sensitive)
            if set(sensitive) <= set(columns):  # else the estimator tells what is unknown
                features = [c for c in seen.features if c not in sensitive]
                refuse_words(self.frame, features)
                refuse_attributes_beside_arrays(self.frame, features, sensitive)
            return seen
        seen._widened = False
        if len(fitted_to):
            seen.features = tuple(c for c in fitted_to if c not in sensitive)
            refuse_missing(self.frame, seen.features)
        else:  # fitted to rows without names
            arrays = tuple(c for c in self.frame.columns if is_vector(self._type(c)))
            seen.features = arrays if len(arrays) == 1 else self.features
        return seen

    @property
    def head(self) -> Part:
        """A part without rows: it tells the names and types of the columns."""
        return self._layout.part(empty_table(self._selected.schema), 0)

    def fold(self, collect: Collect) -> Any:
        """Return the sum of what `collect` returns for the parts; None if all parts are empty.

        An exception in a worker is raised here as itself.
        """
        layout = self._layout

        def of_partition(batches: Iterable[Any]) -> Iterator[Any]:
            return answer_of_partition(batches, collect, layout)

        answers = map_in_arrow(self._selected, of_partition, SCHEMA).persist()
        try:
            total = added_up(answers)
        finally:
            answers.unpersist()
        for category, message in total.warned.items():
            warn_user(message, category)
        if total.failure is not None:
            raise total.failure
        return total.total

    def mapped(
        self, transform: Callable[[Any], np.ndarray], names: Sequence[str], dtype: np.dtype
    ) -> DataFrame:
        """Return a lazy DataFrame with the representation in the place of the features.

        All other columns stay: rows have no order, so an identifier must remain with its row.
        """
        kept = [c for c in self.frame.columns if c not in self.features]
        refuse_collisions(kept, names)
        layout = Layout(self.features, width=self._width)
        columns = [*kept, *names]
        kind = FloatType() if np.dtype(dtype) == np.float32 else DoubleType()
        schema = StructType(
            [*(self.frame.schema[c] for c in kept), *(StructField(n, kind) for n in names)]
        )

        def of_partition(batches: Iterable[Any]) -> Iterator[Any]:
            return representation_of_partition(batches, transform, layout, columns)

        return map_in_arrow(self._numbered(map(column, kept)), of_partition, schema)

    @property
    def _selected(self) -> DataFrame:
        roles = self.roles
        others = [*roles.sensitive.values(), *roles.target.values(), *roles.weight.values()]
        return self._numbered(others)

    def _numbered(self, others: Iterable[Column]) -> DataFrame:
        """Return the features and other columns under names that cannot go wrong.

        Names may repeat (an attribute that is the label, too), and have dots.
        """
        columns = [*map(self._feature, self.features), *others]
        return self.frame.select(*(c.alias(f"column{i}") for i, c in enumerate(columns)))

    @property
    def _layout(self) -> Layout:
        roles = self.roles
        return Layout(
            self.features,
            tuple(roles.sensitive),
            has_target=bool(roles.target),
            has_weight=bool(roles.weight),
            width=self._width,
        )

    @cached_property
    def _width(self) -> int | None:
        """Length of the first array, where the features are arrays."""
        if len(self.features) != 1 or not is_vector(self._type(self.features[0])):
            return None
        arrays = column(self.features[0])
        first = self.frame.where(arrays.isNotNull()).select(F.size(arrays)).first()
        if first is None:
            raise SparkColumnsError(
                f"No row has an array in the column {self.features[0]!r}, so the number of "
                f"features is unknown. Pass rows."
            )
        return int(first[0])

    def _feature(self, name: str) -> Column:
        """Return a column as numbers; for moments they are doubles, exact in any partition."""
        return as_numbers(column(name), self._type(name), widened=self._widened)

    def _type(self, name: str) -> DataType:
        return self.frame.schema[name].dataType
