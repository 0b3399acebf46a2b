"""Equal covariances: certificates, brute force where that is possible, refusals and advice."""

import re

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from assertions import assert_orthonormal, assert_same_subspace
from fairpca.errors import InfeasibleError
from fairpca.moments import collect_moments
from fairpca.solvers import _equalize_covariances_exactly as module
from fairpca.solvers import (
    covariance_gap,
    equalize_covariances_spectral,
    equalize_means,
    mean_gap,
)
from fairpca.solvers import equalize_covariances_exactly as exactly
from fairpca.solvers._equalize_covariances import absolute_difference
from fairpca.solvers._equalize_covariances_exactly import _match, _match_covariances, _Problem
from fairpca.solvers._isotropic_bases import State, largest_isotropic_dimension
from slow import first_fast


def problem(s, count, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(s, s))
    return A @ A.T / s, [B + B.T for B in rng.normal(size=(count, s, s))]


def leading(C, k):
    return np.linalg.eigh(C)[1][:, ::-1][:, :k]


def groups(n=3000, d=12, m=2, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, m, n)
    mix = rng.normal(size=(m, d, d)) / np.sqrt(d) + 2 * np.eye(d) * np.linspace(2, 0.5, d)
    X = np.einsum("nd,nde->ne", rng.normal(size=(n, d)), mix[z]) + rng.normal(size=(m, d))[z]
    return X, z


def on_the_sphere(d, count=200_000, seed=0):
    U = np.random.default_rng(seed).normal(size=(count, d))
    return U / np.linalg.norm(U, axis=1)[:, None]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("d", [3, 4])
def test_no_direction_found_by_brute_force_is_better(d, seed):
    """k = 1: search the sphere; rotate each pair of a positive and a negative point to zero."""
    C, (T,) = problem(d, 1, seed)
    if largest_isotropic_dimension(T) < 1:
        return
    found = _match_covariances(C, [T], 1, starts=[leading(C, 1)])
    assert found.converged
    U = on_the_sphere(d)
    values = np.einsum("nd,de,ne->n", U, T, U)
    u, v = U[values > 0], U[values < 0]
    count = min(len(u), len(v))
    u, v = u[:count], v[:count]
    # cos^2 T_uu + 2 cos sin T_uv + sin^2 T_vv = 0 has a root between the two
    a, b, c = (np.einsum("nd,de,ne->n", x, T, y) for x, y in ((v, v), (u, v), (u, u)))
    t = (-b + np.sqrt(b**2 - a * c)) / a
    L = u + t[:, None] * v
    L /= np.linalg.norm(L, axis=1)[:, None]
    assert np.abs(np.einsum("nd,de,ne->n", L, T, L)).max() < 1e-9
    best = np.einsum("nd,de,ne->n", L, C, L).max()
    assert found.variance[0] >= best - 1e-7  # the optimiser's tolerance
    assert found.variance[0] <= best + 0.02 * np.linalg.norm(C, 2)  # the search was dense


def test_two_dimensions_of_four_by_brute_force():
    """T = diag(1, 1, -1, -1): isotropic planes are graphs of rotations, all of them listed."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 4))
    C, T = A @ A.T, np.diag([1.0, 1.0, -1.0, -1.0])
    starts = [leading(C, 2), np.linalg.qr(rng.normal(size=(4, 2)))[0]]
    found = _match_covariances(C, [T], 2, starts=starts)
    best = 0.0
    for angle in np.linspace(0, 2 * np.pi, 20_001):
        c, s = np.cos(angle), np.sin(angle)
        for turn in (np.array([[c, -s], [s, c]]), np.array([[c, s], [s, -c]])):
            L = np.vstack([np.eye(2), turn]) / np.sqrt(2)
            best = max(best, np.trace(L.T @ C @ L))
    assert found.variance.sum() == pytest.approx(best, rel=1e-6)


def best_found(C, T, k):
    """What the starts of every fit lead to, without a penalty."""
    return _Problem(C, [T], [T], C, 1e-6, None).solve(k).variance.sum()


@pytest.mark.parametrize("seed", first_fast(range(60), 12))
def test_one_direction_is_the_best_of_all_by_duality(seed):
    """No value exceeds the least largest eigenvalue of C - t T over t, and k = 1 attains it."""
    C, (T,) = problem(3 + seed % 10, 1, seed)
    upper = minimize_scalar(lambda t: np.linalg.eigvalsh(C - t * T)[-1], bracket=(-1, 1)).fun
    assert best_found(C, T, 1) == pytest.approx(upper, rel=1e-6)


@pytest.mark.parametrize("seed", first_fast(range(40), 6))
def test_the_usual_starts_lead_as_far_as_random_ones(seed):
    """What is certified is a local optimum; of several random starts none leads to a better one."""
    (C, (T,)), k = problem(12, 1, seed), 3
    found, rng = best_found(C, T, k), np.random.default_rng(seed)
    upper = minimize_scalar(lambda t: np.linalg.eigvalsh(C - t * T)[-k:].sum(), bracket=(-1, 1)).fun
    for _ in range(10):
        start = np.linalg.qr(rng.normal(size=(12, k)))[0]
        assert _match_covariances(C, [T], k, starts=[start]).variance.sum() <= found * (1 + 1e-6)
    assert found <= upper * (1 + 1e-9)


@pytest.mark.parametrize(("s", "count", "k"), [(10, 1, 3), (15, 2, 3), (40, 3, 4), (60, 1, 10)])
def test_certificates(s, count, k):
    """Orthonormal, feasible, and first-order optimal: multipliers make the gradient vanish."""
    for seed in range(3):
        C, Ts = problem(s, count, seed)
        found = _match_covariances(C, Ts, k, starts=[leading(C, k)])
        L = found.L
        assert found.converged
        assert_orthonormal(L)
        assert max(np.abs(L.T @ T @ L).max() for T in Ts) < 1e-11
        assert np.all(np.diff(found.variance) <= 0)
        # C L = L S + sum_g T_g L M_g for symmetric S and M_g: least squares over all of them
        columns = [L @ E for E in _symmetric_basis(k)]
        columns += [T @ L @ E for T in Ts for E in _symmetric_basis(k)]
        A = np.array([c.ravel() for c in columns]).T
        residual = C @ L - (A @ np.linalg.lstsq(A, (C @ L).ravel(), rcond=None)[0]).reshape(s, k)
        assert np.linalg.norm(residual) < 1e-5 * np.linalg.norm(C, 2)


def _symmetric_basis(k):
    for i in range(k):
        for j in range(i, k):
            E = np.zeros((k, k))
            E[i, j] = E[j, i] = 1.0
            yield E


@pytest.mark.parametrize("m", [2, 3])
def test_groups_have_equal_means_and_covariances(m):
    X, z = groups(m=m)
    moments = collect_moments(X, z, with_scatters=True)
    fair, match = exactly(moments, 3, directions=1.0)
    assert match.converged
    assert_orthonormal(fair.basis)
    assert mean_gap(moments, fair) < 1e-9
    assert covariance_gap(moments, fair.basis) < 1e-10
    T = X @ fair.basis
    covariances = [np.cov(T[z == g].T) for g in range(m)]
    for S in covariances[1:]:
        np.testing.assert_allclose(S, covariances[0], atol=1e-6 * np.linalg.norm(S))
    np.testing.assert_allclose(fair.scatter, ((T - T.mean(axis=0)) ** 2).sum(axis=0))


def test_two_attributes_and_weights():
    X, z = groups(d=14)
    rng = np.random.default_rng(1)
    other = rng.choice(["a", "b"], len(X))
    X[other == "b", 3] *= 2
    w = rng.integers(1, 4, len(X)).astype(float)
    moments = collect_moments(X, {"z": z, "o": other}, sample_weight=w, with_scatters=True)
    fair, _ = exactly(moments, 3, directions=1.0)
    T = X @ fair.basis
    for column in (z, other):
        values = np.unique(column)
        S = [np.cov(T[column == g].T, fweights=w[column == g].astype(int)) for g in values]
        np.testing.assert_allclose(S[0], S[1], rtol=0, atol=2e-3 * np.linalg.norm(S[0]))


def test_more_variance_than_the_spectral_solution_at_a_smaller_gap():
    for seed in range(3):
        X, z = groups(seed=seed)
        moments = collect_moments(X, z, with_scatters=True)
        exact, _ = exactly(moments, 3, directions=1.0)
        plain = equalize_means(moments, 3)
        assert exact.scatter.sum() <= plain.scatter.sum() * (1 + 1e-12)
        for directions in (0.4, 0.6, 0.8):
            spectral = equalize_covariances_spectral(moments, 3, directions=directions)
            if covariance_gap(moments, spectral.basis) > 0.01:
                continue
            assert exact.scatter.sum() >= spectral.scatter.sum()


def test_rows_batches_and_permutations_give_the_same_subspace():
    X, z = groups()
    order = np.random.default_rng(2).permutation(len(X))
    whole = collect_moments(X, z, with_scatters=True)
    permuted = collect_moments(X[order], z[order], with_scatters=True)
    merged = sum(collect_moments(X[i::3], z[i::3], with_scatters=True) for i in range(3))
    bases = [exactly(m, 3, directions=1.0)[0].basis for m in (whole, permuted, merged)]
    assert_same_subspace(bases[0], bases[1], atol=1e-4)
    assert_same_subspace(bases[0], bases[2], atol=1e-4)
    again = exactly(whole, 3, directions=1.0)[0].basis
    np.testing.assert_array_equal(bases[0], again)


def test_a_budget_keeps_more_variance_and_is_kept():
    X, z = groups()
    moments = collect_moments(X, z, with_scatters=True)
    kept, gaps = [], []
    for tol in (1e-6, 0.05, 0.2):
        fair, match = exactly(moments, 3, directions=1.0, tol=tol)
        kept.append(float(fair.scatter.sum()))
        gaps.append(match.gap)
        assert match.gap <= tol
    assert kept == sorted(kept)
    assert kept[0] < kept[-1]
    assert gaps[-1] > 0.01


def test_a_penalty_trades_variance_for_smaller_differences():
    X, z = groups()
    moments = collect_moments(X, z, with_scatters=True)
    D = np.cov(X[z == 0].T) - np.cov(X[z == 1].T)
    values, V = np.linalg.eigh(D)
    A = (V * np.abs(values)) @ V.T
    np.testing.assert_allclose(absolute_difference(moments), A, atol=1e-10)
    for solve in (equalize_covariances_spectral, exactly):
        kept, cost = [], []
        for penalty in (0.0, 0.3, 1.0):
            fair = solve(moments, 3, directions=1.0, penalty=penalty)
            U = (fair if solve is equalize_covariances_spectral else fair[0]).basis
            kept.append(np.trace(U.T @ np.cov(X.T) @ U))
            cost.append(np.trace(U.T @ A @ U))
        assert kept == sorted(kept, reverse=True)
        assert cost == sorted(cost, reverse=True)


@pytest.mark.parametrize("seed", range(5))
def test_covariances_that_are_equal_already_are_no_obstacle(seed):
    A = np.random.default_rng(seed).normal(size=(101, 3))
    X, z = np.vstack([A, A[::-1]]), np.repeat([0, 1], 101)  # the same rows, in another order
    moments = collect_moments(X, z, with_scatters=True)
    fair, match = exactly(moments, 2, directions=1.0)
    assert match.converged
    assert_same_subspace(fair.basis, equalize_means(moments, 2).basis)


def test_progress_is_told():
    X, z = groups()
    lines = []
    moments = collect_moments(X, z, with_scatters=True)
    exactly(moments, 2, directions=1.0, progress=lines.append)
    assert lines
    assert lines[-1].startswith("covariance gap")


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
    assert exactly(moments, kept[1] + 1e-3, directions=1.0)[0].basis.shape == (
        6,
        2,
    )
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
