"""What is fuzzed, by name; each file says what its target promises."""

from __future__ import annotations

from ..cases import Target
from .attributes import Attributes
from .audits import Audits
from .binary_tables import BinaryTables
from .command_line import CommandLine
from .models import Models
from .text_tables import TextTables

TARGETS: dict[str, type[Target]] = {
    target.name: target
    for target in (
        Models,
        TextTables,
        BinaryTables,
        Attributes,
        CommandLine,
        Audits,
    )
}
"""In the order in which they are run."""
