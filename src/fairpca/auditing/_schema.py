"""The JSON Schema of an audit, and its documentation, from the dataclasses themselves."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from ._audit_result import Audit
from ._results import SCHEMA_VERSION

DRAFT = "https://json-schema.org/draft/2020-12/schema"
SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def audit_schema() -> dict[str, Any]:
    """Return the schema that the JSON of an audit follows.

    Returns
    -------
    schema : dict
        JSON Schema, draft 2020-12. A number that could not be computed is null.

    See Also
    --------
    fairpca.Audit.to_json : What it describes.

    Examples
    --------
    >>> from fairpca.auditing import audit_schema
    >>> sorted(audit_schema()["$defs"])[:3]
    ['Advice', 'Attribute', 'CertifiedGap']
    """
    return {
        "$schema": DRAFT,
        "title": "fairpca audit",
        **_object(Audit),
        "description": f"Version {SCHEMA_VERSION}. {_first_line(Audit)}",
        "$defs": {cls.__name__: _object(cls) for cls in _parts(Audit)},
    }


def schema_page() -> str:
    """Return the schema as a page for people, in Markdown."""
    lines = [
        "# The JSON of an audit",
        "",
        f"Schema version {SCHEMA_VERSION}. `fairpca audit --json FILE` and `Audit.to_json()` write "
        "it, and",
        "`fairpca.auditing.audit_schema()` returns it as a JSON Schema (draft 2020-12). Changes of",
        "the first number of the version break readers, changes of the second add fields. A",
        "number that could not be computed is null.",
        "",
        "This page is made from the code: `python -c 'from fairpca.auditing._schema import "
        "schema_page;",
        "print(schema_page())' > docs/audit-schema.md`.",
    ]
    for cls in (Audit, *_parts(Audit)):
        lines += ["", f"## {cls.__name__}", "", _first_line(cls), "", "| field | type | |"]
        lines += ["|---|---|---|"]
        hints = get_type_hints(cls)
        for field in fields(cls):
            kind = _spoken(hints[field.name])
            lines.append(f"| `{field.name}` | {kind} | {field.metadata['description']} |")
    return "\n".join(lines)


def _object(cls: type) -> dict[str, Any]:
    hints = get_type_hints(cls)
    return {
        "type": "object",
        "description": _first_line(cls),
        "properties": {
            field.name: {
                **_schema_of(hints[field.name]),
                "description": field.metadata["description"],
            }
            for field in fields(cls)
        },
        "required": [field.name for field in fields(cls)],
        "additionalProperties": False,
    }


def _schema_of(kind: Any) -> dict[str, Any]:
    if kind is float:
        return {"type": ["number", "null"]}
    if kind in SIMPLE:
        return {"type": SIMPLE[kind]}
    if is_dataclass(kind):
        return {"$ref": f"#/$defs/{kind.__name__}"}  # type: ignore[union-attr]
    if isinstance(kind, UnionType):
        return {"anyOf": [_schema_of(option) for option in get_args(kind)]}
    if get_origin(kind) is list:
        return {"type": "array", "items": _schema_of(get_args(kind)[0])}
    if get_origin(kind) is dict:
        return {"type": "object", "additionalProperties": _schema_of(get_args(kind)[1])}
    raise TypeError(f"{kind} has no place in the schema.")


def _parts(cls: type) -> list[type]:
    """Return the dataclasses inside one, each once, in the order in which they appear."""
    found: dict[type, None] = {}
    for kind in get_type_hints(cls).values():
        for inner in [kind, *get_args(kind)]:
            if is_dataclass(inner):
                found[inner] = None  # type: ignore[index]
                found |= dict.fromkeys(_parts(inner))  # type: ignore[arg-type]
    return list(found)


def _spoken(kind: Any) -> str:
    if is_dataclass(kind):
        name = kind.__name__  # type: ignore[union-attr]
        return f"[{name}](#{name.lower()})"
    if isinstance(kind, UnionType):
        return " or ".join(_spoken(option) for option in get_args(kind))
    if get_origin(kind) is list:
        return f"list of {_spoken(get_args(kind)[0])}"
    if get_origin(kind) is dict:
        return f"object of {_spoken(get_args(kind)[1])}"
    return SIMPLE[kind]


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().splitlines()[0]
