"""`fairpca fit` on many files, as somebody types it, and interrupts it."""

import os
import shutil
import signal
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest

from cli import refusals
from fairpca import FairTableTransformer
from fairpca._cli import terminal
from fairpca.models import _large_tables as large_tables
from fairpca.models import _look
from people import made_up_people
from systems import posix

FIT = ("--sensitive", "sex", "--target", "paid", "--out", "model.fairpca")
ARRAYS = ("components_", "mean_", "explained_variance_", "explained_variance_ratio_")

assert_refused = partial(refusals.assert_refused, absent=("model.fairpca", "model.md"))


@pytest.fixture(scope="session")
def people_in_files(tmp_path_factory):
    """People in four Parquet files, in two CSV files, and in one."""
    folder, people = tmp_path_factory.mktemp("people"), made_up_people(n=1200)
    for name in ("parts", "texts"):
        (folder / name).mkdir()
    for i in range(4):
        rows = people[i * 300 : (i + 1) * 300]
        rows.to_parquet(folder / f"parts/{i}.parquet", index=False, row_group_size=100)
    people[:500].to_csv(folder / "texts/0.csv", index=False)
    people[500:].to_csv(folder / "texts/1.csv", index=False)
    people.to_csv(folder / "people.csv", index=False)
    return folder


@pytest.fixture
def fairpca(command, people_in_files):
    """Run the command line in a folder of one's own with these files."""
    shutil.copytree(people_in_files, ".", dirs_exist_ok=True)
    return command


def assert_same_arrays(one, other):
    """The same model to the last bit."""
    one, other = FairTableTransformer.load(one), FairTableTransformer.load(other)
    for name in ARRAYS:
        np.testing.assert_array_equal(
            getattr(one.estimator_, name), getattr(other.estimator_, name)
        )
    np.testing.assert_array_equal(one.encoder_.mean_, other.encoder_.mean_)


@pytest.mark.parametrize(
    "data",
    [("parts/*.parquet",), ("parts",), ("texts/0.csv", "texts/1.csv"), ("texts/?.csv",)],
)
def test_patterns_folders_and_several_files_are_one_table(fairpca, data):
    result = fairpca("fit", *data, *FIT)
    assert result.exit_code == 0, result.output
    n_files = 4 if data[0].startswith("parts") else 2
    assert f"from 1,200 rows of {n_files} files" in result.stdout
    assert "Fitting to the rows: 1,200 of 1,200" in result.stderr
    assert fairpca("fit", "people.csv", *FIT[:-1], "whole.fairpca", "-q").exit_code == 0
    people = pd.read_csv("people.csv")
    found, expected = (
        FairTableTransformer.load(name).transform(people)
        for name in ("model.fairpca", "whole.fairpca")
    )
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-8)


def test_the_sample_and_unknown_levels_are_told(fairpca, monkeypatch):
    monkeypatch.setattr(_look, "SAMPLE_ROWS", 100)
    rows = pd.read_parquet("parts/3.parquet")
    rows.loc[:29, "town"] = [f"[red]Island {i}[/red]" for i in range(30)]
    rows.to_parquet("parts/3.parquet", index=False)
    result = fairpca("fit", "parts", *FIT)
    assert result.exit_code == 0, result.output
    assert "learned from a sample of 100 of 1,200 rows" in result.stdout
    assert "not in the sample count as unknown: town (" in result.stdout
    card = Path("model.md").read_text(encoding="utf-8")
    assert "sample\\_rows | 100" in card
    assert "unknown\\_levels, town |" in card


def interrupting(monkeypatch, after):
    """Have Ctrl-C arrive in the second pass."""
    encode, calls = large_tables._EncodedRows.encoded, []

    def encoded(self, part):
        calls.append(part)
        if len(calls) > after:
            raise KeyboardInterrupt
        return encode(self, part)

    monkeypatch.setattr(large_tables._EncodedRows, "encoded", encoded)


def test_ctrl_c_leaves_nothing_and_says_so(fairpca, monkeypatch):
    interrupting(monkeypatch, after=2)
    assert_stopped(fairpca("fit", "parts", *FIT, "-q"), 130)


def assert_stopped(result, code):
    assert result.exit_code == code
    assert "nothing was written" in result.stderr
    assert sorted(os.listdir()) == ["parts", "people.csv", "texts"]


@posix
def test_a_polite_kill_leaves_nothing_and_says_so(fairpca, monkeypatch):
    before = signal.getsignal(signal.SIGTERM)
    encode, kills = large_tables._EncodedRows.encoded, [signal.SIGTERM]

    def encoded(self, part):
        if kills:
            os.kill(os.getpid(), kills.pop())
            time.sleep(0.5)  # until it has arrived
        return encode(self, part)

    monkeypatch.setattr(large_tables._EncodedRows, "encoded", encoded)
    assert_stopped(fairpca("fit", "parts", *FIT, "-q"), 143)
    assert signal.getsignal(signal.SIGTERM) is before


def other_columns():
    made_up_people(n=50).rename(columns={"luck": "Luck"}).to_parquet("parts/4.parquet", index=False)


def other_types():
    people = made_up_people(n=50).assign(luck="good")
    people.to_parquet("parts/4.parquet", index=False)


def another_kind():
    made_up_people(n=50).to_csv("parts/people.csv", index=False)


def truncated():
    os.truncate("parts/2.parquet", os.path.getsize("parts/2.parquet") // 2)


def overwritten():
    path = "parts/2.parquet"
    place = pyarrow.parquet.read_metadata(path).row_group(1).column(2).data_page_offset
    with open(path, "r+b") as file:
        file.seek(place)
        file.write(b"\xff" * 200)


def a_text_among_numbers():
    people = pd.read_csv("texts/1.csv", dtype=object)
    people.loc[690, "height"] = "tall"
    people.to_csv("texts/1.csv", index=False)


@pytest.mark.parametrize(
    ("damage", "arguments", "message"),
    [
        (None, ("nothing/*.parquet", *FIT), "No file matches 'nothing/*.parquet'"),
        (None, ("parts/0.parquet", "parts/9.parquet", *FIT), "parts/9.parquet"),
        (None, ("parts/0.parquet", "parts", *FIT), "twice"),
        (None, ("parts", "texts/0.csv", *FIT), "is a parquet file, but 'texts/0.csv' is a text"),
        (None, ("parts", "--sensitive", "sx", "--out", "model.fairpca"), "Did you mean 'sex'?"),
        (None, ("parts", "--out", "model.fairpca"), "No sensitive column"),
        (None, ("parts", *FIT, "--columns", "a,b"), "text files"),
        (another_kind, ("parts", *FIT), "people.csv"),
        (other_columns, ("parts", *FIT), "'parts/4.parquet' lacks the column 'luck'"),
        (other_types, ("parts", *FIT), "parts/4.parquet"),
        (truncated, ("parts", *FIT), "'parts/2.parquet' is a damaged or cut-off parquet file"),
        (overwritten, ("parts", *FIT), "ow group 1 of 'parts/2.parquet'"),
        (a_text_among_numbers, ("texts", *FIT), "of 'texts/1.csv': Column 'height' held numbers"),
    ],
)
def test_what_cannot_be_read_ends_with_one_line(fairpca, monkeypatch, damage, arguments, message):
    monkeypatch.setattr(_look, "SAMPLE_ROWS", 50)
    monkeypatch.setattr(large_tables, "BATCH_ROWS", 100)
    if damage is not None:
        damage()
    assert_refused(fairpca("fit", *arguments, "-q"), message)


def test_an_output_that_is_read_is_kept(fairpca):
    before = Path("parts/1.parquet").read_bytes()
    result = fairpca("fit", "parts", "--sensitive", "sex", "--out", "parts/1.parquet", "--force")
    assert_refused(result, "is what is read")
    assert Path("parts/1.parquet").read_bytes() == before


def test_lines_tell_tenths_pace_and_time_left(monkeypatch):
    lines, times = [], iter(range(100))

    class Listening(terminal.Console):
        def print(self, line, **_):
            lines.append(line)

    pace = terminal._Pace(clock=lambda: next(times))
    monkeypatch.setattr(terminal, "_Pace", lambda: pace)
    monkeypatch.setattr(terminal, "Console", Listening)
    with terminal.shown_progress(quiet=False) as report:
        for done in range(10, 201, 10):
            report(done, 200, "Looking")
        report(2_500_000, None, "Fitting")
        report(3_500_000, None, "Fitting")
    assert len(lines) == 10 + 2
    assert lines[0] == "Looking: 20 of 200 rows, 10 rows per second, 18 s left"
    assert lines[9] == "Looking: 200 of 200 rows, 10 rows per second"
    assert lines[-1] == "Fitting: 3,500,000 rows, 1,000,000 rows per second"
