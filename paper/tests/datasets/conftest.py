"""A server for downloads, a file that is on it, and a cache."""

import hashlib
import threading

import pytest

from fairpca_paper.datasets.source import _DataFile

from .scripted_server import BODY, ScriptedServer


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = ScriptedServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.closing.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def file(server):
    """A published file, on the server."""
    return _DataFile("set", "published.data", hashlib.sha256(BODY).hexdigest(), server.url)


@pytest.fixture
def zip_file(server):
    """The same file as a member of an archive on the server."""
    digest = hashlib.sha256(BODY).hexdigest()
    return _DataFile("set", "published.data", digest, server.url, zipped=True)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and no folder with data."""
    monkeypatch.delenv("FAIRPCA_DATA", raising=False)
    folder = tmp_path / "cache"
    monkeypatch.setenv("FAIRPCA_CACHE", str(folder))
    return folder
