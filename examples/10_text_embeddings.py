"""
Does a language model's embedding know the gender?
==================================================

Yes, perfectly, where a text says *she* or *he*. Equal means of the two groups hide it from linear
models in texts with the wordings of the training data. In other wordings they still find it,
because *she*, *her* and *his* are several directions. Matched distributions hide it from non-linear
models, too, and equal means *within each wording* hide it in new wordings as well. **First names
and typical occupations still reveal the gender.**

The embedding is real and works offline: ``wordllama`` (``pip install wordllama``) has 256 numbers
per token, distilled from large language models, and a text is the average of its tokens. In a model
with attention, a pronoun changes its neighbours, too, which is harder.
"""

# %%
# Texts that differ in the gender only
# ------------------------------------
# Short profiles of 80 occupations in 16 wordings, **each written twice**, once with *she* and once
# with *he*. So the two groups differ in the gender, not in the occupation.
from itertools import product
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import wordllama
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from fairpca import FairPCA
from fairpca.erasers import LEACE, MeanProjection
from fairpca_paper.methods import INLP

JOBS = """nurse surgeon midwife dentist pharmacist paramedic therapist optician caregiver
radiologist teacher professor librarian tutor principal lecturer nanny coach headmaster researcher
carpenter plumber electrician welder mechanic roofer bricklayer painter locksmith tailor accountant
secretary receptionist auditor clerk economist banker bookkeeper manager cashier programmer hacker
administrator developer engineer analyst tester architect technician designer singer dancer actor
novelist poet sculptor violinist photographer composer ballerina lawyer judge detective prosecutor
soldier notary guard sheriff officer firefighter cook baker farmer butcher waiter gardener brewer
fisher bartender shepherd"""
TOWNS = "Lisbon Leeds Boston Nairobi Lyon Osaka Lima Turin Graz Denver Cork Ghent"
HOBBIES = """chess jazz sailing cooking football knitting history cinema hiking poetry cars yoga
cats dogs running opera fishing painting travel cycling gardening politics theatre swimming comics
astronomy fashion tennis pottery birds maths boxing flowers music camping baking rugby singing
robots skiing dancing hockey museums wine trains volunteering"""
OCCUPATIONS, CITIES, INTERESTS = (words.split() for words in (JOBS, TOWNS, HOBBIES))
WORDINGS = """{S} is {a_job} from {city}.
{S} has been {a_job} for years, and {p} friends count on {o}.
My neighbour in {city} is {a_job}; everybody likes {o}.
{S} lives in {city} with {p} dog and works as {a_job}.
As {a_job}, {s} earns enough for {p} hobbies.
The {job} told us about {p} youth in {city}.
When {s} is not at home in {city}, {s} works as {a_job}.
People in {city} recommend {o}: an excellent {job}.
{S} wanted to become {a_job} when {s} was a child in {city}.
{P} colleagues call {o} the best {job} in {city}.
{S} retired last year as {a_job} and enjoys {p} garden.
Looking for {a_job} in {city}? Ask {o}.
{S} moved to {city} to work as {a_job}, and {p} sister followed {o}.
Nobody in {city} expected the {job} to win, but {s} kept {p} nerve.
{P} days as {a_job} in {city} begin early.
They hired {o} as {a_job}, because {s} had good references.""".splitlines()
PRONOUNS = {
    "she": {"S": "She", "s": "she", "o": "her", "p": "her", "P": "Her"},
    "he": {"S": "He", "s": "he", "o": "him", "p": "his", "P": "His"},
}


def with_article(job):
    return f"an {job}" if job[0] in "aeiou" else f"a {job}"


def profile(wording, job, words, rng):
    interests = ", ".join(rng.choice(INTERESTS, 3, replace=False))
    said = wording.format(
        job=job, a_job=with_article(job), city=rng.choice(CITIES), **words
    )
    return f"{said} Interests: {interests}."


rows = []
for (j, job), (w, wording) in product(enumerate(OCCUPATIONS), enumerate(WORDINGS)):
    for gender, words in PRONOUNS.items():
        same_dice = np.random.default_rng([j, w])
        rows.append((profile(wording, job, words, same_dice), gender, job, f"{w:02}"))
texts, gender, job, wording = (np.array(column) for column in zip(*rows, strict=True))
print(f"{len(texts):,} texts, such as\n  {texts[0]}\n  {texts[1]}")

# %%
# Weights and tokenizer are in the package's folder. If it is named, the loader needs no network.
folder = Path(wordllama.__file__).parent
llama = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)


def embed(texts):
    return llama.embed(list(texts)).astype(float)


X = embed(texts)
# Every second occupation and every second wording is for fitting, the others are held out.
old_job = np.isin(job, OCCUPATIONS[::2])
old_wording = np.isin(wording, np.unique(wording)[::2])
fitted, new_jobs = old_job & old_wording, ~old_job & old_wording
new_wordings, all_new = old_job & ~old_wording, ~old_job & ~old_wording
print(f"embedded: {X.shape}; maps are fitted to {fitted.sum()} texts")

# %%
# What gender looks like
# ----------------------
# The difference between the means of *she* and *he* is a direction. Occupations have a place on it
# without any pronoun: the model has learned stereotypes.
K = 100
she_mean, he_mean = (X[fitted & (gender == g)].mean(axis=0) for g in ("she", "he"))
direction = (she_mean - he_mean) / np.linalg.norm(she_mean - he_mean)
place = llama.embed(OCCUPATIONS, norm=True) @ direction
ends = np.argsort(place)[[*range(7), *range(-7, 0)]]
plain = PCA(K).fit(X[fitted])
fair = FairPCA(K, criterion="equalized_odds")
fair.fit(X[fitted], wording[fitted], sensitive_features=gender[fitted])

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
colours = ["C0" if x > 0 else "C1" for x in place[ends]]
axes.barh([OCCUPATIONS[i] for i in ends], place[ends], color=colours)
axes.set_title(
    "Occupations on the direction of the pronouns", loc="left", weight="bold"
)
axes.set_xlabel("he  ←  cosine  →  she")
axes.tick_params(axis="y", length=0)
plt.show()

# %%
# The two components that show gender most, for texts with new occupations and new wordings:
he = (gender[all_new] == "he").astype(int)
figure, panels = plt.subplots(1, 2, figsize=(6.4, 3.3), layout="constrained")
for axes, name, model in zip(
    panels, ("Plain PCA", "Fair PCA"), (plain, fair), strict=True
):
    T = model.transform(X[all_new])
    telling = np.argsort([-abs(np.corrcoef(column, he)[0, 1]) for column in T.T])[:2]
    for group, label in enumerate(["she", "he"]):
        rows = T[he == group][:, telling]
        axes.scatter(
            *rows.T, s=5, alpha=0.5, linewidth=0, color=f"C{group}", label=label
        )
    axes.set_title(name, loc="left", weight="bold")
    axes.set(xlabel=f"component {telling[0] + 1}", ylabel=f"component {telling[1] + 1}")
panels[0].legend(markerscale=3)
plt.show()
# sphinx_gallery_thumbnail_number = 2

# %%
# Which models can still find it?
# -------------------------------
# Two probes, a linear one and a kernel machine, are cross-validated on held-out texts, always with
# new occupations; once with the wordings of the fit, once with new ones.
#
# ``FairPCA`` reduces to 100 components, with equal means or with matched distributions.
# ``MeanProjection`` and ``LEACE`` keep all 256, and ``INLP`` drops 16 directions. All these know
# the gender only. The last two rows know the wording, too. ``criterion="equalized_odds"`` equalises
# means within each class of ``y``, here the wording. For LEACE, a numeric attribute per wording
# does the same: +1/2 for *she*, -1/2 for *he*, 0 in other wordings.
LINEAR, KERNEL = LogisticRegression(C=100, max_iter=3000), SVC(C=10)
signed = np.where(gender == "she", 0.5, -0.5)[:, None]
within = signed * (wording[:, None] == np.unique(wording[fitted]))


def predicted(probe, T, z, groups=None):
    shuffled = StratifiedKFold(4, shuffle=True, random_state=0)
    how = {"cv": shuffled if groups is None else GroupKFold(4), "scoring": "roc_auc"}
    return cross_val_score(probe, T, z, groups=groups, **how).mean()


def occupation_found(transform):
    model = LINEAR.fit(transform(X[fitted]), job[fitted])
    return model.score(transform(X[new_wordings]), job[new_wordings])


def measure(transform):
    numbers = {("", "k"): transform(X[:1]).shape[1]}
    for texts_of, mask in {"same wordings": new_jobs, "new wordings": all_new}.items():
        T, z = transform(X[mask]), gender[mask] == "she"
        numbers[texts_of, "linear"] = predicted(LINEAR, T, z, job[mask])
        numbers[texts_of, "kernel"] = predicted(KERNEL, T, z, job[mask])
    return numbers | {("task", "job"): occupation_found(transform)}


known = {"sensitive_features": gender[fitted]}
in_wordings = {"sensitive_features": within[fitted]}
matched, MATCHED = (
    FairPCA(K, match="distributions", random_state=0),
    "FairPCA, distributions",
)
LEACE_WITHIN, FAIR_WITHIN = "LEACE within wordings", "FairPCA within wordings"
maps = {
    "as given": lambda rows: rows,
    "PCA": plain.transform,
    "MeanProjection": MeanProjection().fit(X[fitted], **known).transform,
    "LEACE": LEACE().fit(X[fitted], **known).transform,
    "INLP": INLP(256 - 16, keep="variance").fit(X[fitted], **known).transform,
    "FairPCA": FairPCA(K).fit(X[fitted], **known).transform,
    MATCHED: matched.fit(X[fitted], **known).transform,
    LEACE_WITHIN: LEACE().fit(X[fitted], **in_wordings).transform,
    FAIR_WITHIN: fair.transform,
}
table = pd.DataFrame({name: measure(transform) for name, transform in maps.items()}).T
print("AUC for predicting gender (0.50 is chance); share of 40 occupations predicted")
print(table.round(2).astype({("", "k"): int}).to_string())

# %%
figure, panels = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True, layout="constrained")
lines = np.arange(len(table))
for axes, texts_of in zip(panels, ("same wordings", "new wordings"), strict=True):
    axes.axvline(0.5, color="0.85", linewidth=6, zorder=0)
    for probe, colour, marker, up in (
        ("linear", "0.13", "o", 0.12),
        ("kernel", "C4", "^", -0.12),
    ):
        aucs, label = table[texts_of, probe], f"{probe} probe"
        axes.plot(aucs, lines - up, marker, color=colour, markersize=7, label=label)
    axes.set_title(f"New occupations, {texts_of}", loc="left", weight="bold")
    axes.set(xlabel="AUC for predicting gender", xlim=(0.45, 1.03), yticks=lines)
    axes.tick_params(axis="y", length=0)
panels[0].set_yticklabels(table.index)
panels[0].invert_yaxis()
panels[0].legend(loc="lower right")
plt.show()

# %%
# With one direction removed, the linear probe is at chance where wordings are known, and finds the
# gender again where they are new. The kernel probe always finds it, unless distributions are
# matched: then it finds nothing, and the linear probe little in new wordings. With equal means
# within wordings, neither finds it, in new wordings too: the directions of the pronouns are removed
# one by one, and in an average of tokens nothing else shows them. With attention, expect less, and
# measure. Occupations are predicted as before.
#
# Neighbours
# ----------
# The nearest texts by cosine, with the mean subtracted. Before, neighbours have the same gender.
# After, the two versions of a text are the same point.
plain_texts = [f"{s} is {with_article(o)}." for o in OCCUPATIONS for s in ("She", "He")]
short = embed(plain_texts)
for query in ("She is a nurse.", "He is a programmer."):
    for name in ("as given", FAIR_WITHIN):
        T = maps[name](short) - maps[name](short).mean(axis=0)
        cosine = T @ T[plain_texts.index(query)] / np.linalg.norm(T, axis=1)
        nearest = np.argsort(-cosine, kind="stable")[:5]
        others = [plain_texts[i].rstrip(".") for i in nearest]
        print(f"{query[:-1]}, {name}:\n   ", "; ".join(others[1:]))

# %%
# What is not removed
# -------------------
# *Names.* The maps were fitted to pronouns only. In texts with names, a probe that has seen the
# names in other texts predicts their gender:
NAMES = {
    "she": "Mary Anna Sofia Fatima Linda Olga Grace Julia Carmen Yuki Emma Sarah Laura Nina",
    "he": "John Peter Omar Carlos David Ivan Frank Thomas Hans Kenji James Paul Mark Pedro",
}
rng = np.random.default_rng(0)
named = [
    (profile(WORDINGS[0], rng.choice(OCCUPATIONS), {"S": name}, rng), g)
    for g, names in NAMES.items()
    for name in names.split()
    for _ in range(25)
]
named_texts, named_gender = (np.array(column) for column in zip(*named, strict=True))
names = embed(named_texts)
for name in ("as given", LEACE_WITHIN, FAIR_WITHIN):
    auc = predicted(LINEAR, maps[name](names), named_gender == "she")
    print(f"names, {name:24} AUC {auc:.2f}")

# %%
# *Stereotypes.* Let the half of the occupations nearer
# to *she* in the first picture be 85 % women and the other half 15 %, with each person once. Then
# the occupation is a proxy for the gender. If such people are in the training data, as one more
# class of ``y``, the mean *occupation* of women and men becomes equal, too. That leaves less, but
# not nothing.
mostly_women = np.isin(job[::2], np.array(OCCUPATIONS)[place > np.median(place)])
she = rng.random(len(X) // 2) < np.where(mostly_women, 0.85, 0.15)
met = np.repeat(she, 2) == (gender == "she")  # of the two versions of a text, one
pairs, new = np.flatnonzero(old_wording), np.flatnonzero(met & ~old_wording)
people = pairs[met[pairs]]
everything = np.append(pairs, people)
kinds = np.append(wording[pairs], np.full(len(people), "people"))
versions = {"nothing": X[new]}
for name, rows in {"pairs": pairs, "pairs and people": everything}.items():
    model = FairPCA(128, criterion="equalized_odds")
    model.fit(X[rows], kinds[: len(rows)], sensitive_features=gender[rows])
    versions[name] = model.transform(X[new])
for name, T in versions.items():
    aucs = (predicted(probe, T, gender[new] == "she") for probe in (LINEAR, KERNEL))
    print(
        f"fitted to {name:17}", *(f"AUC {auc:.2f}" for auc in aucs), "(linear, kernel)"
    )

# %%
# What to take away
# -----------------
# - An embedding contains what its texts say, and stereotypes that they do not say.
# - Fit to texts like those that come later, in all their wordings. Test on held-out wordings and
#   occupations, with a non-linear probe, too. One direction is not "the gender".
# - Pairs of texts remove the word only. Texts of real people also remove part of what goes with it,
#   such as occupations. Decide which of the two you want.
#
# Where this goes in a pipeline: :doc:`/howto/language_models`. What the alternatives guarantee:
# :doc:`/research/baselines`.
