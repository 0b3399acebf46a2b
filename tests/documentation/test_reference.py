"""Every public name is explained, has an example that runs, and is in the reference."""

import ast
import builtins
import doctest
import importlib
import inspect
import pkgutil
import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

import fairpca
from documentation.page_code import run_page
from documentation.public_names import (
    EXPORTED_BY_FAIRPCA,
    PACKAGES,
    public_members,
    public_names,
)

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PUBLIC = public_names()

EXPLAINED = {
    "GL06": "a section that numpydoc does not know",
    "GL07": "sections out of order",
    "GL08": "no docstring",
    "SS03": "a first line without a full stop",
    "SS06": "a first sentence of several lines",
    "PR01": "a parameter that is not documented",
    "PR02": "a documented parameter that does not exist",
    "PR04": "a parameter without a type",
    "RT01": "no Returns",
    "RT03": "Returns without a description",
    "YD01": "no Yields",
    "SA04": "something under See Also without a word why",
}

EXPLAINED_BY_ITS_SCHEMA = {"fairpca.Audit"}  # whose fields are tables of its JSON
LEAVES_DEFAULTS_OUT = "fairpca.auditing"

CAUGHT_BY_THEIR_BASE = {"CommandError"}  # of the command line, which says it and exits


def faults(public):
    """Return what is missing in a docstring; a method that takes nothing may say it in a line."""
    # By the object: numpydoc would take the name for that of the module, where both are the same.
    checked = validate(get_doc_object(public.thing))
    is_method = inspect.isfunction(public.thing) or inspect.ismethod(public.thing)
    takes = set(inspect.signature(public.thing).parameters) - {"self"} if is_method else ()
    needed = EXPLAINED.keys() if takes else EXPLAINED.keys() - {"RT01"}
    if public.path in EXPLAINED_BY_ITS_SCHEMA:
        needed = needed - {"PR04"}
    if is_a_result(public.thing) and fields_of(public.thing) <= explained_as(public, "Attributes"):
        needed = needed - {"PR01"}
    return [f"{public.path}: {code} {text}" for code, text in checked["errors"] if code in needed]


def is_a_result(thing):
    return inspect.isclass(thing) and is_dataclass(thing)


def fields_of(cls):
    return {field.name for field in fields(cls) if not field.name.startswith("_")}


def explained_as(public, section):
    return {entry.name for entry in get_doc_object(public.thing)[section]}


def unlike_scikit_learn(public):
    """Return entries that group names, hide a default, refer elsewhere or are vague on shapes."""
    doc = get_doc_object(public.thing)
    if is_a_result(public.thing) and doc["Parameters"]:
        yield f"{public.path}: fields are Attributes"
    call = public.thing.__init__ if inspect.isclass(public.thing) else public.thing
    taken = dict(inspect.signature(call).parameters) if callable(call) else {}
    for section in ("Parameters", "Attributes", "Returns"):
        for name, kind, told in doc[section]:
            where = f"{public.path}, {section}: {name}"
            if "," in name:
                yield f"{where}: one entry for each name"
            if re.search(r"\boptional\b|\barrays? of\b|\((n|d|k|m), ", kind):
                yield f"{where}: {kind}"
            if re.match(r"(see|as in|as for) [`~:\[]", " ".join(told), re.IGNORECASE):
                yield f"{where}: {told}"
            default = taken[name].default if name in taken else inspect.Parameter.empty
            hidden = default is not inspect.Parameter.empty and "default=" not in kind
            if section == "Parameters" and hidden:
                yield f"{where}: no default, which is {default!r}"


def examples_of(thing):
    return doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")


def names_from_nowhere(thing):
    """Return the names that the examples of a docstring use without having defined them."""
    tree = ast.parse("".join(example.source for example in examples_of(thing)))
    nodes = list(ast.walk(tree))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    known = {node.id for node in names if not isinstance(node.ctx, ast.Load)} | set(dir(builtins))
    known |= {alias.asname or alias.name for node in nodes for alias in getattr(node, "names", [])}
    known |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    defining = (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler)
    known |= {node.name for node in nodes if isinstance(node, defining)}
    return {node.id for node in names} - known


def listed_in_the_reference():
    """Return the names in the tables that make a page for each of them."""
    listed = []
    for page in REFERENCE.glob("*.md"):
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if named := re.fullmatch(r"\.\. (?:current)?module:: (\S+)", line):
                module = named[1]
            elif named := re.fullmatch(r"   (\w+)|\.\. py:data:: (\w+)", line):
                listed.append(f"{module}.{named[1] or named[2]}")
            elif named := re.fullmatch(r"   ~([\w.]+)", line):
                listed.append(named[1])
    return listed


@pytest.mark.parametrize("package", dict.fromkeys(public.package for public in PUBLIC))
def test_every_public_name_is_explained(package):
    names = [public for public in PUBLIC if public.package == package]
    assert [
        fault
        for public in names
        if public.is_documented_by_itself
        for one in [public, *public_members(public)]
        for fault in faults(one)
    ] == []


def test_docstrings_read_like_those_of_scikit_learn():
    """One entry for each name, with its default, its shape and a text of its own."""
    assert [
        fault
        for public in PUBLIC
        if public.is_documented_by_itself
        and not public.thing.__module__.startswith(LEAVES_DEFAULTS_OUT)
        for one in [public, *public_members(public)]
        for fault in unlike_scikit_learn(one)
    ] == []


def test_every_public_class_and_function_has_an_example():
    assert [
        public.path
        for public in PUBLIC
        if public.is_documented_by_itself
        and ("Examples\n---" not in inspect.getdoc(public.thing) or not examples_of(public.thing))
    ] == []


def test_examples_can_be_copied_as_they_are():
    assert {
        public.path: missing
        for public in PUBLIC
        if public.is_documented_by_itself and (missing := names_from_nowhere(public.thing))
    } == {}


def test_no_example_is_skipped():
    assert not {
        public.path
        for public in PUBLIC
        if public.is_documented_by_itself
        and any(doctest.SKIP in example.options for example in examples_of(public.thing))
    }


def test_constants_have_an_example_on_their_page():
    pages = {page: page.read_text(encoding="utf-8") for page in REFERENCE.glob("*.md")}
    for public in PUBLIC:
        if not public.is_documented_by_itself:
            shown = rf"from {public.package} import [^`]*\b{public.name}\b[^`]*```\n\n```text"
            assert any(re.search(shown, text) for text in pages.values()), public.path


WITH_CODE = [page for page in REFERENCE.glob("*.md") if "```python" in page.read_text("utf-8")]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_the_code_of_a_page_prints_what_the_page_shows(page):
    for block in run_page(page):
        assert block.printed == block.shown, f"{page.name}, line {block.line}"


def test_every_public_name_has_its_place_in_the_reference_and_only_one():
    assert sorted(listed_in_the_reference()) == sorted(public.path for public in PUBLIC)


def test_a_package_is_public_or_internal_on_purpose():
    """What begins with an underscore is internal; the command line is documented as commands."""
    found = {module.name for module in pkgutil.iter_modules(fairpca.__path__)}
    public = {name for name in found if not name.startswith("_")}
    decided = {package.partition(".")[2] for package in PACKAGES if "." in package}
    assert public == decided | EXPORTED_BY_FAIRPCA


@pytest.mark.parametrize("name", sorted(EXPORTED_BY_FAIRPCA))
def test_what_these_packages_export_has_a_name_in_fairpca(name):
    module = importlib.import_module(f"fairpca.{name}")
    assert set(module.__all__) <= set(fairpca.__all__)


def test_whatever_can_be_caught_has_a_public_name():
    sources = Path(fairpca.__file__).parent.rglob("*.py")
    defined = re.compile(r"^class (\w+)\(\w*(?:Error|Warning)\b", flags=re.MULTILINE)
    found = {name for file in sources for name in defined.findall(file.read_text("utf-8"))}
    assert found - {public.name for public in PUBLIC} == CAUGHT_BY_THEIR_BASE
