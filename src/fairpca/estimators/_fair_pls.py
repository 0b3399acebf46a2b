"""The scikit-learn face of fair PLS: validate, call, store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.linalg import block_diag

from .._attributes import about_whole_numbers, is_named
from .._kernels import KernelOptions, whitening
from .._maps import FeatureMap, LinearMap
from .._moments import (
    AttributeMoments,
    Distribution,
    GroupMoments,
    LevelMoments,
    Scores,
    moments_at,
)
from .._numerics import (
    Array,
    array_namespace,
    float64,
    full_precision,
    is_sparse,
    placed,
    quiet_overflow,
    to_numpy,
)
from .._rows import LazyRows, Rows
from ..errors import ResidualWarning, UsageError, warn_user
from ..solvers import (
    Subspace,
    mean_constraint,
    mean_gap,
    predict_targets,
    target_covariances,
)
from ._checks import (
    DECIDED_AT_FIRST,
    MATCHES,
    NYSTROEM,
    check_bool,
    check_choice,
    check_count,
    check_features_of_kernel,
    check_number,
    check_what_all_have,
    reads_once,
)
from ._contract import FairTransformer
from ._drawn_rows import SAMPLE_ROWS, draw_rows
from ._kernel_features import check_unchanged, draw_features_beside_columns, finite_map
from ._learned import (
    TOO_MANY_MAGNITUDES,
    groups_of,
    learned_from,
    warn_of_a_residual,
    warn_of_readers,
)
from ._reader import HOST, Reader
from ._transform import available_where

COVARIANCE_PENALTY, DISTRIBUTION_PENALTY = 0.1, 1000.0
"""Chosen on held-out data: see docs/research/fair_pls.md."""

FEWEST_ROWS_EACH, MOST_CODES = 10, 1000
"""If so many rows have each value of a score, or there are no more values, they are codes."""

_UNAVAILABLE = {
    "partial_fit": (
        "partial_fit reads every row once, and match='distributions' reads them several times. Use "
        "fit (of a file, a Dask or a Spark collection, too), or match='covariances'."
    ),
    "fit_moments": (
        "fit_moments needs match='means' or 'covariances' and kernel=None: distributions are "
        "compared row by row, and moments know of rows only what is linear in them. Use fit."
    ),
    "coef_": (
        "coef_ exists for kernel=None only: a kernel's score is no linear function of the columns."
    ),
}


def _is_linear(estimator: Any) -> bool:
    return reads_once(estimator) and estimator.kernel is None


@dataclass(frozen=True)
class _Units:
    """What the solver sees instead of the features: these over `scale`, or times `matrix`."""

    scale: Array | None
    matrix: np.ndarray | None

    def work(self, moments: GroupMoments) -> tuple[GroupMoments, Any]:
        """Return the moments that the solver sees, and the constraint where it is known better."""
        if self.matrix is None:
            return (moments if self.scale is None else moments.rescaled(self.scale)), None
        # The rank is decided before, on all digits.
        work, tol = moments.compressed(self.matrix), 16 * float(np.sqrt(moments.precision))
        return work, mean_constraint(moments).compressed(self.matrix, work, tol=tol)

    def original(self, W: Array) -> Array:
        """Return directions of the features themselves."""
        if self.matrix is not None:
            return self.matrix @ W
        return W if self.scale is None else W / self.scale[:, None]

    def slopes(self, slopes: np.ndarray) -> np.ndarray:
        """Return how shares change with what the solver sees."""
        if self.matrix is not None:
            return slopes @ self.matrix
        return slopes if self.scale is None else slopes / to_numpy(self.scale)


@dataclass(frozen=True)
class _Passes:
    """What the solver may ask of the rows about scores W in its own units, a pass each.

    `rows` are those that were `given`, perhaps seen through a kernel already.
    """

    reader: Reader
    given: Rows | LazyRows
    rows: Rows | LazyRows
    seed: int
    units: _Units
    moments: GroupMoments

    def look(
        self, W: Array, thresholds: np.ndarray, widths: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return how shares of groups below thresholds differ."""
        scores = Scores(self.units.original(W), self.moments.mean, thresholds, widths)
        shares = self.reader.shares(self.rows, scores)
        shares.check_same_rows(self.moments.attributes)
        differences, slopes, weights = shares.contrasts()
        return differences, self.units.slopes(slopes), weights

    def distribute(self, W: Array) -> tuple[Distribution, ...]:
        """Return the distributions of the scores in the groups."""
        W = self.units.original(W)
        return self.reader.distributions(self.rows, W, self.moments.mean).each

    def draw(self, W: Array) -> tuple[Array, Rows]:
        """Return coordinates of a sample of the rows along directions W, and the sample."""
        sample, features = draw_rows(self.reader, self.given, self.seed), self.reader.features
        X = sample.X if is_sparse(sample.X) else float64(placed(sample.X, self.moments.mean))
        linear = LinearMap(self.units.original(W), self.moments.mean)
        return (linear if features is None else FeatureMap(features, linear))(X), sample


def _warn_of_few_values(
    scores: Sequence[Distribution], n_rows: int, learned: Mapping[str, Any]
) -> None:
    """Warn where scores have so few values that each is a code for equal rows."""
    fewest = min(len(each.values) for each in scores)
    if fewest <= min(n_rows / FEWEST_ROWS_EACH, MOST_CODES):
        warn_user(
            f"A score has {fewest} different values in {n_rows:,} rows. Groups' shares below a "
            f"threshold can differ by {learned['distribution_gap_']:.3f} (distribution_gap_), as "
            f"equal rows pass it together; and each value is a code for these rows, from which "
            f"trees may predict the groups as well as from the columns. Add features with more "
            f"values, and measure the leakage by fairpca.metrics.leakage(probe='boosting').",
            ResidualWarning,
        )


class FairPLS(FairTransformer):
    r"""Supervised projection: components that predict `y`, with nearly equal group distributions.

    If the target is known, a representation need not keep everything: one column is enough for a
    binary or a continuous target. Among the directions in which all groups have the same mean, this
    finds those that predict y best, with a penalty on differences between the groups' distributions
    of the score. A score with the same distribution in all groups would hide the attribute from
    every model, linear or not. **It is nearly the same, up to a tenth of its standard deviation and
    to sampling error.** `fairpca.metrics.certified_gap` bounds how far selection rates can differ
    in the population, at any threshold.

    Use it where you know what will be predicted; use `FairPCA` where you do not. With several
    classes or targets, all columns are matched together, against readers that see non-linear
    functions of them. **More columns leak more**: measure it with `fairpca.metrics.leakage`.

    **Where all columns are categorical, a score has as many values as there are different rows**,
    and is a code for them. No direction matches the groups then, `distribution_gap_` stays large,
    and trees may predict the groups from the score as well as from the columns; there is a
    `fairpca.errors.ResidualWarning`.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of columns. None gives as many as the targets need: one for a binary or continuous
        target, and otherwise one less than there are classes.
    match : {"distributions", "covariances", "means"}, default="distributions"
        What to make equal across groups. "means": the mean of each column, exactly. "covariances":
        also its variance, approximately. "distributions": also its distribution, approximately.
        The first two read the rows once.
    covariance_penalty : float or None, default=None
        Penalty on differences between the groups' variances along a direction, in units of
        variance. None means 1.0 with ``match="covariances"``, 0.1 with "distributions".
    distribution_penalty : float, default=1000.0
        Penalty on differences between the groups' shares below thresholds, next to the share of
        the target's variance that is explained. For several columns, a two-hundredth of it is the
        weight of the share of the groups' variance that readers explain (the
        `distribution_penalty` of `FairPCA`).
    shrinkage : float or None, default=None
        What is added to the covariance of the features, in units of their average variance. None
        chooses it by generalised cross-validation, which counts rows and ignores their weights.
    kernel : str, callable or None, default=None
        None is linear. "rbf", "laplacian", "poly", "sigmoid", "cosine" or a function of two rows
        allow a non-linear score: of the columns, and of kernel values with `n_landmarks` rows.
    gamma : float, "scale" or "auto", default="scale"
        Coefficient of the rbf, laplacian, poly and sigmoid kernels. "scale" is
        1 / (n_features Var(X)), "auto" is 1 / n_features.
    degree : float, default=3
        Degree of the poly kernel.
    coef0 : float, default=1.0
        Independent term of the poly and sigmoid kernels.
    n_landmarks : int, default=400
        How many rows all others are compared with by the kernel, drawn equally from all joint
        groups.
    criterion : str, default="demographic_parity"
        Which rows are compared. "demographic_parity": all rows. "equal_opportunity": the rows with
        ``y == pos_label``. "equalized_odds": the rows of each class of y, class by class. What
        predicts y is learned from all rows. The last two need a single y.
    pos_label : label, default=1
        The positive class of equal opportunity, and of a binary target, whose score rises with it.
        Compared by name: 1 is "1", too.
    scale : bool, default=True
        Whether to divide each feature by its standard deviation first, as scikit-learn's
        PLSRegression does. Without it, shrinkage and kernels see little of features in small
        units. With a kernel, deviations are those of the first rows seen, as landmarks are.
    target_kinds : dict, default=None
        Declares columns of y as "categorical" or "numeric", by name ("y" if there is none). By
        default floats with fractions are numeric, and everything else is classes; more than ten
        integer values raise an error, and have to be declared.
    sensitive_columns : list, default=None
        Columns of X (names, or positions) that are the attributes. They are removed from the
        features; `transform` takes X with or without them.
    sensitive_kinds : dict, default=None
        Declares attributes as "categorical" or "numeric", by column name. By default floats with
        fractions are numeric, and everything else is categorical, including integer values.
    intersectional : bool, default=False
        Whether to compare the joint groups of all categorical attributes (every combination)
        instead of each attribute's groups.
    missing_sensitive : {"error", "ignore", "group"}, default="error"
        What to do where an attribute is missing. "error" raises an error; "ignore" lets the row
        count, but in no group; "group" makes missing a level.
    device : str or None, default=None
        Where to compute with ``kernel=None``. None computes where the rows are. With "cuda", rows
        in host memory are sent there block by block, and what is learned comes back as NumPy
        arrays.
    n_jobs : int or None, default=None
        Threads, -1 for all cores. None uses as many as BLAS does.
    random_state : int, RandomState or None, default=None
        Seed of the landmarks, and of the readers and the rows drawn to match several columns.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Weights of the centred (and scaled) features; with a kernel, those beside its values.
        Scores have unit variance and rise with the number, or the class, that they predict best:
        with `pos_label` of a binary target, else with the last class in `targets_`. Components are
        in the order of what they predict before distributions are matched, most first.
    coef_ : ndarray of shape (n_components, n_features)
        Weights of the original columns, in their own units; only with ``kernel=None``.
    explained_targets_ : ndarray of shape (n_components, n_targets)
        Share of the variance of each target that each column explains in the training data.
    targets_ : dict
        The classes of each target, in their own order but for `pos_label`, or "numeric".
    mean_ : ndarray of shape (n_features,)
        What is subtracted from each feature.
    scale_ : ndarray of shape (n_features,) or None
        What each feature is divided by; None unless ``scale=True``.
    mean_gap_ : float
        The largest group difference in the training data: the distance of a group's mean from the
        overall mean in standard deviations of a column, or the correlation of a numeric attribute
        with it. Rounding only, where the constraint holds.
    distribution_gap_ : float
        The largest difference in the training data between a group's share below any threshold and
        that of all other rows (Kolmogorov's distance), in any column; only with
        ``match="distributions"``. For scores with more than a million different values it is an
        upper bound, to three digits. Held-out data differ by more:
        `fairpca.metrics.certified_gap` bounds that.
    separability_ : float
        Share of the groups' variance that readers of several columns explain in (a sample of) the
        training data; only with ``match="distributions"`` and more than one column.
    separability_null_ : float
        What readers explain of shuffled groups, that is by chance; only with `separability_`.
    shrinkage_ : float
        What was added to the covariance of the features, in units of their average variance.
    covariance_penalty_ : float
        The covariance penalty in use.
    distribution_penalty_ : float
        The distribution penalty in use.
    dual_components_ : ndarray of shape (n_landmarks, n_components)
        Weights of the kernel values with the landmarks; only with a kernel.
    landmarks_ : ndarray of shape (n_landmarks, n_features)
        The rows that all others are compared with, standardised with ``scale=True``; only with a
        kernel.
    gamma_ : float or None
        The kernel's gamma in use; None for kernels that have none. Only with a kernel.
    n_components_ : int
        The number of components.
    constraint_rank_ : int
        How many directions the constraint removed.
    groups_ : dict
        The levels of each attribute, or "numeric".
    moments_ : GroupMoments
        The moments of all rows seen, for `partial_fit` and `fit_moments`.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only where all of them are strings.
    n_samples_seen_ : int
        Number of rows with positive weight.

    See Also
    --------
    FairPCA : Keeps variance, for targets that are not known yet.
    FairKernelPCA : Keeps variance in the feature space of a kernel.
    sklearn.cross_decomposition.PLSRegression : PLS without the constraint.
    fairpca.metrics.certified_gap : Bounds how far selection rates differ at any threshold.

    Notes
    -----
    User guide: :doc:`/howto/choosing` and :doc:`/explanation/fair_pls`.

    "means" and "covariances" have a closed form in moments. For one column, "distributions" takes
    six Gauss-Newton steps from there, each one pass over the rows; several columns are searched on
    a random sample of at most 50,000 rows, as in `FairPCA`. Shares are compared at quantiles of the
    score, so heavy tails have no extra weight. Names of classes and constant columns change nothing
    about a score but its sign. The result is a representation: train a downstream model on it.

    References
    ----------
    .. [1] De-Diego, Perez-Suay, Gordaliza, Loubes. "PLS-based approach for fair representation
       learning". 2025. The idea, with a penalty inside NIPALS.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import FairPLS
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=2000)
    >>> X = rng.normal(size=(2000, 5)) + np.outer(sex == "m", [2, 1, 0, 0, 0])
    >>> y = X @ [1, 1, 1, 0, 0] + rng.normal(size=2000) > 1
    >>> fair = FairPLS().fit(X, y, sensitive_features=sex)
    >>> fair.transform(X).shape, fair.mean_gap_ < 1e-12, fair.distribution_gap_ < 0.03
    ((2000, 1), True, True)
    """

    _equal_means = True
    _learned = FairTransformer._learned | {
        "scale_",
        "coef_",
        "constraint_rank_",
        "mean_gap_",
        "distribution_gap_",
        "separability_",
        "separability_null_",
        "explained_targets_",
        "targets_",
        "shrinkage_",
        "covariance_penalty_",
        "distribution_penalty_",
        "dual_components_",
    }
    _frozen_after_first_batch = (
        "_drawn_with",
        "gamma_",
        "landmarks_",
        "_feature_map",
    )
    _map: LinearMap | FeatureMap
    _feature_map: Any
    _drawn_with: Mapping[str, Any]
    approximation = NYSTROEM

    def __init__(
        self,
        n_components: int | None = None,
        *,
        match: str = "distributions",
        covariance_penalty: float | None = None,
        distribution_penalty: float = DISTRIBUTION_PENALTY,
        shrinkage: float | None = None,
        kernel: str | Callable[..., float] | None = None,
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        n_landmarks: int = 400,
        criterion: str = "demographic_parity",
        pos_label: Any = 1,
        scale: bool = True,
        target_kinds: Mapping[Any, str] | None = None,
        sensitive_columns: Sequence[Any] | None = None,
        sensitive_kinds: Mapping[Any, str] | None = None,
        intersectional: bool = False,
        missing_sensitive: str = "error",
        device: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.match = match
        self.covariance_penalty = covariance_penalty
        self.distribution_penalty = distribution_penalty
        self.shrinkage = shrinkage
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_landmarks = n_landmarks
        self.criterion = criterion
        self.pos_label = pos_label
        self.scale = scale
        self.target_kinds = target_kinds
        self.sensitive_columns = sensitive_columns
        self.sensitive_kinds = sensitive_kinds
        self.intersectional = intersectional
        self.missing_sensitive = missing_sensitive
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        given: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn few columns that predict `y`, with matched distributions in all groups.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Features. Tensors of torch and CuPy stay on their device. A Dask array or DataFrame, a
            Spark DataFrame and `fairpca.io.ParquetRows` are read where they are, part by part and
            several times; for Spark, the other arguments are names of columns of X.
        y : array-like of shape (n_samples,), or frame or dict of columns, default=None
            Targets: classes, numbers, or several columns of either kind. Required.
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
            if self.kernel is not None:
                reader = self._see_through_kernel(reader, rows, complete=True)
            held, passes = rows, []
            if not reads_once(self):
                held = reader.cached(rows)
                passes = [partial(_Passes, reader, rows, held, self._start())]
            self._learn_from_rows(reader, held, *passes, given=rows)
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
        """Add a batch of rows; not with ``match="distributions"``, which reads rows several times.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Features of the batch, in the same columns as in every other batch.
        y : array-like of shape (n_samples,), or frame or dict of columns, default=None
            Targets: classes, numbers, or several columns of either kind. Required.
        sensitive_features : array-like, Series, frame or dict of columns, default=None
            Sensitive attributes of the n_samples rows. A batch may bring new levels or classes, or
            lack some. Required, unless `sensitive_columns` names columns of X.
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
            if self.kernel is not None:
                reader = self._see_through_kernel(reader, rows, complete=False)
            self._add(reader, rows)
        return self

    @available_where(_is_linear)
    def fit_moments(self, moments: GroupMoments) -> Self:
        """Learn from moments with targets; ``match="means"`` or ``"covariances"``, no kernel.

        Parameters
        ----------
        moments : GroupMoments
            From ``collect_moments(..., y=y, with_targets=True, with_scatters=True)``, possibly the
            sum over many batches or machines.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return super().fit_moments(moments)

    def _check_parameters(self) -> None:
        check_choice("match", self.match, MATCHES)
        check_bool("scale", self.scale)
        check_what_all_have(self)
        check_count("n_components", self.n_components, none_for="as many as the targets need")
        for name in ("covariance_penalty", "distribution_penalty", "shrinkage"):
            value, optional = getattr(self, name), name != "distribution_penalty"
            if not (optional and value is None):
                check_number(name, value, zero=True, or_else="None" if optional else "")
        if self.kernel is not None:
            check_features_of_kernel(self)

    def _reader(self) -> Reader:
        drawn = vars(self).get("_feature_map")
        return Reader.of(
            self,
            with_scatters=self.match != "means",
            with_targets=True,
            target_kinds=self.target_kinds,
            features=drawn if self.kernel is not None else None,
            takes_device_arrays=self.kernel is None,
        )

    def _see_through_kernel(
        self, reader: Reader, rows: Rows | LazyRows, *, complete: bool
    ) -> Reader:
        """Return the reader of columns and kernel features, which the first rows decide."""
        parameters = {name: getattr(self, name) for name in (*DECIDED_AT_FIRST, "scale")}
        if "_feature_map" in vars(self):
            check_unchanged(self._drawn_with, parameters)
            return reader
        options = KernelOptions(self.kernel or "", self.gamma, self.degree, self.coef0)
        how: dict[str, Any] = {"seed": self._seed(), "complete": complete}
        drawn = draw_features_beside_columns(
            reader, rows, replace(options, n_jobs=self.n_jobs), parameters, **how
        )
        self._feature_map, self._drawn_with = drawn.map, drawn.drawn_with
        self.gamma_, self.landmarks_ = drawn.gamma, drawn.landmarks
        return replace(reader, features=drawn.map)

    def _solve(
        self,
        moments: GroupMoments,
        passes: Callable[[_Units, GroupMoments], _Passes] | None = None,
    ) -> dict[str, Any]:
        self._check_whole_numbers(moments)
        moments = replace(moments, targets=tuple(map(self._positive_last, moments.targets)))
        if self.match == "distributions" and passes is None:
            raise UsageError(_UNAVAILABLE["partial_fit"])
        if self.device is not None:
            moments = moments_at(moments, HOST)
        penalties: dict[str, Any] = self._penalties()
        with full_precision(moments.mean):
            scale = moments.standard_deviations if self.scale and self.kernel is None else None
            units = _Units(scale, self._whitening(moments.precision))
            work, constraint = units.work(moments)

            several: dict[str, Any] = {}
            if passes is not None and self.match == "distributions":
                rows = passes(units, moments)
                several = {"look": rows.look, "distribute": rows.distribute, "draw": rows.draw}
                several["seed"] = rows.seed
            fair, shrinkage, found, seen = predict_targets(
                work,
                self.n_components,
                shrinkage=self.shrinkage,
                **penalties,
                **several,
                constraint=constraint,
            )
            explained = [(T.T @ fair.basis) ** 2 for T in target_covariances(work)]
            fair = replace(fair, basis=units.original(fair.basis))
            learned = self._described(fair, moments, scale, explained)
            learned["shrinkage_"] = shrinkage
            learned |= {f"{name}_": value for name, value in penalties.items()}
            if found:
                learned["distribution_gap_"] = max(each.gap for each in found)
                _warn_of_few_values(found, moments.n_rows, learned)
            if seen is not None:
                learned |= {"separability_": seen.value, "separability_null_": seen.null}
                n_drawn = min(moments.n_rows, SAMPLE_ROWS)
                warn_of_readers(seen, n_drawn, fair.basis.shape[1], "equal means")
        return learned

    def _penalties(self) -> dict[str, Any]:
        if self.match == "means":
            return {"covariance_penalty": 0.0, "distribution_penalty": 0.0}
        distributions = self.match == "distributions"
        usual = COVARIANCE_PENALTY if distributions else 1.0
        given = usual if self.covariance_penalty is None else float(self.covariance_penalty)
        return {
            "covariance_penalty": given,
            "distribution_penalty": float(self.distribution_penalty) if distributions else 0.0,
        }

    def _whitening(self, precision: float) -> np.ndarray | None:
        """Return what kernel values become Nystroem's features by, beside the columns."""
        if self.kernel is None:
            return None
        features = self._feature_map
        with quiet_overflow():
            return block_diag(np.eye(features.n_columns), whitening(features.columns, precision))

    def _described(
        self, fair: Subspace, moments: GroupMoments, scale: Array | None, explained: list[Array]
    ) -> dict[str, Any]:
        xp = array_namespace(moments.mean)
        gap = mean_gap(moments, fair)
        warn_of_a_residual(gap, moments.precision, TOO_MANY_MAGNITUDES)
        basis = fair.basis if scale is None else fair.basis * scale[:, None]
        linear = LinearMap(basis, moments.mean, scale)
        learned = learned_from(linear, moments) | {
            "scale_": scale,
            "constraint_rank_": fair.constraint_rank,
            "mean_gap_": gap,
            "explained_targets_": xp.stack([xp.sum(of, axis=0) for of in explained], axis=1),
            "targets_": groups_of(moments.targets),
        }
        if self.kernel is None:
            return learned | {"coef_": linear.scaled_matrix.T}
        d, features = self._feature_map.n_columns, self._feature_map
        return learned | {
            "_map": FeatureMap(features, linear),
            "components_": fair.basis[:d, :].T,
            "dual_components_": fair.basis[d:, :],
            "mean_": features.mean,
            "scale_": features.scale,
        }

    def _positive_last(self, target: AttributeMoments) -> AttributeMoments:
        """Return a target whose score, if it has two classes, rises with the positive one."""
        if not isinstance(target, LevelMoments) or len(target.labels) != 2:
            return target
        first, last = target.labels
        return target.with_labels((last, first)) if is_named(first, self.pos_label) else target

    def _check_whole_numbers(self, moments: GroupMoments) -> None:
        said = set(map(str, self.target_kinds or ()))
        for a in moments.targets:
            labels = a.labels if isinstance(a, LevelMoments) and a.name not in said else ()
            if about_whole_numbers(a.name, labels):
                raise UsageError(
                    f"The target {a.name!r} has {len(labels)} whole-number values, which "
                    f"may be classes or a quantity. Pass target_kinds={{{a.name!r}: 'numeric'}} "
                    f"if it is a quantity, 'categorical' if these are classes."
                )

    def _represent(self, features: Any) -> Any:
        if self.kernel is None:
            return super()._represent(features)
        with self._threads():
            return finite_map(self._map, features)

    def __getattr__(self, name: str) -> Any:
        if name in _UNAVAILABLE and (name != "coef_" or self.kernel is not None):
            raise AttributeError(_UNAVAILABLE[name])
        return super().__getattr__(name)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
