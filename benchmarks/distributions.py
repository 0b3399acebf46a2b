"""How well attackers predict attributes on held-out rows, and what is left for other tasks.

Run ``python -m benchmarks.distributions --data DIR --out docs/data``: two hours on two cores, eight
minutes on sixteen. DIR holds adult/, bank/ and german/; ``--sentences FILE`` adds embeddings, an
.npz with X (n, d), z (n, attributes) and y (n, tasks). Half of the rows fit a representation; of
the others, at most 9,000 train and judge the attackers of ``leakage(probe="strong")`` by
cross-validation, for the attributes, and linear models and boosted trees, for tasks that no fit
has seen. Splits are none of those on which defaults were chosen.
"""

import warnings
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from fairpca import FairKernelPCA, FairPCA
from fairpca.erasers import LEACE
from fairpca.errors import InfeasibleError
from fairpca.metrics import leakage

FIRST_SPLIT = 100
JUDGED = 9_000
METHODS = ("all columns", "LEACE", "means", "covariances", "distributions", "landmarks")
COMPONENTS = {"sentences": (50, 100)}  # the others 10
FEWEST_SPLITS = {"sentences": 3}  # the others 5

Table = tuple[np.ndarray, np.ndarray, np.ndarray]


def represented(method: str, k: int, seed: int, X: np.ndarray, z: np.ndarray, rows: Any) -> Any:
    """Fit a representation to some rows and return that of all."""
    groups = {f"attribute {j}": z[rows, j] for j in range(z.shape[1])}
    made: dict[str, Any] = {
        "LEACE": LEACE(),
        "means": FairPCA(k),
        "covariances": FairPCA(k, match="covariances", covariance_tol=0.05),
        "distributions": FairPCA(k, match="distributions", random_state=seed),
        "landmarks": FairKernelPCA(
            k, match="distributions", approximation="nystroem", random_state=seed
        ),
    }
    if method == "all columns":
        return X
    return made[method].fit(X[rows], sensitive_features=groups).transform(X)


def judged(data: str, table: Table, method: str, k: int, split: int) -> dict[str, Any]:
    """Return what attackers read from held-out rows, and what is left to predict."""
    warnings.simplefilter("ignore")
    X, z, y = table
    order = np.random.default_rng(FIRST_SPLIT + split).permutation(len(X))
    fitted, others = order[: len(X) // 2], order[len(X) // 2 :][:JUDGED]
    found: dict[str, Any] = {"data": data, "k": k, "method": method, "split": split}
    with threadpool_limits(1):
        start = perf_counter()
        try:
            T = represented(method, k, split, X, z, fitted)[others]
        except InfeasibleError as reason:
            return found | {"failure": str(reason)}
        found["seconds"] = perf_counter() - start
        for j in range(z.shape[1]):
            seen = leakage(T, z[others, j], probe="strong", cv=3, n_permutations=1, random_state=0)
            found |= {f"leak {j}": seen.auc, f"by {j}": seen.attackers[0][0]}
        tasks = [
            max(
                leakage(T, task, probe=probe, cv=3, n_permutations=1, random_state=0).auc
                for probe in ("linear", "boosting")
            )
            for task in y[others].T
        ]
        found["util"] = float(np.mean(tasks))
    return found


def jobs(tables: dict[str, Table]) -> Iterator[tuple[Any, ...]]:
    """Yield what is to be judged, all data sets on one split before the next split."""
    for split in range(5):
        for data, table in tables.items():
            if split >= FEWEST_SPLITS.get(data, 5):
                continue
            for k in COMPONENTS.get(data, (10,)):
                for method in METHODS:
                    if k > 50 and method in ("all columns", "LEACE"):
                        continue  # which have no number of components
                    yield data, table, method, k, split


def shown(found: pd.DataFrame) -> str:
    """Return the table of the documentation: leak / util, means over splits."""
    done = found.dropna(subset=["util"])
    lines = ["| | " + " | ".join(METHODS) + " |", "|---" * (len(METHODS) + 1) + "|"]
    for (data, k), rows in done.groupby(["data", "k"], sort=False):
        cells = []
        for method in METHODS:
            of = rows[rows["method"] == method]
            leaks = [f"{of[c].mean():.2f}" for c in ("leak 0", "leak 1") if of[c].notna().any()]
            cells.append(f"{', '.join(leaks)} / {of['util'].mean():.2f}" if len(of) else "")
        lines.append(f"| {data}, k = {k} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def real_tables(folder: str) -> dict[str, Table]:
    """Return standardised features, attributes and targets of real tables."""
    from fairpca.datasets import load_loanapp
    from fairpca_paper.datasets import load_adult, load_bank, load_german

    loaded = {
        "adult": load_adult(data=folder, sensitive=["sex"]),
        "adult, sex and race": load_adult(data=folder),
        "bank": load_bank(data=folder, sensitive=["age_group"]),
        "german": load_german(data=folder, sensitive=["sex"]),
        "loanapp": load_loanapp(sensitive=["race", "sex"]),
    }
    tables = {}
    for name, data in loaded.items():
        sensitive = data.sensitive if name != "loanapp" else data.sensitive[["race"]]
        X = data.numeric_features() if name != "loanapp" else data.features
        X = np.asarray(X.fillna(X.mean()), dtype=float)
        X = X[:, X.std(axis=0) > 0]
        z = np.stack([pd.factorize(sensitive[c], sort=True)[0] for c in sensitive], axis=1)
        y = pd.factorize(np.asarray(data.target), sort=True)[0]
        tables[name] = ((X - X.mean(axis=0)) / X.std(axis=0), z, y[:, None])
    return tables


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder with adult/, bank/ and german/")
    parser.add_argument("--sentences", help="an .npz of embeddings: X, z, y")
    parser.add_argument("--out", required=True, help="folder of distributions.csv")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    tables = real_tables(options.data)
    if options.sentences:
        with np.load(options.sentences) as arrays:
            tables["sentences"] = (arrays["X"], arrays["z"], arrays["y"])
    done = Parallel(options.jobs, batch_size=1, verbose=10)(
        delayed(judged)(*job) for job in jobs(tables)
    )
    found = pd.DataFrame(done)
    found.to_csv(Path(options.out) / "distributions.csv", index=False, float_format="%.4f")
    print(shown(found))


if __name__ == "__main__":
    main()
