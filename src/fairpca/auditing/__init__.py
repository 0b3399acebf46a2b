"""What data reveal about people, and what it costs to remove that."""

from ._audit_result import Audit
from ._changes_in_words import ChangeLine, ChangesInWords
from ._overview import Overview
from ._results import Estimate, Leak, Option
from ._schema import audit_from_file, audit_schema
from ._since import check_attributes
from ._whole_audit import audit

__all__ = [
    "audit_schema",
]
