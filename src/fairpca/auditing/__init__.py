"""What data give away about people, and what it costs to stop that."""

from ..errors import AuditError, TargetError, UnknownColumnError, UnreadableAuditError
from ._audit_result import Audit
from ._results import Advice, Estimate, Leak
from ._schema import audit_schema
from ._whole_audit import audit

__all__ = [
    "AuditError",
    "TargetError",
    "UnknownColumnError",
    "UnreadableAuditError",
    "audit_schema",
]
