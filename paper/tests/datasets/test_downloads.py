"""Whatever a server does, a file in the cache is the published one or is not there."""

import errno
import io
import os
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from fairpca import FairPCAError
from fairpca_paper.datasets import DownloadError, load_bank, load_german, people
from fairpca_paper.datasets.source import _download as download
from fairpca_paper.datasets.source import source

from .scripted_server import BODY, cut_off, stalled, status, web_page, whole, zipped

pytest.importorskip("pooch")

BAD_ANSWERS = {
    "announced and cut off": cut_off(BODY, 1000),
    "cut off after nothing": cut_off(BODY, 0),
    "cut off in silence": cut_off(BODY, 1000, announced=False),
    "one byte short in silence": cut_off(BODY, len(BODY) - 1, announced=False),
    "another file": whole(BODY.replace(b"published", b"published.")),
    "empty": whole(b""),
    "a web page": web_page,
    "404": status(404),
    "503": status(503),
}


def files_in(cache):
    return sorted(path.name for path in cache.rglob("*") if path.is_file())


def test_a_file_is_downloaded_once(file, server, cache):
    first, second = download(file), download(file)
    assert first == second == cache / "set" / "published.data"
    assert first.read_bytes() == BODY
    assert len(server.requests) == 1


@pytest.mark.parametrize("kind", BAD_ANSWERS)
def test_a_bad_answer_is_refused_and_leaves_nothing_in_the_cache(kind, file, server, cache):
    server.script = [BAD_ANSWERS[kind]]
    with pytest.raises(DownloadError):
        download(file, wait=0)
    assert len(server.requests) == 3
    assert files_in(cache) == []


@pytest.mark.parametrize("kind", BAD_ANSWERS)
def test_a_good_answer_after_a_bad_one_is_taken(kind, file, server, cache):
    server.script = [BAD_ANSWERS[kind], whole(BODY)]
    assert download(file, wait=0).read_bytes() == BODY
    assert len(server.requests) == 2


def test_a_server_that_stalls_is_given_up_after_the_timeout(file, server, cache):
    server.script = [stalled(BODY, 1000)]
    start = time.monotonic()
    with pytest.raises(DownloadError, match=r"tried once.*[Tt]imed out"):
        download(file, timeout=0.3, attempts=1)
    assert 0.3 <= time.monotonic() - start < 10
    assert files_in(cache) == []


def test_a_server_that_stalls_once_is_asked_again(file, server, cache):
    server.script = [stalled(BODY, 1000), whole(BODY)]
    assert download(file, timeout=0.3, wait=0).read_bytes() == BODY


def test_the_waits_between_attempts_double(file, server, cache, monkeypatch):
    waits, here, sleep = [], threading.get_ident(), time.sleep

    def wait(seconds):  # threads of other tests may sleep, too
        waits.append(seconds) if threading.get_ident() == here else sleep(seconds)

    monkeypatch.setattr("fairpca_paper.datasets.source.time.sleep", wait)
    server.script = [status(503)]
    with pytest.raises(DownloadError):
        download(file, attempts=4)
    assert waits == [1, 2, 4]


def test_without_a_network_the_message_says_everything_that_helps(file, cache):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/published.data"
    with pytest.raises(DownloadError) as caught:
        download(replace(file, url=url), wait=0)
    message = str(caught.value)
    assert isinstance(caught.value, OSError)
    assert isinstance(caught.value, FairPCAError)
    for hint in (
        url,
        "tried 3 times",
        os.strerror(errno.ECONNREFUSED),
        file.sha256,
        "data=FOLDER",
        "FOLDER/set/",
    ):
        assert hint in message
    for hint in (str(cache / "set" / "published.data"), "FAIRPCA_DATA", "FAIRPCA_CACHE"):
        assert hint in message


def test_a_file_put_where_the_message_says_is_found(file, server, cache):
    server.script = [status(404)]
    (cache / "set").mkdir(parents=True)
    (cache / "set" / "published.data").write_bytes(BODY)
    assert download(file).read_bytes() == BODY
    assert server.requests == []


def test_a_cached_file_that_was_damaged_is_downloaded_again(file, server, cache):
    path = download(file)
    path.write_bytes(BODY[:-100])
    assert download(file).read_bytes() == BODY
    assert len(server.requests) == 2


def test_a_damaged_file_is_not_used_when_it_cannot_be_replaced(file, server, cache):
    path = download(file)
    path.write_bytes(BODY[:-100])
    server.script = [web_page]
    with pytest.raises(DownloadError, match="does not match"):
        download(file, wait=0)
    server.script = [whole(BODY)]
    assert download(file).read_bytes() == BODY


def test_many_threads_may_ask_for_the_same_file(file, server, cache):
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda _: download(file), range(8)))
    assert {path.read_bytes() for path in paths} == {BODY}
    assert files_in(cache) == ["published.data"]


def test_a_cache_that_cannot_be_written_is_named(file, cache):
    cache.write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(DownloadError, match=r"(?s)cache.*FAIRPCA_CACHE names another folder"):
        download(file, wait=0)


def test_the_member_of_an_archive_is_kept_and_the_archive_is_not(zip_file, server, cache):
    members = {"folder/published.data": BODY, "__MACOSX/folder/._published.data": b"junk"}
    server.script = [whole(zipped(members))]
    assert download(zip_file).read_bytes() == BODY
    assert files_in(cache) == ["published.data"]


@pytest.mark.parametrize(
    ("archive", "reason"),
    [
        (b"<html>no archive</html>", "not a readable zip archive"),
        (zipped({"published.data": BODY})[:-200], "not a readable zip archive"),
        (zipped({"published.data": BODY}).replace(b"\x00", b"\x01"), "zip archive"),
        (zipped({"other.data": BODY}), "0 members called 'published.data'"),
        (zipped({"a/published.data": BODY, "b/published.data": BODY}), "2 members called"),
        (zipped({"published.data": BODY[:-1]}), "does not match"),
    ],
    ids=["no archive", "cut off", "garbled", "without the member", "twice", "wrong member"],
)
def test_a_bad_archive_is_refused_and_leaves_nothing(archive, reason, zip_file, server, cache):
    server.script = [whole(archive)]
    with pytest.raises(DownloadError, match=reason):
        download(zip_file, wait=0)
    assert files_in(cache) == []


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_on_a_terminal_only(file, server, cache, monkeypatch, capsys):
    download(file)
    assert "%" not in capsys.readouterr().err
    (cache / "set" / "published.data").unlink()
    monkeypatch.setattr(sys, "stderr", Terminal())
    download(file)
    assert sys.stderr.getvalue().endswith("\rDownloading published.data: 100 %\n")


def publish(name, server, monkeypatch):
    """Let a data set come from the server."""
    published = source(name)
    files = tuple(replace(file, url=server.url) for file in published.files)
    monkeypatch.setattr(people, "source", lambda name: replace(published, files=files))


def test_a_loader_downloads_checks_and_reads(data_folder, server, cache, monkeypatch):
    expected = load_german(data=data_folder)
    body = (data_folder / "german" / "german.data").read_bytes()
    publish("german", server, monkeypatch)
    server.script = [cut_off(body, 5000), whole(body)]
    monkeypatch.setattr("fairpca_paper.datasets.source.time.sleep", lambda seconds: None)
    assert load_german().features.equals(expected.features)
    assert load_german().target.equals(expected.target)
    assert len(server.requests) == 2


def test_a_loader_downloads_an_archive(data_folder, server, cache, monkeypatch):
    body = (data_folder / "bank" / "bank-additional-full.csv").read_bytes()
    archive = zipped({"bank-additional/bank-additional-full.csv": body})
    publish("bank", server, monkeypatch)
    server.script = [whole(archive)]
    assert load_bank().features.equals(load_bank(data=data_folder).features)
