"""Measure fairpca beside fairlearn, AIF360, concept-erasure and plain PCA on loan applications.

``python examples/behind_the_docs/alternatives.py`` writes ``docs/data/alternatives.json`` and the
tables of docs/explanation/alternatives.md, which a test compares. It takes about an hour on one
core; with words, such as ``... alternatives.py LEACE PCA``, only methods with one of these words in
their names are measured, and ``... alternatives.py tables`` writes the tables alone. What is not
measured, or not installed, stays as it is in the file.

Install ``fairpca[audit]``, and for all rows ``aif360 BlackBoxAuditing torch tensorflow
concept-erasure``. Set ``OMP_NUM_THREADS=1`` where other programs run.
"""

import json
import sys
import textwrap
import warnings
from collections import namedtuple
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairpca import FairPCA, FairPLS
from fairpca.datasets import load_loanapp
from fairpca.erasers import LEACE
from fairpca.errors import InfeasibleError
from fairpca.metrics import leakage, select_top, selection_rate_difference
from fairpca.tables import TableEncoder

DOCS = Path(__file__).parents[2] / "docs"
NUMBERS, PAGE = DOCS / "data" / "alternatives.json", DOCS / "explanation" / "alternatives.md"
SEEDS = range(5)
FOLDS = 5
DRAWS = 20  # of the coins of a lottery
MODELS = {"linear": "a linear model", "boosting": "boosted trees"}
COMPONENTS = (5, 10, 15, 20, 30)
DIGITS = 5
Rows = namedtuple("Rows", "X y race")

REPRESENTED = (
    "| representation | columns | gap, linear | gap, trees | approval, linear | approval, trees "
    "| race, linear | race, trees |"
)
DECIDED = (
    "| decisions | approved, % | gap by chance | gap, linear | gap, trees "
    "| balanced accuracy, linear | balanced accuracy, trees |"
)
NEEDED = "| method | race at prediction | groups | attributes | batches |"
MEASURED = "Measured on"
ON_OURS = ("FairPCA", "FairPLS", 'FairPLS, kernel="rbf"')
LEAKED = 0.85


# Representations: functions of training rows and new rows that return both in new columns. --------


def as_they_are(rows, new):
    return rows.X, new.X


def without_proxies(rows, new, dropped):
    """Drop the columns that correlate most with a race."""
    told = np.abs(np.corrcoef(rows.X.T, dummies(rows).T)[: rows.X.shape[1], rows.X.shape[1] :])
    kept = np.sort(np.argsort(told.max(axis=1))[:-dropped])
    return rows.X[:, kept], new.X[:, kept]


def represented(make, rows, new, k=None, **setting):
    """Fit a transformer of this package to rows; `k` components, or the most that there are."""
    for fewer in (None,) if k is None else range(k, 0, -1):
        method = make(**setting) if fewer is None else make(fewer, **setting)
        try:
            known = {} if make is PCA else {"sensitive_features": rows.race}
            method.fit(rows.X, rows.y, **known)
        except InfeasibleError:
            continue
        return method.transform(rows.X), method.transform(new.X)
    raise InfeasibleError(f"{make} has no solution with {k} components or fewer.")


def correlation_remover(rows, new, alpha):
    from fairlearn.preprocessing import CorrelationRemover

    with_race, with_race_new = (np.column_stack([one.X, dummies(one)]) for one in (rows, new))
    places = list(range(rows.X.shape[1], with_race.shape[1]))
    remover = CorrelationRemover(sensitive_feature_ids=places, alpha=alpha).fit(with_race)
    return remover.transform(with_race), remover.transform(with_race_new)


def disparate_impact_remover(rows, new, repair_level, columns):
    """Repair training rows and new rows each by itself: there is no `transform`."""
    from aif360.algorithms.preprocessing import DisparateImpactRemover
    from aif360.datasets import BinaryLabelDataset

    values = np.array([len(np.unique(column)) for column in rows.X.T])
    some = np.flatnonzero(values > (10 if columns == "numbers" else 0))
    names = [f"x{i}" for i in some]

    def repaired(one):
        frame = pd.DataFrame(one.X[:, some], columns=names)
        frame = frame.assign(race=codes(one).astype(float), y=one.y.astype(float))
        table = BinaryLabelDataset(
            df=frame,
            label_names=["y"],
            protected_attribute_names=["race"],
            privileged_protected_attributes=[[2.0]],
            unprivileged_protected_attributes=[[0.0, 1.0]],
        )
        found = DisparateImpactRemover(repair_level, "race").fit_transform(table)
        X = one.X.copy()
        X[:, some] = found.features[:, [found.feature_names.index(name) for name in names]]
        return X

    return repaired(rows), repaired(new)


def learned_fair_representations(rows, new, n_prototypes, fairness_weight):
    from aif360.sklearn.preprocessing import LearnedFairRepresentations

    learned = LearnedFairRepresentations(
        "race", n_prototypes=n_prototypes, fairness_weight=fairness_weight, random_state=0
    )
    frame, frame_new = (indexed(one, one.race == "white") for one in (rows, new))
    with suppress(AttributeError):  # 0.6.1 cannot word why SciPy stopped; the fit is there by then
        learned.fit(frame, pd.Series(rows.y, index=frame.index), priv_group=True)
    return learned.transform(frame).to_numpy(), learned.transform(frame_new).to_numpy()


def leace_eraser(rows, new, **setting):
    import torch
    from concept_erasure import LeaceEraser

    X, X_new, z = (torch.tensor(part) for part in (rows.X, new.X, dummies(rows)))
    eraser = LeaceEraser.fit(X, z, **setting)
    return eraser(X).numpy(), eraser(X_new).numpy()


def quadratic_eraser(rows, new, shrinkage):
    import torch
    from concept_erasure import QuadraticEraser

    (X, z), (X_new, z_new) = ((torch.tensor(o.X), torch.tensor(codes(o))) for o in (rows, new))
    eraser = QuadraticEraser.fit(X, z, shrinkage=shrinkage)
    return eraser(X, z).numpy(), eraser(X_new, z_new).numpy()


# Methods that are a model, or wrap one: functions that return scores, or decisions (drawn). -------


def plain_model(base, rows, new):
    return {"scores": scored(made(base).fit(rows.X, rows.y), new.X)}


def reweighed(base, rows, new):
    from aif360.sklearn.preprocessing import Reweighing

    frame = indexed(rows, rows.race)
    weights = Reweighing("race").fit_transform(frame, pd.Series(rows.y, index=frame.index))[1]
    model = made(base).fit(rows.X, rows.y, sample_weight=np.asarray(weights))
    return {"scores": scored(model, new.X)}


def exponentiated_gradient(base, rows, new, difference_bound):
    """Draw decisions; errors cost what makes the base model approve as many as the lenders."""
    from fairlearn.reductions import DemographicParity, ErrorRate, ExponentiatedGradient

    t = threshold(cross_fitted(base, rows), rows)
    game = ExponentiatedGradient(
        made(base),
        DemographicParity(difference_bound=difference_bound),
        objective=ErrorRate(costs={"fp": t, "fn": 1 - t}),
    ).fit(rows.X, rows.y, sensitive_features=rows.race)
    drawn = [game.predict(new.X, random_state=seed) for seed in range(DRAWS)]
    return {"decisions": np.asarray(drawn, dtype=int)}


class Given(ClassifierMixin, BaseEstimator):
    """A model whose score is the only column."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def threshold_optimizer(base, rows, new, objective, tol):
    """Learn the thresholds from cross-fitted scores: trees are too sure of their own rows."""
    from fairlearn.postprocessing import ThresholdOptimizer

    held_out = cross_fitted(base, rows)[:, None]
    optimizer = ThresholdOptimizer(
        estimator=Given().fit(held_out, rows.y),
        objective=objective,
        tol=tol,
        prefit=True,
        predict_method="predict_proba",
    ).fit(held_out, rows.y, sensitive_features=rows.race)
    scores = scored(made(base).fit(rows.X, rows.y), new.X)[:, None]
    drawn = [
        optimizer.predict(scores, sensitive_features=new.race, random_state=seed)
        for seed in range(DRAWS)
    ]
    return {"decisions": np.asarray(drawn, dtype=int)}


def reject_option(base, rows, new, margin):
    """Decide by race where a score is within a share `margin` of what the threshold allows.

    The threshold is the one that approves as many as the lenders of the training rows.
    """
    from aif360.sklearn.postprocessing import RejectOptionClassifier

    scores = [cross_fitted(base, rows), scored(made(base).fit(rows.X, rows.y), new.X)]
    frame, frame_new = (
        indexed(one._replace(X=np.column_stack([1 - s, s])), one.race == "white")
        for one, s in zip((rows, new), scores, strict=True)
    )
    y = pd.Series(rows.y, index=frame.index)
    options = [
        RejectOptionClassifier("race", threshold=t, margin=margin * min(t, 1 - t))
        for t in np.quantile(scores[0], np.linspace(0.0, 0.3, 61)[1:])
    ]
    approved = [option.fit(frame, y, priv_group=True).predict(frame).mean() for option in options]
    option = options[np.argmin(np.abs(np.array(approved) - rows.y.mean()))]
    return {"decisions": np.asarray(option.predict(frame_new), dtype=int)[None]}


def adversarial_debiasing(base, rows, new, adversary_loss_weight):
    import tensorflow.compat.v1 as tf
    from aif360.sklearn.inprocessing import AdversarialDebiasing

    tf.disable_eager_execution()
    network = AdversarialDebiasing(
        "race", adversary_loss_weight=adversary_loss_weight, random_state=0
    )
    frame = indexed(rows, rows.race)
    network.fit(frame, pd.Series(rows.y, index=frame.index))
    scores = network.decision_function(indexed(new, new.race))
    network.sess_.close()
    return {"scores": scores}


# What all of them use. ----------------------------------------------------------------------------


def codes(rows):
    return np.unique(rows.race, return_inverse=True)[1]


def dummies(rows):
    """Indicators of all races but the last."""
    return np.eye(3)[codes(rows)][:, :-1]


def indexed(rows, groups):
    """Return a frame whose index holds the attribute, as AIF360 wants it."""
    index = pd.MultiIndex.from_arrays([groups, np.arange(len(groups))], names=["race", "row"])
    return pd.DataFrame(rows.X, index=index)


def made(base):
    """Return a model as an audit has it; the columns are standardised already."""
    if base == "linear":
        return LogisticRegression(max_iter=1000)
    return HistGradientBoostingClassifier(
        max_iter=50, learning_rate=0.1, max_leaf_nodes=8, early_stopping=False, random_state=0
    )


def scored(model, X):
    return model.predict_proba(X)[:, 1]


def cross_fitted(base, rows):
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    return cross_val_predict(made(base), rows.X, rows.y, cv=folds, method="predict_proba")[:, 1]


def threshold(scores, rows):
    """Return the score above which as many are approved as the lenders approved."""
    return float(np.quantile(scores, 1 - rows.y.mean()))


@dataclass(frozen=True)
class Method:
    """A method: how it is called and run, its hyperparameters, and what it needs.

    `library` names what has to be installed, `models` the downstream models, or those it wraps.
    """

    name: str
    run: Callable
    choices: dict = field(default_factory=dict)
    library: tuple[str, ...] = ("scikit-learn",)
    models: tuple[str, ...] = tuple(MODELS)
    at_prediction: str = "no"
    groups: str = "any number"
    attributes: str = "several"
    batches: str = "no"

    @property
    def settings(self):
        return [
            dict(zip(self.choices, values, strict=True))
            for values in product(*self.choices.values())
        ]


FAIRLEARN, AIF360, ERASURE = ("fairlearn",), ("aif360",), ("concept-erasure", "torch")
OURS = ("fairpca",)
JOINT = {"attributes": "several, as joint groups"}
REPRESENTATIONS = [
    Method("all columns", as_they_are, attributes="-", groups="-", batches="yes"),
    Method(
        "columns without the strongest proxies",
        without_proxies,
        {"dropped": (1, 3, 5, 10, 20)},
        batches="yes",
    ),
    Method(
        "PCA",
        partial(represented, PCA),
        {"k": COMPONENTS},
        attributes="-",
        groups="-",
        batches="yes",
    ),
    Method(
        "fairlearn CorrelationRemover",
        correlation_remover,
        {"alpha": (0.25, 0.5, 0.75, 1.0)},
        FAIRLEARN,
        at_prediction="**yes**",
    ),
    Method(
        "AIF360 DisparateImpactRemover",
        disparate_impact_remover,
        {"repair_level": (0.5, 1.0), "columns": ("all", "numbers")},
        ("aif360", "BlackBoxAuditing"),
        at_prediction="**yes**, and all new rows at once",
        attributes="one",
    ),
    Method(
        "AIF360 LearnedFairRepresentations",
        learned_fair_representations,
        {"n_prototypes": (5, 10), "fairness_weight": (0.5, 1.0, 2.0, 5.0, 20.0, 50.0)},
        ("aif360", "torch"),
        groups="two",
        attributes="one",
    ),
    Method(
        "concept-erasure LeaceEraser",
        leace_eraser,
        {"method": ("leace", "orth"), "shrinkage": (True, False)},
        ERASURE,
        batches="yes",
    ),
    Method(
        "concept-erasure QuadraticEraser",
        quadratic_eraser,
        {"shrinkage": (True, False)},
        ERASURE,
        at_prediction="**yes**",
        attributes="one",
        batches="yes",
    ),
    Method("FairPCA", partial(represented, FairPCA), {"k": COMPONENTS}, OURS, batches="yes"),
    Method(
        "FairPCA, covariances",
        partial(represented, partial(FairPCA, match="covariances", covariance_tol=0.05)),
        {"k": (3, 5, 10, 15)},
        OURS,
        batches="yes",
    ),
    Method(
        "FairPLS",
        partial(represented, FairPLS),
        {"distribution_penalty": (10.0, 100.0, 1000.0, 10000.0)},
        OURS,
        batches="files; no `partial_fit`",
    ),
    Method(
        'FairPLS, kernel="rbf"',
        partial(represented, partial(FairPLS, kernel="rbf", random_state=0)),
        {"distribution_penalty": (10.0, 100.0, 1000.0, 10000.0)},
        OURS,
        batches="files; no `partial_fit`",
    ),
]
CLASSIFIERS = [
    Method("a model of all columns", plain_model),
    Method(
        "AIF360 Reweighing",
        reweighed,
        {},
        AIF360,
        **JOINT,
    ),
    Method(
        "fairlearn ExponentiatedGradient",
        exponentiated_gradient,
        {"difference_bound": (0.001, 0.01, 0.02, 0.05)},
        FAIRLEARN,
        **JOINT,
    ),
    *(
        Method(
            f"fairlearn ThresholdOptimizer, {objective}",
            partial(threshold_optimizer, objective=f"{objective.replace(' ', '_')}_score"),
            {"tol": (None, 0.02, 0.05)},
            FAIRLEARN,
            at_prediction="**yes**",
            **JOINT,
        )
        for objective in ("accuracy", "balanced accuracy")
    ),
    Method(
        "AIF360 RejectOptionClassifier",
        reject_option,
        {"margin": (0.1, 0.25, 0.5, 0.75, 1.0)},
        AIF360,
        at_prediction="**yes**",
        groups="two",
        attributes="one",
    ),
    Method(
        "AIF360 AdversarialDebiasing",
        adversarial_debiasing,
        {"adversary_loss_weight": (0.05, 0.1, 0.15, 0.2, 0.3, 0.5)},
        ("aif360", "tensorflow"),
        models=("network",),
        **JOINT,
    ),
]


# Measuring. ---------------------------------------------------------------------------------------


def halves(seed):
    """Return a training half and a new half, in columns that the former has standardised."""
    loans = load_loanapp(sensitive=["race", "sex"])
    race, y = loans.sensitive["race"].astype(str).to_numpy(), loans.target.to_numpy()
    half, other = train_test_split(
        np.arange(len(y)), test_size=0.5, random_state=seed, stratify=joint(y, race)
    )
    encoder = TableEncoder().fit(loans.features.iloc[half])
    return [
        Rows(encoder.transform(loans.features.iloc[part]), y[part], race[part])
        for part in (half, other)
    ]


def joint(y, race):
    return np.char.add(y.astype(str), race)


def at(rows, places):
    return Rows(*(part[places] for part in rows))


def ran(method, base, rows, new, setting):
    """Return what one model says of new rows, and their columns where a method has made some."""
    if method not in REPRESENTATIONS:
        return method.run(base, rows, new, **setting), None
    T, T_new = method.run(rows, new, **setting)
    model = make_pipeline(StandardScaler(), made(base)) if base == "linear" else made(base)
    return {"scores": scored(model.fit(T, rows.y), T_new)}, T_new


def decided(said, rows):
    """Return decisions, a row a draw: of scores, as many as the lenders approved."""
    if "decisions" in said:
        return said["decisions"]
    return select_top(said["scores"], rows.y.mean()).astype(int)[None]


def judged(decisions, new):
    """Return gap and balanced accuracy, means over the draws."""
    return {
        "gap": np.mean(
            [selection_rate_difference(None, one, sensitive_features=new.race) for one in decisions]
        ),
        "balanced": np.mean([balanced_accuracy_score(new.y, one) for one in decisions]),
    }


def validated(method, base, rows, seed, setting):
    """Cross-validate inside the training half; return the use less the gap, which is chosen by."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    aucs, approved = [], []
    for inner, outer in folds.split(rows.X, joint(rows.y, rows.race)):
        fit, new = at(rows, inner), at(rows, outer)
        said = ran(method, base, fit, new, setting)[0]
        approved.append((outer, decided(said, fit)))
        if "scores" in said:
            aucs.append(roc_auc_score(new.y, said["scores"]))
    places = np.concatenate([outer for outer, _ in approved])
    found = judged(np.concatenate([one for _, one in approved], axis=1), at(rows, places))
    return (np.mean(aucs) if aucs else found["balanced"]) - found["gap"]


def measure(method, seed):
    """Choose options for each model, fit and judge in one split; return plain numbers."""
    rows, new = halves(seed)
    found = {"seed": seed}
    for base in method.models:
        setting, *others = method.settings
        if others:
            setting = max(method.settings, key=partial(validated, method, base, rows, seed))
        said, T_new = ran(method, base, rows, new, setting)
        decisions = decided(said, rows)
        found[base] = {"setting": setting, **judged(decisions, new), "approved": decisions.mean()}
        if "scores" in said:
            found[base]["auc"] = roc_auc_score(new.y, said["scores"])
        if T_new is not None:
            read = leakage(T_new, new.race, probe=base, n_permutations=1, random_state=0)
            found[base] |= {"columns": T_new.shape[1], "race": read.auc}
        else:
            rng = np.random.default_rng(seed)
            at_random = [rng.permutation(decisions[0]) for _ in range(200)]
            found[base]["chance"] = judged(at_random, new)["gap"]
    return found


def chance():
    """Return what chance does: gap and AUCs of race where race is drawn at random."""
    gaps, aucs, sizes = [], [], []
    for seed in SEEDS:
        rows, new = halves(seed)
        rng = np.random.default_rng(seed)
        for _ in range(200):
            drawn = select_top(rng.random(len(new.y)), rows.y.mean())
            gaps.append(
                selection_rate_difference(None, drawn.astype(int), sensitive_features=new.race)
            )
        aucs.append(leakage(new.X, new.race, random_state=seed).chance_interval[1])
        sizes.append(int(np.bincount(codes(new)).min()))
    return {"gap": np.mean(gaps), "auc": np.mean(aucs), "smallest": min(sizes)}


def leace_difference():
    """Return the largest difference between our LEACE and theirs without its regularisation."""
    differences = []
    for seed in SEEDS:
        rows, new = halves(seed)
        plain = {"shrinkage": False, "constrain_cov_trace": False}
        theirs = leace_eraser(rows, new, svd_tol=1e-6, **plain)[1]
        ours = represented(LEACE, rows, new)[1]
        differences.append(np.abs(theirs - ours).max())
    return max(differences)


def lacking(names):
    """Return which libraries are not installed."""
    absent = []
    for name in names:
        try:
            version(name)
        except PackageNotFoundError:
            absent.append(name)
    return [name for name in absent if name != "fairpca"]


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return round(float(value), DIGITS) if isinstance(value, float | np.floating) else value


def main(*words):
    numbers = json.loads(NUMBERS.read_text(encoding="utf-8")) if NUMBERS.exists() else {}
    methods = numbers.setdefault("methods", {})
    for method in [] if words == ("tables",) else [*REPRESENTATIONS, *CLASSIFIERS]:
        if words and not any(word in method.name for word in words):
            continue
        if lacking(method.library):
            print(f"{method.name}: not installed ({', '.join(lacking(method.library))})")
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [measure(method, seed) for seed in SEEDS]
        libraries = [name for name in method.library if name != "fairpca"]
        methods[method.name] = rounded(
            {
                "measured": datetime.now(UTC).date().isoformat(),
                "versions": {name: version(name) for name in [*libraries, "scikit-learn"]},
                "splits": found,
            }
        )
        print(method.name, json.dumps(mean(methods[method.name])), flush=True)
        if method.name == "all columns":
            numbers["chance"] = rounded(chance())
        if method.name == "concept-erasure LeaceEraser":
            numbers["leace_difference"] = float(f"{leace_difference():.1e}")
        write(numbers)
    write(numbers)
    if PAGE.exists():
        text = PAGE.read_text(encoding="utf-8")
        for part in parts(numbers):
            first = MEASURED if part.startswith(MEASURED) else part[: part.index("|", 1) + 1]
            start = text.index(f"\n{first}") + 1
            text = text[:start] + part + text[text.index("\n\n", start) :]
        PAGE.write_text(text, encoding="utf-8")


def write(numbers):
    known = [method.name for method in [*REPRESENTATIONS, *CLASSIFIERS]]
    numbers["made_by"] = "examples/behind_the_docs/alternatives.py"
    found = numbers["methods"]
    in_order = {name: found[name] for name in known if name in found}
    text = json.dumps(numbers | {"methods": in_order}, indent=1)
    NUMBERS.write_text(text + "\n", encoding="utf-8")


# The page. ----------------------------------------------------------------------------------------


def mean(one):
    """Return the means over the splits of a method, by model and name of the number."""
    splits = one["splits"]
    models = [name for name in splits[0] if name != "seed"]
    names = {base: [name for name in splits[0][base] if name != "setting"] for base in models}
    return {
        base: rounded({name: np.mean([s[base][name] for s in splits]) for name in names[base]})
        for base in models
    }


def parts(numbers):
    """Return the paragraphs of the page that are made of numbers."""
    return [representations(numbers), classifiers(numbers), facts(), how_measured(numbers)]


def representations(numbers):
    rows = []
    for method in REPRESENTATIONS:
        one = numbers["methods"][method.name]
        found = mean(one)
        columns = [split[base]["columns"] for split in one["splits"] for base in MODELS]
        cells = [span(columns)]
        for what in ("gap", "auc", "race"):
            cells += [cell(found[base], what) for base in MODELS]
        rows.append([method.name, *cells])
    return table(REPRESENTED, len(MODELS) * 3 + 1, rows)


def classifiers(numbers):
    """Return the table of methods that are a model, and of three columns of ours below a model."""
    ours = [method for method in REPRESENTATIONS if method.name in ON_OURS]
    rows = []
    for method in [*CLASSIFIERS, *ours]:
        found = mean(numbers["methods"][method.name])
        name = method.name if method in CLASSIFIERS else f"a model on {method.name}"
        approved = span([round(100 * one["approved"]) for one in found.values()])
        usual = numbers["chance"]["gap"]
        by_chance = max(one.get("chance", usual) for one in found.values())
        cells = [approved, cell({"gap": by_chance}, "gap")]
        for what in ("gap", "balanced"):
            cells += [cell(one, what) for one in found.values()] + ["-"] * (2 - len(found))
        rows.append([name, *cells])
    return table(DECIDED, 6, rows)


def facts():
    """Return what methods need and take, those of one class in one row; not PCA, or less."""
    rows = {
        one.name.partition(",")[0]: [
            one.at_prediction,
            one.groups,
            one.attributes,
            one.batches,
        ]
        for one in [*REPRESENTATIONS[3:], *CLASSIFIERS[1:]]
    }
    return table(NEEDED, 0, [[name, *row] for name, row in rows.items()])


def cell(found, what):
    """Return percentage points of a gap, or an AUC; in bold, an AUC for race that is a leak."""
    if what == "gap":
        return f"{100 * found[what]:.1f}"
    text = f"{found[what]:.2f}"
    return f"**{text}**" if what == "race" and found[what] > LEAKED else text


def span(values):
    return "–".join(dict.fromkeys(str(end) for end in (min(values), max(values))))


def table(head, right, rows):
    """Return Markdown; the last `right` columns, but never the first, are numbers."""
    width = head.count("|") - 1
    lines = [head, "|" + "---|" * (width - right) + "--:|" * right]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def how_measured(numbers):
    every = numbers["methods"].values()
    days = sorted({one["measured"] for one in every})
    versions = {name: number for one in every for name, number in one["versions"].items()}
    errors = {
        what: max(
            np.std([split[base][what] for split in one["splits"]], ddof=1) / len(SEEDS) ** 0.5
            for one in every
            for base in mean(one)
            if what in one["splits"][0][base]
        )
        for what in ("gap", "auc", "race")
    }
    words = (
        f"{MEASURED} {' to '.join(dict.fromkeys((days[0], days[-1])))} with "
        f"{', '.join(f'{name} {number}' for name, number in sorted(versions.items()))}. Random "
        f"decisions have a gap of {100 * numbers['chance']['gap']:.1f}, since the smallest group "
        f"of a half has {numbers['chance']['smallest']} applicants, and chance reaches an AUC of "
        f"{numbers['chance']['auc']:.2f} for race. Standard errors of the means are at most "
        f"{100 * errors['gap']:.1f} percentage points for a gap, {errors['auc']:.2f} for approval "
        f"and {errors['race']:.2f} for race."
    )
    return textwrap.fill(words, 118, break_on_hyphens=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
