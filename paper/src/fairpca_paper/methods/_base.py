"""What the methods share: rows with their groups, and the contract from `fit` to `transform`."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from fairpca.errors import InfeasibleError, MissingGroupError, SingleGroupError, UsageError

EPSILON = float(np.finfo(float).eps)

FLOATS = (np.float64, np.float32)

BLOCK = 8192
"""Rounding errors of sums over more rows than this average out."""


# Parameters.


def check_count(name: str, value: Any, *, none_for: str = "") -> int | None:
    """Return a whole number above 0 as an int; None too, where `none_for` says what that means."""
    if value is None and none_for:
        return None
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1:
        return int(value)
    otherwise = f", or None for {none_for}" if none_for else ""
    raise UsageError(f"{name}={value!r} cannot be used. Use an integer >= 1{otherwise}.")


def check_number(name: str, value: Any, *, zero: bool = False, or_else: str = "") -> None:
    """Raise unless `value` is finite and positive, or zero where that is allowed."""
    number = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value))
    if not number or value < 0 or (value == 0 and not zero):
        wanted = f"a finite number {'>=' if zero else '>'} 0{f', or {or_else}' if or_else else ''}"
        raise UsageError(f"{name}={value!r} cannot be used. Use {wanted}.")


def check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """Raise unless `value` is one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        choices = ", ".join(repr(a) for a in allowed)
        raise UsageError(f"{name}={value!r} is not an option. Use one of {choices}.")


# Sensitive features.


def attribute_columns(sensitive_features: Any, X: Any, n: int) -> dict[str, np.ndarray]:
    """Return the sensitive features by name, one entry per row of X, none missing."""
    if sensitive_features is None:
        raise MissingGroupError(
            "No sensitive features were given. Pass fit(X, ..., sensitive_features=...)."
        )
    if isinstance(sensitive_features, Mapping):
        columns = {str(name): np.asarray(c) for name, c in sensitive_features.items()}
    elif isinstance(sensitive_features, pd.Series):
        columns = {str(sensitive_features.name or "sensitive"): sensitive_features.to_numpy()}
    elif isinstance(sensitive_features, pd.DataFrame):
        columns = {str(name): c.to_numpy() for name, c in sensitive_features.items()}
    else:
        array = np.asarray(sensitive_features)
        table = array.reshape(len(array), -1).T if array.ndim else array.reshape(1, 1)
        names = ["sensitive"] if len(table) == 1 else [f"sensitive{i}" for i in range(len(table))]
        columns = dict(zip(names, table, strict=True))
    for name, column in columns.items():
        if len(column) != n:
            raise UsageError(
                f"X has {n} rows, but the sensitive attribute {name!r} has {len(column)} entries, "
                f"so rows and groups cannot be paired. Pass one entry per row of X."
            )
        missing = int(np.sum(pd.isna(column)))
        if missing:
            raise MissingGroupError(
                f"The sensitive attribute {name!r} is missing in {missing} of {n} rows. Leave "
                f"these rows out, or make the missing values a group."
            )
    of_rows, of_groups = (getattr(given, "index", None) for given in (X, sensitive_features))
    both = [index for index in (of_rows, of_groups) if isinstance(index, pd.Index)]
    if len(both) == 2 and not both[0].equals(both[1]):
        raise UsageError(
            "X and sensitive_features have different row labels. Bring both into one order, or "
            "pass arrays, which are paired by position."
        )
    return columns


def is_numeric(column: np.ndarray) -> bool:
    """Tell whether a column holds a quantity: floats that are not all whole."""
    return column.dtype.kind == "f" and not np.array_equal(column, np.round(column))


def levels_of(column: np.ndarray) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Return the code of each row, and the labels in order."""
    codes, labels = pd.factorize(column, sort=True)
    return codes, tuple(labels.tolist())


def joint_levels(columns: Mapping[str, np.ndarray]) -> tuple[np.ndarray, tuple[Any, ...]]:
    if len(columns) == 1:
        return levels_of(*columns.values())
    each = [levels_of(column) for column in columns.values()]
    cells, codes = np.unique(
        np.column_stack([codes for codes, _ in each]), axis=0, return_inverse=True
    )
    labels = [tuple(of[i] for i, (_, of) in zip(cell, each, strict=True)) for cell in cells]
    return codes.ravel(), tuple(labels)


# Rows.


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """Rows of features, the group of each, and what the methods ask about both.

    Parameters
    ----------
    X : array of shape (n, d)
        In double precision.
    codes, weight : array of shape (n,)
        Group and weight, above 0, of each row.
    labels : tuple
        What the groups are called.
    name : str
        What the attribute is called.
    precision : float
        Rounding unit of the numbers that X came in.
    """

    X: np.ndarray
    codes: np.ndarray
    weight: np.ndarray
    labels: tuple[Any, ...] = ()
    name: str = ""
    precision: float = EPSILON

    @property
    def n_rows(self) -> int:
        return len(self.X)

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    @cached_property
    def total_weight(self) -> float:
        return float(self.weight.sum())

    @cached_property
    def mean(self) -> np.ndarray:
        mean: np.ndarray = self.weight @ self.X / self.total_weight
        return mean + self.weight @ (self.X - mean) / self.total_weight

    @cached_property
    def centred(self) -> np.ndarray:
        """The rows less their mean; what rounding of the mean left goes, too."""
        centred = self.X - self.mean
        return centred - self.weight @ centred / self.total_weight

    @cached_property
    def squares(self) -> np.ndarray:
        """Sum of squares of each centred feature."""
        return np.asarray(self.weight @ self.centred**2)

    @property
    def degrees_of_freedom(self) -> float:
        return self.total_weight * (1.0 - 1.0 / self.n_rows) if self.n_rows > 1 else 1.0

    @cached_property
    def varies(self) -> np.ndarray:
        """Mask of the features that vary by more than rounding of their mean explains."""
        return self.squares > self.total_weight * (32.0 * EPSILON * self.mean) ** 2

    @property
    def standard_deviations(self) -> np.ndarray:
        """Standard deviation (divisor n) of each feature; 1 for a constant one."""
        return np.sqrt(np.where(self.varies, self.squares / self.total_weight, 1.0))

    @property
    def rounding(self) -> float:
        """Size of rounding errors in a correlation."""
        n = max(self.n_rows, 1)  # sums are in double precision, whatever X came in
        return 16.0 * EPSILON * (float(np.sqrt(min(n, BLOCK) / n)) + 1.0)

    def scaled(self, scale: np.ndarray) -> GroupedRows:
        """Return the rows divided by `scale`."""
        return replace(self, X=self.X / scale)

    def scatter(self, U: np.ndarray | None = None) -> np.ndarray:
        """Return weighted sums of squares and products, in the coordinates of U."""
        T = self.centred if U is None else self.centred @ U
        return (T.T * self.weight) @ T

    def group_weights(self) -> np.ndarray:
        return np.bincount(self.codes, weights=self.weight, minlength=len(self.labels))

    def group_means(self) -> np.ndarray:
        """Return the mean of each group less the mean of all rows, of shape (m, d)."""
        members = (self.codes == np.arange(len(self.labels))[:, None]) * self.weight
        return (members @ self.centred) / self.group_weights()[:, None]

    def group_covariances(self, U: np.ndarray | None = None) -> np.ndarray:
        """Return the covariance of each group, divisor n, in the coordinates of U."""
        T = self.centred if U is None else self.centred @ U
        found = []
        for g in range(len(self.labels)):
            part, weight = T[self.codes == g], self.weight[self.codes == g]
            part = part - weight @ part / weight.sum()
            found.append((part.T * weight) @ part / weight.sum())
        return np.array(found)

    def means_agree(self) -> bool:
        """Tell whether no group mean differs from the others by more than rounding."""
        weights = self.group_weights()
        rare = np.delete(np.arange(len(weights)), np.argmax(weights))
        size = np.sqrt(weights * (1.0 - weights / self.total_weight))[rare, None]
        spread = np.sqrt(np.where(self.varies, self.squares, 1.0))
        rows = self.group_means()[rare] * self.varies * weights[rare, None] / size / spread
        tol = self.rounding * (np.sqrt(len(rows)) + np.sqrt(self.n_features))
        return bool(np.linalg.norm(rows, 2) <= tol)

    def noise_along(self, U: np.ndarray) -> np.ndarray:
        """Return how large sums of squares along the columns of U rounding can make."""
        # What the features add to a direction may cancel, as in the difference of two copies; and
        # rows far from the origin are themselves rounded.
        unit = max(8.0 * self.precision, 32.0 * EPSILON)
        own = np.sqrt(2.0 * self.rounding * self.squares)
        far = unit * np.sqrt(self.total_weight) * np.abs(self.mean)
        return (own @ np.abs(U)) ** 2 + (far @ np.abs(U)) ** 2

    def varying(self, U: np.ndarray, k: int | None = None) -> np.ndarray:
        """Return the columns of U along which rows vary by more than rounding; raise below `k`."""
        T = self.centred @ U
        U = U[:, self.weight @ T**2 > self.noise_along(U)]
        left = U.shape[1]
        if left == 0 or (k is not None and left < k):
            asked = "Nothing is left" if k is None else f"n_components={k} is too large"
            advice = f"Use n_components <= {left}" if left else "Use other features, or more rows"
            raise InfeasibleError(
                f"{asked}: the rows vary along {left} direction(s). All else is rounding: features "
                f"that are constant, or copies or sums of others; or rows are few. {advice}.",
                available=left,
            )
        return U


def read_rows(
    method: Any, X: Any, sensitive_features: Any, sample_weight: Any, *, reading: str
) -> GroupedRows:
    """Return validated rows in their groups; `reading` is "joint", "two" or "none" (no groups)."""
    features = validate_data(method, X, dtype=FLOATS, ensure_min_samples=2)
    n = len(features)
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if weight.shape != (n,) or not np.isfinite(weight).all() or weight.min() < 0:
        raise UsageError(
            f"sample_weight has shape {weight.shape} for {n} rows, or weights that are negative or "
            f"not finite. Pass one weight >= 0 per row."
        )
    counts = weight > 0
    rows = GroupedRows(
        features.astype(float, copy=False)[counts],
        np.zeros(int(counts.sum()), dtype=int),
        weight[counts],
        precision=float(np.finfo(features.dtype).eps),
    )
    if rows.n_rows == 0:
        raise UsageError("All sample weights are zero, so no row counts. Pass weights above 0.")
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.abs(rows.X).max(axis=0)
        if not np.isfinite(size**4 * rows.total_weight).all():
            raise UsageError(
                f"Powers of X overflow: feature {int(size.argmax())} has the size "
                f"{size.max():.0e}. Divide X by a constant first."
            )
    if reading == "none":
        return rows
    columns = attribute_columns(sensitive_features, X, n)
    name = type(method).__name__
    columns = {of: column[counts] for of, column in columns.items()}
    numeric = [of for of, column in columns.items() if is_numeric(column)]
    if reading == "two":
        _check_one_attribute(columns, numeric, name)
    elif numeric:
        raise InfeasibleError(
            f"{name} compares groups, but the sensitive attribute(s) {numeric} are numeric and "
            f"have none. Cut them into bands, or use fairpca.FairPCA, which knows numbers."
        )
    codes, labels = joint_levels(columns)
    attribute = " x ".join(columns)
    if len(labels) < 2:
        raise SingleGroupError(
            f"The sensitive attribute {attribute!r} takes one value only, so there is nothing to "
            f"compare. Pass rows of at least two groups."
        )
    if reading == "two" and len(labels) > 2:
        raise UsageError(
            f"{name} compares two groups, but the sensitive attribute {attribute!r} has "
            f"{len(labels)} levels: {list(labels)[:5]}. Merge them into two, or use "
            f"fairpca.FairPCA, which takes any number."
        )
    return replace(rows, codes=codes, labels=labels, name=attribute)


def _check_one_attribute(columns: Mapping[str, Any], numeric: list[str], method: str) -> None:
    if len(columns) != 1:
        raise UsageError(
            f"{method} compares two groups, but {len(columns)} attributes were given "
            f"({', '.join(map(repr, columns))}). Pass one of them, or use fairpca.FairPCA, which "
            f"takes any number."
        )
    if numeric:
        raise UsageError(
            f"{method} compares two groups, but the sensitive attribute {numeric[0]!r} is numeric. "
            f"Cut it into two bands, or use fairpca.FairPCA, which takes numbers."
        )


# Estimators.


class LinearMethod(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the methods that learn a linear map of centred rows."""

    _reading: ClassVar[str] = "joint"
    """How groups are read: several attributes as "joint" groups, "two" groups, or "none"."""

    components_: np.ndarray
    mean_: np.ndarray
    n_components_: int

    def fit(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn the representation of the rows of `X`.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
            Features.
        y : ignored
            There for the signature.
        sensitive_features : array-like, Series, frame or dict of columns with n rows
            Sensitive attributes, paired with the rows by position.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows = read_rows(self, X, sensitive_features, sample_weight, reading=self._reading)
        matrix = self._learn(rows)
        self.components_, self.mean_ = matrix.T, rows.mean
        self.n_components_, self.n_samples_seen_ = matrix.shape[1], rows.n_rows
        if rows.labels:
            self.groups_ = {rows.name: list(rows.labels)}
        return self

    @abstractmethod
    def _learn(self, rows: GroupedRows) -> np.ndarray:
        """Return the matrix (d, k) that multiplies centred rows, over `scale_` where it is set."""

    def _check_parameters(self) -> None:
        """Raise if a parameter is not usable."""

    def transform(self, X: Any) -> np.ndarray:
        """Return the representation of rows; their attributes are not needed.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
            Features.

        Returns
        -------
        T : array of shape (n, k)
        """
        check_is_fitted(self, "components_")
        features = validate_data(self, X, dtype=FLOATS, reset=False)
        T: np.ndarray = (features - self.mean_) / getattr(self, "scale_", 1.0) @ self.components_.T
        return T.astype(features.dtype, copy=False)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _seed(self) -> int:
        return int(check_random_state(getattr(self, "random_state", None)).randint(2**31 - 1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def number_of_components(method: Any) -> int | None:
    """Return the checked parameter `n_components`."""
    return check_count("n_components", method.n_components, none_for="the default")


def check_components_or_removed(method: Any) -> None:
    """Raise unless one number says how many directions stay, or go."""
    removed = check_count("n_removed", method.n_removed, none_for="the default")
    k = number_of_components(method)
    if None not in (k, removed):
        raise UsageError(
            f"n_components={k} and n_removed={removed} both say how many directions stay: "
            f"n_components, or all but n_removed. Pass one of them."
        )


def directions_to_keep(method: Any, rows: GroupedRows) -> int:
    """Return how many of the d directions stay: by default one goes per group but the first."""
    d, n_groups = rows.n_features, len(rows.labels)
    if method.n_removed is not None and method.n_removed >= d:
        raise InfeasibleError(
            f"n_removed={method.n_removed} is too large: at least one of the {d} feature "
            f"direction(s) (n_features = {d}) has to stay. Use n_removed <= {d - 1}."
        )
    k = number_of_components(method) if method.n_removed is None else d - int(method.n_removed)
    if k is None and d < n_groups:
        raise InfeasibleError(
            f"Nothing is left: {n_groups} groups take {n_groups - 1} direction(s), and the rows "
            f"have {d} feature(s) (n_features = {d}). Merge groups, or add features."
        )
    if k is not None and k >= d:
        raise InfeasibleError(
            f"n_components={k} is too large: at least one of the {d} feature direction(s) "
            f"(n_features = {d}) has to go. Use n_components <= {d - 1}."
        )
    return d - n_groups + 1 if k is None else k


def warn(message: str, category: type[Warning]) -> None:
    """Warn, pointing at the line that calls `fit`."""
    warnings.warn(message, category, stacklevel=4)


class FewerComponentsWarning(UserWarning):
    """Rows vary along fewer directions than a representation should have.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from fairpca_paper.methods import INLP, FewerComponentsWarning
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> X = np.hstack([X, X])  # three directions, said twice
    >>> with warnings.catch_warnings(action="error", category=FewerComponentsWarning):
    ...     INLP().fit(X, sensitive_features=np.arange(60) % 2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    fairpca_paper.methods._base.FewerComponentsWarning: The representation has 2 component(s), not
    5: ...
    """


def warn_of_fewer(found: int, asked: int) -> None:
    """Warn, pointing at the line that calls `fit`, where fewer components are left than asked."""
    if found < asked:
        warnings.warn(
            f"The representation has {found} component(s), not {asked}: along all else the rows "
            f"vary by rounding only. Features are constant, or copies or sums of others; or rows "
            f"are few. Ask for n_components={found}, or leave such features out.",
            FewerComponentsWarning,
            stacklevel=4,
        )
