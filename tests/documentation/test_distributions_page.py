"""The page of the study quotes its own numbers."""

from pathlib import Path

from optional_libraries import pandas as pd

ROOT = Path(__file__).parents[2]


def test_the_table_is_that_of_the_file():
    from benchmarks.distributions import shown

    found = pd.read_csv(ROOT / "docs" / "data" / "distributions.csv")
    assert shown(found) in (ROOT / "docs" / "research" / "distributions.md").read_text()
