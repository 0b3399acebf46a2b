"""What the page consists of, in which order; what was not measured has no section."""

from __future__ import annotations

from dataclasses import dataclass

from .audit_lookup import AuditLookup


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Parameters
    ----------
    key : str
        Its anchor, and the name of its template.
    question : str
        The heading: what it answers.
    short : str
        Its name in the list of contents.
    """

    key: str
    question: str
    short: str


def page_sections(lookup: AuditLookup) -> list[Section]:
    """Return the sections for which there is something to show."""
    audit = lookup.audit
    wanted = [
        (
            audit["leakage"],
            Section("leakage", "How well can a model guess who people are?", "Leakage"),
        ),
        (
            audit["curves"] and all(one["points"] for one in audit["curves"]),
            Section("tradeoff", "What does fairness cost in accuracy?", "Accuracy and fairness"),
        ),
        (
            audit["pictures"]["panels"],
            Section("components", "Do the groups look different?", "Components"),
        ),
        (
            any(one["ratios"] for one in audit["spectra"]),
            Section("variance", "How much of the data is kept?", "Variance kept"),
        ),
        (
            audit["downstream"],
            Section("parity", "Who gets a positive decision?", "Decisions by group"),
        ),
        (
            audit["certificates"],
            Section("certificates", "What holds for every classifier?", "Certificates"),
        ),
        (
            audit["gaps"],
            Section("gaps", "How differently are the groups distributed?", "Distributions"),
        ),
        (True, Section("columns", "What was in the table?", "Columns")),
        (
            True,
            Section("method", "How was this measured, and what is not shown?", "Method and limits"),
        ),
        (True, Section("reproduce", "How can this be reproduced?", "Reproduce")),
    ]
    return [section for measured, section in wanted if measured]
