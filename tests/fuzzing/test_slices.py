"""The first inputs of every fuzzer, the same ones each time; `make fuzz` tries thousands."""

import pytest
from fuzz.cases import EQUAL, REFUSED, VALID, numbered
from fuzz.targets import TARGETS
from fuzz.targets.command_line import CommandLine
from fuzz.targets.models import Models
from fuzz.watching import learning
from fuzz.worker import tried

SLICES = {
    "models": 200,
    "pipelines": 25,
    "text-tables": 120,
    "binary-tables": 150,
    "attributes": 60,
    "command-line": 25,
    "audits": 40,
}


def made(name, folder):
    """Return a target that has read its seeds and done everything once."""
    models = ("fair-pca", "nystroem", "leace", "named", "table")
    smaller = {"models": lambda: Models(models), "command-line": lambda: CommandLine(audits=False)}
    target = smaller.get(name, TARGETS[name])()
    for place in ("seeds", "warm"):
        (folder / place).mkdir()
    target.prepare(folder / "seeds")
    target.load_seeds(folder / "seeds")
    with learning():
        target.warm_up(folder / "warm")
    return target


@pytest.mark.filterwarnings("ignore")  # odd data may be warned about
@pytest.mark.parametrize("name", TARGETS)
def test_the_first_inputs_break_nothing(name, tmp_path):
    target, outcomes = made(name, tmp_path), set()
    for index in range(SLICES[name]):
        case = target.case(numbered(name, 0, index))
        outcome, which, story = tried(target, case, tmp_path)
        assert outcome in (REFUSED, EQUAL, VALID), f"{case.how}: {which}\n{story}"
        outcomes.add(outcome)
    assert REFUSED in outcomes
    assert outcomes & {EQUAL, VALID}, "nothing was accepted, so nothing was compared"
