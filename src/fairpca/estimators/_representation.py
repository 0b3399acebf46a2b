"""`transform` and what scikit-learn asks of everything that has it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from .._numerics import Array, is_foreign
from .._rows import FeatureMap, LinearMap, rows_elsewhere
from ..errors import UsageError
from ._device_arrays import checked_rows, in_numpy
from ._moment_fits import FitsFromMoments
from ._parts import transformed_elsewhere
from ._sensitive_rows import FLOATS, ReadsSensitiveRows


class Represents(
    ReadsSensitiveRows, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Base of everything that maps rows: a fitted map, and what scikit-learn asks for."""

    _map: LinearMap | FeatureMap
    n_components_: int
    random_state: Any

    def _ensure_solved(self) -> None:
        """Compute what was learned, where that was put off."""

    def transform(self, X: Any) -> Any:
        """Return the fair representation of rows; their attributes are not needed.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, d)
            Features; with ``kernel="precomputed"``, kernel values with the training rows.

        Returns
        -------
        T : array of shape (n, k), or (n, 2k) with ``tradeoff > 0``
            Computed in blocks: no copy of X, and no kernel matrix, is ever there as a whole. Of a
            Dask or Spark collection: a lazy collection of the same engine; `set_output` is for rows
            in memory.
        """
        check_is_fitted(self)
        self._ensure_solved()
        source = rows_elsewhere(X)
        if source is not None:
            _check_lazy_output(self)
            return transformed_elsewhere(self, source)
        return self._represent(self._features(X, first=False)[0])

    def _represent(self, features: Any) -> Any:
        return self._map(features)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of the representation.

        Parameters
        ----------
        input_features : ignored
            As in scikit-learn.

        Returns
        -------
        names : array of str
            The class's name in lower case and a number: ``fairpca0, fairpca1, ...``; with
            ``tradeoff > 0`` the standard half follows as ``fairpca_standard0, ...``, so that
            nobody takes it for fair.
        """
        names = super().get_feature_names_out(input_features)
        k, prefix = self.n_components_, type(self).__name__.lower()
        standard = [f"{prefix}_standard{i}" for i in range(len(names) - k)]
        return np.asarray([*names[:k], *standard], dtype=object)

    @property
    def _n_features_out(self) -> int:
        return int(self._map.matrix.shape[1])

    def _checked_representation(self, T: Any) -> Array:
        """Return what `inverse_transform` was given, if it has as many columns as it should."""
        check_is_fitted(self)
        self._ensure_solved()
        if is_foreign(T) and self._works_on_devices:
            T = checked_rows(T)
        else:
            T = check_array(in_numpy(T, type(self).__name__), dtype=FLOATS)
        if T.shape[1] != self._n_features_out:
            raise UsageError(
                f"T has {T.shape[1]} columns, but this representation has {self._n_features_out}. "
                f"Pass what transform returned."
            )
        return T

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _start(self) -> int:
        """Return a seed for start vectors, which change digits only.

        A draw from NumPy's own state, which None stands for, would change what others draw.
        """
        return 0 if self.random_state is None else self._seed()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = self.criterion != "demographic_parity"
        return tags


def _check_lazy_output(estimator: Any) -> None:
    """Raise if scikit-learn would make a frame in memory of what is to be computed later."""
    # As scikit-learn looks it up: what set_output stored, else the setting for all estimators.
    chosen = getattr(estimator, "_sklearn_output_config", {})
    output = chosen.get("transform", get_config()["transform_output"])
    if output != "default":
        raise UsageError(
            f"The output of transform is set to {output!r}, which would bring all rows into this "
            f"process: transform of a Dask or Spark collection returns a lazy collection of the "
            f"same engine. set_output applies to rows in memory only: call "
            f"set_output(transform='default') first."
        )


class FairTransformer(FitsFromMoments, Represents):
    """Base of the estimators that moments are enough for."""
