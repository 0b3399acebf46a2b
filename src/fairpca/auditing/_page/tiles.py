"""The few numbers that stand beside the summary."""

from __future__ import annotations

from dataclasses import dataclass

from .audit_lookup import AuditLookup, parity_of, value_of
from .wording import decimal, model_name, percent, points

LINEAR = "linear"


@dataclass(frozen=True)
class Tile:
    """One number before and after.

    Parameters
    ----------
    label, note : str
        What it is; what it has to be compared with.
    before, after : str
        As text.
    before_at, after_at : float
        Where they lie on a scale from 0 to 1, for the small drawing.
    """

    label: str
    before: str
    after: str
    note: str
    before_at: float
    after_at: float


def summary_tiles(lookup: AuditLookup) -> list[Tile]:
    """Return leakage, gap and accuracy, as far as they were measured.

    Leakage and gap are those of the attribute, intersections aside, that is worst off before.
    """
    before, after = lookup.before(), lookup.after()
    if before is None or after is None:
        return []
    tiles = [
        _worst([_leakage(lookup, before, after, name) for name in _attributes(lookup)]),
        _worst([_gap(lookup, before, after, name) for name in _attributes(lookup)]),
        _accuracy(lookup, before, after),
    ]
    return [tile for tile in tiles if tile]


def _attributes(lookup: AuditLookup) -> list[str]:
    return [one["name"] for one in lookup.attributes if one["kind"] != "intersection"]


def _worst(tiles: list[tuple[float, Tile] | None]) -> Tile | None:
    measured = [one for one in tiles if one]
    return max(measured, key=lambda one: one[0])[1] if measured else None


def _leakage(
    lookup: AuditLookup, before: str, after: str, attribute: str
) -> tuple[float, Tile] | None:
    """Return the best probe before and after, which need not be the same."""
    read = lookup.readable_from(after)
    leaks = [lookup.leaks(key, attribute) for key in (before, read)]
    if not all(leaks):
        return None
    first, last = (max(one["auc"]["value"] for one in several) for several in leaks)
    reached = [
        f"{model_name(one['probe']).lower()} {decimal(one['auc']['value'])}" for one in leaks[1]
    ]
    return first, Tile(
        f"AUC of guessing {attribute}, best of {len(leaks[1])} models",
        decimal(first),
        decimal(last),
        f"0.50 is guessing; after: {', '.join(reached)}"
        + ("" if read == after else ". Above lambda 0, a model that rescales its inputs reads PCA"),
        _within(2 * first - 1),
        _within(2 * last - 1),
    )


def _gap(lookup: AuditLookup, before: str, after: str, attribute: str) -> tuple[float, Tile] | None:
    parities = [parity_of(lookup.decisions(key, LINEAR), attribute) for key in (before, after)]
    first, last = (value_of(one["dp_gap"]) if one else None for one in parities)
    if first is None or last is None:
        return None
    top = max(first, last, 0.01)
    return first, Tile(
        f"Gap of selection rates between the groups of {attribute}, linear model",
        decimal(100 * first, 1),
        points(last),
        "0 is selecting all groups at the same rate",
        _within(first / top),
        _within(last / top),
    )


def _accuracy(lookup: AuditLookup, before: str, after: str) -> Tile | None:
    models = [lookup.decisions(key, LINEAR) for key in (before, after)]
    first, last = (value_of(one["accuracy"]) if one else None for one in models)
    target = lookup.audit["data"]["target"]
    if first is None or last is None or target is None:
        return None
    return Tile(
        f"Accuracy of predicting {target['name']}, linear model",
        decimal(100 * first, 1),
        percent(last),
        f"{percent(max(target['rate'], 1 - target['rate']))} is always saying the same; this model "
        "selects as many as are positive",
        _within(first),
        _within(last),
    )


def _within(value: float) -> float:
    return min(1.0, max(0.0, value))
