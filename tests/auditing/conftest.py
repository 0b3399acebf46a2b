from dataclasses import replace

import pytest

from fairpca.auditing import _whole_audit, audit
from fairpca.auditing._splits import QUICK
from people import made_up_people

FEW = replace(QUICK, most_rounds=1, permutations=100, searched=True, common=True)
"""All methods on two splits, where the way of a number matters and not its digits."""


@pytest.fixture(scope="session")
def audited():
    """A function that makes an audit of two splits."""

    def made(*asked, **options):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_whole_audit, "QUICK", FEW)
            return audit(*asked, **({"quick": True, "n_jobs": 1} | options))

    return made


@pytest.fixture(scope="session")
def people():
    return made_up_people()


@pytest.fixture(scope="session")
def steps():
    """What the audit `found` tells while it is made."""
    return []


@pytest.fixture(scope="session")
def found(audited, people, steps):
    told = {"progress": lambda *step: steps.append(step)}
    return audited(people, ["sex", "race"], "paid", n_components=4, **told)


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
