"""Audits of embeddings: what is found, what is shown, and what of it was reduced."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fairpca.auditing import _measures, audit
from fairpca.auditing._measures import MANY_COLUMNS, TREE_COLUMNS, _neighbours_kept, _seen_by
from fairpca.auditing._recipes import audit_again
from fairpca.auditing._representations import TrainingRows
from fairpca.auditing._splits import HeldOut
from fairpca.errors import AuditError, TableError
from fairpca.tables import TableEncoder

D = 140  # more than trees read


def made_up_embeddings(n=600, seed=0):
    """People whose embeddings lean towards their sex and towards a topic."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, size=n)
    topic = (rng.random(n) < 0.2 + 0.6 * sex).astype(int)
    latent = rng.normal(size=(n, D)) / np.sqrt(1 + np.arange(D))
    latent[:, 2] += 1.5 * sex
    latent[:, 4] += 1.5 * topic
    basis = np.linalg.qr(rng.normal(size=(D, D)))[0]
    frame = pd.DataFrame({"sex": np.where(sex, "f", "m"), "topic": np.where(topic, "law", "art")})
    return frame, (latent @ basis + 0.1).astype(np.float32)


@pytest.fixture(scope="module")
def embedded():
    return made_up_embeddings()


@pytest.fixture(scope="module")
def found(audited, embedded):
    frame, vectors = embedded
    return audited(frame, "sex", "topic", pos_label="law", vectors=vectors)


def test_vectors_beside_a_table_and_in_it_give_the_same_numbers(embedded):
    frame, vectors = embedded
    one = audit(frame, "sex", vectors=vectors, quick=True, n_jobs=1)
    other = audit(frame.assign(vectors=list(vectors)), "sex", quick=True, n_jobs=1)
    assert one.leakage == other.leakage
    assert [r.neighbours_kept for r in one.representations] == [
        r.neighbours_kept for r in other.representations
    ]
    (column,) = [c for c in one.data.columns if c.kind == "vector"]
    assert (column.name, column.role, column.n_outputs) == ("vectors", "feature", D)
    assert one.data.reading.vectors == ""
    assert other.data.reading is None


def test_the_leak_that_was_put_in_is_found_and_removed(found):
    auc = {(leak.representation, leak.probe): leak for leak in found.leakage}
    for probe in ("linear", "boosting", "kernel"):
        assert auc["raw", probe].above_chance
        assert auc["raw", probe].auc.value > 0.75
        assert auc["fair_pca", probe].auc.value < auc["raw", probe].auc.value - 0.1


def test_neighbours_are_kept_by_what_keeps_all_columns(found):
    kept = {one.key: one.neighbours_kept for one in found.representations}
    assert kept["raw"].value == 1.0
    assert kept["fair_pls"] is None
    assert 0.3 < kept["fair_pca"].value < kept["pca"].value < 1.0
    assert kept["leace"].value > kept["fair_pca"].value
    for one in filter(None, kept.values()):
        assert 0 <= one.low <= one.value <= one.high <= 1


def test_audits_without_vectors_have_no_neighbours(without_target):
    shown, _ = without_target
    assert not any(one.neighbours_kept for one in shown.representations)
    assert "Neighbours kept" not in shown.to_html()


def test_the_page_says_what_was_reduced_and_lists_no_dimension(found):
    page = found.to_html()
    (caveat,) = [one for one in found.advice.caveats if "boosted trees read" in one]
    assert f"{TREE_COLUMNS} directions of most variance" in caveat
    assert "raw or after LEACE" in caveat
    assert re.sub(r"\s+", " ", caveat) in page
    assert f"Proxies are spread over the {D} dimensions of the column vectors" in page
    assert "Neighbours kept" in page
    assert "vectors_7" not in page
    assert not any(one.weights for one in found.decision_importance)


def test_other_columns_are_proxies_beside_vectors(embedded):
    frame, vectors = embedded
    tall = frame.assign(height=170.0 + 20 * (frame["sex"] == "f") + np.arange(len(frame)) % 9)
    found = audit(tall, "sex", ignore=["topic"], vectors=vectors, quick=True, n_jobs=1)
    assert found.proxy_importance[0].column == "height"
    assert {one.column for one in found.proxy_importance} == {"height", "vectors"}
    assert "Proxies are spread" not in found.to_html()


def test_trees_read_directions_that_do_not_know_the_rows_to_measure():
    rng = np.random.default_rng(0)
    train, new = rng.normal(size=(2, 300, MANY_COLUMNS + 1))
    frame = pd.DataFrame({"age": train[:, 0], "emb": list(train)})
    encoder = TableEncoder().fit(frame)
    X = encoder.transform(frame)
    T = encoder.transform(frame.assign(age=new[:, 0], emb=list(new)))
    rows = TrainingRows(X, {}, {}, 5, 0)
    held_out = HeldOut(0, rows, T, [], [], [], None, encoder=encoder)
    seen = _seen_by("boosting", held_out, X)(T)
    assert seen.shape == (300, 1 + TREE_COLUMNS)
    np.testing.assert_array_equal(seen[:, 0], T[:, 0])  # other columns as they are
    np.testing.assert_allclose(_seen_by("boosting", held_out, X)(T[:10]), seen[:10])
    assert np.linalg.norm(seen[0] - seen[1]) < np.linalg.norm(T[0] - T[1])  # orthonormal
    few = _seen_by("boosting", held_out, X[:40])(T)
    assert 1 < few.shape[1] <= 40  # as many as there are
    for model, of in (("linear", T), ("kernel", T), ("boosting", T[:, :5])):
        assert _seen_by(model, held_out, of)(of) is of
    wide = pd.DataFrame(train).rename(columns=str)  # a table of as many columns is read as it is
    encoder = TableEncoder().fit(wide)
    assert _seen_by("boosting", replace(held_out, encoder=encoder), X)(T) is T


def test_neighbours_are_those_of_the_definition(embedded, monkeypatch):
    seen = []
    monkeypatch.setattr(
        _measures, "_neighbours_kept", lambda h, T: seen.append((h, T)) or _neighbours_kept(h, T)
    )
    frame, vectors = embedded
    audit(frame, "sex", vectors=vectors, quick=True, n_jobs=1)
    held_out, T = next(pair for pair in seen if pair[1].shape[1] < D)
    cosines = []
    for of in (held_out.X, T):
        unit = of - of.mean(axis=0)
        unit = unit / np.linalg.norm(unit, axis=1)[:, None]
        cosines.append(unit @ unit.T)
    shares = []
    for i in range(len(T)):
        nearest = [sorted(set(range(len(T))) - {i}, key=lambda j: -c[i, j])[:10] for c in cosines]
        shares.append(len(set(nearest[0]) & set(nearest[1])) / 10)
    value, error = _neighbours_kept(held_out, T)
    assert value == pytest.approx(np.mean(shares))
    assert error == pytest.approx(np.std(shares) / np.sqrt(len(shares)))
    assert _neighbours_kept(held_out, 3.0 * T) == pytest.approx((value, error))
    by_chance = 10 / (len(T) - 1)  # where all rows are alike, in whatever order
    assert _neighbours_kept(held_out, np.zeros_like(T)) == pytest.approx((by_chance, 0.0))
    assert np.isnan(_neighbours_kept(replace(held_out, encoder=None), T)).all()


def test_vectors_that_do_not_fit_stop_the_audit(embedded):
    frame, vectors = embedded
    with pytest.raises(TableError, match="599 rows, but the table has 600"):
        audit(frame, "sex", vectors=vectors[:-1])
    with pytest.raises(AuditError, match="n_components=141, but the columns give 140 numbers"):
        audit(frame, "sex", ignore=["topic"], vectors=vectors, n_components=D + 1)


def test_python_to_copy_has_the_vectors(found, embedded):
    frame, vectors = embedded
    names = {"table": frame, "frame": frame, "vectors": vectors, "new_rows": None}
    assert found.advice.command == ""  # there is no file of the vectors
    again = audit_again(found)
    assert "    vectors=vectors," in again
    compile(again, "again", "exec")
    fit = found.advice.code.split("model.save")[0]
    exec(fit, names)
    T = names["model"].transform(frame.assign(vectors=list(vectors)))
    assert len(np.asarray(T)) == len(frame)
