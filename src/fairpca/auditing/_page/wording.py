"""Numbers and names as people write them."""

from __future__ import annotations

from typing import Any

NOT_MEASURED = "n/a"

MODELS = {"linear": "Linear model", "boosting": "Boosted trees", "kernel": "Kernel model"}
"""The same three models guess attributes (as probes) and predict the target."""

AIMS = {
    "hide": "let nobody tell the attributes",
    "decide": "make decisions that hardly depend on the attributes",
    "keep": "keep all columns, while linear models cannot tell the attributes",
}


def model_name(model: str) -> str:
    """Return what people call a probe or a downstream model.

    Examples
    --------
    >>> model_name("boosting")
    'Boosted trees'
    """
    return MODELS.get(model, model)


def decimal(value: float | None, digits: int = 2) -> str:
    """Write a number with a fixed number of digits.

    Examples
    --------
    >>> decimal(0.7712), decimal(None)
    ('0.77', 'n/a')
    """
    if value is None:
        return NOT_MEASURED
    return f"{value + 0.0:.{digits}f}".replace("-0." + "0" * digits, "0." + "0" * digits)


def percent(value: float | None) -> str:
    r"""Write a share.

    Examples
    --------
    >>> percent(0.8771), percent(None)
    ('87.7\xa0%', 'n/a')
    """
    return NOT_MEASURED if value is None else f"{decimal(100 * value, 1)}\u00a0%"


def level(value: float) -> str:
    r"""Write a level of confidence.

    Examples
    --------
    >>> level(0.95)
    '95\xa0%'
    """
    return f"{100 * value:g}\u00a0%"


def points(value: float | None) -> str:
    r"""Write a difference of two shares.

    Examples
    --------
    >>> points(0.231), points(None)
    ('23.1\xa0points', 'n/a')
    """
    return NOT_MEASURED if value is None else f"{decimal(100 * value, 1)}\u00a0points"


def significant(value: float | None) -> str:
    """Write a number whose size may be anything with three digits.

    Examples
    --------
    >>> significant(0.0270000000001), significant(0.00041), significant(0.0)
    ('0.027', '0.00041', '0')
    """
    return NOT_MEASURED if value is None else f"{value:.3g}"


def p_value(value: float | None) -> str:
    """Write a p-value, without more digits than a permutation test has.

    Examples
    --------
    >>> p_value(0.3), p_value(0.00002)
    ('0.300', '< 0.001')
    """
    if value is None:
        return NOT_MEASURED
    return "< 0.001" if value < 0.001 else decimal(value, 3)


def whole(value: float | None) -> str:
    r"""Write a count, with thin spaces between thousands.

    Examples
    --------
    >>> whole(48842)
    '48\u202f842'
    """
    return NOT_MEASURED if value is None else f"{value:,.0f}".replace(",", "\u202f")


def interval(estimate: dict[str, Any] | None, scale: float = 1, digits: int = 2) -> str:
    r"""Write the confidence interval of an estimate; empty if there is none.

    Examples
    --------
    >>> interval({"value": 0.77, "low": 0.741, "high": 0.80}, scale=100, digits=1)
    '74.1\xa0to\xa080.0'
    """
    if estimate is None or estimate["low"] is None or estimate["high"] is None:
        return ""
    ends = (decimal(scale * estimate[end], digits) for end in ("low", "high"))
    return "\u00a0to\u00a0".join(ends)


def listed(words: list[str]) -> str:
    """Join words as in a sentence.

    Examples
    --------
    >>> listed(["race", "sex", "age"])
    'race, sex and age'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def shortened(text: str, length: int = 48) -> str:
    """Cut long text, such as the name of a column that is a sentence.

    Examples
    --------
    >>> shortened("the applicant was married when applying", 16)
    'the applicant w…'
    """
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1] + "…"
