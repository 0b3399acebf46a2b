"""FairFace: the pictures that are there, checked, with their labels."""

import shutil

import numpy as np
import pytest

from fairpca_paper.datasets import DamagedDataError, MissingDataError, load_fairface
from fairpca_paper.datasets.faces import AGES

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def faces(data_folder):
    return load_fairface(data=data_folder, rows=200)


@pytest.fixture
def small(data_folder, tmp_path):
    """The first three pictures, with all labels and checksums."""
    (tmp_path / "fairface" / "val").mkdir(parents=True)
    for name in ("fairface_label_val.csv", "images.sha256", "val/1.jpg", "val/2.jpg", "val/3.jpg"):
        shutil.copyfile(data_folder / "fairface" / name, tmp_path / "fairface" / name)
    return tmp_path


def test_rows_are_the_pictures_that_are_there(data_folder):
    # At 4 x 4 pixels, all of them take a few seconds.
    faces = load_fairface(data=data_folder, size=4)
    assert faces.features.shape == (5000, 16)
    assert list(faces.sensitive) == ["gender", "race", "age"]
    assert faces.sensitive["race"].nunique() == 7
    assert faces.sensitive["gender"].value_counts()["Male"] == 2633
    assert not faces.sensitive.isna().any(axis=None)
    assert faces.target is None


def test_pixels_run_from_black_to_white_in_single_precision(faces):
    assert faces.features.shape == (200, 6400)
    assert set(faces.features.dtypes) == {np.dtype(np.float32)}
    assert faces.features.min(axis=None) == 0
    assert 0.9 < faces.features.max(axis=None) <= 1


def test_the_features_are_one_block_of_memory(faces):
    pixels = faces.features.to_numpy()
    assert np.shares_memory(pixels, faces.features.to_numpy())
    assert pixels.flags.c_contiguous
    assert np.shares_memory(pixels, faces.numeric_features().to_numpy())


def test_the_first_row_is_the_first_label_and_its_picture(faces, data_folder):
    assert faces.sensitive.iloc[0].tolist() == ["Male", "East Asian", "3-9"]
    with Image.open(data_folder / "fairface" / "val" / "1.jpg") as picture:
        grey = np.asarray(picture.convert("L"), dtype=float) / 255
    # Averages over sixteenths of the picture do not depend on how it was made smaller.
    blocks = grey.reshape(4, 56, 4, 56).mean(axis=(1, 3))
    small = faces.features.iloc[0].to_numpy().reshape(4, 20, 4, 20).mean(axis=(1, 3))
    np.testing.assert_allclose(small, blocks, atol=0.005)


def test_ages_are_in_their_natural_order(faces):
    assert faces.sensitive["age"].cat.categories.tolist() == AGES


def test_one_label_may_be_the_target(data_folder):
    faces = load_fairface(data=data_folder, target="gender", size=2, rows=5)
    assert list(faces.sensitive) == ["race", "age"]
    assert faces.target.name == "gender"
    assert faces.target.tolist() == ["Male", "Female", "Male", "Female", "Male"]


def test_a_picture_that_was_changed_is_refused_by_name(small):
    assert len(load_fairface(data=small, size=2).features) == 3
    path = small / "fairface" / "val" / "2.jpg"
    with Image.open(path) as picture:
        picture.rotate(1).save(path, quality=95)
    with pytest.raises(DamagedDataError, match=r"2\.jpg' is not the listed picture: its sha256 is"):
        load_fairface(data=small, size=2)


def test_without_a_list_of_checksums_pictures_are_taken_as_they_are(small):
    (small / "fairface" / "images.sha256").unlink()
    (small / "fairface" / "val" / "2.jpg").unlink()
    faces = load_fairface(data=small / "fairface", size=2)
    assert faces.sensitive["gender"].tolist() == ["Male", "Male"]


def test_without_the_data_the_message_says_where_to_get_them(small, tmp_path):
    with pytest.raises(MissingDataError, match=r"github.com/joojs/fairface.*fairface/val/1\.jpg"):
        load_fairface(data=small, split="train")
    for i in (1, 2, 3):
        (small / "fairface" / "val" / f"{i}.jpg").unlink()
    with pytest.raises(MissingDataError, match="None of the pictures labelled"):
        load_fairface(data=small)


def test_a_part_that_was_not_published_is_refused(small):
    with pytest.raises(ValueError, match=r"split='test'.*'val' and 'train'"):
        load_fairface(data=small, split="test")
