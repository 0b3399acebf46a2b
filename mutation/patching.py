"""A mutant is put in place in memory: the code of one function is exchanged, nothing re-imported.

Every name that other modules imported keeps pointing at the same function, so the tests that were
collected once can be run against any mutant in a forked process.
"""

from __future__ import annotations

import sys
from functools import cached_property
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .mutants import Mutant


class CannotBePatched(Exception):
    """The change cannot be made without importing the module again."""


def put_in_place(mutant: Mutant) -> None:
    """Exchange the code of the mutated function, or the value of the mutated constant."""
    module = sys.modules[mutant.module]
    compiled = compile(mutant.code, str(module.__file__), "exec")
    if not mutant.function:
        _exchange_constants(module, compiled)
        return
    owner: Any = module
    path = mutant.function.split(".")
    code = compiled
    for name in path:
        owner = owner.__dict__[name]
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)
        if not isinstance(owner, type):
            break
    function = _function_of(owner)
    if len(code.co_freevars) != len(function.__code__.co_freevars):
        raise CannotBePatched(f"{mutant.function} closes over other names now")
    if code != function.__code__:
        function.__code__ = code
        return
    _exchange_defaults(function, compiled, module)


def _function_of(member: Any) -> FunctionType:
    if isinstance(member, property):
        member = member.fget
    elif isinstance(member, cached_property):
        member = member.func
    elif isinstance(member, classmethod | staticmethod):
        member = member.__func__
    while hasattr(member, "__wrapped__"):
        member = member.__wrapped__
    assert isinstance(member, FunctionType), member
    return member


def _executed(compiled: CodeType, module: ModuleType) -> dict[str, Any]:
    namespace = {
        "__name__": module.__name__,
        "__package__": module.__package__,
        "__file__": module.__file__,
    }
    exec(compiled, namespace)
    return namespace


def _exchange_defaults(function: FunctionType, compiled: CodeType, module: ModuleType) -> None:
    """Exchange the default values: the body is as it was, so one of them has changed."""
    changed: Any = _executed(compiled, module)
    for name in function.__qualname__.split("."):
        changed = changed[name] if isinstance(changed, dict) else changed.__dict__[name]
    changed = _function_of(changed)
    function.__defaults__ = changed.__defaults__
    function.__kwdefaults__ = changed.__kwdefaults__


def _exchange_constants(module: ModuleType, compiled: CodeType) -> None:
    """Give a constant its new value wherever it has been imported to."""
    namespace = _executed(compiled, module)
    plain = (bool, int, float, str, bytes, tuple, frozenset, type(None))
    for name, value in namespace.items():
        old = module.__dict__.get(name)
        if name.startswith("__") or not isinstance(old, plain) or old == value:
            continue
        for other in list(sys.modules.values()):
            if getattr(other, "__dict__", {}).get(name, module) is old:
                setattr(other, name, value)
