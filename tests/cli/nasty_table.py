"""A file with all that goes wrong in files, and what is known about it."""

import csv
import io

import numpy as np

SCRIPT = "<script>alert(1)</script>"
"""The name of a sensitive column."""

AWKWARD = 'amount, in "euro";\nnet'
"""A name with the delimiter, a comma, quotes and a line break."""

HEBREW = "שכר"
EMOJI = "👩‍💻 size"
HOSTILE_VALUE = "<img src=x onerror=alert(2)>"
TINY_GROUP = "🦄 unicorn"
ROWS = 12_000
TINY_ROWS = 3


def nasty_rows(n=ROWS, seed=0):
    """Return the names of the columns, one of them twice, and n rows of texts."""
    rng = np.random.default_rng(seed)
    woman = rng.random(n) < 0.45
    score = rng.normal(size=n) - 0.8 * woman
    approved = score + rng.normal(size=n) > -0.3
    levels = np.array(["Ünited", "日本", HOSTILE_VALUE])
    origin = levels[rng.choice(3, n, p=[0.6, 0.3, 0.1])].astype(object)
    origin[rng.random(n) < 0.04] = ""
    places = rng.choice(n, TINY_ROWS, replace=False)
    origin[places] = TINY_GROUP
    days = rng.integers(0, 9000, n).astype("timedelta64[D]") + np.datetime64("1999-01-01")
    blank = rng.choice(["", " ", "  "], n)

    def either(share, texts, others):
        return np.where(rng.random(n) < share, np.asarray(texts, object), others)

    columns = [
        ("id", [f"{i * 7919 % 99_991:06x}" for i in range(n)]),
        ("gender", np.where(woman, "F ", " M")),
        (SCRIPT, origin),
        ("mixed", either(0.1, [f"code {i % 7}" for i in range(n)], rng.integers(0, 30, n))),
        ("score", either(0.1, ["", "NaN", "NA", "?"] * (n // 4), [_comma(x) for x in score])),
        ("score", [_comma(x) for x in rng.normal(size=n)]),
        (EMOJI, rng.choice(["S", "M", "L", "?"], n)),
        (HEBREW, rng.choice(["א", "ב", "ג"], n)),
        ("</style>", rng.choice(["<b>bold</b>", "&amp;", HOSTILE_VALUE], n)),
        (AWKWARD, [_comma(x) for x in rng.lognormal(7, 1, n)]),
        ("constant", ["same"] * n),
        ("free text", [f"words {v} 🙂 of {v % 89}" for v in rng.permutation(n) % 10_000]),
        ("empty", [""] * n),
        ("born", [_day(day, i % 2) for i, day in enumerate(days)]),
        ("joined", [_day(day, 0) for day in days]),
        ("thousands", [f"{v:,}".replace(",", ".") for v in rng.integers(0, 10**7, n)]),
        ("member", rng.choice(["yes", "no", "Yes ", ""], n)),
        ("huge", either(0.02, ["inf"] * n, [f"{v:.3g}" for v in rng.normal(size=n) * 1e300])),
        ("minute", [f"{v:.3g}" for v in rng.normal(size=n) * 1e-300]),
        ("negative zero", rng.choice(["-0", "0", "0,0", "-0,0"], n)),
        ("padded", [f"{b}word{i % 4}{b}" for i, b in enumerate(blank)]),
        ("approved again", np.where(approved, "sí", "nein")),
        ("approved", np.where(approved, "yes", "no")),
    ]
    return [name for name, _ in columns], [
        [str(value) for value in row] for row in zip(*(v for _, v in columns), strict=True)
    ]


def written(names, rows):
    """Return the bytes of a file: a mark at the beginning, semicolons, CR and LF at line ends."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=";", lineterminator="\r\n")
    writer.writerow(names)
    writer.writerows(rows)
    return b"\xef\xbb\xbf" + text.getvalue().encode("utf-8")


def _comma(value):
    return f"{value:.4f}".replace(".", ",")


def _day(day, british):
    year, month, date = str(day).split("-")
    return f"{date}/{month}/{year}" if british else str(day)
