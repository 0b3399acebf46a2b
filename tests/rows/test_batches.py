import numpy as np
import pytest

from fairpca import FairKernelPCA, FairPCA, FairPLS
from fairpca.erasers import LEACE, SPLINCE, KernelSAL
from fairpca.errors import UsageError
from fairpca.moments import collect_moments
from registry import ESTIMATORS

N, D = 90, 6


class Batches:
    """An iterable that starts anew, as a DataLoader does."""

    def __init__(self, *columns, size):
        self.columns, self.size = columns, size

    def __iter__(self):
        for start in range(0, N, self.size):
            yield tuple(column[start : start + self.size] for column in self.columns)


def rows():
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], size=N)
    X = rng.normal(size=(N, D)) + np.outer(sex == "m", rng.normal(size=D))
    return X, sex, (X[:, 0] > 0).astype(int)


def projector(fair):
    return fair.components_.T @ fair.components_


@pytest.mark.parametrize("size", [4, 30, N])  # fewer rows than features, too
@pytest.mark.parametrize("method", [FairPCA(3), LEACE()])
def test_batches_of_an_iterator_are_fitted_to_like_the_rows(method, size):
    X, sex, _ = rows()
    whole = projector(method.fit(X, sensitive_features=sex))
    for batches in (Batches(X, sex, size=size), iter(Batches(X, sex, size=size))):
        np.testing.assert_allclose(projector(method.fit(batches)), whole, atol=1e-9)
    named = ({"X": a, "sensitive_features": {"sex": z}} for a, z in Batches(X, sex, size=size))
    np.testing.assert_allclose(projector(method.fit(named)), whole, atol=1e-9)


def test_targets_and_weights_come_with_the_batches():
    X, sex, y = rows()
    weight = np.arange(N) % 3
    expected = SPLINCE().fit(X, y, sensitive_features=sex, sample_weight=weight)
    found = SPLINCE().fit(iter(Batches(X, sex, y, weight, size=20)))
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-9)
    assert collect_moments(iter(Batches(X, sex, size=20)), None).n_rows == N


def test_who_looks_twice_needs_an_iterable_that_starts_anew():
    X, sex, y = rows()
    with pytest.raises(UsageError, match="can be read once"):
        FairPLS(1).fit(iter(Batches(X, sex, y, size=30)))
    expected = FairPLS(1).fit(X, y, sensitive_features=sex == "m")
    T = FairPLS(1).fit(Batches(X, sex == "m", y, size=30)).transform(X)
    np.testing.assert_allclose(np.abs(T), np.abs(expected.transform(X)), atol=1e-6)


def test_loaders_of_torch_start_anew():
    torch = pytest.importorskip("torch")
    X, sex, y = rows()
    there = torch.utils.data.TensorDataset(*map(torch.asarray, (X, sex == "m", y)))
    loader = torch.utils.data.DataLoader(there, batch_size=30)
    expected = FairPLS(1).fit(X, y, sensitive_features=sex == "m")
    T = FairPLS(1).fit(loader).transform(X)
    np.testing.assert_allclose(np.abs(T), np.abs(expected.transform(X)), atol=1e-6)


@pytest.mark.filterwarnings("ignore")  # of few rows
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_takes_batches_or_says_what_it_takes(name):
    X, sex, y = rows()
    made = ESTIMATORS[name].made()
    expected = np.abs(ESTIMATORS[name].made().fit(X, y, sensitive_features=sex).transform(X))
    batches = Batches(X, sex, y, size=30)
    if isinstance(made, FairKernelPCA | KernelSAL) and not getattr(made, "approximation", None):
        for given in (batches, iter(batches)):
            with pytest.raises(UsageError, match=r"Set approximation='nystroem'|rows in memory"):
                made.fit(given)
        return
    np.testing.assert_allclose(np.abs(made.fit(batches).transform(X)), expected, atol=1e-6)
    if getattr(made, "match", None) == "distributions" or getattr(made, "kernel", None):
        with pytest.raises(UsageError, match="Pass an iterable that starts anew, such as a Data"):
            made.fit(iter(batches))
    else:
        T = made.fit(iter(batches)).transform(X)
        np.testing.assert_allclose(np.abs(T), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("batches", "said"),
    [
        ([], "yields nothing"),
        ([3], r"A batch is a int. Yield tuples \(X, sensitive_features\)"),
        ([{"x": 1}], r"keys \['x'\]"),
        ([(rows()[0], rows()[1]), (rows()[0][:, :4], rows()[1])], "A batch has 4 columns"),
    ],
)
def test_batches_that_are_none_raise(batches, said):
    with pytest.raises(UsageError, match=said):
        LEACE().fit(iter(batches))


def test_attributes_beside_batches_raise():
    X, sex, _ = rows()
    with pytest.raises(UsageError, match="sensitive_features came too"):
        LEACE().fit(iter(Batches(X, sex, size=30)), sensitive_features=sex)
    with pytest.raises(UsageError, match="Call transform for the features of each batch"):
        LEACE().fit(X, sensitive_features=sex).transform(iter(Batches(X, sex, size=30)))
