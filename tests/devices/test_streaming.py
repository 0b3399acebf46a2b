import sys

import numpy as np
import pytest
import scipy.sparse

from devices.people import fitted, people, projector
from fairpca import FairPCA
from fairpca._rows import devices
from fairpca.errors import MissingExtraError, UsageError
from fairpca.moments import collect_moments

OPTIONS = {"n_components": 3}


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    """Several blocks, the last one shorter, of a few hundred rows."""
    monkeypatch.setattr(devices, "NUMBERS_PER_COPY", 16 * 64)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weighted": True},
        {"scale": True, "tradeoff": 0.5},
        {"criterion": "equal_opportunity"},
        {"match": "covariances", "covariance_method": "spectral", "weighted": True},
        {"match": "covariances", "only": ["sex"], "n_components": 2},
    ],
)
def test_rows_sent_to_a_device_give_the_same_subspace_in_numpy(device, options):
    rows, options = people(), {**OPTIONS, **options}
    ours, theirs = fitted(rows, device=device, **options), fitted(rows, **options)
    assert isinstance(ours.components_, np.ndarray)
    assert isinstance(ours.moments_.scatter.matrix, np.ndarray)
    np.testing.assert_allclose(projector(ours), projector(theirs), atol=1e-8)
    T = ours.transform(rows.X)
    assert isinstance(T, np.ndarray)
    np.testing.assert_allclose(T, theirs.transform(rows.X), atol=1e-6)


def test_rows_in_any_order_of_memory_arrive_as_they_are(device, tmp_path):
    rows = people()
    mapped = np.memmap(tmp_path / "rows", dtype=float, shape=rows.X.shape, mode="w+")
    mapped[:] = rows.X
    read_only = rows.X.copy()
    read_only.flags.writeable = False
    backwards = np.ascontiguousarray(rows.X[::-1])[::-1]
    theirs = fitted(rows, **OPTIONS)
    for X in (np.asfortranarray(rows.X), mapped, read_only, backwards):
        ours = fitted(rows.with_features(X), device=device, **OPTIONS)
        np.testing.assert_allclose(projector(ours), projector(theirs), atol=1e-8)
        np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-6)


def test_float32_rows_are_sent_as_float32(device):
    rows = people()
    X = (rows.X + 100.0).astype("float32")
    ours = fitted(rows.with_features(X), device=device, **OPTIONS)
    theirs = fitted(rows.with_features(X), **OPTIONS)
    assert ours.moments_.precision == theirs.moments_.precision
    np.testing.assert_allclose(projector(ours), projector(theirs), atol=2e-5)
    assert ours.transform(X).dtype == np.float32


def test_batches_sent_to_a_device_meet_on_the_host(device):
    rows = people()
    fair = FairPCA(3, device=device)
    for part in (slice(0, 5), slice(5, 300), slice(300, None)):
        sensitive = {name: column[part] for name, column in rows.sensitive.items()}
        fair.partial_fit(rows.X[part], sensitive_features=sensitive)
        assert isinstance(fair.moments_.mean, np.ndarray)
    np.testing.assert_allclose(projector(fair), projector(fitted(rows, **OPTIONS)), atol=1e-8)
    assert isinstance(fair.components_, np.ndarray)


def test_moments_come_back_to_the_host(device):
    rows = people()
    ours = collect_moments(rows.X, rows.sensitive, device=device, with_scatters=True)
    theirs = collect_moments(rows.X, rows.sensitive, with_scatters=True)
    np.testing.assert_allclose(ours.scatter.matrix, theirs.scatter.matrix, rtol=1e-9, atol=1e-7)
    both = FairPCA(3).fit_moments(ours), FairPCA(3, device=device).fit_moments(theirs)
    np.testing.assert_allclose(projector(both[0]), projector(both[1]), atol=1e-8)
    assert isinstance(both[1].components_, np.ndarray)


@pytest.mark.parametrize("n", [40, 700])
def test_sparse_and_wide_rows_work_with_a_device(device, n):
    rows = people(n=n, d=60)
    kept = np.where(np.abs(rows.X) > 1.0, rows.X, 0.0)
    theirs = fitted(rows.with_features(kept), **OPTIONS)
    for X in (kept, scipy.sparse.csr_array(kept)):
        ours = fitted(rows.with_features(X), device=device, **OPTIONS)
        assert isinstance(ours.components_, np.ndarray)
        np.testing.assert_allclose(projector(ours), projector(theirs), atol=1e-8)
        np.testing.assert_allclose(ours.transform(X), theirs.transform(kept), atol=1e-6)


def test_rows_of_a_dask_array_are_sent_part_by_part(device):
    dask_array = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")
    rows = people()
    with dask.config.set(scheduler="synchronous"):
        codes = np.unique(rows.sensitive["sex"], return_inverse=True)[1]
        table = dask_array.from_array(np.column_stack([rows.X, codes]), chunks=(200, -1))
        ours = FairPCA(3, device=device).fit(table, sensitive_features=rows.X.shape[1])
    theirs = fitted(rows, only=["sex"], **OPTIONS)
    np.testing.assert_allclose(projector(ours), projector(theirs), atol=1e-8)


def test_numbers_that_are_not_finite_are_refused(device):
    rows = people()
    X = rows.X.copy()
    X[650, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        fitted(rows.with_features(X), device=device, **OPTIONS)
    with pytest.raises(ValueError, match="NaN"):
        fitted(rows, device=device, **OPTIONS).transform(X)


@pytest.mark.parametrize("name", ["cuda:99", "nowhere", "meta:1:2"])
def test_a_device_that_is_not_there_is_refused(name):
    pytest.importorskip("torch")
    rows = people(n=40)
    with pytest.raises(UsageError, match="None to compute where the rows are"):
        fitted(rows, device=name, **OPTIONS)


class NoTorch:
    """Finds no torch, wherever it is."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def test_without_torch_the_extra_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [NoTorch(), *sys.meta_path])
    rows = people(n=40)
    with pytest.raises(MissingExtraError, match=r"fairpca\[torch\]"):
        fitted(rows, device="cuda", **OPTIONS)
    with pytest.raises(MissingExtraError, match=r"fairpca\[torch\]"):
        fitted(rows, **OPTIONS).to_device("cuda")
