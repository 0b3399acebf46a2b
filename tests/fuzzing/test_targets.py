"""Inputs that nobody meant to make: a few of every target here, thousands in `make fuzz`.

`FAIRPCA_FUZZ` is how many inputs each target gets, `FAIRPCA_FUZZ_SEED` which ones. An input that
fails is kept in ``out/fuzz``, and tried again first.
"""

import os
from itertools import chain
from pathlib import Path

import pytest

from fuzzing.cases import EQUAL, REFUSED, VALID, Case, numbered
from fuzzing.targets import TARGETS
from fuzzing.targets.command_line import CommandLine
from fuzzing.targets.models import Models
from fuzzing.trying import tried
from fuzzing.watching import learning

KEPT = Path(__file__).parents[2] / "out" / "fuzz"
INPUTS = int(os.environ.get("FAIRPCA_FUZZ", "0"))
SEED = int(os.environ.get("FAIRPCA_FUZZ_SEED", "0"))

SLICES = {
    "models": 200,
    "text-tables": 120,
    "binary-tables": 150,
    "attributes": 60,
    "command-line": 25,
    "audits": 40,
}

pytestmark = pytest.mark.filterwarnings("ignore")  # odd data may be warned about


def made(name, folder):
    """Return a target that has read its seeds and done everything once."""
    models = ("fair-pca", "nystroem", "leace", "named", "table")
    smaller = {"models": lambda: Models(models), "command-line": lambda: CommandLine(audits=False)}
    target = (TARGETS if INPUTS else {**TARGETS, **smaller})[name]()
    for place in ("seeds", "warm"):
        (folder / place).mkdir()
    target.prepare(folder / "seeds")
    target.load_seeds(folder / "seeds")
    with learning():
        target.warm_up(folder / "warm")
    return target


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_are_refused_or_valid(name, tmp_path):
    target, outcomes = made(name, tmp_path), set()
    failed_before = [Case.kept(path) for path in sorted(KEPT.glob(f"{name}-*.json"))]
    numbers = range(INPUTS or SLICES[name])
    for case in chain(failed_before, (target.case(numbered(name, SEED, i)) for i in numbers)):
        kept = case.keep(KEPT, "it ended the process") if INPUTS else None
        outcome, which, story = tried(target, case, tmp_path)
        if outcome not in (REFUSED, EQUAL, VALID):
            path = case.keep(KEPT, f"{which}\n{story}")
            pytest.fail(f"{path.name} ({case.how}): {which}\n{story}")
        if kept is not None:
            kept.unlink()
        outcomes.add(outcome)
    assert REFUSED in outcomes
    assert outcomes & {EQUAL, VALID}, "nothing was accepted, so nothing was compared"
