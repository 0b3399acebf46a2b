"""Who reads a representation: a linear model, boosted trees, and one that sees closeness."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from scipy.spatial.distance import pdist
from sklearn import config_context
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from .._kernels import Kernel, KernelColumns, whitening
from .._numerics import one_thread
from ..errors import UsageError
from ._inputs import row_weights

Probe = Literal["linear", "boosting", "kernel", "mlp", "strong"] | Any

ENOUGH_TO_STOP_EARLY = 20
"""Rows of the rarest level, of which networks and trees hold back a part to know when to stop."""

_MANY_LEVELS = 4  # boosting grows a tree per level and round: for more, fewer rounds are enough
_STEPS = 5.0  # learning rate times rounds: fewer rounds take larger steps
_SMALL = 20_000  # up to so many rows a probe is fitted faster by one thread than by several


def _linear(n_levels: int, number: bool) -> Any:
    return Ridge(alpha=1.0) if number else LogisticRegression(max_iter=1000)


def _boosting(n_levels: int, number: bool) -> Any:
    rounds = 25 if n_levels > _MANY_LEVELS and not number else 50
    trees = HistGradientBoostingRegressor if number else HistGradientBoostingClassifier
    return trees(
        max_iter=rounds,
        learning_rate=_STEPS / rounds,
        max_leaf_nodes=8,
        early_stopping=False,
        random_state=0,
    )


def _kernel(n_levels: int, number: bool) -> Any:
    # Ridge instead of logistic regression: as good at ranking, solved at once for all levels.
    ridge = Ridge(alpha=1.0) if number else RidgeClassifier(alpha=1.0)
    return make_pipeline(_LandmarkFeatures(), ridge)


def _network(n_levels: int, number: bool) -> Any:
    return _Network()


@dataclass(frozen=True)
class NamedProbe:
    """A model that has a name: how it is made, and how audits speak of it.

    `make` takes the number of levels to predict, and whether the attribute is numeric instead.
    Sentences speak of `one` and of `several`; terminals, where there is little room, `briefly`.
    What does not see how a column is scaled needs no scaling, and has no curve over the trade-off.
    """

    make: Callable[[int, bool], Any]
    one: str
    several: str
    briefly: str
    sees_scale: bool = True


PROBES = {
    "linear": NamedProbe(_linear, "a linear model", "linear models", "linear models"),
    "boosting": NamedProbe(_boosting, "boosted trees", "boosted trees", "trees", sees_scale=False),
    "kernel": NamedProbe(_kernel, "a kernel model", "kernel models", "kernel models"),
}
"""The models that have a name: `leakage` and audits use them."""

MORE_PROBES = {
    "mlp": NamedProbe(_network, "a small network", "small networks", "networks"),
}
"""Those that `leakage` knows besides; audits do not fit them. They predict levels."""


def make_probe(name: str, n_levels: int = 2, *, as_is: bool = False, number: bool = False) -> Any:
    """Return an unfitted model of so many levels, or of a `number`.

    `as_is` keeps the columns' own scale.
    """
    probe = (PROBES | MORE_PROBES)[name]
    model = probe.make(n_levels, number)
    if as_is or not probe.sees_scale:
        return model
    return Pipeline([("standardscaler", _Scaler()), (type(model).__name__.lower(), model)])


class _Scaler(StandardScaler):
    """A scaler that leaves constant columns alone also where rows have weights.

    The variance that scikit-learn finds there may be below 0 by rounding, and its root NaN.
    """

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        with np.errstate(invalid="ignore"):
            super().partial_fit(X, y, sample_weight)
        scale: np.ndarray = vars(self)["scale_"]
        scale[~np.isfinite(scale)] = 1.0
        return self


def fit_probe(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Fit a model in place and return it; in pipelines weights go to all steps that take them.

    Weights are scaled to a mean of 1: multiplied by a number, they make the same model.
    """
    weight = row_weights(sample_weight, len(y))
    if weight is None:
        return model.fit(X, y)
    last = last_step(model)
    if not has_fit_parameter(last, "sample_weight"):
        *others, final = map(repr, PROBES | MORE_PROBES)
        raise UsageError(
            f"sample_weight was given, but fit of {type(last).__name__} takes none, so every row "
            f"would count the same. Use a model whose fit takes sample_weight, such as the "
            f"probes {', '.join(others)} and {final}, or leave out the weights."
        )
    with config_context(enable_metadata_routing=False):  # which forbids to name steps
        return model.fit(X, y, **_for_steps(model, weight / weight.mean()))


def last_step(model: Any) -> Any:
    """Return the model at the end of a pipeline, or the model itself."""
    return last_step(model.steps[-1][1]) if isinstance(model, Pipeline) else model


def _for_steps(model: Any, weight: np.ndarray) -> dict[str, np.ndarray]:
    if isinstance(model, Pipeline):
        return {
            f"{name}__{argument}": given
            for name, step in model.steps
            for argument, given in _for_steps(step, weight).items()
        }
    takes_weights = hasattr(model, "fit") and has_fit_parameter(model, "sample_weight")
    return {"sample_weight": weight} if takes_weights else {}


def as_classifier(probe: Probe, n_levels: int = 2) -> tuple[str, Any]:
    """Name of a probe, and an unfitted classifier for it."""
    known = PROBES | MORE_PROBES
    if isinstance(probe, str) and probe in known:
        return probe, make_probe(probe, n_levels)
    scores = hasattr(probe, "predict_proba") or hasattr(probe, "decision_function")
    if isinstance(probe, type) or not (hasattr(probe, "fit") and scores):
        raise UsageError(
            f"probe={probe!r} cannot be fitted and scored: it is none of the {len(known) + 1} "
            f"known names, nor an instance with fit and predict_proba or decision_function. Pass "
            f"{', '.join(map(repr, known))}, 'strong', or a scikit-learn classifier."
        )
    return type(probe).__name__, probe


def few_threads(n: int) -> AbstractContextManager[Any]:
    """Keep small fits to one thread: on busy cores threads wait for each other, up to minutes."""
    return one_thread() if n < _SMALL else nullcontext()


def level_scores(classifier: Any, T: np.ndarray) -> np.ndarray:
    """Scores of shape (n, m), or (n, 1) for two levels; of a model of a number what it predicts."""
    if hasattr(classifier, "predict_proba"):
        probabilities: np.ndarray = classifier.predict_proba(T)
        return probabilities[:, 1:] if probabilities.shape[1] == 2 else probabilities
    method = "decision_function" if hasattr(classifier, "decision_function") else "predict"
    decisions: np.ndarray = getattr(classifier, method)(T)
    return decisions[:, None] if decisions.ndim == 1 else decisions


class _Network(ClassifierMixin, BaseEstimator):
    """A network of one small layer, which stops early where there are rows enough to know when."""

    def __init__(self, n_units: int = 64, random_state: int = 0) -> None:
        self.n_units = n_units
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the network; before scikit-learn 1.7, to rows drawn by their weights."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        stops = bool(np.bincount(codes).min() >= ENOUGH_TO_STOP_EARLY)
        network = MLPClassifier(
            (self.n_units,),
            max_iter=200 if stops else 50,
            learning_rate_init=3e-3,
            early_stopping=stops,
            validation_fraction=0.2,
            n_iter_no_change=10,
            random_state=self.random_state,
        )
        weighed = {} if sample_weight is None else {"sample_weight": sample_weight}
        if weighed and not has_fit_parameter(network, "sample_weight"):
            rows = drawn_by_weight(codes, np.asarray(sample_weight, dtype=float), len(codes))
            X, codes, weighed = X[rows], codes[rows], {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # then it is no better than it is
            self.network_ = network.fit(X, codes, **weighed)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each level, shape (n, m)."""
        check_is_fitted(self)
        probabilities: np.ndarray = self.network_.predict_proba(X)
        return probabilities

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable level of each row."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def drawn_by_weight(y: np.ndarray, weight: np.ndarray, size: int) -> np.ndarray:
    """Return rows of every level 0, 1, ..., drawn in proportion to its weight, and at least one."""
    even = bool((weight == weight[0]).all())
    rng = np.random.default_rng(0)
    drawn = []
    for level, total in enumerate(np.bincount(y, weights=weight) / weight.sum()):
        rows = np.flatnonzero(y == level)
        number, chances = max(1, int(size * total)), weight[rows] / weight[rows].sum()
        drawn.append(rng.choice(rows, size=number, replace=not even, p=None if even else chances))
    return np.sort(np.concatenate(drawn))


class _LandmarkFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Nystroem features of a Gaussian kernel whose width is taken from the rows.

    The kernel is :math:`\exp(-\gamma |a - b|^2)` with :math:`\gamma` one over the median squared
    distance of two landmarks, so that rows at a typical distance have a kernel value of 1/e. On
    standardised columns that is close to 1 / (2k). It is multiplied by `sharpness`.
    """

    def __init__(
        self, n_landmarks: int = 200, random_state: int = 0, sharpness: float = 1.0
    ) -> None:
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.sharpness = sharpness

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw landmarks and choose the width of the kernel."""
        X = validate_data(self, X, dtype=np.float64)
        p = min(self.n_landmarks, len(X))
        drawn = np.random.default_rng(self.random_state).choice(len(X), size=p, replace=False)
        landmarks = X[np.sort(drawn)]
        self.gamma_ = self.sharpness * _one_over_typical_square(landmarks)
        kernel = Kernel("rbf", gamma=self.gamma_, centre=landmarks.mean(axis=0))
        self.closeness_ = KernelColumns(kernel, landmarks)
        # Equal or nearly equal landmarks are one: directions below rounding are not features.
        self.normalization_ = whitening(self.closeness_, (p * np.finfo(float).eps) ** 2)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return features of shape (n, r), whose products approximate the kernel."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self.closeness_(X) @ self.normalization_)

    @property
    def _n_features_out(self) -> int:
        return int(self.normalization_.shape[1])


def _one_over_typical_square(rows: np.ndarray) -> float:
    squares = pdist(rows, "sqeuclidean")
    different = squares[squares > 0]
    if len(different) == 0:
        return 1.0  # all landmarks are equal: any width will do
    # Where most rows are equal the median is 0; the distances that remain have a scale.
    typical = float(np.median(squares)) or float(np.median(different))
    return 1.0 / typical
