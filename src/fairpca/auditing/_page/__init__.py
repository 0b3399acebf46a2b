"""The page: text, tables and plots of an audit in one HTML file, and its summary for notebooks.

Data and the script inside the file are never read as markup, and nothing else may run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from ...errors import UsageError
from .._audit_result import Audit
from .._changes_in_words import ChangesInWords
from .._evidence import Evidence
from .._overview import Overview
from .._phrases import decimal, joined, named, significant, whole
from .._recipes import audit_again, conditional_recipe
from .._templates import source, template
from .figures import page_figures
from .tables import leakage_tables, page_tables, plain_table
from .words import SPOKEN, Units, interval, level, model_name, multiline, percent, with_models

LARGEST = 2_500_000
"""Bytes of a page that can be sent by mail and opened on a phone."""

LEFT_OUT = ("all_changes", "groups", "parity", "leakage")
"""Left out one after the other, tables and plots, while a page is too large; the JSON has all."""

DIGITS = 6
"""Significant digits of embedded numbers: far more than any interval here deserves."""

POLICY = (
    "default-src 'none'; script-src 'sha256-{}'; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)
"""One inline script runs, and no other; nothing is fetched."""

ESCAPED = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})

WRITERS = {
    "decimal": decimal,
    "interval": interval,
    "joined": joined,
    "level": level,
    "model": model_name,
    "models": with_models,
    "multiline": multiline,
    "named": named,
    "percent": percent,
    "significant": significant,
    "spoken": SPOKEN,
    "table": plain_table,
    "whole": whole,
}
"""How templates write numbers and names."""


def render_page(audit: Audit) -> str:
    """Return an audit as one self-contained HTML file.

    It needs no network, and its policy forbids it to use one. Names and values of the data are
    shown as text, whatever they look like.
    """
    evidence = Evidence(audit)
    figures, tables = page_figures(evidence), page_tables(evidence)
    script = _inline_script(source("page.js"))
    digest = hashlib.sha256(script.encode()).digest()
    page_template = template("page.html")

    def rendered() -> str:
        page = page_template.render(
            audit=audit,
            evidence=evidence,
            units=Units(audit.data.target),
            overview=Overview(audit),
            changes=ChangesInWords(audit) if audit.changes else None,
            command=audit_again(audit),
            conditional=conditional_recipe(audit),
            write=WRITERS,
            policy=POLICY.format(base64.b64encode(digest).decode()),
            script=script,
            audit_json=_embedded_json(audit.to_dict()),
            tables=tables,
            figures=figures,
        )
        return _encodable(page)

    page = rendered()
    for name in LEFT_OUT:
        if len(page.encode("utf-8")) <= LARGEST:
            break
        tables[name] = figures[name] = []
        page = rendered()
    return page


def render_summary(audit: Audit) -> str:
    """Return the findings of an audit as a small piece of HTML without scripts.

    It has the headline, the findings, and how well probes predict each attribute before and
    after.
    """
    evidence = Evidence(audit)
    names = {evidence.representations[evidence.readable(one)].name for one in audit.advice.options}
    tables = [
        (table, [row for row in table.rows if row[0].text in names])
        for table in leakage_tables(evidence)
    ]
    return _encodable(template("summary.html").render(audit=audit, tables=tables))


def _encodable(text: str) -> str:
    """Replace halves of characters, left behind by broken encodings, which UTF-8 does not have."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _embedded_json(value: Any) -> str:
    r"""Return JSON that may stand inside a script element, whatever text it holds, in ASCII.

    >>> _embedded_json({"</script>": "R&D"})
    '{"\\u003c/script\\u003e":"R\\u0026D"}'
    """
    rounded = json.loads(json.dumps(value), parse_float=lambda x: float(f"{float(x):.{DIGITS}g}"))
    return json.dumps(rounded, allow_nan=False, separators=(",", ":")).translate(ESCAPED)


def _inline_script(source: str) -> str:
    """Return a script as the browser will read it, so that its digest is the browser's."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    for mark in ("</script", "<script", "<!--"):
        if mark in source.lower():
            raise UsageError(f"a script with {mark!r} in it cannot stand inside an HTML file")
    return source
