"""Fair PLS is what its formulas say, and nobody does better."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fairpca import FairPLS
from fairpca.solvers import _predict_targets as module
from oracles import equal_shares_by_the_book, fair_pls_by_the_book, fair_span
from strategies import grouped_rows

COUNTS = {"thresholds": module.THRESHOLDS, "width": module.WIDTH, "rounds": module.ROUNDS}


@st.composite
def rows_with_targets(draw):
    """Return X, attributes, weights and targets: classes, a number, or several of them."""
    X, columns, weight = draw(grouped_rows(min_features=4, weights=True))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    assume(all(np.bincount(c).min() > 1 for c in columns.values() if c.dtype.kind != "f"))
    assume(fair_span(X, *columns.values(), weight=weight).shape[1] > 0)
    unit = (X - X.mean(axis=0)) / np.where(np.ptp(X, axis=0) > 0, X.std(axis=0), 1)
    kinds = draw(st.sampled_from(["two", "three", "number", "two and number", "three and two"]))
    targets = {}
    for kind in kinds.split(" and "):
        score = unit @ rng.normal(size=X.shape[1]) + rng.normal(size=len(X))
        cuts = {"two": [0.5], "three": [0.3, 0.6], "number": []}[kind]
        targets[kind] = np.searchsorted(np.quantile(score, cuts), score) if cuts else 1e3 * score
    if not draw(st.booleans()):
        weight = np.ones(len(X))
    return X, columns, weight, targets


def fitted(rows, **options):
    X, columns, weight, targets = rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows far from the origin
        return FairPLS(**options).fit(X, targets, sensitive_features=columns, sample_weight=weight)


def scores(X, W):
    return (X - X.mean(axis=0)) @ W


def standard_deviations(X, weight):
    mean = np.average(X, axis=0, weights=weight)
    return np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))


@pytest.mark.parametrize("match", ["means", "covariances", "distributions"])
@given(rows=rows_with_targets(), scale=st.booleans())
def test_every_strength_agrees_with_the_book(match, rows, scale):
    X, columns, weight, targets = rows
    spread, shrinkage, penalty = 0.7 * (match != "means"), 0.3, 50.0
    fair = fitted(
        rows,
        match=match,
        scale=scale,
        spread_penalty=0.7,
        distribution_penalty=penalty,
        shrinkage=shrinkage,
    )
    Z = X
    if scale:
        Z = X / np.where(np.ptp(X, axis=0) > 0, standard_deviations(X, weight), 1)
    W, start = fair_pls_by_the_book(
        Z, targets.values(), *columns.values(), weight=weight, shrinkage=shrinkage, spread=spread
    )
    if match == "distributions":
        W, gap = equal_shares_by_the_book(
            Z, *columns.values(), weight=weight, start=start, penalty=penalty, **COUNTS
        )
        assert fair.distribution_gap_ == pytest.approx(gap, abs=1e-8)
    far = np.abs(X).max() / X.std(axis=0).max()
    T, expected = fair.transform(X), scores(Z, W)
    T = T - T.mean(axis=0)
    np.testing.assert_allclose(T, expected, rtol=0, atol=1e-9 * max(1, far))
