"""A table of mixed columns becomes a matrix of standardised numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from .._attributes import close_names, listed
from .._files import is_array, record
from ..errors import TableError, UsageError
from ._column_kinds import FrozenColumn, learn
from ._frozen_columns import Column, ColumnWeight, LevelColumn, NumberColumn
from ._streams import in_memory
from ._table import arrow_columns

LARGEST = 1e30
"""Standardised values are cut here, so that no product of them overflows, even in float32."""


@record("columns_", "encoders_", "kept_", "mean_", "scale_")
class TableEncoder:
    """Turn columns of any kind into standardised numbers, for new data as well.

    Types of columns are auto-detected, as by skrub. What is learned is kept as plain data: numbers,
    levels, formats of dates, groups of letters. Only columns and outputs that do not vary are
    dropped, and all of them are listed.

    Parameters
    ----------
    scale : {"standard", "rank"}, default="standard"
        What is standardised: "standard" the numbers themselves, "rank" the share of rows below. Use
        ranks where columns are skewed, as incomes and counts are, or have values far from all
        others: **with skewed columns, a linear model's score may separate groups that have equal
        means.**
    missing : sequence of float, default=()
        Numbers that stand for missing values in columns of numbers, such as 99999 and -999.

    Attributes
    ----------
    columns_ : list of Column
        How each column of the table is encoded.
    feature_names_in_ : list of str
        The columns of the table.
    mean_ : ndarray of shape (n_features_out,)
        Mean of each output in the training data.
    scale_ : ndarray of shape (n_features_out,)
        Standard deviation of each output in the training data; all dimensions of a vector share
        the root of their mean variance.

    Notes
    -----
    =========  ====================================================================
    kind       outputs
    =========  ====================================================================
    numeric    the number, or its rank; missing and infinite ones are the median
    category   one indicator per level, "missing" being a level; of two levels one
    date       year, month, day, hour and seconds since 1970; missing and infinite
               ones are average
    text       more than 40 levels: 10 combinations of groups of 3 and 4 letters
    vector     the numbers of a list of floats, such as an embedding; missing vectors
               are average
    =========  ====================================================================

    Where more than 2 % of a column that is no category are missing, being missing is an output.
    Durations, such as a database's intervals, are seconds. All outputs have mean 0 and standard
    deviation 1 in the training data; those of a vector are one block with one unit, in which their
    mean variance is 1, so that distances stay as they are.

    In new data, a level that was not in the training data has none of the indicators; where two
    levels share one, it is at their average. A text that is not a number, in a column of numbers,
    or not a date, in one of dates, raises an error; an empty one is missing.

    Texts are numbers if all are, also as people write them ("1,234.50", "5.8%", "$5"). Of more than
    40 different numbers, up to 5 % may be something else, which then counts as missing, in new data
    too. Levels that differ only in case or a final dot are merged, and called as most rows spell
    it. The `note` of a column tells how it was read. Dates with a time zone are in local time.

    Blanks around texts are ignored. "", "?", "NA", "None", "null" and the like are missing; among
    numbers also ".", "-" and "--".

    Examples
    --------
    >>> import pandas as pd
    >>> from fairpca.tables import TableEncoder
    >>> people = pd.DataFrame({"age": [30, 40, 50], "job": ["nurse", "cook", "smith"]})
    >>> encoder = TableEncoder().fit(people)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'job_cook', 'job_nurse', 'job_smith']
    >>> new = pd.DataFrame({"age": ["40"], "job": ["astronaut"]})
    >>> encoder.transform(new).round(2)
    array([[ 0.  , -0.71, -0.71, -0.71]])
    """

    scale: str = "standard"
    missing: Sequence[float] = ()
    columns_: list[Column]
    mean_: np.ndarray
    scale_: np.ndarray
    encoders_: list[FrozenColumn]
    kept_: list[np.ndarray]

    def __init__(self, *, scale: str = "standard", missing: Sequence[float] = ()) -> None:
        self.scale, self.missing = scale, missing

    def fit(self, frame: Any, y: Any = None, *, like: TableEncoder | None = None) -> TableEncoder:
        """Learn what the columns are and how they are encoded.

        Parameters
        ----------
        frame : DataFrame of pandas, polars, ..., or Arrow table of shape (n_samples, n_features)
            The features.
        y : object, default=None
            Ignored; there for the interface of scikit-learn.
        like : TableEncoder, default=None
            Fitted encoder whose column types are reused, as for a sample of its training data; all
            else is learned from these rows.

        Returns
        -------
        self : TableEncoder
            The fitted encoder.

        Raises
        ------
        TableError
            If there are no rows, or if no column varies.
        """
        arrays = arrow_columns(frame)
        if not arrays or not len(next(iter(arrays.values()))):
            raise TableError("The table has no rows or no columns, so there is nothing to encode.")
        known = {} if like is None else {encoder.name: encoder for encoder in like.encoders_}
        numbers = {"ranked": checked_scale(self.scale), "missing": checked_missing(self.missing)}
        learned = {
            name: learn(name, array, known.get(name), **numbers) for name, array in arrays.items()
        }
        self.columns_, self.encoders_, self.kept_ = [], [], []
        means, scales = [np.empty(0)], [np.empty(0)]
        for name, column in learned.items():
            kept = np.flatnonzero(column.scale > 0)
            kind, note = column.kind, column.note
            if kept.size and column.encoder is not None:
                self.encoders_.append(column.encoder)
                self.kept_.append(kept)
                means.append(column.mean[kept])
                scales.append(column.scale[kept])
            elif kind != "empty":
                kind, note = "constant", "does not vary"
            self.columns_.append(
                Column(name, kind, column.n_missing, column.n_distinct, len(kept), note)
            )
        if not self.encoders_:
            raise TableError(
                f"Nothing varies in {listed(list(learned))}, so there is nothing to encode. Give "
                f"other columns, or more rows."
            )
        self.mean_, self.scale_ = np.concatenate(means), np.concatenate(scales)
        return self

    def transform(self, frame: Any) -> np.ndarray:
        """Encode the rows of a table.

        Parameters
        ----------
        frame : DataFrame of pandas, polars, ..., or Arrow table of n_samples rows
            Columns by name, in any order; others are ignored.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features_out)
            Float64, all finite.

        Raises
        ------
        TableError
            If columns are missing, or a value cannot be what it was in `fit`.
        """
        self._check_fitted()
        frame = in_memory(frame)
        arrays = arrow_columns(frame, self.needed_columns)
        require_columns(self.needed_columns, _names(frame, arrays))
        return self.encode(arrays)

    def encode(self, arrays: Mapping[str, Any]) -> np.ndarray:
        """Encode Arrow arrays by column.

        Parameters
        ----------
        arrays : dict of str to pyarrow.Array
            The columns that `needed_columns` names, all of the same length.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features_out)
            Float64, all finite.
        """
        n = len(arrays[self.encoders_[0].name])
        encoded = np.empty((n, len(self.mean_)))
        for encoder, span, kept in self.spans():
            codes, values = encoder.rows(arrays[encoder.name])
            values = self.standardized(values[:, kept], span)
            encoded[:, span] = values if codes is None else values[codes]
        return encoded

    def fit_transform(self, frame: Any, y: Any = None) -> np.ndarray:
        """Learn from the rows of a table and encode them.

        Parameters
        ----------
        frame : DataFrame of pandas, polars, ..., or Arrow table of shape (n_samples, n_features)
            The features.
        y : object, default=None
            Ignored; there for the interface of scikit-learn.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features_out)
            Float64, all finite.
        """
        return self.fit(frame).transform(frame)

    def spans(self) -> list[tuple[FrozenColumn, slice, np.ndarray]]:
        """Return each encoder, its place among the outputs, and which of its values are kept."""
        ends = np.cumsum([len(kept) for kept in self.kept_])
        starts = ends - [len(kept) for kept in self.kept_]
        places = [slice(int(a), int(b)) for a, b in zip(starts, ends, strict=True)]
        return list(zip(self.encoders_, places, self.kept_, strict=True))

    def standardized(self, values: np.ndarray, span: slice) -> np.ndarray:
        """Return values of the outputs in `span` in units of their standard deviation.

        Parameters
        ----------
        values : ndarray of shape (n_samples, n_outputs)
            Values of some of the outputs.
        span : slice
            Which outputs these are.

        Returns
        -------
        units : ndarray of shape (n_samples, n_outputs)
            The values less their mean in units of their standard deviation, cut where products
            would overflow.
        """
        units: np.ndarray = 0.5 * values  # differences of halves do not overflow
        units -= 0.5 * self.mean_[span]
        with np.errstate(over="ignore"):
            units /= 0.5 * self.scale_[span]
        np.clip(units, -LARGEST, LARGEST, out=units)
        return units

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the outputs, all different.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Ignored; there for the interface of scikit-learn.

        Returns
        -------
        names : ndarray of str of shape (n_features_out,)
            The column's name, for levels and parts of dates with what they are.
        """
        self._check_fitted()
        names: dict[str, None] = {}
        for encoder, _, kept in self.spans():
            for i in kept:
                name = candidate = encoder.outputs[i]
                copy = 2
                while candidate in names:
                    candidate, copy = f"{name} ({copy})", copy + 1
                names[candidate] = None
        return np.array(list(names), dtype=object)

    @property
    def outputs_by_column(self) -> dict[str, np.ndarray]:
        """Positions of the outputs of each column; one that does not vary has none.

        Examples
        --------
        >>> import pandas as pd
        >>> from fairpca.tables import TableEncoder
        >>> people = pd.DataFrame({"job": ["nurse", "cook", "smith"], "age": [30, 40, 50]})
        >>> TableEncoder().fit(people).outputs_by_column
        {'job': array([0, 1, 2]), 'age': array([3])}
        """
        self._check_fitted()
        return {c.name: np.arange(span.start, span.stop) for c, span, _ in self.spans()}

    def column_weights(self, weights: Any) -> list[ColumnWeight]:
        """Return weights of the outputs as weights of the table's columns, in their own units.

        Parameters
        ----------
        weights : array-like of shape (n_features_out,) or (1, n_features_out)
            Weights of a linear model on what `transform` returns; for a model on a representation
            of it, what the method `column_weights` of the representation returns.

        Returns
        -------
        weights : list
            In the order of the table: one for a number, one per level of a category, one per part
            of a date or a text, and one for being missing where that is an output. Each has its
            `column`, its `kind` ("number", "level", "missing" or "part"), `what` it is, its
            `weight` and its `effect`, what one standard deviation of it adds.

        Raises
        ------
        UsageError
            If there is not one weight per output.

        Examples
        --------
        >>> import pandas as pd
        >>> from fairpca.tables import TableEncoder
        >>> people = pd.DataFrame({"age": [30, 40, 50, 60], "paid": ["no", "yes", "yes", "yes"]})
        >>> encoder = TableEncoder().fit(people)
        >>> for row in encoder.column_weights([1.0, 0.5]):
        ...     print(f"{row.column:4} {row.what:8} {row.weight:6.3f} {row.effect:6.3f}")
        age  one more  0.089  1.000
        paid no       -0.866 -0.500
        paid yes       0.289  0.500
        """
        self._check_fitted()
        given, n = np.asarray(weights, dtype=float), len(self.mean_)
        if given.shape not in ((n,), (1, n)):
            raise UsageError(
                f"weights has the shape {given.shape}, but the encoder has {n} outputs. Pass one "
                f"number per output, of one score at a time."
            )
        given, rows = given.ravel(), []
        for column, span, kept in self.spans():
            if isinstance(column, LevelColumn):
                values = self.standardized(column.table[:, kept], span)
                rows += column.weights(values @ given[span], self.mean_[span])
                continue
            with np.errstate(over="ignore"):  # where the scale is next to nothing
                per_unit = np.nan_to_num(given[span] / self.scale_[span])
            for i, one, weight in zip(kept, per_unit, given[span], strict=True):
                told = column.name, *_meaning(column, int(i))
                rows.append(ColumnWeight(*told, float(one), float(weight)))
        return rows

    @property
    def feature_names_in_(self) -> list[str]:
        """The columns of the table."""
        return [column.name for column in self.columns_]

    @property
    def needed_columns(self) -> list[str]:
        """The columns that `transform` reads: those that vary."""
        return [encoder.name for encoder in self.encoders_]

    @property
    def number_columns(self) -> list[str]:
        """Those of them that are plain numbers, so that texts need a decimal point."""
        numbers = (e for e in self.encoders_ if isinstance(e, NumberColumn))
        return [column.name for column in numbers if not (column.boolean or column.decimal)]

    def _fits_together(self) -> bool:
        lists = (self.columns_, Column), (self.encoders_, FrozenColumn), (self.kept_, np.ndarray)
        for values, kind in lists:
            if type(values) is not list or not all(isinstance(v, kind) for v in values):
                return False
        n_outputs = sum(len(kept) for kept in self.kept_)
        sized = is_array(self.mean_, n_outputs) and is_array(self.scale_, n_outputs)
        return (
            sized
            and n_outputs > 0
            and bool((self.scale_ > 0).all())
            and all(
                kept.ndim == 1 and np.isin(kept, np.arange(len(column.outputs))).all()
                for column, _, kept in self.spans()
            )
        )

    def _check_fitted(self) -> None:
        if not hasattr(self, "encoders_"):
            raise NotFittedError("This TableEncoder is not fitted yet. Call fit first.")

    def __repr__(self) -> str:
        if not hasattr(self, "encoders_"):
            return "TableEncoder()"
        return f"<TableEncoder: {len(self.columns_)} columns, {len(self.mean_)} outputs>"


def checked_scale(scale: Any) -> bool:
    """Return whether numbers become ranks; raise if `scale` is no option."""
    if scale not in ("standard", "rank"):
        raise UsageError(f"scale={scale!r} is not an option. Use one of 'standard', 'rank'.")
    return bool(scale == "rank")


def checked_missing(missing: Any) -> tuple[float, ...]:
    """Return the numbers that stand for missing values."""
    given = (missing,) if isinstance(missing, Real) else missing
    try:
        return tuple(float(value) for value in given)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"missing={missing!r} does not name numbers. Pass those that stand for missing values, "
            f"such as missing=[99999, -999]; texts that mean so are known."
        ) from error


def _meaning(column: FrozenColumn, i: int) -> tuple[str, str]:
    """Return of what kind an output of numbers, dates or texts is, and what it stands for."""
    what = column.outputs[i][len(column.name) + 1 :]
    if not what:
        one = "one more" if getattr(column, "ranks", None) is None else "first to last"
        return "number", "true" if getattr(column, "boolean", False) else one
    last = i == len(column.outputs) - 1
    return ("missing", what) if last and getattr(column, "indicator", False) else ("part", what)


def _names(frame: Any, arrays: Mapping[str, Any]) -> list[str]:
    columns = getattr(frame, "column_names", None)
    return [
        str(name) for name in (getattr(frame, "columns", arrays) if columns is None else columns)
    ]


def require_columns(needed: Sequence[str], there: Sequence[str]) -> None:
    """Say which needed columns are not there, and what they may be called in the table."""
    known = set(there)
    lacking = [name for name in needed if name not in known]
    if not lacking:
        return
    close = [close_names(name, there, n=1) for name in lacking[:5]]
    meant = (f" (there is '{names[0]}')" if names else "" for names in close)
    listed = [f"'{name}'{other}" for name, other in zip(lacking, meant, strict=False)]
    more = f" and {len(lacking) - 5} more" if len(lacking) > 5 else ""
    raise TableError(
        f"The table lacks {len(lacking)} of the {len(needed)} columns that the encoder was fitted "
        f"on: {', '.join(listed)}{more}. Add or rename them."
    )
