"""What the tests of models share."""

import numpy as np
import pytest

from language_models.tiny_model import trained_model


@pytest.fixture(scope="session", autouse=True)
def torch():
    return pytest.importorskip("torch", reason='torch is optional: pip install "fairpca[torch]"')


@pytest.fixture(scope="session")
def trained(torch):
    return trained_model()


@pytest.fixture
def people():
    """Return rows and groups whose means differ."""
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, 400)
    return rng.normal(size=(400, 6)) + np.outer(sex, [2.0, 1, 0, 0, 0.5, 0]) + 3.0, sex
