"""Which small changes are made to a module: mutmut's operators, less what no test should pin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import libcst as cst
from libcst.metadata import (
    CodeRange,
    MetadataWrapper,
    PositionProvider,
    WhitespaceInclusivePositionProvider,
)
from mutmut.mutation.mutators import mutation_operators

SOURCE = Path("src")

NOT_MUTATED_CALLS = {"len", "isinstance", "cast", "TypeVar"}
"""As in mutmut: without their arguments these only raise; types are mypy's to check."""


Lines = tuple[int, int]
"""First and last line of a statement, or of the header of a compound one."""


@dataclass(frozen=True)
class Mutant:
    """One change of one module.

    `function` is the qualified name of what is changed, "" for a constant of the module; `before`
    and `after` are the changed lines without indentation, joined by spaces.
    """

    module: str
    function: str
    lines: Lines
    before: str
    after: str
    code: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What an explanation is filed under: it no longer matches once the line changes."""
        return self.module, self.function, self.before, self.after


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield the mutants of a file under ``src``."""
    source = path.read_text(encoding="utf-8")
    wrapper = MetadataWrapper(cst.parse_module(source))
    finder = _Finder(wrapper.resolve(PositionProvider))
    wrapper.module.visit(finder)
    spans = wrapper.resolve(WhitespaceInclusivePositionProvider)
    module = _module(path)
    seen = {source}
    for node, changed, function, span in finder.found:
        code = _replaced(source, spans[node], wrapper.module.code_for_node(changed))
        if code in seen:
            continue
        seen.add(code)
        before, after = _changed_lines(source, code)
        yield Mutant(module, function, span, before, after, code)


def unchanged(path: Path) -> Mutant:
    """Return a file under ``src`` as a mutant that must survive: it is as it was."""
    source = path.read_text(encoding="utf-8")
    return Mutant(_module(path), "", (1, len(source.splitlines())), "", "", source)


def _module(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def _replaced(source: str, span: CodeRange, text: str) -> str:
    """Return the source with a span replaced; libcst's own way is a hundred times slower."""
    lines = source.splitlines(keepends=True)
    head = "".join(lines[: span.start.line - 1]) + lines[span.start.line - 1][: span.start.column]
    tail = lines[span.end.line - 1][span.end.column :] + "".join(lines[span.end.line :])
    return head + text + tail


def _changed_lines(source: str, code: str) -> tuple[str, str]:
    old, new = source.splitlines(), code.splitlines()
    first = next(i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    return tuple(  # type: ignore[return-value]
        " ".join(line.strip() for line in lines[first : len(lines) - last]) for lines in (old, new)
    )


class _Finder(cst.CSTVisitor):
    """Collects (node, changed node, qualified function name, lines of the statement)."""

    def __init__(self, positions: Mapping[cst.CSTNode, CodeRange]) -> None:
        super().__init__()
        self._positions = positions
        self._names: list[str] = []
        self._functions = 0
        self._statement: Lines | None = None
        self.found: list[tuple[cst.CSTNode, cst.CSTNode, str, Lines]] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if _skipped(node) or (not self._names and _is_a_type_or_a_list_of_names(node)):
            return False
        if isinstance(node, cst.ClassDef | cst.FunctionDef):
            self._names.append(node.name.value)
            self._functions += isinstance(node, cst.FunctionDef)
        if isinstance(node, cst.SimpleStatementLine | cst.FunctionDef):
            # Of a function this is its whole body: defaults are executed by who calls it.
            self._statement = _lines(self._positions[node])
        elif isinstance(node, cst.If | cst.While | cst.For | cst.With):
            self._statement = _header(node, self._positions)
        if self._can_be_patched() and self._statement is not None:
            for kind, operator in mutation_operators:
                if isinstance(node, kind):
                    name = ".".join(self._names)
                    self.found += [
                        (node, change, name, self._statement)
                        for change in operator(node)
                        if not _only_less_strict(node, change)
                    ]
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if isinstance(original_node, cst.ClassDef | cst.FunctionDef) and not _skipped(
            original_node
        ):
            self._names.pop()
            self._functions -= isinstance(original_node, cst.FunctionDef)

    def _can_be_patched(self) -> bool:
        """Functions and constants of the module; the body of a class has made its class already."""
        return self._functions > 0 or not self._names


def _lines(span: CodeRange) -> Lines:
    return span.start.line, span.end.line


def _header(node: cst.CSTNode, positions: Mapping[cst.CSTNode, CodeRange]) -> Lines:
    """Return the lines of a compound statement before its body."""
    first, _ = _lines(positions[node])
    body, _ = _lines(positions[node.body])  # type: ignore[attr-defined]
    return first, max(first, body - 1)


def _skipped(node: cst.CSTNode) -> bool:
    """Tell what is left alone: types, imports, decorators, docstrings, messages, defaults."""
    if isinstance(
        node, cst.Annotation | cst.Import | cst.ImportFrom | cst.Decorator | cst.Raise | cst.Assert
    ):
        return True
    if isinstance(node, cst.Expr) and isinstance(node.value, cst.BaseString):
        return True
    if isinstance(node, cst.Arg) and _is_strict(node):
        return True
    if isinstance(node, cst.SimpleString) and " " in node.value:
        return True
    if isinstance(node, cst.Call):
        name = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        called = name.value if isinstance(name, cst.Name) else ""
        return called in NOT_MUTATED_CALLS or called == "warn" or called.endswith("Warning")
    return False


def _is_strict(argument: cst.Arg) -> bool:
    """Tell whether it is the ``strict=`` of a zip: an assertion, which no test should provoke."""
    return argument.keyword is not None and argument.keyword.value == "strict"


def _only_less_strict(node: cst.CSTNode, change: cst.CSTNode) -> bool:
    if not isinstance(node, cst.Call) or not isinstance(change, cst.Call):
        return False
    return any(_is_strict(a) and a not in change.args for a in node.args)


def _is_a_type_or_a_list_of_names(node: cst.CSTNode) -> bool:
    if not isinstance(node, cst.Assign | cst.AnnAssign):
        return False
    target = node.targets[0].target if isinstance(node, cst.Assign) else node.target
    name = target.value if isinstance(target, cst.Name) else ""
    # Of the names of a module, aliases of types are those in CamelCase.
    return name == "__all__" or (name[:1].isupper() and not name.isupper())
