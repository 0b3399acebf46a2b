"""What every estimator here has: `fit`, `partial_fit`, `fit_moments`, `transform`.

An estimator is a class with `_check_parameters`, `_solve` (from moments to what is learned) and,
where rows are not read as they are, `_reader`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from threading import RLock
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from joblib import effective_n_jobs
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._attributes import as_columns
from .._maps import FeatureMap, LinearMap
from .._moments import AttributeMoments, DenseScatter, GroupMoments, LevelMoments, moments_at
from .._numerics import (
    Array,
    check_n_jobs,
    is_foreign,
    is_numpy,
    is_single,
    limited_threads,
    quiet_overflow,
    threads_for,
    unmasked,
)
from .._rows import Rows, RowsElsewhere, checked_rows, in_numpy, rows_elsewhere
from ..errors import ResidualWarning, UsageError, warn_user
from ._checks import FLOATS
from ._reader import HOST, Reader

_SOLVING = RLock()

KEEP_UP_TO = 4096
"""Moments of more features than this are not kept after `fit`."""

RESIDUAL_LIMIT, RESIDUAL_LIMIT_SINGLE = 1e-7, 1e-3
"""Gaps above this are reported, in double and single precision."""


Method = TypeVar("Method", bound=Callable[..., Any])


def available_where(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """Return scikit-learn's `available_if`, under which methods keep their types."""
    found: Callable[[Method], Method] = available_if(check)
    return found


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Leave the estimator as it was if anything goes wrong inside."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


class Representation(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of everything that maps rows: a map that was learned, and what scikit-learn asks for."""

    # Parameters of `FairPCA` that a method as published does not have.
    sensitive_columns: Sequence[Any] | None = None
    sensitive_kinds: Mapping[Any, str] | None = None
    intersectional: bool = False
    missing_sensitive: str = "error"
    criterion: str = "demographic_parity"
    pos_label: Any = 1
    device: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    _learned: ClassVar[frozenset[str]] = frozenset()
    """What `_solve` returns; after `partial_fit` it is computed when it is first asked for."""

    _with_scatters: ClassVar[bool] = False
    """Whether moments have a scatter per group."""

    _decided_at_first: ClassVar[tuple[str, ...]] = ()
    """What later batches build on, beside the moments; only `fit` drops it."""

    _map: LinearMap | FeatureMap
    n_components_: int
    moments_: GroupMoments

    def _check_parameters(self) -> None:
        """Raise if a parameter is not usable."""

    def _reader(self) -> Reader:
        """Return how rows are read."""
        return Reader.of(self, with_scatters=self._with_scatters)

    def _prepared(self, reader: Reader, rows: Rows | RowsElsewhere) -> Reader:
        """Decide what the rows must tell before moments are taken; return who takes them."""
        return reader

    def _solve(self, moments: GroupMoments) -> dict[str, Any]:
        """Return what is learned from moments, by name."""
        raise NotImplementedError

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
        self._check_solved()
        source = rows_elsewhere(X)
        if source is not None:
            return _transformed_elsewhere(self, source)
        T = self._of_plain_array(X)
        return self._represent(self._features(X)) if T is None else T

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

    def _check_solved(self) -> None:
        """Raise unless rows were seen, and compute what was learned if that is still to do."""
        if not self._is_solved():
            check_is_fitted(self)
            self._ensure_solved()

    def _features(self, X: Any, **checks: Any) -> Any:
        """Return features with the columns seen at `fit`."""
        return self._reader().features(X, self, **checks)[0]

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

    def column_weights(self, coef: Any, intercept: Any = 0.0) -> tuple[np.ndarray, Any]:
        """Return the weights that a linear model on the representation gives to the columns of X.

        ``X @ weights.T + intercept`` is then what the model makes of the representation of X.

        Parameters
        ----------
        coef : array-like of shape (k,) or (m, k)
            Weights of the columns of the representation, such as `coef_` of scikit-learn's models.
        intercept : float or array-like of shape (m,), default=0.0
            What the model adds, such as its `intercept_`.

        Returns
        -------
        weights : array of shape (d,) or (m, d)
            Per unit of each column of X, whether or not it was scaled inside, in the order of
            `feature_names_in_` (without the `sensitive_columns`).
        intercept : float or array of shape (m,)
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
        if not isinstance(linear, LinearMap):
            raise UsageError(
                f"What this {type(self).__name__} returns is no linear function of the columns "
                f"alone, so a model on it has no weights of theirs. Ask how much each column "
                f"matters: sklearn.inspection.permutation_importance of the whole pipeline."
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
        return int(self._map.matrix.shape[1])

    def _checked_representation(self, T: Any) -> Array:
        """Return what `inverse_transform` was given, if it has as many columns as it should."""
        self._check_solved()
        if is_foreign(T) and self._reader().takes_device_arrays:
            T = checked_rows(T)
        else:
            T = in_numpy(T, type(self).__name__) if is_foreign(T) else unmasked(T)
            T = check_array(T, dtype=FLOATS)
        if T.shape[1] != self._n_features_out:
            raise UsageError(
                f"T has {T.shape[1]} columns, but this representation has {self._n_features_out}. "
                f"Pass what transform returned."
            )
        return T

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Let the threads work that the user asked for, and undo everything on an error."""
        with unchanged_on_error(self), self._threads():
            yield

    def _threads(self) -> Any:
        check_n_jobs(self.n_jobs)
        return limited_threads(None if self.n_jobs is None else effective_n_jobs(self.n_jobs))

    def _forget(self, *, all_of_it: bool = False) -> None:
        """Drop what was learned; what later batches build on only if they start anew."""
        at_first = (*self._decided_at_first, "n_features_in_", "feature_names_in_")
        for name in [*self._learned, "moments_", *(at_first if all_of_it else ())]:
            self.__dict__.pop(name, None)

    def _fit_rows(self, reader: Reader, rows: Rows | RowsElsewhere) -> None:
        """Fit to rows that are all there is, and keep their moments."""
        moments = reader.moments(rows, self)
        self._fit_to(moments)
        self._keep(moments)

    def _fit_to(self, moments: GroupMoments) -> None:
        self._reader().check(moments)
        with threads_for(moments.n_features):
            self.__dict__.update(self._solve(moments))

    def _keep(self, moments: GroupMoments) -> None:
        """Keep moments for later batches, unless they are the rows themselves, or very large."""
        if isinstance(moments.scatter, DenseScatter) and moments.n_features <= KEEP_UP_TO:
            self.moments_ = moments if self.device is None else moments_at(moments, HOST)

    def _add(self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> None:
        """Add the moments of a batch to those of the batches before."""
        first = "moments_" not in vars(self)
        if first and self._is_solved():
            raise UsageError(
                f"This {type(self).__name__} was fitted to wide or sparse rows, to very many "
                f"features, or exactly with a kernel, and kept no moments, so a batch cannot be "
                f"added to it. Use partial_fit for all batches from the start, or a fresh clone."
            )
        with self._changing():
            self._check_parameters()
            reader = replace(self._reader(), keeps=True, advise=False)
            rows = reader.rows(X, y, sensitive_features, sample_weight, self)
            moments = self._prepared(reader, rows).moments(rows, self)
            total = moments if first else self.moments_ + moments
            reader.tell_of_levels(total)
            self._forget()
            self.moments_ = total

    def _is_solved(self) -> bool:
        return "_map" in vars(self)

    def _ensure_solved(self) -> None:
        """Compute what was learned, if rows came through `partial_fit`; one thread does."""
        if self._is_solved() or "moments_" not in vars(self):
            return  # nobody waits for another estimator that is being solved
        with _SOLVING:
            if not self._is_solved():
                self._fit_to(self.moments_)

    def __getattr__(self, name: str) -> Any:
        # After partial_fit the result is computed when it is first asked for.
        if name in self._learned and "moments_" in vars(self) and not self._is_solved():
            try:
                self._ensure_solved()
            except ValueError as reason:
                raise AttributeError(f"{name} cannot be computed yet: {reason}") from reason
            if name in vars(self):
                return vars(self)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_solved() or "moments_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._reader().takes_sparse
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = self.criterion != "demographic_parity"
        return tags

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _start(self) -> int:
        """Return a seed for start vectors, which change digits only."""
        # A draw from NumPy's own state, which None stands for, would change what others draw.
        return 0 if self.random_state is None else self._seed()


class FairTransformer(Representation):
    """Base of the methods that are functions of the features' moments: one pass, any order."""

    _learned: ClassVar[frozenset[str]] = frozenset(
        ["_map", "components_", "mean_", "n_components_", "n_samples_seen_", "groups_"]
    )

    def fit(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn the fair representation of the rows of `X`.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, d)
            Features. Tensors of torch and CuPy stay on their device. A Dask array or DataFrame, a
            Spark DataFrame and `fairpca.io.ParquetRows` are read where they are, part by part, with
            the same result; for Spark, the other arguments are names of columns of X.
        y : array-like of shape (n,), optional
            Labels; only the criteria other than demographic parity look at them.
        sensitive_features : array-like, Series, frame or dict of columns with n rows
            Sensitive attributes, any number of columns, paired with the rows by position: where
            both have row labels, as in pandas, these must be the same in the same order.
            Required, unless `sensitive_columns` names columns of X.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0.

        Returns
        -------
        self
        """
        with self._changing():
            self._check_parameters()
            self._forget(all_of_it=True)
            reader = replace(self._reader(), complete=True)
            rows = reader.rows(X, y, sensitive_features, sample_weight, self)
            self._fit_rows(self._prepared(reader, rows), rows)
        return self

    def partial_fit(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add a batch of rows; any split into batches gives the same result as `fit`.

        The result is computed when it is first asked for (`transform`, or an attribute such as
        `components_`), so adding a batch costs no eigenvectors.

        Parameters
        ----------
        X, y, sensitive_features, sample_weight
            As in `fit`. Levels of an attribute may be new, or absent, in a batch.

        Returns
        -------
        self
        """
        self._add(X, y, sensitive_features, sample_weight)
        return self

    def fit_moments(self, moments: GroupMoments) -> Self:
        """Learn the fair representation of rows known only through their moments.

        Parameters
        ----------
        moments : GroupMoments
            From `fairpca.moments.collect_moments`, possibly the sum over many batches or machines.
            The criterion and the treatment of missing attributes were applied when they were
            collected.

        Returns
        -------
        self
        """
        if not isinstance(moments, GroupMoments):
            raise TypeError(
                f"fit_moments takes GroupMoments, not {type(moments).__name__}. Make them with "
                f"fairpca.moments.collect_moments, or use fit for rows."
            )
        self._check_parameters()
        strata = {a.stratum for a in moments.attributes}
        other = None in strata
        if self.criterion == "equal_opportunity":  # moments with targets are those of all rows
            other |= len(strata) > 1 if self._reader().with_targets else moments.everyone is None
        if self.criterion != "demographic_parity" and other:
            raise UsageError(
                f"criterion={self.criterion!r}, but these moments were collected for another "
                f"criterion. Collect them with collect_moments(..., y=y, "
                f"criterion={self.criterion!r})."
            )
        if self.sensitive_columns is not None:
            raise UsageError(
                "sensitive_columns names columns of X, but moments have features only. Leave it "
                "out here, and in collect_moments name the attributes."
            )
        with unchanged_on_error(self):
            self._forget(all_of_it=True)
            if "criterion" not in self.get_params():  # a peer learns from the rows that count
                moments = replace(moments, everyone=None)
            self._fit_to(moments)
            self._keep(moments)
            self.n_features_in_ = moments.n_features
        return self


def learned_from(linear: LinearMap, moments: GroupMoments) -> dict[str, Any]:
    """Return a linear map in scikit-learn's words."""
    return {
        "_map": linear,
        "components_": linear.matrix.T,
        "mean_": linear.mean,
        "n_components_": int(linear.matrix.shape[1]),
        "n_samples_seen_": moments.n_rows,
        "groups_": groups_of(moments.attributes),
    }


def _reaches_all(matrix: Array, X: np.ndarray) -> bool:
    """Tell whether what is not finite in many rows shows in their products, which are fewer."""
    # Factors that are exactly zero are skipped by some implementations of BLAS.
    many = X.shape[0] > 4 * matrix.shape[1]
    return many and is_numpy(matrix) and bool(matrix.any(axis=1).all())


def groups_of(attributes: Sequence[AttributeMoments]) -> dict[str, Any]:
    """Return the levels of each attribute, or "numeric"."""
    return {
        a.name: list(a.labels) if isinstance(a, LevelMoments) else "numeric" for a in attributes
    }


def warn_of_a_residual(gap: float, precision: float, reason: str) -> None:
    """Warn with the number if the constraint holds less exactly than rounding explains."""
    single = is_single(precision)
    if gap > (RESIDUAL_LIMIT_SINGLE if single else RESIDUAL_LIMIT):
        advice = " or float64" if single else ""
        warn_user(
            f"A group mean still differs by {gap:.1e} standard deviations of a component (or a "
            f"numeric attribute correlates by that much), more than rounding explains: "
            f"{reason}{advice}. The number is in mean_gap_.",
            ResidualWarning,
        )


@dataclass(frozen=True)
class _Transform:
    """From the features of some rows to their representation; there may be none."""

    estimator: Any

    def __call__(self, X: Any) -> np.ndarray:
        if X.shape[0] == 0:
            features = self.estimator._features(X, ensure_min_samples=0)
            return np.empty((0, self.estimator._n_features_out), dtype=features.dtype)
        return np.asarray(self.estimator.transform(X))


def _transformed_elsewhere(estimator: Any, source: RowsElsewhere) -> Any:
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
