"""How well do probes predict the group on held-out rows, and how well the target?

Run ``python -m benchmarks.fair_pls --data DIR``; ten to fifteen minutes on two cores (``--quick``:
one split of the small sets). DIR holds adult/, bank/, german/, compas/ and fairface/. Half of the
rows fits, a quarter trains the probes, a quarter tests them; nothing is chosen on either quarter.
"""

import os
import time
from argparse import ArgumentParser
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from PIL import Image
from rich.progress import track
from sklearn.base import BaseEstimator, clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from threadpoolctl import threadpool_limits

from fairpca import FairKernelPCA, FairPCA, FairPLS
from fairpca.datasets import load_loanapp
from fairpca.erasers import LEACE
from fairpca.errors import InfeasibleError
from fairpca.metrics import certified_gap, selection_rate_difference
from fairpca_paper.datasets import load_adult, load_bank, load_compas, load_german

SPLITS = {"adult": 6, "bank": 6, "german": 30, "loanapp": 30, "compas": 30, "fairface": 3}
SPLITS |= {"adult, two": 6, "adult, hours": 6}
WITH_PENALTIES = list(SPLITS)[:6]
QUICK = {"german": 1, "loanapp": 1, "compas": 1}
TITLES = {
    "adult": "Adult: sex",
    "bank": "Bank Marketing: age",
    "german": "German Credit: sex",
    "loanapp": "Boston mortgages: race",
    "compas": "COMPAS: race",
    "fairface": "Face pixels: gender",
    "adult, two": "Adult: sex and race at once",
    "adult, hours": "Adult: sex (hours of work)",
}
COLUMNS = ["Adult", "Bank", "German", "mortgages", "COMPAS", "faces", "both", "hours"]
SEED = 100  # of the first split: the defaults were chosen on others
MATCHES = ("means", "covariances", "distributions")
DISTRIBUTION_PENALTIES = (30.0, 300.0, 3_000.0, 30_000.0)
SPREAD_PENALTIES = (0.1, 0.3, 3.0, 10.0)
KEYS = ["dataset", "target", "attribute", "method", "setting"]
HEADLINE = "One column made for the target reveals little else"
DETAIL = "Held-out rows. Across: AUC for the group (0.5 is chance). Up: AUC for the target{}."
# Colours of Okabe and Ito, marker, filled, and how a method is called.
STYLES = {
    "features": ("#000000", "X", True, "all features"),
    "PCA": ("#666666", "s", True, "PCA (10 columns)"),
    "PLS": ("#D55E00", "P", True, "PLS (1 column)"),
    "LEACE": ("#CC79A7", "^", True, "LEACE (all columns)"),
    "FairKernelPCA": ("#56B4E9", "v", True, "FairKernelPCA (10)"),
    "FairPCA": ("#E69F00", "o", True, "FairPCA (10)"),
    "FairPCA, covariances": ("#E69F00", "D", False, "FairPCA, covariances"),
    "FairPLS, means": ("#009E73", "o", False, "FairPLS, means"),
    "FairPLS, covariances": ("#009E73", "D", False, "FairPLS, covariances"),
    "FairPLS, distributions": ("#009E73", "*", True, "FairPLS, distributions"),
    "FairPLS rbf, means": ("#0072B2", "o", False, "FairPLS rbf, means"),
    "FairPLS rbf, covariances": ("#0072B2", "D", False, "FairPLS rbf, covariances"),
    "FairPLS rbf, distributions": ("#0072B2", "*", True, "FairPLS rbf, distributions"),
}
FEW = ["features", "PLS", "FairPCA", "FairPLS, distributions", "FairPLS rbf, distributions"]
PENALTIES = {
    "FairPLS rbf, covariances": 1.0,  # what None stands for there
    "FairPLS rbf, distributions": FairPLS().distribution_penalty,
}
SKETCH = {
    "features": "all features",
    "PLS": "PLS (1 column)",
    "FairPCA": "FairPCA (10 columns)",
    "FairPLS, distributions": "FairPLS (1 column)",
    "FairPLS rbf, distributions": "FairPLS, rbf kernel (1 column)",
}
"""The methods of the small figure, and what they are called there."""
FAINT = "#666666"
SPAN = 0.22  # of every panel, so that distances compare
People = namedtuple("People", "features target groups")
Split = namedtuple("Split", "X y groups fit train judge")


def main(data: Path, out: Path, quick: bool) -> None:
    tasks = [(name, i) for name, n in (QUICK if quick else SPLITS).items() for i in range(n)]
    work = Parallel(2, return_as="generator")(delayed(measure)(data, *task) for task in tasks)
    report(pd.concat(track(work, "Measuring", len(tasks), transient=True)), None if quick else out)


def report(measured: pd.DataFrame, out: Path | None) -> None:
    by_setting = measured.drop(columns="split").groupby(KEYS, sort=False)
    errors = by_setting[["leak", "util"]].sem().add_suffix("_error")
    means = by_setting.mean().join(errors).assign(splits=by_setting.size())
    means = means.reset_index().round(4)
    if out is not None:
        for folder in ("data", "images"):
            (out / folder).mkdir(parents=True, exist_ok=True)
        means.to_csv(out / "data" / "fair_pls.csv", index=False)
        draw(means, out / "images")
    every = tables(means) | {"means by penalty": by_penalty(means)}
    print(*(f"{name}\n\n{table}\n" for name, table in every.items()), sep="\n")


def measure(data: Path, name: str, i: int) -> pd.DataFrame:
    """Fit every method to half of the rows; judge it by probes that never saw that half."""
    people = load(data, name)
    rows = np.random.default_rng(SEED + i).permutation(len(people.target))
    fit, train, judge = np.split(rows, [len(rows) // 2, 3 * len(rows) // 4])
    prepare = make_pipeline(SimpleImputer(), StandardScaler()).fit(people.features[fit])
    X, y = prepare.transform(people.features), people.target
    split = Split(X, y, people.groups, fit, train, judge)
    found = []
    with threadpool_limits(1):
        for (method, setting), make in methods(with_penalties=name in WITH_PENALTIES):
            started = time.process_time()
            T = represented(make, split)
            seconds = time.process_time() - started
            where = {"dataset": name, "split": i, "method": method, "setting": setting}
            here = where | {"target": y.name, "columns": T.shape[1], "cpu_s": seconds}
            found += [here | numbers for numbers in judged(T, split)]
    return pd.DataFrame(found)


def load(data: Path, name: str) -> People:
    if name == "fairface":
        labels = pd.read_csv(data / name / "fairface_label_val.csv")
        labels = labels[[(data / name / file).exists() for file in labels["file"]]]
        images = (Image.open(data / name / file).convert("L") for file in labels["file"])
        pixels = [np.ravel(image.resize((20, 20), Image.Resampling.BOX)) for image in images]
        young = labels["age"].isin(["0-2", "3-9", "10-19", "20-29"])
        groups = labels[["gender"]].reset_index(drop=True)
        older = (~young).astype(int).rename("30 or older").reset_index(drop=True)
        return People(np.asarray(pixels, dtype=float), older, groups)
    loaders: dict[str, Callable[[], Any]] = {
        "adult": lambda: load_adult(data=data, sensitive=["sex"]),
        "adult, two": lambda: load_adult(data=data),
        "adult, hours": lambda: load_adult(data=data, sensitive=["sex"]),
        "bank": lambda: load_bank(data=data),
        "german": lambda: load_german(data=data, sensitive=["sex"]),
        "loanapp": lambda: load_loanapp(sensitive=["race"]),
        "compas": lambda: load_compas(data=data, sensitive=["race"]),
    }
    people = loaders[name]()
    features, target = people.numeric_features(), people.target
    if name == "adult, hours":
        target = features.pop("hours-per-week")
    return People(features.to_numpy(dtype=float), target, people.sensitive.astype(str))


Made = Callable[[int], BaseEstimator]


def methods(*, with_penalties: bool) -> Iterator[tuple[tuple[str, float], Made]]:
    """Yield name and setting (0: the default) of a method, and what makes it for k components."""
    yield ("features", 0), lambda k: FunctionTransformer()
    yield ("PCA", 0), lambda k: PCA(k, svd_solver="covariance_eigh")
    yield ("PLS", 0), lambda k: PLSRegression(1, scale=False)
    yield ("LEACE", 0), lambda k: LEACE()
    few = {"approximation": "nystroem", "random_state": 0}
    yield ("FairKernelPCA", 0), lambda k: FairKernelPCA(k, **few)
    yield ("FairPCA", 0), FairPCA
    yield ("FairPCA, covariances", 0), lambda k: FairPCA(k, match="covariances")
    for kernel, match in ((kernel, match) for kernel in (None, "rbf") for match in MATCHES):
        yield (f"FairPLS{' rbf' * bool(kernel)}, {match}", 0), pls(match=match, kernel=kernel)
    if with_penalties:
        for value in DISTRIBUTION_PENALTIES:
            yield ("FairPLS rbf, distributions", value), pls(distribution_penalty=value)
        for value in SPREAD_PENALTIES:
            strength: Any = {"match": "covariances", "covariance_penalty": value}
            yield ("FairPLS rbf, covariances", value), pls(**strength)


def pls(**options: Any) -> Made:
    return lambda k: FairPLS(**{"kernel": "rbf", "random_state": 0} | options)


def represented(make: Made, split: Split) -> np.ndarray:
    """Return all rows as a fit to half of them sees them; ten components, or the most there are."""
    X, y, groups = split.X[split.fit], split.y.iloc[split.fit], split.groups.iloc[split.fit]
    candidates = [make(k) for k in range(min(10, X.shape[1]), 0, -1)]
    if "covariance_method" in candidates[0].get_params():  # where equality has no solution at all
        nearly = {"covariance_method": "spectral"}
        candidates += [clone(method).set_params(**nearly) for method in candidates]
    unaware = isinstance(candidates[0], FunctionTransformer | PCA | PLSRegression)
    more = {} if unaware else {"sensitive_features": groups}
    for method in candidates:
        if is_number(y) and isinstance(method, FairPLS):
            method.set_params(target_kinds={y.name: "numeric"})
        with suppress(InfeasibleError), catch_warnings():
            simplefilter("ignore")
            return np.asarray(method.fit(X, y, **more).transform(split.X))
    raise InfeasibleError(f"{candidates[0]} has no solution with any number of components.")


def judged(T: np.ndarray, split: Split) -> Iterator[dict[str, Any]]:
    """Yield, for each attribute, what probes find on the last quarter."""
    (train, judge), y = (split.train, split.judge), split.y.to_numpy()
    number = is_number(split.y)
    kind = regressors() if number else classifiers()
    util = max(score(model, T, y, train, judge, number) for model in kind)
    share = 0.5 if number else y.mean()
    model = kind[0].fit(T[train], y[train])
    scores = model.predict(T[judge]) if number else model.decision_function(T[judge])
    decisions = scores > np.quantile(scores, 1 - share)
    for attribute in split.groups:
        labels = split.groups[attribute]
        z = (labels == labels.value_counts().index[0]).to_numpy(dtype=int)
        linear, trees = (score(m, T, z, train, judge, False) for m in classifiers())
        yield {
            "attribute": attribute,
            "leak": max(linear, trees),
            "linear": linear,
            "trees": trees,
            "util": util,
            "gap": selection_rate_difference(None, decisions, sensitive_features=z[judge]),
        } | certified(T, z, np.concatenate([train, judge]))


def certified(T: np.ndarray, z: np.ndarray, held_out: np.ndarray) -> dict[str, float]:
    """Bound the gap of every threshold; one column only. The fit saw neither quarter."""
    if T.shape[1] > 1:
        return {"observed": np.nan, "certified": np.nan}
    certificate = certified_gap(T[held_out, 0], z[held_out])
    return {"observed": certificate.observed, "certified": certificate.bound}


def is_number(y: pd.Series) -> bool:
    return y.nunique() > 2


TREES: Any = {"max_iter": 50, "learning_rate": 0.1, "max_leaf_nodes": 8}
"""As the probes of `fairpca.metrics.leakage` have them."""


def classifiers() -> list[Any]:
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return [linear, HistGradientBoostingClassifier(**TREES, early_stopping=False, random_state=0)]


def regressors() -> list[Any]:
    return [LinearRegression(), HistGradientBoostingRegressor(**TREES, random_state=0)]


def score(model: Any, T: np.ndarray, y: np.ndarray, train: Any, judge: Any, number: bool) -> float:
    scorer = get_scorer("r2" if number else "roc_auc")
    return float(scorer(model.fit(T[train], y[train]), T[judge], y[judge]))


def tables(means: pd.DataFrame) -> dict[str, str]:
    """Return what the page shows, in Markdown."""
    names = dict(zip(SPLITS, COLUMNS, strict=True))
    usual = means[means.setting == 0].assign(data=means.dataset.map(names))
    both = usual.dataset == "adult, two"
    usual.loc[both, "data"] = "both: " + usual.attribute
    several = both & (usual.attribute != "sex")
    usual["leak / util"] = usual.leak.map("{:.3f}".format) + "/" + usual.util.map("{:.3f}".format)
    usual["rates"] = usual.gap.map("{:.3f}".format)
    seen = usual.observed.map("{:.3f}".format) + " → " + usual.certified.map("{:.3f}".format)
    usual["certificate"] = seen
    first = ~usual.dataset.isin(["fairface", "adult, two", "adult, hours"])
    few = usual.method.isin(FEW)
    one = usual[usual.certified.notna() & ~several & few]
    return {
        "leak / util": crossed(usual[first], "leak / util"),
        "leak / util, other questions": crossed(usual[~first], "leak / util"),
        "gap of selection rates": crossed(usual[few], "rates"),
        "observed → certified": crossed(one, "certificate", "data", "method"),
    }


def by_penalty(means: pd.DataFrame) -> str:
    """Return the means over the six sets with a binary target and one attribute, by penalty."""
    some = means[means.dataset.isin(WITH_PENALTIES) & means.method.isin(list(PENALTIES))]
    by_setting = some.groupby(["method", "setting"])[["leak", "util", "gap"]].mean().reset_index()
    usual = by_setting.setting == 0
    by_setting["penalty"] = by_setting.setting.where(~usual, by_setting.method.map(PENALTIES))
    by_setting = by_setting.sort_values(["method", "penalty"])
    names = by_setting.penalty.map("{:,g}".format).where(
        ~usual, lambda name: name + ", the default"
    )
    numbers = by_setting[["leak", "util", "gap"]].map("{:.3f}".format)
    numbers.insert(0, "penalty", names)
    numbers.insert(0, "method", by_setting.method.map(lambda name: STYLES[name][3]))
    return markdown(numbers)


def crossed(cells: pd.DataFrame, what: str, rows: str = "method", columns: str = "data") -> str:
    """Return a table with a method a row and a data set a column, or the other way round."""
    cells = cells.assign(method=cells.method.map(lambda name: STYLES[name][3]))
    wide = cells.pivot_table(what, rows, columns, aggfunc="first", sort=False)
    return markdown(wide.reset_index())


def markdown(frame: pd.DataFrame) -> str:
    lines = [list(frame.columns), ["---", *["--:"] * (len(frame.columns) - 1)]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines + frame.to_numpy().tolist())


def draw(means: pd.DataFrame, folder: Path) -> None:
    """Draw all methods on eight tasks, and five of them on four."""
    everything = {method: style[3] for method, style in STYLES.items()}
    draw_panels(means, folder / "fair_pls_eight_tasks.png", list(TITLES), everything, height=6.2)
    few = ["adult", "bank", "loanapp", "compas"]
    draw_panels(means, folder / "fair_pls.png", few, SKETCH, height=3.3)


def draw_panels(
    means: pd.DataFrame, file: Path, tasks: list[str], names: dict[str, str], height: float
) -> None:
    figure = Figure(figsize=(9, height), dpi=200)
    panels = figure.subplots(len(tasks) // 4, 4, sharex=True).flat
    below = 0.23 + 0.26 * -(-len(names) // 4)
    edges = {"bottom": below / height, "top": 1 - 0.93 / height, "left": 0.05, "right": 0.985}
    figure.subplots_adjust(**edges, wspace=0.26, hspace=0.28)
    figure.text(0.012, 1 - 0.12 / height, HEADLINE, size=14, weight="bold", va="top")
    detail = DETAIL.format(" (of hours: R²)" if "adult, hours" in tasks else "")
    figure.text(0.012, 1 - 0.5 / height, detail, size=8.8, color=FAINT, va="top")
    shown = means[(means.setting == 0) & means.method.isin(list(names))]
    for panel, name in zip(panels, tasks, strict=True):
        points = shown[shown.dataset == name].groupby("method", sort=False)
        points = points.agg({"leak": "max", "util": "max"})
        for method in names:
            these = points[points.index == method]
            panel.plot("leak", "util", data=these, **look(*STYLES[method][:3]))
        panel.set_title(TITLES[name], loc="left", size=9, weight="bold")
        panel.axvline(0.5, color="#D9D9D9", zorder=0)
        panel.set(xlim=(0.48, 0.98))
        middle = (points.util.min() + points.util.max()) / 2
        panel.set(ylim=(middle - SPAN / 2, middle + SPAN / 2))
        panel.tick_params(labelsize=8, labelbottom=True)
        panel.spines[["right", "top"]].set_visible(False)
    arrow = {"arrowstyle": "->", "color": FAINT, "lw": 1.2}
    place: Any = {"xycoords": "axes fraction", "textcoords": "axes fraction", "color": FAINT}
    first = figure.axes[0]
    first.annotate("better", (0.13, 0.3), (0.2, 0.12), arrowprops=arrow, size=9, **place)
    marks = [first.plot([], [], **look(*STYLES[method][:3]))[0] for method in names]
    legend = {"loc": "lower left", "bbox_to_anchor": (0.005, 0.0), "frameon": False}
    legend |= {"ncols": 4 if len(names) > 5 else 5, "columnspacing": 1.6, "handletextpad": 0.3}
    figure.legend(marks, list(names.values()), fontsize=8.8, **legend)
    figure.savefig(file)
    Image.open(file).convert("RGB").quantize(128).save(file, optimize=True)  # a third of the size


def look(colour: str, marker: str, filled: bool) -> dict[str, Any]:
    size = {"*": 11, "o": 6.5, "D": 5.5}.get(marker, 7)
    return {
        "color": colour,
        "marker": marker,
        "linestyle": "",
        "markersize": size,
        "markerfacecolor": colour if filled else "white",
        "markeredgewidth": 0.5 if filled else 1.5,
        "markeredgecolor": "white" if filled else colour,
    }


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("FAIRPCA_DATA", "data"))
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--quick", action="store_true", help="one split of the small sets")
    main(**vars(parser.parse_args()))
