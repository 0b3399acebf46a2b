"""One self-contained page from the plain dictionary of an audit."""

from ...errors import UnreadableAuditError
from .page import render_page
from .summary import render_summary

__all__ = ["UnreadableAuditError", "render_page", "render_summary"]
