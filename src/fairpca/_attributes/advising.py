"""What errors and warnings advise: parameters that the class at hand has, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_PARAMETERS: ContextVar[frozenset[str] | None] = ContextVar("parameters", default=None)


@contextmanager
def advising(parameters: Iterable[str] | None) -> Iterator[None]:
    """Advise these parameters only, as long as the block lasts; None: any."""
    token = _PARAMETERS.set(None if parameters is None else frozenset(parameters))
    try:
        yield
    finally:
        _PARAMETERS.reset(token)


def can_advise(parameter: str) -> bool:
    """Tell whether who reads an error has this parameter."""
    parameters = _PARAMETERS.get()
    return parameters is None or parameter in parameters


def how_to_say(name: str, kind: str) -> str:
    """Return how users say what a column is, in Python and on the command line."""
    if can_advise("sensitive_kinds"):
        return f"sensitive_kinds={{{name!r}: {kind!r}}} (command line: --{kind} {name})"
    if kind == "numeric":
        return "floats with fractions, such as its standardised values"
    return "its values as texts"


def how_to_say_kinds() -> str:
    """Return how users say what several columns are."""
    if can_advise("sensitive_kinds"):
        return "declare in sensitive_kinds which are 'categorical' and which 'numeric'"
    return "pass texts for categories, and floats with fractions for quantities"


def how_to_decide() -> str:
    """Return how users say what a column is whose batches differ."""
    if can_advise("sensitive_kinds"):
        of_targets = " (a target: in target_kinds)" if can_advise("target_kinds") else ""
        return f"Declare it 'categorical' or 'numeric' in sensitive_kinds{of_targets}"
    of_targets = " (of y: set target_kind)" if can_advise("target_kind") else ""
    return f"Pass texts in every batch, or floats with fractions{of_targets}"
