"""A scatter that is kept as rows: every product with it, dense or sparse, here or elsewhere."""

import numpy as np
import pytest
import scipy.sparse

from fairpca._moments import RowScatter, moments_at, scatter
from fairpca.moments import collect_moments
from moments import made_rows
from optional_libraries import array_api_strict as strict

D = 5
RNG = np.random.default_rng(7)
PIECES = [RNG.normal(2, 1, size=(n, D)) for n in (4, 1, 3)]
WEIGHTS = [RNG.uniform(0.5, 2, n) for n in (4, 1, 3)]
MEAN, SCALE = RNG.normal(size=D), RNG.uniform(0.5, 2, D)


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    """Blocks of two rows and two columns, so that every loop has several rounds."""
    monkeypatch.setattr(scatter, "rows_per_block", lambda X: 2)
    monkeypatch.setattr(scatter, "BLOCK_COLUMNS", 2)


FORMS = {
    "numpy": np.asarray,
    "elsewhere": strict.asarray,
    "sparse": scipy.sparse.csr_array,
}


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("scaled", [False, True], ids=["unit scale", "scaled"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("form", FORMS)
def test_every_product_with_kept_rows_by_the_book(form, weighted, scaled, count):
    make = FORMS[form]
    like = strict.asarray if form == "elsewhere" else np.asarray
    pieces, weights = PIECES[:count], WEIGHTS[:count]
    kept = RowScatter(
        tuple(
            made_rows.rows(make(X), w if weighted else None)
            for X, w in zip(pieces, weights, strict=True)
        ),
        like(MEAN),
        like(SCALE) if scaled else None,
    )
    root = np.sqrt(np.concatenate(weights)) if weighted else np.ones(sum(map(len, pieces)))
    Y = (np.vstack(pieces) - MEAN) * root[:, None] / (SCALE if scaled else 1.0)
    V, T = RNG.normal(size=(D, 2)), RNG.normal(size=(len(Y), 2))

    def check(actual, expected):
        np.testing.assert_allclose(np.asarray(actual), expected, atol=1e-12)

    assert kept.n_rows == len(Y)
    check(kept.diagonal, np.diag(Y.T @ Y))
    check(kept.apply(like(V)), Y.T @ (Y @ V))
    check(kept.times_rows(like(V)), Y @ V)
    check(kept.rows_transposed(like(T)), Y.T @ T)
    check(kept.gram(), Y @ Y.T)
    check(kept.compressed(like(V)).matrix, (Y @ V).T @ (Y @ V))
    check(kept.dense().matrix, Y.T @ Y)
    lost = np.sum(root**2) * np.sum((MEAN / (SCALE if scaled else 1.0)) ** 2)
    assert float(kept.cancelled) == pytest.approx(lost if form == "sparse" else 0.0)
    twice = kept.rescaled(like(1 / MEAN))
    check(twice.dense().matrix, (Y * MEAN).T @ (Y * MEAN))


@pytest.mark.parametrize("scaled", [False, True], ids=["unit scale", "scaled"])
def test_kept_rows_move_to_another_library_with_all_that_is_known_of_them(scaled):
    X = np.random.default_rng(8).normal(3, 1, size=(6, 9))
    columns = {"sex": ["f", "m"] * 3, "age": np.arange(6) + 0.5}
    w = np.array([1.0, 2.0, 1.0, 0.5, 1.0, 1.0])
    moments = collect_moments(X, columns, sample_weight=w, with_scatters=True)
    if scaled:
        moments = moments.rescaled(np.linspace(1, 2, 9))
    moved = moments_at(moments, strict.zeros(1))
    assert isinstance(moved.scatter, RowScatter)

    def check(there, here):
        assert isinstance(there, type(strict.zeros(1)))
        np.testing.assert_allclose(np.asarray(there), here, atol=1e-12)

    check(moved.mean, moments.mean)
    check(moved.scatter.diagonal, moments.scatter.diagonal)
    check(moved.scatter.dense().matrix, moments.scatter.dense().matrix)
    for a, b in zip(moved.attributes, moments.attributes, strict=True):
        check(a.total, b.total)
        if hasattr(a, "cross"):
            check(a.cross, b.cross)
        else:
            for s, t in zip(a.scatters, b.scatters, strict=True):
                check(s.dense().matrix, t.dense().matrix)


def test_sparse_rows_stay_where_they_are():
    rows = scipy.sparse.csr_array(np.eye(3, 9))
    moments = collect_moments(rows, [0, 1, 0])
    assert moments_at(moments, strict.zeros(1)) is moments


@pytest.mark.parametrize("n", [40, 400], ids=["wider than tall", "taller than wide"])
def test_a_nearly_full_sparse_column_keeps_its_digits(n):
    """At 1e7 with a spread of 1, subtracting the mean afterwards would leave two digits."""
    rng = np.random.default_rng(9)
    X = np.where(rng.random((n, 100)) < 0.02, rng.normal(size=(n, 100)), 0.0)
    X[:, 0] = 1e7 + rng.normal(size=n)
    X[: n // 20, 1] = 0
    X[n // 20 :, 1] = 5 + rng.normal(size=n - n // 20)
    centred = X - X.mean(axis=0)
    moments = collect_moments(scipy.sparse.csr_array(X), np.arange(n) % 2, with_scatters=True)
    np.testing.assert_allclose(moments.scatter.diagonal, (centred**2).sum(axis=0), rtol=1e-7)
    np.testing.assert_allclose(
        moments.scatter.dense().matrix, centred.T @ centred, rtol=1e-7, atol=1e-6
    )
