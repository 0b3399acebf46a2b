"""Audit JSON by pydantic: its schema, and the way back to an audit.

This is the only place that imports pydantic, and only when either is asked for.
"""

from __future__ import annotations

import json
import os
from dataclasses import fields
from functools import cache
from pathlib import Path
from reprlib import repr as brief
from typing import Any, NoReturn

from ..errors import AuditError, needing
from . import _results
from ._audit_result import Audit
from ._results import SCHEMA_VERSION

DRAFT = "https://json-schema.org/draft/2020-12/schema"

_AGAIN = "It was changed, or written by something else: make the audit again."
_SPOKEN = {
    **{"string": "string", "int": "integer", "float": "number", "bool": "boolean"},
    **{"list": "array", "dict": "object", "dataclass": "object"},
}
"""What the schema calls the types that pydantic names in its errors."""

_MAPPINGS = ("versions", "sensitive_kinds")  # whose keys are names of something else


@cache
def _pydantic() -> tuple[Any, type[ValueError]]:
    """Return what knows the fields of an audit, and the error that it raises."""
    with needing("pydantic", "audit", "Audit JSON"):
        from pydantic import TypeAdapter, ValidationError
    return TypeAdapter(Audit), ValidationError


def audit_schema() -> dict[str, Any]:
    """Return the JSON Schema of `Audit.to_json`.

    Returns
    -------
    schema : dict
        JSON Schema, draft 2020-12. What was not measured is null.

    See Also
    --------
    fairpca.Audit.to_json : What it describes.

    Examples
    --------
    >>> from fairpca.auditing import audit_schema
    >>> sorted(audit_schema()["$defs"])[:3]
    ['Advice', 'Alternative', 'Attribute']
    """
    found = _pydantic()[0].json_schema()
    parts = found.pop("$defs")
    classes = {name: cls for name, cls in vars(_results).items() if name in parts}
    parts = {name: _described(parts[name], cls) for name, cls in classes.items()}
    whole = _described(found, Audit)
    about = f"Version {SCHEMA_VERSION}. {whole['description']}"
    return {
        "$schema": DRAFT,
        **whole,
        "title": "fairpca audit",
        "description": about,
        "$defs": parts,
    }


def _described(schema: dict[str, Any], cls: Any) -> dict[str, Any]:
    """Return the schema of a dataclass with what its fields say of themselves, all required."""
    properties = {}
    for field in fields(cls):
        kept = {k: v for k, v in schema["properties"][field.name].items() if k not in _LEFT_OUT}
        properties[field.name] = {**kept, **field.metadata}
    return {
        "type": "object",
        "description": (cls.__doc__ or "").strip().splitlines()[0],
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_LEFT_OUT = ("title", "default")


def parsed(text: str) -> Any:
    """Return the value of a JSON text; an error says that it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AuditError(f"This is not audit JSON: {error}. {_AGAIN}") from None


def audit_from_file(path: str | os.PathLike[str]) -> Audit:
    """Return the audit of a JSON file; an error names the file."""
    try:
        return audit_from_plain(parsed(Path(path).read_text(encoding="utf-8-sig")))
    except UnicodeDecodeError:
        raise AuditError(f"{os.fspath(path)}: This is no text, so it is not audit JSON.") from None
    except AuditError as error:
        raise AuditError(f"{os.fspath(path)}: {error}") from None


def audit_from_plain(plain: Any) -> Audit:
    """Return an audit from its plain dictionaries; an error names the place."""
    version = plain.get("schema_version") if isinstance(plain, dict) else None
    if version is None:
        raise AuditError(
            f"This is no audit: it is not a dictionary with a schema_version, as `fairpca audit "
            f"--json` and Audit.to_dict make it. {_AGAIN}"
        )
    readable = SCHEMA_VERSION.split(".")[0]
    if str(version).split(".")[0] != readable:
        raise AuditError(
            f"schema_version={brief(version)} cannot be read: this fairpca reads audits of version "
            f"{readable}.x. Make the audit again with the installed version "
            f"of fairpca, or install the version that made it."
        )
    adapter, invalid = _pydantic()
    try:
        text = json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace")
        audit: Audit = adapter.validate_json(text, strict=True)
    except invalid as error:
        first: Any = error.errors()[0]  # type: ignore[attr-defined]
        _reject(first["type"], first["loc"], first["input"])
    except (TypeError, ValueError, RecursionError) as error:
        raise AuditError(f"This is not an audit as plain dictionaries: {error}.") from None
    _check_places(audit)
    return audit


def _reject(kind: str, way: tuple[Any, ...], value: Any) -> NoReturn:
    """Say in one line what is wrong, and where."""
    place = "audit"
    for before, part in zip((None, *way), way, strict=False):
        inside = isinstance(part, int) or before in _MAPPINGS
        place += f"[{brief(part)}]" if inside else f".{part}"
    if kind == "missing":
        raise AuditError(f"{place} is missing, and every audit has it. {_AGAIN}")
    spoken = _SPOKEN.get(kind.removesuffix("_type"))
    _misplaced(
        place, value, f"the schema says {spoken}" if spoken else "no audit has such a number"
    )


def _check_places(audit: Audit) -> None:
    """Reject references to what is not there."""
    advice, keys = audit.advice, {one.key for one in audit.representations}
    settings = [(one.representation, one.tradeoff) for one in advice.options]
    if advice.representation and (advice.representation, advice.tradeoff) not in settings:
        _misplaced("audit.advice.representation", advice.representation, "no option has that name")
    for i, (key, _) in enumerate(settings):
        if key not in keys:
            where = f"audit.advice.options[{i}].representation"
            _misplaced(where, key, "nothing of it was compared")


def _misplaced(where: str, value: Any, why: str) -> NoReturn:
    raise AuditError(f"{where} is {brief(value)}, but {why}. {_AGAIN}")
