import warnings

import numpy as np
import pytest

from devices.people import fitted, people, projector
from fairpca import FairPCA
from fairpca.errors import UsageError
from places import PLACES

SEX = np.arange(40) % 2


def rows_with(value, dtype="float64"):
    X = np.random.default_rng(0).normal(size=(40, 4)).astype(dtype)
    X[7, 2] = value
    return X


@pytest.mark.parametrize(
    ("value", "message"), [(np.nan, "contains NaN"), (np.inf, "infinity"), (-np.inf, "infinity")]
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_numbers_that_are_not_finite_are_refused(place, value, message, dtype):
    X = rows_with(value, dtype)
    with pytest.raises(ValueError, match=message):
        FairPCA(2).fit(place.put(X), sensitive_features=SEX)
    with pytest.raises(ValueError, match=message):
        FairPCA(2).fit(place.put(X), sensitive_features=SEX, sample_weight=np.arange(40) != 7)
    fair = FairPCA(2).fit(place.put(rows_with(1.0, dtype)), sensitive_features=SEX)
    with pytest.raises(ValueError, match=message):
        fair.transform(place.put(X))
    with pytest.raises(ValueError, match=message):
        fair.inverse_transform(place.put(X[:, 1:3]))


def test_a_refused_fit_leaves_the_estimator_as_it_was(place):
    fair = FairPCA(2).fit(place.put(rows_with(1.0)), sensitive_features=SEX)
    before = dict(vars(fair))
    with pytest.raises(ValueError, match="NaN"):
        fair.fit(place.put(rows_with(np.nan)), sensitive_features=SEX)
    assert vars(fair) == before


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_squares_that_overflow_or_underflow_are_refused(place, size):
    X = size * rows_with(1.0)
    with pytest.raises(ValueError, match=r"overflow|underflow"):
        FairPCA(2).fit(place.put(X), sensitive_features=SEX)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(40), "Expected 2D array, got 1D"),
        (np.ones((40, 3, 2, 2)), "Expected 2D array, got 4D"),
        (np.ones((40, 3), complex), "Complex data not supported"),
        (np.ones((0, 3)), r"0 sample\(s\)"),
        (np.ones((1, 3)), r"1 sample\(s\)"),
        (np.ones((40, 0)), r"0 feature\(s\)"),
    ],
)
def test_arrays_that_are_no_rows_are_refused(place, X, message):
    with pytest.raises(ValueError, match=message):
        FairPCA(1).fit(place.put(X), sensitive_features=SEX[: len(X)])


def test_rows_of_another_length_are_refused(place):
    fair = FairPCA(2).fit(place.put(rows_with(1.0)), sensitive_features=SEX)
    assert fair.n_features_in_ == 4
    with pytest.raises(ValueError, match=r"3 features.*4 features"):
        fair.transform(place.put(np.ones((5, 3))))
    with pytest.raises(ValueError, match=r"3 features.*4 features"):
        fair.transform(place.put(np.ones(3)))
    with pytest.raises(ValueError, match="X has 3 columns"):
        fair.inverse_transform(place.put(np.ones((5, 3))))


def test_columns_are_named_by_position_where_there_are_no_names(place):
    with pytest.raises(ValueError, match=r"\['sex'\].* or positions"):
        FairPCA(2, sensitive_columns=["sex"]).fit(place.put(rows_with(1.0)))


def torch_place(name):
    return PLACES[name]()


@pytest.mark.parametrize("name", ["torch", "torch-cuda"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats_are_fitted_as_float32_and_come_back_as_they_were(name, dtype):
    put = torch_place(name).put
    torch = pytest.importorskip("torch")
    rows = people()
    X = put(rows.X).to(getattr(torch, dtype))
    ours = FairPCA(3).fit(X, sensitive_features=X[:, 0] > 0)
    theirs = FairPCA(3).fit(X.float().cpu().numpy(), sensitive_features=(X[:, 0] > 0).cpu().numpy())
    np.testing.assert_allclose(projector(ours), projector(theirs), atol=2e-5)
    assert ours.transform(X).dtype == X.dtype


@pytest.mark.parametrize("name", ["torch", "torch-cuda"])
def test_no_graph_is_kept_of_tensors_that_are_learned(name):
    put = torch_place(name).put
    rows = people()
    X = put(rows.X).requires_grad_()
    weight = put(rows.weight).requires_grad_()
    fair = FairPCA(3).fit(X, sensitive_features=put(rows.sensitive["sex"]), sample_weight=weight)
    arrays = (fair.components_, fair.mean_, fair.moments_.scatter.matrix)
    assert not any(a.requires_grad for a in arrays)
    theirs = fitted(rows, n_components=3, only=["sex"], weighted=True)
    np.testing.assert_allclose(projector(fair), projector(theirs), atol=1e-8)


def test_sparse_tensors_are_refused_with_a_way_out():
    put = torch_place("torch").put
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls its own sparse tensors a prototype
        X = put(rows_with(1.0)).to_sparse_csr()
    with pytest.raises(UsageError, match="to_dense"):
        FairPCA(2).fit(X, sensitive_features=SEX)
