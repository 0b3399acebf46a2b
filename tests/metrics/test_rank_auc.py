"""AUC from ranks, against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from fairpca.metrics import _auc as auc_module
from fairpca.metrics._auc import _permuted_macro_auc, macro_auc


@st.composite
def tied_scores(draw):
    """Scores on a coarse grid, so that most of them are tied."""
    m = draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = rng.permutation(np.r_[np.arange(m), rng.integers(m, size=draw(st.integers(0, 20)))])
    scores = rng.integers(4, size=(len(codes), 1 if m == 2 else m)).astype(float)
    return scores, codes


def textbook_auc(scores, codes):
    if scores.shape[1] == 1:
        return roc_auc_score(codes, scores[:, 0])
    columns = enumerate(scores.T)
    return np.mean([roc_auc_score(codes == level, column) for level, column in columns])


@given(tied_scores())
def test_ranks_agree_with_scikit_learn_also_with_ties(rows):
    scores, codes = rows
    assert macro_auc(scores, codes[None])[0] == pytest.approx(textbook_auc(scores, codes))


@given(tied_scores())
def test_each_relabelling_is_scored_by_itself(rows):
    scores, codes = rows
    labellings = np.array([codes, codes[::-1], np.roll(codes, 1)])
    expected = [textbook_auc(scores, labels) for labels in labellings]
    assert macro_auc(scores, labellings) == pytest.approx(np.array(expected))


def test_permutations_centre_on_one_half_with_the_exact_variance():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], [30, 20])
    aucs = _permuted_macro_auc(rng.normal(size=(50, 1)), codes, 20_000, rng)
    # Mann & Whitney (1947): without ties the variance is (n + 1) / (12 n0 n1).
    assert aucs.mean() == pytest.approx(0.5, abs=0.003)
    assert aucs.var() == pytest.approx(51 / (12 * 30 * 20), rel=0.05)


def test_permutations_come_in_blocks_but_in_the_number_asked_for(monkeypatch):
    monkeypatch.setattr(auc_module, "_BLOCK_ENTRIES", 30)
    codes = np.array([0, 1] * 5)
    aucs = _permuted_macro_auc(np.arange(10.0)[:, None], codes, 17, np.random.default_rng(0))
    assert aucs.shape == (17,)
    assert ((aucs >= 0) & (aucs <= 1)).all()
