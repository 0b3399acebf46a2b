"""A release is one tag away: one version everywhere, changes that can be collected, true tables."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement
from packaging.version import Version

import dist
import fairpca
from fairpca.auditing import audit_schema
from fairpca.models import inspect_model

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, TOWNCRIER = SETTINGS["project"], SETTINGS["tool"]["towncrier"]
EXTRAS = PROJECT["optional-dependencies"]
STABILITY = (ROOT / "docs" / "reference" / "stability.md").read_text(encoding="utf-8")


def newest_release():
    """Return the version and the date of the newest heading of the changelog."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    start = TOWNCRIER["start_string"]
    assert text.count(start) == 1, "towncrier writes below this line"
    return re.match(r"\n## (\S+) \((\d{4}-\d\d-\d\d)\)\n", text.partition(start)[2]).groups()


def test_the_version_is_that_of_the_changelog_or_a_later_one_in_the_making():
    now, (released, _) = Version(fairpca.__version__), newest_release()
    assert str(now) == fairpca.__version__
    assert Version(released) < now if now.is_devrelease else Version(released) == now


def test_the_build_takes_the_version_from_the_package():
    assert PROJECT["dynamic"] == ["version"]
    assert SETTINGS["tool"]["hatch"]["version"] == {"path": "src/fairpca/__init__.py"}


def test_who_cites_the_software_cites_the_newest_release():
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    version, date = newest_release()
    assert f"version: {version}" in lines
    assert f"date-released: {date}" in lines


@pytest.mark.parametrize("page", ["README.md", "docs/start.md"])
def test_a_page_says_how_to_install_it_with_extras_that_there_are(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r'pip install "[^"\[]+\[([\w,]+)\]"', text)
    assert named
    assert {extra for names in named for extra in names.split(",")} <= EXTRAS.keys()


def faults(fragment):
    """Return what is wrong with a change fragment, in words."""
    types = [one["directory"] for one in TOWNCRIER["type"]]
    text = fragment.read_text(encoding="utf-8").strip()
    checks = {
        f"name it WORDS.TYPE.md, with a type of {', '.join(types)}": re.fullmatch(
            rf"[a-z0-9]+(-[a-z0-9]+)*\.({'|'.join(types)})\.md", fragment.name
        ),
        "write a full sentence, without heading or bullet": re.fullmatch(
            r"[^-*#\s].*[.)]", text, flags=re.DOTALL
        ),
        "one paragraph, please": "\n\n" not in text,
        "lines of at most 120 characters": all(len(line) <= 120 for line in text.splitlines()),
    }
    return [told for told, holds in checks.items() if not holds]


def test_the_change_fragments_can_be_collected():
    ours = {"README.md", Path(TOWNCRIER["template"]).name}
    found = [file for file in (ROOT / TOWNCRIER["directory"]).iterdir() if file.name not in ours]
    assert {file.name: told for file in found if (told := faults(file))} == {}


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("audit-of-weights.added.md", "`--weight` weighs rows,\nfor surveys.\n", None),
        ("weights.improved.md", "Rows may have weights.", "name it"),
        ("Weights.added.md", "Rows may have weights.", "name it"),
        ("weights.added.1.md", "Rows may have weights.", "name it"),
        ("weights.md", "Rows may have weights.", "name it"),
        ("weights.added.md", "", "sentence"),
        ("weights.added.md", "- Rows may have weights.", "sentence"),
        ("weights.added.md", "Weights", "sentence"),
        ("weights.added.md", "Weights.\n\nMore weights.", "paragraph"),
        ("weights.added.md", f"{'Weights ' * 20}.", "120"),
    ],
)
def test_a_fragment_that_cannot_be_collected_is_told(tmp_path, name, text, told):
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = faults(tmp_path / name)
    assert (len(found) == 1 and told in found[0]) if told else found == []


def test_the_page_about_fragments_names_all_types():
    text = (ROOT / "changes" / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE)
    assert named == [one["directory"] for one in TOWNCRIER["type"]]


def test_every_extra_for_users_is_tried_before_a_release():
    assert set(dist.NAMES) - {"bare"} == EXTRAS.keys()


def asked(requirements):
    """Return what is installed at least, as the table says it: "numpy 1.26", or extras."""
    for requirement in map(Requirement, requirements):
        if requirement.name == "fairpca":
            yield from (f"`{extra}`" for extra in requirement.extras)
        else:
            (lowest,) = requirement.specifier
            assert lowest.operator == ">="
            yield f"{requirement.name} {lowest.version}"


def test_the_page_says_the_oldest_versions_of_every_extra():
    rows = re.findall(r"^\| (?:`(\w+)` )?\| [^|]+ \| ([^|]+) \|$", STABILITY, flags=re.MULTILINE)
    said = {extra: set(cells.split(", ")) for extra, cells in rows if re.search(r"\d|`", cells)}
    wanted = {"": PROJECT["dependencies"], **EXTRAS}
    assert said == {name: set(asked(lines)) for name, lines in wanted.items()}


def test_the_oldest_versions_that_are_tested_are_the_oldest_that_are_allowed():
    lines = (ROOT / "tests" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    tested = dict(line.split("==") for line in lines if "==" in line)
    groups = [one for lines in SETTINGS["dependency-groups"].values() for one in lines]
    extras = [one for lines in EXTRAS.values() for one in lines]
    for line in [*PROJECT["dependencies"], *extras, *(g for g in groups if isinstance(g, str))]:
        requirement = Requirement(line)
        if requirement.name in tested:
            (lowest,) = requirement.specifier
            assert f"{tested[requirement.name]}.".startswith(f"{lowest.version}."), line


def test_the_page_says_which_versions_of_python_were_run():
    rows = re.findall(r"^\| (3\.\d+) \| (.+) \|$", STABILITY, flags=re.MULTILINE)
    assert [f"Programming Language :: Python :: {version}" for version, _ in rows] == [
        one for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)
    ]
    assert PROJECT["requires-python"] == f">={rows[0][0]}"


def test_the_page_says_the_versions_of_the_formats(tmp_path):
    schema = re.match(r"Version (\d+\.\d+)\.", audit_schema()["description"])[1]
    X, sex = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    fairpca.save(fairpca.FairPCA(1).fit(X, sensitive_features=sex), tmp_path / "a.fairpca")
    model = inspect_model(tmp_path / "a.fairpca")["format_version"]
    assert f"by its own version, {schema} today" in STABILITY
    assert f"by its own version, {model} today" in STABILITY
