"""Numbers, names and lists as people read them: in audits, on pages, terminals and model cards."""

from __future__ import annotations

from collections.abc import Sequence

NOT_MEASURED = "n/a"


def decimal(value: float | None, digits: int = 2) -> str:
    """Write a number with a fixed number of digits, and never as -0.

    >>> decimal(0.7712), decimal(-0.001), decimal(None)
    ('0.77', '0.00', 'n/a')
    """
    if value is None:
        return NOT_MEASURED
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def percent(share: float | None, digits: int = 1, *, space: str = " ") -> str:
    """Write a share.

    >>> percent(0.0532), percent(0.05, 0), percent(None)
    ('5.3 %', '5 %', 'n/a')
    """
    return NOT_MEASURED if share is None else f"{decimal(100 * share, digits)}{space}%"


def points(share: float | None, *, space: str = " ") -> str:
    """Write a difference of two shares: from 10 % to 15 % it is 5 points.

    >>> points(0.231), points(None)
    ('23.1 points', 'n/a')
    """
    return NOT_MEASURED if share is None else f"{decimal(100 * share, 1)}{space}points"


def significant(value: float | None) -> str:
    """Write a number whose size may be anything with three digits.

    >>> significant(0.0270000000001), significant(0.00041), significant(0.0)
    ('0.027', '0.00041', '0')
    """
    return NOT_MEASURED if value is None else f"{value:.3g}"


def p_value(value: float | None) -> str:
    """Write a p-value, without more digits than a permutation test has.

    >>> p_value(0.3), p_value(0.00002)
    ('0.300', '< 0.001')
    """
    return "< 0.001" if value is not None and value < 0.001 else decimal(value, 3)


def whole(value: float | None) -> str:
    r"""Write a count, with thin spaces between thousands.

    >>> whole(48842)
    '48\u202f842'
    """
    return NOT_MEASURED if value is None else f"{value:,.0f}".replace(",", "\u202f")


def in_words(count: int) -> str:
    """Write a small count as a word.

    >>> in_words(3), in_words(12)
    ('three', '12')
    """
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    return words[count] if count < len(words) else str(count)


def of_groups(n_compared: int, n_groups: int) -> str:
    """Say how many groups a gap compares.

    >>> of_groups(3, 6)
    '3 of 6 groups compared'
    """
    return f"{n_compared} of {n_groups} groups compared"


def joined(names: Sequence[str], word: str = "and") -> str:
    """Join names as in a sentence.

    >>> joined(["race"]), joined(["race", "sex"]), joined(["race", "sex", "age"])
    ('race', 'race and sex', 'race, sex and age')
    """
    *others, last = names or [""]
    return f"{', '.join(others)} {word} {last}" if others else last


def shortened(text: str, length: int = 48, end: str = "…") -> str:
    """Return a text on one line and cut, such as the name of a column that is a sentence.

    >>> shortened("the applicant was married when applying", 16)
    'the applicant w…'
    """
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - len(end)] + end


def named(name: str) -> str:
    """Return the name of a column or level for a sentence.

    >>> named(" "), named("the  sex")
    ('(no name)', 'the sex')
    """
    return shortened(name, 60, "...") or "(no name)"


def in_markdown(text: str) -> str:
    r"""Return a text whose characters mean nothing in Markdown or HTML.

    >>> in_markdown("a|b <i> *c*")
    'a\\|b \\<i\\> \\*c\\*'
    """
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#~!" else c for c in " ".join(text.split()))
