"""Names, labels and numbers in Markdown: data, never markup."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

MOST_SHOWN = 60
"""So many names or labels are listed; the number of the others is given."""

LONGEST = 80
"""Longer texts are cut."""


def as_text(value: Any) -> str:
    r"""Return a value so that Markdown and HTML show it as it is, on one line.

    Examples
    --------
    >>> print(as_text("<b>*a*</b>"))
    &lt;b&gt;\*a\*&lt;/b&gt;
    """
    text = str(value)
    text = text if len(text) <= LONGEST else text[:LONGEST] + "..."
    text = "".join(c if c.isprintable() else " " for c in text)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*_\[\]#|~$@])", r"\\\1", text)
    return (
        re.sub(r"(:)(?=//)|(?<=www)(\.)", r"\\\g<0>", text) or "(empty)"
    )  # no links by themselves


def listed(values: Any) -> str:
    """Return values as text, one after the other; the number of those left out is given."""
    values = [values] if isinstance(values, str) else list(values)
    more = f", and {len(values) - MOST_SHOWN} more" if len(values) > MOST_SHOWN else ""
    return ", ".join(as_text(v) for v in values[:MOST_SHOWN]) + more


def as_number(value: Any) -> str:
    """Return a number with the digits that matter, and anything else as text."""
    return f"{value:.4g}" if isinstance(value, float | np.floating) else as_text(value)
