"""Data and scripts inside an HTML file: never read as markup, and nothing else may run."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from typing import Any

from ...errors import UsageError

DIGITS = 6
"""Significant digits of embedded numbers: far more than any interval here deserves."""

ESCAPED = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def embedded_json(value: Any) -> str:
    r"""Return JSON that may stand inside a script element, whatever text it holds.

    Only ASCII is left, so the line separators of Unicode are escaped as well. Numbers keep six
    significant digits, which halves the size.

    Examples
    --------
    >>> embedded_json({"</script>": "R&D"})
    '{"\\u003c/script\\u003e":"R\\u0026D"}'
    """
    text = json.dumps(_rounded(value), allow_nan=False, separators=(",", ":"))
    return text.translate(ESCAPED)


def inline_script(source: str) -> str:
    """Return a script as the browser will read it, so that its digest is the browser's.

    Raises
    ------
    ValueError
        If it holds text that would end the script element, or begin a comment in it.
    """
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    for mark in ("</script", "<script", "<!--"):
        if mark in source.lower():
            raise UsageError(f"a script with {mark!r} in it cannot stand inside an HTML file")
    return source


def content_policy(scripts: Iterable[str]) -> str:
    """Return a policy under which these inline scripts run, and no other; nothing is fetched.

    Styles may stand in the file, because plotly writes some for its drawings.
    """
    digests = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {digests}",
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
