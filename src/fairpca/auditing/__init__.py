"""What data give away about people, and what it costs to stop that."""

from ..errors import AuditError, TargetError, UnknownColumnError, UnreadableAuditError
from ._audit_result import Audit, audit_schema
from ._page import render_page, render_summary
from ._results import Advice, Estimate, Leak
from ._whole_audit import audit

__all__ = [
    "Audit",
    "AuditError",
    "TargetError",
    "UnknownColumnError",
    "UnreadableAuditError",
    "audit",
    "audit_schema",
    "render_page",
    "render_summary",
]
