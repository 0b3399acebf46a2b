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

from auditing.page.made_up_audit import (
    ENTITY,
    IMAGE,
    SCRIPT,
    bare_audit,
    classes_audit,
    hostile_audit,
    made_up_audit,
    many_groups_audit,
    nothing_to_do_audit,
    own_model_audit,
    page_of,
    render_page,
    render_summary,
    since_audit,
    to_six_digits,
    wage_audit,
    with_changes,
)
from fairpca.auditing._schema import _pydantic
from fairpca.auditing._templates import _environment
from fairpca.errors import AuditError, MissingExtraError


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


def test_the_policy_allows_exactly_the_script_of_the_page(page):
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
    assert len(scripts) == 1
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


def test_every_figure_has_a_name_a_description_and_a_title_for_each_mark(page):
    drawings = re.findall(r'<svg class="(wide|narrow)".*?</svg>', page, re.DOTALL)
    assert drawings.count("wide") == drawings.count("narrow") > 5
    for drawing in re.findall(r'<svg class="wide".*?</svg>', page, re.DOTALL):
        assert re.match(r'<svg [^>]*role="img"><title>[^<]+</title><desc>[^<]+</desc>', drawing)
        marks = len(re.findall(r'class="mark', drawing))
        assert marks == drawing.count("<title>") - 1 > 0


def test_the_story_comes_first_and_detail_is_closed(page):
    sections = [attributes["id"] for attributes, _ in Reader(page).all("section")]
    assert sections == [
        "summary", "rates", "options", "cost", "proxies", "limits", "apply", "detail"
    ]  # fmt: skip
    details = [attributes for attributes, _ in Reader(page).all("details")]
    assert len(details) > 5
    assert not any("open" in attributes for attributes in details)
    for word in ("disparate impact", "adverse impact", "four-fifths ratio"):
        assert word in page.split('id="detail"')[0]


def test_every_option_has_five_columns_with_intervals(page):
    audit = made_up_audit()
    (table,) = re.findall(r'<table class="cards".*?</table>', page, re.DOTALL)
    rows = re.findall(r'<tr role="row".*?</tr>', table, re.DOTALL)[1:]
    for row, option in zip(rows, audit["advice"]["options"], strict=True):
        text = Reader(row).text()
        assert option["name"] in text
        assert f"{option['n_columns']} columns" in text
        for name, scale, digits in (("gap", 100, 1), ("ratio", 1, 2), ("utility", 1, 2)):
            ends = (f"{scale * option[name][end]:.{digits}f}" for end in ("low", "high"))
            assert "\u00a0to\u00a0".join(ends) in text
        assert ("below 0.80" in text) == (option["ratio"]["value"] < 0.8)
        assert ("above chance" in text) == option["leak_above_chance"]
    assert len(re.findall('scope="col"', table)) == 5
    assert "recommended" in rows[2]


def test_numbers_of_a_continuous_target_are_deviations_its_own_unit_and_r2():
    text = Reader(page_of(wage_audit)).text()
    raw = wage_audit()["advice"]["options"][0]
    assert f"{raw['gap']['value']:.2f}\u00a0sd" in text
    assert f"{raw['gap']['value'] * 0.53:.3g} in lwage" in text
    assert "R²" in text
    assert "four-fifths" not in text.lower()
    story = page_of(wage_audit).split('id="summary"')[1].split('id="detail"')[0]
    assert "points" not in Reader(story).text()


def test_of_several_classes_the_one_is_named_whose_gap_it_is():
    assert "decisions of right compared" in Reader(page_of(classes_audit)).text()


def test_own_models_are_told_beside_the_options():
    text = Reader(page_of(own_model_audit)).text()
    assert text.count("yours") == 2
    assert "Not significantly different: " in text
    assert "Mean outcome" in text


@pytest.mark.parametrize(
    ("make", "said"),
    [(nothing_to_do_audit, "No action needed."), (classes_audit, "No tested method helps.")],
)
def test_where_nothing_is_advised_there_is_no_code_to_copy(make, said):
    page = page_of(make)
    assert said in page
    assert "python-code" not in page
    assert 'id="command-line"' not in page


def test_the_level_of_confidence_is_that_of_the_settings(page):
    text = Reader(page).text()
    assert "90\u00a0% confidence" in text
    assert "95" not in text.split("How to reproduce it")[0].split("How it was measured")[1]


def test_without_a_target_there_are_no_decisions_and_the_page_says_why():
    page = page_of(bare_audit)
    assert 'id="rates"' not in page
    assert 'id="parity"' not in page
    assert "No target was named" in Reader(page).text()


def test_a_method_that_failed_is_told_at_the_top_and_one_that_reached_less_below():
    top = Reader(page_of(bare_audit).split('id="options"')[0]).text()
    assert "could not be fitted and is missing below: Too wide." in top
    assert "It reaches 7 of 15 components." in Reader(page_of(bare_audit)).text()


def test_what_was_cut_is_in_the_numbers_and_not_on_the_page(page):
    assert made_up_audit()["certificates"]
    assert made_up_audit()["curves"]
    for word in ("lambda =", "Seconds to fit", "Certified"):
        assert word not in Reader(page).text()


def test_the_paper_has_the_rates_and_sizes_of_all_groups(page):
    """What is signed and filed names the groups; only columns of the table are left out."""
    on_paper = re.sub(r'<div class="no-paper">.*?</table>', "", page, flags=re.DOTALL)
    rates = Reader(on_paper.split('id="rates"')[1].split("</section>")[0]).text()
    for attribute in made_up_audit()["data"]["attributes"][:2]:
        for group in attribute["groups"]:
            assert group["label"] in rates
            assert f"{group['n_rows']:,}".replace(",", "\u202f") in rates
    parity = on_paper.split('id="parity"')[1].split("</details>")[0]
    assert "no-paper" not in parity


def test_a_hundred_columns_and_twelve_groups_are_all_there():
    audit = many_groups_audit()
    page = page_of(many_groups_audit)
    assert len(page.encode()) <= 500_000
    text = Reader(page).text()
    for column in audit["data"]["columns"]:
        assert column["name"] in text
    assert "Groups with too few people to compare: no gap in this report includes them" in text
    labels = [group["label"] for group in audit["data"]["attributes"][0]["groups"]]
    left_out = text[text.index("no gap in this report includes them") :]
    assert all(label in left_out for label in labels[10:])


def test_tables_of_very_many_groups_are_left_out_and_the_page_says_so(monkeypatch):
    whole = page_of(made_up_audit)
    assert "would make the page too large" not in whole
    for limit in (len(whole.encode()), len(whole.encode()) - 1):
        monkeypatch.setattr("fairpca.auditing._page.LARGEST", limit)
        page = render_page(made_up_audit())
        assert len(page.encode()) <= limit
        assert ("would make the page too large" in page) == (limit < len(whole.encode()))


def test_changes_since_an_earlier_audit_have_a_section_and_without_one_there_is_none(page):
    assert 'id="since"' not in page
    section = page_of(since_audit).split('id="since"')[1].split("</section>")[0]
    text = " ".join(Reader(section).text().split())
    for said in (
        "Worse since 2026-10-15: gap by sex",
        "1 800 rows before (loans), 1 989 now.",
        "+10.0 points worse",
        "-10.0 points better",
        "-16.2 points changed",
        "not compared: models that learn from",
        "Columns that are new: column 5.",
        "Made by different versions: fairpca 0.0.9 and 0.1.0.",
    ):
        assert said in text
    n = len(since_audit()["changes"]["numbers"])
    assert section.split("<details")[1].count("<tr>") == n + 1


@pytest.mark.parametrize("version", ["1.2", "2.0", "3.0", "5.0", None])
def test_an_audit_of_another_structure_is_refused(version):
    with pytest.raises(AuditError, match="schema_version"):
        render_page(with_changes(made_up_audit(), schema_version=version))


def test_a_newer_audit_with_more_fields_is_shown(page):
    newer = made_up_audit()
    newer["data"]["surprise"] = [float("nan")]
    reader = Reader(render_page(newer))
    assert reader.all("h2") == Reader(page).all("h2")
    assert "fairpca audit loans \\\n    --sensitive race" in reader.text()


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
        ("advice/tradeoff", 0.3, "audit.advice.representation is 'fair_kernel_pca', but no option"),
        (
            "advice/options/1/representation",
            "magic",
            "audit.advice.options[1].representation is 'magic', but nothing",
        ),
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
        with pytest.raises(AuditError) as refused:
            render(changed)
        assert str(refused.value).startswith(told)


def test_something_else_than_an_audit_is_refused():
    with pytest.raises(AuditError, match=r"This is no audit: .*schema_version"):
        render_page([1, 2])


@pytest.mark.parametrize("library", ["jinja2", "pydantic"])
def test_a_missing_library_is_named_with_the_extra_that_brings_it(monkeypatch, library):
    for name in [name for name in sys.modules if name.split(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    _pydantic.cache_clear()
    _environment.cache_clear()
    with pytest.raises(MissingExtraError, match=rf"{library}.*fairpca\[audit\]"):
        render_page(made_up_audit())
