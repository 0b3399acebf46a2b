"""The same seed gives the same bytes: again, in a fresh process, and in optimised Python."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

from guarantees import answers as given

pytest.importorskip("safetensors", reason="models are saved with the extra 'models'")
pytest.importorskip("onnx", reason="models are exported with the extra 'onnx'")
pytest.importorskip("pandas", reason="tables need the extra 'tables'")

TESTS = Path(__file__).parents[1]
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    with threadpool_limits(1), pytest.MonkeyPatch.context() as patch:
        given.stop_the_clock(patch.setattr)
        return given.answers(tmp_path_factory.mktemp("models"))


@pytest.mark.slow  # what a fresh process does with another hash seed is asked each time
def test_a_second_run_gives_the_same_bytes(answers, tmp_path, monkeypatch):
    given.stop_the_clock(monkeypatch.setattr)
    with threadpool_limits(1):
        again = given.answers(tmp_path, [given.of_estimators, given.of_measures])
    assert different(again, {name: answers[name] for name in again}) == []
    assert len(again) > 100


def test_a_fresh_process_in_optimised_python_gives_the_same_bytes(answers, tmp_path):
    # With -OO, which includes -O, an `assert` does nothing and there are no docstrings; the hash
    # seed decides in which order sets are gone through.
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, **ONE_THREAD, "PYTHONHASHSEED": "123", "PYTHONPATH": paths}
    command = [sys.executable, "-OO", "-m", "guarantees.answers", str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    # A card begins with the first line of a docstring, where there are any.
    found |= {name: answers[name] for name in found if name.startswith("card: ")}
    assert different(found, answers) == []


def test_all_bad_input_is_refused(tmp_path):
    refused = dict(given.of_refusals(tmp_path))
    assert [name for name, said in refused.items() if said == "not at all"] == []


def test_the_digests_tell_answers_apart(answers):
    assert len(set(answers.values())) > 0.9 * len(answers)


def different(found, expected):
    """Return the names of all answers that are not the same."""
    names = sorted({*found, *expected})
    return [name for name in names if found.get(name) != expected.get(name)]
