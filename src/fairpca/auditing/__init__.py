"""What data reveal about people, and what it costs to remove that."""

from ._audit_result import Audit
from ._changes_in_words import ChangeLine, ChangesInWords
from ._gate import assert_gate, gate
from ._gate_result import Gate
from ._overview import Overview
from ._phrases import in_markdown
from ._policy import fraction_of, nearest_policy
from ._results import Estimate, Leak, Option
from ._schema import audit_from_file, audit_schema
from ._since import check_attributes
from ._whole_audit import audit

__all__ = [
    "audit_schema",
]
