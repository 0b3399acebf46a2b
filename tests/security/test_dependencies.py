"""The audit of dependencies says what it found, and above all what it did not look at."""

import json
import sys
from pathlib import Path

ROOT = str(Path(__file__).parents[2])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

from fuzz.dependencies import HOLES, collected, let_in, oldest_versions, read_answer  # noqa: E402  # noqa: E402
from fuzz.licences import Package, brought_by, extras  # noqa: E402


def test_no_extra_brings_a_licence_that_asks_for_more_than_credit():
    packages, users, _ = collected()
    assert {p.name: p.licence for p in packages if p.verdict != "fine"} == {}
    assert users["numpy"] == ["fairpca itself"]
    assert "safetensors" in users


def test_extras_of_developers_are_not_asked_of_users():
    assert "" in extras()
    assert not {"dev", "test", "lint"} & set(extras())
    assert "pytest" not in brought_by("audit")[0]


def test_oldest_versions_are_those_of_the_project():
    oldest = oldest_versions()
    assert "fairpca" not in oldest
    assert {hole.library for hole in HOLES} <= set(oldest)
    assert set(let_in()) <= set(HOLES)
    assert not [hole for hole in let_in() if hole.library == "pyarrow"]


def test_licences_are_judged():
    verdicts = {
        text: Package("x", "1", text).verdict for text in ("MIT", "GPLv3", "LICENSE", "MPL")
    }
    assert verdicts["MIT"] == verdicts["MPL"] == "fine"
    assert verdicts["GPLv3"].startswith("copyleft")
    assert verdicts["LICENSE"].startswith("unknown")


def test_packages_that_nobody_knows_were_not_checked():
    unknown = {"name": "numpy", "skip_reason": "Dependency not found"}
    assert read_answer(json.dumps({"dependencies": [unknown]}))[:2] == ({}, 0)
    assert read_answer("", "Traceback\nConnectionError: no") == ({}, 0, "ConnectionError: no")
    known = {"name": "scipy", "version": "1.0", "vulns": []}
    bad = {"name": "joblib", "version": "0.1", "vulns": [{"id": "CVE-1"}, {"id": "CVE-2"}]}
    found, checked, why = read_answer(json.dumps({"dependencies": [unknown, known, bad]}))
    assert found == {"joblib 0.1": "CVE-1, CVE-2"}
    assert checked == 2
    assert why.startswith("1 ")
