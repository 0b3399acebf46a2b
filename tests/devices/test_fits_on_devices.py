import numpy as np
import pytest
from sklearn.base import clone

from assertions import assert_equal_group_means
from devices.people import fitted, people, projector, to_numpy
from fairpca import FairPCA, FairPLS
from fairpca.erasers import LEACE, SAL, SPLINCE, MeanProjection
from fairpca.moments import collect_moments

CASES = {
    "means": {},
    "a share of the variance": {"n_components": 0.1},
    "all directions": {"n_components": None},
    "standardised": {"scale": True},
    "a trade-off": {"tradeoff": 0.25},
    "equal opportunity": {"criterion": "equal_opportunity"},
    "equalised odds": {"criterion": "equalized_odds", "n_components": 1},
    "joint groups": {"intersectional": True, "n_components": 2},
    "Lanczos": {"solver": "iterative"},
    "weights": {"weighted": True},
    "covariances, the paper's way": {"match": "covariances", "covariance_method": "spectral"},
    "covariances": {"match": "covariances", "only": ["sex"], "n_components": 2},
    "weights and covariances": {
        "match": "covariances",
        "covariance_method": "spectral",
        "weighted": True,
    },
}


@pytest.mark.parametrize("case", CASES)
def test_the_subspace_is_that_of_numpy(place, case):
    rows, options = people(), {"n_components": 3, **CASES[case]}
    ours, theirs = fitted(rows, put=place.put, **options), fitted(rows, **options)
    np.testing.assert_allclose(projector(ours), projector(theirs), atol=1e-8)
    np.testing.assert_allclose(
        to_numpy(ours.explained_variance_ratio_), theirs.explained_variance_ratio_, atol=1e-9
    )
    T = ours.transform(place.put(rows.X))
    assert place.holds(T)
    np.testing.assert_allclose(to_numpy(T), theirs.transform(rows.X), atol=1e-6)
    back = ours.inverse_transform(T)
    assert place.holds(back)
    np.testing.assert_allclose(
        to_numpy(back), theirs.inverse_transform(theirs.transform(rows.X)), atol=1e-6
    )


@pytest.mark.parametrize("shape", [(300, 40), (60, 80)])
def test_float32_rows_whose_spectrum_decays_keep_their_directions(place, shape):
    """Sums in single precision lost most of them, and a dead dimension was refused."""
    rng = np.random.default_rng(0)
    n, d = shape
    X = rng.normal(size=shape) * np.arange(1.0, d + 1.0) ** -1.5
    X = X @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    X = np.hstack([X, 1e-33 * rng.normal(size=(n, 1))]).astype(np.float32)
    z = np.arange(n) % 2
    whole = FairPCA(None).fit(place.put(X), sensitive_features=z)
    batches = FairPCA(None)
    for rows in np.array_split(np.arange(n), 3):
        batches.partial_fit(place.put(X[rows]), sensitive_features=z[rows])
    for fair in (whole, batches):
        assert fair.n_components_ == min(d, n - 1) - 1
        T = to_numpy(fair.transform(place.put(X.astype(np.float64))))
        assert_equal_group_means(T, z, rtol=1e-7)


PLS = {
    "means": {"match": "means", "scale": True},
    "covariances": {"match": "covariances", "weighted": True},
    "distributions": {"criterion": "equal_opportunity"},
    "scaled distributions": {"scale": True, "weighted": True},
}


@pytest.mark.parametrize("case", PLS)
def test_fair_pls_is_that_of_numpy(place, case):
    rows, options = people(), {"method": FairPLS, **PLS[case]}
    ours, theirs = fitted(rows, put=place.put, **options), fitted(rows, **options)
    T = ours.transform(place.put(rows.X))
    assert all(map(place.holds, (T, ours.coef_, ours.mean_, ours.explained_targets_)))
    np.testing.assert_allclose(to_numpy(T), theirs.transform(rows.X), atol=1e-8)
    np.testing.assert_allclose(
        to_numpy(ours.explained_targets_), theirs.explained_targets_, atol=1e-9
    )
    assert ours.targets_ == theirs.targets_


@pytest.mark.parametrize("options", [{}, {"criterion": "equal_opportunity", "weighted": True}])
def test_matched_distributions_are_those_of_numpy(place, options):
    rows, options = people(), {"n_components": 2, "match": "distributions", **options}
    ours, theirs = fitted(rows, put=place.put, **options), fitted(rows, **options)
    assert place.holds(ours.components_)
    assert place.holds(ours.transform(place.put(rows.X)))
    np.testing.assert_allclose(projector(ours), projector(theirs), atol=1e-2)
    assert ours.separability_ == pytest.approx(theirs.separability_, abs=0.01)


def test_several_scores_of_fair_pls_are_those_of_numpy(place):
    """At the end of the search: on the way, signs of a library's eigenvectors matter."""
    rows = people()
    y = {f"t{j}": rows.X[:, j] + rows.X[:, -1] ** 2 for j in range(2)}
    groups = {"sensitive_features": np.arange(len(rows.X)) % 3}
    ours = FairPLS().fit(place.put(rows.X), y, **groups)
    theirs = FairPLS().fit(rows.X, y, **groups)
    T = ours.transform(place.put(rows.X))
    assert all(map(place.holds, (T, ours.coef_, ours.mean_, ours.explained_targets_)))
    np.testing.assert_allclose(to_numpy(T), theirs.transform(rows.X), atol=1e-2)


@pytest.mark.parametrize("case", CASES)
def test_what_is_learned_stays_on_the_device(place, case):
    fair = fitted(people(), put=place.put, **{"n_components": 3, **CASES[case]})
    names = ["components_", "mean_", "explained_variance_", "explained_variance_ratio_"]
    assert all(place.holds(getattr(fair, name)) for name in names)
    assert place.holds(fair.moments_.scatter.matrix)
    assert isinstance(fair.mean_gap_, float)


@pytest.mark.parametrize("weighted", [False, True])
def test_float32_rows_give_the_subspace_to_the_digits_they_have(place, weighted):
    rows = people()
    single = rows.with_features(rows.X.astype("float32"))
    ours = fitted(single, put=place.put, weighted=weighted, n_components=3)
    theirs = fitted(rows, weighted=weighted, n_components=3)
    np.testing.assert_allclose(projector(ours), projector(theirs), atol=2e-5)
    T = ours.transform(place.put(single.X))
    assert str(T.dtype).endswith("float32")
    assert ours.mean_gap_ < 1e-5


def test_float32_rows_far_from_the_origin_lose_only_what_float32_cannot_hold(place):
    rows = people()
    far = (rows.X + 1000.0).astype("float32")
    ours = fitted(rows.with_features(far), put=place.put, n_components=3)
    theirs = fitted(rows.with_features(far.astype(float)), n_components=3)
    np.testing.assert_allclose(projector(ours), projector(theirs), atol=2e-5)


@pytest.mark.parametrize("options", [{}, {"scale": True}, {"n_components": None}])
def test_wide_rows_are_fitted_on_the_device(place, options):
    rows, options = people(n=40, d=90), {"n_components": 5, **options}
    ours = fitted(rows, put=place.put, weighted=True, **options)
    theirs = fitted(rows, weighted=True, **options)
    np.testing.assert_allclose(projector(ours), projector(theirs), atol=1e-8)
    assert place.holds(ours.components_)


def test_wide_float32_rows_are_fitted_on_the_device(place):
    rows = people(n=40, d=90)
    single = rows.with_features(rows.X.astype("float32"))
    ours = fitted(single, put=place.put, weighted=True, n_components=5)
    theirs = fitted(rows, weighted=True, n_components=5)
    np.testing.assert_allclose(projector(ours), projector(theirs), atol=1e-4)


@pytest.mark.parametrize("missing", ["ignore", "group"])
def test_rows_without_an_attribute_count_as_with_numpy(place, missing):
    rows = people()
    names = np.where(rows.y == 1, "a", "b").astype(object)
    names[::7] = None
    age = np.where(np.arange(len(rows.X)) % 5 == 0, np.nan, rows.sensitive["age"])
    options = {"n_components": 3, "missing_sensitive": missing}
    ours = FairPCA(**options).fit(
        place.put(rows.X), sensitive_features={"name": names, "age": place.put(age)}
    )
    theirs = FairPCA(**options).fit(rows.X, sensitive_features={"name": names, "age": age})
    np.testing.assert_allclose(projector(ours), projector(theirs), atol=1e-8)


def test_batches_add_up_on_the_device(place):
    rows = people()
    whole = fitted(rows, n_components=3, only=["origin"])
    fair = FairPCA(n_components=3)
    for part in (slice(0, 5), slice(5, 300), slice(300, None)):  # the first is wider than tall
        fair.partial_fit(
            place.put(rows.X[part]), sensitive_features=place.put(rows.sensitive["origin"][part])
        )
    assert place.holds(fair.moments_.mean)
    np.testing.assert_allclose(projector(fair), projector(whole), atol=1e-8)


def test_batches_of_several_libraries_add_up_where_the_first_one_is(place):
    rows = people()
    origin = rows.sensitive["origin"]
    fair = FairPCA(n_components=3).partial_fit(rows.X[:300], sensitive_features=origin[:300])
    fair.partial_fit(place.put(rows.X[300:]), sensitive_features=origin[300:])
    assert isinstance(fair.components_, np.ndarray)
    whole = fitted(rows, n_components=3, only=["origin"])
    np.testing.assert_allclose(projector(fair), projector(whole), atol=1e-8)


def test_a_batch_may_change_after_it_was_added(place):
    rows = people(n=6, d=9)  # moments of so few rows are the rows themselves
    first, sex = place.put(rows.X), np.array([0, 1, 0, 1, 0, 1])
    fair = FairPCA(n_components=2).partial_fit(first, sensitive_features=sex)
    first[:, :] = 0.0 * first
    whole = FairPCA(n_components=2).fit(rows.X, sensitive_features=sex)
    np.testing.assert_allclose(projector(fair), projector(whole), atol=1e-8)


def test_moments_are_collected_on_the_device(place):
    rows = people()
    there = collect_moments(place.put(rows.X), place.put(rows.sensitive["sex"]))
    here = collect_moments(rows.X, rows.sensitive["sex"])
    assert place.holds(there.scatter.matrix)
    np.testing.assert_allclose(
        to_numpy(there.scatter.matrix), here.scatter.matrix, rtol=1e-9, atol=1e-7
    )


def test_attributes_may_be_columns_of_the_array(place):
    rows = people()
    X = np.column_stack([rows.sensitive["sex"], rows.X])
    options = {"n_components": 3, "sensitive_columns": [0]}
    ours, theirs = FairPCA(**options).fit(place.put(X)), FairPCA(**options).fit(X)
    np.testing.assert_allclose(projector(ours), projector(theirs), atol=1e-8)
    for given in (X, rows.X):
        T = to_numpy(ours.transform(place.put(given)))
        np.testing.assert_allclose(T, theirs.transform(given), atol=1e-6)


def test_rows_in_any_order_of_memory_give_the_same(place):
    rows = people()
    transposed = place.put(np.ascontiguousarray(rows.X.T)).T
    every_second = place.put(np.repeat(rows.X, 2, axis=0))[::2, :]
    expected = projector(fitted(rows, n_components=3, only=["sex"]))
    for X in (transposed, every_second):
        fair = FairPCA(n_components=3).fit(X, sensitive_features=rows.sensitive["sex"])
        np.testing.assert_allclose(projector(fair), expected, atol=1e-8)


def test_integers_are_fitted_as_numbers(place):
    X = np.random.default_rng(0).integers(-9, 9, (200, 5))
    sex = np.arange(200) % 2
    ours = FairPCA(n_components=2).fit(place.put(X), sensitive_features=place.put(sex))
    theirs = FairPCA(n_components=2).fit(X, sensitive_features=sex)
    np.testing.assert_allclose(projector(ours), projector(theirs), atol=1e-8)


ERASERS = {
    "leace": LEACE(),
    "mean projection": MeanProjection(),
    "sal": SAL(),
    "sal, one direction": SAL(1),
    "splince": SPLINCE(),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", ERASERS)
def test_erasers_return_the_library_device_and_type_of_the_rows(place, case, dtype):
    rows = people()
    X, z = rows.X.astype(dtype), {name: rows.sensitive[name] for name in ("origin", "sex")}
    expected = clone(ERASERS[case]).fit(X, rows.y, sensitive_features=z).transform(X)
    there = clone(ERASERS[case]).fit(
        place.put(X), place.put(rows.y), sensitive_features={n: place.put(z[n]) for n in z}
    )
    T = there.transform(place.put(X))
    assert place.holds(T)
    assert T.dtype == place.put(X).dtype
    atol = 1e-9 if dtype is np.float64 else 1e-4
    np.testing.assert_allclose(to_numpy(T), expected, atol=atol)
