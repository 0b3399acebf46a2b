from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from fairpca import FairPCA
from fairpca_paper.datasets import MissingDataError
from fairpca_paper.experiments import figure_faces as figure_faces
from fairpca_paper.experiments.experiment import Result, Settings
from fairpca_paper.experiments.figure_faces import EXPERIMENTS, _without
from fairpca_paper.experiments.figure_faces import _chosen_faces as chosen_faces
from fairpca_paper.experiments.figure_faces import _Faces as Faces
from fairpca_paper.experiments.figure_faces import _load_faces as load_faces

(FIGURE,) = EXPERIMENTS


def made_faces(n, size, levels=("a", "b", "c")):
    """Noise in which the group is a brightness of its own in some pixels."""
    rng = np.random.default_rng(0)
    z = rng.integers(len(levels), size=n)
    X = rng.uniform(size=(n, size * size)) + 0.3 * rng.normal(size=(len(levels), size * size))[z]
    group = np.array(levels)[z]
    rows = np.arange(n)
    return Faces("made", X, {"group": group}, group, rows[: n * 3 // 4], rows[n * 3 // 4 :])


@pytest.mark.parametrize(("n", "size"), [(200, 6), (40, 9)], ids=["tall", "wide"])
def test_all_fair_directions_leave_no_difference_between_the_means(n, size):
    faces = made_faces(n, size)
    every, best = _without("group", faces, faces.fitted, 3, "")
    group = faces.attributes["group"][faces.fitted]
    for row in (every, best):
        flat = row.pictures.reshape(len(group), -1)
        means = [flat[group == g].mean(axis=0) for g in np.unique(group)]
        np.testing.assert_allclose(means, [means[0]] * 3, atol=1e-12)
    assert every.detail == f"k = {size**2 - 2}"


def test_all_fair_directions_are_what_fair_pca_keeps_when_asked_for_all():
    faces = made_faces(200, 6)
    every, _ = _without("group", faces, faces.held_out, 3, "")
    fair = FairPCA().fit(
        faces.X[faces.fitted], sensitive_features=faces.attributes["group"][faces.fitted]
    )
    expected = fair.inverse_transform(fair.transform(faces.X[faces.held_out]))
    np.testing.assert_allclose(every.pictures.reshape(expected.shape), expected, atol=1e-9)


def test_pictures_outside_the_span_of_few_faces_lose_r_directions_only():
    faces = made_faces(40, 9)
    every, _ = _without("group", faces, faces.held_out, 3, "")
    change = every.pictures.reshape(len(faces.held_out), -1) - faces.X[faces.held_out]
    assert np.linalg.matrix_rank(change, tol=1e-9) == 2


def test_faces_are_chosen_from_all_groups_of_the_held_out_ones():
    faces = made_faces(200, 4)
    chosen = chosen_faces(faces, 6)
    assert set(chosen) <= set(faces.held_out)
    assert len(set(chosen)) == 6
    assert sorted(faces.attributes["group"][chosen]) == ["a", "a", "b", "b", "c", "c"]


def test_rare_groups_have_their_share_of_the_faces_shown():
    faces = made_faces(200, 4)
    rare = np.full(200, "common")
    rare[faces.held_out[-8:]] = "rare"
    both = replace(faces, attributes=faces.attributes | {"frequency": rare})
    chosen = chosen_faces(both, 12)
    assert 5 <= np.count_nonzero(rare[chosen] == "rare") <= 7
    counts = np.unique(faces.attributes["group"][chosen], return_counts=True)[1]
    assert counts.min() >= 3


def test_no_more_faces_are_shown_than_there_are():
    faces = made_faces(20, 4)
    assert sorted(chosen_faces(faces, 100)) == faces.held_out.tolist()


@pytest.fixture
def fairface_folder(tmp_path):
    """A folder of the shape of FairFace, with 80 pictures of noise."""
    folder = tmp_path / "fairface"
    (folder / "val").mkdir(parents=True)
    rng = np.random.default_rng(0)
    lines = ["file,age,gender,race,service_test"]
    for i in range(80):
        grey = rng.integers(256, size=(12, 12), dtype=np.uint8)
        Image.fromarray(grey).save(folder / "val" / f"{i}.jpg")
        age, gender, race = ["20-29", "60-69"][i % 2], ["Male", "Female"][i // 2 % 2], "White"
        lines.append(f"val/{i}.jpg,{age},{gender},{['Black', race][i // 4 % 2]},True")
    (folder / "fairface_label_val.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(figure_faces, "QUICK_SIZE", 6)
    monkeypatch.setattr(figure_faces, "QUICK_K", 4)
    load_faces.cache_clear()
    yield
    load_faces.cache_clear()


def test_the_whole_figure_is_drawn_from_a_small_folder(fairface_folder, small):
    settings = Settings(data=fairface_folder, quick=True)
    tasks = FIGURE.tasks(settings)
    assert {task.key["dataset"] for task in tasks} == {
        "fairface: gender",
        "fairface: race",
        "fairface: age 50+",
    }
    results = [Result(task.key, task.run(**task.arguments)) for task in tasks[:2]]
    rows = FIGURE.summarize(results)
    assert {row.protocol for row in rows} == {"held-out"}
    assert {row.metric for row in rows} >= {"linear_probe_auc", "boosting_probe_auc"}
    assert all(0 <= row.mean <= 100 for row in rows)

    figure = FIGURE.draw(results, settings)  # race and age are missing
    assert len(figure.axes) == 1 + 2 * 3
    words = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert sum("– → –" in word for word in words) == 2
    assert "Male\nBlack\n20-29" in words


@pytest.fixture
def celeba_folder(fairface_folder):
    """The same folder with 40 pictures of the shape of CelebA; two faces wear a hat."""
    folder = fairface_folder / "celeba"
    (folder / "img_align_celeba").mkdir(parents=True)
    columns = ["Bald", "No_Beard", "Eyeglasses", "Wearing_Hat", "Mustache", "Smiling"]
    lines = ["40", " ".join(columns)]
    for i in range(40):
        name = f"{i + 1:06d}.jpg"
        grey = np.random.default_rng(i).integers(0, 256, (12, 10), dtype=np.uint8)
        Image.fromarray(grey).save(folder / "img_align_celeba" / name)
        answers = [1 if i % (2 + j) == 0 else -1 for j in range(len(columns))]
        answers[3] = 1 if i < 2 else -1
        lines.append(" ".join([name, *map(str, answers)]))
    (folder / "list_attr_celeba.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return fairface_folder


def test_celeba_comes_first_where_the_user_has_it(celeba_folder, small):
    faces = load_faces(celeba_folder, 6)
    assert faces.name == "celeba"
    assert set(faces.attributes) == {"bald", "beard", "eyeglasses", "hat", "mustache", "smiling"}
    assert faces.words[0] == "bald\neyeglasses\nhat\nmustache\nsmiling"  # No_Beard is 1 there


def test_an_attribute_too_rare_to_be_probed_has_no_auc(celeba_folder, small, monkeypatch):
    faces = load_faces(celeba_folder, 6, figure_faces.QUICK_FACES)
    few = replace(faces, fitted=np.r_[0, 2:30], held_out=np.r_[1, 30:40])
    monkeypatch.setattr(figure_faces, "_load_faces", lambda *_: few)
    values = figure_faces._measure("hat", "Fair PCA", celeba_folder, quick=True)
    assert np.isnan(values["linear_probe_auc"])
    assert 0 <= values["explained_variance_pct"] <= 100


def test_without_pictures_the_message_tells_where_to_get_them(tmp_path, small):
    with pytest.raises(MissingDataError, match="fairface"):
        FIGURE.tasks(Settings(data=tmp_path, quick=True))
