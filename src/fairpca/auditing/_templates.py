"""The templates of the page and of the sentences: the only place that imports jinja2."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from ..errors import needing
from ._phrases import decimal, joined, named, of_groups, percent, points

FILTERS = {
    "decimal": decimal,
    "joined": joined,
    "named": named,
    "of_groups": of_groups,
    "percent": percent,
    "points": points,
}
"""How sentences write numbers and names."""


def template(name: str) -> Any:
    """Return a template: what a page prints is escaped, and names that do not exist are errors."""
    return _environment().get_template(name)


def source(name: str) -> str:
    """Return the text of a file beside the templates."""
    return files(__package__).joinpath("_page", "templates", name).read_text(encoding="utf-8")


@cache
def _environment() -> Any:
    with needing("jinja2", "audit", "An audit"):
        import jinja2
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(source),
        autoescape=lambda name: not (name or "").endswith(".txt.j2"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    return environment
