"""What it takes to walk through the house: ``python tests/house.py`` prints it.

Nothing here is asserted. Numbers are for whoever changes the code: is the walk shorter now?
"""

import ast
import contextlib
import inspect
import io
import os
import re
import sys
import tempfile
import threading
import tomllib
from collections import Counter, defaultdict, deque
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "fairpca"

# Modules, and what they import.


@cache
def modules():
    """Return the path of every module of the package by its dotted name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def package_of(module):
    """Return the part of the house that a module belongs to, such as ``fairpca.metrics``."""
    return ".".join(module.split(".")[:2])


def is_private(module):
    return any(part.startswith("_") and part != "__main__" for part in module.split("."))


@cache
def exports(module):
    """Return the public names of a module: its ``__all__`` without other modules."""
    names = getattr(import_module(module), "__all__", ())
    return frozenset(name for name in names if f"{module}.{name}" not in modules())


def public_modules():
    """Return the modules of the package without an underscore that export something."""
    return [m for m in modules() if not is_private(m) and exports(m)]


def imported_from(tree, inside=()):
    """Yield pairs of a module and a name (or None) that statements of a file import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            above = inside[: len(inside) - node.level + 1] if node.level else []
            origin = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                yield origin, alias.name
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, None


@cache
def handed_on(package):
    """Return the names that a package imports in its ``__init__``."""
    nodes = ast.walk(ast.parse(modules()[package].read_text(encoding="utf-8")))
    return {a.asname or a.name for n in nodes if isinstance(n, ast.ImportFrom) for a in n.names}


def imports():
    """Return pairs of a module and one that it imports from, both of ours."""
    known = modules()
    for module, path in known.items():
        inside = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for origin, name in imported_from(tree, inside):
            deeper = f"{origin}.{name}"
            is_module = deeper in known and name not in handed_on(origin)
            target = deeper if is_module else origin
            if target in known and target != module:
                yield module, target


def privates_imported_by(path):
    """Return what a script imports of ours that is not public, as ``package: name`` pairs."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for origin, name in imported_from(tree):
        if origin.partition(".")[0] != "fairpca":
            continue
        whole = f"{origin}.{name}" if name else origin
        if is_private(origin) or not is_public(origin, name):
            yield package_of(whole if origin == "fairpca" else origin), whole


def is_public(module, name):
    """Return whether a name of a public module, or a module in it, is for everybody."""
    if name is None or re.fullmatch(r"__\w+__", name):
        return True
    if f"{module}.{name}" in modules() or module not in modules():
        return not name.startswith("_")
    if module == "fairpca.__main__":
        return True  # the command
    return name in exports(module) or (module == "fairpca.errors" and name[0].isupper())


def neighbours(folder, package):
    """Return whether tests of a folder may know the inside of a package."""
    return package.removeprefix("fairpca.").lstrip("_") == folder


def tests_that_look_inside():
    """Return, per folder, the test files that import privates of another package."""
    found = defaultdict(dict)
    for path in sorted((ROOT / "tests").rglob("*.py")):
        inside = path.relative_to(ROOT / "tests")
        folder = inside.parts[0] if len(inside.parts) > 1 else inside.stem.removeprefix("test_")
        others = {
            name for package, name in privates_imported_by(path) if not neighbours(folder, package)
        }
        if others:
            found[str(inside.parent)][inside.name] = sorted(others)
    return found


# The walk: which functions of ours run, and who calls whom.


class Walk:
    """The functions of ours that run inside the context, in the order of their first calls."""

    def __init__(self):
        self.functions = {}
        self.calls = {}

    def __enter__(self):
        sys.setprofile(self._note)
        threading.setprofile(self._note)
        return self

    def __exit__(self, *_):
        threading.setprofile(None)
        sys.setprofile(None)

    def _note(self, frame, event, _):
        if event != "call" or not (function := _function(frame.f_code)):
            return
        self.functions.setdefault(function)
        while (frame := frame.f_back) is not None:
            if caller := _function(frame.f_code):
                self.calls.setdefault((caller, function))
                return

    def changes_of_package(self):
        packages = [_package(file) for file, _ in self.functions]
        return sum(a != b for a, b in pairwise(packages))

    def chain(self, ends):
        """Return the shortest chain of calls from a `fit` to a function with one of these names."""
        following = defaultdict(list)
        for caller, called in self.calls:
            following[caller].append(called)
        first = next(f for f in self.functions if f[1].endswith(".fit"))
        before, queue = {first: None}, deque([first])
        while queue:
            at = queue.popleft()
            if at[1].split(".")[-1] in ends:
                chain = [at]
                while (at := before[at]) is not None:
                    chain.append(at)
                return chain[::-1]
            for called in following[at]:
                if called not in before:
                    before[called] = at
                    queue.append(called)
        return []


@cache
def _function(code):
    """Return file and name of a function of ours that somebody named; None for everything else."""
    # Bodies of modules and classes are no functions: they run when something is imported.
    inside, name = f"{SOURCE}{os.sep}", code.co_filename
    is_function = code.co_flags & inspect.CO_OPTIMIZED and not code.co_qualname.endswith(">")
    return (name.removeprefix(inside), code.co_qualname) if is_function and inside in name else None


def _package(file):
    return Path(file).parts[0]


def small_data():
    import numpy as np

    rng = np.random.default_rng(0)
    sex = np.array(["a", "b"] * 100)
    X = rng.normal(size=(200, 5)) + np.outer(sex == "a", [1, 0, 0, 0, 0])
    return X, X @ rng.normal(size=5) + rng.normal(size=200), sex


def walk_of(fit):
    """Walk through a fit whose imports are already done."""
    fit()
    with Walk() as walk:
        fit()
    return walk


def walks():
    """Return the walk through a fit of each method, and what its algorithm is called."""
    from fairpca import FairKernelPCA, FairPCA, FairPLS
    from fairpca.erasers import LEACE

    X, y, sex = small_data()
    many = {
        "FairPCA": (FairPCA(2), ["equalize_means"]),
        "FairPLS": (FairPLS(1), ["predict_targets"]),
        "FairKernelPCA": (FairKernelPCA(2), ["equalize_kernel_means"]),
        "LEACE": (LEACE(), ["leace"]),
    }
    for name, (estimator, ends) in many.items():
        yield name, walk_of(lambda e=estimator: e.fit(X, y, sensitive_features=sex)), ends


def walk_of_an_audit():
    """Walk through ``fairpca audit --quick`` of a small CSV file, in one process."""
    from fairpca.__main__ import main
    from people import made_up_people

    with tempfile.TemporaryDirectory() as folder:
        made_up_people(300).to_csv(f"{folder}/p.csv", index=False)
        command = f"fairpca audit {folder}/p.csv --sensitive sex --target paid --quick --jobs 1"
        sys.argv = [*command.split(), "--out", f"{folder}/p.html"]
        output = io.StringIO()
        with Walk() as walk, contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            try:
                main()
            except SystemExit as end:
                if end.code:
                    walk.__exit__()
                    raise RuntimeError(output.getvalue()) from None
    return walk


def imported_by(program):
    """Return the modules of ours that a line of Python imports."""
    import subprocess

    program = f"{program}\nimport sys; print(*[m for m in sys.modules if m.startswith('fairpca')])"
    run = [sys.executable, "-c", program]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()


# Everything else that a person has to carry.


def rooms():
    """Return files and lines of each part of the package."""
    files, lines = Counter(), Counter()
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0]
        files[room] += 1
        lines[room] += path.read_text(encoding="utf-8").count("\n")
    return {room: (lines[room], files[room]) for room in sorted(files)}


def extras():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return list(project["optional-dependencies"])


def gallery_scripts_that_look_inside():
    scripts = sorted((ROOT / "examples").glob("[0-9]*.py"))
    return [path.name for path in scripts if any(privates_imported_by(path))]


def words_about_our_testing():
    pages = (ROOT / "docs" / "testing").rglob("*.md")
    return sum(len(path.read_text(encoding="utf-8").split()) for path in pages)


def report():
    """Yield the lines that are printed."""
    for name, walk, ends in walks():
        chain = walk.chain(ends)
        steps = " > ".join(f"{Path(file).stem}:{function}" for file, function in chain)
        yield f"hops from {name}.fit: {len(chain) - 1 if chain else 'not found'}", steps
        if name == "FairPCA":
            yield f"functions run by FairPCA.fit(ndarray): {len(walk.functions)}", ""
            yield f"  changes of package on the way: {walk.changes_of_package()}", ""
    yield f"functions run by fairpca audit --quick: {len(walk_of_an_audit().functions)}", ""

    names = {module: exports(module) for module in public_modules()}
    yield f"public exports: {sum(map(len, names.values()))}", ""
    for module, public in names.items():
        yield f"  {module} ({len(public)})", " ".join(sorted(public))
    yield f"extras of the wheel: {len(extras())}", " ".join(extras())

    yield f"lines of the wheel: {sum(lines for lines, _ in rooms().values()):,}", ""
    for room, (lines, files) in rooms().items():
        yield f"  {room}", f"{lines:,} lines in {files} file{'s' * (files > 1)}"

    private = gallery_scripts_that_look_inside()
    yield f"gallery scripts that import something private: {len(private)}", " ".join(private)
    inside = tests_that_look_inside()
    yield f"test files that import another package's privates: {sum(map(len, inside.values()))}", ""
    for folder, files in inside.items():
        yield f"  tests/{folder} ({len(files)})", " ".join(files)
    yield f"words of documentation about our own testing: {words_about_our_testing():,}", ""


def main():
    for library in ("OMP", "OPENBLAS", "MKL"):  # the same walk on any machine
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    for what, more in report():
        print(f"{what:42} {more}".rstrip())  # noqa: T201


if __name__ == "__main__":
    main()
