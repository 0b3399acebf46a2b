"""What a file of code defines, for pages that say where something is."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def names_defined_in(path):
    """Names that a file defines at its top, and members of its classes as Class.member."""
    names = set()
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
            members = node.body if isinstance(node, ast.ClassDef) else []
            names |= {f"{node.name}.{m.name}" for m in members if isinstance(m, ast.FunctionDef)}
    return names
