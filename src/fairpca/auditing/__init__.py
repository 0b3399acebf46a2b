"""What data give away about people, and what it costs to stop that."""

from .audit_result import Audit
from .errors import AuditError, TargetError, UnknownColumnError
from .schema import audit_schema
from .whole_audit import audit

__all__ = [
    "Audit",
    "AuditError",
    "TargetError",
    "UnknownColumnError",
    "audit",
    "audit_schema",
]
