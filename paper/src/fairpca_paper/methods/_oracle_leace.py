"""Oracle LEACE: take each row's own group difference away, where its attributes are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fairpca.errors import MissingGroupError, SingleGroupError, UsageError

from ._base import FLOATS, attribute_columns, is_numeric, levels_of, read_rows

DEPENDENT = 1e-8
"""Combinations of attribute columns shorter than this, relative to the longest, are nothing."""


@dataclass(frozen=True)
class _AttributeColumns:
    """How an attribute becomes columns: indicators of all levels but the heaviest, or its values.

    `labels` are all levels, None for numbers; `shown` the positions of those that have a column;
    `centre` and `size` the mean of each column and its norm about it over the rows seen at `fit`.
    """

    name: str
    labels: tuple[Any, ...] | None
    shown: np.ndarray
    centre: np.ndarray
    size: np.ndarray

    @classmethod
    def seen_in(cls, name: str, column: np.ndarray, weight: np.ndarray) -> _AttributeColumns:
        """Return the columns of an attribute at `fit`."""
        labels, shown = None, np.zeros(1, int)
        if is_numeric(column):
            values = column[:, None]
        else:
            codes, labels = levels_of(column)
            shown = np.delete(np.arange(len(labels)), np.argmax(np.bincount(codes, weight)))
            values = (codes[:, None] == shown).astype(float)
        if not shown.size:
            raise SingleGroupError(
                f"The sensitive attribute {name!r} takes one value only, so there is nothing to be "
                f"fair between. Leave the attribute out, or pass rows of every group."
            )
        centre = np.average(values, axis=0, weights=weight)
        size = np.sqrt(weight @ (values - centre) ** 2)
        return cls(name, labels, shown, centre, size)

    def of(self, column: np.ndarray) -> np.ndarray:
        """Return the columns of rows, centred, in units of their size; shape (n, q)."""
        if self.labels is None:
            values = self._numbers(column)[:, None]
        else:
            values = (self._positions(column)[:, None] == self.shown).astype(float)
        return (values - self.centre) / self.size

    def _numbers(self, column: np.ndarray) -> np.ndarray:
        if column.dtype.kind != "f":
            raise UsageError(
                f"The sensitive attribute {self.name!r} was numeric at fit, but now has the levels "
                f"{list(levels_of(column)[1])[:5]}. Pass floats, as at fit."
            )
        return column

    def _positions(self, column: np.ndarray) -> np.ndarray:
        known: dict[Any, int] = {label: i for i, label in enumerate(self.labels or ())}
        codes, labels = levels_of(column)
        unseen = [label for label in labels if label not in known]
        if unseen:
            raise UsageError(
                f"The sensitive attribute {self.name!r} has the level(s) {unseen[:5]}, which no "
                f"row had at fit ({list(known)[:10]}), so what sets them apart is not known. Fit "
                f"with rows of these groups, or leave the rows out."
            )
        return np.array([known[label] for label in labels])[codes]


class OracleLEACE(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Subtract from each row what its attributes, known at `transform`, explain of it.

    The residual of a regression of the features on the attributes: for one categorical attribute,
    every group is moved onto the common mean. Afterwards no feature covaries with an attribute,
    and no method, linear or not, that achieves this changes the rows less; LEACE is the best
    without knowing the attributes of new rows.

    **It needs the attributes of every row that it transforms, and can reveal them**: where
    features are counts, or zeros and ones, each group is shifted by a fraction of its own, from
    which a decision tree reads the group without error. Use it in front of linear models only, and
    not where decisions must not depend on the attribute.

    Attributes
    ----------
    coefficients_ : array of shape (q, d)
        What is subtracted per unit of each attribute column (indicators of all levels but the
        heaviest, or numeric values; centred, of unit length over the training rows).
    groups_ : dict
        The levels of each attribute, or "numeric".
    mean_ : array of shape (d,)
        Mean of the rows.
    n_features_in_, feature_names_in_, n_samples_seen_
        As in `fairpca.erasers.LEACE`.

    See Also
    --------
    fairpca.erasers.LEACE : Needs no attributes of new rows.

    References
    ----------
    .. [1] Belrose, Schneider-Joseph, Ravfogel, Cotterell, Raff, Biderman. "LEACE: perfect linear
       concept erasure in closed form". NeurIPS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca_paper.methods import OracleLEACE
    >>> sex = np.array(["f", "f", "m", "m"])
    >>> X = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 1.0], [6.0, 3.0]])
    >>> eraser = OracleLEACE().fit(X, sensitive_features=sex)
    >>> eraser.transform(X, sensitive_features=sex)
    array([[2., 1.],
           [4., 3.],
           [2., 1.],
           [4., 3.]])
    """

    _columns: tuple[_AttributeColumns, ...]
    _explained: np.ndarray

    def fit(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn what the attributes explain of the rows of `X`.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
            Features.
        y : ignored
            There for the signature.
        sensitive_features : array-like, Series, frame or dict of columns with n rows
            Sensitive attributes, levels or numbers.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0.

        Returns
        -------
        self
        """
        rows = read_rows(self, X, None, sample_weight, reading="none")
        counts = (
            np.ones(rows.n_rows, bool) if sample_weight is None else np.asarray(sample_weight) > 0
        )
        columns = attribute_columns(sensitive_features, X, len(counts))
        columns = {name: column[counts] for name, column in columns.items()}
        self._columns = tuple(
            _AttributeColumns.seen_in(name, column, rows.weight) for name, column in columns.items()
        )
        root = np.sqrt(rows.weight)[:, None]
        Z = self._columns_of(columns) * root
        # The regression on the attributes' columns, of unit length.
        self.coefficients_ = np.linalg.pinv(Z, rcond=DEPENDENT) @ (
            root * rows.centred * rows.varies
        )
        left = rows.squares - np.sum((Z @ self.coefficients_) ** 2, axis=0)
        self._explained = left <= rows.noise_along(np.eye(rows.n_features))
        self.mean_, self.n_samples_seen_ = rows.mean, rows.n_rows
        self.groups_ = {c.name: list(c.labels or ()) or "numeric" for c in self._columns}
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit to the rows of `X` and return them without what their attributes explain.

        Parameters
        ----------
        X, y, **fit_params
            As in `fit`.

        Returns
        -------
        array of shape (n, d)
        """
        sensitive_features = fit_params.get("sensitive_features")
        return self.fit(X, y, **fit_params).transform(X, sensitive_features=sensitive_features)

    def transform(self, X: Any, *, sensitive_features: Any = None) -> Any:
        """Return the rows without what their attributes explain.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, d)
            Features.
        sensitive_features : array-like, Series, frame or dict of columns with n rows
            The same attributes as at `fit`, of these rows.

        Returns
        -------
        T : array of shape (n, d)
        """
        check_is_fitted(self)
        features = validate_data(self, X, dtype=FLOATS, reset=False)
        if sensitive_features is None:
            raise MissingGroupError(
                f"{type(self).__name__} subtracts what the attributes of a row explain of it, but "
                f"transform was given none. Pass transform(X, sensitive_features=...) (in a "
                f"pipeline, with metadata routing: set_transform_request(sensitive_features=True)),"
                f" or use LEACE, which needs them at fit only."
            )
        columns = attribute_columns(sensitive_features, X, len(features))
        T = np.asarray(features - self._columns_of(columns) @ self.coefficients_)
        T[:, self._explained] = self.mean_[self._explained]  # rounding would tell the groups
        return T.astype(features.dtype, copy=False)

    def _columns_of(self, given: dict[str, np.ndarray]) -> np.ndarray:
        expected = [c.name for c in self._columns]
        if set(given) != set(expected):
            raise UsageError(
                f"sensitive_features has the columns {list(given)}, but at fit they were "
                f"{expected}. Pass the same attributes under the same names."
            )
        return np.hstack([c.of(given[c.name]) for c in self._columns])

    def __sklearn_is_fitted__(self) -> bool:
        return "coefficients_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
