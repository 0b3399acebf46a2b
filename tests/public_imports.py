"""Which names of ours a file imports, and whether they are public."""

import ast
from importlib import import_module
from importlib.util import find_spec


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
    if name is None or name in public:
        return True
    return not name.startswith("_") and find_spec(f"{module}.{name}") is not None


def private_imports(path):
    """Return (file, module, name) of every private name of ours that a file imports."""
    return [
        (path.name, module, name)
        for module, name in imports_of(path)
        if module.split(".")[0] in ("fairpca", "fairpca_paper") and not is_public(module, name)
    ]
