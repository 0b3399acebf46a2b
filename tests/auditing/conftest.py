import pytest

from auditing.people import made_up_people
from fairpca.auditing import audit


@pytest.fixture(scope="session")
def people():
    return made_up_people()


@pytest.fixture(scope="session")
def found(people):
    return audit(people, ["sex", "race"], "paid", quick=True, n_jobs=1, n_components=4)
