"""The scikit-learn face of fair kernel PCA: validate, call, store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from .._kernels import PRECOMPUTED, Features, KernelOptions, RowsAndKernel
from .._maps import FeatureMap, LinearMap
from .._moments import GroupMoments
from .._rows import LazyRows, Rows
from ..errors import UsageError
from ._checks import (
    DECIDED_AT_FIRST,
    NYSTROEM,
    check_bool,
    check_choice,
    check_kernel_parameters,
    check_n_components,
    check_number,
    check_tradeoff,
)
from ._contract import Representation
from ._drawn_rows import draw_rows
from ._exact_kernel import solve_exact_kernel
from ._finite_moments import check_finite
from ._kernel_features import (
    check_unchanged,
    draw_features,
    draw_features_beside_columns,
    finite_map,
    solve_beside_columns,
    solve_features,
)
from ._learned import DISTRIBUTION_PENALTY, say
from ._reader import Reader
from ._transform import available_where


def _by_distributions(estimator: Any) -> bool:
    return bool(estimator.match == "distributions")


def _approximates(estimator: Any) -> bool:
    return estimator.approximation is not None


def _adds_batches(estimator: Any) -> bool:
    return _approximates(estimator) and not _by_distributions(estimator)


def _has_an_inverse(estimator: Any) -> bool:
    exact = estimator.kernel == "linear" and estimator.approximation is None
    return exact or _by_distributions(estimator)


_UNAVAILABLE = {
    "partial_fit": (
        "partial_fit needs approximation='nystroem' or 'random_features' and match='means': the "
        "exact method compares every row with every other, and distributions are compared in many "
        "steps, so rows must be there all of them at once (use fit)."
    ),
    "inverse_transform": (
        "inverse_transform exists for the exact linear kernel only (and for match='distributions', "
        "which reconstructs the columns): a point of another kernel's "
        "feature space is in general the image of no row. Learn a pre-image if you need one, for "
        "instance sklearn.kernel_ridge.KernelRidge().fit(fair.transform(X), X)."
    ),
}


class FairKernelPCA(Representation):
    r"""Kernel principal components under the constraint that all groups have the same mean.

    This is fair PCA in the feature space of a kernel. Among all k-dimensional projections of that
    space under which every demographic group has the same mean, it keeps the most variance. It is
    kernel PCA of a kernel without the groups' differences, and costs what kernel PCA costs. With
    ``approximation="nystroem"`` it streams over any number of rows.

    Use it where the signal is not linear. With ``match="means"`` the groups are hidden from linear
    downstream models; with ``match="distributions"`` and landmarks from nearly every model that we
    tested: columns and kernel values together are mapped so that the columns are reconstructed
    best while readers hardly predict the groups. On held-out data this holds up to sampling error:
    measure it with ``fairpca.metrics.leakage(..., probe="strong")``. **Keep k small next to the
    number of rows**: a flexible kernel has many directions in which a sample's groups differ by
    chance. With hundreds of components of a thousand rows, a linear model predicts the group of
    new people again.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of components k. A float in (0, 1) selects the fewest that keep this share of the
        total variance in feature space. None keeps all that rounding leaves reliable (where
        `mean_gap_` stays below 1e-7), usually too many to be fair on held-out data.
    kernel : str or callable, default="rbf"
        Similarity of two rows: "rbf", "laplacian", "poly", "sigmoid", "cosine", "linear" or
        "precomputed". With "precomputed", X is the kernel matrix of the training rows at
        `fit`, and that of new with training rows at `transform`. A function takes two rows and
        returns a number, as in scikit-learn's KernelPCA.
    gamma : float, "scale" or "auto", default="scale"
        Coefficient of the rbf, laplacian, poly and sigmoid kernels. "scale" is
        1 / (n_features Var(X)) with the variance of all entries of X, the paper's choice; "auto" is
        1 / n_features.
    degree : float, default=3
        Degree of the poly kernel.
    coef0 : float, default=1.0
        Independent term of the poly and sigmoid kernels.
    kernel_params : dict, default=None
        Keyword arguments of a `kernel` that is a function.
    center : bool, default=True
        Whether to subtract the mean in feature space before maximising, as scikit-learn's
        KernelPCA does. The paper's Algorithm 3 does not.
    approximation : {None, "nystroem", "random_features"}, default=None
        None is exact and takes n x n numbers. "nystroem" compares rows with `n_landmarks` of them;
        "random_features" draws that many Fourier features (rbf and laplacian). Both read the rows
        once, in blocks, in memory that does not depend on n, and satisfy the constraint exactly
        on the training rows.
    n_landmarks : int, default=500
        Number of landmarks, drawn among all rows whatever the criterion, or of random features
        (rounded up to an even number).
    match : {"means", "distributions"}, default="means"
        What to make equal across groups. "means": the means of the components, exactly.
        "distributions": also their distributions, approximately, so that readers (regressions on
        random features of the components) predict the groups as little as possible; it needs
        ``approximation="nystroem"``, and keeps what reconstructs the columns, not the kernel's
        variance.
    distribution_penalty : float, default=6.0
        Weight of the penalty of ``match="distributions"``: how much the share of the groups'
        variance that readers explain counts, next to the share of the variance that is kept. There
        is no penalty below what readers explain of shuffled groups. A larger value hides more and
        keeps less.
    criterion : str, default="demographic_parity"
        Which rows are compared. "demographic_parity": all rows. "equal_opportunity": the rows with
        ``y == pos_label``. "equalized_odds": the rows of each class of y, class by class.
    pos_label : label, default=1
        The positive class of equal opportunity; blanks around texts are ignored.
    tradeoff : float in [0, 1], default=0.0
        The paper's lambda. Above 0, `transform` appends lambda times the components of plain
        kernel PCA, and the guarantee is gone.
    sensitive_columns : list, default=None
        Columns of X (names, or positions) that are the attributes. They are removed from the
        features. Kernels need features of comparable size: to standardise the others first, use
        a ColumnTransformer with ``remainder="passthrough"``, or pass `sensitive_features`.
    sensitive_kinds : dict, default=None
        Declares attributes as "categorical" or "numeric", by column name. By default floats with
        fractions are numeric, and everything else is categorical, including integer values.
    intersectional : bool, default=False
        Whether to compare the joint groups of all categorical attributes (every combination)
        instead of each attribute's groups.
    missing_sensitive : {"error", "ignore", "group"}, default="error"
        What to do where an attribute is missing. "error" raises an error; "ignore" lets the row
        count for the variance, but not for the constraint; "group" makes missing a level.
    solver : {"auto", "dense", "iterative"}, default="auto"
        "dense" is LAPACK; "iterative" is block Krylov iterations; "auto" iterates for few
        components of many rows, and falls back to LAPACK where that does not converge.
    tol : float, default=0.0
        Relative residual at which the iterations may stop; 0 asks for rounding.
    n_jobs : int or None, default=None
        Threads, -1 for all cores. None uses as many as BLAS does.
    random_state : int, RandomState or None, default=None
        Seed of the landmarks, of the random features, and of the start of the iterations.
    verbose : bool, default=False
        Whether to report on standard error how matching distributions proceeds.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Sum of squares of the training data along each component, descending.
    dual_components_ : ndarray of shape (n_samples, n_components)
        Each component as a combination of kernel values: with the training rows; with
        `landmarks_`, then of shape (n_landmarks, n_components); or of the random features.
    gamma_ : float or None
        The kernel's gamma in use; None for kernels that have none.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of each component.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance of each component over the total variance in feature space. For
        Nystroem with kernels other than rbf and laplacian, the total is that which the landmarks
        see; kernels that are not positive have no total that shares add up to.
    n_components_ : int
        The number of components.
    constraint_rank_ : int
        How many directions the constraint removed.
    mean_gap_ : float
        The largest group difference in the training data: the distance of a group's mean from the
        overall mean in standard deviations of a component, or the correlation of a numeric
        attribute with it. Rounding only, where the constraint holds.
    separability_ : float
        The share of variance of a group's indicator (or of a numeric attribute) that readers
        explain in the training data, averaged over groups, attributes and readers; only with
        ``match="distributions"``.
    separability_null_ : float
        What readers explain of shuffled groups, that is by chance; only with
        ``match="distributions"``.
    components_ : ndarray of shape (n_components, n_features)
        Weights of the columns beside the kernel values; only with ``match="distributions"``.
    standard_dual_components_ : ndarray of shape (n_samples, n_components)
        Components of plain kernel PCA; only with ``tradeoff > 0``.
    X_fit_ : ndarray of shape (n_samples, n_features)
        The training data with positive weight that the criterion compares (for equal opportunity
        all, unless ``center=False``); only of exact kernels that are not precomputed.
    landmarks_ : ndarray of shape (n_landmarks, n_features)
        The rows that all others are compared with; only with ``approximation="nystroem"``.
    moments_ : GroupMoments
        Moments of the features of all rows seen, for `partial_fit`; approximate modes only.
    groups_ : dict
        The levels of each attribute, or "numeric".
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only where all of them are strings.
    n_samples_seen_ : int
        Number of rows with positive weight that the criterion compares.

    See Also
    --------
    FairPCA : The linear method.
    FairPLS : Components that predict a known target, with a kernel or without.
    sklearn.decomposition.KernelPCA : Kernel PCA without the constraint.
    fairpca.metrics.leakage : How well a probe predicts an attribute from a representation.

    Notes
    -----
    User guide: :doc:`/howto/choosing` and :doc:`/explanation/kernels`.

    Kernel values are computed in double precision whatever the rows are in. In a stream, landmarks
    and ``gamma="scale"`` come from the first batch.

    References
    ----------
    .. [1] Kleindessner, Donini, Russell, Zafar. "Efficient fair PCA for fair representation
       learning". AISTATS 2023, Section 3.3 and Algorithm 3.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import FairKernelPCA
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=300)
    >>> X = rng.normal(size=(300, 4)) * np.where(sex == "m", 2, 1)[:, None]
    >>> fair = FairKernelPCA(n_components=3).fit(X, sensitive_features=sex)
    >>> T = fair.transform(X)
    >>> bool(np.allclose(T[sex == "f"].mean(axis=0), T[sex == "m"].mean(axis=0)))
    True
    """

    _equal_means = True
    _learned = frozenset(
        [
            "eigenvalues_",
            "dual_components_",
            "standard_dual_components_",
            "explained_variance_",
            "explained_variance_ratio_",
            "n_components_",
            "constraint_rank_",
            "n_samples_seen_",
            "groups_",
            "_factors",
            "mean_gap_",
            "separability_",
            "separability_null_",
            "components_",
            "_map",
        ]
    )
    _frozen_after_first_batch = (
        "_drawn_with",
        "gamma_",
        "landmarks_",
        "X_fit_",
        "_inverse",
        "_feature_map",
    )
    _map: LinearMap | FeatureMap
    _inverse: LinearMap
    _feature_map: Features
    _drawn_with: Mapping[str, Any]

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        kernel: str | Callable[..., float] = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: Mapping[str, Any] | None = None,
        center: bool = True,
        approximation: str | None = None,
        n_landmarks: int = 500,
        match: str = "means",
        distribution_penalty: float = DISTRIBUTION_PENALTY,
        criterion: str = "demographic_parity",
        pos_label: Any = 1,
        tradeoff: float = 0.0,
        sensitive_columns: Sequence[Any] | None = None,
        sensitive_kinds: Mapping[Any, str] | None = None,
        intersectional: bool = False,
        missing_sensitive: str = "error",
        solver: str = "auto",
        tol: float = 0.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.center = center
        self.approximation = approximation
        self.n_landmarks = n_landmarks
        self.match = match
        self.distribution_penalty = distribution_penalty
        self.criterion = criterion
        self.pos_label = pos_label
        self.tradeoff = tradeoff
        self.sensitive_columns = sensitive_columns
        self.sensitive_kinds = sensitive_kinds
        self.intersectional = intersectional
        self.missing_sensitive = missing_sensitive
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        given: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn the fair representation of the rows of `X`.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Features; with ``kernel="precomputed"``, the kernel matrix (n_samples, n_samples).
        y : array-like of shape (n_samples,), default=None
            Labels; only the criteria other than demographic parity use them.
        sensitive_features : array-like, Series, frame or dict of columns, default=None
            Sensitive attributes of the n_samples rows, in any number of columns, paired with the
            rows by position: where both have row labels, as in pandas, these must be the same in
            the same order. Required, unless `sensitive_columns` names columns of X.
        given : array-like, Series, frame or dict of columns, default=None
            Legitimate factors: people whose factors are equal are compared with each other
            (conditional demographic parity). Categories, and numbers of at most ten values, are
            strata, in each of which groups are compared; missing values are a stratum, too. Other
            numbers are regressed out of features and attributes, in each stratum by itself.
            :doc:`/howto/legitimate_factors`
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if self.approximation is None:
            self._fit_exactly(X, y, sensitive_features, sample_weight, given)
            return self
        with self._changing():
            self._begin()
            reader = self._reader()
            came = (X, y, sensitive_features, sample_weight, self._validated)
            rows = reader.rows(*came, given=given)
            reader = self._see_through_kernel(reader, rows, complete=True)
            moments = reader.moments(rows)
            drawn = [draw_rows(reader, rows, self._start())] if _by_distributions(self) else []
            self._learn_from(moments, *drawn)
            self._keep(moments)
        return self

    def _fit_exactly(
        self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any, given: Any
    ) -> np.ndarray | None:
        """Fit with the kernel matrix; return the representation of X, unless rows do not count."""
        with self._changing():
            self._begin()
            reader = self._reader()
            came = (X, y, sensitive_features, sample_weight, self._validated)
            rows = reader.rows(*came, given=given)
            if isinstance(rows, LazyRows):
                raise UsageError(
                    f"Exact kernel PCA compares every row with every other, so it needs them in "
                    f"one place, but X is a {type(X).__name__}. Set approximation='nystroem' or "
                    f"'random_features'."
                )
            check_finite(rows)
            if self.kernel != PRECOMPUTED:
                self._reader().warn_of_far_values(rows)
            learned, T = solve_exact_kernel(
                rows,
                self._options(),
                check_n_components(self.n_components),
                check_tradeoff(self.tradeoff),
                centred=bool(self.center),
                solver=self.solver,
                tol=float(self.tol),
                seed=self._start(),
            )
            self.__dict__.update(learned)
        return None if rows.chosen is not None else T.astype(rows.X.dtype, copy=False)

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        given: Any = None,
        sample_weight: Any = None,
    ) -> Any:
        """Fit to the rows of `X` and return their representation.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Features; with ``kernel="precomputed"``, the kernel matrix (n_samples, n_samples).
        y : array-like of shape (n_samples,), default=None
            Labels; only the criteria other than demographic parity use them.
        sensitive_features : array-like, Series, frame or dict of columns, default=None
            Sensitive attributes of the n_samples rows. Required, unless `sensitive_columns` names
            columns of X.
        given : array-like, Series, frame or dict of columns, default=None
            Legitimate factors of the rows, the same in every batch, as in `fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0.

        Returns
        -------
        T : ndarray of shape (n_samples, n_components)
            The same as `fit` and then `transform`, without computing the kernel twice; with
            ``tradeoff > 0``, twice as many columns.
        """
        T = None
        if self.approximation is None:
            T = self._fit_exactly(X, y, sensitive_features, sample_weight, given)
        else:
            others = {} if given is None else {"given": given}
            others["sample_weight"] = sample_weight
            self.fit(X, y, sensitive_features=sensitive_features, **others)
        return self.transform(X) if T is None else T

    @available_where(_adds_batches)
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        given: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Add a batch of rows; only with an `approximation` and ``match="means"``.

        The first batch decides what the rest is seen through: the landmarks are drawn from it, and
        ``gamma="scale"`` is its. After that, any split into batches gives the same result.

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
            rows = self._batch(reader, X, y, sensitive_features, sample_weight, given)
            self._add(self._see_through_kernel(reader, rows, complete=False), rows)
        return self

    @available_where(_has_an_inverse)
    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return the rows that a representation stands for, where it has any.

        For the exact linear kernel they are the rows themselves, without the directions that
        separate the groups; for ``match="distributions"`` what a linear decoder recovers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Representation; with ``tradeoff > 0``, of twice as many columns.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            The rows in the original columns, without what was removed.
        """
        T = self._checked_representation(X)
        if "_inverse" not in vars(self):
            raise UsageError(
                "This FairKernelPCA was fitted with another kernel, so there is no inverse. Fit it "
                "again with kernel='linear'."
            )
        return self._inverse.inverse(T)

    def _represent(self, features: Any) -> np.ndarray:
        with self._threads():
            return finite_map(self._map, features)

    def _reader(self) -> Reader:
        drawn = vars(self).get("_feature_map")
        return Reader.of(self, features=drawn if _approximates(self) else None)

    def _options(self) -> KernelOptions:
        return KernelOptions(
            self.kernel, self.gamma, self.degree, self.coef0, self.kernel_params, self.n_jobs
        )

    def _see_through_kernel(
        self, reader: Reader, rows: Rows | LazyRows, *, complete: bool
    ) -> Reader:
        """Return the reader of the kernel's features, which the first rows decide."""
        parameters = {name: getattr(self, name) for name in DECIDED_AT_FIRST}
        if "_feature_map" in vars(self):
            check_unchanged(self._drawn_with, parameters)
            return reader
        how: dict[str, Any] = {"seed": self._seed(), "complete": complete}
        if _by_distributions(self):
            beside = parameters | {"scale": False}
            drawn = draw_features_beside_columns(reader, rows, self._options(), beside, **how)
            drawn = replace(drawn, drawn_with=parameters)
        else:
            drawn = draw_features(reader, rows, self._options(), parameters, **how)
        self._feature_map, self._drawn_with = drawn.map, drawn.drawn_with
        self.gamma_ = drawn.gamma
        if drawn.landmarks is not None:
            self.landmarks_ = drawn.landmarks
        return replace(reader, features=drawn.map)

    def _solve(self, moments: GroupMoments, drawn: Rows | None = None) -> dict[str, Any]:
        if drawn is not None:
            assert isinstance(self._feature_map, RowsAndKernel), "columns are beside the kernel"
            return solve_beside_columns(
                self._feature_map,
                moments,
                drawn,
                check_n_components(self.n_components),
                check_tradeoff(self.tradeoff),
                penalty=float(self.distribution_penalty),
                seed=self._start(),
                progress=say if self.verbose else None,
            )
        return solve_features(
            self._feature_map,
            moments,
            check_n_components(self.n_components),
            check_tradeoff(self.tradeoff),
            centred=bool(self.center),
            solver=self.solver,
            random_state=self._start(),
        )

    def _check_parameters(self) -> None:
        check_kernel_parameters(self)
        check_choice("match", self.match, ("means", "distributions"))
        check_number("distribution_penalty", self.distribution_penalty, zero=True)
        check_bool("verbose", self.verbose)
        if _by_distributions(self) and (self.approximation != NYSTROEM or not self.center):
            raise UsageError(
                f"match='distributions' was given with approximation={self.approximation!r} and "
                f"center={self.center!r}, but it compares the columns beside their kernel values "
                f"with landmarks, about the mean. Use approximation='nystroem' and center=True."
            )

    def __getattr__(self, name: str) -> Any:
        if name in _UNAVAILABLE:
            raise AttributeError(_UNAVAILABLE[name])
        return super().__getattr__(name)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == PRECOMPUTED
        tags.input_tags.sparse = self.kernel != PRECOMPUTED
        return tags
