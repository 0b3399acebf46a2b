"""What every estimator here has: how it reads, learns, adds batches, and is solved when asked.

An estimator is a class with `fit`, `_check_parameters`, `_solve` (from moments to what is learned)
and, where rows are not read as they are, `_reader`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from threading import RLock
from typing import Any, ClassVar, Self

from joblib import effective_n_jobs
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._attributes import advising
from .._moments import DenseScatter, GroupMoments, MoreDigitsNeeded, moments_at
from .._numerics import check_n_jobs, limited_threads, threads_for
from .._rows import LazyRows, Rows
from ..errors import UsageError
from ._reader import HOST, Reader
from ._transform import Transformer

_SOLVING = RLock()

KEEP_UP_TO = 4096
"""Moments of more features than this are not kept after `fit`."""


class Representation(Transformer):
    """Base of what is learned from rows: nothing changes on an error, and only when asked for."""

    # Parameters of `FairPCA` that a method as published does not have.
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

    _frozen_after_first_batch: ClassVar[tuple[str, ...]] = ()
    """What later batches build on, beside the moments; only `fit` drops it."""

    _equal_means: ClassVar[bool] = False
    """Whether group means are equal in the training data, without a trade-off: for cards."""

    moments_: GroupMoments

    def _check_parameters(self) -> None:
        """Raise if a parameter is not usable."""

    def _reader(self) -> Reader:
        """Return how rows are read."""
        return Reader.of(self)

    def _solve(self, moments: GroupMoments) -> dict[str, Any]:
        """Return what is learned from moments, by name."""
        raise NotImplementedError

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Let the threads work that the user asked for, and undo everything on an error."""
        before = dict(vars(self))
        try:
            with advising(self._get_param_names()), self._threads():
                yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _threads(self) -> AbstractContextManager[None]:
        if self.n_jobs is None:
            return nullcontext()
        check_n_jobs(self.n_jobs)
        return limited_threads(effective_n_jobs(self.n_jobs))

    def _begin(self) -> None:
        """Check the parameters, and drop all that was learned before."""
        self._check_parameters()
        at_first = (*self._frozen_after_first_batch, "n_features_in_", "feature_names_in_")
        for name in (*self._learned, "moments_", *at_first):
            self.__dict__.pop(name, None)

    def _learn_from_rows(
        self,
        reader: Reader,
        rows: Rows | LazyRows,
        *more: Any,
        given: Rows | LazyRows | None = None,
    ) -> None:
        """Take moments, solve, and keep them; again in double where single precision is too little.

        Where rows come in float32 and vary far less along some directions than along others, sums
        in single precision cannot tell these from rounding. Then rows are added up once more. Where
        rows are seen through a kernel, those that were `given` tell which values are far off.
        """
        moments = reader.moments(rows, provisional=True)
        if given is not None and given is not rows:
            moments = reader.with_far_values(moments, given)
        try:
            self._learn_from(moments, *more)
        except MoreDigitsNeeded:
            assert isinstance(rows, Rows), "only sums over rows in memory are provisional"
            moments = reader.moments(rows.in_double())
            self._learn_from(moments, *more)
        self._keep(replace(moments, provisional=False))

    def _learn_from(self, moments: GroupMoments, *more: Any) -> None:
        """Solve, and set what is learned."""
        self._reader().check(moments)
        drawn = any(isinstance(each, Rows) for each in more)  # which threads share
        with nullcontext() if drawn else threads_for(moments.n_features):
            self.__dict__.update(self._solve(moments, *more))

    def _keep(self, moments: GroupMoments) -> None:
        """Keep moments for later batches, unless they are the rows themselves, or very large."""
        if isinstance(moments.scatter, DenseScatter) and moments.n_features <= KEEP_UP_TO:
            self.moments_ = moments if self.device is None else moments_at(moments, HOST)

    def _batch(
        self,
        reader: Reader,
        X: Any,
        y: Any,
        sensitive_features: Any,
        sample_weight: Any,
        given: Any,
    ) -> Rows | LazyRows:
        """Return the rows that count of a batch, if batches can be added to this estimator."""
        if "moments_" not in vars(self) and self._is_solved():
            raise UsageError(
                f"No batch can be added: {self._why_no_moments()}. Use partial_fit for all batches "
                f"from the start, or a fresh clone."
            )
        self._check_parameters()
        how: dict[str, Any] = {"given": given, "complete": False, "advise": False}
        return reader.rows(X, y, sensitive_features, sample_weight, self._validated, **how)

    def _why_no_moments(self) -> str:
        return (
            f"this {type(self).__name__} has no moments. A model file holds them if it was saved "
            f"with moments=True (fairpca fit --moments); a fit to wide or sparse rows, to more "
            f"than {KEEP_UP_TO} features or with an exact kernel keeps none"
        )

    def _add(self, reader: Reader, rows: Rows | LazyRows) -> None:
        """Add the moments of a batch to those of the batches before."""
        moments = reader.moments(rows, more_follow=True)
        moments = moments if self.device is None else moments_at(moments, HOST)
        before = vars(self).get("moments_")
        total = moments if before is None else before + moments
        reader.warn_many_levels(total)
        for name in self._learned:
            self.__dict__.pop(name, None)
        self.moments_ = total

    def _is_solved(self) -> bool:
        return "_map" in vars(self)

    def _check_solved(self) -> None:
        """Raise unless rows were seen, and compute what was learned if that is still to do."""
        if not self._is_solved():
            check_is_fitted(self)
            self._ensure_solved()

    def _ensure_solved(self) -> None:
        """Compute what was learned, if rows came through `partial_fit`; one thread does."""
        if self._is_solved() or "moments_" not in vars(self):
            return  # nobody waits for another estimator that is being solved
        with _SOLVING:
            if not self._is_solved():
                with advising(self._get_param_names()):
                    self._learn_from(self.moments_)

    def __getattr__(self, name: str) -> Any:
        # After partial_fit the result is computed when it is first asked for.
        if name in self._learned and "moments_" in vars(self) and not self._is_solved():
            try:
                self._ensure_solved()
            except ValueError as reason:
                raise AttributeError(f"{name} cannot be computed yet: {reason}") from reason
            if name in vars(self):
                return vars(self)[name]
        if name == "moments_" and self._is_solved():
            raise AttributeError(self._why_no_moments())
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
        ["_map", "components_", "mean_", "n_components_", "n_samples_seen_", "groups_", "_factors"]
    )

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        given: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Add a batch of rows; any split into batches gives the same result as `fit`.

        The result is computed when it is first asked for (`transform`, or an attribute such as
        `components_`), so adding a batch costs no eigenvectors.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Features of the batch, in the same columns as in every other batch.
        y : array-like of shape (n_samples,), default=None
            Labels; only the criteria other than demographic parity use them.
        sensitive_features : array-like, Series, frame or dict of columns, default=None
            Sensitive attributes of the n_samples rows. A batch may bring new levels of an
            attribute, or lack some. Required, unless `sensitive_columns` names columns of X.
        given : array-like, Series, frame or dict of columns, default=None
            Legitimate factors of the rows, the same in every batch, as in `fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._changing():
            reader = self._reader()
            self._add(reader, self._batch(reader, X, y, sensitive_features, sample_weight, given))
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
        self : object
            The fitted estimator.
        """
        if not isinstance(moments, GroupMoments):
            raise TypeError(
                f"fit_moments takes GroupMoments, not {type(moments).__name__}. Make them with "
                f"fairpca.moments.collect_moments, or use fit for rows."
            )
        self._check_parameters()
        strata = {_class_of(a.stratum) for a in moments.attributes}
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
        with self._changing():
            self._begin()
            if "criterion" not in self.get_params():  # an eraser learns from the rows that count
                moments = replace(moments, everyone=None)
            with advising(None):  # what collect_moments has, too
                self._learn_from(moments)
            self._keep(moments)
            self.n_features_in_ = moments.n_features
        return self


def _class_of(stratum: Any) -> Any:
    """Return the class of y that a stratum is of; None of all rows, and of factors alone."""
    if not isinstance(stratum, tuple):
        return stratum
    name, level = stratum[0]
    return level if name == "y" else None
