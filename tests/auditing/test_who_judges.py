"""The numbers of an audit are those of the public metrics on the same rows."""

from collections import defaultdict

import numpy as np
import pytest

from fairpca.auditing._asking import ask
from fairpca.auditing._measures import sampled_with_rare_groups
from fairpca.auditing._question import prepare
from fairpca.auditing._representations import fit_method
from fairpca.auditing._results import Setting
from fairpca.auditing._splits import QUICK, halves
from fairpca.metrics import PROBES, leakage

SEED = 0


@pytest.fixture(scope="module")
def held_out(people):
    """The splits of the audit `found`, encoded again."""
    question = ask(
        *(people, ["sex", "race"], "paid"),
        pos_label=None,
        ignore=(),
        n_components=4,
        effort=QUICK,
        seed=SEED,
    )
    splits = halves(question.strata, QUICK.n_rounds, np.random.default_rng(SEED))
    return [prepare(question, split) for split in splits]


@pytest.mark.parametrize("key", ["raw", "fair_pca"])
def test_leakage_gives_exactly_the_aucs_that_the_audit_prints(found, held_out, key):
    aucs = defaultdict(list)
    for split in held_out:
        T = fit_method(Setting(key), split.rows).represent(split.X)
        rng = np.random.default_rng([SEED, split.index])
        for attribute, codes in zip(["sex", "race"], split.codes[:2], strict=True):
            rows = sampled_with_rare_groups(codes, QUICK.probe_rows, rng)
            seed = int(rng.integers(2**31 - 1))  # one for all probes of an attribute
            for probe in PROBES:
                public = leakage(
                    T[rows],
                    codes[rows],
                    probe=probe,
                    cv=QUICK.folds,
                    n_permutations=QUICK.permutations,
                    random_state=seed,
                )
                aucs[attribute, probe].append(public.auc)
    printed = {
        (leak.attribute, leak.probe): leak.auc.value
        for leak in found.leakage
        if leak.representation == key
    }
    assert printed == {question: float(np.mean(values)) for question, values in aucs.items()}
