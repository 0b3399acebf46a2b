"""The fuzzers notice what they are there to notice."""

import contextlib
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fairpca import FairPCA, load, save
from fuzzing.byte_mutations import mutated
from fuzzing.cases import VALID, Case, Failed, Target, numbered
from fuzzing.forged_models import forged, put_together, taken_apart
from fuzzing.json_mutations import as_text, edited
from fuzzing.limits import timed
from fuzzing.seed_models import rows
from fuzzing.trying import tried
from fuzzing.watching import watched


def run_a_program():
    os.system("true")  # stopped before it runs


def start_a_process():
    subprocess.run([sys.executable, "-c", "pass"], check=False)


def execute_data():
    exec("1 + 1")


def compile_data():
    compile("1 + 1", "<data>", "eval")


def write_lazily():
    Path("/tmp/elsewhere").write_text("x", encoding="utf-8")


def remove_lazily():
    os.remove("/tmp/elsewhere")


def import_something():
    __import__("antigravity")


def take_long():
    time.sleep(5)


def fail_quietly():
    with contextlib.suppress(AssertionError):
        os.system("true")


BAD = (
    *(run_a_program, start_a_process, execute_data, compile_data, write_lazily),
    *(remove_lazily, import_something, take_long, fail_quietly),
)


class Bad(Target):
    name, seconds = "bad", 0.2

    def __init__(self, act):
        self.act = act

    def prepare(self, folder): ...
    def load_seeds(self, folder): ...
    def warm_up(self, folder): ...

    def case(self, rng):
        return Case(self.name, b"", "nothing")

    def check(self, case, folder):
        self.act()
        return VALID


@pytest.mark.parametrize("act", BAD, ids=lambda act: act.__name__)
def test_what_an_input_must_not_do_is_a_failure(act, tmp_path):
    target = Bad(act)
    outcome, which, _ = tried(target, target.case(random.Random(0)), tmp_path)
    assert outcome == "failed"
    assert which.startswith("Failed")


def test_writing_into_the_folder_of_the_case_is_no_failure(tmp_path):
    def act():
        Path("inside").write_text("x", encoding="utf-8")
        Path("inside").unlink()

    target = Bad(act)
    assert tried(target, target.case(random.Random(0)), tmp_path)[0] == VALID


def test_nothing_is_watched_outside_of_the_block(tmp_path):
    with pytest.raises(Failed), watched(tmp_path), timed(5):
        exec("1")
    exec("1")


def test_the_same_seed_gives_the_same_inputs():
    content, other = bytes(range(256)) * 4, b"abc" * 99
    first = [mutated(numbered("x", 3, i), content, other) for i in range(50)]
    assert first == [mutated(numbered("x", 3, i), content, other) for i in range(50)]
    assert len({changed for changed, _ in first}) > 45
    tree = {"a": [1, {"b": "c"}], "d": None}
    edits = [as_text(edited(numbered("x", 3, i), tree, tree)[0]) for i in range(50)]
    assert edits == [as_text(edited(numbered("x", 3, i), tree, tree)[0]) for i in range(50)]
    assert tree == {"a": [1, {"b": "c"}], "d": None}


def test_a_kept_case_is_the_same_case(tmp_path):
    case = Case("models", b"\0\xff", "flip", {"seed": "x"})
    assert Case.kept(case.keep(tmp_path, "why")) == case


def test_a_forged_file_has_the_digest_that_the_package_computes(tmp_path):
    path = tmp_path / "x.fairpca"
    X, sex, _ = rows()
    save(FairPCA(2).fit(X, sensitive_features=sex), path)
    parts = taken_apart(path.read_bytes())
    parts.inner["versions"] = {"fairpca": "1"}
    path.write_bytes(put_together(parts))
    assert load(path).n_components_ == 2
    content, _ = forged(random.Random(0), path.read_bytes(), path.read_bytes())
    assert content != path.read_bytes()
