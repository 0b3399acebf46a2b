"""The audit as an object: its JSON, the schema of that, its page and its view in notebooks."""

from __future__ import annotations

import json
import math
import os
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from functools import cache
from reprlib import repr as brief
from types import NoneType, UnionType
from typing import Any, NoReturn, get_args, get_origin, get_type_hints

from .._numerics import whole_file
from ..errors import UnreadableAuditError
from ._results import (
    SCHEMA_VERSION,
    Advice,
    Carrier,
    CertifiedGap,
    Curve,
    Data,
    Decider,
    Downstream,
    Leak,
    Notice,
    Representation,
    Settings,
    Summary,
    doc,
)

DRAFT = "https://json-schema.org/draft/2020-12/schema"
SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}

_PLAIN: dict[Any, Any] = {list: list, str: str, bool: bool, int: int, float: (int, float)}
_SPOKEN = {**SIMPLE, list: "array"}
_LARGEST = 1e100  # of all numbers: sums and squares of larger ones may overflow
_AGAIN = "It was changed, or written by something else: make the audit again."


@dataclass(frozen=True, repr=False)
class Audit:
    """What a table gives away about people, and what it costs to stop that.

    Made by `fairpca.audit`. All fields are plain values; the page "The JSON of an audit" documents
    each of them.

    Parameters
    ----------
    schema_version, fairpca_version, created, seconds, versions, settings
        How, when and by what it was made.
    data, notices
        The table, and what a person should look at in it.
    summary, advice
        The findings in plain words, and which setting to take.
    representations, leakage, carriers
        What was compared, what probes recognise, and which columns tell it.
    downstream, curves, certificates, deciders
        Models that predict the target or exist, utility against fairness, bounds for every
        threshold on a single column, and the columns that decide.

    See Also
    --------
    fairpca.auditing.render_page : The page of an audit that was kept as JSON.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from fairpca import audit
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"sex": rng.choice(["f", "m"], size=200)})
    >>> people["height"] = rng.normal(170, 7, size=200) + 13 * (people["sex"] == "m")
    >>> people["age"] = rng.integers(18, 80, size=200)
    >>> found = audit(people, "sex", quick=True, n_jobs=1)
    >>> found.settings.sensitive, found.data.n_rows
    (['sex'], 200)
    >>> len(found.to_html()) < 1_500_000  # one page, to be opened in a browser
    True
    """

    schema_version: str = doc("Version of this structure.")
    fairpca_version: str = doc("Version of the package that made it.")
    created: str = doc("When, in UTC, ISO 8601.")
    seconds: float = doc("How long the audit took.")
    versions: dict[str, str] = doc("Versions of Python and of the numerical libraries.")
    settings: Settings = doc("How it was made.")
    data: Data = doc("The table.")
    notices: list[Notice] = doc("What a person should look at.")
    summary: Summary = doc("The findings in plain words.")
    advice: Advice = doc("Which setting to take.")
    representations: list[Representation] = doc("What was compared.")
    leakage: list[Leak] = doc("What probes recognise.")
    downstream: list[Downstream] = doc("Models that predict the target, and models that exist.")
    curves: list[Curve] = doc("Utility against fairness; empty without a target.")
    certificates: list[CertifiedGap] = doc("Bounds for every threshold on a single column.")
    carriers: list[Carrier] = doc("Columns that carry the attributes, by what is lost with them.")
    deciders: list[Decider] = doc("Columns that decide, by how many decisions change with them.")

    def leakage_of(self, attribute: str) -> list[Leak]:
        """Return what probes recognise of one attribute.

        Parameters
        ----------
        attribute : str
            Name of the attribute.

        Returns
        -------
        list of Leak
            One for each representation and probe; none for an attribute that was not audited.
        """
        return [leak for leak in self.leakage if leak.attribute == attribute]

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists, strings and numbers; NaN becomes None."""
        return _plain(asdict(self))

    def to_json(self, *, indent: int | None = 1) -> str:
        """Return the audit as JSON, of the schema that `fairpca.auditing.audit_schema` returns.

        Parameters
        ----------
        indent : int or None, default=1
            Blanks before each level; None for a single line.

        Returns
        -------
        str
            NaN becomes null.
        """
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the report as one self-contained page, and write it if a path is given.

        Parameters
        ----------
        path : path, optional
            Where to write the page; it is written whole or not at all.

        Returns
        -------
        html : str
            The page.
        """
        from ._page import render_page  # a page is made from any audit, an old one's JSON too

        page = render_page(self.to_dict())
        if path is not None:
            with whole_file(path) as draft:
                draft.write_text(page, encoding="utf-8", newline="\n")
        return page

    def _repr_html_(self) -> str:
        from ._page import render_summary

        return render_summary(self.to_dict())

    def __repr__(self) -> str:
        return f"<Audit of {self.data.name}: {self.summary.headline}>"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def audit_from_plain(plain: Any) -> Audit:
    """Return an audit from its plain dictionaries, also those of an older version.

    What an older version did not write has its default; what a newer one added is left out. What
    does not follow the schema is refused, with the place.
    """
    version = plain.get("schema_version") if isinstance(plain, dict) else None
    readable = SCHEMA_VERSION.split(".")[0]
    if str(version).split(".")[0] != readable:
        raise UnreadableAuditError(
            f"schema_version={brief(version)} cannot be shown: this page is made "
            f"from audits of version {readable}.x, as plain dictionaries. Make the audit again "
            f"with the installed version of fairpca, or install the version that made it."
        )
    audit: Audit = _restored(Audit, plain, "audit")
    _check_places(audit)
    return audit


def _restored(kind: Any, value: Any, where: str) -> Any:
    """Return a value of a kind from plain dictionaries, or refuse it with where it stands."""
    if isinstance(kind, UnionType):
        return None if value is None else _restored(get_args(kind)[0], value, where)
    if kind is float and value is None:
        return None
    if not isinstance(value, _PLAIN.get(get_origin(kind) or kind, dict)) or (
        isinstance(value, bool) and kind is not bool
    ):
        _refuse(where, value, f"the schema says {_SPOKEN.get(get_origin(kind) or kind, 'object')}")
    if kind is int or kind is float:
        if not abs(value) <= _LARGEST:  # NaN, too
            _refuse(where, value, "no audit has such a number")
        return value
    if get_origin(kind) is list:
        (inner,) = get_args(kind)
        return [_restored(inner, one, f"{where}[{i}]") for i, one in enumerate(value)]
    if get_origin(kind) is dict:
        inner = get_args(kind)[1]
        items = value.items()
        return {str(key): _restored(inner, one, f"{where}[{brief(key)}]") for key, one in items}
    if not is_dataclass(kind):
        return value
    make: Any = kind
    found = {}
    for field in fields(make):
        place = f"{where}.{field.name}"
        if field.name in value:
            found[field.name] = _restored(_hints(make)[field.name], value[field.name], place)
        elif field.default is MISSING:
            raise UnreadableAuditError(f"{place} is missing, and every audit has it. {_AGAIN}")
    return make(**found)


def _check_places(audit: Audit) -> None:
    """Refuse what names something that is not there."""
    advice, keys = audit.advice, {one.key for one in audit.representations}
    settings = [(one.representation, one.tradeoff) for one in advice.options]
    if advice.representation and (advice.representation, advice.tradeoff) not in settings:
        _refuse("audit.advice.representation", advice.representation, "no option has that name")
    for i, (key, _) in enumerate(settings):
        if key not in keys:
            _refuse(f"audit.advice.options[{i}].representation", key, "nothing of it was compared")


def _refuse(where: str, value: Any, why: str) -> NoReturn:
    raise UnreadableAuditError(f"{where} is {brief(value)}, but {why}. {_AGAIN}")


@cache
def _hints(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls)


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
    ['Advice', 'Attribute', 'Carrier']
    """
    return {
        "$schema": DRAFT,
        "title": "fairpca audit",
        **_object(Audit),
        "description": f"Version {SCHEMA_VERSION}. {_first_line(Audit)}",
        "$defs": {cls.__name__: _object(cls) for cls in _parts(Audit)},
    }


def _object(cls: type) -> dict[str, Any]:
    hints = _hints(cls)
    properties = {
        field.name: {**_schema_of(hints[field.name]), **field.metadata} for field in fields(cls)
    }
    return {
        "type": "object",
        "description": _first_line(cls),
        "properties": properties,
        "required": list(properties),
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
    for kind in _hints(cls).values():
        for inner in [kind, *get_args(kind)]:
            if is_dataclass(inner):
                found[inner] = None  # type: ignore[index]
                found |= dict.fromkeys(_parts(inner))  # type: ignore[arg-type]
    return list(found)


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().splitlines()[0]
