"""Public calls, each by a name, with what it needs; small enough to be made in every test run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

import fairpca
from fairpca import erasers, metrics
from registry import fitted_once, small_rows

X, SEX, Y = small_rows()


def streams(folder: Path) -> Any:
    fair = fairpca.FairPCA(2)
    for part in (slice(0, 60), slice(60, 120)):
        fair.partial_fit(X[part], sensitive_features=SEX[part])
    return fair.inverse_transform(fair.transform(X))


def refuses(folder: Path) -> None:
    for bad in (np.full_like(X, np.nan), X[:0], X[:, :0]):
        try:
            fairpca.FairPCA(2).fit(bad, sensitive_features=SEX)
        except ValueError:
            continue


def overflows(folder: Path) -> None:
    try:
        fairpca.FairPCA(2).fit(X * 1e307, sensitive_features=SEX)
    except (ValueError, ArithmeticError):
        return


def measures(folder: Path) -> None:
    metrics.leakage(X, SEX, probe="boosting", cv=2, n_permutations=10, random_state=0)
    metrics.certified_gap(X[:, 0], SEX)


def draws_a_curve(folder: Path) -> None:
    fairpca.tradeoff.tradeoff_curve(
        fairpca.FairPCA(2),
        LogisticRegression(),
        X,
        Y,
        X,
        Y,
        sensitive_features_train=SEX,
        sensitive_features_test=SEX,
    )


def fits_erasers(folder: Path) -> None:
    for eraser in (erasers.LEACE(), erasers.SPLINCE(), erasers.KernelSAL()):
        eraser.fit(X, Y, sensitive_features=SEX)


def saves_and_loads(folder: Path) -> None:
    fairpca.save(fitted_once("fair pca"), folder / "model.fairpca", overwrite=True)
    fairpca.load(folder / "model.fairpca")
    try:
        fairpca.load(folder / "nothing.fairpca")
    except fairpca.FairPCAError:
        return


def exports(folder: Path) -> None:
    from fairpca.models import export_onnx, model_card

    export_onnx(fitted_once("rbf kernel"), folder / "model.onnx", overwrite=True)
    model_card(fitted_once("leace"))


def people() -> Any:
    from people import made_up_people

    return made_up_people(150)[["sex", "height", "a0", "town", "paid"]]


def audits(folder: Path) -> None:
    found = fairpca.audit(people().drop(columns="paid"), "sex", quick=True, n_jobs=1)
    found.to_html(folder / "page.html")
    found.to_json()


def fits_a_table(folder: Path) -> None:
    people().to_csv(folder / "people.csv", index=False)
    model = fairpca.fit_table(folder / "people.csv", "sex", "paid", n_components=1)
    model.transform(people())


def reads_files(folder: Path) -> None:
    table = people()[["sex", "height", "a0"]]
    table.to_csv(folder / "rows.csv", index=False)
    table.to_parquet(folder / "rows.parquet")
    fairpca.moments.collect_moments(fairpca.io.CSVRows(folder / "rows.csv", sensitive="sex"), None)
    rows = fairpca.io.ParquetRows(folder / "rows.parquet", sensitive="sex")
    fairpca.FairPCA(1).fit(rows)


def works_on_dask(folder: Path) -> None:
    import dask.array as da

    codes = np.unique(SEX, return_inverse=True)[1]
    rows = da.from_array(np.column_stack([X, codes]), chunks=(40, -1))
    fair = fairpca.FairPCA(2).fit(rows, sensitive_features=X.shape[1])
    fair.transform(rows[:, :-1]).compute()


def runs_commands(folder: Path) -> None:
    from cli.commands import invoke

    path = folder / "people.csv"
    people().to_csv(path, index=False)
    model = ["fit", str(path), "-s", "sex", "-t", "paid", "--out", str(folder / "m.fairpca")]
    for command in (["--help"], model, ["inspect", str(folder / "m.fairpca")], ["no such"]):
        invoke(command)


CALLS: dict[str, tuple[Callable[[Path], Any], tuple[str, ...]]] = {
    "streams": (streams, ()),
    "refuses": (refuses, ()),
    "overflows": (overflows, ()),
    "measures": (measures, ()),
    "draws a curve": (draws_a_curve, ()),
    "fits erasers": (fits_erasers, ()),
    "saves and loads": (saves_and_loads, ("safetensors",)),
    "exports": (exports, ("onnx",)),
    "audits": (audits, ("pandas", "jinja2")),
    "fits a table": (fits_a_table, ("pandas", "pyarrow")),
    "reads files": (reads_files, ("pandas", "pyarrow")),
    "works on Dask": (works_on_dask, ("dask.array",)),
    "runs commands": (runs_commands, ("typer", "rich", "pandas", "safetensors")),
}
"""What is called, with the folder it may write to, and the libraries it needs."""
