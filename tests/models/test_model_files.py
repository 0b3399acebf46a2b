"""Files that are not models, or not any more: refused with one clear line, whatever they hold.

Files edited at random, with and without the right digest, are in tests/fuzzing/test_slices.py.
"""

import json
import os
import tracemalloc

import numpy as np
import pytest
from safetensors.numpy import save as safetensors_bytes

import fairpca
from fairpca import FairTableTransformer, load, save
from fairpca.errors import ModelFileError
from fairpca.models import inspect_model
from fairpca.models._model_file import MAX_BYTES, read_model_file, write_model_file
from registry import fitted
from systems import posix

MAX_HEADER = 2**25
"""Bytes of a header, as files may have them; one that says more is refused before it is read."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Path and bytes of a model file."""
    path = tmp_path_factory.mktemp("models") / "model.fairpca"
    save(fitted("with a trade-off"), path)
    return path, path.read_bytes()


@pytest.fixture
def other(tmp_path):
    return tmp_path / "other.fairpca"


def refusal(path, **options):
    """Return the message with which a file is refused; it is one line that names the file."""
    with pytest.raises(ModelFileError) as refused:
        load(path, **options)
    message = str(refused.value)
    assert "\n" not in message
    assert repr(os.fspath(path)) in message
    with pytest.raises(ModelFileError):
        inspect_model(path, **options)
    return message


def resigned(path, source, change):
    """Write a file again with another header, and with the digest that belongs to it."""
    header, tensors = read_model_file(source)
    header.pop("sha256")
    header, tensors = change(header, dict(tensors))
    write_model_file(path, header, tensors)
    return path


def test_every_flipped_bit_is_noticed(whole, other):
    _, content = whole
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= 1 << (position % 8)
        other.write_bytes(changed)
        with pytest.raises(ModelFileError):
            read_model_file(other)


def test_refusing_takes_no_more_memory_than_the_file(whole, other):
    _, content = whole
    for announced in (2**62, 2**40, MAX_HEADER, len(content)):
        other.write_bytes(announced.to_bytes(8, "little") + content[8:])
        tracemalloc.start()
        refusal(other)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 2**20 + 20 * len(content)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "not a model file"),
        (b"hello", "not a model file"),
        (
            b"\x80\x05\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94\x8c\x06system",
            "not a model",
        ),
        (b"PK\x03\x04" + b"\0" * 100, "not a model file"),
        (b"age,sex\n" * 1000, "not a model file"),
        (b"[" * 100_000, "not a model file"),
        ((50_000).to_bytes(8, "little") + b"{" * 50_000, "not one of fairpca"),
        (safetensors_bytes({"w": np.zeros(3)}), "not one of fairpca"),
        (safetensors_bytes({"w": np.zeros(3)}, {"fairpca": "{}"}), "not one of fairpca"),
    ],
)
def test_other_files_are_refused(content, told, other):
    other.write_bytes(content)
    assert told in refusal(other)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    assert "does not exist" in refusal(tmp_path / "missing.fairpca")
    assert "is a folder" in refusal(tmp_path)
    assert "cannot be read" in refusal("name\0with a zero")


@posix
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "no plain file" in refusal(tmp_path / "pipe")


def test_a_truncated_file_is_called_truncated(whole, other):
    _, content = whole
    other.write_bytes(content[:-100])
    message = refusal(other)
    assert "truncated" in message
    assert f"{len(content):,}" in message


def test_an_altered_file_is_called_altered(whole, other):
    _, content = whole
    other.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert "altered" in refusal(other)


def test_a_large_file_is_refused_before_it_is_read(whole, other):
    path, content = whole
    assert "pass load(..., max_bytes=" in refusal(path, max_bytes=len(content) - 1)
    with other.open("wb") as file:
        file.truncate(MAX_BYTES + 1)  # a hole: takes no room on disk
    tracemalloc.start()
    refusal(other)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20


def test_a_file_of_the_future_says_who_wrote_it(whole, other):
    def of_the_future(header, tensors):
        versions = {**header["versions"], "fairpca": "7.1"}
        return {**header, "format_version": 9, "versions": versions, "class": "Later"}, tensors

    message = refusal(resigned(other, whole[0], of_the_future))
    assert "fairpca 7.1" in message
    assert "format 9" in message
    assert "pip install --upgrade fairpca" in message


def forged(**parts):
    return lambda header, tensors: ({**header, **parts}, tensors)


def learned(header, **parts):
    return {**header, "learned": {**header["learned"], **parts}}


def without_a_tensor(header, tensors):
    return header, dict(list(tensors.items())[1:])


def with_nan(header, tensors):
    tensors["t0"] = tensors["t0"] * np.nan
    return header, tensors


def in_half_precision(header, tensors):
    return header, {name: a.astype(np.float16) for name, a in tensors.items()}


def integers_for_floats(header, tensors):
    return header, {name: a.astype(np.int64) for name, a in tensors.items()}


def longer(header, tensors):
    return header, {name: np.concatenate([a, a]) for name, a in tensors.items()}


def too_many(header, tensors):
    return header, {**tensors, **{f"u{i}": np.zeros(1) for i in range(5000)}}


def one_column_less(header, tensors):
    return learned(header, n_features_in_=5), tensors


def a_method_replaced(header, tensors):
    return learned(header, transform="text"), tensors


def no_map(header, tensors):
    return {
        **header,
        "learned": {k: v for k, v in header["learned"].items() if k != "_map"},
    }, tensors


def a_strange_parameter(header, tensors):
    return {**header, "parameters": {**header["parameters"], "__class__": "x"}}, tensors


def an_impossible_parameter(header, tensors):
    return {**header, "parameters": {**header["parameters"], "tradeoff": 7.0}}, tensors


def deeply_nested(header, tensors):
    value = 1
    for _ in range(200):
        value = [value]
    return learned(header, mean_gap_=value), tensors


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (forged(format="something else"), "another format"),
        (forged(format_version="1"), "another format"),
        (forged(**{"class": "os.system"}), "does not know"),
        (forged(**{"class": ["FairPCA"]}), "does not know"),
        (forged(kind="spell"), "kind 'spell'"),
        (forged(learned=[]), "no model"),
        (forged(info=[1]), "no model"),
        (forged(versions=None), "header"),
        (without_a_tensor, "lacks the array"),
        (with_nan, "NaN"),
        (in_half_precision, "do not fit to its header"),
        (integers_for_floats, "do not fit together"),
        (longer, "do not fit together"),
        (too_many, "more than the 4096"),
        (one_column_less, "columns"),
        (a_method_replaced, "'transform'"),
        (no_map, "'_map'"),
        (a_strange_parameter, "no model"),
        (an_impossible_parameter, "tradeoff=7.0"),
        (deeply_nested, "nested deeper"),
    ],
)
def test_a_forged_file_is_refused(change, told, whole, other):
    assert told in refusal(resigned(other, whole[0], change))


@pytest.mark.parametrize(
    "change",
    [
        lambda f: f.update(mean=None),
        lambda f: f.update(mean=f["columns"]["fields"]["rows"]),
        lambda f: f["scale"]["$array"].update(tensor="zeros"),
        lambda f: f.update(unit="1"),
        lambda f: f.update(columns=None),
    ],
)
def test_forged_columns_beside_a_kernel_are_refused(change, other):
    """A standardised kernel of fair PLS could not be loaded at all: two arrays are not None."""
    save(fitted("fair pls, kernel"), other)
    assert load(other).scale_.shape == (6,)

    def forge(header, tensors):
        for holder in (header["learned"]["_map"]["fields"]["features"], header["learned"]):
            change(holder.get("_feature_map", holder)["fields"])
        return header, {**tensors, "zeros": np.zeros(6)}

    assert "RowsAndKernel whose parts do not fit" in refusal(resigned(other, other, forge))


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("targets_", {"y": [["nested"]]}, "targets_"),
        ("targets_", {"y": "numeric", "z": "numeric"}, "targets"),
        ("explained_targets_", 0.5, "explained_targets_"),
        ("explained_targets_", None, "explained_targets_"),
    ],
)
def test_forged_targets_are_refused(name, value, told, other):
    save(fitted("fair pls"), other)

    def forge(header, tensors):
        return learned(header, **{name: value}), tensors

    assert told in refusal(resigned(other, other, forge))


def test_a_header_without_end_is_refused(whole, other):
    header = json.dumps({"sha256": "0" * 64, "x": "y" * MAX_HEADER}, separators=(",", ":"))
    other.write_bytes(safetensors_bytes({"t0": np.zeros(1)}, {"fairpca": header}))
    assert "not a model file" in refusal(other)


def test_a_model_without_an_encoder_is_not_one_with(whole, other):
    change = forged(kind="table transformer", encoder={"$record": "os", "fields": {}})
    assert "preprocessing that cannot be restored" in refusal(resigned(other, whole[0], change))
    assert isinstance(
        load(resigned(other, whole[0], forged(kind="table transformer"))), FairTableTransformer
    )


def test_the_error_can_be_caught_as_a_value_error_and_as_ours(other):
    with pytest.raises(ValueError):
        load(other)
    with pytest.raises(fairpca.FairPCAError):
        load(other)
