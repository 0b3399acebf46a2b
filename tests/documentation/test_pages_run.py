"""What a page shows is what its code prints."""

from pathlib import Path

import pytest

from documentation.page_code import run_page

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS / "start.md", DOCS / "models.md", *sorted((DOCS / "guide").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_a_page_prints_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    for block in run_page(page):
        if block.shown is not None:
            assert block.printed == block.shown, f"{page.name}, line {block.line}"


def test_the_pages_have_code_to_run():
    code = [page.stem for page in PAGES if "```python" in page.read_text(encoding="utf-8")]
    assert {"start", "many_groups", "tradeoff"} <= set(code)
