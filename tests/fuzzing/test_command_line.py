"""What fuzzing found on the command line: tracebacks, and data that terminals would obey."""

import os

import pytest

from cli.commands import run_command
from fuzzing.seed_models import people
from systems import posix


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people()[["age", "job", "sex"]].to_csv("people.csv", index=False)
    return tmp_path


FIT = ("fit", "people.csv", "-s", "sex", "--n-components", "1")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((*FIT, "--out", "m", "--method", "leace", "--match", "covariances"), "would ignore it"),
        ((*FIT, "--out", "m", "--method", "fair-kernel-pca", "--match", "covariances"), "ignore"),
        ((*FIT, "--out", "m", "--method", "pca", "--tradeoff", "0.5"), "tradeoff=0.5 is for"),
        ((*FIT, "--out", "."), "no name of a file"),
        ((*FIT, "--out", ""), "no name of a file"),
        (("export", ".", "--to", "onnx"), "no name of a file"),
        (("fit", "\udcff.csv", "-s", "sex", "--out", "m"), "There is no file '�.csv'"),
        (("inspect", "\udcff\x1b[31m\u202e"), "does not exist"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(folder, arguments, told):
    code, output = run_command([*arguments])
    assert code == 2
    assert told in output
    assert not set("\x1b\u202e") & set(output)
    assert os.listdir() == ["people.csv"]


def test_a_seed_beyond_all_seeds_is_refused(folder):
    code, output = run_command([*FIT, "--out", "m", "--seed", str(2**32)])
    assert code == 2
    assert "--seed" in output


def test_what_an_estimator_refuses_is_said_in_one_line(folder):
    frame = people()
    frame["size"] = [1e308, -1e308, *range(78)]
    frame[["age", "job", "size"]].to_csv("large.csv", index=False)
    code, output = run_command(["fit", "large.csv", "-s", "size", "--out", "m"])
    assert code == 2
    assert output.startswith("Error: ")
    assert sorted(os.listdir()) == ["large.csv", "people.csv"]


@posix
def test_names_of_files_are_printed_as_text(folder):
    for arguments in (
        (*FIT, "--out", "\x1b[2J\u202e.fairpca"),
        ("inspect", "\x1b[2J\u202e.fairpca"),
        ("transform", "\x1b[2J\u202e.fairpca", "people.csv", "--out", "\x1b[2J.csv"),
        ("export", "\x1b[2J\u202e.fairpca", "--to", "onnx"),
    ):
        code, output = run_command([*arguments])
        assert code == 0, output
        assert not set("\x1b\u202e") & set(output)


@posix
def test_a_device_or_a_pipe_is_kept_also_by_force(folder):
    os.mkfifo("pipe")
    code, output = run_command([*FIT, "--out", "pipe", "--force"])
    assert code == 2
    assert "no plain file" in output
    assert sorted(os.listdir()) == ["people.csv", "pipe"]


@posix
def test_an_output_whose_name_is_no_text_is_refused_in_words(folder):
    assert run_command([*FIT, "--out", "m.fairpca", "-q"])[0] == 0
    code, output = run_command(["transform", "m.fairpca", "people.csv", "--out", "\udcff.parquet"])
    assert code == 2
    assert "cannot be written as text" in output
    assert sorted(os.listdir()) == ["m.fairpca", "m.md", "people.csv"]
