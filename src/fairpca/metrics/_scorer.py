"""What leaks from held-out rows, as a score for cross-validation and searches."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from .._attributes import attribute_columns
from ..errors import MissingGroupError, UsageError
from ._leakage import leakage
from ._probes import Probe


def make_leakage_scorer(
    probe: Probe = "linear", *, cv: int = 5, random_state: int | None = 0
) -> Any:
    """Make a scorer of what a representation leaks, for `cross_validate` and `GridSearchCV`.

    It scores what the transformers of a model make of the held-out rows, not what the model
    predicts; for predictions, pass `selection_rate_difference` and the like to
    `sklearn.metrics.make_scorer`. The attribute comes by metadata routing.

    Parameters
    ----------
    probe : "linear", "boosting", "kernel", "mlp", "strong" or classifier, default="linear"
        Who attacks, as in `leakage`.
    cv : int, default=5
        Number of folds of the held-out rows: each fold is attacked by a probe of the others.
    random_state : int or None, default=0
        Seed of these folds: one seed compares all candidates of a search on the same folds.

    Returns
    -------
    scorer : callable
        ``scorer(model, X, y, sensitive_features=...)`` returns **minus** the AUC of `leakage`:
        searches prefer larger scores, so -0.5 is chance, -1 is certainty. Of several attributes it
        is that of the one that leaks most. `sensitive_features` are requested; for weights, or the
        values of another argument, call its ``set_score_request``.

    See Also
    --------
    leakage : The number, with its interval and what chance gives.
    fairpca.tradeoff.tradeoff_curve : Accuracy and gaps for all lambdas from one pass.

    Notes
    -----
    User guide: :doc:`/howto/tradeoff`.

    Differences near -0.5 are noise, and the best of many candidates looks better than it is:
    measure the one that you choose on rows that had no part in the choice.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn import config_context
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.pipeline import make_pipeline
    >>> from fairpca import FairPCA
    >>> from fairpca.metrics import make_leakage_scorer
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=600)
    >>> X = rng.normal(size=(600, 4)) + (sex == "m")[:, None]
    >>> hired = X[:, 0] + rng.normal(size=600) > 0.5
    >>> with config_context(enable_metadata_routing=True):
    ...     fair = FairPCA(2).set_fit_request(sensitive_features=True)
    ...     model = make_pipeline(fair, LogisticRegression())
    ...     found = cross_validate(
    ...         model,
    ...         X,
    ...         hired,
    ...         scoring={"auc": "roc_auc", "leak": make_leakage_scorer()},
    ...         params={"sensitive_features": sex},
    ...     )
    >>> print(f"{found['test_leak'].mean():.1f}")
    -0.5
    """
    return _LeakageScorer(probe, cv=cv, random_state=random_state)


class _LeakageScorer(BaseEstimator):
    """A scorer by its call; scikit-learn finds what is routed to it by the method `score`."""

    __metadata_request__score: ClassVar = {"estimator": UNUSED, "sensitive_features": True}

    def __init__(self, probe: Probe, *, cv: int, random_state: int | None) -> None:
        self.probe = probe
        self.cv = cv
        self.random_state = random_state

    def score(
        self,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """Return minus the AUC of the attribute that leaks most."""
        if sensitive_features is None:
            raise MissingGroupError(
                "The leakage scorer got no sensitive_features, and they are what it predicts. Turn "
                "on metadata routing, sklearn.set_config(enable_metadata_routing=True), and pass "
                "them to the search's fit(X, y, sensitive_features=...), or to "
                "cross_validate(..., params={'sensitive_features': ...})."
            )
        T = _representation(estimator, X)
        columns = attribute_columns(sensitive_features, "sensitive_features")
        return -max(
            leakage(
                T,
                column,
                probe=self.probe,
                cv=self.cv,
                n_permutations=1,  # chance is not asked for
                random_state=self.random_state,
                sample_weight=sample_weight,
            ).auc
            for column in columns.values()
        )

    __call__ = score

    def __repr__(self) -> str:
        told = f"{self.probe!r}, cv={self.cv!r}, random_state={self.random_state!r}"
        return f"make_leakage_scorer({told})"


def _representation(estimator: Any, X: Any) -> Any:
    """Return what the transformers of a model make of rows: of a pipeline, all before a model."""
    if hasattr(estimator, "transform"):
        return estimator.transform(X)
    if hasattr(estimator, "steps") and len(estimator.steps) > 1:
        return estimator[:-1].transform(X)
    raise UsageError(
        f"A {type(estimator).__name__} has no transform, so it has no representation whose leakage "
        f"could be scored. Pass a pipeline with a transformer, such as make_pipeline(FairPCA(5), "
        f"LogisticRegression()); for decisions use make_scorer(selection_rate_difference, "
        f"greater_is_better=False)."
    )
