"""Arguments of commands, as nobody should type them."""

from __future__ import annotations

import random

PATHS = (
    *("people.csv", "people.parquet", "model.fairpca", "hostile.csv", "other.txt", "empty.csv"),
    *(
        "folder",
        "missing.csv",
        "missing/deep/x.csv",
        "out.csv",
        "out.parquet",
        "out.html",
        "new.onnx",
    ),
    *("new.py", "", ".", "..", "/", "-", "~", "~nobody/x", "*.csv", "[", "folder/*", "x" * 300),
    *(
        "a\nb.csv",
        "é😀.csv",
        "\udcff.csv",
        "\x1b[31m.csv",
        "people.csv/x",
        "people.csv",
        "folder/x",
    ),
    *("model.fairpca", "model.fairpca", "people.csv", "people.csv", "people.parquet"),
)
WORDS = (
    *(
        "sex",
        "sex",
        "sex",
        "job",
        "age",
        "approved",
        "",
        " ",
        "nothing",
        "Sex",
        "sex,job",
        "-1",
        "0",
    ),
    *("1", "yes", "\x1b[2J", "[bold]x[/bold]", "[/", "{0}", "%s", "<b>", "é", "\udcff", "y", "all"),
    *("NaN", "x" * 500, "--force", "=1", "age,job,sex,approved", ",,,", "\u202ex"),
)
NUMBERS = (
    *("0", "1", "2", "3", "-1", "1.5", "nan", "inf", "-inf", "1e308", "1e-320", "", "x", "0x10"),
    *("4294967295", "4294967296", "9223372036854775808", "1" * 60, "٣", "1_0", "+1", "0.5", "100"),
)
COMMANDS = (
    "inspect",
    "inspect",
    "export",
    "transform",
    "transform",
    "transform",
    "fit",
    "fit",
    "fit",
)
RARE = ("audit", "nonsense", "")
FEW = ("1", "2", "0", "-1", "x", "1.5", "")
"""Numbers of processes and threads: more would be made."""


def positional(rng: random.Random, command: str) -> list[str]:
    """Return the arguments of a command that have no name."""
    if command in ("inspect", "export"):
        return [rng.choice(("model.fairpca", rng.choice(PATHS)))]
    if command == "transform":
        return [rng.choice(("model.fairpca", rng.choice(PATHS))), rng.choice(PATHS)]
    return [rng.choice(PATHS) for _ in range(rng.choice((1, 1, 1, 0, 2)))]


def value_of(rng: random.Random, names: list[str]) -> str:
    """Return a value for an option, more often than not one that it can have."""
    usual = {
        "--sensitive": ("sex",),
        "--out": ("new.fairpca", "new.csv", "new.parquet", "new.onnx", "new.py", "deep/new.csv"),
        "--to": ("onnx", "torch"),
        "--method": ("fair-pca", "fair-kernel-pca", "leace", "pca"),
        "--match": ("means", "covariances"),
        "--target": ("approved",),
        "--keep": ("age",),
        "--criterion": ("equal-opportunity", "equalized-odds"),
    }.get(names[0], ())
    if usual and rng.random() < 0.75:
        return rng.choice(usual)
    if {"--jobs", "--n-jobs"} & set(names):
        return rng.choice(FEW)
    if {"--out", "--json", "--data"} & set(names):
        return rng.choice(PATHS)
    return rng.choice(rng.choice((WORDS, NUMBERS, NUMBERS)))
