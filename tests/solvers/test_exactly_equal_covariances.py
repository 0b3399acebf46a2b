"""Exactly equal covariances: shares of the variance, refusals and their advice."""

import re
from importlib import import_module

import numpy as np
import pytest

from fairpca import InfeasibleError, collect_moments
from fairpca.solvers import equalize_covariances_exactly as exactly
from fairpca.solvers._equalize_covariances_exactly import _match, _Problem
from fairpca.solvers._isotropic_bases import State

module = import_module("fairpca.solvers._equalize_covariances_exactly")


def rotated(diagonal, seed=0):
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(diagonal),) * 2))[0]
    return (Q * np.asarray(diagonal, dtype=float)) @ Q.T


def two_groups(diagonal_ratio, n=4000):
    """Groups whose covariances differ by known ratios along the axes."""
    ratio = np.asarray(diagonal_ratio, dtype=float)
    rng = np.random.default_rng(3)
    half = rng.normal(size=(n // 2, len(ratio)))
    half = np.linalg.qr(half - half.mean(axis=0))[0] * np.sqrt(n // 2 - 1)
    return np.vstack([half * ratio, half]), np.repeat([0, 1], n // 2)


def moments_of(ratio):
    X, z = two_groups(ratio)
    return collect_moments(X, z, with_scatters=True)


def refused(moments, k, **options):
    with pytest.raises(InfeasibleError) as error:
        exactly(moments, k, directions=1.0, **options)
    return str(error.value)


def test_a_refusal_advises_only_what_can_help():
    some = refused(moments_of([2, 2, 0.5, 0.9]), 3)
    assert "n_components=3 direction(s) with equal group covariances do not exist" in some
    assert "(4 directions allow 2, by the signs" in some
    assert "of the difference). You can" in some
    assert "use fewer components" in refused(moments_of([2, 2, 0.5]), 2)
    assert "use fewer components; or set covariance_tol" in some
    assert "such as 0.1" in some
    assert "covariance_method='spectral'" in some
    none = refused(moments_of([2, 3, 1.5]), 1)
    assert "allow 0" in none
    assert "fewer components" not in none
    assert "fewer components" not in refused(moments_of([2, 3, 1.5]), 2)
    assert "n_components=1 direction" in refused(moments_of([2, 3, 1.5]), None)


def test_a_budget_that_is_not_met_says_which_one_would_be():
    message = refused(moments_of([2, 3, 1.5]), 1, tol=1e-3)
    assert "do not exist" in message
    gap = float(re.search(r"smallest gap found is ([\d.]+\d)", message)[1])
    advised = float(re.search(r"at least ([\d.]+\d)", message)[1])
    assert gap < advised < 1.2 * gap
    subspace, match = exactly(moments_of([2, 3, 1.5]), 1, directions=1.0, tol=advised)
    assert match.gap <= advised
    assert subspace.basis.shape == (3, 1)


@pytest.mark.parametrize("ratio", [[2, 0.5, 3, 0.4, 1.5, 0.7]])
def test_a_share_of_the_variance_takes_the_fewest_components(ratio):
    moments = moments_of(ratio)
    total = float(np.trace(moments.scatter.matrix)) / moments.weight
    kept = {}
    for k in (1, 2, 3):
        kept[k] = float(exactly(moments, k, directions=1.0)[1].variance.sum()) / total
    assert kept[1] < kept[2] < kept[3]
    for k, share in kept.items():
        assert exactly(moments, share - 1e-6, directions=1.0)[0].basis.shape == (6, k)
    assert exactly(moments, kept[1] + 1e-3, directions=1.0)[0].basis.shape == (6, 2)
    assert exactly(moments, 1e-6, directions=1.0)[0].basis.shape == (6, 1)
    with pytest.raises(InfeasibleError, match="hold at most") as error:
        exactly(moments, kept[3] + 0.01, directions=1.0)
    assert f"{kept[3]:.2%}" in str(error.value)
    assert exactly(moments, None, directions=1.0)[0].basis.shape == (6, 3)


def test_as_many_as_possible_is_known_for_two_groups_only():
    X, z = two_groups([2, 0.5, 3, 0.4])
    moments = collect_moments(X, np.arange(len(z)) % 3, with_scatters=True)
    assert "two groups only" in refused(moments, None)
    different = np.repeat([1.0, 2.0, 3.0], len(z) // 4)
    rows = X[: len(different)] * different[:, None]
    apart = collect_moments(rows, different.astype(int), with_scatters=True)
    message = refused(apart, 1)
    assert (
        "n_components=1 direction(s) with equal group covariances were not found; the " in message
    )


def test_a_penalty_below_one_is_part_of_the_objective():
    rng = np.random.default_rng(6)
    mixes = rng.normal(size=(2, 6, 6))
    X = np.vstack([rng.normal(size=(500, 6)) @ mix for mix in mixes])
    moments = collect_moments(X, np.repeat([0, 1], 500), with_scatters=True)
    plain, same, some = (
        exactly(moments, 1, directions=1.0, tol=0.5, penalty=penalty)[1]
        for penalty in (0.0, 0, 0.9)
    )
    assert same.L.tobytes() == plain.L.tobytes()
    default = exactly(moments, 1, directions=1.0, tol=0.5)[1]
    assert default.L.tobytes() == plain.L.tobytes()
    assert some.variance.sum() < (1 - 1e-3) * plain.variance.sum()


def test_a_share_of_the_variance_between_three_groups_is_searched_for(monkeypatch):
    """How many components can match is not known beforehand; some attempts fail."""
    monkeypatch.setattr(module, "EXTRA_STARTS", 0)
    rng = np.random.default_rng(8)
    mixes = rng.normal(size=(3, 7, 7)) * 0.3 + np.eye(7)
    X = np.vstack([rng.normal(size=(200, 7)) @ mix for mix in mixes])
    moments = collect_moments(X, np.repeat([0, 1, 2], 200), with_scatters=True)
    total = float(np.trace(moments.scatter.matrix)) / moments.weight
    one = float(exactly(moments, 1, directions=1.0)[1].variance.sum()) / total
    for share, count in ((0.9 * one, 1), (1.05 * one, 2)):
        subspace, match = exactly(moments, share, directions=1.0)
        assert subspace.basis.shape == (7, count)
        assert float(match.variance.sum()) >= share * total


@pytest.mark.parametrize("most", range(9))
def test_a_share_is_searched_for_by_halving(most):
    """Where no more than `most` components can match, and each holds a tenth of the variance."""
    problem = _Problem(np.eye(8), [np.eye(8), rotated(range(8))], [], np.eye(8), 1e-8, None)
    tried = []

    def solve(k):
        tried.append(k)
        if k > most:
            raise InfeasibleError("not so many")
        return _match(np.eye(8), State.at(np.eye(8, k), gap=0.0, gradient_norm=0.0), 1e-8)

    problem.solve = solve
    for wanted in range(1, 9):
        tried.clear()
        if wanted <= most:
            assert len(problem.reach(wanted / 10, 10.0).variance) == wanted
        else:
            with pytest.raises(InfeasibleError, match=f"hold at most {most}0?.00%"):
                problem.reach(wanted / 10, 10.0)
        assert len(tried) == len(set(tried)) <= 4
