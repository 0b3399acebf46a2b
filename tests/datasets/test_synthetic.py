import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fairpca.datasets._synthetic import (
    BLOCK,
    SERIES,
    STRETCH,
    _covariance,
    _largest_difference,
    _series,
    make_circle,
    make_covariance_mixture,
    make_two_gaussians,
)

MAKERS = {
    "two gaussians": lambda seed: make_two_gaussians(20, random_state=seed),
    "covariance mixture": lambda seed: make_covariance_mixture(random_state=seed),
    "circle": lambda seed: make_circle(noise=0.1, random_state=seed),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_seed_gives_the_same_rows_and_another_seed_others(make):
    (X, z), (again, _), (other, _) = make(0), make(0), make(1)
    np.testing.assert_array_equal(X, again)
    assert not np.allclose(X, other)
    assert np.bincount(z).tolist() == [len(X) // 2] * 2


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_generator_goes_on_where_it_was(make):
    rng = np.random.default_rng(0)
    assert not np.allclose(make(rng)[0], make(rng)[0])


def test_hidden_series_have_the_covariance_of_the_book():
    n = 4000
    hidden = _series((0.9, 0.5), n, np.random.default_rng(0))
    for block, r in enumerate((0.9, 0.5)):
        part = hidden[:, block * BLOCK : (block + 1) * BLOCK]
        # Covariances of n Gaussian rows have a standard error of at most sqrt(2 / n) variances;
        # six of them, because 40,000 entries are compared.
        np.testing.assert_allclose(
            part.T @ part / n, _covariance(r), atol=6 * np.sqrt(2 / n) / (1 - r**2)
        )


def test_hidden_covariances_differ_by_one_in_the_units_of_the_data():
    blocks = [_covariance(r) - _covariance(s) for r, s in zip(*SERIES.values(), strict=True)]
    largest = max(np.linalg.norm(block, ord=2) for block in blocks)
    assert _largest_difference() == pytest.approx(largest, rel=1e-12)


def in_words(X, z):
    """Numbers that do not depend on the random directions of the features."""
    covariances = [np.cov(X[z == g].T) for g in (0, 1)]
    gap = np.linalg.norm(X[z == 0].mean(axis=0) - X[z == 1].mean(axis=0))
    away = [np.linalg.norm(X[z == g].mean(axis=0)) for g in (0, 1)]
    leading = [np.linalg.eigvalsh(C)[-3:] for C in covariances]
    return np.array([gap, *away, *map(np.trace, covariances), *np.concatenate(leading)])


@pytest.mark.parametrize("d", [20, 40, 60, 80, 100])
def test_the_published_data_could_be_a_draw_of_ours(d, data_folder):
    datasets = pytest.importorskip("fairpca_paper.datasets")
    split = datasets.load_lee2022_synthetic(d, data=data_folder).splits[0]
    published = in_words(
        np.vstack([split.X_train, split.X_test]), np.concatenate([split.z_train, split.z_test])
    )
    draws = np.array([in_words(*make_two_gaussians(d, random_state=seed)) for seed in range(30)])
    # Eleven numbers on five data sets: the largest of 55 normal deviations is rarely above 3.5;
    # those of variances have heavier tails.
    deviations = (published - draws.mean(axis=0)) / draws.std(axis=0)
    assert np.abs(deviations).max() < 4.5


def test_a_linear_model_tells_the_two_gaussians_apart():
    X, z = make_two_gaussians(100, random_state=0)
    train = np.arange(len(z)) % 2 == 0
    model = LogisticRegression(max_iter=1000).fit(X[train], z[train])
    assert model.score(X[~train], z[~train]) > 0.97


def test_the_groups_of_the_mixture_differ_in_covariance_only():
    n = 20_000
    X, z = make_covariance_mixture(n, random_state=0)
    plain, stretched = X[z == 0], X[z == 1]
    mixed = np.eye(10)
    mixed[:3, :3] = STRETCH.T @ STRETCH
    for rows, covariance in ((plain, np.eye(10)), (stretched, mixed)):
        size = np.sqrt(np.outer(*[np.diag(covariance)] * 2))
        # Five standard errors, of a mean and of an entry of a covariance.
        assert np.all(np.abs(rows.mean(axis=0)) < 5 * np.sqrt(np.diag(covariance) / n))
        assert np.all(np.abs(np.cov(rows.T) - covariance) < 5 * np.sqrt(2 / n) * size)


def test_every_line_shows_the_circle():
    X, z = make_circle(200)
    for angle in np.linspace(0, np.pi, 7):
        T = X @ [np.cos(angle), np.sin(angle)]
        assert abs(T[z == 0].mean() - T[z == 1].mean()) < 1e-12
        assert np.all(T[z == 0] == 0)
        # At most two of the points on the circle meet the centre, as the paper says.
        assert np.count_nonzero(np.abs(T[z == 1]) < 1e-12) <= 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_two_gaussians(0), "d=0 leaves nothing"),
        (lambda: make_two_gaussians(5, n_per_group=0), "n_per_group=0 leaves nothing"),
        (lambda: make_covariance_mixture(10, d=2), "d=2 was given, but 3 features differ"),
        (lambda: make_circle(-1), "n_per_group=-1 leaves nothing"),
    ],
)
def test_impossible_sizes_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
