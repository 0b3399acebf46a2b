"""Short uses of the installed package, one for each extra: the shortest that needs it.

``python installed.py EXTRA ROOT`` runs one, in a folder where it may write. `dist.py` copies this
file into fresh environments: of the checkout ROOT only pages are read. The
docstrings are what the table of `dist.py` says.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path


def people():
    """Return features, groups and an outcome of three hundred people who do not exist."""
    import numpy as np

    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], size=300)
    X = rng.normal(size=(300, 5)) + np.outer(sex == "m", [2, 1, 0, 0, 0])
    return X, sex, (X[:, 1] + X[:, 2] + rng.normal(size=300) > 0).astype(int)


def fitted():
    """Return the rows, their groups, a fair PCA and what it makes of them."""
    from fairpca import FairPCA

    X, sex, _ = people()
    fair = FairPCA(2).fit(X, sensitive_features=sex)
    return X, sex, fair, fair.transform(X)


def package(wheel):
    """FairPCA, FairPLS"""
    import fairpca

    X, sex, paid = people()
    for fair in (fairpca.FairPCA(2), fairpca.FairPLS(1)):
        T = fair.fit(X, paid, sensitive_features=sex).transform(X)
        assert abs(T[sex == "m"].mean(axis=0) - T[sex == "f"].mean(axis=0)).max() < 1e-9
    came = distribution("fairpca")
    assert came.version == fairpca.__version__ == wheel.split("-")[1]
    assert fairpca.__file__.startswith(sys.prefix)
    assert json.loads(came.read_text("direct_url.json"))["url"].endswith(wheel)


def data(root):
    """load_loanapp"""
    assert import_module("fairpca.datasets").load_loanapp().features.shape == (1989, 41)


def tables(root):
    """fit_table of a CSV file"""
    from fairpca import fit_table

    X, sex, _ = people()
    lines = [f"{group},{row[0]},{row[1]}" for group, row in zip(sex, X, strict=True)]
    Path("people.csv").write_text("\n".join(["sex,height,shoe", *lines]), encoding="utf-8")
    model = fit_table("people.csv", "sex", n_components=1)
    assert model.transform(import_module("pandas").read_csv("people.csv")).shape == (300, 1)


def models(root):
    """save and load"""
    from fairpca import load, save

    X, _, fair, T = fitted()
    save(fair, "model.fairpca")
    assert (load("model.fairpca").transform(X) == T).all()


def onnx(root):
    """export_onnx, and its file in onnxruntime"""
    X, _, fair, T = fitted()
    import_module("fairpca.models").export_onnx(fair, "model.onnx", dtype="float64")
    session = import_module("onnxruntime").InferenceSession("model.onnx")
    assert abs(session.run(None, {session.get_inputs()[0].name: X})[0] - T).max() < 1e-5


def torch(root):
    """FairPCA(device="cpu"), FairPCA of tensors"""
    from fairpca import FairPCA

    X, sex, fair, _ = fitted()
    FairPCA(2, device="cpu").fit(X, sensitive_features=sex)
    same = FairPCA(2).fit(import_module("torch").asarray(X), sensitive_features=sex).components_
    assert abs((same.T @ same).numpy() - fair.components_.T @ fair.components_).max() < 1e-8


def dask(root):
    """fit and transform on a cluster of two processes"""
    from distributed import Client, LocalCluster

    X, sex, fair, T = fitted()
    at = {"host": "127.0.0.1", "dashboard_address": None}
    with LocalCluster(n_workers=2, threads_per_worker=1, **at) as cluster, Client(cluster):
        names = [f"x{i}" for i in range(X.shape[1])]
        table = import_module("pandas").DataFrame(X, columns=names).assign(sex=sex)
        rows = import_module("dask.dataframe").from_pandas(table, npartitions=4)
        there = type(fair)(2).fit(rows, sensitive_features="sex").transform(rows)
        there = there.compute().to_numpy()
    assert abs(there @ there.T - T @ T.T).max() < 1e-8


def spark(root):
    """fit and transform on local[2]"""
    from pyspark.sql import SparkSession

    X, sex, fair, _ = fitted()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    at = {f"spark.driver.{name}": "127.0.0.1" for name in ("host", "bindAddress")}
    at |= {"spark.ui.enabled": "false", "spark.log.level": "OFF"}
    session = SparkSession.builder.master("local[2]").config(map=at).getOrCreate()
    table = import_module("pandas").DataFrame(X, columns=[*"abcde"]).assign(sex=sex)
    rows = session.createDataFrame(table)
    there = type(fair)(2, sensitive_columns=["sex"]).fit(rows)
    P, Q = there.components_, fair.components_
    assert abs(P.T @ P - Q.T @ Q).max() < 1e-8
    assert there.transform(rows).count() == 300
    session.stop()


def readme(root):
    """the README's ten lines"""
    sys.path.insert(0, f"{root}/tests/documentation")
    blocks = import_module("page_code").run_page(f"{root}/README.md")
    assert [block.printed for block in blocks if block.printed.startswith("linear probe: AUC")]


LIBRARIES = (data, tables, models, onnx, torch)
"""One call for each extra that a library is hidden behind. Without it, the call names the extra."""

ENGINES = (dask, spark)
"""Whoever has such rows has the engine: nothing is said without it."""

CALLS = {call.__name__: call for call in (package, readme, *LIBRARIES, *ENGINES)}

if __name__ == "__main__":
    CALLS[sys.argv[1]](*sys.argv[2:])
