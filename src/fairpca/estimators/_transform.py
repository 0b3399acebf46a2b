"""From a map that was learned to representations: `transform`, names, weights of the columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from .._attributes import Columns, as_columns, indexable, numbers_asked, split_columns
from .._maps import AffineMap, FeatureMap, LinearMap
from .._numerics import (
    Array,
    array_namespace,
    for_graphs,
    has_history,
    is_foreign,
    is_numpy,
    quiet_overflow,
)
from .._rows import (
    LazyRows,
    as_lazy_rows,
    checked_rows,
    flat,
    in_place_of,
    in_working_precision,
    is_cube,
    is_plain_on_device,
)
from ..errors import UsageError
from ._checks import FLOATS
from ._reader import Reader, canonical

Method = TypeVar("Method", bound=Callable[..., Any])


def available_where(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """Return scikit-learn's `available_if`, under which methods keep their types."""
    found: Callable[[Method], Method] = available_if(check)
    return found


class Transformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of everything that maps rows: the columns of X, a map of them, names of what it gives.

    Which columns X has is learned from the first rows, as scikit-learn's `validate_data` does it.
    """

    sensitive_columns: Sequence[Any] | None = None

    _map: AffineMap | FeatureMap
    n_components_: int
    n_features_in_: int

    def _reader(self) -> Reader:
        """Return how rows are read."""
        raise NotImplementedError

    def _check_solved(self) -> None:
        """Raise unless there is a map."""
        raise NotImplementedError

    def transform(self, X: Any) -> Any:
        """Return the fair representation of rows; their attributes are not needed.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Features; with ``kernel="precomputed"``, kernel values with the training rows. Also an
            array of shape (batch, tokens, n_features), or a single vector as a tensor; of NumPy,
            whose contract is scikit-learn's, ``X[None]``.

        Returns
        -------
        T : ndarray of shape (n_samples, n_components)
            Of tensors and CuPy arrays: the same library, device and precision, also of float16 and
            bfloat16. Of three dimensions: three. torch differentiates through it, but not through
            kernels: these raise an error where a tensor requires a gradient.
            The representation; with ``tradeoff > 0``, of twice as many columns. It is computed in
            blocks, without a copy of X or a whole kernel matrix. For a Dask or Spark collection it
            is a lazy collection of the same engine; `set_output` is for rows in memory.
        """
        self._check_solved()
        T = self._of_device_rows(X) if is_foreign(X) else None
        if T is not None:
            return T
        source = as_lazy_rows(X)
        if source is not None:
            return _transformed_lazily(self, source)
        if is_cube(X):
            T = self.transform(*flat(X))
            return array_namespace(T).reshape(T, (*X.shape[:2], T.shape[1]))
        T = self._of_plain_array(X)
        if T is not None:
            return T
        if is_foreign(X) and X.ndim == 1:
            return self.transform(X[None, :])[0, :]
        if is_numpy(X) and X.shape == (self.n_features_in_,):
            raise UsageError(
                f"Expected 2D array, got 1D array instead: X has shape {X.shape}, and for a single "
                f"vector of NumPy scikit-learn's contract asks for an error. Reshape your data: "
                f"transform(X[None])[0]; or pass a tensor, which comes back as a vector."
            )
        return in_place_of(self._represent(self._features(X)), X)

    def _of_plain_array(self, X: Any) -> np.ndarray | None:
        """Return the representation of finite floats with the columns seen; None of all else."""
        seen = vars(self).get("feature_names_in_")
        if seen is not None and type(X).__module__.startswith("pandas"):
            X = X.to_numpy() if np.array_equal(getattr(X, "columns", ()), seen) else None
            seen = None
        if type(X) is not np.ndarray or X.ndim != 2 or X.dtype not in FLOATS or seen is not None:
            return None
        expected = self.sensitive_columns is None and X.shape[1] == self.n_features_in_
        if not expected or X.shape[0] == 0:
            return None
        with quiet_overflow():  # a sum is finite if all numbers are, or nearly so: then checks tell
            linear = isinstance(self._map, LinearMap) and _reaches_all(self._map.matrix, X)
            if not linear and not np.isfinite(X.sum()):
                return None
            T = self._represent(X)
            return T if not linear or np.isfinite(T.sum()) else None

    def _of_device_rows(self, X: Any) -> Array | None:
        """Return the representation of finite floats on a device; None of what needs a look."""
        linear, columns = self._map, self.n_features_in_
        named = self.sensitive_columns is not None or "feature_names_in_" in vars(self)
        if named or not isinstance(linear, AffineMap) or not is_plain_on_device(X, columns):
            return None
        T = linear.unchecked(in_working_precision(X))
        return T if T is None or T.dtype == X.dtype else in_place_of(T, X)

    def _features(self, X: Any, **checks: Any) -> Any:
        """Return features with the columns seen at `fit`."""
        return self._validated(X, **checks)[0]

    def _validated(self, X: Any, **checks: Any) -> tuple[Any, Columns | None]:
        """Return the features as an array, and the sensitive columns of X if it holds them."""
        first = "n_features_in_" not in vars(self)
        if first and self.sensitive_columns is None and _is_plain(X, **checks):
            self.n_features_in_ = X.shape[1]
            return X, None
        reader = self._reader()
        X = reader.in_reach(X)
        there = is_foreign(X)  # and stays there
        if self.sensitive_columns is None:
            sparse = "csr" if reader.takes_sparse else False
            left = {"accept_sparse": sparse, "dtype": FLOATS, **checks}
            if there:
                X, left = checked_rows(X, **checks), {"skip_check_array": True}
            with numbers_asked(X):
                return canonical(validate_data(self, X, reset=first, **left)), None
        X = checked_rows(X, ensure_all_finite=False) if there else indexable(X)
        if not first and self._lacks_sensitive_columns(X, reader.sensitive):
            return reader.array(X, **checks), None
        validate_data(self, X, reset=first, skip_check_array=True)
        features, columns = split_columns(X, reader.sensitive)
        return reader.array(features, **checks), columns

    def _lacks_sensitive_columns(self, X: Any, sensitive: Sequence[Any]) -> bool:
        """Tell whether X has just the features; complain if it has neither form."""
        if X.shape[1] != self.n_features_in_ - len(sensitive):
            return False
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        names = vars(self).get("feature_names_in_")
        if isinstance(frame, nw.DataFrame) and names is not None:
            expected = [c for c in names if c not in sensitive]
            if list(frame.columns) != expected:
                raise UsageError(
                    f"X has the columns {list(frame.columns)[:10]}, but the features at fit were "
                    f"{expected[:10]}. Pass the same columns in the same order, with or without "
                    f"the sensitive ones."
                )
        return True

    def _represent(self, features: Any) -> Any:
        if has_history(features) and isinstance(self._map, AffineMap):
            return self._map.converted(for_graphs)(features)
        return self._map(features)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of the representation.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Ignored; there for the interface of scikit-learn.

        Returns
        -------
        names : ndarray of str
            The class's name in lower case and a number: ``fairpca0, fairpca1, ...``; with
            ``tradeoff > 0`` the standard half follows as ``fairpca_standard0, ...``, which is not
            fair.
        """
        names = super().get_feature_names_out(input_features)
        k, prefix = self.n_components_, type(self).__name__.lower()
        standard = [f"{prefix}_standard{i}" for i in range(len(names) - k)]
        return np.asarray([*names[:k], *standard], dtype=object)

    def column_weights(self, coef: Any, intercept: Any = 0.0) -> tuple[np.ndarray, Any]:
        """Return the weights that a linear model on the representation gives to the columns of X.

        ``X @ weights.T + intercept`` is then what the model makes of the representation of X.

        Parameters
        ----------
        coef : array-like of shape (n_components,) or (n_models, n_components)
            Weights of the columns of the representation, such as `coef_` of scikit-learn's models.
        intercept : float or array-like of shape (n_models,), default=0.0
            What the model adds, such as its `intercept_`.

        Returns
        -------
        weights : ndarray of shape (n_features,) or (n_models, n_features)
            Per unit of each column of X, whether or not it was scaled inside, in the order of
            `feature_names_in_` (without the `sensitive_columns`).
        intercept : float or ndarray of shape (n_models,)
            What is left to add.

        Raises
        ------
        UsageError
            If the representation is no linear function of the columns, as with a kernel.

        See Also
        --------
        fairpca.tables.TableEncoder.column_weights : Goes on to the columns of a table.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> from fairpca import FairPCA
        >>> rng = np.random.default_rng(0)
        >>> sex, X = rng.integers(0, 2, size=500), rng.normal(size=(500, 4))
        >>> fair = FairPCA(scale=True).fit(X, sensitive_features=sex)
        >>> T = fair.transform(X)
        >>> model = LogisticRegression().fit(T, X[:, 1] > 0)
        >>> weights, intercept = fair.column_weights(model.coef_, model.intercept_)
        >>> weights.shape, int(abs(weights[0]).argmax())
        ((1, 4), 1)
        >>> bool(np.allclose(X @ weights[0] + intercept, model.decision_function(T)))
        True
        """
        self._check_solved()
        linear = vars(self).get("_map")
        if not isinstance(linear, AffineMap):
            raise UsageError(
                f"What this {type(self).__name__} returns is not a linear function of the columns "
                f"alone, so a downstream model has no weights for them. Measure how much each "
                f"column matters: sklearn.inspection.permutation_importance of the whole pipeline."
            )
        coef, added = np.asarray(coef, dtype=float), np.asarray(intercept, dtype=float)
        k = self._n_features_out
        if (
            coef.ndim not in (1, 2)
            or coef.shape[-1] != k
            or added.shape not in ((), coef.shape[:-1])
        ):
            raise UsageError(
                f"coef and intercept have the shapes {coef.shape} and {added.shape}, but this "
                f"representation has {k} columns. Pass coef of shape ({k},) or (m, {k}), and one "
                f"number for each row of it, or a single one."
            )
        weights, constant = linear.column_weights(coef)
        return weights, constant + added

    @property
    def _n_features_out(self) -> int:
        return self._map.n_outputs

    def _checked_representation(self, T: Any) -> Array:
        """Return what `inverse_transform` was given, if it has as many columns as it should."""
        self._check_solved()
        if is_foreign(T) and self._reader().takes_device_arrays:
            T = checked_rows(T)
        else:
            T = check_array(self._reader().in_reach(T), dtype=FLOATS)
        if T.shape[1] != self._n_features_out:
            raise UsageError(
                f"X has {T.shape[1]} columns, but this representation has {self._n_features_out}. "
                f"Pass what transform returned."
            )
        return T


def _is_plain(X: Any, *, ensure_min_samples: int = 1, ensure_all_finite: bool = True) -> bool:
    """Tell whether X is an array of floats that needs no check but of its numbers, made later."""
    plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype in FLOATS and not ensure_all_finite
    return plain and X.shape[0] >= ensure_min_samples and X.shape[1] > 0


def _reaches_all(matrix: Array, X: np.ndarray) -> bool:
    """Tell whether what is not finite in many rows shows in their products, which are fewer."""
    # Factors that are exactly zero are skipped by some implementations of BLAS.
    many = X.shape[0] > 4 * matrix.shape[1]
    return many and is_numpy(matrix) and bool(matrix.any(axis=1).all())


@dataclass(frozen=True)
class _Transform:
    """From the features of some rows to their representation; there may be none."""

    estimator: Any

    def __call__(self, X: Any) -> np.ndarray:
        if X.shape[0] == 0:
            features = self.estimator._features(X, ensure_min_samples=0)
            return np.empty((0, self.estimator._n_features_out), dtype=features.dtype)
        return np.asarray(self.estimator.transform(X))


def _transformed_lazily(estimator: Any, source: LazyRows) -> Any:
    """Return a lazy collection of the representations of rows that are elsewhere."""
    # As scikit-learn looks it up: what set_output stored, else the setting for all estimators.
    chosen = getattr(estimator, "_sklearn_output_config", {})
    output = chosen.get("transform", get_config()["transform_output"])
    if output != "default":  # scikit-learn would make a frame in memory of it
        raise UsageError(
            f"The output of transform is set to {output!r}, which would bring all rows into this "
            f"process: transform of a Dask or Spark collection returns a lazy collection of the "
            f"same engine. set_output applies to rows in memory only: call "
            f"set_output(transform='default') first."
        )
    names = [str(name) for name in getattr(estimator, "feature_names_in_", ())]
    sensitive = estimator.sensitive_columns
    source = source.for_estimator(as_columns(sensitive), names)
    shell = copy(estimator)
    shell.__dict__.pop("moments_", None)  # large, and of no use there
    shell.__dict__.pop("_sklearn_output_config", None)
    transform = _Transform(shell)
    names = [str(name) for name in estimator.get_feature_names_out()]
    return source.mapped(transform, names, transform(source.head.X).dtype)
