"""What an audit cannot work with."""

from __future__ import annotations

from ..errors import FairPCAError


class AuditError(FairPCAError, ValueError):
    """The question cannot be asked of this table; the message says what to change."""


class UnknownColumnError(AuditError):
    """A column was named that the table does not have."""


class TargetError(AuditError):
    """The target is not a yes or no that can be predicted."""
