"""Estimators for scikit-learn's checks, which pass no groups: rows fall into two made-up ones."""

import inspect

import numpy as np


def group_of_each(X):
    """One of two groups for any row, by a rule that looks at nothing but the row."""
    try:
        rows = np.asarray(X.todense() if hasattr(X, "todense") else X)
        score = np.nan_to_num(rows.real.astype(float).reshape(len(rows), -1).sum(axis=1))
    except (TypeError, ValueError):
        return np.arange(len(X)) % 2
    return (np.floor(np.clip(score, -1e9, 1e9) * 100) % 2).astype(int)


def two_groups(X):
    """The same, but never fewer than two rows in a group."""
    groups = group_of_each(X)
    for g in (0, 1):
        lacking = max(0, 2 - np.count_nonzero(groups == g)) if len(groups) > 2 else 0
        groups[np.flatnonzero(groups != g)[::2][:lacking]] = g
    if len(groups) == 2:
        groups[:] = 0, 1
    return groups


class Fits:
    def fit(self, X, y=None, *, sensitive_features=None, sample_weight=None):
        return super().fit(X, y, sensitive_features=two_groups(X), sample_weight=sample_weight)


class FitsBatches:
    def partial_fit(self, X, y=None, *, sensitive_features=None, sample_weight=None):
        return super().partial_fit(
            X, y, sensitive_features=two_groups(X), sample_weight=sample_weight
        )


class FitsAndTransforms:
    def fit_transform(self, X, y=None, *, sensitive_features=None, sample_weight=None):
        return super().fit_transform(
            X, y, sensitive_features=two_groups(X), sample_weight=sample_weight
        )


class Transforms:
    def transform(self, X, *, sensitive_features=None):
        return super().transform(X, sensitive_features=group_of_each(X))


def with_made_up_groups(estimator, *, batches=True):
    """Return a subclass that makes the groups up; by name in this module, for pickles."""
    mixins = [Fits]
    if batches and hasattr(estimator, "partial_fit"):
        mixins.append(FitsBatches)
    if "fit_transform" in vars(estimator):
        mixins.append(FitsAndTransforms)
    if "sensitive_features" in inspect.signature(estimator.transform).parameters:
        mixins.append(Transforms)
    name = f"Grouped{estimator.__name__}"
    return globals().setdefault(name, type(name, (*mixins, estimator), {"__module__": __name__}))
