"""Reductions: a randomised classifier under a fairness bound, from a sequence of weighted fits."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from fairpca.errors import MissingGroupError, MissingTargetError, SingleGroupError, UsageError

from ._base import attribute_columns, check_choice, check_count, is_numeric, joint_levels

CONSTRAINTS = {
    "demographic_parity": "DemographicParity",
    "equal_opportunity": "TruePositiveRateParity",
    "equalized_odds": "EqualizedOdds",
}
"""What fairlearn calls the criteria."""


def _read_labels(y: Any, n: int) -> np.ndarray:
    """Return one label per row."""
    if y is None:
        raise MissingTargetError(
            "Reductions trains a classifier, so fit requires y to be passed, but the target y is "
            "None. Pass fit(X, y, sensitive_features=...)."
        )
    labels = np.asarray(y)
    labels = labels.ravel() if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.shape != (n,):
        raise UsageError(f"y has shape {labels.shape}, but X has {n} rows. Pass one label per row.")
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    return labels


def _two_classes(labels: np.ndarray, pos_label: Any) -> np.ndarray:
    """Return the two labels, the positive one last."""
    found = list(dict.fromkeys(labels.tolist()))
    last = [value for value in found if value == pos_label]
    if len(found) != 2 or len(last) != 1:
        raise UsageError(
            f"Only binary classification is supported. The type of the target is "
            f"{type_of_target(labels)}: y has {len(found)} distinct value(s), the first are "
            f"{found[:3]}, and one of two should be pos_label={pos_label!r}. Merge classes, or set "
            f"pos_label."
        )
    return np.asarray([*(v for v in found if v not in last), *last], dtype=labels.dtype)


def _joint_groups(sensitive_features: Any, X: Any, n: int) -> np.ndarray:
    """Return the codes of the joint groups."""
    if sensitive_features is None:
        raise MissingGroupError(
            "No sensitive features were given, and without them there is nothing to be fair "
            "between. Pass fit(X, y, sensitive_features=...)."
        )
    columns = attribute_columns(sensitive_features, X, n)
    numeric = [name for name, column in columns.items() if is_numeric(column)]
    if numeric:
        raise UsageError(
            f"The sensitive attribute {numeric[0]!r} is numeric, but rates are compared between "
            f"groups. Cut it into bands, or use FairPCA, which takes numbers."
        )
    codes, labels = joint_levels(columns)
    if len(labels) < 2:
        raise SingleGroupError(
            f"The sensitive attribute {' x '.join(columns)!r} takes one value only, so there is "
            f"nothing to compare. Pass rows of at least two groups."
        )
    return codes


class Reductions(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Train a classifier whose decisions satisfy a fairness bound, by trial and reweighting.

    The exponentiated-gradient reduction of Agarwal et al. [1]_, computed by fairlearn. It plays a
    game: one side fits the base classifier to relabelled, reweighted rows, the other raises the
    price of whichever group is behind. The answer is a lottery over the classifiers met on the way.

    On the training rows, the rate of every group is within `difference_bound`, plus about `eps`,
    of the rate over all rows, and no lottery over the base class with that property makes fewer
    errors (up to `best_gap_`, and as far as the base classifier minimises its weighted error).
    **Two groups can therefore differ by twice the bound.** New rows follow up to sampling error.

    Prefer it where one decision is to be made, its labels are there at training, and a bound on
    that decision is what is asked for. Prefer `fairpca.FairPCA` where a representation has to
    serve several tasks or other people's models, where labels are not there, where the same person
    must get the same answer twice, or where time counts: this fits the base classifier 20 to 50
    times for every bound. It is a classifier and no transformer: it hides nothing in the features.

    Parameters
    ----------
    estimator : classifier, optional
        The base: any classifier whose `fit` takes `sample_weight`. By default scikit-learn's
        LogisticRegression.
    criterion : {"demographic_parity", "equal_opportunity", "equalized_odds"}
        Which rates are compared: of positive decisions; among rows whose label is positive; in
        both classes.
    difference_bound : float, default=0.01
        How far the rate of a group may be from that over all rows. 0 is exact fairness.
    pos_label : label, default=1
        The positive class.
    eps : float, default=0.01
        One over the highest price of a violation: the smaller, the more exactly the bound holds,
        and the longer it takes.
    max_iter : int, default=50
        Most rounds of the game.
    random_state : int, RandomState or None, default=0
        The coins of `predict`. With an int, the same rows get the same decisions in every call.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels; the positive one is the second.
    predictors_ : list of classifiers
        The classifiers in the lottery; they say 0 or 1, 1 for the positive class.
    weights_ : array
        With which probability each of them decides.
    best_gap_ : float
        How far the game is from its solution.
    n_iter_, n_fits_ : int
        How many rounds there were, and how often the base classifier was fitted in them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    fairpca.tradeoff.tradeoff_curve : The whole curve of a fair representation in less time.

    Notes
    -----
    Several attributes are merged into their
    joint groups. Numbers for fairness violations usually average over the coins:
    `decision_probability` gives them without throwing any.

    References
    ----------
    .. [1] Agarwal, Beygelzimer, Dudik, Langford, Wallach. "A reductions approach to fair
       classification". ICML 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca_paper.methods import Reductions
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.integers(0, 2, size=400)
    >>> X = rng.normal(size=(400, 3)) + np.outer(sex, [1, 0, 0])
    >>> hired = (X[:, 0] + rng.normal(size=400) > 0.5).astype(int)
    >>> fair = Reductions(difference_bound=0.01).fit(X, hired, sensitive_features=sex)
    >>> rate = [fair.decision_probability(X[sex == g]).mean() for g in (0, 1)]
    >>> bool(abs(rate[0] - rate[1]) < 2 * (0.01 + fair.eps))
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        criterion: str = "demographic_parity",
        difference_bound: float = 0.01,
        pos_label: Any = 1,
        eps: float = 0.01,
        max_iter: int = 50,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.criterion = criterion
        self.difference_bound = difference_bound
        self.pos_label = pos_label
        self.eps = eps
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None) -> Self:
        """Train the lottery.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
            Features; the attribute may be among them or not.
        y : array-like of shape (n,)
            Labels of two classes.
        sensitive_features : array-like, Series, frame or dict of columns with n rows
            Sensitive attributes: levels, not numbers.

        Returns
        -------
        self
        """
        self._check_parameters()
        features = validate_data(self, X, dtype="numeric", ensure_min_samples=2)
        labels = _read_labels(y, len(features))
        classes = _two_classes(labels, self.pos_label)
        groups = _joint_groups(sensitive_features, X, len(features))
        self._learn(features, (labels == classes[1]).astype(int), groups)
        self.classes_ = classes
        return self

    def _learn(self, X: np.ndarray, y: np.ndarray, groups: np.ndarray) -> None:
        from fairlearn import reductions

        constraint = getattr(reductions, CONSTRAINTS[self.criterion])
        base = LogisticRegression() if self.estimator is None else self.estimator
        game = reductions.ExponentiatedGradient(
            base,
            constraint(difference_bound=float(self.difference_bound)),
            eps=float(self.eps),
            max_iter=int(self.max_iter),
        )
        with warnings.catch_warnings():
            # How fairlearn uses pandas; nothing that a user could change.
            warnings.filterwarnings("ignore", category=DeprecationWarning, module="fairlearn")
            game.fit(X, y, sensitive_features=groups)
        chosen = [i for i, weight in game.weights_.items() if weight > 0]
        self.predictors_ = [game.predictors_[i] for i in chosen]
        self.weights_ = np.array([game.weights_[i] for i in chosen])
        self.best_gap_ = float(game.best_gap_)
        self.n_iter_ = int(game.last_iter_) + 1
        self.n_fits_ = int(game.n_oracle_calls_)

    def decision_probability(self, X: Any) -> np.ndarray:
        """Return the probability that `predict` says the positive class, for each row.

        It is a property of the lottery, 0 or 1 for most rows, and no estimate of the chance that
        the label is positive.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
            Features.

        Returns
        -------
        probability : array of shape (n,)
        """
        check_is_fitted(self)
        features = validate_data(self, X, dtype="numeric", reset=False)
        said = [np.asarray(predictor.predict(features)) for predictor in self.predictors_]
        return np.clip(self.weights_ @ np.asarray(said, dtype=float), 0.0, 1.0)

    def predict(self, X: Any) -> np.ndarray:
        """Return decisions, each by a classifier drawn for that row.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
            Features.

        Returns
        -------
        decisions : array of shape (n,)
            Entries of `classes_`.
        """
        chance = self.decision_probability(X)
        coins = check_random_state(self.random_state).random_sample(len(chance))
        return self.classes_[(coins < chance).astype(int)]

    def _check_parameters(self) -> None:
        check_choice("criterion", self.criterion, tuple(CONSTRAINTS))
        bound, eps = self.difference_bound, self.eps
        if not (isinstance(bound, Real) and 0.0 <= float(bound) <= 1.0):
            raise UsageError(
                f"difference_bound={bound!r} is outside [0, 1], and rates differ by no more than "
                f"1. Use 0 for exact fairness, or a small number such as 0.01."
            )
        if not (isinstance(eps, Real) and 0.0 < float(eps) < 1.0):
            raise UsageError(f"eps={eps!r} is not between 0 and 1. Use a number such as 0.01.")
        check_count("max_iter", self.max_iter)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.non_deterministic = True  # a row's coin depends on its position
        return tags
