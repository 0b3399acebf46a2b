"""Simulated populations in which the truth of an audit's numbers is known: bias and coverage.

``python tests/auditing/coverage.py --draws 100 --jobs 16`` prints the table of
docs/explanation/measuring.md, and with ``--given`` that of gaps split by factors. For each table
that is drawn from a population, the audit is made, and then what it estimates is computed: the
model that the audit describes is fitted to *all* rows of the table, and judged on 100,000 new
people.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, parallel_config
from sklearn.metrics import roc_auc_score

import fairpca
from fairpca.auditing import _whole_audit
from fairpca.auditing._measures import fitted_model
from fairpca.auditing._representations import METHODS, TrainingRows, fit_method
from fairpca.auditing._results import Setting
from fairpca.auditing._splits import FULL, QUICK, HeldOut
from fairpca.metrics import (
    PROBES,
    explained_difference,
    fit_probe,
    level_scores,
    make_probe,
    mean_auc,
    select_top,
)
from fairpca.tables import TableEncoder

MEASURED = ("raw", "fair_pca", "fair_pls")
LIMIT = 0.05
PARTS = ("difference", "explained", "unexplained")


@dataclass(frozen=True)
class Population:
    """People with eight features, a group of some share, rare groups, and an outcome."""

    name: str
    n: int
    share: float = 0.3  # of the smaller group
    effect: float = 0.6  # of the group on features, in deviations
    rate: float = 0.3  # of the outcome
    rare: float = 0.0  # share of each of four rare groups of a second attribute
    numeric: bool = False
    quick: bool = True
    max_rows: int | None = None
    given: str = ""  # a legitimate factor: a feature, or xjob
    jobs: float = 0.0  # of the group on the share of people with the better job

    def people(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        """Draw people: columns x0 to x7, g and perhaps r, and the outcome y."""
        g = rng.random(n) < self.share
        r = rng.choice(5, p=[1 - 4 * self.rare, *[self.rare] * 4], size=n)
        if self.rare:
            g = np.where(r > 0, rng.random(n) < 0.9, g)  # rare groups are nearly all of one group
        X = rng.normal(size=(n, 8))
        X[:, :3] += self.effect * g[:, None]
        X[:, 3] *= np.where(g, 1.3, 1.0)
        X[:, 4] += 0.4 * (r > 0)
        drive = X[:, 0] + 0.7 * X[:, 4] + 0.5 * X[:, 5] * (X[:, 6] > 0) - 0.4 * X[:, 3]
        job = rng.random(n) < 0.4 - self.jobs * g if self.given == "xjob" else np.zeros(n)
        drive = drive + 1.2 * job
        noise = rng.normal(size=n) if self.numeric else rng.logistic(size=n)
        frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(8)])
        frame["g"] = np.where(g, "b", "a")
        if self.rare:
            frame["r"] = np.array(["most", "p", "q", "s", "t"])[r]
        y = drive + noise
        if self.given == "xjob":
            frame["xjob"] = np.where(job, "clerk", "other")
        if self.given and not self.numeric:
            decided = drive + rng.logistic(size=n)
            frame["d"] = np.where(decided > self._threshold(), "yes", "no")
        frame["y"] = y if self.numeric else np.where(y > self._threshold(), "yes", "no")
        return frame

    def _threshold(self) -> float:
        if self.numeric:
            return 0.0
        known = _THRESHOLDS.get(self.name)
        if known is None:
            _THRESHOLDS[self.name] = 0.0
            rng = np.random.default_rng(99)
            frame = replace(self, numeric=True, name="?")
            y = frame.people(400_000, rng)["y"].to_numpy() + rng.logistic(size=400_000) * 0.9
            _THRESHOLDS[self.name] = known = float(np.quantile(y, 1 - self.rate))
        return known

    @property
    def attributes(self) -> list[str]:
        return ["g", "r"] if self.rare else ["g"]


_THRESHOLDS: dict[str, float] = {}


def truth(population: Population, table: pd.DataFrame, seed: int) -> dict[tuple[str, ...], float]:
    """Return what the models fitted to all rows of a table come to among new people."""
    new = population.people(100_000, np.random.default_rng([seed, 7]))
    features = [c for c in table if c.startswith("x")]
    encoder = TableEncoder().fit(table[features])
    y, y_new = (f["y"].to_numpy() for f in (table, new))
    if not population.numeric:
        y, y_new = y == "yes", y_new == "yes"
    effort = QUICK if population.quick else FULL
    rows = TrainingRows(
        encoder.transform(table[features]),
        {a: table[a].to_numpy() for a in population.attributes},
        dict.fromkeys(population.attributes, "categorical"),
        6,
        0,
        y,
        "y",
        "number" if population.numeric else "binary",
    )
    held_out = HeldOut(0, rows, np.empty((0, 8)), [], [], [], None, float(np.mean(y)))
    X_new, found = encoder.transform(new[features]), {}
    effort = type(effort)(**{**vars(effort), "train_rows": 10**9})
    for method in MEASURED:
        represented = fit_method(Setting(method), rows)
        T, T_new = represented.represent(rows.X), represented.represent(X_new)
        for model in PROBES:
            scores = fitted_model(model, held_out, T, effort)(T_new)[:, 0]
            decided = scores if population.numeric else select_top(scores, float(np.mean(y)))
            unit = y_new.std() if population.numeric else 1.0
            if population.numeric:
                utility = 1 - np.mean((y_new - scores) ** 2) / np.var(y_new)
            else:
                utility = roc_auc_score(y_new, scores)
            found[method, model, "utility"] = float(utility)
            for attribute in population.attributes:
                found[method, model, attribute, "leakage"] = leaked(
                    population, model, T_new, new[attribute], effort, seed
                )
                means = pd.Series(decided.astype(float) / unit).groupby(new[attribute]).mean()
                found[method, model, attribute, "gap"] = float(np.ptp(means))
                if not population.numeric:
                    found[method, model, attribute, "ratio"] = float(means.min() / means.max())
                for label, rate in means.items():
                    found[method, model, attribute, f"rate {label}"] = float(rate * unit)
            if population.given:
                found |= parts((method, model), decided / unit, new, population)
    if "d" in new:
        found |= parts(("decision:d", "existing_model"), new["d"] == "yes", new, population)
    return found


def parts(key, decided, new, population):
    """Return what a factor explains of the difference of b from a, and what it does not."""
    found = explained_difference(
        None,
        np.asarray(decided),
        sensitive_features=new["g"],
        given=new[population.given],
        between=("a", "b"),
    )
    sign = 1.0 if found.groups == ("b", "a") else -1.0
    return {(*key, "g", part): sign * getattr(found, part) for part in PARTS}


def leaked(population, probe, T, labels, effort, seed):
    """Return what a probe reads that learns from as many new people as it does in the audit."""
    codes = np.unique(labels, return_inverse=True)[1]
    n = min(population.n, population.max_rows or effort.max_rows) // 2
    n = int(min(n, effort.probe_rows) * (1 - 1 / effort.folds))
    rng, aucs = np.random.default_rng(seed), []
    for _ in range(3):
        order = rng.permutation(len(T))
        train, test = order[:n], order[n : n + 20_000]
        model = make_probe(probe, int(codes.max()) + 1)
        fit_probe(model, T[train], codes[train])
        aucs.append(mean_auc(level_scores(model, T[test]), codes[test], np.ones(len(test)))[0])
    return float(np.mean(aucs))


def audited(population: Population, table: pd.DataFrame, seed: int) -> dict[tuple[str, ...], tuple]:
    """Return value, low and high of the audit's numbers."""
    with (
        mock.patch.object(_whole_audit, "METHODS", {m: METHODS[m] for m in MEASURED}),
        mock.patch.object(_whole_audit, "PROJECTIONS", ("fair_pca",)),
    ):
        audit = fairpca.audit(
            table,
            population.attributes,
            "y",
            quick=population.quick,
            n_components=6,
            max_rows=population.max_rows,
            decisions=["d"] if "d" in table else (),
            given=population.given,
            n_jobs=1,
            seed=seed,
        )
    found = {
        (one.representation, one.probe, one.attribute, "leakage"): astuple(one.auc)
        for one in audit.leakage
    }
    for one in audit.downstream:
        e = one.utility
        found[one.representation, one.model, "utility"] = (e.value, e.low, e.high)
        for parity in one.parities:
            if parity.attribute not in population.attributes or parity.gap is None:
                continue
            key = one.representation, one.model, parity.attribute
            for name, e in (("gap", parity.gap), ("ratio", parity.ratio)):
                if e is not None:
                    found[(*key, name)] = (e.value, e.low, e.high)
            for group in parity.groups:
                e = group.mean_score if population.numeric else group.selection_rate
                if e is not None:
                    found[(*key, f"rate {group.label}")] = (e.value, e.low, e.high)
            for part in PARTS if parity.explained else ():
                e = getattr(parity.explained, part)
                turned = parity.explained.higher == "a"
                ends = (-e.value, -e.high, -e.low) if turned else (e.value, e.low, e.high)
                found[(*key, part)] = ends
    return found


def one_table(population: Population, seed: int) -> list[tuple]:
    """Return (method, number, value, low, high, true) of one table, the worst model beside each."""
    warnings.simplefilter("ignore")
    table = population.people(population.n, np.random.default_rng([seed, 3]))
    said, true = audited(population, table, seed), truth(population, table, seed)
    rows = []
    for key, (value, low, high) in said.items():
        if key in true:
            kind = key[-1].split(" ")[0]
            rows.append((key[0], key[1], kind, value, low, high, true[key]))
    for method in MEASURED:  # what the first screen shows: the worst gap, the best utility
        gaps = [k for k in said if k[0] == method and k[-1] == "gap"]
        ends = np.max([said[k] for k in gaps], axis=0)
        rows.append((method, "worst", "gap", *ends, max(true[k] for k in gaps)))
        best = max(
            (k for k in said if k[0] == method and k[-1] == "utility"), key=lambda k: said[k]
        )
        rows.append((method, "best", "utility", *said[best], true[best]))
    return rows


POPULATIONS = [
    Population("500 people", 500),
    Population("1,500, a group of 12 %", 1_500, share=0.12),
    Population("1,500, no effect", 1_500, effect=0.0),
    Population("1,500, a number", 1_500, share=0.12, numeric=True),
    Population("1,500, a group of 12 %, full audit", 1_500, share=0.12, quick=False),
    Population("4,000, an outcome of 3 %", 4_000, rate=0.03),
    Population("15,000 of which 5,000 drawn, rare groups", 15_000, rare=0.015, max_rows=5_000),
    Population("60,000 of which 20,000 drawn, an outcome of 2 %", 60_000, rate=0.02),
]


GIVEN = [
    Population("1,500, all explained", 1_500, effect=0.0, given="xjob", jobs=0.3),
    Population("1,500, nothing explained", 1_500, given="xjob"),
    Population("1,500, both", 1_500, given="xjob", jobs=0.3),
    Population("1,500, both, continuous target", 1_500, given="xjob", jobs=0.3, numeric=True),
    Population("4,000, both, a number as factor", 4_000, given="x0"),
]


def summary(name: str, rows: list[tuple]) -> pd.DataFrame:
    frame = pd.DataFrame(
        rows, columns=["method", "model", "number", "value", "low", "high", "true"]
    )
    frame["covered"] = (frame["low"] <= frame["true"]) & (frame["true"] <= frame["high"])
    frame["bias"] = frame["value"] - frame["true"]
    frame["within"] = frame["high"] <= LIMIT
    frame["exceeded"] = frame["low"] > LIMIT
    gap = frame["number"] == "gap"
    frame["wrong within"] = np.where(gap & frame["within"], frame["true"] > LIMIT, np.nan)
    frame["wrong exceeded"] = np.where(gap & frame["exceeded"], frame["true"] <= LIMIT, np.nan)
    made = frame.groupby(["method", "model", "number"], sort=False).agg(
        n=("covered", "size"),
        true=("true", "mean"),
        value=("value", "mean"),
        bias=("bias", "mean"),
        half=("high", "mean"),
        covered=("covered", "mean"),
        within=("within", "sum"),
        wrong_within=("wrong within", "sum"),
        exceeded=("exceeded", "sum"),
        wrong_exceeded=("wrong exceeded", "sum"),
    )
    made.insert(0, "population", name)
    return made.reset_index()


def markdown(whole: pd.DataFrame) -> str:
    """Return the table of the documentation: a row for each population, and one of all."""
    lines = [
        "| people | tables | gap, all columns | gap, fair PLS | rates | ratio | AUC, R² | leak |",
        "|---|--:|---|---|--:|--:|--:|--:|",
    ]
    for people, found in [*whole.groupby("population", sort=False), ("all", whole)]:
        n = int(found["n"][(found["model"] == "worst") & (found["number"] == "gap")].sum() / 3)
        gaps = []
        for method in ("raw", "fair_pls"):
            one = found[(found["method"] == method) & (found["model"] == "worst")]
            one = one[one["number"] == "gap"]
            near = (
                ""
                if people == "all"
                else f"{one['true'].iloc[0]:.3f}, {one['bias'].iloc[0]:+.3f}, "
            )
            gaps.append(f"{near}{covered(one)}")
        others = [
            covered(found[(found["number"] == number) & found["model"].isin(models)])
            for number, models in (
                ("rate", PROBES),
                ("ratio", PROBES),
                ("utility", ["best"]),
                ("leakage", ["worst"]),
            )
        ]
        lines.append(f"| {people} | {n} | {' | '.join([*gaps, *others])} |")
    return "\n".join(lines) + "\n"


def markdown_of_parts(whole: pd.DataFrame) -> str:
    """Return the table of split gaps: the mean truth, and coverage of both parts."""
    kinds = ["decision:d", *MEASURED]
    lines = [
        "| people | tables | existing decisions | all columns | fair PCA | fair PLS |",
        "|---|--:|---|---|---|---|",
    ]
    for people, found in [*whole.groupby("population", sort=False), ("all", whole)]:
        cells = []
        for kind in kinds:
            told = []
            for part in PARTS[1:]:
                one = found[(found["method"] == kind) & (found["number"] == part)]
                near = "" if people == "all" or one.empty else f"{one['true'].mean():+.3f}: "
                told.append(f"{near}{covered(one)}")
            cells.append(", ".join(told))
        n = int(found["n"][(found["method"] == "raw") & (found["number"] == "explained")].sum() / 3)
        lines.append(f"| {people} | {n} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def covered(found: pd.DataFrame) -> str:
    """Return the share of intervals that have the truth, in words."""
    if found.empty:
        return "–"
    return f"{100 * np.average(found['covered'], weights=found['n']):.0f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int, nargs="*")
    parser.add_argument("--given", action="store_true", help="gaps split by a factor")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args()
    tables = []
    drawn_from = GIVEN if given.given else POPULATIONS
    chosen = drawn_from if given.only is None else [drawn_from[i] for i in given.only]
    jobs = [(one, seed) for one in chosen for seed in range(given.draws)]
    with parallel_config("loky", inner_max_num_threads=1):
        results = Parallel(given.jobs, batch_size=1)(delayed(one_table)(*job) for job in jobs)
    for population in chosen:
        rows = [
            row
            for (one, _), found in zip(jobs, results, strict=True)
            if one is population
            for row in found
        ]
        tables.append(summary(population.name, rows))
    whole = pd.concat(tables)
    if given.json:
        given.json.write_text(json.dumps(whole.to_dict("records"), indent=1))
    if given.markdown:
        given.markdown.write_text((markdown_of_parts if given.given else markdown)(whole))
    with pd.option_context(
        "display.width", 200, "display.max_rows", None, "display.max_columns", None
    ):
        sys.stdout.write(whole.round(3).to_string() + "\n")


if __name__ == "__main__":
    main()
