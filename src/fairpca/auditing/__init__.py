"""What data give away about people, and what it costs to stop that."""

from ..errors import AuditError, TargetError, UnknownColumnError, UnreadableAuditError
from ._attribute_plans import (
    AttributePlan,
    LevelPlan,
    QuantityPlan,
    cut_in_two,
    plan_levels,
    refuse_dates,
    what_was_merged,
)
from ._attributes import estimator_columns, is_quantity, measured_attributes
from ._audit_result import Audit
from ._page.page import render_page
from ._page.summary import render_summary
from ._preparation import as_table, roles_in, usual_components
from ._representations import COVARIANCE_TOLERANCE, approximation_for, fewer_and_fewer
from ._results import Leak
from ._roles import as_text, binary_target, is_known
from ._schema import audit_schema
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
