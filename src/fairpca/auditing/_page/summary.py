"""The audit in a few lines, for notebooks."""

from __future__ import annotations

from typing import Any

from .audit_lookup import AuditLookup, in_order
from .libraries import template_environment
from .tables.leakage import leakage_tables


def render_summary(audit: dict[str, Any]) -> str:
    """Return the findings of an audit as a small piece of HTML without scripts.

    Parameters
    ----------
    audit : dict
        An audit as plain dictionaries, lists, strings and numbers, of version 1 of its structure.

    Returns
    -------
    fragment : str
        The headline, the findings, and how well probes guess each attribute before and after.

    Raises
    ------
    UnreadableAuditError
        If it is not an audit, or one of an unknown version.
    MissingExtraError
        If jinja2 is not installed.

    Examples
    --------
    >>> from fairpca.auditing._page import render_summary
    >>> render_summary({"schema_version": "9.0"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    fairpca.errors.UnreadableAuditError: schema_version='9.0' cannot be shown: ...
    """
    lookup = AuditLookup(audit)
    compared = in_order(key for key in (lookup.before(), lookup.after()) if key)
    names = {lookup.name(key) for key in compared}
    tables = [
        (table, [row for row in table.rows if row[0].text in names])
        for table in leakage_tables(lookup)
    ]
    template = template_environment().get_template("summary.html")
    page: str = template.render(audit=audit, tables=tables)
    return page.encode("utf-8", "replace").decode("utf-8")
