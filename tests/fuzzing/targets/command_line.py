"""The command line: exit code 0, 1 or 2 and a message, never a traceback; no half-written file.

Arguments are drawn from all options of the commands and from values that are seldom meant. What
is promised: files that are there are not touched without --force; outputs are there if and only
if the command succeeded; nothing that a terminal would obey is printed; no draft is left.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import warnings
from pathlib import Path

from cli.commands import command, run_command
from fairpca import fit_table

from ..cases import REFUSED, VALID, Case, Failed, Target
from ..nasty_arguments import COMMANDS, RARE, positional, value_of
from ..seed_models import people


class CommandLine(Target):
    """All commands of `fairpca`."""

    name = "command-line"
    seconds = 60.0

    def __init__(self, *, audits: bool = True) -> None:
        self.audits = audits  # each takes seconds

    def prepare(self, folder: Path) -> None:
        """Write the files that the arguments name."""
        frame = people(80)[["age", "job", "sex", "approved"]]
        frame.to_csv(folder / "people.csv", index=False)
        frame.to_parquet(folder / "people.parquet")
        hostile = frame.rename(columns={"job": "\x1b[31mjob", "age": "[bold]=age"})
        hostile.assign(**{"<script>": "\x1b]0;x\x07"}).to_csv(folder / "hostile.csv", index=False)
        (folder / "other.txt").write_text("not a table", encoding="utf-8")
        (folder / "empty.csv").write_text("", encoding="utf-8")
        (folder / "folder").mkdir()
        fit_table(frame, "sex", "approved", n_components=2).save(folder / "model.fairpca")

    def load_seeds(self, folder: Path) -> None:
        """Read the files."""
        self.folder = folder
        self.files = {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()}
        self.options = {
            name: [
                (list(option.opts), option.is_flag)
                for option in found.params
                if option.param_type_name == "option"
            ]
            for name, found in command().commands.items()
        }

    def warm_up(self, folder: Path) -> None:
        """Run each command once."""
        for arguments in (
            ["inspect", "model.fairpca", "--json"],
            ["inspect", "model.fairpca"],
            ["export", "model.fairpca", "--to", "onnx", "--out", "a.onnx"],
            ["export", "model.fairpca", "--to", "torch", "--out", "a.py"],
            ["transform", "model.fairpca", "people.csv", "--out", "b.parquet"],
            ["fit", "people.csv", "-s", "sex", "--out", "m", "--jobs", "1"],
            ["fit", "people.csv", "-s", "sex", "--out", "n", "--method", "fair-kernel-pca"],
            ["fit", "people.csv", "-s", "sex", "--out", "o", "--match", "covariances"],
            ["fit", "people.csv", "-s", "sex", "--out", "p", "--method", "leace", "-t", "approved"],
            ["audit", "people.csv", "-s", "sex", "--quick", "--jobs", "1", "--out", "r.html"],
            ["audit", "people.csv", "-s", "nothing", "--quick", "--jobs", "1", "--out", "s.html"],
            ["--help"],
            *([["audit", "--quick", "--jobs", "1", "--out", "t.html"]] if self.audits else []),
        ):
            place = folder / "warm"
            shutil.copytree(self.folder, place, dirs_exist_ok=True)
            self._invoke(arguments, place)

    def case(self, rng: random.Random) -> Case:
        """Return arguments."""
        chosen = rng.choice(COMMANDS) if rng.random() < 0.97 else rng.choice(RARE)
        chosen = "nonsense" if chosen == "audit" and not self.audits else chosen
        arguments = [chosen, *positional(rng, chosen)]
        for names, is_flag in self.options.get(chosen, []):
            wanted = 0.9 if names[0] in ("--out", "--to", "--sensitive") else 0.12
            if rng.random() < wanted:
                arguments.append(rng.choice(names))
                if not is_flag:
                    arguments.append(value_of(rng, names))
        if chosen == "audit":
            arguments += ["--quick", "--jobs", "1"]
        if rng.random() < 0.1:
            rng.shuffle(arguments)
        content = json.dumps(arguments).encode()
        return Case(self.name, content, " ".join(arguments)[:100])

    def check(self, case: Case, folder: Path) -> str:
        """Run a command where copies of the files are."""
        place = folder / "here"
        shutil.copytree(self.folder, place)
        arguments = json.loads(case.content)
        code, output = self._invoke(arguments, place)
        if code not in (0, 1, 2):
            raise Failed(f"the exit code is {code}")
        if "Traceback" in output:
            raise Failed("a traceback is printed")
        usage = "Usage:" in output  # typer repeats what was typed, to who typed it
        if any(sign in output for sign in ("\x1b", "\x07", "\x9b", "\u202e")) and not usage:
            raise Failed("a character that terminals obey is printed")
        if code and not output.strip():
            raise Failed("it fails without a word")
        self._check_files(place, arguments, code)
        return VALID if code == 0 else REFUSED

    def _invoke(self, arguments: list[str], place: Path) -> tuple[int, str]:
        before = os.getcwd()
        os.chdir(place)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return run_command(arguments)
        finally:
            os.chdir(before)

    def _check_files(self, place: Path, arguments: list[str], code: int) -> None:
        found = {p.relative_to(place).as_posix(): p for p in place.rglob("*") if p.is_file()}
        for name, content in self.files.items():
            kept = name in found and found[name].read_bytes() == content
            if not kept and ("--force" not in arguments or code):
                raise Failed(f"{name} was changed")
        new = [name for name in found if name not in self.files]
        if any(Path(name).name.startswith(".") for name in new):
            raise Failed(f"a draft is left: {new}")
        if code and new:
            raise Failed(f"a command that failed wrote {new}")
