"""Numbers as people read them."""

from __future__ import annotations


def percent(share: float, digits: int = 1) -> str:
    """Return a share in per cent.

    Examples
    --------
    >>> percent(0.0532), percent(0.05, 0)
    ('5.3 %', '5 %')
    """
    return f"{100 * share:.{digits}f} %"
