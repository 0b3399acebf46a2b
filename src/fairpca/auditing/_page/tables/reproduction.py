"""How the audit was made, as tables."""

from __future__ import annotations

import shlex
from typing import Any

from ..audit_lookup import AuditLookup
from ..wording import decimal, percent, points, whole
from .table import Table, words


def audit_again(lookup: AuditLookup) -> str:
    """Return what makes this audit again: a command for a file, a call for a frame in memory."""
    settings, data = lookup.audit["settings"], lookup.audit["data"]
    target = data["target"] or {"name": None, "positive": None}
    arguments = {
        "sensitive": settings["sensitive"],
        "target": target["name"],
        "positive": target["positive"],
        "ignore": data.get("ignored", []),
        "aim": settings["aim"],
        "max_gap": settings["max_gap"],
        "n_components": settings["n_components"],
        "seed": settings["seed"],
        "quick": settings["quick"],
        **_how_the_file_is_read(data.get("reading")),
    }
    given = {
        name: value
        for name, value in arguments.items()
        if value is not None and value is not False and value != []  # a seed of 0 is given
    }
    source = data.get("source", data["name"])
    return _command(source, given) if source else _call(given)


def _how_the_file_is_read(reading: dict[str, Any] | None) -> dict[str, Any]:
    """Return what had to be said about a text file, as options of the command."""
    if reading is None:
        return {}
    header = reading["header"]
    return {
        "columns": ",".join(reading["columns"]) if reading["columns"] else None,
        "no_header" if header is False else "header": True if header is not None else None,
        "skip_lines": reading["skip_lines"] or None,
    }


def _command(source: str, given: dict[str, Any]) -> str:
    said = ["fairpca", "audit", source]
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        for one in value if isinstance(value, list) else [value]:
            said += [option] if one is True else [option, str(one)]
    return shlex.join(said)


def _call(given: dict[str, Any]) -> str:
    lines = [f"    {name}={value!r}," for name, value in given.items()]
    return "\n".join(["import fairpca", "", "fairpca.audit(", "    frame,", *lines, ")"])


def setting_table(lookup: AuditLookup) -> Table:
    """Return the settings in words."""
    settings = lookup.audit["settings"]
    named = {
        "Sensitive columns": ", ".join(settings["sensitive"]),
        "Target": settings["target"] or "none",
        "Aim": settings["aim"],
        "Largest gap accepted": points(settings["max_gap"]),
        "Components": whole(settings["n_components"]),
        "Splits": whole(settings["n_splits"]),
        "Rows a probe sees at most": whole(settings["n_probe_rows"]),
        "Confidence": percent(settings["confidence"]),
        "Seed": str(settings["seed"]),
        "Quick": "yes: fewer splits and rows" if settings["quick"] else "no",
    }
    return Table("Settings", ["Setting", "Value"], [words(*pair) for pair in named.items()])


def fact_table(lookup: AuditLookup) -> Table:
    """Return the data, the time and the versions."""
    audit, data = lookup.audit, lookup.audit["data"]
    named = {
        "Table": data["name"],
        "Fingerprint": data["fingerprint"],
        "Rows": whole(data["n_rows"]),
        "Rows left out, without target": whole(data["n_rows_dropped"]),
        "Feature columns": whole(data["n_features"]),
        "Numbers per row after encoding": whole(data["n_encoded"]),
        "Made": audit["created"],
        "Seconds": decimal(audit["seconds"], 1),
        "fairpca": audit["fairpca_version"],
        **audit["versions"],
        "Structure of the numbers": audit["schema_version"],
    }
    return Table("Data and versions", ["Item", "Value"], [words(*pair) for pair in named.items()])
