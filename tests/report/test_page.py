"""The page as text: what it holds, and that data cannot become markup."""

import base64
import hashlib
import json
import re
import sys
from functools import reduce
from html.parser import HTMLParser
from itertools import pairwise
from operator import getitem

import pytest

from fairpca.auditing._page import render_page, render_summary
from fairpca.errors import MissingExtraError, UnreadableAuditError
from report.made_up_audit import (
    ENTITY,
    IMAGE,
    SCRIPT,
    bare_audit,
    hostile_audit,
    made_up_audit,
    many_groups_audit,
    page_of,
    to_six_digits,
    with_changes,
)


class Reader(HTMLParser):
    """Collect what the tests ask for: elements with their attributes, and their text."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.texts, self.open = [], {}, []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.open.append(len(self.elements) - 1)

    def handle_data(self, data):
        if self.open:
            self.texts[self.open[-1]] = self.texts.get(self.open[-1], "") + data

    def handle_endtag(self, tag):
        while self.open and self.elements[self.open[-1]][0] != tag:
            self.open.pop()
        if self.open:
            self.open.pop()

    def all(self, tag):
        return [
            (attributes, self.texts.get(place, ""))
            for place, (name, attributes) in enumerate(self.elements)
            if name == tag
        ]

    def text(self):
        return "".join(
            text for place, text in self.texts.items() if self.elements[place][0] != "script"
        )


@pytest.fixture(scope="module")
def page():
    return page_of(made_up_audit)


def test_the_policy_allows_exactly_the_two_scripts_of_the_page(page):
    reader = Reader(page)
    policy = next(
        attributes["content"]
        for attributes, _ in reader.all("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    scripts = [
        text
        for attributes, text in reader.all("script")
        if attributes.get("type") != "application/json"
    ]
    digests = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts
    ]
    assert len(scripts) == 2
    assert re.findall(r"'sha256-([^']+)'", policy) == digests
    assert policy.startswith("default-src 'none';")
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]


def test_the_page_names_no_address_to_load_from(page):
    reader = Reader(page)
    named = [
        value
        for _, attributes in reader.elements
        for name, value in attributes.items()
        if name in {"src", "href", "action", "srcset", "poster"}
    ]
    assert named
    assert all(value.startswith(("#", "data:")) for value in named)


@pytest.mark.parametrize("make", [made_up_audit, hostile_audit])
def test_the_embedded_numbers_are_the_audit(make):
    reader = Reader(page_of(make))
    embedded = next(
        text for attributes, text in reader.all("script") if attributes.get("id") == "audit-data"
    )
    assert json.loads(embedded) == to_six_digits(make())
    assert not re.search("[<>&\u2028\u2029]", embedded)


def test_hostile_text_makes_no_element_and_is_shown():
    plain, hostile = Reader(page_of(made_up_audit)), Reader(page_of(hostile_audit))
    assert len(hostile.all("script")) == len(plain.all("script"))
    assert hostile.all("img") == []
    assert hostile.all("b") == []
    for text in (SCRIPT, IMAGE, ENTITY):
        assert text in hostile.text()


def test_halves_of_characters_do_not_prevent_writing():
    audit = made_up_audit(table="broken \ud83d name")
    assert b"broken ? name" in render_page(audit).encode("utf-8")


def test_headings_go_down_one_level_at_a_time(page):
    levels = [int(tag[1]) for tag, _ in Reader(page).elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_tables_have_captions_and_scopes(page):
    reader = Reader(page)
    assert len(reader.all("caption")) == len(reader.all("table")) > 20
    assert all(attributes.get("scope") in {"col", "row"} for attributes, _ in reader.all("th"))


def test_every_plot_has_a_place_for_its_description_and_its_numbers(page):
    plots = [one for _, one in Reader(page).elements if "data-figure" in one]
    assert {one["data-figure"] for one in plots} == {
        "leakage",
        "tradeoff",
        "rates",
        "components",
        "variance",
    }
    assert all(one["role"] == "img" for one in plots)


def test_without_a_target_there_are_no_decisions_and_the_page_says_why():
    reader = Reader(page_of(bare_audit))
    sections = [attributes["id"] for attributes, _ in reader.all("section")]
    assert "tradeoff" not in sections
    assert "parity" not in sections
    assert "No target was named" in reader.text()
    assert sections[-1] == "reproduce"


def test_a_method_that_failed_says_why():
    assert "Could not be fitted: Too wide." in Reader(page_of(bare_audit)).text()


def test_one_column_for_the_target_is_said_wherever_it_is_compared(page):
    said = {
        name: "Fair PLS is a single column, made for approve" in text
        for name, text in re.findall(r'<section id="(\w+)"(.*?)</section>', page, re.DOTALL)
    }
    compared = {"leakage", "tradeoff", "components", "variance", "parity", "gaps"}
    assert {name for name, found in said.items() if found} == compared
    assert "Fair PLS" not in page_of(bare_audit)


def test_a_variance_that_nobody_kept_is_a_dash_with_its_reason(page):
    (row,) = re.findall(r'<th scope="row">Fair PLS</th><td class="prose">.*?</tr>', page)
    assert "<td>1</td>" in row
    assert "<td>–<small>made to predict the target, not to keep variance</small></td>" in row


def test_a_bound_that_says_nothing_is_called_so(page):
    assert "says next to nothing" in Reader(page).text()


def test_a_bound_on_a_score_is_said_to_hold_for_any_threshold(page):
    assert ">any threshold" not in page
    audit = made_up_audit()
    audit["certificates"][0].update(of="scores", n_cells=2)
    assert render_page(audit).count(">any threshold") == 1


def test_a_hundred_columns_and_twelve_groups_fit_into_six_megabytes():
    audit = many_groups_audit()
    page = page_of(many_groups_audit)
    assert len(page.encode()) <= 6_000_000
    text = Reader(page).text()
    for column in audit["data"]["columns"]:
        assert column["name"] in text


def test_tables_of_very_many_groups_are_left_out_and_the_page_says_so():
    groups = {f"attribute {i}": [f"group {j} of {i}" for j in range(12)] for i in range(6)}
    page = render_page(made_up_audit(groups))
    assert len(page.encode()) <= 6_000_000
    assert "the table of all numbers would make the page too large" in page
    plots = json.loads(re.search(r'id="figure-data">(.*?)</script>', page)[1])
    drawn = 'data-figure="components"' in page
    assert drawn == bool(plots["components"])
    assert drawn != ("plots of all of them would make the page too large" in page)


def test_no_table_is_left_out_of_a_page_that_is_not_too_large(monkeypatch):
    whole = page_of(made_up_audit)
    assert "would make the page too large" not in whole
    for limit in (len(whole.encode()), len(whole.encode()) - 1):
        monkeypatch.setattr("fairpca.auditing._page.LARGEST", limit)
        page = render_page(made_up_audit())
        assert len(page.encode()) <= limit
        assert ("would make the page too large" in page) == (limit < len(whole.encode()))


@pytest.mark.parametrize("version", ["2.0", "0.9", None])
def test_an_audit_of_another_structure_is_refused(version):
    with pytest.raises(UnreadableAuditError, match="schema_version"):
        render_page(with_changes(made_up_audit(), schema_version=version))


def test_an_older_audit_with_fewer_fields_and_a_newer_one_with_more_are_shown(page):
    older = made_up_audit()
    del older["data"]["reading"], older["leakage"][0]["p_value_alone"]
    del older["data"]["attributes"][0]["groups"][0]["n_used"]
    older["data"]["surprise"] = [float("nan")]
    reader = Reader(render_page(older))
    assert reader.all("h2") == Reader(page).all("h2")
    assert "fairpca audit loans --sensitive race" in reader.text()


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        ("leakage/3/auc/value", "high", "audit.leakage[3].auc.value is 'high', but the schema"),
        ("leakage/3/auc", None, "audit.leakage[3].auc is None, but the schema says object"),
        (
            "leakage/3/above_chance",
            1,
            "audit.leakage[3].above_chance is 1, but the schema says bool",
        ),
        ("data/n_rows", True, "audit.data.n_rows is True, but the schema says integer"),
        (
            "data/n_rows",
            10**400,
            "audit.data.n_rows is 100000000000000000...0000000000000000000, but no audit",
        ),
        ("seconds", float("nan"), "audit.seconds is nan, but no audit has such a number"),
        ("data/columns", {}, "audit.data.columns is {}, but the schema says array"),
        ("versions/numpy", 2, "audit.versions['numpy'] is 2, but the schema says string"),
        ("pictures/panels/1/y", [], "audit.pictures.panels[1].y is [], but x has"),
        (
            "pictures/groups/0/codes/5",
            3,
            "audit.pictures.groups[0].codes is [",
        ),
        ("pictures/groups/1/codes", [], "audit.pictures.groups[1].codes is [], but the panels"),
        ("advice/tradeoff", 0.3, "audit.advice.tradeoff is 0.3, but no curve has such a point"),
        ("summary", ..., "audit.summary is missing, and every audit has it"),
    ],
)
def test_an_audit_that_was_changed_is_refused_with_the_place(place, value, told):
    changed = made_up_audit()
    *way, last = (int(key) if key.isdigit() else key for key in place.split("/"))
    holder = reduce(getitem, way, changed)
    if value is ...:
        del holder[last]
    else:
        holder[last] = value
    for render in (render_page, render_summary):
        with pytest.raises(UnreadableAuditError) as refused:
            render(changed)
        assert str(refused.value).startswith(told)


def test_something_else_than_an_audit_is_refused():
    with pytest.raises(UnreadableAuditError, match="plain dictionaries"):
        render_page([1, 2])


@pytest.mark.parametrize("library", ["plotly", "jinja2"])
def test_a_missing_library_is_named_with_the_extra_that_brings_it(monkeypatch, library):
    for needed in ("plotly", "jinja2"):
        pytest.importorskip(needed, reason="the one that is there must not be named")
    for name in [name for name in sys.modules if name.split(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=rf"{library}.*fairpca\[report\]"):
        render_page(made_up_audit())
