"""The package has no way to run what it reads; exceptions are listed, with their reason."""

import ast
from pathlib import Path

import pytest

import fairpca
import house

PACKAGE = Path(fairpca.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

MODULES = {
    *("pickle", "cPickle", "_pickle", "dill", "cloudpickle", "marshal", "shelve", "yaml", "code"),
    *("codeop", "subprocess", "pty", "commands", "popen2", "xml", "telnetlib", "ftplib", "runpy"),
    *("socket", "http", "urllib.request", "requests", "ctypes", "imp", "webbrowser"),
}
"""Modules that run programs, make objects of bytes, or reach other machines."""

CALLS = {
    *("eval", "exec", "compile", "__import__", "os.system", "os.popen", "tempfile.mktemp"),
    *("os.execv", "os.execve", "os.spawnl", "os.spawnv", "os.fork", "joblib.load", "torch.load"),
    *("importlib.import_module", "import_module", "exec_module", "builtins.eval", "mktemp"),
    *(
        "input",
        "breakpoint",
        "numpy.fromfile",
        "pandas.read_pickle",
        "os.startfile",
        "gc.callbacks",
    ),
}
"""Functions that run what they are given, or that trust a name."""

ALLOWED = {
    ("_rows/spark.py", "pickle"): "between the driver and the workers of one job",
    ("auditing/_page/drawing.py", "xml.etree"): "figures are written with it, and nothing is read",
    ("auditing/_gate_result.py", "xml.etree"): "JUnit files are written with it, likewise",
}


def dotted(node):
    """Return the name that an expression spells, such as ``os.system``."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return ""


def suspicious(path):
    """Yield the names of a file that could run data."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if _is_listed(a.name))
        elif isinstance(node, ast.ImportFrom) and not node.level and _is_listed(node.module or ""):
            yield node.module
        elif isinstance(node, ast.Call):
            name = dotted(node.func)
            if name in CALLS or name.rpartition(".")[2] in {"exec_module", "mktemp", "system"}:
                yield name.rpartition(".")[2]
            for keyword in node.keywords:
                value = getattr(keyword.value, "value", None)
                if keyword.arg == "shell" or (keyword.arg == "allow_pickle" and value is not False):
                    yield f"{keyword.arg}="


def _is_listed(module):
    return module in MODULES or module.partition(".")[0] in MODULES


def test_nothing_in_the_package_runs_data():
    found = {
        (path.relative_to(PACKAGE).as_posix(), name) for path in FILES for name in suspicious(path)
    }
    assert found == set(ALLOWED)


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from pickle import loads",
        "import subprocess",
        "eval('1')",
        "exec(text)",
        "import os; os.system('ls')",
        "run('ls', shell=True)",
        "np.load(file, allow_pickle=True)",
        "tempfile.mktemp()",
        "from urllib.request import urlopen",
        "import yaml",
    ],
)
def test_the_search_finds_what_it_is_for(tmp_path, line):
    (tmp_path / "x.py").write_text(line, encoding="utf-8")
    assert list(suspicious(tmp_path / "x.py"))


def test_the_search_looks_at_all_files():
    assert set(FILES) == set(house.modules().values())
