"""What a panel of attackers finds however columns are mixed, and that noise is nothing to it."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from fairpca import FairPCA
from fairpca.errors import FittedRowsWarning, UsageError
from fairpca.metrics import AucDraws, cross_fitted_aucs, leakage
from fairpca.metrics import _attackers as attackers_module
from fairpca.metrics._attackers import ATTACKERS, Panel, Whitened, _fitted, _views
from fairpca.metrics._probes import drawn_by_weight, level_scores
from slow import first_fast, slow

QUICK = {"cv": 2, "n_permutations": 99, "random_state": 0}


def noise(n, k=3, levels=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, k)), rng.permutation(np.arange(n) % levels)


def badly_conditioned(k, condition, seed=0):
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.normal(size=(k, k)))[0] for _ in range(2))
    return left * np.geomspace(1.0, 1.0 / condition, k) @ right


def without_networks(monkeypatch):
    kept = tuple(a for a in ATTACKERS if "network" not in a.name)
    monkeypatch.setattr(attackers_module, "ATTACKERS", kept)


@given(st.floats(0, 6), st.integers(0, 2**32 - 1), st.booleans())
def test_whitened_columns_are_the_same_after_every_invertible_map(digits, seed, weighted):
    T, z = noise(300, 6, levels=3)
    T[:, 0] *= 1 + z
    w = np.random.default_rng(1).uniform(0.5, 2.0, size=300) if weighted else None
    before = Whitened().fit(T, z, sample_weight=w).transform(T)
    mapped = T @ badly_conditioned(6, 10**digits, seed) + 5.0
    after = Whitened().fit(mapped, z, sample_weight=w).transform(mapped)
    np.testing.assert_allclose(after, before, atol=1e-6)
    np.testing.assert_allclose(np.cov(before.T, aweights=w, ddof=0), np.eye(6), atol=1e-9)


def test_constant_and_repeated_columns_are_no_directions():
    T, z = noise(200)
    more = np.column_stack([T, np.full(200, 1e9), T @ [1.0, 2.0, 3.0] + 7.0, T[:, 0] * 1e-9])
    for dtype in (np.float64, np.float32):
        found = Whitened().fit(more.astype(dtype), z).transform(more.astype(dtype))
        assert found.shape == (200, 3)
    np.testing.assert_allclose(
        Whitened().fit(more, z).transform(more), Whitened().fit(T, z).transform(T), atol=1e-6
    )
    same = np.ones((200, 2))
    np.testing.assert_array_equal(Whitened().fit(same, z).transform(same), np.zeros((200, 1)))


def test_the_first_directions_are_those_in_which_groups_differ():
    T, z = noise(2000, 8)
    T[:, 5] += z
    T[:, 2] *= 1 + 2 * z
    mixing = badly_conditioned(8, 100)
    found = Whitened(2).fit(T @ mixing, z).transform(T @ mixing)
    explained = np.linalg.lstsq(found, T[:, [2, 5]] - T[:, [2, 5]].mean(axis=0), rcond=None)[1]
    assert (explained / 2000 < 0.05 * T[:, [2, 5]].var(axis=0)).all()


@pytest.mark.parametrize("condition", first_fast([1e6, 1e2, 1e4]))
def test_an_invertible_map_changes_no_attacker_that_whitens(condition, monkeypatch):
    """Networks are left out: thousands of steps make more of rounding than other attackers do."""
    without_networks(monkeypatch)
    T, z = noise(300, 6)
    T[:, 0] *= 1 + z
    mapped = T @ badly_conditioned(6, condition)
    before, after = (dict(leakage(of, z, probe="strong", **QUICK).attackers) for of in (T, mapped))
    whitening = [name for name in before if "standardised" not in name]
    assert len(whitening) == 10
    for name in whitening:
        assert after[name] == pytest.approx(before[name], abs=1e-6)


def test_an_invertible_map_hardly_changes_the_verdict():
    T, z = noise(600, 6)
    T[:, 0] *= 1 + z
    mapped = T @ badly_conditioned(6, 1e6)
    before, after = (leakage(of, z, probe="strong", **QUICK) for of in (T, mapped))
    assert before.above_chance
    assert after.above_chance
    assert after.auc == pytest.approx(before.auc, abs=0.05)


@pytest.mark.parametrize("signal", ["shift", "scale", "interaction", "rings"])
def test_what_is_planted_is_found_however_columns_are_mixed(signal, monkeypatch):
    without_networks(monkeypatch)
    T, z = noise(500, 4)
    if signal == "shift":
        T[:, 0] += z
    elif signal == "scale":
        T[:, 0] *= 1 + 2 * z
    elif signal == "interaction":
        z = (T[:, 0] * T[:, 1] > 0).astype(int)
    else:
        T[:, :2] *= ((1.0 + 0.7 * z) / np.linalg.norm(T[:, :2], axis=1))[:, None]
    found = leakage(T @ badly_conditioned(4, 1e3), z, probe="strong", **QUICK)
    assert found.above_chance
    assert found.auc > 0.7


@pytest.mark.parametrize("attacker", ATTACKERS, ids=lambda attacker: attacker.name)
def test_every_attacker_knows_three_levels_and_counts_rows_by_weight(attacker):
    """Rows that hardly count have their levels exchanged."""
    T, z = noise(600, 2, levels=3)
    T = T + 4 * np.eye(3)[z][:, :2]
    light = np.arange(600) % 2 == 1
    y = np.where(light, (z + 1) % 3, z)
    model = _fitted(attacker, T, y, np.where(light, 1e-6, 1.0))
    scores = level_scores(model, T)
    assert scores.shape == (600, 3)
    assert (scores.argmax(axis=1) == z).mean() > 0.85


@pytest.mark.parametrize("attacker", ATTACKERS, ids=lambda attacker: attacker.name)
def test_a_rare_level_is_left_with_a_row_where_rows_are_drawn(attacker):
    """Then there is none of it to hold back, and networks and trees do not stop early."""
    T, z = noise(400)
    z[:] = np.r_[np.zeros(200, int), np.ones(180, int), np.full(20, 2)]
    few = dataclasses.replace(attacker, most_rows=60)
    light = np.where(z == 2, 1e-9, np.random.default_rng(0).uniform(1, 2, size=400))
    for weight in (np.ones(400), light):
        assert level_scores(_fitted(few, T, z, weight), T).shape == (400, 3)


def test_rows_are_drawn_of_every_level_and_by_weight():
    y = np.r_[np.zeros(900, int), np.ones(99, int), [2]]
    drawn = drawn_by_weight(y, np.ones(1000), 100)
    assert len(np.unique(drawn)) == len(drawn) == 100
    assert np.bincount(y[drawn]).tolist() == [90, 9, 1]
    heavy = np.where(np.arange(1000) % 2 == 0, 1.0, 1e-9)
    assert (drawn_by_weight(y, heavy, 1000)[:-1] % 2 == 0).all()


def test_no_two_attackers_see_the_same():
    assert _views(1) == ("whitened columns",)
    assert _views(5) == ("standardised columns", "whitened columns")
    assert len(_views(6)) == 3


def test_the_text_names_the_best_attacker_and_those_without_time():
    T, z = noise(120)
    T = T + 2 * z[:, None]
    found = leakage(T, z, probe="strong", effort=1e-9, **QUICK)
    assert [name for name, _ in found.attackers] == ["logistic regression on whitened columns"]
    assert len(found.skipped) == 14
    text = str(found)
    assert text.startswith("strong probe: AUC 0.9")
    assert (
        "; the only attacker: logistic regression on whitened columns; no time for nearest" in text
    )
    every = leakage(T, z, probe="strong", **QUICK)
    assert (len(every.attackers), every.skipped) == (15, ())
    assert f"; best of 15 attackers: {every.attackers[0][0]})" in str(every)
    aucs = [auc for _, auc in every.attackers]
    assert aucs == sorted(aucs, reverse=True)
    assert every == leakage(T, z, probe="strong", **QUICK)
    assert leakage(T, z, **QUICK).attackers == ()


@pytest.mark.parametrize("effort", [0, -1.0, float("nan")])
def test_no_time_at_all_is_refused(effort):
    with pytest.raises(UsageError, match=r"effort=.*seconds above 0.*effort=60"):
        leakage(*noise(20), probe="strong", effort=effort)


def test_a_level_of_few_rows_is_attacked_all_the_same():
    T, z = noise(100)
    for rare in (2, 5):
        z[:] = 0
        z[:rare] = 1
        found = leakage(T, z, probe="strong", **QUICK)
        assert 0 <= found.auc <= 1


def test_fewer_rows_than_columns_and_one_column_are_attacked(monkeypatch):
    without_networks(monkeypatch)
    T, z = noise(40, 60)
    assert leakage(T + z[:, None], z, probe="strong", **QUICK).above_chance
    one = noise(200, 1)[0] + 2 * noise(200)[1][:, None]
    found = leakage(one, noise(200)[1], probe="strong", **QUICK)
    assert found.above_chance
    assert all(name.endswith("whitened columns") for name, _ in found.attackers)


def false_alarms(n, levels, seeds):
    p = []
    for seed in seeds:
        T, z = noise(n, 5, levels, seed)
        p.append(cross_fitted_aucs(T, z, Panel(), 3, 199, seed).p_value)
    return np.mean(np.array(p) < 0.05)


@pytest.mark.parametrize("levels", [2, 3])
def test_in_noise_nothing_is_found(levels, monkeypatch):
    without_networks(monkeypatch)
    # Of 8 tables at 5 %, more than 3 have false alarms with a probability of 0.04 %.
    assert false_alarms(120, levels, range(8)) <= 3 / 8


@pytest.mark.parametrize("n", [slow(300), slow(1000)])
@pytest.mark.parametrize("levels", [2, 3])
def test_in_noise_alarms_are_as_rare_as_they_should_be(n, levels):
    # Of 100 tables at 5 %, more than 11 have false alarms with a probability of 0.4 %.
    assert false_alarms(n, levels, range(100)) <= 0.11


def test_the_choice_does_not_inflate_the_auc(monkeypatch):
    """The best of all on the same rows would be at about 0.54."""
    without_networks(monkeypatch)
    aucs = [
        cross_fitted_aucs(*noise(200, 5, seed=seed), Panel(), 2, 1, seed).auc for seed in range(12)
    ]
    # An AUC on 200 rows has a deviation of 0.04, or 0.057 since folds meet twice.
    assert np.mean(aucs) < 0.5 + 2 * 0.057 / np.sqrt(12)


def agreement_of_nearest(T, z):
    nearest = NearestNeighbors(n_neighbors=1).fit(T).kneighbors()[1][:, 0]
    return np.mean(z[nearest] == z)


def test_rows_of_the_fit_have_opposite_neighbours_and_new_rows_do_not():
    """Johansson (arXiv 2403.16142); a linear probe shows it more clearly, and is what warns."""
    agree, aucs = [], []
    for seed in range(6):
        T, z = noise(400, 190, seed=seed)
        T[:, :3] += 0.5 * z[:, None]
        fair = FairPCA(150).fit(T[:200], sensitive_features=z[:200])
        parts = [(fair.transform(T[rows]), z[rows]) for rows in (slice(200), slice(200, None))]
        agree.append([agreement_of_nearest(*part) for part in parts])
        aucs.append([cross_fitted_aucs(*part, "linear", 5, 1, 0).auc for part in parts])
    of_fit, of_new = np.mean(agree, axis=0)
    assert of_fit < 0.45 < of_new
    of_fit, of_new = np.mean(aucs, axis=0)
    assert of_fit < 0.1 < 0.48 < of_new


@pytest.mark.parametrize("probe", ["linear", "strong"])
def test_rows_of_the_fit_are_warned_of_and_new_rows_are_not(probe, monkeypatch):
    without_networks(monkeypatch)
    T, z = noise(400, 20)
    fair = FairPCA(19).fit(T[:200], sensitive_features=z[:200])
    how = {"probe": probe, **QUICK, "cv": 3}
    with pytest.warns(FittedRowsWarning, match="Measure held-out data"):
        leakage(fair.transform(T[:200]), z[:200], **how)
    leakage(fair.transform(T[200:]), z[200:], **how)  # warnings are errors here


def test_warnings_are_rare_in_noise():
    surely = [
        cross_fitted_aucs(*noise(100, seed=seed), "linear", 5, 1, seed).interval(0.998)[1] < 0.5
        for seed in range(60)
    ]
    assert sum(surely) <= 1


def test_a_panel_scores_like_a_classifier():
    T, z = noise(200)
    draws = cross_fitted_aucs(T + 3 * z[:, None], z, Panel(seconds=1e-9), 2, 9, 0)
    assert isinstance(draws, AucDraws)
    assert draws.auc > 0.95
