"""The reproduction is a user of fairpca like any other: it sees public names only."""

import ast
from importlib import import_module
from pathlib import Path

PAPER = Path(__file__).parent.parent / "src" / "fairpca_paper"
LIBRARY = PAPER.parent.parent.parent / "src" / "fairpca"


def imports_of(path):
    """Return (module, name) of every absolute import; the name is None for `import module`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((node.module, alias.name) for alias in node.names)


def is_public(module, name):
    if any(part.startswith("_") for part in module.split(".")):
        return False
    known = import_module(module)
    public = getattr(known, "__all__", [n for n in dir(known) if not n.startswith("_")])
    return name is None or name in public


def test_the_reproduction_uses_public_names_of_fairpca_only():
    private = {
        (path.name, module, name)
        for path in PAPER.rglob("*.py")
        for module, name in imports_of(path)
        if module.split(".")[0] == "fairpca" and not is_public(module, name)
    }
    assert not private


def test_fairpca_never_imports_the_reproduction():
    assert not [
        path.name
        for path in LIBRARY.rglob("*.py")
        for module, _ in imports_of(path)
        if module.split(".")[0] == "fairpca_paper"
    ]
