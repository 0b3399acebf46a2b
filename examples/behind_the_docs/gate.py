"""Measure how often `fairpca.gate` is wrong, and how many people it needs to decide.

``python examples/behind_the_docs/gate.py`` draws people from populations whose gap is known, and
writes ``docs/data/gate.json`` and the tables of docs/howto/ci.md, which a test compares. It takes
about ten minutes on one core; with ``tables`` it writes the tables alone.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from fairpca import gate

DOCS = Path(__file__).parents[2] / "docs"
NUMBERS, PAGE = DOCS / "data" / "gate.json", DOCS / "howto" / "ci.md"
LIMIT = 0.05
SAMPLES = 400
SIZES = (400, 2_000, 20_000)
WRONG = ("exceeded", "exceeded", "within", "within")
POPULATIONS = {
    "two groups": ([0.7, 0.3], [[0.40, 0.43], [0.40, 0.45], [0.40, 0.4501], [0.40, 0.50]]),
    "a rare outcome": ([0.8, 0.2], [[0.01, 0.03], [0.01, 0.06], [0.01, 0.0601], [0.01, 0.09]]),
    "five groups": (
        [0.3, 0.3, 0.2, 0.1, 0.1],
        [
            [0.40, 0.42, 0.41, 0.40, 0.43],
            [0.40, 0.45, 0.40, 0.45, 0.40],
            [0.42, 0.40, 0.4501, 0.43, 0.41],
            [0.40, 0.50, 0.43, 0.41, 0.48],
        ],
    ),
}
"""Shares of groups, and rates of populations below the limit, at, just above and far above it."""

NIGHTS = (250, 500, 1_000, 2_000, 4_000, 8_000, 16_000)
TRUE_GAPS = {"none": 0.0, "two": 0.02, "ten": 0.10}
RATE = 0.40


def people(n, rates, shares, seed=0):
    """Return decisions about people of several groups, with the rates of a population."""
    rng = np.random.default_rng(seed)
    group = rng.choice(len(rates), size=n, p=shares)
    return pd.DataFrame(
        {
            "race": np.array(list("abcdef"))[group],
            "sex": rng.choice(["f", "m"], size=n),
            "approved": (rng.random(n) < np.array(rates)[group]).astype(int),
            "repaid": rng.integers(0, 2, size=n),
        }
    )


def judged(shares, rates, n, times, seed):
    """Return the verdicts on samples of a population."""
    return [
        gate(
            people(n, rates, shares, seed=(seed, turn)),
            "race",
            decisions="approved",
            max_gap=LIMIT,
        )
        for turn in range(times)
    ]


def wrong_verdicts(shares, rates, n, times, seed):
    """Return the share of samples with a verdict that is not true of the population."""
    wrong = "within" if np.ptp(rates) > LIMIT + 1e-9 else "exceeded"
    found = [one.verdict for one in judged(shares, rates, n, times, seed)]
    return found.count(wrong) / times


def wrong_of_a_population(name, n):
    """Return the shares of wrong verdicts: below the limit, at it, just above, and far above."""
    shares, populations = POPULATIONS[name]
    return [
        wrong_verdicts(shares, rates, n, SAMPLES, seed) for seed, rates in enumerate(populations)
    ]


def of_a_night(n):
    """Return what a night with two groups of `n` people says: how sure, and how often it knows."""
    found = {
        name: judged([0.5, 0.5], [RATE, RATE + gap], 2 * n, SAMPLES, 10)
        for name, gap in TRUE_GAPS.items()
    }
    widths = [one.checks[0].high - one.checks[0].low for one in found["ten"]]
    shares = {
        name: [one.verdict for one in nights].count("exceeded" if name == "ten" else "within")
        / SAMPLES
        for name, nights in found.items()
    }
    return {"width": round(float(np.median(widths)), 4), **shares}


# The page. ----------------------------------------------------------------------------------------


def parts(numbers):
    """Return the tables of the page, and a sentence."""
    wrong = numbers["wrong"]
    return [of_nights(numbers["nights"]), of_wrong(wrong), most_wrong(wrong)]


def of_nights(nights):
    lines = [
        "| people in each group | interval | no gap: within | gap of 2: within "
        "| gap of 10: exceeded |",
        "|--:|--:|--:|--:|--:|",
    ]
    for n, one in nights.items():
        width = f"± {50 * one['width']:.1f}"
        shares = [f"{100 * one[name]:.0f} %" for name in TRUE_GAPS]
        lines.append(f"| {' | '.join([f'{int(n):,}', width, *shares])} |")
    return "\n".join(lines)


def of_wrong(wrong):
    lines = [
        "| people | gap of 2 or 3: exceeded | 5.00: exceeded | 5.01: within | 8 or more: within |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, sizes in wrong.items():
        for n, shares in sizes.items():
            cells = [f"{100 * share:.1f} %" for share in shares]
            lines.append(f"| {' | '.join([f'{int(n):,}, {name}', *cells])} |")
    return "\n".join(lines)


def most_wrong(wrong):
    """Return the sentence about the largest shares of wrong verdicts."""
    most = dict.fromkeys(WRONG, 0.0)
    for sizes in wrong.values():
        for shares in sizes.values():
            for verdict, share in zip(WRONG, shares, strict=True):
                most[verdict] = max(most[verdict], share)
    return (
        f'The largest share of a wrong "within" is {100 * most["within"]:.1f} %, that of a wrong '
        f'"exceeded" {100 * most["exceeded"]:.1f} %.'
    )


def write_tables(numbers):
    """Replace the tables of the page by those of the numbers: each begins as before."""
    text = PAGE.read_text(encoding="utf-8")
    for part in parts(numbers):
        head = re.escape(part[:20])
        text, times = re.subn(rf"^{head}.*?(?=\n\n)", part, text, flags=re.DOTALL | re.MULTILINE)
        assert times == 1, head
    PAGE.write_text(text, encoding="utf-8")


def main(*words):
    if "tables" not in words:
        wrong = {
            name: {str(n): wrong_of_a_population(name, n) for n in SIZES} for name in POPULATIONS
        }
        numbers = {"wrong": wrong, "nights": {str(n): of_a_night(n) for n in NIGHTS}}
        NUMBERS.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    write_tables(json.loads(NUMBERS.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main(*sys.argv[1:])
