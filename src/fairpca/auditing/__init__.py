"""What data reveal about people, and what it costs to remove that."""

from ._audit_result import Audit
from ._overview import Overview
from ._results import Estimate, Leak, Option
from ._schema import audit_schema
from ._whole_audit import audit

__all__ = [
    "audit_schema",
]
