"""A folder of the user's wins, and what is in it is checked."""

import hashlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpca_paper.datasets import DamagedDataError, MissingDataError, load_german
from fairpca_paper.datasets.source import _check_sha256 as check_sha256
from fairpca_paper.datasets.source import _DataFile, obtain, require

from .scripted_server import BODY


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data" / "set").mkdir(parents=True)
    return tmp_path / "data"


def test_a_file_in_the_given_folder_wins_over_a_download(file, server, cache, folder):
    (folder / "set" / "published.data").write_bytes(BODY)
    assert obtain(file, folder) == folder / "set" / "published.data"
    assert server.requests == []


def test_the_folder_may_come_from_the_environment(file, server, cache, folder, monkeypatch):
    (folder / "set" / "published.data").write_bytes(BODY)
    monkeypatch.setenv("FAIRPCA_DATA", str(folder))
    assert obtain(file) == folder / "set" / "published.data"
    assert server.requests == []


def test_the_argument_wins_over_the_environment(file, cache, folder, tmp_path, monkeypatch):
    (folder / "set" / "published.data").write_bytes(BODY)
    monkeypatch.setenv("FAIRPCA_DATA", str(tmp_path / "nowhere"))
    assert obtain(file, str(folder)) == folder / "set" / "published.data"


def test_the_folder_of_the_data_set_itself_may_be_given(file, cache, folder):
    (folder / "published.data").write_bytes(BODY)
    assert obtain(file, folder) == folder / "published.data"


def test_a_tilde_is_the_home_folder(file, cache, folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder.parent))
    (folder / "set" / "published.data").write_bytes(BODY)
    assert obtain(file, "~/data") == folder / "set" / "published.data"


def test_what_the_folder_in_the_environment_lacks_is_downloaded(
    file, server, cache, folder, monkeypatch
):
    monkeypatch.setenv("FAIRPCA_DATA", str(folder))
    assert obtain(file) == cache / "set" / "published.data"
    assert len(server.requests) == 1


def test_what_the_given_folder_lacks_is_an_error_and_not_a_download(file, server, cache, folder):
    with pytest.raises(MissingDataError) as caught:
        obtain(file, folder)
    message = str(caught.value)
    assert isinstance(caught.value, FileNotFoundError)
    for hint in (folder / "set" / "published.data", folder / "published.data", file.url):
        assert str(hint) in message
    assert server.requests == []


def test_a_folder_that_does_not_exist_is_named(file, cache, tmp_path, monkeypatch):
    with pytest.raises(MissingDataError, match=r"data='.*nowhere' is not a folder"):
        obtain(file, tmp_path / "nowhere")
    monkeypatch.setenv("FAIRPCA_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(MissingDataError, match=r"FAIRPCA_DATA='.*nowhere' is not a folder"):
        obtain(file)


@pytest.mark.parametrize(
    "changed",
    [BODY[:-1], BODY + b"\n", BODY.replace(b"\n", b"\r\n"), BODY.replace(b"17,", b"71,"), b""],
    ids=["cut off", "longer", "line endings", "a number", "empty"],
)
def test_a_changed_file_is_refused_by_name_with_both_hashes(changed, file, server, cache, folder):
    path = folder / "set" / "published.data"
    path.write_bytes(changed)
    with pytest.raises(DamagedDataError) as caught:
        obtain(file, folder)
    for hint in (str(path), file.sha256, hashlib.sha256(changed).hexdigest(), "replace it"):
        assert hint in str(caught.value)
    assert server.requests == []


@given(content=st.binary(min_size=1), data=st.data())
def test_a_single_changed_bit_is_noticed(content, data):
    bit = data.draw(st.integers(0, 8 * len(content) - 1))
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(content)
        check_sha256(path, hashlib.sha256(content).hexdigest())
        path.write_bytes(changed)
        with pytest.raises(DamagedDataError):
            check_sha256(path, hashlib.sha256(content).hexdigest())


def test_data_that_cannot_be_downloaded_are_looked_for_by_name(cache, folder):
    with pytest.raises(MissingDataError, match=r"no folder was given.*Ask the authors\."):
        require(None, "set", "list.txt", how_to_get="Ask the authors.")
    with pytest.raises(MissingDataError, match=r"looked for '.*set.list.txt' and '.*list.txt'"):
        require(folder, "set", "list.txt", how_to_get="Ask the authors.")


def test_a_loader_refuses_a_truncated_table(data_folder, tmp_path):
    content = (data_folder / "german" / "german.data").read_bytes()
    (tmp_path / "german.data").write_bytes(content[: content.index(b"\n", 50_000) + 1])
    with pytest.raises(DamagedDataError, match=r"german\.data' is not the published file"):
        load_german(data=tmp_path)


def test_a_data_file_is_written_as_its_place():
    assert str(_DataFile("adult", "adult.data", "0" * 64, "https://x")) == "adult/adult.data"
