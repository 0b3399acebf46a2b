import pytest

from fairpca.auditing import audit
from people import made_up_people


@pytest.fixture(scope="session")
def people():
    return made_up_people()


@pytest.fixture(scope="session")
def found(people):
    return audit(people, ["sex", "race"], "paid", quick=True, n_jobs=1, n_components=4)


@pytest.fixture(scope="session")
def without_target(people):
    """An audit of a few columns, and the steps that it told."""
    steps = []
    table = people[["sex", "height", "town", "luck"]]
    found = audit(table, "sex", quick=True, n_jobs=1, progress=lambda *step: steps.append(step))
    return found, steps


@pytest.fixture(scope="session")
def of_one_column(people):
    return audit(people[["sex", "height"]], "sex", quick=True, n_jobs=1)
