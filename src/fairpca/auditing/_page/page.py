"""The page: text, tables and plots of an audit in one HTML file."""

from __future__ import annotations

from dataclasses import asdict
from importlib.resources import files
from typing import Any

from .audit_lookup import AuditLookup
from .embedding import content_policy, embedded_json, inline_script
from .figures.components import component_figures
from .figures.leakage import leakage_figures
from .figures.tradeoff import rate_figures, tradeoff_figures
from .figures.variance import variance_figures
from .libraries import plotly_script, template_environment
from .sections import page_sections
from .tables.columns import column_table, representation_table
from .tables.decisions import curve_tables, group_tables, parity_tables
from .tables.distributions import certificate_tables, gap_tables, variance_table
from .tables.leakage import leakage_tables
from .tables.reproduction import audit_again, fact_table, setting_table
from .tiles import summary_tiles
from .wording import AIMS, level, model_name, percent, significant, whole

SCRIPTS = ("choices.js", "plots.js", "tradeoff.js", "page.js")
"""Parts of the page's own script, in the order in which they are joined."""


LARGEST = 6_000_000
"""Bytes of a page that can still be sent by mail."""

LEFT_OUT: tuple[tuple[str, ...], ...] = (
    (),
    ("groups",),
    ("groups", "curves"),
    ("groups", "curves", "parity"),
)
"""Tables that are left out, the next ones as long as a page is too large; the JSON holds all."""

WRITERS = {
    "level": level,
    "model": model_name,
    "percent": percent,
    "significant": significant,
    "whole": whole,
}
"""How templates write numbers and names."""


def render_page(audit: dict[str, Any]) -> str:
    """Return an audit as one self-contained HTML file.

    It needs no network, and its policy forbids it to use one. Names and values of the data are
    shown as text, whatever they look like.

    Parameters
    ----------
    audit : dict
        An audit as plain dictionaries, lists, strings and numbers, of version 1 of its structure.

    Returns
    -------
    page : str
        HTML, to be written in UTF-8; about 5 MB, nearly all of it plotly.js.

    Raises
    ------
    UnreadableAuditError
        If it is not an audit, or one of an unknown version.
    MissingExtraError
        If jinja2 or plotly is not installed.

    See Also
    --------
    fairpca.Audit.to_html : The same of an audit in memory.

    Examples
    --------
    >>> from fairpca.auditing._page import render_page
    >>> render_page({"schema_version": "9.0"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    fairpca.errors.UnreadableAuditError: schema_version='9.0' cannot be shown: ...
    """
    lookup = AuditLookup(audit)
    figures = {
        "leakage": leakage_figures(lookup),
        "tradeoff": tradeoff_figures(lookup),
        "rates": rate_figures(lookup),
        "components": component_figures(lookup),
        "variance": variance_figures(lookup),
    }
    tables = {
        "leakage": leakage_tables(lookup),
        "curves": curve_tables(lookup),
        "variance": variance_table(lookup),
        "parity": parity_tables(lookup),
        "groups": group_tables(lookup),
        "certificates": certificate_tables(lookup),
        "gaps": gap_tables(lookup),
        "columns": column_table(lookup),
        "compared": representation_table(lookup),
        "settings": setting_table(lookup),
        "facts": fact_table(lookup),
    }
    plotly = inline_script(plotly_script())
    script = inline_script("\n".join(_source(name) for name in SCRIPTS))
    shown = {
        "audit": audit,
        "lookup": lookup,
        "sections": page_sections(lookup),
        "tiles": summary_tiles(lookup),
        "aims": AIMS,
        "command": audit_again(lookup),
        "write": WRITERS,
        "policy": content_policy([plotly, script]),
        "plotly": plotly,
        "script": script,
        "audit_json": embedded_json(audit),
        "figures_json": embedded_json(
            {name: [asdict(one) for one in several] for name, several in figures.items()}
        ),
    }
    template = template_environment().get_template("page.html")
    for left_out in LEFT_OUT:
        page = _encodable(template.render(**shown, tables={**tables, **dict.fromkeys(left_out)}))
        if len(page.encode("utf-8")) <= LARGEST:
            break
    return page


def _source(name: str) -> str:
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def _encodable(text: str) -> str:
    """Replace halves of characters, left behind by broken encodings, which UTF-8 does not have."""
    return text.encode("utf-8", "replace").decode("utf-8")
