"""Oracle LEACE: take each row's own group difference away, where its attributes are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import check_is_fitted

from .._attributes import Attribute, Levels, Numeric, check_frames, read_attributes
from .._moments import AttributeMoments, NumericMoments, noise_along
from .._rows import Rows
from ..errors import MissingGroupError, UsageError
from ..estimators import check_lengths, check_sizes, finite_moments, groups_of
from ..solvers import check_attributes
from ._shared import FitsRows

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
    def seen_in(cls, a: AttributeMoments) -> _AttributeColumns:
        """Return the columns whose contrasts are the independent ones of the moments."""
        size = a.independent_contrasts()[1]
        if isinstance(a, NumericMoments):
            return cls(a.name, None, np.zeros(1, int), np.array([a.value_mean]), size)
        shown = np.delete(np.arange(len(a.labels)), np.argmax(a.weight))
        return cls(a.name, a.labels, shown, (a.weight / a.weight.sum())[shown], size)

    def of(self, attribute: Attribute) -> np.ndarray:
        """Return the columns of rows, centred, in units of their size; shape (n, q)."""
        if self.labels is None:
            values = self._numbers(attribute)[:, None]
        else:
            values = (self._positions(attribute)[:, None] == self.shown).astype(float)
        return (values - self.centre) / self.size

    def _numbers(self, attribute: Attribute) -> np.ndarray:
        if isinstance(attribute, Numeric):
            return attribute.values
        if not attribute.integral_floats:
            raise UsageError(
                f"The sensitive attribute {self.name!r} was numeric at fit, but now has the levels "
                f"{list(attribute.labels)[:5]}. Pass floats, as at fit."
            )
        return np.array(attribute.labels, dtype=float)[attribute.codes]

    def _positions(self, attribute: Attribute) -> np.ndarray:
        known: dict[Any, int] = {label: i for i, label in enumerate(self.labels or ())}
        labels = attribute.labels if isinstance(attribute, Levels) else set(attribute.values)
        unseen = [label for label in labels if label not in known]
        if unseen or not isinstance(attribute, Levels):
            raise UsageError(
                f"The sensitive attribute {self.name!r} has the level(s) {unseen[:5]}, which no "
                f"row had at fit ({list(known)[:10]}), so what sets them apart is not known. Fit "
                f"with rows of these groups, or leave the rows out."
            )
        codes = np.array([known[label] for label in attribute.labels])
        return codes[attribute.codes]


class OracleLEACE(OneToOneFeatureMixin, FitsRows):
    """Subtract from each row what its attributes, known at `transform`, explain of it.

    The residual of a regression of the features on the attributes: for one categorical attribute,
    every group is moved onto the common mean. Afterwards no feature covaries with an attribute,
    and no method, linear or not, that achieves this changes the rows less; `LEACE` is the best
    without knowing the attributes of new rows.

    **It needs the attributes of every row that it transforms, and can give them away**: where
    features are counts, or zeros and ones, each group is shifted by a fraction of its own, from
    which a decision tree reads the group without error. Use it in front of linear models only, and
    not where decisions must not depend on the attribute. All rows are needed at once at `fit`:
    there is no `partial_fit`, since moments do not hold how attributes covary with each other.

    Attributes
    ----------
    coefficients_ : array of shape (q, d)
        What is subtracted per unit of each attribute column (indicators of all levels but the
        heaviest, or numeric values; centred, of unit length over the training rows).
    groups_ : dict
        The levels of each attribute, or "numeric".
    mean_, n_features_in_, feature_names_in_, n_samples_seen_
        As in `MeanProjection`.

    See Also
    --------
    LEACE : Needs no attributes of new rows.

    References
    ----------
    .. [1] Belrose, Schneider-Joseph, Ravfogel, Cotterell, Raff, Biderman. "LEACE: perfect linear
       concept erasure in closed form". NeurIPS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.peers import OracleLEACE
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

    def _learned_from(self, rows: Rows) -> dict[str, Any]:
        moments = finite_moments(rows, with_scatters=False)
        check_sizes(moments)
        check_attributes(moments.attributes)
        self._columns = tuple(_AttributeColumns.seen_in(a) for a in moments.attributes)
        Z = self._columns_of(rows.attributes, rows.n_rows)
        Z = Z if rows.weight is None else Z * np.sqrt(rows.weight)[:, None]
        contrasts, sizes = moments.contrasts()
        inverse = np.linalg.pinv(Z, rcond=DEPENDENT)
        # The regression on the attributes' columns, of unit length.
        coefficients = inverse @ (inverse.T @ (contrasts / sizes[:, None]))
        left = moments.scatter.diagonal - np.sum((Z @ coefficients) ** 2, axis=0)
        self._explained = left <= noise_along(moments, np.eye(moments.n_features))
        return {
            "coefficients_": coefficients,
            "mean_": moments.mean,
            "n_samples_seen_": moments.n_rows,
            "groups_": groups_of(moments.attributes),
        }

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
        features = self._features(X)
        if sensitive_features is None:
            raise MissingGroupError(
                f"{type(self).__name__} subtracts what the attributes of a row explain of it, but "
                f"transform was given none. Pass transform(X, sensitive_features=...) (in a "
                f"pipeline, with metadata routing: set_transform_request(sensitive_features=True)),"
                f" or use LEACE, which needs them at fit only."
            )
        check_frames(X=X, sensitive_features=sensitive_features)
        Z = self._columns_of(read_attributes(sensitive_features), features.shape[0])
        T = np.asarray(features - Z @ self.coefficients_)
        T[:, self._explained] = self.mean_[self._explained]  # rounding would tell the groups
        return T.astype(features.dtype, copy=False)

    def __sklearn_is_fitted__(self) -> bool:
        return "coefficients_" in vars(self)

    def _columns_of(self, attributes: tuple[Attribute, ...], n: int) -> np.ndarray:
        check_lengths(n, attributes)
        given = {a.name: a for a in attributes}
        expected = [c.name for c in self._columns]
        if set(given) != set(expected):
            raise UsageError(
                f"sensitive_features has the columns {list(given)}, but at fit they were "
                f"{expected}. Pass the same attributes under the same names."
            )
        return np.hstack([c.of(given[c.name]) for c in self._columns])
