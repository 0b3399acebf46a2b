"""What is compared: the raw features, and seven ways to represent them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np

from .._moments import GroupMoments
from ..erasers import LEACE
from ..errors import InfeasibleError, ResidualWarning
from ..estimators import FairKernelPCA, FairPCA, FairPLS, PlainPCA, collect_moments
from ..models import (
    COVARIANCE_TOLERANCE,
    approximation_for,
    component_fallbacks,
    fit_available_components,
)
from ._phrases import percent
from ._results import Setting


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """What every representation is fitted to; attributes are as estimators take them.

    `y` says which rows are positive in the `target`, or has classes or numbers, as `target_kind`
    says; None without one.
    """

    X: np.ndarray
    sensitive: dict[str, np.ndarray]
    kinds: dict[str, str]
    k: int
    seed: int
    y: np.ndarray | None = None
    target: str | None = None
    target_kind: str | None = None
    weights: np.ndarray | None = None

    def moments(self, *, with_scatters: bool = False) -> GroupMoments:
        """Return the moments: one pass, from which all linear methods are fitted."""
        return collect_moments(
            self.X,
            self.sensitive,
            sensitive_kinds=self.kinds,
            sample_weight=self.weights,
            missing_sensitive="ignore",
            with_scatters=with_scatters,
        )


@dataclass(frozen=True)
class _Method:
    """A representation that is measured: what it guarantees, and how it is fitted, if at all.

    One that is made for the target is measured where there is one, and not by the variance it
    keeps. Those that are `sized` have a number of components to choose, at which they are compared.
    What can be recommended has a `recipe`, the arguments with which `fairpca.fit_table` fits it.
    What is `searched` for takes seconds a fit: quick audits do without.
    """

    name: str
    guarantee: str
    fit: Callable[[TrainingRows], Any] | None
    for_target: bool = False
    sized: bool = False
    searched: bool = False
    recipe: Mapping[str, str] = field(default_factory=dict)
    in_short: str = ""  # what a model then sees, for who does not know the method


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A fitted representation (None: the features as they are), or the reason why there is none."""

    estimator: Any
    seconds: float
    failure: str | None = None
    warned: tuple[str, ...] = ()
    missed: int | None = None  # components that were asked for, where there are fewer

    def represent(self, X: np.ndarray) -> np.ndarray:
        """Return the representation of rows."""
        return X if self.estimator is None else np.asarray(self.estimator.transform(X))


def fit_method(setting: Setting, rows: TrainingRows) -> _Fitted:
    """Fit, and keep what went wrong instead of stopping the audit."""
    method = METHODS[setting.method]
    if method.fit is None:
        return _Fitted(None, 0.0)
    rows = rows if setting.n_components is None else replace(rows, k=setting.n_components)
    start = perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", ResidualWarning)
        try:
            estimator = method.fit(rows)
        except InfeasibleError as error:
            return _Fitted(None, perf_counter() - start, failure=str(error))
    said = tuple(dict.fromkeys(str(w.message) for w in caught))
    fewer = setting.method in PROJECTIONS and estimator.n_components_ < rows.k
    missed = rows.k if fewer else None
    return _Fitted(estimator, perf_counter() - start, warned=said, missed=missed)


def _fair_kernel_pca(rows: TrainingRows, k: int) -> FairKernelPCA:
    return FairKernelPCA(
        k,
        approximation=approximation_for(len(rows.X)),
        n_landmarks=300,
        sensitive_kinds=rows.kinds,
        missing_sensitive="ignore",
        random_state=rows.seed,
    ).fit(rows.X, sensitive_features=rows.sensitive, sample_weight=rows.weights)


def _fair_pls(rows: TrainingRows) -> FairPLS:
    kind = "numeric" if rows.target_kind == "number" else "categorical"
    return FairPLS(
        kernel="rbf",
        sensitive_kinds=rows.kinds,
        target_kinds={rows.target: kind},
        missing_sensitive="ignore",
        random_state=rows.seed,
    ).fit(
        rows.X, {rows.target: rows.y}, sensitive_features=rows.sensitive, sample_weight=rows.weights
    )


def _covariances(rows: TrainingRows) -> FairPCA:
    """Fit `k` components, or a half or a quarter: covariances are equal in few dimensions."""
    moments = rows.moments(with_scatters=True)
    for k in component_fallbacks(rows.k):
        tol = COVARIANCE_TOLERANCE
        fair = FairPCA(k, match="covariances", covariance_tol=tol, random_state=rows.seed)
        try:
            return fair.fit_moments(moments)
        except InfeasibleError as error:
            reason = error
    raise reason


def _distributions(rows: TrainingRows, k: int) -> FairPCA:
    return FairPCA(
        k,
        match="distributions",
        sensitive_kinds=rows.kinds,
        missing_sensitive="ignore",
        random_state=rows.seed,
    ).fit(rows.X, sensitive_features=rows.sensitive, sample_weight=rows.weights)


METHODS = {
    "raw": _Method("Raw features", "The encoded columns as they are: nothing is hidden.", None),
    "pca": _Method(
        "PCA",
        "Keeps the most variance and does not look at the attributes: nothing is hidden.",
        lambda rows: fit_available_components(
            lambda k: PlainPCA(k).fit_moments(rows.moments()), rows.k
        ),
        sized=True,
    ),
    "fair_pca": _Method(
        "Fair PCA",
        "Equal group means on the training data: a linear model fitted there predicts a constant "
        "for the attribute. Variances and shapes still differ: non-linear models may use that, and "
        "even a linear score may rank groups by it.",
        lambda rows: fit_available_components(
            lambda k: FairPCA(k, random_state=rows.seed).fit_moments(rows.moments()), rows.k
        ),
        sized=True,
        recipe={"method": "fair_pca"},
        in_short="new columns, computed from the old ones, with the same mean in every group",
    ),
    "fair_pca_covariances": _Method(
        "Fair PCA with equal covariances",
        "Equal group means, and covariances that differ by at most "
        f"{percent(COVARIANCE_TOLERANCE, 0)} on the training data: this hides more from non-linear "
        "models, not everything.",
        _covariances,
        sized=True,
        searched=True,
        recipe={"method": "fair_pca", "match": "covariances"},
        in_short="new columns, computed from the old ones, with equal means and nearly equal "
        "covariances in every group",
    ),
    "fair_pca_distributions": _Method(
        "Fair PCA with matched distributions",
        "Equal group means and nearly equal distributions on the training data: this hides most "
        "from non-linear models, at the cost of some variance. It is no proof that nothing is "
        "left.",
        lambda rows: fit_available_components(lambda k: _distributions(rows, k), rows.k),
        sized=True,
        searched=True,
        recipe={"method": "fair_pca", "match": "distributions"},
        in_short="new columns, computed from the old ones, distributed nearly equally in every "
        "group",
    ),
    "fair_kernel_pca": _Method(
        "Fair kernel PCA",
        "Equal group means of k non-linear features on the training data. Other non-linear "
        "features are not protected.",
        lambda rows: fit_available_components(lambda k: _fair_kernel_pca(rows, k), rows.k),
        sized=True,
        recipe={"method": "fair_kernel_pca"},
        in_short="new non-linear columns, computed from the old ones, with the same mean in every "
        "group",
    ),
    "leace": _Method(
        "LEACE",
        "Keeps all columns, with the least change that leaves none correlated with an attribute "
        "on the training data: a linear model fitted there predicts a constant. Variances and "
        "shapes still differ: non-linear models may use that, and even a linear score may rank "
        "groups by it.",
        lambda rows: LEACE().fit_moments(rows.moments()),
        recipe={"method": "leace"},
        in_short="the same columns, changed as little as makes their means equal in every group",
    ),
    "fair_pls": _Method(
        "Fair PLS",
        "Made to predict this target (one column, or one for each class); another target needs "
        "its own. Equal group means and nearly equal distributions on the training data. Fitting "
        "needs the target, transforming does not.",
        _fair_pls,
        for_target=True,
        recipe={"method": "fair_pls"},
        in_short="a score made of all columns, distributed nearly equally in every group",
    ),
}


PROJECTIONS = tuple(key for key, method in METHODS.items() if method.sized)
"""Representations whose number of components is chosen, so that they are compared at one."""


def name_of(setting: Setting) -> str:
    """Return the name of a setting for people.

    >>> name_of(Setting("pca", n_components=3)), name_of(Setting("score", column="risk"))
    ('PCA, k = 3', "Score 'risk'")
    """
    if setting.column is not None:
        return f"{setting.method.title()} '{setting.column}'"
    k = "" if setting.n_components is None else f", k = {setting.n_components}"
    at = "" if setting.tradeoff is None else f", lambda = {setting.tradeoff:g}"
    return f"{METHODS[setting.method].name}{k}{at}"
