"""Run the Python of a documentation page, and compare what it prints with what the page shows.

All ``python`` blocks of a page run in one namespace, in order. A ``text`` block right after one is
what it must print. ``<!-- not run: why -->`` before a block leaves it out.

``python tests/documentation/page_code.py docs/start.md`` writes the printed text into the page.
"""

import contextlib
import io
import re
import sys
from dataclasses import dataclass
from pathlib import Path

FENCES = re.compile(
    r"(?P<skip><!-- not run: [^>]+ -->\n)?```python\n(?P<code>.*?)```\n"
    r"(?:\n```text\n(?P<shown>.*?)```\n)?",
    flags=re.DOTALL,
)


@dataclass
class Ran:
    """One block of a page: where it is, what the page shows, what it printed."""

    match: re.Match
    line: int
    shown: str | None
    printed: str


def run_page(page):
    """Run the blocks of `page`, a path, in the current folder; return one `Ran` for each."""
    text = Path(page).read_text(encoding="utf-8")
    namespace, ran = {"__name__": "page"}, []
    for match in FENCES.finditer(text):
        if match["skip"]:
            continue
        line = text.count("\n", 0, match.start("code")) + 1
        code = "\n" * (line - 1) + match["code"]  # so that tracebacks name the line of the page
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, str(page), "exec"), namespace)
        ran.append(Ran(match, line, match["shown"], printed.getvalue()))
    return ran


def show_what_is_printed(page):
    """Rewrite the ``text`` blocks of `page` with what its code prints now."""
    path = Path(page)
    text, shift = path.read_text(encoding="utf-8"), 0
    for block in run_page(path):
        if block.shown is None:
            continue
        start, end = block.match.span("shown")
        text = text[: start + shift] + block.printed + text[end + shift :]
        shift += len(block.printed) - (end - start)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        show_what_is_printed(name)
