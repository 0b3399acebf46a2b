"""What users install with us: its licences, and holes that our oldest versions must not let in.

`make audit-dependencies` asks for all known advisories; that needs a source which can be reached.
"""

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from security.licences import PROJECT, Package, brought_by, extras

WITHOUT_HOLES = {
    "skops": "0.12",  # CVE-2025-54412: functions that are called unseen on loading
    "pyarrow": "14.0.1",  # CVE-2023-47248: code that is run on reading a table
}
"""First versions without holes through which the package could be reached. As of 2026-11 the others
are not: jinja2 < 3.1.6 (sandbox, xmlattr), pillow < 10.3 (images), onnx < 1.21 (external data)."""


def test_no_extra_brings_a_licence_that_asks_for_more_than_credit():
    packages = [package for extra in extras() for package in brought_by(extra)[0].values()]
    assert {"numpy", "safetensors"} <= {package.name for package in packages}
    assert {p.name: p.licence for p in packages if p.verdict != "fine"} == {}


def test_what_developers_need_is_not_asked_of_users():
    assert "" in extras()
    assert not {"dev", "test", "lint"} & set(extras())
    assert "pytest" not in brought_by("audit")[0]


def test_the_oldest_versions_have_no_hole_that_reaches_us():
    lines = list(PROJECT["dependencies"])
    for extra in PROJECT["optional-dependencies"].values():
        lines += extra
    for requirement in map(Requirement, lines):
        if fixed := WITHOUT_HOLES.get(canonicalize_name(requirement.name)):
            (lowest,) = requirement.specifier
            assert Version(lowest.version) >= Version(fixed), requirement


def test_licences_are_judged():
    verdicts = {
        text: Package("x", "1", text).verdict for text in ("MIT", "GPLv3", "LICENSE", "MPL")
    }
    assert verdicts["MIT"] == verdicts["MPL"] == "fine"
    assert verdicts["GPLv3"].startswith("copyleft")
    assert verdicts["LICENSE"].startswith("unknown")
