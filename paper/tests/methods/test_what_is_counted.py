"""The number of directions that go, in place of the number of components that stay."""

import re

import numpy as np
import pytest

from fairpca.errors import InfeasibleError, UsageError
from fairpca_paper.methods import INLP, RLACE

METHODS = [INLP(random_state=3), RLACE(random_state=3, max_iter=1001)]


def people(d=6):
    rng = np.random.default_rng(0)
    z = rng.choice(["f", "m"], 300)
    return rng.normal(size=(300, d)) + np.outer(z == "m", np.linspace(2, 0, d)), z


@pytest.mark.filterwarnings("ignore")  # of what the classifiers still see, or no longer do
@pytest.mark.parametrize("removed", [1, 2, 5])
@pytest.mark.parametrize("method", METHODS, ids=["INLP", "RLACE"])
def test_what_goes_and_what_stays_are_all_directions(method, removed):
    X, z = people()
    T = [
        type(method)(**{**method.get_params(), name: count}).fit_transform(X, sensitive_features=z)
        for name, count in {"n_removed": removed, "n_components": 6 - removed}.items()
    ]
    assert T[0].shape == (300, 6 - removed)
    np.testing.assert_array_equal(*T)


@pytest.mark.parametrize("method", METHODS, ids=["INLP", "RLACE"])
@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({"n_removed": 2, "n_components": 4}, UsageError, "both say how many directions stay"),
        ({"n_removed": 0}, UsageError, "n_removed=0 cannot be used. Use an integer >= 1"),
        ({"n_removed": 1.5}, UsageError, "n_removed=1.5 cannot be used"),
        ({"n_removed": 6}, InfeasibleError, "n_removed=6 is too large.* Use n_removed <= 5"),
    ],
)
def test_numbers_that_cannot_be_say_what_can(method, given, error, told):
    X, z = people()
    with pytest.raises(error, match=re.compile(told)):
        type(method)(**given).fit(X, sensitive_features=z)
