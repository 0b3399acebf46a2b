"""One small fitted model of every class that can be saved, and rows to try it on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.base import clone

from fairpca import FairKernelPCA, FairPCA, fit_table, save
from registry import ESTIMATORS

COLUMNS = 5
MODELS: dict[str, Any] = {
    name.replace(",", "").replace(" ", "-"): known.estimator
    for name, known in ESTIMATORS.items()
    if known.nasty
}
"""One of every kind that few rows are enough for; names are those of files."""


def rows(n: int = 24, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, groups and labels."""
    rng = np.random.default_rng(seed)
    X, sex = rng.normal(size=(n, COLUMNS)), np.resize(["f", "m", "m"], n)
    X[sex == "f", 0] += 1.0
    return X, sex, np.resize([0, 1, 1, 0], n)


def people(n: int = 80, seed: int = 0) -> pd.DataFrame:
    """Return a table with every kind of column."""
    rng = np.random.default_rng(seed)
    when = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**7, n), unit="s")
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": pd.Series(rng.lognormal(3, 1, n)).mask(rng.random(n) < 0.1),
            "job": rng.choice(["cook", "nurse", "smith"], n),
            "member": rng.choice(["yes", "no"], n),
            "born": when.strftime("%Y-%m-%d"),
            "zoned": when.tz_localize("UTC").tz_convert("Europe/Paris"),
            "note": [f"words {i * 7919 % 97} of {i}" for i in range(n)],
            "sex": np.resize(["f", "m"], n),
            "approved": rng.choice(["y", "n"], n),
        }
    )


def fitted(names: Collection[str] = ()) -> dict[str, Any]:
    """Return the models of these names, by default all, fitted."""
    X, sex, y = rows()
    named = pd.DataFrame(X, columns=[f"column {i}" for i in range(COLUMNS)])
    sparse = scipy.sparse.csr_array(np.where(X > 0.3, X, 0.0))
    many = pd.DataFrame({"name": [f"level {i}" for i in range(120)] * 2})
    many["sex"], many["x"] = np.resize(["f", "m", "m"], 240), np.arange(240.0) % 7
    makers: dict[str, Callable[[], Any]] = {
        **{
            name: partial(clone(model).fit, X, y, sensitive_features={"sex": sex})
            for name, model in MODELS.items()
        },
        "named": lambda: FairPCA(2).fit(named, sensitive_features=sex),
        "sparse": lambda: FairKernelPCA(2, gamma=0.5).fit(sparse, sensitive_features=sex),
        "table": lambda: fit_table(people(), "sex", "approved", n_components=3),
        "many-levels": lambda: fit_table(many, "sex", n_components=2),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few steps and few rows: of no matter here
        return {name: make() for name, make in makers.items() if not names or name in names}


def write_models(folder: Path, names: Collection[str] = ()) -> None:
    """Save all models, or some of them."""
    for name, model in fitted(names).items():
        facts = {"data": "made up", "sensitive": ["sex"], "numbers": {"auc": 0.5, "inf": np.inf}}
        info = None if "encoder_" in vars(model) else facts
        goes_on = hasattr(model, "partial_fit") and "moments_" in vars(model)
        save(model, folder / f"{name}.fairpca", info=info, moments=goes_on)
