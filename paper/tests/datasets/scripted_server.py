"""A real HTTP server that misbehaves on request."""

import io
import threading
import zipfile
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY = b"".join(b"%d, a row of the published file\n" % i for i in range(5000))


class ScriptedServer(ThreadingHTTPServer):
    """Answers the i-th request by the i-th entry of `script`, and then by its last entry."""

    daemon_threads = True
    block_on_close = False

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.script: list[Callable] = [whole(BODY)]
        self.requests: list[str] = []
        self.closing = threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/published.data"


class Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests.append(self.path)
        script = self.server.script
        script[min(len(self.server.requests), len(script)) - 1](self)

    def log_message(self, *args):
        pass


def begin(handler, length=None, status=200, kind="application/octet-stream"):
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    if length is not None:
        handler.send_header("Content-Length", str(length))
    handler.end_headers()


def whole(body):
    def answer(handler):
        begin(handler, len(body))
        handler.wfile.write(body)

    return answer


def cut_off(body, sent, announced=True):
    """Announce (or not) the whole body, send its beginning, hang up."""

    def answer(handler):
        begin(handler, len(body) if announced else None)
        handler.wfile.write(body[:sent])

    return answer


def stalled(body, sent):
    """Send the beginning, then nothing, and do not hang up either."""

    def answer(handler):
        begin(handler, len(body))
        handler.wfile.write(body[:sent])
        handler.wfile.flush()
        handler.server.closing.wait(30)

    return answer


def web_page(handler):
    """Answer 200 with something else, as hotel networks and moved servers do."""
    begin(handler, kind="text/html")
    handler.wfile.write(b"<html><body>Please log in to continue.</body></html>")


def status(code):
    def answer(handler):
        begin(handler, 0, status=code)

    return answer


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()
