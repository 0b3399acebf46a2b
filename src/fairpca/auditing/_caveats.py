"""What an advised representation does not protect."""

from __future__ import annotations

from ..metrics import joined, named
from ._evidence import Evidence, largest


def caveats_of(evidence: Evidence, key: str, tradeoff: float | None) -> list[str]:
    """Return the caveats, the most important first, with their numbers."""
    # What lambda scales down, a model that rescales its inputs sees as from plain PCA.
    leaks = evidence.leaks("pca" if tradeoff else key)
    worst = largest([leak for leak in leaks if leak.probe != "linear"])
    name, auc = named(worst.attribute), f"AUC {worst.auc.value:.2f}"
    seen = (
        f"here the better of the two non-linear probes still recognises {name} with {auc}."
        if worst.above_chance
        else f"here the two non-linear probes did not do better than chance ({auc} for {name}), "
        f"but others might."
    )
    caveats = [f"Equal means do not hide what a non-linear model can see: {seen}"]
    linear = largest([leak for leak in leaks if leak.probe == "linear"])
    if tradeoff:
        caveats.append(
            f"With lambda = {tradeoff:g} the attributes are still in the representation, scaled "
            f"down: a model that rescales its inputs reads them. The guarantee of fair PCA holds "
            f"for lambda = 0 only."
        )
    elif linear.above_chance:
        caveats.append(
            f"On new rows a linear model still recognises {named(linear.attribute)} with AUC "
            f"{linear.auc.value:.2f}: means are equal on the rows that were fitted to, and nearly "
            f"so on others (the more rows, the nearer); and where groups have differently shaped "
            f"distributions, equal means do not keep a linear score from ranking them."
        )
    small = [
        f"{named(a.name)} = {named(g.label)} ({g.n_rows})"
        for a in evidence.data.attributes
        if a.kind != "intersection"
        for g in a.groups
        if g.n_rows < 100
    ]
    if small:
        caveats.append(
            f"Groups of fewer than 100 rows are measured roughly: {joined(small[:4])}"
            f"{' and others' if len(small) > 4 else ''}. Look at the intervals."
        )
    caveats.append(
        "Only the named attributes were measured. Any other may be read from every representation "
        "here."
    )
    caveats.append(
        "All numbers are about people like those in this table. Audit again when the data, or "
        "what is decided with them, change."
    )
    return caveats
