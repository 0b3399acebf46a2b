"""How well do non-linear models predict the group on held-out rows, for the variance kept?

Run ``python -m benchmarks.covariance_frontier --data DIR --out docs``; a quarter of an hour on two
cores. DIR holds lee2022/ and fairface/. Probes learn from the training rows ("boosting", "svm",
"mlp") or, cross-validated, from other held-out rows ("fresh"): these the fit has never seen.
"""

import os
from argparse import ArgumentParser
from collections import namedtuple
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from PIL import Image
from rich.progress import track
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from fairpca import FairPCA
from fairpca.datasets import load_loanapp
from fairpca.errors import InfeasibleError
from fairpca.metrics import covariance_gap, explained_variance_ratio, leakage
from fairpca.moments import collect_moments
from fairpca_paper.metrics import median_bandwidth, squared_mmd

SPLITS = {"adult": 4, "german": 4, "compas": 4, "loanapp": 4, "fairface": 3, "synthetic": 4}
COMPONENTS = {"compas": 2, "synthetic": 5}  # the others 10
DIRECTIONS = (1.0, 0.97, 0.93, 0.85, 0.7, 0.5)
PENALTIES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 6.0, 20.0)
OURS = "exact, penalty"
PUBLISHED = {"fpca": "FPCA", "mbfpca": "MbF-PCA"}
MLP = MLPClassifier((32,), alpha=1.0, learning_rate_init=0.01, max_iter=300, random_state=0)
PROBES = {
    "boosting": GradientBoostingClassifier(random_state=0),
    "svm": make_pipeline(StandardScaler(), SVC(random_state=0)),
    "mlp": make_pipeline(StandardScaler(), MLP),
}
KEYS = ["dataset", "k", "method", "setting"]
TITLES = ["Adult: sex", "German Credit: age", "COMPAS: race"]
TITLES += ["Boston mortgages: race", "Face pixels: gender", "Two Gaussians: group"]
HEADLINE = "At equal variance, a penalty leaks less than leaving out directions"
DETAIL = "Held-out AUC of boosted trees for the group: 0.5 is chance; lower right is better"
# Colours of Okabe and Ito, marker, line width, and a label with its panel and place.
STYLES = {
    "exact, directions": ("#56B4E9", ".", 1, "equal covariances, directions", 3, (2, 0.79)),
    "spectral, directions": ("#E69F00", ".", 1.5, "Fair PCA-S, directions", 3, (2, 0.93)),
    "spectral, penalty": ("#009E73", ".", 1.5, "Fair PCA-S, penalty", 3, (2, 0.86)),
    OURS: ("#0072B2", ".", 1.5, "equal covariances, penalty\n(ring: the default)", 3, (2, 0.67)),
    "FPCA": ("#D55E00", "s", 0, "FPCA", 0, (70, 0.79)),
    "MbF-PCA": ("#CC79A7", "^", 0, "MbF-PCA", 0, (36, 0.7)),
    "fair PCA": ("#000000", "o", 0, "fair PCA", 0, (75, 0.92)),
}
FAINT = "#666666"
Split = namedtuple("Split", "X z X_test z_test published")


def main(data: Path, out: Path) -> None:
    tasks = [(name, i) for name, n in SPLITS.items() for i in range(n)]
    work = Parallel(2, return_as="generator")(delayed(measure)(data, *task) for task in tasks)
    report(pd.concat(track(work, "Measuring", len(tasks), transient=True)), out)


def report(measured: pd.DataFrame, out: Path) -> None:
    by_setting = measured.drop(columns="split").groupby(KEYS, sort=False)
    means = by_setting.mean().assign(splits=by_setting.size()).reset_index()
    for folder in ("data", "images"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    means.round(4).to_csv(out / "data" / "covariance_frontier.csv", index=False)
    draw(means, out / "images" / "covariance_frontier.png")
    for probe in ("boosting", "svm", "mlp", "fresh boosting", "fresh svm"):
        print(f"\nAUC of {probe} at equal variance kept; ours: {OURS}")
        print(at_equal_variance(measured, probe).to_string(index=False, float_format="%.3f"))


def measure(data: Path, name: str, i: int) -> pd.DataFrame:
    """Fit every setting to one split, and judge it by the rows that were held out."""
    k = COMPONENTS.get(name, 10)
    split, where = load(data, name, k, i), {"dataset": name, "k": k, "split": i}
    with threadpool_limits(1):
        bandwidth = median_bandwidth(PCA(k).fit_transform(split.X))
        return pd.DataFrame(where | h | judge(split, U, bandwidth) for h, U in bases(split, k))


def load(data: Path, name: str, k: int, i: int) -> Split:
    if name == "loanapp":
        loans = load_loanapp(sensitive=["race", "sex"])
        return held_out_third(loans.features, loans.sensitive["race"] == "white", i)
    if name == "fairface":
        labels = pd.read_csv(data / name / "fairface_label_val.csv")
        labels = labels[[(data / name / file).exists() for file in labels["file"]]]
        images = (Image.open(data / name / file).convert("L") for file in labels["file"])
        pixels = [np.ravel(image.resize((20, 20), Image.Resampling.BOX)) for image in images]
        return held_out_third(pixels, labels["gender"] == "Male", i)
    arrays = np.load(data / "lee2022" / f"{'synthetic2_d20' if name == 'synthetic' else name}.npz")
    if name == "synthetic":
        published = {"fpca_0": arrays[f"fpca_{i}"]}
    else:
        stored = np.load(data / "lee2022" / f"{name}_loadings.npz")
        names = [f.split("/")[0] for f in stored if f.startswith(f"{k}_") and f.endswith(f"/{i}")]
        published = {name.split("_", 1)[1]: stored[f"{name}/{i}"] for name in names}
    train, test = arrays[f"train_{i}"], arrays[f"test_{i}"]
    return Split(train[:, :-2], train[:, -1], test[:, :-2], test[:, -1], published)


def held_out_third(X: list | pd.DataFrame, z: pd.Series, i: int) -> Split:
    X, z = np.asarray(X, dtype=float), z.to_numpy(dtype=int)
    splits = StratifiedShuffleSplit(10, test_size=1 / 3, random_state=0)
    train, test = list(splits.split(X, z))[i]
    scale = make_pipeline(SimpleImputer(), StandardScaler()).fit(X[train])
    return Split(scale.transform(X[train]), z[train], scale.transform(X[test]), z[test], {})


def bases(split: Split, k: int) -> Iterator[tuple[dict, np.ndarray]]:
    """Yield method and setting, and orthonormal columns, of every fit that has a solution."""
    moments = collect_moments(split.X, split.z, with_scatters=True)
    yield {"method": "fair PCA", "setting": 0.0}, FairPCA(k).fit_moments(moments).components_.T
    options = [("directions", d) for d in DIRECTIONS] + [("penalty", p) for p in PENALTIES]
    for method, (option, value) in product(("spectral", "exact"), options):
        fair = FairPCA(k, match="covariances", covariance_method=method)
        fair.set_params(covariance_directions=1.0, covariance_penalty=0.0)
        fair.set_params(**{f"covariance_{option}": value})
        with suppress(InfeasibleError):
            U = fair.fit_moments(moments).components_.T
            yield {"method": f"{method}, {option}", "setting": value}, U
    for name, loadings in split.published.items():
        method, setting = name.split("_")
        yield {"method": PUBLISHED[method], "setting": float(setting)}, np.linalg.qr(loadings)[0]


def judge(split: Split, U: np.ndarray, bandwidth: float) -> dict[str, float]:
    T, T_test, z_test = split.X @ U, split.X_test @ U, split.z_test
    judged = {"variance": explained_variance_ratio(split.X_test, U.T)}
    for name, probe in PROBES.items():
        judged[name] = get_scorer("roc_auc")(probe.fit(T, split.z), T_test, z_test)
    for name, probe in (("boosting", "boosting"), ("svm", PROBES["svm"])):
        fresh = leakage(T_test, z_test, probe=probe, n_permutations=1, random_state=0)
        judged[f"fresh {name}"] = fresh.auc
    judged["squared mmd"] = squared_mmd(T_test, z_test, bandwidth=bandwidth)
    return judged | {"covariance gap": covariance_gap(T_test, z_test)}


def at_equal_variance(measured: pd.DataFrame, probe: str) -> pd.DataFrame:
    """Compare with ours at the same variance (or our least); without those that keep more."""
    pairs = []
    for _, results in measured.groupby(["dataset", "split"], sort=False):
        family = results[results.method == OURS].sort_values("variance")
        others = results[~results.method.str.startswith("exact")].rename(columns={probe: "theirs"})
        ours = np.interp(others.variance, family.variance, family[probe], right=np.nan)
        pairs.append(others[[*KEYS, "variance", "theirs"]].assign(ours=ours))
    pairs = pd.concat(pairs).assign(difference=lambda p: p.ours - p.theirs).dropna()
    by_setting = pairs.groupby(KEYS, sort=False)
    table = by_setting.mean().assign(error=by_setting.difference.sem(), splits=by_setting.size())
    clear = [table.difference < -3 * table.error, table.difference > 3 * table.error]
    return table.assign(ours_is=np.select(clear, ["better", "worse"], "same")).reset_index()


def draw(means: pd.DataFrame, file: Path) -> None:
    figure = Figure(figsize=(8, 5.4), dpi=200)
    panels = figure.subplots(2, 3, sharex=True, sharey=True).flat
    figure.subplots_adjust(left=0.05, right=0.985, bottom=0.09, top=0.83, wspace=0.08, hspace=0.2)
    figure.text(0.012, 0.98, HEADLINE, size=14, weight="bold", va="top")
    figure.text(0.012, 0.92, DETAIL, size=9.5, color=FAINT, va="top")
    figure.text(0.985, 0.012, "variance kept, % of that of fair PCA", color=FAINT, ha="right")
    shown = means[(means.splits == means.dataset.map(SPLITS)) & (means.setting <= 6)]
    for number, (panel, name, title) in enumerate(zip(panels, SPLITS, TITLES, strict=True)):
        points = shown[shown.dataset == name].set_index("method")
        points["kept"] = 100 * points.variance / points.variance["fair PCA"]
        for method, (colour, marker, width, label, where, place) in STYLES.items():
            these = points[points.index == method]
            style = {"color": colour, "marker": marker, "markersize": 5, "linewidth": width}
            panel.plot("kept", "boosting", data=these, **style)
            panel.text(*place, label * (number == where), color=colour, size=8.5, linespacing=1)
        default = points[(points.index == OURS) & (points.setting == 0.5)]
        panel.plot("kept", "boosting", "o", data=default, ms=8, mfc="none", mec=STYLES[OURS][0])
        panel.set_title(title, loc="left", size=9.5, weight="bold")
        panel.set(xlim=(0, 105), ylim=(0.45, 1.0))
        panel.spines[["right", "top"]].set_visible(False)
    figure.savefig(file)
    Image.open(file).convert("RGB").quantize(128).save(file, optimize=True)  # a third of the size


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("FAIRPCA_DATA", "data"))
    parser.add_argument("--out", type=Path, default=Path("docs"))
    main(**vars(parser.parse_args()))
