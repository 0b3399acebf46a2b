"""Names and values of a table are data: never paths, never markup, never orders to a terminal."""

import csv
import os

import numpy as np
import pandas as pd
import pytest

from cli.commands import invoke
from fairpca import load
from fairpca.models import model_card

PATHS = ("../../evil", "/tmp/evil", "..\\evil", "~/evil", "C:\\evil", "a/b/c")
ORDERS = ("\x1b]0;title\x07", "\x9b31m", "\u202eevil", "\x1b[2J")
FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("http://x")', "=cmd|' /C calc'!A0")
MARKUP = ('"><img src=x onerror=alert(1)>', "<script>alert(1)</script>", "[red]x[/red]", "[x](y:z)")


@pytest.fixture
def fairpca(tmp_path, monkeypatch):
    (tmp_path / "inside" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "inside" / "deep")
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *arguments: invoke(list(arguments))


def hostile(values, n=120):
    """Return a table whose columns have these names, and whose texts have these values."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.normal(size=n) for name in values})
    frame["job"], frame["id"] = rng.choice(values, n), np.resize(values, n)
    frame["group " + values[0]] = np.resize([values[0], values[1]], n)
    return frame


@pytest.mark.parametrize("values", [PATHS, ORDERS, MARKUP], ids=["paths", "orders", "markup"])
def test_hostile_names_go_through_every_command(fairpca, tmp_path, values):
    frame = hostile(values)
    frame.to_parquet("people.parquet")
    group = "group " + values[0]
    for arguments in (
        ("fit", "people.parquet", "-s", group, "--ignore", "id", "--out", "m.fairpca"),
        ("inspect", "m.fairpca"),
        ("inspect", "m.fairpca", "--json"),
        ("transform", "m.fairpca", "people.parquet", "--out", "fair.parquet", "--keep", values[0]),
        ("export", "m.fairpca", "--to", "torch", "--out", "m.py"),
        ("export", "m.fairpca", "--to", "onnx", "--map-only", "--out", "m.onnx"),
        ("fit", "people.parquet", "-s", "id", "--out", "n.fairpca"),
        ("transform", "m.fairpca", "people.parquet", "--keep", values[0] + "?", "--out", "x.csv"),
    ):
        result = fairpca(*arguments)
        assert result.exit_code == (2 if arguments[-1] == "x.csv" else 0), result.output
        assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(result.output)
    card = model_card(load("m.fairpca"))
    assert "<" not in card
    assert not {"\x1b", "\x9b", "\x07"} & set(card)
    there = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()}
    made = ("people.parquet", "m.fairpca", "m.md", "fair.parquet", "m.py", "m.safetensors")
    assert there == {f"inside/deep/{name}" for name in (*made, "m.onnx", "n.fairpca", "n.md")}


def test_the_code_that_is_exported_holds_nothing_of_the_table(fairpca):
    codes = []
    for values in (MARKUP, ('"""\nimport os\nos.system("id")\n"""', "x")):
        hostile(values).to_parquet("people.parquet")
        group = "group " + values[0]
        fit = ("fit", "people.parquet", "-s", group, "--out", "m.fairpca", "--force")
        assert fairpca(*fit).exit_code == 0
        export = ("export", "m.fairpca", "--to", "torch", "--out", "m.py", "--force")
        assert fairpca(*export).exit_code == 0
        with open("m.py", encoding="utf-8") as stream:
            codes.append(stream.read())
    assert codes[0] == codes[1]


def test_kept_values_are_copied_as_they_are_also_formulas(fairpca):
    """Values are not altered, so that they can be matched again; SECURITY.md says so."""
    hostile(FORMULAS).to_csv("people.csv", index=False)
    fit = ("fit", "people.csv", "-s", "group =1+1", "--ignore", "id", "--out", "m.fairpca")
    assert fairpca(*fit, "--header").exit_code == 0
    transform = ("transform", "m.fairpca", "people.csv", "--keep", "id", "--out", "fair.csv")
    assert fairpca(*transform, "--header").exit_code == 0
    with open("fair.csv", newline="", encoding="utf-8") as stream:
        kept = [row["id"] for row in csv.DictReader(stream)]
    assert kept == np.resize(FORMULAS, 120).tolist()


@pytest.mark.parametrize(
    ("arguments", "outputs"),
    [
        (("transform", "m.fairpca", "people.csv", "--out", "x.csv"), ["x.csv"]),
        (("export", "m.fairpca", "--to", "onnx"), ["m.onnx"]),
        (("export", "m.fairpca", "--to", "torch"), ["m.py"]),
        (("export", "m.fairpca", "--to", "torch"), ["m.safetensors"]),
        (("fit", "people.csv", "-s", "group a", "--out", "n.fairpca"), ["n.fairpca"]),
        (("fit", "people.csv", "-s", "group a", "--out", "n.fairpca"), ["n.md"]),
    ],
)
def test_no_command_replaces_a_file_unless_it_is_told_to(fairpca, arguments, outputs):
    hostile(("a", "b")).to_csv("people.csv", index=False)
    assert fairpca("fit", "people.csv", "-s", "group a", "--out", "m.fairpca").exit_code == 0
    for name in outputs:
        with open(name, "w", encoding="utf-8") as stream:
            stream.write("mine")
    before = {name: os.stat(name).st_mtime_ns for name in os.listdir()}
    result = fairpca(*arguments)
    assert result.exit_code == 2
    assert "exists and is kept" in result.output
    assert {name: os.stat(name).st_mtime_ns for name in os.listdir()} == before
    assert fairpca(*arguments, "--force").exit_code == 0
    for name in outputs:
        with open(name, "rb") as stream:
            assert stream.read() != b"mine"
