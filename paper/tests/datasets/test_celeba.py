"""CelebA: a small folder of its shape is read as the real one would be."""

import numpy as np
import pytest

from fairpca import FairPCA
from fairpca_paper.datasets import DamagedDataError, MissingDataError, load_celeba

Image = pytest.importorskip("PIL.Image")

NAMES = """
5_o_Clock_Shadow Arched_Eyebrows Attractive Bags_Under_Eyes Bald Bangs Big_Lips Big_Nose
Black_Hair Blond_Hair Blurry Brown_Hair Bushy_Eyebrows Chubby Double_Chin Eyeglasses
Goatee Gray_Hair Heavy_Makeup High_Cheekbones Male Mouth_Slightly_Open Mustache
Narrow_Eyes No_Beard Oval_Face Pale_Skin Pointy_Nose Receding_Hairline Rosy_Cheeks
Sideburns Smiling Straight_Hair Wavy_Hair Wearing_Earrings Wearing_Hat Wearing_Lipstick
Wearing_Necklace Wearing_Necktie Young
""".split()  # noqa: SIM905

N = 12
PAPER = ["bald", "beard", "eyeglasses", "hat", "mustache", "smiling"]


@pytest.fixture(scope="module")
def answers():
    return np.random.default_rng(0).choice([-1, 1], size=(N, len(NAMES)))


@pytest.fixture
def folder(tmp_path, answers):
    """Pictures of 178 x 218: picture i is the grey level 20 i, but for a white square."""
    images = tmp_path / "celeba" / "img_align_celeba"
    images.mkdir(parents=True)
    for i in range(N):
        pixels = np.full((218, 178, 3), 20 * i, dtype=np.uint8)
        pixels[:20] = 255
        Image.fromarray(pixels).save(images / f"{i + 1:06d}.jpg", quality=95)
    rows = (f"{i + 1:06d}.jpg " + " ".join(f"{v:2d}" for v in row) for i, row in enumerate(answers))
    lines = [str(N), " ".join(NAMES) + " ", *rows]
    (tmp_path / "celeba" / "list_attr_celeba.txt").write_text(
        "\n".join(lines) + "\n", encoding="utf-8"
    )
    return tmp_path


def test_a_row_is_a_picture_and_a_column_a_pixel_from_black_to_white(folder):
    celeba = load_celeba(data=folder)
    assert celeba.features.shape == (N, 6400)
    assert set(celeba.features.dtypes) == {np.dtype(np.float32)}
    pixels = celeba.features.to_numpy().reshape(N, 80, 80)
    # Rows 20 to 218 of a picture have its grey level, up to the noise of JPEG.
    np.testing.assert_allclose(pixels[:, 40].mean(axis=1), np.arange(N) * 20 / 255, atol=0.01)
    np.testing.assert_allclose(pixels[:, 0], 1, atol=0.05)
    assert pixels.min() >= 0
    assert pixels.max() <= 1


def test_columns_are_named_by_row_and_column_of_the_pixel(folder):
    names = load_celeba(data=folder, size=3).feature_names
    assert names[:4] == ["pixel_0_0", "pixel_0_1", "pixel_0_2", "pixel_1_0"]
    # The white stripe at the top is the first row of pixels, not the first column.
    first = load_celeba(data=folder, size=3).features.iloc[0]
    assert first[["pixel_0_0", "pixel_0_2"]].min() > first[["pixel_1_0", "pixel_2_2"]].max()


def test_the_attributes_of_the_paper_are_the_default(folder, answers):
    sensitive = load_celeba(data=folder).sensitive
    assert list(sensitive) == PAPER
    for name, column in [("bald", "Bald"), ("hat", "Wearing_Hat"), ("smiling", "Smiling")]:
        expected = np.where(answers[:, NAMES.index(column)] == 1, "yes", "no")
        assert sensitive[name].tolist() == expected.tolist()


def test_a_beard_is_the_opposite_of_no_beard(folder):
    sensitive = load_celeba(data=folder, sensitive=["beard", "No_Beard"]).sensitive
    assert ((sensitive["beard"] == "yes") == (sensitive["No_Beard"] == "no")).all()


def test_any_annotation_may_be_sensitive_or_the_target(folder, answers):
    celeba = load_celeba(data=folder, sensitive=["Male"], target="Young")
    assert list(celeba.sensitive) == ["Male"]
    assert celeba.target.name == "Young"
    assert celeba.target.tolist() == (answers[:, NAMES.index("Young")] == 1).astype(int).tolist()
    assert load_celeba(data=folder).target is None


@pytest.mark.parametrize("target", ["smiling", "Smiling"])
def test_the_target_is_not_sensitive_under_either_of_its_names(folder, target):
    assert list(load_celeba(data=folder, target=target).sensitive) == PAPER[:-1]
    with pytest.raises(ValueError, match="is among the sensitive attributes"):
        load_celeba(data=folder, target=target, sensitive=["smiling"])


def test_rows_can_be_limited_or_named(folder):
    whole = load_celeba(data=folder)
    first = load_celeba(data=folder, rows=5)
    some = load_celeba(data=folder, rows=range(5, N))
    assert len(first.features) == 5
    parts = np.vstack([first.features.to_numpy(), some.features.to_numpy()])
    assert np.array_equal(parts, whole.features.to_numpy())
    assert some.sensitive["bald"].tolist() == whole.sensitive["bald"].tolist()[5:]
    assert len(load_celeba(data=folder, rows=10**6).features) == N


@pytest.mark.parametrize("rows", [0, -1, [], [N], [-1]])
def test_rows_that_are_not_there_are_refused(folder, rows):
    with pytest.raises(ValueError, match=r"rows.*at least one"):
        load_celeba(data=folder, rows=rows)


def test_pictures_may_be_squeezed_or_cut_to_a_square(folder):
    # A circle stays a circle only where the picture is cut.
    y, x = np.mgrid[:218, :178]
    circle = (((y - 109) ** 2 + (x - 89) ** 2) < 60**2) * np.uint8(255)
    Image.fromarray(circle).save(folder / "celeba" / "img_align_celeba" / "000001.jpg", quality=95)

    def extent(crop):
        bright = load_celeba(data=folder, crop=crop, rows=1).features.to_numpy().reshape(80, 80)
        return np.ptp(np.flatnonzero((bright > 0.5).any(axis=1))), np.ptp(
            np.flatnonzero((bright > 0.5).any(axis=0))
        )

    height, width = extent(crop=True)
    assert height == width
    height, width = extent(crop=False)
    assert height / width == pytest.approx(178 / 218, abs=0.03)


def test_pictures_that_are_not_there_are_left_out(folder, answers):
    (folder / "celeba" / "img_align_celeba" / "000003.jpg").unlink()
    celeba = load_celeba(data=folder, sensitive=["Bald"])
    assert len(celeba.features) == N - 1
    expected = np.delete(answers[:, NAMES.index("Bald")] == 1, 2)
    assert (celeba.sensitive["Bald"] == "yes").tolist() == expected.tolist()


def test_the_folder_itself_may_be_given(folder):
    assert len(load_celeba(data=folder / "celeba", rows=2).features) == 2


def test_without_the_data_the_message_says_where_to_get_them(tmp_path, monkeypatch):
    monkeypatch.delenv("FAIRPCA_DATA", raising=False)
    for data in (None, tmp_path):
        with pytest.raises(MissingDataError, match=r"mmlab.ie.cuhk.edu.hk.*img_align_celeba/0000"):
            load_celeba(data=data)


def test_a_folder_without_the_pictures_is_refused(folder):
    for picture in (folder / "celeba" / "img_align_celeba").iterdir():
        picture.unlink()
    with pytest.raises(MissingDataError, match="None of the pictures listed"):
        load_celeba(data=folder)


def test_a_list_that_was_cut_off_is_refused(folder):
    path = folder / "celeba" / "list_attr_celeba.txt"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-2]), encoding="utf-8")
    with pytest.raises(DamagedDataError, match=f"announces {N} pictures.*has {N - 2} lines"):
        load_celeba(data=folder)
    path.write_text("".join(lines)[:-30], encoding="utf-8")
    with pytest.raises(DamagedDataError, match="cut off or changed"):
        load_celeba(data=folder)


def test_a_picture_that_was_cut_off_is_refused_by_name(folder):
    path = folder / "celeba" / "img_align_celeba" / "000007.jpg"
    path.write_bytes(path.read_bytes()[:600])
    with pytest.raises(DamagedDataError, match=r"000007\.jpg' is not a readable picture"):
        load_celeba(data=folder)


def test_a_picture_without_pixels_is_refused(folder):
    with pytest.raises(ValueError, match="size=0"):
        load_celeba(data=folder, size=0)


def test_pictures_go_straight_into_fair_pca(folder):
    celeba = load_celeba(data=folder, size=8, sensitive=["eyeglasses"])
    fair = FairPCA(2).fit(celeba.features, sensitive_features=celeba.sensitive)
    assert fair.transform(celeba.features).shape == (N, 2)
