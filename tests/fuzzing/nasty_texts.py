"""Tables as texts, with all that people, programs and bad luck put into them."""

from __future__ import annotations

import csv
import gzip
import io
import random

from .byte_mutations import mutated

NUMBERS = (
    *("0", "-0", "1", "-1", "3.5", "1e308", "-1e308", "1e999", "nan", "NaN", "inf", "-inf", "+1"),
    *("1_000", "0x10", "1,5", "1.234,5", "1 000", "٣", "１２", "1e", ".", "-", "9" * 400, "1e-320"),
    *("007", "1.0", "1.0000000000000000001", "18446744073709551616", "9223372036854775808"),
)
TEXTS = (
    *("", " ", "a", "b", "yes", "no", "true", "FALSE", "?", "NA", "null", "None", "...", "#N/A"),
    *("=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0", "\t=1", "<script>x</script>", "&lt;"),
    *('"', '""', '"a', "a\nb", "a\rb", "a,b", "a;b", "a|b", "\\", "'", "\x1b[31m", "\x07", "\x00"),
    *(
        "\ufeff",
        "\u2028",
        "\u0085",
        "\x1c",
        "é",
        "日本",
        "😀",
        "\u202e",
        "x" * 3000,
        "../../etc/passwd",
    ),
    *("2020-01-01", "31/12/2020", "2020-13-45", "12:30", "0000-00-00", "9999-12-31", "1e5"),
)
NAMES = (
    *(
        "age",
        "sex",
        "job",
        "x",
        "",
        " ",
        "age",
        "Age",
        "1",
        "1.5",
        "nan",
        "a,b",
        "a\nb",
        "=x",
        "../x",
    ),
    *(
        "<b>",
        "<30",
        "a (2)",
        "CustomerID",
        "userid",
        "__index_level_0__",
        "\x1b[2J",
        "fairpca0",
        "é",
        "😀",
        "n" * 2000,
        "__class__",
        "weight",
    ),
)
DELIMITERS = (",", ",", ",", ";", "\t", "|", " ", ":")
ENDS = ("\n", "\n", "\r\n", "\r", "\n\n")
ENCODINGS = (
    *("utf-8", "utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le", "cp1252"),
    *("utf-16-be", "utf-32", "shift_jis", "mac_roman"),
)
MOST_ROWS_OF_MANY = 10


USUAL = {"age": 1, "sex": 2, "job": 2, "weight": 0}
"""Which kind of values a column mostly has."""


def _column(rng: random.Random, name: str, n: int) -> list[str]:
    """Return values that are mostly of one kind."""
    kind = USUAL[name] if name in USUAL and rng.random() < 0.8 else rng.randrange(8)
    if kind == 0:
        values = [str(rng.randint(0, 9)) for _ in range(n)]
    elif kind == 1:
        values = [f"{rng.gauss(0, 1):.4g}" for _ in range(n)]
    elif kind == 2:
        values = [rng.choice(("f", "m")) for _ in range(n)]
    elif kind == 3:
        values = [
            f"20{rng.randint(10, 30)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}" for _ in range(n)
        ]
    elif kind == 4:
        values = [rng.choice(NUMBERS) for _ in range(n)]
    elif kind == 5:
        values = [rng.choice(TEXTS) for _ in range(n)]
    elif kind == 6:
        values = [rng.choice(TEXTS)] * n
    else:
        values = [f"text {rng.randint(0, 10**6)} {i}" for i in range(n)]
    for _ in range(rng.choice((0, 0, 0, 1, 3))):
        if n:
            values[rng.randrange(n)] = rng.choice(rng.choice((NUMBERS, TEXTS)))
    return values


def nasty_table(rng: random.Random, given: tuple[str, ...]) -> tuple[bytes, str]:
    """Return the bytes of a file, and what is odd about it; it mostly has the given columns."""
    n = rng.choice((0, 1, 2, 3, 10, 60, 80, 80))
    names = [*given] if rng.random() < 0.8 else []
    names += [rng.choice(NAMES) for _ in range(rng.choice((0, 1, 2, 5)))]
    rng.shuffle(names)
    if names and n <= MOST_ROWS_OF_MANY and rng.random() < 0.1:  # the same names, again and again
        names *= rng.choice((20, 400))
    columns = [_column(rng, name, n) for name in names]
    lines = [names, *map(list, zip(*columns, strict=True))]
    delimiter, quoting = rng.choice(DELIMITERS), rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    if rng.random() < 0.2:
        quoting = csv.QUOTE_NONE
    text = io.StringIO(newline="")
    end = rng.choice(ENDS)
    if len(names) == 1:
        quoting = csv.QUOTE_ALL  # a single empty field cannot be written otherwise
    writer = csv.writer(
        text, delimiter=delimiter, lineterminator=end, quoting=quoting, escapechar="\\"
    )
    writer.writerows(lines[rng.choice((0, 0, 0, 0, 1)) :])
    whole = _spoilt(rng, text.getvalue(), end)
    encoding = rng.choice(ENCODINGS)
    content = whole.encode(encoding, errors="replace")
    how = f"{len(names)} columns, {n} rows, {delimiter!r}, {end!r}, {encoding}"
    if rng.random() < 0.15:
        content, how = gzip.compress(content, 1, mtime=0), how + ", gzip"
    if rng.random() < 0.2:
        content, done = mutated(rng, content or b"\n", content)
        how += f", {done}"
    return content, how


def _spoilt(rng: random.Random, text: str, end: str) -> str:
    """Return a text with something before, after or between its lines, or without its end."""
    kind = rng.randrange(12)
    if kind == 0:
        return (
            rng.choice(("# comment\n", "\n\n", " \n", "sep=;\n", "\ufeff", '"', "title\n\n")) + text
        )
    if kind == 1:
        return text + rng.choice(("total,3\n", "\n\n\n", '"', "\x1a", ",,,,,\n", "a"))
    if kind == 2:
        return text.rstrip(end)
    if kind == 3 and text:
        cut = rng.randrange(len(text))
        return text[:cut] + rng.choice(TEXTS) + text[cut:]
    if kind == 4:
        return text.replace(end, end.join(("", rng.choice(("", " ", ",", '"')), "")), 1)
    return text
