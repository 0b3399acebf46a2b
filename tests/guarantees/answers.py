"""Digests of what every public call answers, for processes that are to agree to the last bit.

Run as ``python -m guarantees.answers FOLDER`` it prints them as JSON.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from fairpca import FairKernelPCA, FairPCA, audit, fit_table, load, save
from fairpca.erasers import LEACE
from fairpca.metrics import certified_gap, leakage
from fairpca.models import export_onnx, model_card
from fairpca.moments import collect_moments
from fairpca.tradeoff import tradeoff_curve
from people import made_up_people
from registry import ESTIMATORS, fitted, fitted_anew, small_rows


class NoTimePasses(datetime):
    """A clock that stands, for files and pages that say when they were made."""

    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        return datetime(2020, 1, 2, 3, 4, 5, tzinfo=tz or UTC)


def stop_the_clock(replace: Callable[[Any, str, Any], None]) -> None:
    """Let every module of the package that asks for the time get the same one."""

    for name, module in list(sys.modules.items()):
        if not name.startswith(("fairpca.auditing", "fairpca.models")):
            continue
        if getattr(module, "datetime", None) is datetime:
            replace(module, "datetime", NoTimePasses)
        if getattr(module, "perf_counter", None) is perf_counter:
            replace(module, "perf_counter", lambda: 0.0)


def digest(value: Any) -> str:
    """Return a name for the bits of arrays, texts and files."""
    if isinstance(value, Path):
        value = value.read_bytes()
    elif isinstance(value, np.ndarray):
        value = f"{value.dtype}{value.shape}".encode() + np.ascontiguousarray(value).tobytes()
    elif not isinstance(value, bytes):
        value = repr(value).encode()
    return hashlib.sha256(value).hexdigest()


def of_estimators(folder: Path) -> Iterator[tuple[str, Any]]:
    """Representations of new rows, model files and cards, of every estimator."""
    new, _, _ = small_rows(50, seed=1)
    for number, name in enumerate(ESTIMATORS):
        model = fitted_anew(name)
        yield name, np.asarray(model.transform(new))
        path = folder / f"{number}.fairpca"
        save(model, path)
        yield f"file: {name}", path
        yield f"card: {name}", model_card(model)


def of_measures(folder: Path) -> Iterator[tuple[str, Any]]:
    """What the functions say that draw at random, or go through sets and dictionaries."""
    X, sex, y = small_rows(240, 18)
    new = X + 0.25
    groups = {"sex": sex, "race": np.resize(["z", "ö", "a", "B"], len(sex)), "y": y.astype(str)}
    yield "joint groups", FairPCA(2, intersectional=True).fit(X, sensitive_features=groups).groups_
    yield "moments", collect_moments(X, groups).mean
    for model in (FairPCA(2), FairKernelPCA(2), LEACE()):
        yield (
            f"curve: {type(model).__name__}",
            tradeoff_curve(
                model,
                LogisticRegression(),
                X,
                y,
                new,
                y,
                sensitive_features_train=sex,
                sensitive_features_test=sex,
            ),
        )
    for probe in ("linear", "boosting", "kernel"):
        kept = leakage(X[:, :3], sex, probe=probe, cv=3, n_permutations=50, random_state=4)
        yield f"leakage: {probe}", kept
    yield "certificate of scores", certified_gap(new[:, 0], sex)
    onnx = folder / "model.onnx"
    export_onnx(fitted("fair pca"), onnx)
    yield "onnx", onnx


def of_tables(folder: Path) -> Iterator[tuple[str, Any]]:
    """An audit with its page, and a model of a table with columns of every kind."""
    people = made_up_people(150)
    few = people[["sex", "height", "a0", "town", "luck"]]
    found = audit(few, "sex", quick=True, n_jobs=1, n_components=2)
    yield "audit: json", found.to_json()
    yield "audit: page", found.to_html()
    path = folder / "table.fairpca"
    fit_table(people, sensitive=["sex"], target="paid", n_components=2).save(path)
    yield "table: file", path


def of_refusals(folder: Path) -> Iterator[tuple[str, Any]]:
    """What is said to bad input: no check may be an `assert`, which `python -O` leaves out."""
    X, sex, y = small_rows()
    holes = np.where(np.arange(X.size).reshape(X.shape) == 7, np.nan, X)
    fair = FairPCA(2).fit(X, sensitive_features=sex)
    path = folder / "cut.fairpca"
    save(fair, path)
    path.write_bytes(path.read_bytes()[:-9])
    table = made_up_people(150)[["sex", "height", "a0"]]
    bad: dict[str, Callable[[], Any]] = {
        "no groups": lambda: FairPCA(2).fit(X, y),
        "one group": lambda: FairPCA(2).fit(X, sensitive_features=np.ones(len(X), int)),
        "missing numbers": lambda: FairPCA(2).fit(holes, sensitive_features=sex),
        "too few groups": lambda: FairPCA(2).fit(X, sensitive_features=sex[:-1]),
        "too many components": lambda: FairPCA(6).fit(X, sensitive_features=sex),
        "no such solver": lambda: FairPCA(2, solver="fast").fit(X, sensitive_features=sex),
        "no such kernel": lambda: FairKernelPCA(kernel="fast").fit(X, sensitive_features=sex),
        "fewer columns": lambda: fair.transform(X[:, :-1]),
        "missing at transform": lambda: fair.transform(holes),
        "not fitted": lambda: LEACE().transform(X),
        "a cut file": lambda: load(path),
        "no file": lambda: load("nowhere.fairpca"),
        "no such probe": lambda: leakage(X, sex, probe="oracle"),
        "no such column": lambda: audit(table, "age", quick=True, n_jobs=1),
        "no such level": lambda: audit(table, "sex", confidence=7.0, n_jobs=1),
        "no such table": lambda: fit_table("nowhere.csv", sensitive="sex"),
    }
    for name, call in bad.items():
        try:
            call()
        except Exception as reason:
            said = str(reason).replace(str(folder), "")
            yield f"refused: {name}", f"{type(reason).__name__}: {said}"
        else:
            yield f"refused: {name}", "not at all"


Part = Callable[[Path], Iterator[tuple[str, Any]]]
ALL: Sequence[Part] = (of_estimators, of_measures, of_tables, of_refusals)


def answers(folder: Path, parts: Sequence[Part] = ALL) -> dict[str, str]:
    """Return the digest of every answer; files are written to the folder."""
    found: dict[str, str] = {}
    for part in parts:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of few rows; what is said is another question
            found |= {name: digest(value) for name, value in part(folder)}
    return found


if __name__ == "__main__":
    stop_the_clock(setattr)
    sys.stdout.write(json.dumps(answers(Path(sys.argv[1]))))
