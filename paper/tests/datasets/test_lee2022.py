"""The published splits, number for number, packed or as a clone of the repository."""

import numpy as np
import pytest

from fairpca_paper.datasets import (
    DamagedDataError,
    MissingDataError,
    lee2022_loadings,
    load_lee2022,
    load_lee2022_synthetic,
)

SHAPES = {"adult": (1582, 679, 97), "german": (700, 300, 57), "compas": (1727, 741, 11)}
FOLDERS = {"german": "German", "compas": "COMPAS"}


@pytest.mark.parametrize("name", SHAPES)
def test_ten_splits_into_features_labels_and_groups(name, data_folder):
    data = load_lee2022(name, data=data_folder)
    n, m, d = SHAPES[name]
    assert len(data.splits) == 10
    with np.load(data_folder / "lee2022" / f"{name}.npz") as arrays:
        for i, (X, y, z, X_test, y_test, z_test) in enumerate(data.splits):
            assert X.shape == (n, d)
            assert X_test.shape == (m, d)
            assert np.array_equal(np.column_stack([X, y, z]), arrays[f"train_{i}"])
            assert np.array_equal(np.column_stack([X_test, y_test, z_test]), arrays[f"test_{i}"])
            assert set(y) == set(z) == set(y_test) == set(z_test) == {0, 1}
    assert repr(data) == f"<Lee2022 {name}: 10 splits, {n} + {m} rows, {d} features>"


@pytest.mark.parametrize(("name", "column"), [("adult", 2), ("german", 4), ("compas", 1)])
def test_the_group_itself_is_among_the_features_as_documented(name, column, data_folder):
    for split in load_lee2022(name, data=data_folder).splits:
        tells = split.X_train[:, column]
        assert len(set(tells)) == 2
        assert np.array_equal(tells == tells.max(), split.z_train == 1)


def test_features_are_standardised_on_the_training_rows(data_folder):
    for name in SHAPES:
        for split in load_lee2022(name, data=data_folder).splits:
            np.testing.assert_allclose(split.X_train.mean(axis=0), 0, atol=1e-12)
            spread = split.X_train.std(axis=0)
            constant = spread == 0
            np.testing.assert_allclose(spread[~constant], 1, atol=1e-12)
            assert constant.any() == (name == "adult")


def test_arrays_cannot_be_written_by_accident(data_folder):
    X = load_lee2022("compas", data=data_folder).splits[0].X_train
    with pytest.raises(ValueError, match="read-only"):
        X[0] = 0


@pytest.mark.parametrize("d", [20, 40, 60, 80, 100])
def test_the_synthetic_data_come_with_orthonormal_loadings_of_fpca(d, data_folder):
    data = load_lee2022_synthetic(d, data=data_folder)
    assert [split.X_train.shape for split in data.splits] == [(336, d)] * 10
    assert sorted(data.loadings) == [(5, "fpca", 0.0, i) for i in range(10)]
    for V in data.loadings.values():
        np.testing.assert_allclose(V.T @ V, np.eye(5), atol=1e-6)


@pytest.mark.parametrize("name", SHAPES)
def test_loadings_are_orthonormal_and_keyed_by_what_made_them(name, data_folder):
    loadings = lee2022_loadings(name, data=data_folder)
    settings = {key[:3] for key in loadings}
    assert {(k, "fpca", delta) for k in (2, 10) for delta in (0.0, 0.1)} < settings
    assert {(2, "mbfpca", 1e-3), (2, "mbfpca", 1e-6), (10, "mbfpca", 1e-6)} < settings
    assert set(loadings) == {(*setting, split) for setting in settings for split in range(10)}
    for key, V in loadings.items():
        assert V.shape == (SHAPES[name][2], key.k)
        np.testing.assert_allclose(V.T @ V, np.eye(key.k), atol=1e-5)


def write(path, array, delimiter=","):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(path, array, delimiter=delimiter)


@pytest.fixture
def clone(data_folder, tmp_path):
    """The folders of the authors' repository, for compas and d = 20."""
    root = tmp_path / "fair-manifold-pca"
    with np.load(data_folder / "lee2022" / "compas.npz") as arrays:
        for key, array in arrays.items():
            write(root / "datasets" / "COMPAS" / f"{key}.csv", array)
    with np.load(data_folder / "lee2022" / "compas_loadings.npz") as arrays:
        for key, array in arrays.items():
            setting, i = key.split("/")
            # Both names of MbF-PCA occur.
            setting = setting.replace("mbfpca_3", "stfpca_3")
            prefix = "FPCA" if "_fpca_" in setting else "STFPCA"
            write(root / "uci" / "COMPAS" / setting / f"{prefix}_V_{i}.csv", array)
    write(root / "uci" / "COMPAS" / "PCA_V_0.csv", np.eye(11))
    with np.load(data_folder / "lee2022" / "synthetic2_d20.npz") as arrays:
        for key, array in arrays.items():
            kind, i = key.split("_")
            stem, delimiter = ("FPCA_V", " ") if kind == "fpca" else (kind, ",")
            write(root / "synthetic2" / "20" / f"{stem}_{int(i) + 1}.csv", array, delimiter)
    return root


def same(ours, theirs):
    return all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))


def test_a_clone_of_the_repository_holds_the_same_numbers(clone, data_folder):
    for data in (clone, clone.parent):
        read = load_lee2022("compas", data=data).splits
        packed = load_lee2022("compas", data=data_folder).splits
        assert all(same(a, b) for a, b in zip(read, packed, strict=True))
    loadings = lee2022_loadings("compas", data=clone)
    packed = lee2022_loadings("compas", data=data_folder)
    assert list(loadings) == list(packed)
    assert same(loadings.values(), packed.values())


def test_a_clone_of_the_repository_holds_the_same_synthetic_data(clone, data_folder):
    read, packed = (load_lee2022_synthetic(20, data=data) for data in (clone, data_folder))
    assert all(same(a, b) for a, b in zip(read.splits, packed.splits, strict=True))
    assert same(read.loadings.values(), packed.loadings.values())


def test_a_clone_that_lacks_a_file_is_refused_by_its_name(clone):
    (clone / "datasets" / "COMPAS" / "test_7.csv").unlink()
    with pytest.raises(DamagedDataError, match=r"lacks '.*COMPAS.test_7\.csv'"):
        load_lee2022("compas", data=clone)
    with pytest.raises(DamagedDataError, match="no loading matrices in 'uci/German'"):
        lee2022_loadings("german", data=clone)


@pytest.mark.parametrize("change", ["a number", "a split is missing", "cut off"])
def test_other_splits_are_refused(change, data_folder, tmp_path):
    path = tmp_path / "compas.npz"
    with np.load(data_folder / "lee2022" / "compas.npz") as arrays:
        changed = dict(arrays)
    if change == "a number":
        changed["test_9"][-1, 0] += 1e-9
    if change == "a split is missing":
        del changed["train_3"]
    np.savez(path, **changed)
    if change == "cut off":
        path.write_bytes(path.read_bytes()[:-1000])
    reason = {"a number": "sha256", "a split is missing": "lacks 'train_3'"}.get(change, "read")
    with pytest.raises(DamagedDataError, match=rf"compas\.npz' .*{reason}"):
        load_lee2022("compas", data=tmp_path)


def test_without_the_file_the_message_names_it_and_the_repository(tmp_path, monkeypatch):
    monkeypatch.delenv("FAIRPCA_DATA", raising=False)
    with pytest.raises(MissingDataError, match=r"lee2022/adult\.npz.*github.com/nick-jhlee"):
        load_lee2022("adult")
    with pytest.raises(MissingDataError, match=r"adult_loadings\.npz' was not found: looked for"):
        lee2022_loadings("adult", data=tmp_path)


def test_other_names_are_answered_by_the_known_ones(data_folder):
    with pytest.raises(ValueError, match="name='bank', but there are 'adult', 'german', 'compas'"):
        load_lee2022("bank", data=data_folder)
    with pytest.raises(ValueError, match="d=30, but there are 20, 40, 60, 80, 100"):
        load_lee2022_synthetic(30, data=data_folder)
