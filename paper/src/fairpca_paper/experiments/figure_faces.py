"""The paper's Figure 5: faces from which an attribute is removed, and what is left of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import orth
from sklearn.ensemble import HistGradientBoostingClassifier

from fairpca import FairPCA
from fairpca.metrics import explained_variance_ratio, leakage

from ..datasets import MissingDataError, load_celeba, load_fairface
from .experiment import Experiment, Result, Settings, Summary, Task, combinations, summarize_draws
from .panels import write
from .protocol import HELD_OUT, PROBES, make_method
from .style import FAINT, paper_figure

K, SIZE = 400, 80
QUICK_K, QUICK_SIZE, QUICK_FACES = 50, 32, 800
PLAIN, FAIR = "PCA", "Fair PCA"
FOLDS = 5
READERS = {
    "linear": PROBES["linear"],
    "boosting": HistGradientBoostingClassifier(
        max_iter=50, learning_rate=0.1, max_leaf_nodes=8, early_stopping=False, random_state=0
    ),
}
"""The probes of `fairpca.metrics.leakage`, the same for any number of levels."""
FITTED_SHARE = 0.7
MOST_FACES, MOST_PROBED = 20_000, 3_000
"""Images to load, and held-out ones to probe: half a gigabyte, and minutes."""
OLD = ("50-59", "60-69", "more than 70")
SHORT = {
    "Latino_Hispanic": "Latino",
    "Middle Eastern": "Mid. Eastern",
    "Southeast Asian": "SE Asian",
    "more than 70": "over 70",
}
"""Levels too long to stand above a picture."""
SHOWN = 10

GAP = 0.06
"""White space between two pictures, in widths of one."""
WIDTH, LEFT, RIGHT, ABOVE, BELOW_PER_LINE = 9.0, 1.5, 1.4, 0.42, 0.17
"""Of the page and its margins, in inches."""


@dataclass(frozen=True, eq=False)
class _Faces:
    """Pictures as rows of grey values, the attributes to erase, and a few words about each."""

    name: str
    X: np.ndarray
    attributes: Mapping[str, np.ndarray]
    words: np.ndarray
    fitted: np.ndarray
    held_out: np.ndarray

    def pictures(self, rows: np.ndarray) -> np.ndarray:
        """Return rows as pictures, an array of shape (m, size, size)."""
        size = math.isqrt(self.X.shape[1])
        return rows.reshape(-1, size, size)


@lru_cache(maxsize=1)
def _load_faces(data: Path | None, size: int, most: int = MOST_FACES) -> _Faces:
    """Load CelebA, or FairFace where there is no CelebA, with a fixed choice of held-out faces."""
    try:
        dataset = load_celeba(data=data, size=size, rows=most)
    except MissingDataError:
        dataset = load_fairface(data=data, size=size, rows=most)
    people = dataset.sensitive.astype(str)
    known = {name: people[name].to_numpy() for name in people}
    words = np.array([_words(person) for person in people.to_dict("records")])
    if dataset.name == "fairface":
        known["age 50+"] = np.where(np.isin(known.pop("age"), OLD), "yes", "no")
    order = np.random.default_rng(0).permutation(len(words))
    cut = round(FITTED_SHARE * len(words))
    return _Faces(
        name=dataset.name,
        X=dataset.features.to_numpy(),
        attributes=known,
        words=words,
        fitted=np.sort(order[:cut]),
        held_out=np.sort(order[cut : cut + MOST_PROBED]),
    )


def _chosen_faces(faces: _Faces, n: int = SHOWN) -> np.ndarray:
    """Return held-out faces to show: each time the first new one of the group that lacks most.

    All groups have equal shares, and nobody has looked at the pictures to choose.
    """
    groups = [
        (faces.held_out[z[faces.held_out] == level], len(np.unique(z)))
        for z in faces.attributes.values()
        for level in np.unique(z)
    ]
    chosen: list[int] = []
    while len(chosen) < n:
        fresh = [(group, m) for group, m in groups if not np.isin(group, chosen).all()]
        if not fresh:
            break
        lacking, _ = min(fresh, key=lambda pair: np.isin(chosen, pair[0]).sum() * pair[1])
        chosen.append(int(lacking[~np.isin(lacking, chosen)][0]))
    return np.array(chosen)


def _words(known: Mapping[str, str]) -> str:
    """Say what is known of a face: yes is the attribute's name, no is nothing."""
    said = {name: name if level == "yes" else level for name, level in known.items()}
    return "\n".join(SHORT.get(word, word) for word in said.values() if word != "no")


def _faces(settings: Settings) -> tuple[_Faces, int]:
    if settings.quick:
        return _load_faces(settings.data, QUICK_SIZE, QUICK_FACES), QUICK_K
    return _load_faces(settings.data, SIZE), K


def _measure(attribute: str, method: str, data: Path | None, quick: bool) -> dict[str, float]:
    """Return what probes read of an attribute from a representation of held-out faces."""
    faces, k = _faces(Settings(data, quick))
    X, z = faces.X, faces.attributes[attribute]
    estimator = make_method(method, X.shape[1], k)
    estimator.fit(X[faces.fitted], sensitive_features=z[faces.fitted])
    T = estimator.transform(X[faces.held_out])
    variance = explained_variance_ratio(X[faces.held_out], estimator.components_)
    values = {"explained_variance_pct": 100 * variance}
    z_held_out = z[faces.held_out]
    rarest = np.unique(z_held_out, return_counts=True)[1].min()
    for probe, model in READERS.items():
        auc = math.nan  # a rare attribute in few faces cannot be probed
        if rarest >= FOLDS:
            auc = leakage(T, z_held_out, probe=model, cv=FOLDS, random_state=0).auc
        values[f"{probe}_probe_auc"] = auc
    return values


def _tasks(settings: Settings) -> list[Task]:
    faces, k = _faces(settings)
    tasks = []
    for one in combinations(attribute=faces.attributes, method=(PLAIN, FAIR)):
        key = {"dataset": f"{faces.name}: {one['attribute']}", "k": k, "method": one["method"]}
        tasks.append(Task(key, _measure, {**one, "data": settings.data, "quick": settings.quick}))
    return tasks


def _summarize(results: Sequence[Result]) -> list[Summary]:
    return summarize_draws([Result({**r.key, "protocol": HELD_OUT}, r.values) for r in results])


def _draw(results: Sequence[Result], settings: Settings) -> Any:
    """Draw held-out faces as they are, and without each attribute, in all and in few dimensions."""
    faces, k = _faces(settings)
    shown = _chosen_faces(faces)
    aucs = {(row.dataset, row.method, row.metric): row.mean for row in _summarize(results)}
    remark = "AUC on held-out faces\nPCA → Fair PCA"
    originals = faces.pictures(faces.X[shown])
    rows = [_PictureRow(originals, "original", f"{faces.X.shape[1]} pixels", remark)]
    for attribute in faces.attributes:
        rows += _without(attribute, faces, shown, k, _remark(f"{faces.name}: {attribute}", aucs))
    return _picture_page(
        rows,
        list(faces.words[shown]),
        f"Fair PCA fitted to {len(faces.fitted):,} faces ({faces.name}); shown are others, chosen "
        f"by a rule that has not seen them. AUC: probes trained and scored\n(five folds) on "
        f"{len(faces.held_out):,} held-out faces with k = {k}; 0.5 is chance. Means are equal on "
        f"the faces fitted, on new ones up to sampling error.",
    )


def _without(
    attribute: str, faces: _Faces, shown: np.ndarray, k: int, remark: str
) -> list[_PictureRow]:
    """Return faces without an attribute: all other directions kept, and the best k of them."""
    fitted, z = faces.X[faces.fitted], faces.attributes[attribute][faces.fitted]
    # All d - r fair directions: not the span of fewer pictures than pixels, but what is left of
    # every picture when the r directions that separate the groups are taken out.
    mean = fitted.mean(axis=0)
    Q = orth(np.transpose([fitted[z == level].mean(axis=0) - mean for level in np.unique(z)[1:]]))
    X = faces.X[shown]
    every = X - (X - mean) @ Q @ Q.T
    fair = FairPCA(k).fit(fitted, sensitive_features=z)
    best = fair.inverse_transform(fair.transform(X))
    n_every = faces.X.shape[1] - Q.shape[1]
    return [
        _PictureRow(faces.pictures(every), f"without {attribute}", f"k = {n_every}"),
        _PictureRow(faces.pictures(best), "", f"k = {k}", remark),
    ]


def _remark(dataset: str, aucs: Mapping[tuple[str, str, str], float]) -> str:
    lines = []
    for probe, name in zip(READERS, ("linear", "trees"), strict=True):
        pair = [aucs.get((dataset, method, f"{probe}_probe_auc")) for method in (PLAIN, FAIR)]
        before, after = ("–" if auc is None or math.isnan(auc) else f"{auc:.2f}" for auc in pair)
        lines.append(f"{name}: {before} → {after}")
    return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class _PictureRow:
    """A row of grey pictures (m, size, size) from 0 to 1, with words to its left and right."""

    pictures: np.ndarray
    label: str
    detail: str = ""
    remark: str = ""


def _picture_page(rows: Sequence[_PictureRow], names: Sequence[str], text: str) -> Any:
    """Draw rows of pictures below one another, names above and a text below."""
    columns = len(names)
    picture = (WIDTH - LEFT - RIGHT) / (columns + GAP * (columns - 1))
    step = (1 + GAP) * picture
    below = BELOW_PER_LINE * (text.count("\n") + 1)
    height = ABOVE + len(rows) * step + below
    with paper_figure(WIDTH, height) as figure:
        figure.set_layout_engine("none")  # all sizes are known
        for place, row in enumerate(rows):
            bottom = height - ABOVE - place * step - picture
            box = (LEFT, bottom, WIDTH - LEFT - RIGHT, picture)
            panel = figure.add_axes(tuple(np.divide(box, (WIDTH, height, WIDTH, height))))
            _fill(panel, row)
        look = {"ha": "center", "va": "bottom", "size": 6.5, "color": FAINT, "linespacing": 1.15}
        for column, name in enumerate(names):
            middle = (column * step + 0.5 * picture) / (WIDTH - LEFT - RIGHT)
            write(figure.axes[0], name, (middle, 1), (0, 3), **look)
        figure.text(0.1 / WIDTH, 0.06 / height, text, size=8, color=FAINT, linespacing=1.35)
    return figure


def _side_by_side(pictures: np.ndarray) -> np.ndarray:
    """Return one wide picture of several square ones, with white gaps."""
    size = pictures.shape[1]
    gap = np.ones((size, max(1, round(GAP * size))))
    parts = [part for picture in pictures for part in (gap, np.clip(picture, 0, 1))]
    return np.concatenate(parts[1:], axis=1)


def _fill(panel: Any, row: _PictureRow) -> None:
    wide = _side_by_side(row.pictures)
    panel.imshow(wide, cmap="gray", vmin=0, vmax=1, interpolation="nearest", aspect="auto")
    panel.axis("off")
    write(panel, row.label, (0, 0.5), (-6, 1), ha="right", va="bottom", weight="bold")
    write(panel, row.detail, (0, 0.5), (-6, -1), ha="right", va="top", color=FAINT, size=8)
    write(panel, row.remark, (1, 0.5), (6, 0), ha="left", va="center", linespacing=1.4, size=8)


EXPERIMENTS = (
    Experiment(
        "figure-faces",
        "Figure 5: faces without gender, race or age (CelebA: without glasses, hats, ...)",
        *(_tasks, _summarize, _draw),
    ),
)
