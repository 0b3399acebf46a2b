"""How large the house is: ``python tests/house.py`` prints the numbers that a test keeps small."""

import ast
import inspect
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "fairpca"


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
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom):
                continue
            above = inside[: len(inside) - node.level + 1] if node.level else []
            origin = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                deeper = f"{origin}.{alias.name}"
                is_module = deeper in known and alias.name not in handed_on(origin)
                target = deeper if is_module else origin
                if target in known and target != module:
                    yield module, target


def single_importers():
    """Return the modules that exactly one other imports, from the same folder."""
    importers, known = defaultdict(set), modules()
    for module, target in imports():
        importers[target].add(module)
    return [
        module
        for module, path in known.items()
        if path.name != "__init__.py"
        and len(importers[module]) == 1
        and known[(by := next(iter(importers[module])))].name != "__init__.py"
        and by.rpartition(".")[0] == module.rpartition(".")[0]
    ]


def public_names():
    """Return the functions and classes of all modules that do not begin with an underscore."""
    kinds = ast.FunctionDef | ast.ClassDef
    return [
        f"{module}.{node.name}"
        for module, path in modules().items()
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, kinds) and not node.name.startswith("_")
    ]


def own_classes(cls):
    """Return the classes of ours among those that a class is made of."""
    return [base for base in cls.__mro__ if base.__module__.startswith("fairpca")]


class FilesTouched:
    """Counts the files of ours whose functions run inside the context."""

    def __enter__(self):
        self.files = set()
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)
        inside = f"{SOURCE}{os.sep}"
        ours = (name for name in self.files if name.startswith(inside) and name.endswith(".py"))
        self.files = {name.removeprefix(inside) for name in ours}

    def _note(self, frame, event, _):
        # Bodies of modules and classes are no functions: they run when something is imported.
        if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            self.files.add(frame.f_code.co_filename)


def touched_by_a_fit():
    """Return the files that fair PCA of an array runs through."""
    import numpy as np

    from fairpca import FairPCA

    X = np.random.default_rng(0).normal(size=(200, 5))
    with FilesTouched() as touched:
        FairPCA(2).fit(X, sensitive_features=["a", "b"] * 100)
    return touched.files


def touched_by_a_fit_of_a_file():
    """Return the files that fair PCA of a Parquet file runs through, in one thread."""
    import numpy as np
    import pandas as pd

    from fairpca import FairPCA, ParquetRows

    people = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 4)), columns=list("abcd"))
    people["sex"] = ["f", "m"] * 100
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/people.parquet"
        people.to_parquet(path)
        import threading

        with FilesTouched() as touched:
            threading.setprofile(touched._note)
            FairPCA(2).fit(ParquetRows(path, sensitive="sex", n_jobs=1))
            threading.setprofile(None)
    return touched.files


def touched_by_an_audit():
    """Return the files that the command ``fairpca audit`` runs through, in one process."""
    import contextlib
    import threading

    from fairpca.__main__ import main

    with tempfile.TemporaryDirectory() as folder:
        out, json = f"{folder}/report.html", f"{folder}/audit.json"
        sys.argv = ["fairpca", "audit", "--quick", "--jobs", "1", "--out", out, "--json", json]
        with FilesTouched() as touched, contextlib.suppress(SystemExit):
            threading.setprofile(touched._note)
            main()
        threading.setprofile(None)
    return touched.files


def imported_by(name):
    """Return our modules that are imported when a public name is first used."""
    program = (
        f"import sys, fairpca; fairpca.{name}; "
        "print(*[m for m in sys.modules if m.startswith('fairpca')])"
    )
    run = [sys.executable, "-c", program]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()


def main():
    from fairpca import FairPCA
    from fairpca.peers import LEACE

    files = [path.read_text(encoding="utf-8") for path in modules().values()]
    tops = {package_of(m) for m in modules()} - {"fairpca", "fairpca.__main__"}
    numbers = {
        "files": len(files),
        "lines": sum(text.count("\n") for text in files),
        "top-level units": len(tops),
        "own classes of FairPCA, LEACE": [len(own_classes(cls)) for cls in (FairPCA, LEACE)],
        "files touched by FairPCA.fit(ndarray)": len(touched_by_a_fit()),
        "by a fit of a Parquet file": len(touched_by_a_fit_of_a_file()),
        "by fairpca audit": len(touched_by_an_audit()),
        "our modules imported by ParquetRows": len(imported_by("ParquetRows")),
        "public module-level names": len(public_names()),
        "modules with one importer in their folder": len(single_importers()),
    }
    for what, number in numbers.items():
        print(f"{what:45}{number}")  # noqa: T201


if __name__ == "__main__":
    main()
