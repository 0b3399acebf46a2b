"""What `.github` says can be done: steps are commands of the Makefile, paths and versions exist.

The action of action.yml is run as GitHub runs it.

Schemas and known holes of workflows are looked for by `make lint`.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path

import pytest

from release_notes import main as notes_of_tag
from release_notes import notes_of

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))

in_a_checkout = pytest.mark.skipif(not GITHUB.exists(), reason="an sdist has no .github")


def loaded(file):
    yaml = pytest.importorskip("yaml", reason="needs PyYAML, which fairpca[dask] brings")
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def jobs():
    for file in sorted((GITHUB / "workflows").glob("*.yml")):
        for name, job in loaded(file)["jobs"].items():
            yield f"{file.name}: {name}", job


def commands(job):
    """Return what the steps of a job run, for each choice of its matrix."""
    matrix = {
        name: values
        for name, values in job.get("strategy", {}).get("matrix", {}).items()
        if name not in ("include", "exclude")
    }
    for chosen in product(*matrix.values()):
        for step in job["steps"]:
            for line in step.get("run", "").splitlines():
                for name, value in zip(matrix, chosen, strict=True):
                    line = line.replace(f"${{{{ matrix.{name} }}}}", value)
                yield line


@in_a_checkout
def test_every_step_that_runs_something_is_a_command_of_the_makefile():
    run = {(where, line) for where, job in jobs() for line in commands(job)}
    assert {line for _, line in run} >= {"make check", "make test", "make docs", "make dist"}
    others = {
        (where, line)
        for where, line in run
        if not re.fullmatch("make [a-z-]+", line) or line.removeprefix("make ") not in TARGETS
    }
    assert others == set()


@in_a_checkout
def test_hooks_of_a_commit_are_ordinary_and_pinned():
    repositories = loaded(ROOT / ".pre-commit-config.yaml")["repos"]
    assert {hook["id"] for one in repositories for hook in one["hooks"]} >= {"ruff-check", "zizmor"}
    for one in repositories:
        assert re.fullmatch(r"v\d+(\.\d+)+", one["rev"]), one["repo"]


@in_a_checkout
def test_the_core_is_tested_on_every_version_that_is_supported():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    supported = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    tested = dict(jobs())["check.yml: core"]["strategy"]["matrix"]["python"]
    assert set(supported) <= set(tested)
    assert project["requires-python"] == f">={tested[0]}"


@in_a_checkout
def test_an_action_is_named_by_its_commit_and_the_same_everywhere():
    used = {}
    for file in (*(GITHUB / "workflows").glob("*.yml"), ROOT / "action.yml"):
        for line in re.findall("uses: (.*)", file.read_text(encoding="utf-8")):
            action, commit = re.fullmatch(r"([\w./-]+)@([0-9a-f]{40} # v[\d.]+)", line).groups()
            used.setdefault(action, set()).add(commit)
    assert used
    assert {action for action, commits in used.items() if len(commits) > 1} == set()


# The action, of which other repositories run the script

DECISIONS = {"within": (41, 40), "exceeded": (60, 40), "undecided": (44, 40)}
"""How many men and women of 100 are hired."""

OPTIONS = """
--sensitive sex
--decision given name; touch pwned
--max-gap 5
"""


def run_action(folder, **inputs):
    """Run the script of the action's last step as GitHub does, and return how it ended."""
    step = loaded(ROOT / "action.yml")["runs"]["steps"][-1]
    own = {"TABLE", "POLICY", "ARGUMENTS"}
    given = {"table": "", "policy": "", "arguments": ""} | inputs
    named = {f"${{{{ inputs.{name} }}}}": value for name, value in given.items()}
    assert set(step["env"]) == own
    python = folder / "fairpca-gate" / "bin" / "python"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    (folder / "run.sh").write_text(step["run"], encoding="utf-8")
    files = {"GITHUB_STEP_SUMMARY": "summary.md", "GITHUB_OUTPUT": "output"}
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "RUNNER_TEMP": str(folder),
        **{name: str(folder / file) for name, file in files.items()},
        **{name: named[value] for name, value in step["env"].items()},
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(folder / "run.sh")]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def decided(hired):
    """Return a table of 2,000 men and 2,000 women, of whom so many of 100 are hired."""
    rows = ["sex,given name; touch pwned"]
    for sex, share in zip("mf", hired, strict=True):
        rows += [f"{sex},{int(i % 100 < share)}" for i in range(2_000)]
    return "\n".join(rows) + "\n"


@in_a_checkout
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("verdict", "status"), [("within", 0), ("exceeded", 1), ("undecided", 3), ("error", 2)]
)
def test_the_action_ends_as_the_gate_does(tmp_path, verdict, status):
    pytest.importorskip("typer", reason="needs the command line")
    table = decided(DECISIONS.get(verdict, (50, 50)))
    (tmp_path / "t.csv").write_text(table, encoding="utf-8")
    name = "none.csv" if verdict == "error" else "t.csv"
    ran = run_action(tmp_path, table=name, arguments=OPTIONS)
    assert ran.returncode == status, ran.stderr
    output = dict(
        line.split("=", 1) for line in (tmp_path / "output").read_text("utf-8").splitlines()
    )
    assert (output["verdict"], output["status"]) == (verdict, str(status))
    assert Path(output["junit"]).exists() == (tmp_path / "summary.md").exists() == (status != 2)
    assert not (tmp_path / "pwned").exists()
    assert len((ran.stdout + ran.stderr).splitlines()) == 1
    again = run_action(tmp_path, table=name, arguments=OPTIONS)
    assert again.returncode == status


@in_a_checkout
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("place", ["table", "policy", "arguments"])
@pytest.mark.parametrize("hostile", ["; touch pwned", "$(touch pwned)", "`touch pwned`", "--help"])
def test_inputs_of_the_action_are_never_run(tmp_path, place, hostile):
    pytest.importorskip("typer", reason="needs the command line")
    (tmp_path / "t.csv").write_text(decided((50, 50)), encoding="utf-8")
    inputs = {"table": "t.csv", "arguments": OPTIONS, place: hostile}
    ran = run_action(tmp_path, **inputs)
    assert not (tmp_path / "pwned").exists()
    asked = (place, hostile) == ("arguments", "--help")  # an option, as it should be
    assert ran.returncode == (0 if asked else 2)


@in_a_checkout
def test_the_action_puts_no_input_into_a_script():
    for step in loaded(ROOT / "action.yml")["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


@in_a_checkout
def test_paths_with_owners_exist():
    lines = (GITHUB / "CODEOWNERS").read_text(encoding="utf-8").splitlines()
    paths = [line.split()[0] for line in lines if line and not line.startswith("#")]
    assert paths
    assert [path for path in paths if not (ROOT / path.lstrip("/")).exists()] == []


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize(("system", "here"), [("Windows_NT", "Scripts"), ("", "bin")])
def test_programs_are_looked_for_where_the_system_keeps_them(system, here):
    command = ["make", "--dry-run", "--always-make", f"OS={system}", *sorted(TARGETS)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {"ruff", "python", "sphinx-build", "fairpca"} <= set(
        re.findall(rf"\.venv[\w-]*/{here}/([\w-]+)", told)
    )
    assert set(re.findall(r"\.venv[\w-]*/(bin|Scripts)/", told)) == {here}


CHANGELOG = """# Changelog

## Unreleased

## 0.2.0 (2027-01-02)

### Added
- One thing.

## [0.1.0] - 2026-12-01
- [The first](docs/start.md), [of](https://example.org/) all.
"""


def test_the_notes_of_a_release_are_its_section_of_the_changelog():
    assert notes_of("0.2.0", CHANGELOG) == "### Added\n- One thing."
    assert notes_of("0.1.0", CHANGELOG).startswith("- [The first]")
    assert notes_of("0.2.0.1", CHANGELOG) == notes_of("0.2", CHANGELOG) == notes_of("1.0", "") == ""


def checkout(folder, version):
    (folder / "src" / "fairpca").mkdir(parents=True, exist_ok=True)
    source = folder / "src" / "fairpca" / "__init__.py"
    source.write_text(f'__version__ = "{version}"\n', encoding="utf-8")
    (folder / "CHANGELOG.md").write_text(CHANGELOG, encoding="utf-8")
    return folder


def test_links_to_files_lead_to_those_of_the_tag(tmp_path):
    told = notes_of_tag("v0.1.0", "https://here/blob/v0.1.0/", checkout(tmp_path, "0.1.0"))
    assert told == (
        "- [The first](https://here/blob/v0.1.0/docs/start.md), [of](https://example.org/) all."
    )


def test_a_tag_that_is_not_the_version_is_not_released(tmp_path):
    assert "One thing" in notes_of_tag("v0.2.0", root=checkout(tmp_path, "0.2.0"))
    for tag in ("v0.1.0", "0.2.0", ""):
        with pytest.raises(SystemExit, match=r"version is 0\.2\.0: tag it v0\.2\.0"):
            notes_of_tag(tag, root=tmp_path)
    with pytest.raises(SystemExit, match=r"no section '## 0\.3\.0'"):
        notes_of_tag("v0.3.0", root=checkout(tmp_path, "0.3.0"))
