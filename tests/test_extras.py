"""An extra installs what its name needs and nothing else; a missing library names its extra."""

import ast
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.metadata import packages_distributions

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import house
from people import made_up_people
from security.licences import brought_by

PROJECT = tomllib.loads((house.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]

AUDIT = """
import sys
class Absent:
    names = set(sys.argv[1:])
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())
from fairpca.__main__ import main
sys.argv = ["fairpca", *"audit people.csv -s sex -t paid --quick --jobs 1 --json a.json".split()]
main()
"""


INSIDE_MODELS = """
import sys
import fairpca.torch
assert "torch" not in sys.modules
sys.modules["torch"] = None
for call in (fairpca.torch.as_module, lambda: fairpca.torch.scrub(None, [])):
    try:
        call()
    except ImportError as error:
        print(error)
"""


def missing_extras():
    """Return library, extra and place of each message about a missing library in our code."""
    for module, path in house.modules().items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or len(node.args) < 3:
                continue
            called = node.func.id if isinstance(node.func, ast.Name) else ""
            if called in ("needing", "MissingExtraError") and module != "fairpca.errors":
                constants = vars(import_module(module))
                library, extra = (value_of(one, constants) for one in node.args[:2])
                yield library, extra, module


def value_of(node, constants):
    """Return the value of an argument; None of one that is computed."""
    if isinstance(node, ast.Constant):
        return node.value
    return constants.get(node.id) if isinstance(node, ast.Name) else None


def test_a_missing_library_names_an_extra_that_installs_it():
    said = list(missing_extras())
    assert len(said) > 5
    for library, extra, module in said:
        assert extra in EXTRAS, module
        if library is not None:
            (dist,) = packages_distributions().get(library, [library])
            names = {canonicalize_name(Requirement(line).name) for line in EXTRAS[extra]}
            assert canonicalize_name(dist) in names, (library, extra, module)


def test_an_audit_of_a_table_needs_nothing_that_its_extra_does_not_install(tmp_path):
    pytest.importorskip("typer")
    made_up_people(300).to_csv(tmp_path / "people.csv", index=False)
    brought = {*brought_by("audit")[0], "fairpca"}
    absent = [
        name
        for name, dists in packages_distributions().items()
        if not brought & set(map(canonicalize_name, dists))
    ]
    assert {"skops", "scipy"} & set(absent) == {"skops"} & set(packages_distributions())
    command = [sys.executable, "-c", AUDIT, *absent]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "report.html").exists()


def test_erasers_inside_models_import_torch_when_they_are_used_and_name_its_extra():
    command = [sys.executable, "-c", INSIDE_MODELS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["as_module", "scrub"]
    assert all(line.endswith('pip install "fairpca[torch]"') for line in lines)
