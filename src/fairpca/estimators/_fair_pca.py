"""The scikit-learn face of linear fair PCA: validate, call, store."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._maps import LinearMap, side_by_side
from .._moments import GroupMoments, moments_at
from .._numerics import (
    Array,
    array_namespace,
    float64,
    full_precision,
    is_foreign,
    is_numpy,
    is_sparse,
    like,
    placed,
    to_numpy,
)
from .._rows import Rows, StreamedRows, example_on, streamed
from ..errors import ResidualWarning, UnscaledWarning, UsageError, warn_user
from ..solvers import (
    SOLVERS,
    Subspace,
    covariance_gap,
    equalize_covariances_exactly,
    equalize_covariances_spectral,
    equalize_distributions,
    equalize_means,
    maximize_variance,
    mean_constraint,
    mean_gap,
)
from ._checks import (
    MATCHES,
    check_bool,
    check_choice,
    check_covariance_tol,
    check_directions,
    check_n_components,
    check_number,
    check_penalty,
    check_tradeoff,
    check_what_all_have,
    reads_once,
)
from ._contract import FairTransformer
from ._drawn_rows import draw_rows
from ._learned import (
    DISTRIBUTION_PENALTY,
    TOO_MANY_MAGNITUDES,
    learned_from,
    say,
    warn_of_a_residual,
    warn_of_readers,
)
from ._reader import HOST, Reader
from ._transform import available_where

DEFAULT_PENALTY = 0.5
"""Chosen on held-out data of six data sets: see docs/explanation/covariances.md."""


PAPERS_DIRECTIONS = 0.85
"""The larger of the two fractions in the paper's tables."""

NEARLY_ALL, LARGER_UNIT = 0.9, 30.0
"""Which share of the variance a few columns have, and how many times the usual deviation, where
their units were forgotten."""


_UNAVAILABLE = {
    "partial_fit": (
        "partial_fit reads every batch once, and match='distributions' reads rows many times. "
        "Use fit (of a file, a Dask or a Spark collection, too), or match='covariances'."
    ),
    "fit_moments": (
        "fit_moments needs match='means' or 'covariances': distributions are compared row by row, "
        "and moments know means and covariances only. Use fit."
    ),
}


class FairPCA(FairTransformer):
    r"""Principal components under the constraint that all groups have the same mean.

    Among all k-dimensional projections under which every demographic group has the same mean,
    this is the one that keeps the most variance. Equivalently, no linear function of the projected
    data correlates with a sensitive attribute. It has a closed form and costs what plain PCA costs.

    **Mean parity protects against linear models only. Trees, kernels and neural networks can still
    recover the attribute.** `match` selects the protection: "means" hides the attribute from linear
    models; "covariances" also from quadratic ones; "distributions" from nearly every model that we
    tested, in seconds to a minute and with less variance kept. Group means are equal on the
    training data, and on held-out data up to sampling error: measure what is left there with
    ``fairpca.metrics.leakage(..., probe="strong")``.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of components k. A float in (0, 1) selects the fewest components that together keep
        this share of the total variance. None keeps all feasible directions along which the rows
        vary by more than rounding; a larger number raises an error.
    match : {"means", "covariances", "distributions"}, default="means"
        What to make equal across groups. "means": group means, exactly. "covariances": also the
        covariances. "distributions": means exactly, and the distributions approximately, so that
        readers predict the groups as little as possible. Readers are regressions on random features
        of the whitened components (waves, cuts, products of cuts, squares), drawn anew in every
        step of a search. Numeric attributes have no groups: they become uncorrelated with every
        component, and with "distributions" readers predict the number, and on which side of its
        median it is.
    covariance_method : {"exact", "spectral"}, default="exact"
        "exact" optimises over the subspaces with equal covariances, and returns the one that keeps
        the most variance (less the penalty). "spectral" is the paper's Fair PCA-S: it searches the
        directions in which covariances differ least, and leaves a gap.
    covariance_directions : int, float or None, default=None
        Restricts the search to the directions in which covariances differ least: their number l,
        or their fraction of the number of features (for the exact method: of the number of
        directions in which rows vary). Fewer directions hide more and keep less variance. None
        searches all directions; for the spectral method, the fraction 0.85.
    covariance_penalty : float or None, default=None
        Weight mu of the penalty in ``C - mu |S_0 - S_1|``, whose leading directions are kept: C is
        the covariance of all rows, S_0 and S_1 are those of the groups. 0 keeps the most variance,
        1 hides much more. None means 0.5 if `n_components` is an integer and
        `covariance_directions` is None, and 0 otherwise.
    covariance_tol : float, default=1e-6
        Largest `covariance_gap_` that the exact method accepts. A larger value, such as 0.05, is a
        budget: covariances may differ by that much. This keeps more variance, and has a solution
        where no subspace has equal covariances (many components, many groups).
    distribution_penalty : float, default=6.0
        Weight of the penalty of ``match="distributions"``: how much the share of the groups'
        variance that readers explain counts, next to the share of the variance that is kept. There
        is no penalty below what readers explain of shuffled groups. A larger value hides more and
        keeps less.
    criterion : str, default="demographic_parity"
        Which rows are compared. "demographic_parity": all rows. "equal_opportunity": the rows with
        ``y == pos_label`` (only these are fitted, centred at the mean of all rows, as in the
        paper). "equalized_odds": the rows of each class of y, class by class.
    pos_label : label, default=1
        The positive class of equal opportunity; blanks around texts are ignored.
    tradeoff : float in [0, 1], default=0.0
        The paper's lambda. Above 0, `transform` returns 2k columns: the fair representation, and
        lambda times the standard one. There is no guarantee then: a regularised model can hardly
        use the second part while lambda is small, but a model that rescales its inputs (trees, or a
        scaler after this step) reads it at any lambda.
    scale : bool, default=False
        Whether to standardise the features inside. Without it, columns in large units decide what
        is kept and what the constraint removes; if a few columns dominate, there is an
        `fairpca.errors.UnscaledWarning`.
    solver : {"auto", "dense", "iterative"}, default="auto"
        "dense" is LAPACK; "iterative" is Lanczos, for data with many rows and many features;
        "auto" chooses by size.
    sensitive_columns : list, default=None
        Columns of X (names, or positions) that are the attributes. They are removed from the
        features, so a plain pipeline needs no metadata routing; `transform` takes X with or
        without them. Put this step before imputers and scalers, which would treat the attributes
        as features; ``scale=True`` standardises inside.
    sensitive_kinds : dict, default=None
        Declares attributes as "categorical" or "numeric", by column name. By default floats with
        fractions are numeric, and everything else is categorical, including integer values; more
        than ten of these are a warning. Dates raise an error unless declared.
    intersectional : bool, default=False
        Whether to compare the joint groups of all categorical attributes (every combination)
        instead of each attribute's groups.
    missing_sensitive : {"error", "ignore", "group"}, default="error"
        What to do where an attribute is missing. "error" raises an error; "ignore" lets the row
        count for the variance, but not for the constraint; "group" makes missing a level.
    device : str or None, default=None
        Where to compute. None computes where the rows are: arrays of torch, CuPy and other
        libraries of the array API stay on their device, and so does all that is learned. With
        "cuda" or "cuda:1" (or "cpu", for torch on the processor), rows in host memory are sent
        there block by block, and what is learned comes back as NumPy arrays; this needs the extra
        ``torch``. Sparse rows become moments on the host, where covariances are matched exactly,
        too.
    n_jobs : int or None, default=None
        Threads for the moments and the solution, -1 for all cores. None uses as many as BLAS does.
    random_state : int, RandomState or None, default=None
        Seed of the iterative solver's start vector, and of the readers and batches of
        ``match="distributions"``. With None, too, fits are reproducible.
    verbose : bool, default=False
        Whether to report on standard error how matching covariances or distributions proceeds.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows, most variance first, signs deterministic.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of each component.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance of each component over the total variance of the original features (with
        ``scale=True``: of the standardised ones).
    mean_ : ndarray of shape (n_features,)
        Mean of all rows, whatever the criterion; it is subtracted from each feature.
    scale_ : ndarray of shape (n_features,) or None
        Standard deviation of all rows, by which each feature is divided; None unless
        ``scale=True``.
    n_components_ : int
        The number of components.
    constraint_rank_ : int
        How many directions the constraint removed.
    standard_components_ : ndarray of shape (n_components, n_features)
        Components of plain PCA; only with ``tradeoff > 0``.
    groups_ : dict
        The levels of each attribute, or "numeric".
    mean_gap_ : float
        The largest group difference in the training data, computed from their moments: the
        distance of a group's mean from the overall mean in standard deviations of a component,
        or the correlation of a numeric attribute with it. Rounding only, where the constraint
        holds; more is a `fairpca.errors.ResidualWarning`. With ``tradeoff > 0`` it is that of the
        fair part. For held-out data use `fairpca.metrics.leakage`.
    covariance_gap_ : float
        The largest relative difference between a group's covariance and the average in the
        representation of the training data; not with ``match="means"``.
    separability_ : float
        The share of variance of a group's indicator (or of a numeric attribute) that readers
        explain in the training data, averaged over groups, attributes and readers; only with
        ``match="distributions"``.
    separability_null_ : float
        What readers explain of shuffled groups, that is by chance; only with
        ``match="distributions"``.
    moments_ : GroupMoments
        The moments of all rows seen, for `partial_fit` and for fits with other parameters through
        `fit_moments`. They are not kept after `fit` to more than 4096 features, or to wide or
        sparse rows, where they would be the rows themselves.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only where all of them are strings.
    n_samples_seen_ : int
        Number of rows with positive weight that the criterion compares.

    See Also
    --------
    FairPLS : Components that predict a known target.
    FairKernelPCA : Fair PCA in the feature space of a kernel.
    fairpca.erasers.LEACE : Keeps all columns, and changes rows least.
    sklearn.decomposition.PCA : PCA without the constraint.
    fairpca.metrics.leakage : How well a probe predicts an attribute from a representation.

    Notes
    -----
    User guide: :doc:`/howto/choosing`.

    Distributions are matched in a random sample of at most 50,000 rows (2**25 numbers), with their
    weights; moments are those of all rows. No finite sample proves that a representation hides a
    group from every model: :doc:`/research/distributions`.

    References
    ----------
    .. [1] Kleindessner, Donini, Russell, Zafar. "Efficient fair PCA for fair representation
       learning". AISTATS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import FairPCA
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=500)
    >>> X = rng.normal(size=(500, 5)) + np.outer(sex == "m", [2, 1, 0, 0, 0])
    >>> fair = FairPCA(n_components=2).fit(X, sensitive_features=sex)
    >>> T = fair.transform(X)
    >>> bool(np.allclose(T[sex == "f"].mean(axis=0), T[sex == "m"].mean(axis=0)))
    True
    >>> fair.constraint_rank_
    1
    """

    _equal_means = True
    _learned = FairTransformer._learned | {
        "scale_",
        "explained_variance_",
        "explained_variance_ratio_",
        "standard_components_",
        "constraint_rank_",
        "mean_gap_",
        "covariance_gap_",
        "separability_",
        "separability_null_",
    }
    _map: LinearMap

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        match: str = "means",
        covariance_method: str = "exact",
        covariance_directions: int | float | None = None,
        covariance_penalty: float | None = None,
        covariance_tol: float = 1e-6,
        distribution_penalty: float = DISTRIBUTION_PENALTY,
        criterion: str = "demographic_parity",
        pos_label: Any = 1,
        tradeoff: float = 0.0,
        scale: bool = False,
        solver: str = "auto",
        sensitive_columns: Sequence[Any] | None = None,
        sensitive_kinds: Mapping[Any, str] | None = None,
        intersectional: bool = False,
        missing_sensitive: str = "error",
        device: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.match = match
        self.covariance_method = covariance_method
        self.covariance_directions = covariance_directions
        self.covariance_penalty = covariance_penalty
        self.covariance_tol = covariance_tol
        self.distribution_penalty = distribution_penalty
        self.criterion = criterion
        self.pos_label = pos_label
        self.tradeoff = tradeoff
        self.scale = scale
        self.solver = solver
        self.sensitive_columns = sensitive_columns
        self.sensitive_kinds = sensitive_kinds
        self.intersectional = intersectional
        self.missing_sensitive = missing_sensitive
        self.device = device
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
            Features. Tensors of torch and CuPy stay on their device. A Dask array or DataFrame, a
            Spark DataFrame and `fairpca.io.ParquetRows` are read where they are, part by part, with
            the same result; for Spark, the other arguments are names of columns of X.
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
        with self._changing():
            self._begin()
            reader = self._reader()
            came = (X, y, sensitive_features, sample_weight, self._validated)
            rows = reader.rows(*came, given=given)
            drawn = [] if reads_once(self) else [draw_rows(reader, rows, self._start())]
            self._learn_from_rows(reader, rows, *drawn)
        return self

    @available_where(reads_once)
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
        `components_`), so adding a batch costs no eigenvectors. Not with
        ``match="distributions"``, which reads rows many times.

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
        return super().partial_fit(
            X,
            y,
            sensitive_features=sensitive_features,
            given=given,
            sample_weight=sample_weight,
        )

    @available_where(reads_once)
    def fit_moments(self, moments: GroupMoments) -> Self:
        """Learn the fair representation of rows known only through their moments.

        Parameters
        ----------
        moments : GroupMoments
            From `fairpca.moments.collect_moments`, possibly the sum over many batches or machines.
            The criterion and the treatment of missing attributes were applied when they were
            collected. Not with ``match="distributions"``, which reads rows.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return super().fit_moments(moments)

    def inverse_transform(self, X: Any) -> Array:
        """Return the rows of the original space that a representation stands for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Representation; with ``tradeoff > 0``, of twice as many columns.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            What the components can express; along the directions that were removed, rows are at
            the mean.
        """
        T = self._checked_representation(X)  # solves first, where rows came in batches
        return self._map.inverse(T)

    def to_device(self, device: Any) -> Self:
        """Move all that was learned to another device or array library.

        `transform` takes rows on any device, wherever the estimator is; it then sends its small
        arrays along with every call, which moving the estimator saves.

        Parameters
        ----------
        device : str, torch.device or ndarray
            "cpu" for NumPy arrays, "cuda" or "cuda:1" for torch tensors there; or an example of
            the arrays to use, of any library of the array API such as CuPy.

        Returns
        -------
        self : object
            The fitted estimator.

        Examples
        --------
        >>> import numpy as np
        >>> from fairpca import FairPCA
        >>> X = np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0], [4.0, 4.0, 1.0], [1.0, 0.0, 3.0]])
        >>> fair = FairPCA(n_components=1).fit(X, sensitive_features=["a", "b", "b", "a"])
        >>> type(fair.to_device("cpu").components_)
        <class 'numpy.ndarray'>
        """
        check_is_fitted(self)
        if is_numpy(device) or is_foreign(device):
            example = device
        else:
            example = HOST if str(device) == "cpu" else example_on(device)
        for name in (*self._learned, "moments_"):
            if name in vars(self):
                self.__dict__[name] = _moved(self.__dict__[name], example)
        return self

    def _check_parameters(self) -> None:
        check_what_all_have(self)
        check_choice("match", self.match, MATCHES)
        check_choice("covariance_method", self.covariance_method, ("exact", "spectral"))
        check_choice("solver", self.solver, SOLVERS)
        check_bool("scale", self.scale)
        check_bool("verbose", self.verbose)
        check_n_components(self.n_components)
        check_tradeoff(self.tradeoff)
        check_directions(self.covariance_directions)
        check_covariance_tol(self.covariance_tol)
        check_penalty(self.covariance_penalty)
        check_number("distribution_penalty", self.distribution_penalty, zero=True)

    def _reader(self) -> Reader:
        scatters = self.match != "means"
        return Reader.of(self, with_scatters=scatters, takes_device_arrays=True)

    def _solve(self, moments: GroupMoments, drawn: Rows | None = None) -> dict[str, Any]:
        k, tradeoff = check_n_components(self.n_components), check_tradeoff(self.tradeoff)
        options: dict[str, Any] = {"solver": self.solver, "random_state": self._start()}
        if self.device is not None:
            moments = moments_at(moments, example_on(self.device))
        with full_precision(moments.mean):
            scale = moments.standard_deviations if self.scale else None
            work = moments if scale is None else moments.rescaled(scale)
            seen: dict[str, Any] = {}
            if self.match == "covariances":
                fair = self._match_covariances(work, k, options)
            elif self.match == "distributions":
                fair, seen = self._match_distributions(moments, work, scale, drawn)
            else:
                fair = equalize_means(work, k, **options)
            learned = _learned(fair, moments, work, scale) | seen
            if self.match != "means":
                learned["covariance_gap_"] = covariance_gap(work, fair.basis)
            warn_of_a_residual(learned["mean_gap_"], moments.precision, TOO_MANY_MAGNITUDES)
            if tradeoff > 0:
                standard = maximize_variance(work, fair.basis.shape[1], **options)
                learned["standard_components_"] = standard.basis.T
                parts = [learned["_map"], LinearMap(standard.basis, moments.centre, scale)]
                learned["_map"] = side_by_side(parts, [1.0, tradeoff])
        if self.device is not None:
            learned = {name: _moved(value, HOST) for name, value in learned.items()}
        if not self.scale:
            few, share = _in_large_units(moments)
            if few:
                names = self._reader().names or range(moments.n_features)
                _warn_of_units(moments, learned, [names[j] for j in few], few, share)
        return learned

    def _match_covariances(
        self, work: GroupMoments, k: int | float | None, options: dict[str, Any]
    ) -> Subspace:
        how = self._how_far(k)
        unit = _common_unit(work)
        if unit != 1.0:  # powers of covariances, too, have to be numbers
            inner = work.rescaled(0.0 * work.mean + unit)
            fair = self._match_covariances(inner, k, options)
            return replace(fair, scatter=fair.scatter * unit * unit)
        if self.covariance_method == "spectral":
            return equalize_covariances_spectral(work, k, **how, **options)
        tol = check_covariance_tol(self.covariance_tol)
        fair, match = equalize_covariances_exactly(
            moments_at(work, HOST), k, tol=tol, progress=say if self.verbose else None, **how
        )
        if not match.converged:
            warn_user(
                f"Covariances were matched to a relative gap of {match.gap:.1e}, and the search "
                f"for the most variance stopped at a gradient of {match.gradient_norm:.1e} after "
                f"{match.evaluations} evaluations. The gap is in covariance_gap_; a little more "
                f"variance, or a smaller gap, may be possible with other covariance_directions.",
                ResidualWarning,
            )
        basis, scatter = (placed(a, work.mean) for a in (fair.basis, fair.scatter))
        return replace(fair, basis=basis, scatter=scatter)

    def _match_distributions(
        self, moments: GroupMoments, work: GroupMoments, scale: Array | None, drawn: Rows | None
    ) -> tuple[Subspace, dict[str, Any]]:
        if drawn is None:
            raise UsageError(_UNAVAILABLE["partial_fit"])
        rows = drawn.X if is_sparse(drawn.X) else float64(placed(drawn.X, work.mean))
        fair, found = equalize_distributions(
            work,
            check_n_components(self.n_components),
            drawn,
            lambda B: LinearMap(B, moments.centre, scale)(rows),
            penalty=float(self.distribution_penalty),
            seed=self._start(),
            progress=say if self.verbose else None,
        )
        warn_of_readers(found, drawn.n_rows, fair.basis.shape[1])
        return fair, {"separability_": found.value, "separability_null_": found.null}

    def _how_far(self, k: int | float | None) -> dict[str, Any]:
        """Return both options of matched covariances; each is off where only the other is set."""
        directions = check_directions(self.covariance_directions)
        penalty = check_penalty(self.covariance_penalty)
        if directions is None and penalty is None and self.covariance_method == "spectral":
            directions = PAPERS_DIRECTIONS
        if penalty is None:
            penalty = DEFAULT_PENALTY if directions is None and isinstance(k, int) else 0.0
        return {"directions": 1.0 if directions is None else directions, "penalty": penalty}

    def __getattr__(self, name: str) -> Any:
        if name in _UNAVAILABLE:
            raise AttributeError(_UNAVAILABLE[name])
        return super().__getattr__(name)

    def _represent(self, features: Any) -> Any:
        if self.device is not None:
            rows = streamed(Rows(features), self.device)
            if isinstance(rows, StreamedRows):
                return self._map.streamed(rows)
        return super()._represent(features)


def _learned(
    fair: Subspace, moments: GroupMoments, work: GroupMoments, scale: Array | None
) -> dict[str, Any]:
    total = float(array_namespace(work.mean).sum(work.objective.diagonal))
    linear, degrees = LinearMap(fair.basis, moments.centre, scale), work.degrees_of_freedom
    return {
        **learned_from(linear, moments),
        "scale_": scale,
        "explained_variance_": fair.scatter / degrees,
        "explained_variance_ratio_": fair.scatter / (total if total > 0 else 1.0),
        "constraint_rank_": fair.constraint_rank,
        "mean_gap_": mean_gap(work, fair),
    }


def _warn_of_units(
    moments: GroupMoments,
    learned: dict[str, Any],
    names: Sequence[Any],
    few: list[int],
    share: float,
) -> None:
    """Warn where a few columns in large units are what the constraint takes, or all that is seen.

    Scaling is forgotten, not needless, where these columns vary so much within groups, too.
    """
    components = learned["components_"]
    kept = float(to_numpy(learned["explained_variance_ratio_"]).sum())
    lost, lost_scaled = (
        float(array_namespace(m.mean).sum(m.objective.along(mean_constraint(m).Q)))
        / float(array_namespace(m.mean).sum(m.objective.diagonal))
        for m in (moments, moments.rescaled(moments.standard_deviations))
    )
    k, d = components.shape
    shown = array_namespace(components).sum(components * components, axis=0)
    seen = float(np.mean(np.delete(to_numpy(shown), few)))
    if lost > 0.5 and lost_scaled < 0.5 * lost:
        told = (
            f"Group differences along them took {100 * lost:.1f} % of the variance away, and "
            f"{100 * kept:.1f} % is kept; with scale=True, where all columns count alike, they "
            f"would take {100 * lost_scaled:.1f} %"
        )
    elif seen < 0.1:
        told = (
            f"The {k} component(s) are made of little else: of the direction of another column "
            f"they have {100 * seen:.1f} % on average"
        )
    else:
        return
    listed = ", ".join(map(repr, names[:3])) + (", ..." if few[3:] else "")
    warn_user(
        f"scale=False, and {len(few)} of {d} columns ({listed}) hold {100 * share:.1f} % of the "
        f"variance, being in larger units than the others. {told}. Unless all columns are in one "
        f"unit, use scale=True.",
        UnscaledWarning,
    )


def _in_large_units(moments: GroupMoments) -> tuple[list[int], float]:
    """Return the few columns that vary far more than the others within groups; their share."""
    squares = to_numpy(moments.objective.diagonal)
    rows, sizes = moments.contrasts()
    correlations = rows / like(np.where(sizes > 0, sizes, 1.0), rows)[:, None] / moments.spread
    between = to_numpy(array_namespace(rows).sum(correlations * correlations, axis=0))
    within = squares * np.clip(1.0 - between, 0.0, 1.0)
    order, varying = np.argsort(-within, kind="stable"), np.sort(squares[to_numpy(moments.varies)])
    if within[order[0]] <= LARGER_UNIT**2 * varying[(len(varying) - 1) // 2]:
        return [], 0.0
    shares = np.cumsum(within[order]) / within.sum()
    few = order[: int(np.searchsorted(shares, NEARLY_ALL)) + 1].tolist()
    share = float(squares[few].sum() / squares.sum())
    return (few, share) if len(few) <= max(1, len(order) // 4) and share > NEARLY_ALL else ([], 0.0)


def _moved(value: Any, example: Array) -> Any:
    if is_numpy(value) or is_foreign(value):
        return placed(value, example)
    if isinstance(value, LinearMap):
        return value.converted(lambda a: placed(a, example))
    return moments_at(value, example) if isinstance(value, GroupMoments) else value


def _common_unit(moments: GroupMoments) -> float:
    """Return a power of two, which changes no digit, to divide huge or tiny features by; else 1."""
    largest = float(array_namespace(moments.mean).max(moments.scatter.diagonal))
    size = (largest / moments.weight) ** 0.5 if largest > 0 and moments.weight > 0 else 1.0
    return 1.0 if 1e-20 < size < 1e20 else 2.0 ** round(math.log2(size))
