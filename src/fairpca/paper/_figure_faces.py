"""The paper's Figure 5: faces from which an attribute has been taken, and what is left of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators import FairPCA, collect_moments
from ..metrics import explained_variance_ratio, leakage
from ..solvers import mean_constraint
from ._experiment import Experiment, Result, Settings, Summary, Task
from ._faces import Faces, chosen_faces, load_faces
from ._methods import make_method
from ._pictures import PictureRow, picture_page
from ._summaries import summarize_draws

K, SIZE = 400, 80
QUICK_K, QUICK_SIZE, QUICK_FACES = 50, 32, 800
PLAIN, FAIR = "PCA", "Fair PCA"
PROBES, FOLDS = ("linear", "boosting"), 5


def _faces(settings: Settings) -> tuple[Faces, int]:
    if settings.quick:
        return load_faces(settings.data, QUICK_SIZE, QUICK_FACES), QUICK_K
    return load_faces(settings.data, SIZE), K


def measure(attribute: str, method: str, data: Path | None, quick: bool) -> dict[str, float]:
    """Return what probes read of an attribute from a representation of held-out faces."""
    faces, k = _faces(Settings(data, quick))
    X, z = faces.X, faces.attributes[attribute]
    estimator = make_method(method, X.shape[1], k)
    estimator.fit(X[faces.fitted], sensitive_features=z[faces.fitted])
    T = estimator.transform(X[faces.held_out])
    values = {
        "explained_variance_pct": 100
        * explained_variance_ratio(X[faces.held_out], estimator.components_)
    }
    z_held_out = z[faces.held_out]
    rarest = np.unique(z_held_out, return_counts=True)[1].min()
    for probe in PROBES:
        auc = math.nan  # a rare attribute in few faces cannot be probed
        if rarest >= FOLDS:
            auc = leakage(T, z_held_out, probe=probe, cv=FOLDS, random_state=0).auc
        values[f"{probe}_probe_auc"] = auc
    return values


def _tasks(settings: Settings) -> list[Task]:
    faces, k = _faces(settings)
    return [
        Task(
            key={"dataset": f"{faces.name}: {attribute}", "k": k, "method": method},
            run=measure,
            arguments={
                "attribute": attribute,
                "method": method,
                "data": settings.data,
                "quick": settings.quick,
            },
        )
        for attribute in faces.attributes
        for method in (PLAIN, FAIR)
    ]


def _summarize(results: Sequence[Result]) -> list[Summary]:
    return summarize_draws([Result({**r.key, "protocol": "held-out"}, r.values) for r in results])


def draw(results: Sequence[Result], settings: Settings) -> Any:
    """Draw held-out faces as they are, and without each attribute, in all and in few dimensions."""
    faces, k = _faces(settings)
    shown = chosen_faces(faces)
    aucs = {(row.dataset, row.method, row.metric): row.mean for row in _summarize(results)}
    rows = [
        PictureRow(
            faces.pictures(faces.X[shown]),
            "original",
            f"{faces.X.shape[1]} pixels",
            "AUC on held-out faces\nPCA → Fair PCA",
        )
    ]
    for attribute in faces.attributes:
        rows += _without(attribute, faces, shown, k, _remark(f"{faces.name}: {attribute}", aucs))
    return picture_page(
        rows,
        list(faces.words[shown]),
        f"Fair PCA fitted to {len(faces.fitted):,} faces ({faces.name}); shown are others, chosen "
        f"by a rule that has not seen them. AUC: probes trained and scored\n(five folds) on "
        f"{len(faces.held_out):,} held-out faces with k = {k}; 0.5 is guessing. Means are equal on "
        f"the faces fitted, on new ones up to sampling error;\nequal means do not hide what a "
        f"non-linear model can see.",
    )


def _without(
    attribute: str, faces: Faces, shown: np.ndarray, k: int, remark: str
) -> list[PictureRow]:
    """Return faces without an attribute: all other directions kept, and the best k of them."""
    fitted, z = faces.X[faces.fitted], faces.attributes[attribute][faces.fitted]
    moments = collect_moments(fitted, z)
    # All d - r fair directions: not the span of fewer pictures than pixels, but what is left of
    # every picture when the r directions that separate the groups are taken out.
    Q, mean = mean_constraint(moments).Q, moments.mean
    X = faces.X[shown]
    every = X - (X - mean) @ Q @ Q.T
    fair = FairPCA(k).fit(fitted, sensitive_features=z)
    best = fair.inverse_transform(fair.transform(X))
    n_every = faces.X.shape[1] - Q.shape[1]
    return [
        PictureRow(faces.pictures(every), f"without {attribute}", f"k = {n_every}"),
        PictureRow(faces.pictures(best), "", f"k = {k}", remark),
    ]


def _remark(dataset: str, aucs: Mapping[tuple[str, str, str], float]) -> str:
    lines = []
    for probe, name in zip(PROBES, ("linear", "trees"), strict=True):
        pair = [aucs.get((dataset, method, f"{probe}_probe_auc")) for method in (PLAIN, FAIR)]
        before, after = ("–" if auc is None or math.isnan(auc) else f"{auc:.2f}" for auc in pair)
        lines.append(f"{name}: {before} → {after}")
    return "\n".join(lines)


EXPERIMENTS = (
    Experiment(
        name="figure-faces",
        title="Figure 5: faces without gender, race or age (CelebA: without glasses, hats, ...)",
        tasks=_tasks,
        summarize=_summarize,
        draw=draw,
    ),
)
